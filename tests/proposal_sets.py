"""Proposals put into a store as anybody may put them there: a file in `output/proposals`, no detector asked.

So that laws of applying and undoing hold for every change, not for those alone that detectors happen to suggest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from grail_mem import Memory
from grail_mem.consolidate.changes import ids_in
from grail_mem.consolidate.finding import Finding
from grail_mem.consolidate.proposal import Affected, Evidence, Proposal
from grail_mem.consolidate.proposal_file import read_sets, write_set
from grail_mem.model.times import format_time
from grail_mem.model.ulid import new_id


def propose(
    memory: Memory,
    changes: Sequence[Mapping[str, Any]],
    *,
    kind: str = "move_observation",
    affected: Sequence[str] = (),
    meaning: Sequence[str] = (),
    grounds: Mapping[str, Any] | None = None,
    same: Sequence[tuple[str, str]] = (),
    confidence: float = 0.9,
) -> str:
    """Put one proposal beside those that wait; returns its id."""
    ids = dict.fromkeys([*ids_in(changes), *affected])
    finding = Finding(
        kind, confidence, "Somebody thought of it.", {}, tuple(changes), tuple(meaning) or (new_id(),), grounds or {},
        same=tuple(same),
    )  # fmt: skip
    now = format_time(datetime.now(UTC))
    there = {id_: memory.get(id_) for id_ in ids}
    made = Proposal(
        new_id(), kind, confidence, finding.rationale, {}, finding.changes, Evidence(),
        tuple(Affected(id_, o.path, o.sha256) for id_, o in there.items()), finding.fingerprint, finding.grounds,
        finding.pairs, now,
    )  # fmt: skip
    layout = memory._layout
    stored = read_sets(layout)
    waiting = [stored.proposals[id_] for id_ in stored.newest]
    write_set(layout, [*waiting, made], made_at=now, about={})
    return made.id


def bytes_of(memory: Memory) -> dict[str, bytes]:
    """Every file under `memories/`, by path."""
    root = memory.root / "memories"
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
