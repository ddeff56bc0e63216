"""A store as detectors read it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from grail_mem import Memory
from grail_mem.consolidate.reading import Reading
from grail_mem.query.sql import SqlSession

NOW_US = 1_780_000_000_000_000


@contextmanager
def reading_of(memory: Memory, **more: Any) -> Iterator[Reading]:
    """A reading of everything that the store holds now."""
    memory._view.refresh()
    with closing(SqlSession(memory._view)) as session:
        yield Reading(session, NOW_US, **more)
