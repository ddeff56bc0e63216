"""The same-fact decision: of what was said about one attribute, what holds, what took whose place, and what is in conflict.

A saying beats another that says otherwise when it is of a later time and of no less authority. A claim whose every saying is
beaten is superseded; claims that are not are current, and in conflict when there are several. Beating is transitive, so the
order in which sayings arrive makes no difference to what is current. Knows nothing of files.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple


class Saying(NamedTuple):
    """One time at which a claim was made, in microseconds since 1970 UTC, and how much that word counts."""

    at_us: int
    authority: int


class Claim(NamedTuple):
    """What one observation says of an attribute.

    Attributes:
        id: The observation.
        statement: What it says, by `statement_key`.
        sayings: When it was said, and by whom; one at least.
        ended_us: Until when it held, if it is superseded already, or somebody ended it.
        by: By what it is superseded.
    """

    id: str
    statement: str
    sayings: tuple[Saying, ...]
    ended_us: int | None = None
    by: str | None = None


class Standing(NamedTuple):
    """What becomes of a claim.

    Attributes:
        by: What supersedes it; None when nothing does.
        ended_us: Until when it held; None when it is current.
        conflicts: The other current claims, by id, when it is current.
    """

    by: str | None
    ended_us: int | None
    conflicts: tuple[str, ...] = ()


class _Said(NamedTuple):
    """A saying among all others, in the order in which they are looked through: the strongest first of one time."""

    at_us: int
    weakness: int
    statement: str
    id: str


def standings(claims: Sequence[Claim]) -> dict[str, Standing]:
    """What becomes of claims about one attribute of one subject, by id.

    What is superseded already stays so, by what it was; until when it held may become earlier. What somebody ended holds until
    then, as that one said, and beats what was said before it like any other claim.
    """
    said = sorted(_Said(s.at_us, -s.authority, claim.statement, claim.id) for claim in claims for s in claim.sayings)
    levels = {s.authority for claim in claims for s in claim.sayings}
    above = {level: [one for one in said if -one.weakness >= level] for level in levels}
    ends = {claim.id: _end(claim, above) for claim in claims}
    current = [claim.id for claim in claims if ends[claim.id] == (None, None)]
    return {
        id_: Standing(by, ended, tuple(sorted(set(current) - {id_})) if (by, ended) == (None, None) else ())
        for id_, (by, ended) in ends.items()
    }


def _end(claim: Claim, above: dict[int, list[_Said]]) -> tuple[str | None, int | None]:
    """What supersedes a claim, and from when on; nothing while one of its sayings is not beaten."""
    known = (claim.by, claim.ended_us)
    if claim.ended_us is not None and claim.by is None:
        return known
    beaten = [_beats(claim, saying, above[saying.authority]) for saying in claim.sayings]
    found = [one for one in beaten if one is not None]
    if len(found) < len(beaten):
        return known
    last = max(found)
    if claim.ended_us is None:
        return last.id, last.at_us
    return claim.by, min(claim.ended_us, last.at_us)


def _beats(claim: Claim, saying: Saying, said: Sequence[_Said]) -> _Said | None:
    """The first of these that is later than a saying and says otherwise."""
    first = bisect_right(said, saying.at_us, key=lambda one: one.at_us)
    return next((said[i] for i in range(first, len(said)) if said[i].statement != claim.statement), None)


def statement_key(content: str) -> str:
    """The form in which two contents are compared: without regard to case, white space and the mark at the end.

    Example:
        >>> statement_key("We use  Postgres.") == statement_key("we use postgres")
        True
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", content).casefold())
    return " ".join(text.split()).rstrip(" .!;")


def raised(confidence: float, by: float) -> float:
    """The confidence of a claim that another source repeats: half of the new one's certainty goes against its doubt.

    Example:
        >>> raised(0.8, 0.8)
        0.88
    """
    return max(confidence, round(1 - (1 - confidence) * (1 - by / 2), 4))
