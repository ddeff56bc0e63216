"""What is about to be written and states facts, put among what is known of them: files that are there change with it.

Knows nothing of how a decision is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from grail_mem.model.observation import Observation
from grail_mem.query.view import View
from grail_mem.store.observation_render import render_observation
from grail_mem.write import facts
from grail_mem.write.edited import placings_of
from grail_mem.write.staged import Placing, stage


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one write.

    Attributes:
        id: The observation's ULID.
        path: Its file, relative to the root.
        created: False when the same observation was there already; then `id` and `path` are those of that one.
        warnings: What was adjusted or is worth knowing.
        decision: What became of it among what is known: one of `write.facts.DECISIONS`.
        others: Ids of the observations that the decision is about.
    """

    id: str
    path: str
    created: bool = True
    warnings: tuple[str, ...] = ()
    decision: str = "new"
    others: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {
            "id": self.id, "path": self.path, "created": self.created, "warnings": list(self.warnings),
            "decision": self.decision, "others": list(self.others),
        }  # fmt: skip


def is_decided(view: View, o: Observation) -> bool:
    """Whether an observation takes its place among what is known: it states a fact, or names what it replaces."""
    return view.settings.facts == "decide" and (o.attribute is not None or o.supersedes is not None)


def with_facts(
    view: View,
    results: Sequence[Written],
    placings: Sequence[Placing],
    made: Mapping[str, Observation],
    staging_fd: int,
    actor: str,
) -> tuple[list[Written], list[Placing], list[str]]:
    """Let statements of facts take their places: what was to be written changes, and so do files that are there.

    Returns:
        Results, everything that is placed, and names of staged files that are not used.
    """
    asked = [made[placing.entry.id] for placing in placings if placing.entry.id in made]
    if not asked:
        return list(results), list(placings), []
    decided, changed = facts.decide(view, asked)
    by_id = {o.id: one for o, one in zip(asked, decided, strict=True)}
    placed, unused = [], []
    for placing in placings:
        one = by_id.get(placing.entry.id)
        if one is None or one.stored == made[placing.entry.id]:
            placed.append(placing)
            continue
        unused.append(placing.staged)
        if one.stored is not None:
            placed.append(_restaged(placing, one.stored, staging_fd))
    at, why = placings[0].entry.at, "a new observation of the same fact"
    edits = [edit for edit in facts.edits(view, changed) if edit.changes_file]
    placed += placings_of(edits, staging_fd, at=at, actor=actor, reason=why)
    paths = {placing.entry.id: placing.path for placing in placed} | {id_: o.path for id_, (o, _) in changed.items()}
    paths |= view.paths_of([id_ for one in decided for id_ in one.others if id_ not in paths])
    return [_result(one, by_id.get(one.id), paths) for one in results], placed, unused


def _restaged(placing: Placing, stored: Observation, staging_fd: int) -> Placing:
    data = render_observation(stored)
    (name,) = stage(staging_fd, [data])
    return replace(placing, staged=name, data=data, entry=replace(placing.entry, digest=sha256(data).hexdigest()))


def _result(written: Written, decided: facts.Decided | None, paths: Mapping[str, str]) -> Written:
    if decided is None:
        return written
    if not written.created:  # it says the same as one before it
        holder = written.id if decided.stored is not None else decided.others[0]
        return replace(written, id=holder, path=paths.get(holder, ""))
    warnings = (*written.warnings, *decided.warnings)
    made = replace(written, warnings=warnings, decision=decided.decision, others=decided.others)
    if decided.stored is not None:
        return made
    holder = decided.others[0]
    return replace(made, id=holder, path=paths.get(holder, ""), created=False)
