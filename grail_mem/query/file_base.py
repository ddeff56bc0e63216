"""Files read in bulk, as the base of a view that looks at no snapshot.

Only files about which nothing is to be said are in it: they carry an id that no other file claims, have no problem and
are settled. All others are left to the delta, which looks at each by itself. Knows nothing of the ledger but which
files others may claim ids by.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from grail_mem.query.delta import BaseRow
from grail_mem.store.arrays import numpy_array
from grail_mem.store.bulk import n_helpers, read_tables
from grail_mem.store.files import FileState
from grail_mem.store.layout import Layout
from grail_mem.store.observation_file import Adopted
from grail_mem.store.schema import table_of

if TYPE_CHECKING:  # a tenth of a second; only a rebuild needs it
    import pyarrow as pa


class FileBase:
    """The rows of files, newest first.

    Attributes:
        table: The rows in the schema of `observations.parquet`.
    """

    came_first = False

    def __init__(self, table: pa.Table) -> None:
        order = [("observed_at", "descending"), ("id", "descending")]
        self.table = table.sort_by(order)
        columns = [self.table[name].to_pylist() for name in ("id", "path", "sha256", "size_bytes", "mtime_ns", "ctime_ns")]
        times = [self.table[name].cast("int64").to_pylist() for name in ("observed_at", "recorded_at")]
        self._by_path = {
            path: BaseRow(rid, id_, path, digest, FileState(*state), True, observed, recorded)
            for rid, (id_, path, digest, *state, observed, recorded) in enumerate(zip(*columns, *times, strict=True))
        }
        self._by_id = {row.id: row for row in self._by_path.values()}
        self._by_folder: dict[str, dict[str, FileState]] = {}
        for path, row in self._by_path.items():
            folder, _, name = path.rpartition("/")
            self._by_folder.setdefault(folder, {})[name] = row.state

    @property
    def paths(self) -> Collection[str]:
        """The files that are in it."""
        return self._by_path.keys()

    def by_path(self, paths: Collection[str]) -> dict[str, BaseRow]:
        """Rows by path, those that no longer count included."""
        return {path: self._by_path[path] for path in paths if path in self._by_path}

    def by_id(self, ids: Collection[str]) -> dict[str, BaseRow]:
        """Rows by id, those that no longer count included."""
        return {id_: self._by_id[id_] for id_ in ids if id_ in self._by_id}

    def files_in(self, folder: str) -> dict[str, FileState]:
        """States of the files directly in a folder, by name."""
        return self._by_folder.get(folder, {})


def read_files(
    layout: Layout,
    paths: Iterable[str],
    *,
    zone: str,
    adopted: Mapping[str, Adopted],
    progress: Callable[[int], None] | None = None,
) -> FileBase:
    """Read files in bulk.

    Args:
        layout: Where the store is.
        paths: Files to read, whether they exist or not.
        zone: IANA zone of times without an offset.
        adopted: By path, what the ledger says of files that carry no id.
        progress: Called with the number of files looked at, every now and then.
    """
    import pyarrow as pa

    ordered = sorted(paths)
    tables = read_tables(layout, ordered, zone=zone, helpers=n_helpers(len(ordered)), progress=progress)
    return FileBase(_undisputed(pa.concat_tables([*tables, table_of(())]), adopted))


def _undisputed(table: pa.Table, adopted: Mapping[str, Adopted]) -> pa.Table:
    """The rows whose id nobody else claims: no other file, and no path for which the ledger named it."""
    import numpy as np
    import pyarrow as pa

    ids, paths = table["id"].to_pylist(), table["path"].to_pylist()
    named = {word.id for word in adopted.values()}
    times: dict[str, int] = {}
    for id_ in ids:
        times[id_] = times.get(id_, 0) + 1
    if len(times) == len(ids) and named.isdisjoint(times):
        return table
    alone = [
        times[id_] == 1 and (id_ not in named or (path in adopted and adopted[path].id == id_))
        for id_, path in zip(ids, paths, strict=True)
    ]
    return table.filter(numpy_array(np.array(alone, bool)))

