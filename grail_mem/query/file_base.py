"""Files read in bulk, as the base of a view that looks at no snapshot.

Only files about which nothing is to be said are in it: they carry an id that no other file claims, have no problem and
are settled. All others are left to the delta, which looks at each by itself. Knows nothing of the ledger but which
files others may claim ids by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from grail_mem.query.delta import BaseRow
from grail_mem.store.arrays import numpy_array
from grail_mem.store.files import FileState
from grail_mem.store.observation_file import Adopted
from grail_mem.store.schema import table_of

if TYPE_CHECKING:  # a tenth of a second; only a rebuild needs it
    import pyarrow as pa


_NAMES: Final = ["id", "path", "sha256", "size_bytes", "mtime_ns", "ctime_ns", "observed_at", "recorded_at"]


class FileBase:
    """The rows of files, newest first.

    Attributes:
        table: The rows in the schema of `observations.parquet`.
    """

    came_first = False

    def __init__(self, table: pa.Table) -> None:
        order = [("observed_at", "descending"), ("id", "descending")]
        self.table = table.sort_by(order)
        self._paths: list[str] = self.table["path"].to_pylist()
        self._by_path = {path: rid for rid, path in enumerate(self._paths)}

    def by_path(self, paths: Collection[str]) -> dict[str, BaseRow]:
        """Rows by path, those that no longer count included."""
        return {row.path: row for row in self._rows([self._by_path[path] for path in paths if path in self._by_path])}

    def by_id(self, ids: Collection[str]) -> dict[str, BaseRow]:
        """Rows by id, those that no longer count included."""
        if not ids:
            return {}
        return {row.id: row for row in self._rows([self._by_id[id_] for id_ in ids if id_ in self._by_id])}

    def digests(self) -> Iterator[tuple[str, str]]:
        """Path and SHA-256 of every file."""
        return zip(self._paths, self.table["sha256"].to_pylist(), strict=True)

    @cached_property
    def states(self) -> dict[str, FileState]:
        """States of all files by path."""
        columns = [self.table[name].to_pylist() for name in ("size_bytes", "mtime_ns", "ctime_ns")]
        return dict(zip(self._paths, map(FileState, *columns), strict=True))

    def files_in(self, folder: str) -> dict[str, FileState]:
        """States of the files directly in a folder, by name."""
        return self._by_folder.get(folder, {})

    @cached_property
    def _by_folder(self) -> dict[str, dict[str, FileState]]:
        by_folder: dict[str, dict[str, FileState]] = {}
        for path, state in self.states.items():
            folder, _, name = path.rpartition("/")
            by_folder.setdefault(folder, {})[name] = state
        return by_folder

    @cached_property
    def _by_id(self) -> dict[str, int]:
        return {id_: rid for rid, id_ in enumerate(self.table["id"].to_pylist())}

    def _rows(self, rids: list[int]) -> list[BaseRow]:
        """The rows of these numbers, made when they are asked for, which few of them are."""
        import numpy as np

        taken = self.table.select(_NAMES).take(numpy_array(np.array(rids, np.int64)))
        ids, paths, digests, *rest = (column.to_pylist() for column in taken.columns[:-2])
        observed, recorded = (column.cast("int64").to_pylist() for column in taken.columns[-2:])
        states = map(FileState, *rest)
        return [
            BaseRow(rid, id_, path, digest, state, has_id=True, observed_us=seen, recorded_us=written)
            for rid, id_, path, digest, state, seen, written in zip(
                rids, ids, paths, digests, states, observed, recorded, strict=True
            )
        ]


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
