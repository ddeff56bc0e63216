"""Whether what is about to be written is there already: the same statement, for the same time, from a source that is known.

Knows nothing of files, and of how a fact is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from grail_mem.model.observation import Observation
from grail_mem.model.validity import interval_of
from grail_mem.query.find import who_says
from grail_mem.query.view import View
from grail_mem.write.as_given import as_given
from grail_mem.write.left_out import left_out
from grail_mem.write.placed_facts import is_decided
from grail_mem.write.saying import adds_nothing, is_claim, is_over, is_same_time

ALREADY_THERE: Final = "the same observation was there already; nothing was written."


class Already(NamedTuple):
    """The observation that says the same; and whether a hidden one does."""

    same: Observation | None
    hidden: bool


class _Intervals(NamedTuple):
    """From when to when observations hold, by id: as they say now, and as their writers gave it where that is known."""

    now: Mapping[str, str]
    given: Mapping[str, str]

    def is_given(self, o: Observation, made: Observation) -> bool:
        """Whether an observation is, or in doubt may be, of the time for which another one holds."""
        own = interval_of(made)
        return own == self.given[o.id] if o.id in self.given else own == self.now[o.id] or _may_be(o, made)


def already(view: View, said: Sequence[tuple[tuple[int, ...], Observation]]) -> list[Already]:
    """What says the same as observations about to be written, one answer each; the write lock must be held.

    Args:
        view: The store, up to date with the ledger.
        said: The observations, each with all its `fingerprints`.
    """
    found = who_says(view, said)
    listed = {id(one): [*one.there, *filter(None, one.hidden)] for one in found}
    now = {o.id: interval_of(o) for same in listed.values() for o in same}
    wanted = [interval_of(made) for _, made in said]
    unlike = {o.id for one, own in zip(found, wanted, strict=True) for o in listed[id(one)] if now[o.id] != own}
    intervals = _Intervals(now, as_given(view, unlike))
    return [
        Already(
            _chosen(view, one.there, made, intervals) if one.there else None,
            any(o is None or intervals.is_given(o, made) for o in one.hidden),
        )
        for one, (_, made) in zip(found, said, strict=True)
    ]


def _chosen(view: View, there: Sequence[Observation], made: Observation, intervals: _Intervals) -> Observation | None:
    """Which of those that say the same it is, the likeliest first: what holds for that time now, what does, what was given so."""
    own = interval_of(made)
    alike = [o for o in there if intervals.now[o.id] == own]
    alike.sort(key=lambda o: o.status in ("archived", "superseded"))
    alike += [o for o in there if intervals.now[o.id] != own and intervals.is_given(o, made)]
    same = [o for o in alike if not _came_back(o, made)]
    claims = [o for o in same if _is_stated_again(view, o, made)]
    known = [o for o in claims if adds_nothing(o, made)]
    return next(iter(known if claims else same), None)


def _may_be(there: Observation, made: Observation) -> bool:
    """Whether an observation of which nobody knows how long its writer said that it holds may be what is said again.

    A decision makes an end come sooner, never later.
    """
    ends, now = made.valid_until, there.valid_until
    return there.valid_from == made.valid_from and (ends is None or (now is not None and now <= ends))


def _came_back(there: Observation, made: Observation) -> bool:
    """Whether the one that is there is history and this is said at another time: a fact may come back."""
    return there.superseded_by is not None and not is_same_time(there, made)


def _is_stated_again(view: View, there: Observation, made: Observation) -> bool:
    """Whether both take part in the decision on a fact, for which it counts who says it; one that somebody ended does, too."""
    return is_decided(view, made) and is_claim(made) and (is_claim(there) or is_over(there))


def is_same(view: View, there: Observation, made: Observation) -> bool:
    """Whether of two observations that say the same of the same time the second need not be written.

    It need be when the other is history and this is said at another time, and when it states a fact and is said at another time or
    by somebody else, whose word may count for more.
    """
    return not _came_back(there, made) and not (_is_stated_again(view, there, made) and not adds_nothing(there, made))


def already_there(there: Observation, made: Observation) -> tuple[str, ...]:
    """What a writer is told whose observation is there already: that, and what of it is not as the one that is there says."""
    return (ALREADY_THERE, *left_out(there, made))
