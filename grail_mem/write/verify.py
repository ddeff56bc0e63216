"""Verify: every quote looked up again, and observations whose evidence is gone taken out of answers until it is there again.

What is found is told to the ledger, so that every process answers alike. Knows nothing of how a quote is looked up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from grail_mem.model.times import format_time
from grail_mem.query.find import locate_all
from grail_mem.query.passages import Sources
from grail_mem.query.proof import DEAD, Claimed, Status, is_dead, status_of
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.ledger_line import Entry
from grail_mem.write.staged import staging, tell, writing

REASON = "evidence"


@dataclass(frozen=True, slots=True)
class CheckedQuote:
    """One quote as it was found.

    Attributes:
        id: The observation.
        path: Its file, relative to the root.
        quote: The words.
        source: Where they are said to stand.
        status: `verified`, `normalised match`, `source changed`, `source missing` or `no source`.
    """

    id: str
    path: str
    title: str
    quote: str
    source: str
    status: Status

    def to_dict(self) -> dict[str, object]:
        """The finding as plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Verified:
    """What a verification found.

    Attributes:
        quotes: Every quote, in the order of observations' ids.
        suspended: Ids of observations that are out of answers from now on.
        reinstated: Ids of those that are part of answers again.
        out: Ids of all that are out of answers because of their evidence.
    """

    quotes: tuple[CheckedQuote, ...]
    suspended: tuple[str, ...] = ()
    reinstated: tuple[str, ...] = ()
    out: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every quote that points to a source stands there."""
        return not any(quote.status in DEAD for quote in self.quotes)

    @property
    def counts(self) -> dict[str, int]:
        """How many quotes have each status."""
        return dict(Counter(quote.status for quote in self.quotes))

    def to_dict(self) -> dict[str, Any]:
        """The findings as plain JSON values."""
        return {
            "ok": self.ok, "counts": self.counts, "quotes": [quote.to_dict() for quote in self.quotes],
            "suspended": list(self.suspended), "reinstated": list(self.reinstated), "out": list(self.out),
        }  # fmt: skip


def verify(view: View, claimed: Iterable[Claimed], *, actor: str, dry_run: bool = False) -> Verified:
    """Look up every quote again.

    Args:
        view: The store, up to date.
        claimed: The observations with evidence that are part of answers.
        actor: Who does it.
        dry_run: Only report.

    Raises:
        StoreError: The disk did not take what was found; nothing was changed.
    """
    stood = {id_ for id_, (*_, suspends) in view.suspended.items() if suspends}
    out = [
        Claimed(o.id, o.path, o.title, o.scope, o.evidence)
        for o in (row.observation for row in locate_all(view, stood).values())
        if o.id not in view.hidden
    ]
    listed = {o.id: o for o in (*claimed, *out) if view.access.may("read", o.scope)}
    sources = Sources(view.layout)
    statuses = {id_: [status_of(sources, e) for e in o.evidence] for id_, o in listed.items()}
    dead = {id_ for id_, found in statuses.items() if is_dead(found)}
    allowed = {id_ for id_, o in listed.items() if view.access.may("write", o.scope)}
    suspended, reinstated = sorted((dead - stood) & allowed), sorted((stood - dead) & allowed)
    if not dry_run:
        _tell(view, suspended, reinstated, actor)
    quotes = tuple(
        CheckedQuote(o.id, o.path, o.title, e.quote, e.source, status)
        for o in sorted(listed.values(), key=lambda o: o.id)
        for e, status in zip(o.evidence, statuses[o.id], strict=True)
    )
    return Verified(quotes, tuple(suspended), tuple(reinstated), tuple(sorted(dead)))


def _tell(view: View, suspended: Sequence[str], reinstated: Sequence[str], actor: str) -> None:
    """Tell the ledger what is out of answers and what is part of them again."""
    if not suspended and not reinstated:
        return
    at = format_time(datetime.now(UTC))
    entries = [
        Entry(action, id_, reason=REASON, at=at, actor=actor)
        for action, ids in (("suspend", suspended), ("reinstate", reinstated))
        for id_ in ids
    ]
    with staging(view.layout), translated("record what was verified", view.layout.root), writing(view):
        view.catch_up()
        tell(view, entries)
