"""Fading: which observations nobody recalled for long, and putting them into the archive.

It is a preview until it is asked to apply; what it archives comes back with `unarchive`. No answer knows of it, and neither
does this module of how recalls are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.lineage import relatives
from grail_mem.model.observation import PINNED, Observation
from grail_mem.model.strength import Strength, strength
from grail_mem.query.view import View
from grail_mem.store.access import read_accesses
from grail_mem.write.keep import archive_all
from grail_mem.write.selection import everything

LIVING: Final = ("confirmed", "provisional")
KEPT: Final = ("pinned", "dated", "user_statement", "relied_on")
"""Why an observation never fades, in the order in which it is asked."""
_ID: Final = re.compile(r"(?<![0-9A-Z])[0-9A-HJKMNP-TV-Z]{26}(?![0-9A-Z])")


@dataclass(frozen=True, slots=True)
class Weak:
    """An observation that nobody recalled for long.

    Attributes:
        id: The observation.
        title: Its title.
        category: Its category.
        path: Its file, relative to the root.
        strength: How strong it is; see `model.strength`.
        last_recalled: The day of its last recall; None when none is known.
        counted_since: The day from which on a recall of it would have been noted.
        n_days: On how many days it was recalled, 16 at most.
        half_life_days: Days in which its strength halves.
        reason: All of that in words.
    """

    id: str
    title: str
    category: str
    path: str
    strength: float
    last_recalled: date | None
    counted_since: date
    n_days: int
    half_life_days: float
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain JSON values."""
        values = {name: getattr(self, name) for name in Weak.__slots__}
        return {name: value.isoformat() if isinstance(value, date) else value for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class Faded:
    """What has faded, and what was archived of it.

    Attributes:
        weak: The observations below the bound, the weakest first.
        archived: Ids of those that were archived; none for a preview.
        n_observations: Observations that were looked at: those that are current and not hidden.
        kept: How many never fade, by why: `pinned`; `dated`, with a review, a task or an end of its own; `user_statement`, a
            confirmed one; `relied_on`, named by another current one.
        below: The strength below which an observation is weak.
        counted_since: The day from which on recalls are noted; None when none was yet, and then nothing is weak.
    """

    weak: tuple[Weak, ...]
    archived: tuple[str, ...]
    n_observations: int
    kept: Mapping[str, int]
    below: float
    counted_since: date | None

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "weak": [one.to_dict() for one in self.weak], "archived": list(self.archived),
            "n_observations": self.n_observations, "kept": dict(self.kept), "below": self.below,
            "counted_since": self.counted_since.isoformat() if self.counted_since else None,
        }  # fmt: skip


def fade(view: View, *, below: object, now: datetime, apply: bool, reason: str, actor: str) -> Faded:
    """List observations that nobody recalled for long, and archive them if that is asked for.

    Args:
        view: The store.
        below: The strength below which one is weak; None for the setting `fade_below`.
        now: The time of the asking.
        apply: Archive them.
        reason: Why, for the ledger.
        actor: Who does it.

    Raises:
        InputError: Recalls are not noted, or the bound is none.
    """
    bound = _bound(view, below)
    view.refresh()
    found = _faded(view, bound, now)
    if not apply or not found.weak:
        return found

    def meant() -> list[str]:
        nonlocal found
        found = _faded(view, bound, now)
        return [one.id for one in found.weak]

    said = reason.strip() or f"faded: strength below {bound:g}"
    archived = archive_all(view, meant, actor=actor, reason=said)
    return replace(found, archived=archived)


def _bound(view: View, below: object) -> float:
    if view.settings.access_log != "on":
        raise InputError(
            "Recalls are not noted in this store, so nothing tells what fades.",
            hint="Set `access_log: on` in grail.yaml; strength counts from then on.",
        )
    bound = view.settings.fade_below if below is None else below
    if not isinstance(bound, int | float) or isinstance(bound, bool) or not 0 < bound <= 1:
        raise InputError(f"below must be a number above 0 and up to 1, not {bound!r}.")
    return float(bound)


def _faded(view: View, bound: float, now: datetime) -> Faded:
    accesses, today = read_accesses(view.layout), now.astimezone(UTC).date().toordinal()
    living = [o for o in everything(view) if o.status in LIVING and o.id not in view.hidden]
    named = set(_named(living))
    kept: Counter[str] = Counter()
    weak: list[Weak] = []
    for o in living:
        why = _kept(o, named, now)
        if why:
            kept[why] += 1
        elif accesses.since is not None:
            since = max(accesses.since, o.recorded_at.date().toordinal())
            days = accesses.days.get(o.id, frozenset())
            now_is = strength(days, since, today, base=view.settings.fade_half_life_days)
            if now_is.value < bound:
                weak.append(_weak(o, now_is, since, recalled=bool(days)))
    weak.sort(key=lambda one: (one.strength, one.id))
    counted = None if accesses.since is None else date.fromordinal(accesses.since)
    return Faded(tuple(weak), (), len(living), {why: kept[why] for why in KEPT if kept[why]}, bound, counted)


def _kept(o: Observation, named: set[str], now: datetime) -> str:
    """Why an observation never fades; empty when it does."""
    if o.extra.get(PINNED):
        return "pinned"
    ends = [at for at in (o.valid_until, o.expires_at) if at is not None]
    if o.review_at is not None or o.kind == "prospective" or any(at > now for at in ends):
        return "dated"
    if o.status == "confirmed" and o.source_kind == "user_statement":
        return "user_statement"
    return "relied_on" if o.id in named else ""


def _named(living: Iterable[Observation]) -> Iterator[str]:
    """The ids that current observations name outside their content, but for their own."""
    for o in living:
        texts = [*o.related_to, *relatives(o), str(o.extra), *(f"{e.source} {dict(e.more)}" for e in o.evidence)]
        yield from (id_ for text in texts for id_ in _ID.findall(text) if id_ != o.id)


def _weak(o: Observation, now_is: Strength, since: int, *, recalled: bool) -> Weak:
    first = date.fromordinal(since)
    told = f"last recalled {now_is.last}" if recalled else f"not recalled since {first}"
    if recalled and now_is.n_days > 1:
        told += f", on {now_is.n_days} days"
    reason = f"{told}; its strength halves every {now_is.half_life_days:g} days"
    last = now_is.last if recalled else None
    return Weak(
        o.id,
        o.title,
        o.category,
        o.path,
        round(now_is.value, 6),
        last,
        first,
        now_is.n_days,
        now_is.half_life_days,
        reason,
    )
