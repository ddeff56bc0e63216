"""Work over whole stores: rebuild, a sync that finds nothing, compaction."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import frontmatter
import pyarrow.parquet as pq
import store_maker
from speed_store import Stores, interleaved

from grail_mem import Memory
from grail_mem.store import snapshot
from grail_mem.store.layout import Layout

MANY = 100_000
"""Rows from which on a rebuild is run once, since it takes minutes, and one store of real files serves for everything."""
Lines = Iterator[tuple[str, float, float, str, bool]]


def rebuild(stores: Stores, n: int, _: int) -> Lines:
    """A whole rebuild, snapshot and index included, against only reading the same files with python-frontmatter."""
    root = stores.files(n)
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(root / "memories") for name in names]

    def reference() -> int:
        return sum(1 for path in paths if frontmatter.load(path))

    with Memory(root) as memory:
        repeat, warm = (5, 1) if n <= MANY else (1, 0)
        ours, theirs = interleaved(repeat, memory.rebuild, reference, warm=warm)
    yield "rebuild: python-frontmatter with C loader / ours", ours, theirs, ">=3.5", True


def sync(stores: Stores, n: int, repeat: int) -> Lines:
    """A sync of a store in which nothing changed."""
    root = stores.files(n)
    command = ["find", str(root), "-newermt", "2100-01-01"]
    with Memory(root) as memory:
        assert not memory.sync().changed
        ours, theirs = interleaved(
            max(repeat, 7), memory.sync, lambda: subprocess.run(command, check=True, capture_output=True)
        )
    yield "sync without changes / find -newermt", ours, theirs, "<=1.5", False


def compaction(stores: Stores, n: int, repeat: int) -> Lines:
    """A compaction that takes in 1,000 rows, index included, against writing the ready table as Parquet."""
    root = stores.files(n, "compact" if n <= MANY else "files")  # real ones: rows whose files are missing are let go
    layout = Layout(root)
    target = root / "reference.parquet"
    more = store_maker.rows_table(6000, seed=time.time_ns() % 1_000_000)  # others than an earlier run added
    drafts = [
        {"title": o.title, "content": o.content, "category": o.category, "tags": o.tags, "entities": o.entities,
         "observed_at": o.observed_at}
        for o in store_maker.observations(more)
    ]  # fmt: skip
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(6):
        with Memory(root) as memory:
            memory.add_observations(drafts[number * 1000 : number * 1000 + 1000])
            memory.recall(limit=1)  # the added files are read, the folders looked at: that is not compaction
            ours += interleaved(1, lambda: _compact(memory), warm=0)
        table = pq.read_table(_rows(layout))
        theirs += interleaved(
            1, lambda: pq.write_table(table, target, compression="zstd", row_group_size=10_000), warm=0  # noqa: B023
        )  # fmt: skip
    ours, theirs = sorted(ours[1:]), sorted(theirs[1:])
    yield "compaction / pq.write_table of the ready table", ours[len(ours) // 2], theirs[len(theirs) // 2], "<=3", False


def _compact(memory: Memory) -> None:
    """Compaction alone, without the scan for changed files that `Memory.compact` makes first."""
    from grail_mem.query import compaction as product

    product.compact(memory._view)


def _rows(layout: Layout) -> Path:
    manifest = snapshot.newest(layout)
    assert manifest is not None
    return layout.snapshots / manifest.name / snapshot.ROWS
