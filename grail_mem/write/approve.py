"""Approving and declining candidates: what becomes of what was submitted.

Knows nothing of who suggested it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from grail_mem.errors import GrailError, InputError
from grail_mem.model.observation import Observation
from grail_mem.model.times import format_time
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.ledger_line import Entry
from grail_mem.write.add import add
from grail_mem.write.candidates import Candidate, detail_in, drop, drop_decided, named, told
from grail_mem.write.evidence import with_evidence
from grail_mem.write.permit import for_caller
from grail_mem.write.placed_facts import Written
from grail_mem.write.staged import staging, tell, writing
from grail_mem.write.validate import DRAFT_FIELDS, Draft, make_observation


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of one decision.

    Attributes:
        id: The candidate.
        status: What it is now.
        done: Whether this call did what was asked; in a dry run, whether it would.
        observation: The observation that it became; empty when it did not.
        reasons: Why it was not done, or what is worth knowing.
    """

    id: str
    status: str
    done: bool
    observation: str = ""
    reasons: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The outcome as plain JSON values."""
        return {
            "id": self.id, "status": self.status, "done": self.done, "observation": self.observation,
            "reasons": list(self.reasons),
        }  # fmt: skip


class _GoneError(Exception):
    """Somebody else decided meanwhile."""


def approve(
    view: View,
    ids: str | Collection[str],
    *,
    dry_run: bool,
    actor: str,
    reason: str,
    progress: Callable[[int], None] | None = None,
) -> list[Decided]:
    """Make candidates observations, by the way that every observation takes; its evidence is located and checked again.

    Args:
        view: The store.
        ids: Which, in the order in which they are approved.
        dry_run: Only say what would happen.
        actor: Who approves.
        reason: Why, for the ledger.
        progress: Called with how many are done.

    Raises:
        NotFoundError: There is no such candidate; none was approved.
        AccessError: The caller may not apply in the scope of one.
        StoreError: The disk did not take one; those before it are approved.
    """
    outcomes: list[Decided] = []
    for one in named(view, ids):
        outcomes.append(_approve(view, one, dry_run=dry_run, actor=actor, reason=reason))
        if progress:
            progress(len(outcomes))
    if not dry_run:
        drop_decided(view)
    return outcomes


def _approve(view: View, one: Candidate, *, dry_run: bool, actor: str, reason: str) -> Decided:
    if one.damaged:
        return Decided(one.id, one.status, done=False, reasons=(f"its file cannot be read: {one.damaged}",))
    if one.observation is None:
        return Decided(
            one.id, one.status, done=False, observation=one.became, reasons=(f"it was {one.status} already",)
        )
    view.access.require("apply", one.observation.scope)
    draft = draft_of(one.observation)

    def beside(results: Sequence[Written]) -> list[Entry]:
        if told(view)[one.id].status != "pending":
            raise _GoneError
        detail, at = json.dumps({"observation": results[0].id}), format_time(datetime.now(UTC))
        return [Entry("approve", one.id, reason=reason, detail=detail, at=at, actor=actor)]

    try:
        if dry_run:
            with_evidence(view, for_caller(view, draft, "apply"))
            make_observation(draft, now=datetime.now(UTC), settings=view.settings)
            return Decided(one.id, "pending", done=True)
        (written,) = add(view, [draft], actor=actor, right="apply", beside=beside)
    except _GoneError:
        there = told(view)[one.id]
        became = detail_in(there.decided or Entry("", ""), "observation")
        return Decided(
            one.id, there.status, done=False, observation=became, reasons=(f"it was {there.status} already",)
        )
    except InputError as error:
        return Decided(one.id, "pending", done=False, reasons=tuple(error.problems))
    except GrailError as error:
        if error.code != "conflict":
            raise
        return Decided(one.id, "pending", done=False, reasons=(str(error),))
    drop(view, one.id)
    return Decided(one.id, "approved", done=True, observation=written.id, reasons=written.warnings)


def decline(view: View, ids: str | Collection[str], *, dry_run: bool, actor: str, reason: str) -> list[Decided]:
    """Say that candidates are not wanted; the same is not submitted again.

    Raises:
        NotFoundError: There is no such candidate; none was declined.
        AccessError: The caller may not apply in the scope of one; none was declined.
    """
    asked = named(view, ids)
    for one in asked:
        if one.observation is not None:
            view.access.require("apply", one.observation.scope)
    if dry_run:
        return [Decided(one.id, one.status, done=one.status == "pending") for one in asked]
    outcomes: list[Decided] = []
    entries: list[Entry] = []
    with staging(view.layout), translated("decline the candidates", view.layout.root), writing(view):
        known = told(view)
        for one in asked:
            if (status := known[one.id].status) != "pending":
                outcomes.append(Decided(one.id, status, done=False, reasons=(f"it was {status} already",)))
                continue
            entries += declined([one.id], actor=actor, reason=reason)
            outcomes.append(Decided(one.id, "declined", done=True))
        if entries:
            tell(view, entries)
        drop_decided(view)
    return outcomes


def declined(ids: Sequence[str], *, actor: str, reason: str) -> list[Entry]:
    """What the ledger is told of candidates that are not wanted."""
    at = format_time(datetime.now(UTC))
    return [Entry("decline", id_, reason=reason, at=at, actor=actor) for id_ in ids]


def draft_of(o: Observation) -> Draft:
    """The draft that an observation could have been made of; its evidence as it was sent."""
    values: dict[str, Any] = {
        name: value
        for name in DRAFT_FIELDS
        if name not in ("slug", "evidence") and (value := getattr(o, name)) not in (None, ())
    }
    if o.evidence:
        values["evidence"] = [{"quote": item.quote, "source": item.source} for item in o.evidence]
    if o.observed_at == o.recorded_at:
        values.pop("observed_at")
    return Draft(**values)
