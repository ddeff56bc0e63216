"""Which proposals there are: those of all sets and those of which only the decision is left, each as it stands.

Changes nothing. Knows nothing of how they are shown.
"""

from __future__ import annotations

from collections.abc import Collection

from grail_mem.consolidate.decisions import read_decisions
from grail_mem.consolidate.detect import check_kinds, listed
from grail_mem.consolidate.finding import KINDS
from grail_mem.consolidate.proposal import STATUSES, Proposal
from grail_mem.consolidate.proposal_file import read_sets
from grail_mem.consolidate.standing import of_decision, standing, visible, waiting_ids, withdrawn
from grail_mem.errors import InputError
from grail_mem.model.filter import Texts
from grail_mem.query.view import View


def proposals(
    view: View,
    *,
    status: Texts | None = None,
    kind: Texts | None = None,
    min_confidence: float | None = None,
) -> tuple[Proposal, ...]:
    """Proposals by kind, the surest first.

    Args:
        view: The store.
        status: Of these statuses; None is `pending`, `all` is every one.
        kind: Of these kinds; None is every one.
        min_confidence: At least so sure.

    Raises:
        InputError: A status or kind is not known.
    """
    wanted = _statuses(status)
    kinds = None if kind is None else check_kinds(kind)
    if min_confidence is not None:
        share("min_confidence", min_confidence)
    stored, decided = read_sets(view.layout), read_decisions(view.layout)
    known = {id_: of_decision(one) for id_, one in decided.latest.items()} | dict(stored.proposals)
    chosen = [
        one
        for one in visible(view, known.values())
        if (kinds is None or one.kind in kinds) and (min_confidence is None or one.confidence >= min_confidence)
    ]
    waiting = {*waiting_ids(stored, decided), *decided.statuses}
    stands = [one if one.id in waiting else withdrawn(one, decided) for one in standing(view, chosen, decided)]
    return tuple(one for one in in_order(stands) if one.status in wanted)


def in_order(some: Collection[Proposal]) -> list[Proposal]:
    """Proposals by kind, in the order of `KINDS`, and the surest first."""
    places = {name: number for number, name in enumerate(KINDS)}
    return sorted(some, key=lambda p: (places.get(p.kind, len(places)), p.kind, -p.confidence, p.id))


def share(name: str, value: object) -> None:
    """Refuse what is no share.

    Raises:
        InputError: It is no number from 0 to 1.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"{name} must be a number from 0 to 1, not {value!r}.")


def _statuses(status: Texts | None) -> frozenset[str]:
    asked = ["pending"] if status is None else listed("status", status)
    unknown = [f"There is no status {name!r}." for name in asked if name not in (*STATUSES, "all")]
    if unknown:
        hint = f"The statuses are {', '.join(STATUSES)}, or all."
        raise InputError(" ".join(unknown), hint=hint, problems=unknown)
    return frozenset(STATUSES if "all" in asked else asked)
