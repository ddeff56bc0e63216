"""Answers without observations whose evidence is gone, also where nobody has verified it yet.

Reading never writes: what is found here is left out of this answer, with a warning; `grail verify` records it.
"""

from __future__ import annotations

from dataclasses import replace

from grail_mem.model.observation import Observation
from grail_mem.query.passages import Sources
from grail_mem.query.proof import is_dead, status_of
from grail_mem.query.view import View
from grail_mem.recall.hit import Hit
from grail_mem.recall.result import Abstention, Recall


def proven(view: View, found: Recall) -> Recall:
    """An answer without what rests on evidence that is not there any more; costs a look at each source's state."""
    shown = [*found.observations, *(turn for hit in found.observations for turn in getattr(hit, "context", ()))]
    sources = Sources(view.layout)
    gone = {o.id for o in shown if o.evidence and is_dead(status_of(sources, e) for e in o.evidence)}
    if not gone:
        return found
    kept = tuple(_without(o, gone) for o in found.observations if o.id not in gone)
    words = "1 observation was" if len(gone) == 1 else f"{len(gone)} observations were"
    said = f"{words} left out, since the evidence is not in its source any more; see `grail verify`."
    keys = {key for o in kept for entity in o.entities for key in entity.keys}
    stated = {relationship for o in kept for relationship in o.relationships}
    return replace(
        found,
        observations=kept,
        entities=tuple(entity for entity in found.entities if entity.key in keys),
        relationships=tuple(relationship for relationship in found.relationships if relationship in stated),
        citations=tuple(c for c in found.citations if c.id not in gone),
        abstention=found.abstention if kept else Abstention("no_match", f"What matched is not shown: {said}"),
        coverage=found.coverage if kept or found.coverage is None else "none",
        warnings=(*found.warnings, said),
    )


def _without(o: Observation, gone: set[str]) -> Observation:
    """A hit without those turns around it."""
    if not isinstance(o, Hit) or gone.isdisjoint(turn.id for turn in o.context):
        return o
    return replace(o, context=tuple(turn for turn in o.context if turn.id not in gone))
