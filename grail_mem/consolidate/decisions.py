"""Decisions on proposals as the ledger keeps them: who, when, why, and what it rested on.

No word of an observation is in them, so they stay when one is forgotten, and they stay when `output/` is deleted. Knows
nothing of how proposals are made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from grail_mem.consolidate.pairs import Rejected, kept_as, salt_of, salted
from grail_mem.consolidate.proposal import Proposal, digest_of
from grail_mem.model.ulid import is_id
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import decisions
from grail_mem.store.ledger_line import Entry


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision.

    Attributes:
        proposal_id: On which proposal.
        action: `apply`, `reject` or `undo`.
        kind: The proposal's kind.
        fingerprint: What it was about: the proposal's fingerprint, salted, in decisions of old as it is.
        grounds: What it rested on then.
        pairs: The pairs of things that it took for the same, see `consolidate.pairs`.
        at: When, as the ledger has it.
        actor: Who.
        reason: Why.
        decided_at: When, of a decision that was told again later; empty for others.
        also: The same fingerprint in other forms, as decisions before this one keep it.
    """

    proposal_id: str
    action: str
    kind: str
    fingerprint: str
    grounds: Mapping[str, Any] = field(default_factory=dict)
    pairs: tuple[str, ...] = ()
    at: str = ""
    actor: str = ""
    reason: str = ""
    decided_at: str = ""
    also: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, str]:
        """Who decided, when and why."""
        return {"action": self.action, "at": self.decided_at or self.at, "actor": self.actor, "reason": self.reason}


def entry_for(
    proposal: Proposal, action: str, decided: Decided, *, salt: str, at: str, actor: str, reason: str
) -> Entry:
    """What the ledger is told of a decision on a proposal.

    Args:
        proposal: The proposal.
        action: `apply`, `reject` or `undo`.
        decided: What was decided before.
        salt: For its pairs, when no decision before had one.
        at: When.
        actor: Who decides.
        reason: Why.
    """
    salt = decided.salt or salt
    pairs = [kept for pair in proposal.pairs for kept in kept_as(pair, salt, decided.forbidden)]
    print_ = salted(proposal.fingerprint, salt)
    detail: dict[str, Any] = {"kind": proposal.kind, "grounds": dict(proposal.grounds), "pairs": pairs}
    if also := [form for form in decided.forms(proposal.fingerprint) if form != print_]:
        detail["also"] = also
    return Entry(
        action, proposal.id, reason=reason, fingerprint=print_, at=at, actor=actor,
        detail=json.dumps(detail, sort_keys=True, separators=(",", ":")),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decided:
    """What all decisions of a store come to.

    Attributes:
        latest: The last decision on each proposal that is decided, by its id, in order of time.
        statuses: What each of those is: `applied`, `rejected` or `undone`.
        reopened: Proposals whose rejection was undone, so that they wait again.
        declined: By fingerprint, as decisions keep it, the last decision where that left it rejected or undone.
        forbidden: Pairs in what is declined, as decisions keep them, each with the grounds of then.
        last_at: When the last decision was made; empty when there is none.
        salt: Of pairs and fingerprints; empty when none has one.
        prints: The fingerprints of what is declined, to be looked up.
    """

    latest: Mapping[str, Decision]
    statuses: Mapping[str, str]
    reopened: frozenset[str]
    declined: Mapping[str, Decision]
    forbidden: Mapping[str, Mapping[str, Any]]
    last_at: str = ""
    salt: str = ""
    prints: Rejected = field(default_factory=lambda: Rejected({}), compare=False)

    def forms(self, fingerprint: str) -> list[str]:
        """How decisions keep the fingerprint of what is declined; none when it is not."""
        return self.prints.forms(fingerprint)

    def decline_of(self, fingerprint: str) -> Decision | None:
        """The last decision by which a proposal with this fingerprint is declined; None when it is not."""
        found = [self.declined[form] for form in self.forms(fingerprint)]
        return max(found, key=lambda one: one.at, default=None)

    def declines(self, fingerprint: str, grounds: Mapping[str, Any]) -> bool:
        """Whether somebody declined this on these very grounds, perhaps under another id in another clone."""
        before = self.decline_of(fingerprint)
        return before is not None and digest_of(before.grounds) == digest_of(grounds)


def read_decisions(layout: Layout) -> Decided:
    """All decisions that the ledger knows, those of other clones included."""
    return decided([made for entry in decisions(layout) if (made := _decision(entry)) is not None])


def decided(in_order: Sequence[Decision]) -> Decided:
    """What decisions come to; to undo a rejection is to leave the matter open again."""
    latest: dict[str, Decision] = {}
    statuses: dict[str, str] = {}
    reopened: set[str] = set()
    for one in in_order:
        lifted = one.action == "undo" and statuses.get(one.proposal_id) == "rejected"
        latest.pop(one.proposal_id, None)
        statuses.pop(one.proposal_id, None)
        reopened.discard(one.proposal_id)
        if lifted:
            reopened.add(one.proposal_id)
        else:
            latest[one.proposal_id], statuses[one.proposal_id] = one, _STATUS[one.action]
    declined: dict[str, Decision] = {}
    forbidden: dict[str, Mapping[str, Any]] = {}
    for one in latest.values():  # what stands at last, in order: to accept lifts what was declined before
        for form in (one.fingerprint, *one.also):
            declined.pop(form, None)
        for pair in one.pairs:
            forbidden.pop(pair, None)
        if statuses[one.proposal_id] in ("rejected", "undone"):
            declined[one.fingerprint] = one
            forbidden |= dict.fromkeys(one.pairs, one.grounds)
    last_at = in_order[-1].at if in_order else ""
    salt = salt_of(kept for one in in_order for kept in (*one.pairs, one.fingerprint))
    return Decided(latest, statuses, frozenset(reopened), declined, forbidden, last_at, salt, Rejected(declined))


_STATUS: Final = {"apply": "applied", "reject": "rejected", "undo": "undone"}


def _decision(entry: Entry) -> Decision | None:
    """The decision in an entry; None when somebody changed the line so that it is none."""
    if not is_id(entry.id):
        return None
    try:
        detail = json.loads(entry.detail or "{}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(detail, dict) or not isinstance(detail.get("grounds", {}), dict):
        return None
    pairs = detail.get("pairs", [])
    also = detail.get("also", [])
    if not all(isinstance(some, list) and all(isinstance(one, str) for one in some) for some in (pairs, also)):
        return None
    return Decision(
        entry.id, entry.action, str(detail.get("kind", "")), entry.fingerprint, detail.get("grounds", {}), tuple(pairs),
        entry.at, entry.actor, entry.reason, str(detail.get("decided_at", "")), tuple(also),
    )  # fmt: skip


def what_changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    """How the grounds of a finding differ from those on which it was rejected, one sentence for each."""
    names = sorted({*before, *now})
    return tuple(
        f"{name}: {now[name]} (was {before[name]})" if name in before and name in now
        else f"{name}: {now[name]} (new)" if name in now else f"{name}: no longer (was {before[name]})"
        for name in names
        if before.get(name) != now.get(name)
    )  # fmt: skip
