"""When an observation counts: from when to when it holds, and since when it is known that something took its place.

One rule for the few rows in memory, for the columns of an index and for what a person reads. Knows nothing of filters.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from grail_mem.model.observation import Observation
from grail_mem.model.times import format_time, to_us
from grail_mem.model.ulid import id_us, is_id

NEVER: Final = -(2**63)
"""Before every instant: the end of what holds at no time."""
FOREVER: Final = 2**63 - 1
"""After every instant: the end of what holds without end."""
_OPEN: Final = ".."


class Span(NamedTuple):
    """When an observation holds, in microseconds since 1970 UTC.

    Attributes:
        begins: From when, inclusive; None when it does not say, and then since it was observed where a past time is asked.
        ends: Until when, exclusive, as is known now.
        stood: The same as was known before something took its place.
        replaced: When that was recorded; `FOREVER` when nothing did.
    """

    begins: int | None
    ends: int
    stood: int
    replaced: int

    def holds(self, at_us: int) -> bool:
        """Whether it holds at an instant, as is known now."""
        return (self.begins is None or self.begins <= at_us) and at_us < self.ends


def span_of(o: Observation) -> Span:
    """When an observation holds.

    A superseded observation holds until its `valid_until`; without one it never held, as after a correction. When it was
    superseded is read from the id in `superseded_by`. An archived one is put away and holds at no time.
    """
    return make_span(
        o.status,
        None if o.valid_from is None else to_us(o.valid_from),
        None if o.valid_until is None else to_us(o.valid_until),
        None if o.expires_at is None else to_us(o.expires_at),
        o.superseded_by,
    )


def make_span(
    status: str, valid_from: int | None, valid_until: int | None, expires_at: int | None, superseded_by: str | None
) -> Span:
    """The same from the fields of an observation, times in microseconds."""
    expires = FOREVER if expires_at is None else expires_at
    until = FOREVER if valid_until is None else valid_until
    if status == "archived":
        return Span(valid_from, NEVER, NEVER, FOREVER)
    if status != "superseded":
        return Span(valid_from, min(until, expires), min(until, expires), FOREVER)
    ends = NEVER if valid_until is None else min(until, expires)
    return Span(valid_from, ends, expires, replaced_us(superseded_by))


def replaced_us(superseded_by: str | None) -> int:
    """When an observation was superseded, by the id of what took its place; `NEVER` when that does not tell."""
    found = id_us(superseded_by) if is_id(superseded_by) and superseded_by is not None else None
    return NEVER if found is None else found


def interval_of(o: Observation) -> str:
    """From when to when an observation says that it holds, as ISO 8601-2 writes an interval; `../..` when it does not say."""
    return "/".join(_OPEN if at is None else format_time(at) for at in (o.valid_from, o.valid_until))


def is_interval(text: str) -> bool:
    """Whether a text is an interval, and not empty or a sign that nobody knows it."""
    return "/" in text


def is_lasting(interval: str) -> bool:
    """Whether an interval has no end."""
    return interval.endswith(f"/{_OPEN}")
