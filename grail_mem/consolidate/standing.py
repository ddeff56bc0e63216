"""How proposals stand now: decided, waiting, in each other's way, or stale because what they rest on changed.

Knows nothing of how they are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from grail_mem.consolidate.decisions import Decided, Decision
from grail_mem.consolidate.proposal import Affected, Evidence, Proposal
from grail_mem.consolidate.proposal_file import Stored
from grail_mem.query.find import Known, known
from grail_mem.query.view import View

NO_LONGER: Final = "the last run found it no longer"


def visible(view: View, proposals: Iterable[Proposal]) -> list[Proposal]:
    """The proposals that the caller may know of: those of which every observation may be read; for the owner, all."""
    if view.principal is None:
        return list(proposals)
    listed = list(proposals)
    rests_on = {p.id: {*(item.id for item in p.affected), *(q.id for q in p.evidence.quotes)} for p in listed}
    there = known(view, set().union(*rests_on.values()))
    return [p for p in listed if rests_on[p.id] and rests_on[p.id] <= there.keys()]


def standing(view: View, proposals: Sequence[Proposal], decided: Decided) -> list[Proposal]:
    """The proposals with status, decision, what changed, and what is in their way; in the same order."""
    open_ = [proposal for proposal in proposals if proposal.id not in decided.statuses]
    now = known(view, {item.id for proposal in open_ for item in proposal.affected}) if open_ else {}
    rivals = _rivals(open_)
    return [_now(proposal, decided, now, view.hidden, rivals) for proposal in proposals]


def _now(
    proposal: Proposal,
    decided: Decided,
    now: Mapping[str, Known],
    hidden: Collection[str],
    rivals: Mapping[str, set[str]],
) -> Proposal:
    if proposal.id in decided.statuses:
        latest = decided.latest[proposal.id]
        return replace(proposal, status=decided.statuses[proposal.id], decided=latest.to_dict())
    stale = tuple(changed_since(proposal.affected, now, hidden))
    touching = {other for id_ in proposal.changed_ids for other in rivals.get(id_, ())} - {proposal.id}
    return replace(
        proposal, status="stale" if stale else "pending", stale=stale, conflicts=tuple(sorted(touching)), decided={}
    )


def changed_since(affected: Sequence[Affected], now: Mapping[str, Known], hidden: Collection[str]) -> Iterator[str]:
    """What is not as it was, a sentence for each observation."""
    for item in affected:
        there = now.get(item.id)
        if there is None:
            yield f"observation {item.id} is gone (it was {item.path})"
        elif item.id in hidden:
            yield f"observation {item.id} was hidden ({item.path})"
        elif there.path != item.path:
            yield f"observation {item.id} was moved from {item.path} to {there.path}"
        elif there.sha256 != item.sha256:
            yield f"observation {item.id} was changed ({item.path})"


def _rivals(proposals: Sequence[Proposal]) -> dict[str, set[str]]:
    """By id of an observation, the waiting proposals that would change it, where there are several."""
    by_id: dict[str, set[str]] = {}
    for proposal in proposals:
        for id_ in proposal.changed_ids:
            by_id.setdefault(id_, set()).add(proposal.id)
    return {id_: some for id_, some in by_id.items() if len(some) > 1}


def waiting_ids(stored: Stored, decided: Decided) -> list[str]:
    """The proposals that wait: those of the newest set and those whose rejection was undone, unless they are decided.

    One is decided, too, when the same was declined on the same grounds under another id, as in another clone.
    """
    there = [*stored.newest, *(id_ for id_ in sorted(decided.reopened) if id_ in stored.proposals)]
    return [
        id_
        for id_ in dict.fromkeys(there)
        if id_ not in decided.statuses
        and not decided.declines(stored.proposals[id_].fingerprint, stored.proposals[id_].grounds)
    ]


def withdrawn(proposal: Proposal, decided: Decided) -> Proposal:
    """A proposal that waits no longer though nobody decided on it by this id, with the reason."""
    declined = decided.decline_of(proposal.fingerprint)
    is_same = declined is not None and decided.declines(proposal.fingerprint, proposal.grounds)
    said = f"the same was declined as {declined.proposal_id}" if declined and is_same else NO_LONGER
    return replace(proposal, status="stale", stale=(*proposal.stale, said), conflicts=())


def of_decision(one: Decision) -> Proposal:
    """What the ledger still knows of a proposal."""
    return Proposal(
        one.proposal_id, one.kind, 0.0, "Only the decision is left: output/proposals was deleted.", {}, (), Evidence(), (),
        one.fingerprint, one.grounds, one.pairs, "",
    )  # fmt: skip
