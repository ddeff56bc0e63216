"""Compaction: write what the view says as a new snapshot. Files change, rows do not.

Anybody may compact at any time while others read and write; only two compactions exclude each other. Knows nothing of
who asked for it.
"""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from grail_mem.query.index_file import build_index
from grail_mem.query.payload_file import Written, write_payloads
from grail_mem.query.view import View
from grail_mem.store import snapshot
from grail_mem.store.arrays import number_array, numpy_array, numpy_of
from grail_mem.store.files import translated
from grail_mem.store.layout import Layout
from grail_mem.store.lock import exclusive, exclusive_if_free
from grail_mem.store.observation_file import FileRow
from grail_mem.store.schema import observations_table, table_of

if TYPE_CHECKING:  # a tenth of a second; loaded when there is something to write
    import numpy as np
    import pyarrow as pa

LOCK = "compact.lock"
CHUNK = 20_000
_OLD = "row of the payload"


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did.

    Attributes:
        snapshot: Name of the snapshot that counts now.
        n_rows: Observations in it.
        n_taken: Rows that it took in from files changed since the one before.
        written: False when there was nothing to take in.
    """

    snapshot: str
    n_rows: int
    n_taken: int
    written: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {"snapshot": self.snapshot, "n_rows": self.n_rows, "n_taken": self.n_taken, "written": self.written}


def due_at(view: View) -> int:
    """Rows outside the snapshot from which on reading them costs more than writing the snapshot anew."""
    return max(view.settings.compact_after, int(view.settings.compact_share * view.manifest.n_rows))


def is_due(view: View) -> bool:
    """Whether so much changed since the snapshot."""
    return view.n_loose >= due_at(view)


def compact(view: View, *, force: bool = False) -> Compacted:
    """Take everything that changed since the snapshot into a new one.

    Args:
        view: The store; brought up to date first.
        force: Write a snapshot even when nothing changed.
    """
    with translated("write the snapshot", view.layout.root), exclusive(view.layout.local / LOCK):
        view.refresh()
        if not force and view.manifest.name and not view.n_loose:
            return Compacted(view.manifest.name, view.manifest.n_rows, 0, written=False)
        return _write(view)


def compact_if_free(view: View) -> Compacted | None:
    """Compact when it is due and nobody else does so right now."""
    with translated("write the snapshot", view.layout.root), exclusive_if_free(view.layout.local / LOCK) as held:
        if not held:
            return None
        view.refresh()
        return _write(view) if is_due(view) else None


def rebuild(view: View) -> Compacted:
    """Write a snapshot of a view that looked at no snapshot, and throw away every other.

    What was derived before stays in place until the new snapshot counts.

    Args:
        view: A view made with `from_files`; brought up to date first.
    """
    with translated("rebuild the snapshot", view.layout.root), exclusive(view.layout.local / LOCK), collection_paused():
        view.absorb()
        done = _write(view)
        for name in snapshot.names(view.layout):
            if name != done.snapshot:
                with suppress(OSError):  # it is removed by a later compaction
                    snapshot.remove(view.layout, name)
        return done


def renew(view: View) -> Compacted:
    """Write a snapshot of the view, and remove every other at once, whoever may be about to open it.

    Raises:
        OSError: One could not be removed.
    """
    with exclusive(view.layout.local / LOCK):
        view.refresh()
        done = _write(view)
        for name in snapshot.names(view.layout):
            if name != done.snapshot:
                snapshot.remove(view.layout, name)
    view.refresh()
    return done


def remove_all(layout: Layout) -> None:
    """Remove every snapshot, and what killed processes left of any; the answers come from the files until one is made."""
    with exclusive(layout.local / LOCK):
        for name in snapshot.names(layout):
            snapshot.remove(layout, name)
        with suppress(FileNotFoundError):
            shutil.rmtree(snapshot.draft_folder(layout))


@contextmanager
def collection_paused() -> Iterator[None]:
    """Without the cyclic garbage collector, which would look at every row again and again and find nothing."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def _write(view: View) -> Compacted:
    """Write and publish a snapshot of the view; the compaction lock must be held."""
    grants, revoked = view.grants.written()
    manifest = snapshot.Manifest(
        name=snapshot.next_name(view.layout),
        heads=dict(view.ledger.heads),
        tombstones=dict(view.tombstones),
        grants=grants,
        revoked=revoked,
        suspended=dict(view.suspended),
        folders=view.folders,
        problems=dict(view.delta.problems),
        receipts=tuple(view.receipts),
    )
    layout = view.layout
    folder = snapshot.draft_folder(layout)
    with ThreadPoolExecutor(1) as beside:  # both spend their time where Python lets others go on
        whole = beside.submit(_payloads_are_whole, view)
        table, row = _rows(view)
        written = _written(view, row) if whole.result() else None
        placed = beside.submit(write_payloads, folder / snapshot.PAYLOADS, table, written)
        rows = beside.submit(snapshot.write_rows, folder, table)
        build_index(table, folder / snapshot.INDEX, folder / snapshot.PAYLOADS, placed=placed)
        rows.result()
    n_taken = len(view.delta.rows) if view.reader is not None else table.num_rows
    done = Compacted(manifest.name, table.num_rows, n_taken)
    snapshot.publish(layout, folder, replace(manifest, n_rows=table.num_rows))
    snapshot.remove_old(layout)
    return done


def _rows(view: View) -> tuple[pa.Table, np.ndarray]:
    """Every row that counts, newest first: by time of observation, then id, descending; and where its payload is.

    The latter is its row in the present snapshot, or -1.
    """
    import pyarrow as pa

    rows = sorted(view.delta.rows.values(), key=_place, reverse=True)
    parts = [observations_table(rows[start : start + CHUNK]) for start in range(0, len(rows), CHUNK)]
    loose = pa.concat_tables(parts) if parts else observations_table(())
    table = _merged(_base_rows(view), loose.append_column(_OLD, number_array([-1] * len(rows), pa.int32())))
    return table.drop_columns(_OLD), numpy_of(table[_OLD])


def _payloads_are_whole(view: View) -> bool:
    """Whether there are payloads to copy; damaged ones are made again."""
    folder = view.layout.snapshots / view.manifest.name
    return view.manifest.n_rows > 0 and snapshot.is_as_written(folder, view.manifest, snapshot.PAYLOADS)


def _written(view: View, row: np.ndarray) -> Written | None:
    reader = view.reader
    if reader is None:
        return None
    return Written(view.layout.snapshots / view.manifest.name / snapshot.PAYLOADS, reader.payload_sizes(), row)


def _place(row: FileRow) -> tuple[Any, str]:
    return row.observation.observed_at, row.observation.id


def _base_rows(view: View) -> pa.Table:
    """The rows below the delta that still count, with the file states seen since and the row of their payload."""
    import numpy as np

    table = _below(view)
    old = np.arange(table.num_rows, dtype=np.int32)
    seen = {path: state for path, state in view.delta.states.items() if state is not None}
    moved = {row.rid: seen[path] for path, row in view.base().by_path(seen).items()}
    if moved:
        old[list(moved)] = -1
        for i, name in enumerate(("size_bytes", "mtime_ns", "ctime_ns")):
            values = numpy_of(table[name]).copy()
            values[list(moved)] = [state[i] for state in moved.values()]
            table = table.set_column(table.schema.get_field_index(name), name, numpy_array(values))
    table = table.append_column(_OLD, numpy_array(old))
    if view.delta.dead:
        keep = np.ones(table.num_rows, bool)
        keep[list(view.delta.dead)] = False
        table = table.filter(numpy_array(keep))
    return table


def _below(view: View) -> pa.Table:
    """The rows below the delta: those of the present snapshot, or of files read in its place."""
    import pyarrow.parquet as pq

    if view.files is not None:
        return view.files.table
    if view.reader is None:
        return table_of(())
    with pq.ParquetFile(view.layout.snapshots / view.manifest.name / snapshot.ROWS) as file:
        return file.read()


def _merged(base: pa.Table, loose: pa.Table) -> pa.Table:
    """Two tables that are each newest first as one that is."""
    import numpy as np
    import pyarrow as pa

    if not loose.num_rows or not base.num_rows:
        return (base if base.num_rows else loose).combine_chunks()
    old = -numpy_of(base["observed_at"].cast(pa.int64()))
    new = -numpy_of(loose["observed_at"].cast(pa.int64()))
    first, end = np.searchsorted(old, new, "left"), np.searchsorted(old, new, "right")
    ids, new_ids = base["id"], loose["id"].to_pylist()
    for i in np.nonzero(end > first)[0]:  # the same instant: ids decide, descending
        lo, hi = int(first[i]), int(end[i])
        while lo < hi:
            middle = (lo + hi) // 2
            if ids[middle].as_py() > new_ids[i]:
                lo = middle + 1
            else:
                hi = middle
        first[i] = lo
    order = np.insert(np.arange(base.num_rows), first, base.num_rows + np.arange(loose.num_rows))
    return pa.concat_tables([base, loose]).combine_chunks().take(numpy_array(order)).combine_chunks()
