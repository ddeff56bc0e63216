"""What receipts cost a writer, and what an erasure costs: `python -m tests.benchmarks.forgetting [N_RECEIPTS …]`.

Prints milliseconds for an `add_observation` at each number of receipts, in one store, and for one erasure in stores of growing size.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from grail_mem import Memory
from grail_mem.memory.opened import opened
from grail_mem.model.ulid import new_id
from grail_mem.query.view import View
from grail_mem.store.ledger_line import ERASE, Entry
from grail_mem.store.receipt import detail_of, new_salt
from grail_mem.write.staged import staging, tell, writing

N_ADDS = 200
SIZES = (1_000, 10_000)


def with_receipts(root: Path, n: int, salt: str) -> None:
    """Put receipts of texts into a store, as erasures would."""
    layout, settings = opened(root)
    view = View(layout, settings)
    entries = [
        Entry(ERASE, new_id(), detail=detail_of(f"An erased text, number {i} of this run.", salt)) for i in range(n)
    ]
    with staging(layout), writing(view):
        view.catch_up()
        tell(view, entries)
    view.close()


def ms_an_add(root: Path, n: int) -> tuple[float, float]:
    """Mean and median over adds of texts that were not there."""
    took: list[float] = []
    with Memory(root, embedder="none") as memory:
        memory.add_observation(title="First", content=f"Opens the chain, {n}.")
        for i in range(N_ADDS):
            began = time.perf_counter()
            memory.add_observation(title=f"Note {i}", content=f"With {n} receipts this is text number {i}.")
            took.append((time.perf_counter() - began) * 1000)
    return statistics.mean(took), statistics.median(took)


def ms_an_erasure(root: Path, n: int) -> float:
    """One erasure in a store of so many observations with a snapshot."""
    with Memory(root, embedder="none") as memory:
        for start in range(0, n, 1000):
            memory.add_observations(
                [
                    {"title": f"Note {i}", "content": f"This is the text of number {i}."}
                    for i in range(start, min(start + 1000, n))
                ]
            )
        memory.compact()
        id_ = memory.recall(limit=1).observations[0].id
        began = time.perf_counter()
        memory.erase(id_, reason="measured")
        return (time.perf_counter() - began) * 1000


def main() -> None:
    """Print the figures."""
    salt, there = new_salt(), 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        for n in map(int, sys.argv[1:] or ("0", "10", "100", "1000")):
            if n > there:
                with_receipts(root, n - there, salt)
                there = n
            mean, median = ms_an_add(root, n)
            print(f"{n:>6} receipts: {mean:6.2f} ms an add, median {median:6.2f}")
    for n in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{n:>6} observations: {ms_an_erasure(Path(folder) / 'store', n):8.0f} ms an erasure")


if __name__ == "__main__":
    main()
