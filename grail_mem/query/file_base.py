"""Files read in bulk, as the base of a view that looks at no snapshot.

Only files about which nothing is to be said are in it: they carry an id that no other file claims, have no problem and
are settled. All others are left to the delta, which looks at each by itself. Knows nothing of the ledger but which
files others may claim ids by.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import InputError
from grail_mem.model.ulid import id_us
from grail_mem.query.delta import BaseRow
from grail_mem.store.files import FileState, open_folder, read_file
from grail_mem.store.layout import Layout
from grail_mem.store.observation_file import Adopted, read_observation
from grail_mem.store.own_file import read_own
from grail_mem.store.scan import settled
from grail_mem.store.schema import row_values, table_of

if TYPE_CHECKING:  # a tenth of a second; only a rebuild needs it
    import pyarrow as pa

_CHUNK: Final = 1_000
"""Files read at a time; chosen: a table of so many rows costs no more a row than a larger one."""
_OWN_START: Final = b"---\nid: "
Row = tuple[Any, ...]


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
    tables: list[pa.Table] = []
    for start in range(0, len(ordered), _CHUNK):
        rows = read_rows(layout, ordered[start : start + _CHUNK], zone)
        tables.append(table_of(rows))
        if progress:
            progress(min(start + _CHUNK, len(ordered)))
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
    return table.filter(pa.array(np.array(alone, bool)))


def read_rows(layout: Layout, paths: Iterable[str], zone: str) -> Iterator[Row]:
    """The rows of those files that carry their id, have no problem and are settled."""
    for folder, group in groupby(paths, lambda path: path.rpartition("/")[0]):
        try:
            with open_folder(layout.root, folder) as (descriptor, spelled):
                if spelled == folder:
                    for path in group:
                        row = _read_row(descriptor, path, layout.category_of(folder), zone)
                        if row is not None:
                            yield row
        except (OSError, InputError):  # a link or a missing folder on the way
            continue


def _read_row(folder: int, path: str, category: str, zone: str) -> Row | None:
    began_ns = time.time_ns()
    try:
        data, state = read_file(path.rpartition("/")[2], dir_fd=folder)
    except OSError:
        return None
    if settled(state, began_ns) != state:
        return None
    row = read_own(data, path, category, state)
    if row is not None or not data.startswith(_OWN_START):
        return row
    try:
        made = read_observation(data, path, category, state, zone=zone)
    except InputError:
        return None
    says_all = made.has_id and made.has_time and id_us(made.observation.id) is not None
    return row_values(made) if says_all and not made.problems else None
