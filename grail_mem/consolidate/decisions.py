"""Decisions on proposals as the ledger keeps them: who, when, why, and what it rested on.

No word of an observation is in them, so they stay when one is forgotten, and they stay when `output/` is deleted. Knows
nothing of how proposals are made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from grail_mem.consolidate.pairs import kept_as, salt_of
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
        fingerprint: What it was about.
        grounds: What it rested on then.
        pairs: The pairs of things that it took for the same, see `consolidate.pairs`.
        at: When, as the ledger has it.
        actor: Who.
        reason: Why.
        decided_at: When, of a decision that was told again later; empty for others.
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
    detail = {"kind": proposal.kind, "grounds": dict(proposal.grounds), "pairs": pairs}
    return Entry(
        action, proposal.id, reason=reason, fingerprint=proposal.fingerprint, at=at, actor=actor,
        detail=json.dumps(detail, sort_keys=True, separators=(",", ":")),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decided:
    """What all decisions of a store come to.

    Attributes:
        latest: The last decision on each proposal that is decided, by its id, in order of time.
        statuses: What each of those is: `applied`, `rejected` or `undone`.
        reopened: Proposals whose rejection was undone, so that they wait again.
        declined: By fingerprint, the last decision where that left it rejected or undone.
        forbidden: Pairs in what is declined, as decisions keep them, each with the grounds of then.
        last_at: When the last decision was made; empty when there is none.
        salt: Of the pairs; empty when none has one.
    """

    latest: Mapping[str, Decision]
    statuses: Mapping[str, str]
    reopened: frozenset[str]
    declined: Mapping[str, Decision]
    forbidden: Mapping[str, Mapping[str, Any]]
    last_at: str = ""
    salt: str = ""

    def declines(self, fingerprint: str, grounds: Mapping[str, Any]) -> bool:
        """Whether somebody declined this on these very grounds, perhaps under another id in another clone."""
        before = self.declined.get(fingerprint)
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
        declined.pop(one.fingerprint, None)
        for pair in one.pairs:
            forbidden.pop(pair, None)
        if statuses[one.proposal_id] in ("rejected", "undone"):
            declined[one.fingerprint] = one
            forbidden |= dict.fromkeys(one.pairs, one.grounds)
    last_at = in_order[-1].at if in_order else ""
    salt = salt_of(pair for one in in_order for pair in one.pairs)
    return Decided(latest, statuses, frozenset(reopened), declined, forbidden, last_at, salt)


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
    if not isinstance(pairs, list) or not all(isinstance(pair, str) for pair in pairs):
        return None
    return Decision(
        entry.id, entry.action, str(detail.get("kind", "")), entry.fingerprint, detail.get("grounds", {}), tuple(pairs),
        entry.at, entry.actor, entry.reason, str(detail.get("decided_at", "")),
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
