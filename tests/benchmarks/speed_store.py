"""The stores that are measured, made once and kept; and the clock.

Knows nothing of goals.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import store_maker

from grail_mem import Memory

QUIET = "compact_after: 1000000000\nlook_after_s: 1000000\nscan_files: 0\n"
"""Settings of a measured store: no compaction and no scan falls into a measurement."""


clock: Callable[[], float] = time.perf_counter
"""What measures, in seconds; another one for a machine that does other work meanwhile."""


class Stores:
    """Synthetic stores in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tables: dict[int, pa.Table] = {}

    def table(self, n: int) -> pa.Table:
        """The rows of the stores of this size."""
        if n not in self._tables:
            self._tables = {n: store_maker.rows_table(n)}
        return self._tables[n]

    def files(self, n: int, name: str = "files") -> Path:
        """A store of n real files with a snapshot."""
        return self._made(f"{name}-{n}", lambda root: self._write_files(root, n))

    def generated(self, n: int, name: str = "generated") -> Path:
        """A store with a snapshot of n rows and only those files that questions return."""
        return self._made(f"{name}-{n}", lambda root: store_maker.write_snapshot(root, self.table(n)))

    def fresh(self, name: str) -> Path:
        """An empty folder for a store."""
        root = self.folder / name
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        (root / "grail.yaml").write_text(QUIET)
        return root

    def _write_files(self, root: Path, n: int) -> None:
        store_maker.write_files(root, self.table(n))
        with Memory(root) as memory:
            memory.rebuild()

    def _made(self, name: str, make: Callable[[Path], None]) -> Path:
        root = self.folder / name
        done = root / "grail.yaml"
        if not done.exists():
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir(parents=True)
            make(root)
            done.write_text(QUIET)
        return root


def processor_s() -> float:
    """Seconds of processor time that this process and those it waited for have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def interleaved(repeat: int, *sides: Callable[[], object], warm: int = 2) -> list[float]:
    """Median time of each side in milliseconds, one run of each in turn, after a warm-up."""
    times: list[list[float]] = [[] for _ in sides]
    for number in range(repeat + warm):
        for side, kept in zip(sides, times, strict=True):
            begin = clock()
            side()
            if number >= warm:
                kept.append((clock() - begin) * 1000)
    return [statistics.median(kept) for kept in times]
