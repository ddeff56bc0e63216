"""Export as a table: Parquet with the columns of the `observations` view, in the order of recall.

Knows nothing of how it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Final

from grail_mem.keep.exported import Exported, selected
from grail_mem.model.filter import Filter
from grail_mem.query.view import View
from grail_mem.store.schema import public_table

_GROUP: Final = 5_000
"""Rows of one group; chosen: as many as are in memory at a time."""


class TableWriting:
    """A table on its way."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        self._progress = progress

    def run(self, view: View, f: Filter, file: Any, *, path: str = "", dry_run: bool = False) -> Exported:
        """Write what meets the conditions, a row for each observation."""
        import pyarrow.parquet as pq

        skipped: dict[str, str] = {}
        found = (edited.made for edited in selected(view, f, whole=False, skipped=skipped))
        n_observations = 0
        with pq.ParquetWriter(file, public_table(()).schema, compression="zstd") as table:
            while rows := list(islice(found, _GROUP)):
                table.write_table(public_table(rows))
                n_observations += len(rows)
                self._progress(n_observations)
        return Exported(path, n_observations, skipped=skipped, dry_run=dry_run, format="parquet")
