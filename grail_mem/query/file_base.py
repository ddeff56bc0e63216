"""Files read in bulk, as the base of a view that looks at no snapshot.

Only files about which nothing is to be said are in it: they carry an id that no other file claims, have no problem and
are settled. All others are left to the delta, which looks at each by itself. Knows nothing of the ledger but which
files others may claim ids by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping
from typing import TYPE_CHECKING

from grail_mem.query.delta import BaseRow
from grail_mem.store.arrays import numpy_array
from grail_mem.store.files import FileState
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
        columns = [
            self.table[name].to_pylist() for name in ("id", "path", "sha256", "size_bytes", "mtime_ns", "ctime_ns")
        ]
        times = [self.table[name].cast("int64").to_pylist() for name in ("observed_at", "recorded_at")]
        self._by_path = {
            path: BaseRow(
                rid, id_, path, digest, FileState(*state), has_id=True, observed_us=observed, recorded_us=recorded
            )
            for rid, (id_, path, digest, *state, observed, recorded) in enumerate(zip(*columns, *times, strict=True))
        }
        self._by_id = {row.id: row for row in self._by_path.values()}
        self._by_folder: dict[str, dict[str, FileState]] = {}
        for path, row in self._by_path.items():
            folder, _, name = path.rpartition("/")
            self._by_folder.setdefault(folder, {})[name] = row.state

    def by_path(self, paths: Collection[str]) -> dict[str, BaseRow]:
        """Rows by path, those that no longer count included."""
        return {path: self._by_path[path] for path in paths if path in self._by_path}

    def by_id(self, ids: Collection[str]) -> dict[str, BaseRow]:
        """Rows by id, those that no longer count included."""
        return {id_: self._by_id[id_] for id_ in ids if id_ in self._by_id}

    def files_in(self, folder: str) -> dict[str, FileState]:
        """States of the files directly in a folder, by name."""
        return self._by_folder.get(folder, {})


def base_of(
    tables: Iterable[pa.Table], wanted: Collection[str], adopted: Mapping[str, Adopted], erased: Container[str] = ()
) -> FileBase:
    """The base made of the rows of files.

    Args:
        tables: The rows.
        wanted: Paths of files that may be in it.
        adopted: By path, what the ledger says of files that carry no id.
        erased: Ids that are not to come back.
    """
    import numpy as np
    import pyarrow as pa

    table = pa.concat_tables([*tables, table_of(())])
    ids, paths = table["id"].to_pylist(), table["path"].to_pylist()
    named = {word.id for word in adopted.values()}
    n_claims = Counter(ids)
    alone = [
        path in wanted
        and id_ not in erased
        and n_claims[id_] == 1
        and (id_ not in named or (path in adopted and adopted[path].id == id_))
        for id_, path in zip(ids, paths, strict=True)
    ]
    return FileBase(table if all(alone) else table.filter(numpy_array(np.array(alone, bool))))
