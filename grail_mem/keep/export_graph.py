"""Export as a graph: GraphML with an entity as a node and a relationship as an edge, as graph programs open it.

An edge is a relationship of one type between two entities, however many observations state it. Knows nothing of how it is
read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from grail_mem.keep.exported import Exported, selected
from grail_mem.model.filter import Filter
from grail_mem.model.names import entity_key
from grail_mem.model.observation import Entity, Observation, Relationship
from grail_mem.model.times import format_time
from grail_mem.query.view import View

_NO_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE: Final = {
    "label": "string", "type": "string", "description": "string", "aliases": "string", "n_observations": "int",
    "first_observed_at": "string", "last_observed_at": "string", "categories": "string",
}  # fmt: skip
_EDGE: Final = {
    "relationship_type": "string", "description": "string", "weight": "double", "confidence": "double", "n_observations": "int",
    "first_observed_at": "string", "last_observed_at": "string", "observations": "string",
}  # fmt: skip


@dataclass(slots=True)
class _Told:
    """What observations tell of one entity or relationship; the newest comes first."""

    part: Entity | Relationship
    ids: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    categories: dict[str, None] = field(default_factory=dict)
    aliases: dict[str, None] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)

    def hear(self, o: Observation, part: Entity | Relationship) -> None:
        """Take what one more observation tells; what was said first stays, and what is missing is filled in."""
        self.ids.append(o.id)
        at = format_time(o.observed_at)
        self.times = [min([*self.times[:1], at]), max([*self.times[-1:], at])]
        self.categories[o.category] = None
        for name in ("type", "description", "weight", "confidence"):
            value = getattr(part, name, None)
            if value not in (None, ""):
                self.said.setdefault(name, value)
        if isinstance(part, Entity):
            self.aliases |= dict.fromkeys(part.aliases)


class GraphWriting:
    """A graph on its way."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        self._progress = progress
        self._nodes: dict[str, _Told] = {}
        self._edges: dict[tuple[str, str, str], _Told] = {}

    def run(self, view: View, f: Filter, file: Any, *, path: str = "", dry_run: bool = False) -> Exported:
        """Write the entities and relationships of what meets the conditions."""
        skipped: dict[str, str] = {}
        n_observations = 0
        for edited in selected(view, f, whole=False, skipped=skipped):
            self._hear(edited.made)
            n_observations += 1
            self._progress(n_observations)
        self._write(file)
        return Exported(
            path, n_observations, n_entities=len(self._nodes), n_relationships=len(self._edges), skipped=skipped,
            dry_run=dry_run, format="graphml",
        )  # fmt: skip

    def _hear(self, o: Observation) -> None:
        for entity in o.entities:
            self._nodes.setdefault(entity.key, _Told(entity)).hear(o, entity)
        for relationship in o.relationships:
            for name in (relationship.source, relationship.target):
                if entity_key(name) not in self._nodes:
                    self._nodes[entity_key(name)] = _Told(Entity(name))
            ends = entity_key(relationship.source), entity_key(relationship.target)
            key = (*ends, entity_key(relationship.relationship_type))
            self._edges.setdefault(key, _Told(relationship)).hear(o, relationship)

    def _write(self, file: Any) -> None:
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
            *_keys("node", _NODE),
            *_keys("edge", _EDGE),
            '<graph id="grail" edgedefault="directed">',
        ]
        file.write("\n".join(lines).encode() + b"\n")
        places = {key: f"n{at}" for at, key in enumerate(self._nodes)}
        for key, told in self._nodes.items():
            file.write(f'<node id="{places[key]}">{_data("node", _NODE, _node(told))}</node>\n'.encode())
        for at, ((source, target, _), told) in enumerate(self._edges.items()):
            ends = f'source="{places[source]}" target="{places[target]}"'
            file.write(f'<edge id="e{at}" {ends}>{_data("edge", _EDGE, _edge(told))}</edge>\n'.encode())
        file.write(b"</graph>\n</graphml>\n")


def _node(told: _Told) -> dict[str, Any]:
    name = told.part.name if isinstance(told.part, Entity) else ""
    return {
        "label": name, "aliases": "; ".join(told.aliases), "categories": "; ".join(filter(None, told.categories))
    } | _both(told)  # fmt: skip


def _edge(told: _Told) -> dict[str, Any]:
    kind = told.part.relationship_type if isinstance(told.part, Relationship) else ""
    return {"relationship_type": kind, "observations": " ".join(told.ids)} | _both(told)


def _both(told: _Told) -> dict[str, Any]:
    times = told.times or [""]
    return told.said | {"n_observations": len(told.ids), "first_observed_at": times[0], "last_observed_at": times[-1]}


def _keys(of: str, names: Mapping[str, str]) -> list[str]:
    return [f'<key id="{of}-{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>' for name, kind in names.items()]


def _data(of: str, names: Mapping[str, str], said: Mapping[str, Any]) -> str:
    return "".join(
        f"<data key={quoteattr(f'{of}-{name}')}>{escape(_NO_XML.sub('�', str(said[name])))}</data>"
        for name in names
        if said.get(name) not in (None, "")
    )
