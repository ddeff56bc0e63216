"""Whether what is about to be written is there already: the same statement, for the same time, from a source that is known.

Knows nothing of files, and of how a fact is decided.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Final, NamedTuple

from grail_mem.model.observation import Observation
from grail_mem.model.times import format_time
from grail_mem.model.validity import NOT_KNOWN, interval_of
from grail_mem.query.find import who_says
from grail_mem.query.view import View
from grail_mem.store.ledger import about
from grail_mem.write.placed_facts import is_decided
from grail_mem.write.saying import REINFORCED, is_claim, is_new_word

ALREADY_THERE: Final = "the same observation was there already; nothing was written."
_ENDED: Final = (
    "it was ended and holds until {until}; to say that it holds again, give the time when that was observed."
)
_PUT_AWAY: Final = {
    "archived": "it is archived; `grail unarchive {id}` brings it back.",
    "superseded": "it is history, since something else took its place: `grail history {id}`.",
}
_LEFT: Final = "not taken over: {names}; `grail update {id}` and `grail revise {id}` change the one that is there."
_BESIDE: Final = (
    "source_kind",
    "status",
    "confidence",
    "supersedes",
    "related_to",
    "expires_at",
    "review_at",
    "evidence",
)
"""What a statement is the same without, where a writer may expect that it was taken over."""
_SETTLED: Final = ("status", "confidence", "expires_at")
"""Those of them that who repeats it changes."""
_PLAIN: Final = {field.name: field.default for field in fields(Observation)}


class Already(NamedTuple):
    """The observation that says the same; and whether a hidden one does."""

    same: Observation | None
    hidden: bool


def already(view: View, said: Sequence[tuple[tuple[int, ...], Observation]]) -> list[Already]:
    """What says the same as observations about to be written, one answer each; the write lock must be held.

    Args:
        view: The store, up to date with the ledger.
        said: The observations, each with all its `fingerprints`.
    """
    found = who_says(view, said)
    intervals = {o.id: interval_of(o) for there in {id(one.there): one.there for one in found}.values() for o in there}
    wanted = [interval_of(made) for _, made in said]
    unlike = {o.id for one, own in zip(found, wanted, strict=True) for o in one.there if intervals[o.id] != own}
    given = _given(view, unlike) if unlike else {}
    return [
        Already(_chosen(view, one.there, made, own, intervals, given) if one.there else None, one.hidden)
        for one, own, (_, made) in zip(found, wanted, said, strict=True)
    ]


def _chosen(
    view: View,
    there: Sequence[Observation],
    made: Observation,
    own: str,
    intervals: Mapping[str, str],
    given: Mapping[str, str],
) -> Observation | None:
    """Which of those that say the same it is, the likeliest first: what holds for that time now, what does, what was given so."""
    alike = [o for o in there if intervals[o.id] == own]
    alike.sort(key=lambda o: o.status in _PUT_AWAY)
    alike += [
        o for o in there if intervals[o.id] != own and (given[o.id] == own if o.id in given else _may_be(o, made))
    ]
    same = [o for o in alike if not _came_back(o, made)]
    claims = [o for o in same if _is_stated_again(view, o, made)]
    known = [o for o in claims if not is_new_word(o, made)]
    return next(iter(known if claims else same), None)


def _may_be(there: Observation, made: Observation) -> bool:
    """Whether an observation of which nobody knows how long its writer said that it holds may be what is said again.

    A decision makes an end come sooner, never later.
    """
    ends, now = made.valid_until, there.valid_until
    return there.valid_from == made.valid_from and (ends is None or (now is not None and now <= ends))


def _came_back(there: Observation, made: Observation) -> bool:
    """Whether the one that is there is history and this is said at another time: a fact may come back."""
    return there.superseded_by is not None and there.observed_at != made.observed_at


def _is_stated_again(view: View, there: Observation, made: Observation) -> bool:
    """Whether both take part in the decision on a fact, for which it counts who says it."""
    return is_decided(view, made) and is_claim(made) and is_claim(there)


def is_same(view: View, there: Observation, made: Observation) -> bool:
    """Whether of two observations that say the same of the same time the second need not be written.

    It need be when the other is history and this is said at another time, and when it states a fact and somebody else says it,
    whose word may count for more.
    """
    return not _came_back(there, made) and not (_is_stated_again(view, there, made) and is_new_word(there, made))


def _given(view: View, ids: Collection[str]) -> Mapping[str, str]:
    """From when to when observations held as their writers gave it; of what others wrote, and of imports, nobody knows."""
    told: dict[str, str] = {}
    for entry in about(view.layout, ids):
        if entry.action == "add":
            told.setdefault(entry.id, entry.detail)
    return {id_: interval for id_, interval in told.items() if interval != NOT_KNOWN}


def already_there(there: Observation, made: Observation) -> tuple[str, ...]:
    """What a writer is told whose observation is there already: that, and what of it is not as the one that is there says."""
    if there.status in _PUT_AWAY:
        return ALREADY_THERE, _PUT_AWAY[there.status].format(id=there.id)
    said = [ALREADY_THERE]
    if there.valid_until is not None and made.valid_until != there.valid_until:
        said.append(_ENDED.format(until=format_time(there.valid_until)))
    if names := [name for name in _BESIDE if _is_left(name, there, made)]:
        said.append(_LEFT.format(names=", ".join(names), id=there.id))
    return tuple(said)


def _is_left(name: str, there: Observation, made: Observation) -> bool:
    """Whether the writer gave something that the observation there does not say, and nobody settled since."""
    if name in _SETTLED and (REINFORCED in there.extra or made.status == "provisional"):
        return False
    own, other = getattr(made, name), getattr(there, name)
    if name == "source_kind" and own is not None:
        return is_new_word(there, made)
    if name == "supersedes" and other is not None:  # what came between took the place of the one that is named
        return False
    if isinstance(own, tuple):
        return not set(own) <= set(other)
    return own not in (other, _PLAIN[name])
