"""A `Reading` over a store, for tests of detectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from grail_mem import Memory
from grail_mem.consolidate.finding import Finding
from grail_mem.consolidate.reading import Reading
from grail_mem.query.sql import SqlSession

NOW_US = 1_785_000_000_000_000
Detector = Callable[[Reading], Iterator[Finding]]


def findings(memory: Memory, detector: Detector, *, forbidden: Collection[str] = ()) -> list[Finding]:
    """What a detector finds in everything that counts at this moment."""
    view = memory._open()
    view.refresh()
    session = SqlSession(view)
    try:
        return list(detector(Reading(session, NOW_US, frozenset(forbidden))))
    finally:
        session.close()
