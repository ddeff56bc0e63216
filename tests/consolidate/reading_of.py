"""A reading of a memory, as detectors get it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

from grail_mem import Memory
from grail_mem.consolidate.reading import Reading
from grail_mem.query.sql import SqlSession

NOW_US: Final = 1_790_000_000_000_000
"""When readings are made: in September 2026."""


@contextmanager
def reading_of(memory: Memory, *, forbidden: Collection[str] = (), now_us: int = NOW_US) -> Iterator[Reading]:
    """What a detector would read of a memory now."""
    memory._view.refresh()
    session = SqlSession(memory._view)
    try:
        yield Reading(session, now_us, frozenset(forbidden))
    finally:
        session.close()
