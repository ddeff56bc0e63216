"""What evidence, facts, sessions and forgetting cost, beside a plain write and a plain recall of the same run.

`python tests/benchmarks/believing.py [--rows 10000] [--repeat 30]` prints medians in milliseconds; a process that is warm.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from grail_mem import Memory
from grail_mem.errors import UnsupportedEvidenceError

QUOTE = "I prefer concise answers, and {n} of them at most."


def timed(work: Callable[[int], Any], repeat: int, first: int) -> float:
    """The median of some runs, in milliseconds, after two that do not count."""
    work(first)
    work(first + 1)
    took = []
    for n in range(first + 2, first + 2 + repeat):
        begin = time.perf_counter()
        work(n)
        took.append((time.perf_counter() - begin) * 1000)
    return median(took)


def refused(memory: Memory, n: int) -> None:
    """A claim that its quote does not support."""
    try:
        memory.remember(f"I prefer long answers, and {n} of them.", evidence=QUOTE.format(n=n), session=f"s{n % 7}")
    except UnsupportedEvidenceError:
        return
    raise AssertionError("it was not refused")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=30)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder), embedder="none") as memory:
        for start in range(0, asked.rows, 1_000):
            memory.add_observations(
                {"content": f"Note {n} about project {n % 50} and person {n % 300}.", "category": f"c{n % 20}",
                 "scope": f"user:u{n % 100}" if n % 2 else None}
                for n in range(start, min(start + 1_000, asked.rows))
            )  # fmt: skip
        memory.compact()
        memory.index()
        for number in range(7):
            memory.ingest_chat([{"role": "user", "text": QUOTE.format(n=n)} for n in range(200)], session=f"s{number}")
        memory.grant("user:u1", "user:u1", ["read", "write", "forget"])
        session = memory.session(user_id="u1", agent_id="a")
        victims = iter([one.id for one in memory.add_observations({"content": f"To go {n}."} for n in range(8))])
        lines: list[tuple[str, Callable[[int], Any], int]] = [
            ("add_observation", lambda n: memory.add_observation(content=f"A plain note {n}."), asked.repeat),
            ("the same with an attribute", lambda n: memory.add_observation(content=f"It is {n}.", attribute=f"a{n}/b"), asked.repeat),
            ("remember, supported", lambda n: memory.remember(f"I prefer concise answers, and {n % 150} of them at most.", evidence=QUOTE.format(n=n % 150), session=f"s{n % 7}", title=f"t{n}"), asked.repeat),
            ("remember, refused", lambda n: refused(memory, n % 150), asked.repeat),
            ("recall of 50, owner", lambda n: memory.recall(category=f"c{n % 20}"), asked.repeat),
            ("recall of 50, session", lambda n: session.recall(category=f"c{n % 20}"), asked.repeat),
            ("search, owner", lambda n: memory.search(f"What about project {n % 50}?"), asked.repeat),
            ("search, session", lambda n: session.search(f"What about project {n % 50}?"), asked.repeat),
            ("session opened, asked once, closed", lambda n: _ask_once(memory, n), asked.repeat),
            ("revise, confirm", lambda n: memory.revise(memory.recall(limit=1, category=f"c{n % 20}").observations[0].id, action="confirm", reason="looked"), asked.repeat),
            ("verify all quotes", lambda n: memory.verify(), 3),
            ("erase one", lambda n: memory.erase(next(victims), reason="asked"), 3),
        ]  # fmt: skip
        print(f"| {asked.rows:,} observations | ms |\n|---|---|")
        for number, (name, work, repeat) in enumerate(lines):
            print(f"| {name} | {timed(work, repeat, 1_000 * number):.1f} |", flush=True)
        session.close()


def _ask_once(memory: Memory, n: int) -> None:
    with memory.session(user_id=f"u{n % 100}", agent_id="a") as session:
        session.recall(limit=10)


if __name__ == "__main__":
    main()
