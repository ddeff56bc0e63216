"""A `Reading` over a memory, as detectors get it, for tests and benchmarks of detectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from grail_mem import Memory
from grail_mem.consolidate.finding import Finding
from grail_mem.consolidate.reading import Reading
from grail_mem.index.embedder import LOCAL_MODEL
from grail_mem.index.vectors import stored_vectors
from grail_mem.query.sql import SqlSession
from grail_mem.support.entailment import EntailmentModel

NOW_US: Final = 1_790_000_000_000_000
"""When readings are made: in September 2026."""
Detector = Callable[[Reading], Iterator[Finding]]


@contextmanager
def reading_of(
    memory: Memory,
    *,
    forbidden: Collection[str] = (),
    now_us: int = NOW_US,
    inbox: str = "inbox",
    entailment: EntailmentModel | None = None,
) -> Iterator[Reading]:
    """What a detector would read of a memory now; `forbidden` are digests of pairs that were rejected on no grounds."""
    memory._view.refresh()
    session = SqlSession(memory._view)
    try:
        vectors = stored_vectors(memory._layout.vectors, LOCAL_MODEL)
        yield Reading(
            session, now_us, {pair: {} for pair in forbidden}, inbox=inbox, vectors=vectors, entailment=entailment
        )
    finally:
        session.close()


def findings(
    memory: Memory,
    detector: Detector,
    *,
    forbidden: Collection[str] = (),
    entailment: EntailmentModel | None = None,
) -> list[Finding]:
    """What a detector finds in everything that counts at this moment."""
    with reading_of(memory, forbidden=forbidden, entailment=entailment) as reading:
        return list(detector(reading))


def kept(folder: Path, **options: Any) -> Memory:
    """A store that keeps every statement as it is written, as one does that people and other programs fill."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "grail.yaml").write_text("facts: keep\nprovisional_days: 0\n", encoding="utf-8")
    return Memory(folder, **options)
