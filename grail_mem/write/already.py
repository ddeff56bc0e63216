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
    unlike = {
        o.id
        for one, (_, made) in zip(found, said, strict=True)
        for o in one.there
        if interval_of(o) != interval_of(made)
    }
    given = _given(view, unlike) if unlike else {}
    return [
        Already(
            next((o for o in one.there if is_same(view, o, made, given=given.get(o.id, interval_of(made)))), None),
            one.hidden,
        )
        for one, (_, made) in zip(found, said, strict=True)
    ]


def is_same(view: View, there: Observation, made: Observation, *, given: str | None = None) -> bool:
    """Whether of two observations that say the same the one that is about to be written need not be.

    It need be when it holds for another time than the writer of the other gave, whatever a decision made of that since, when the
    other is history and this is said at another time, since a fact may come back, and when it states a fact and somebody
    else says it, whose word may count for more.

    Args:
        view: The store.
        there: The observation that is there.
        made: The one about to be written.
        given: From when to when `there` held as its writer gave it, see `interval_of`; None where it says so itself.
    """
    if interval_of(made) not in (interval_of(there), given):
        return False
    if there.superseded_by is not None and there.observed_at != made.observed_at:
        return False
    return not (is_decided(view, made) and is_claim(made) and is_claim(there) and is_new_word(there, made))


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
    if made.valid_until is None and there.valid_until is not None:
        said.append(_ENDED.format(until=format_time(there.valid_until)))
    if names := [name for name in _BESIDE if _is_left(name, there, made)]:
        said.append(_LEFT.format(names=", ".join(names), id=there.id))
    return tuple(said)


def _is_left(name: str, there: Observation, made: Observation) -> bool:
    """Whether the writer gave something that the observation there does not say, and nobody settled since."""
    if name in _SETTLED and (REINFORCED in there.extra or made.status == "provisional"):
        return False
    own, other = getattr(made, name), getattr(there, name)
    if isinstance(own, tuple):
        return not set(own) <= set(other)
    return own not in (other, _PLAIN[name])
