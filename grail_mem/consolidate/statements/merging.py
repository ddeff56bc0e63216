"""Merging equal statements into one: which is kept, and the changes by which nothing of the others is lost.

Knows nothing of how equal statements are found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grail_mem.consolidate.statements.authority import authority
from grail_mem.consolidate.statements.statements import About
from grail_mem.model.names import entity_key, tag_key, type_key
from grail_mem.model.times import format_time, from_us

Row = Mapping[str, Any]


def in_order_of_keeping(members: Iterable[About], echoes: Iterable[str]) -> list[About]:
    """Equal statements, the one that is kept first: no echo, of the highest authority, confirmed, complete, the earliest."""
    copies = frozenset(echoes)
    return sorted(
        members,
        key=lambda about: (
            about.id in copies, -authority(about), about.status != "confirmed", -(about.n_evidence > 0),
            -about.n_entities, about.recorded_us, about.id,
        ),
    )  # fmt: skip


def changes_to_merge(members: Sequence[About], rows: Mapping[str, Row], echoes: Sequence[str]) -> list[dict[str, Any]]:
    """What makes one observation of several.

    Args:
        members: The one that is kept, and the others.
        rows: What else is known of each, by id.
        echoes: Those that raise no confidence.
    """
    kept, others = members[0], members[1:]
    fields = _united(kept, others, rows, echoes)
    return [
        *([{"do": "set", "id": kept.id, "fields": fields}] if fields else []),
        {"do": "note_merged", "id": kept.id, "merged": [_note(about, rows[about.id]) for about in others]},
        *({"do": "hide", "id": about.id} for about in others),
    ]


def _united(kept: About, others: Sequence[About], rows: Mapping[str, Row], echoes: Sequence[str]) -> dict[str, Any]:
    """The fields of the kept one that change."""
    mine, theirs = rows[kept.id], [rows[about.id] for about in others]
    gone = {about.id for about in others} | {kept.id}
    united: dict[str, list[Any]] = {
        "tags": _union([row["tags"] or [] for row in (mine, *theirs)], tag_key),
        "entities": [_part(e, "name", "type", "description", "aliases") for e in _entities([mine, *theirs])],
        "relationships": [
            _part(r, "source", "target", "relationship_type", "description", "weight", "confidence")
            for r in _union([row["relationships"] or [] for row in (mine, *theirs)], _relationship_key)
        ],
        "related_to": _union([[i for i in _related(row) if i not in gone] for row in (mine, *theirs)], str),
    }
    before = {name: len(mine[name] or []) for name in ("tags", "entities", "relationships")}
    before["related_to"] = len(_related(mine))
    fields: dict[str, Any] = {name: values for name, values in united.items() if len(values) > before[name]}
    best = max([kept.confidence, *(about.confidence for about in others if about.id not in echoes)])
    if best > kept.confidence:
        fields["confidence"] = best
    attribute = next((about.attribute for about in others if about.attribute), None)
    if attribute and not kept.attribute:
        fields["attribute"] = attribute
    return fields


def _entities(rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    return _union([row["entities"] or [] for row in rows], lambda e: (e["key"], type_key(e["type"] or "")))


def _relationship_key(relationship: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entity_key(relationship[name] or "") for name in ("source", "relationship_type", "target"))


def _union(lists: Iterable[Iterable[Any]], key: Any) -> list[Any]:
    first: dict[Any, Any] = {}
    for values in lists:
        for value in values:
            first.setdefault(key(value), value)
    return list(first.values())


def _part(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names if values[name] not in (None, "", [])}


def _related(row: Row) -> list[str]:
    return list(_more(row).get("related_to", ()))


def _more(row: Row) -> dict[str, Any]:
    return json.loads(row["more"]) if row["more"] else {}


def _note(about: About, row: Row) -> dict[str, Any]:
    """What the kept one remembers of another: where, when and by whom the same was said."""
    quotes = [quote for quote, *_ in _more(row).get("evidence", ())]
    said = {
        "id": about.id,
        "title": row["title"],
        "observed_at": _time(about.observed_us),
        "recorded_at": _time(about.recorded_us),
        "source": about.source,
        "source_kind": about.source_kind,
        "session": about.session,
        "turn": about.turn,
        "speaker": about.speaker,
        "evidence": quotes,
    }
    return {name: value for name, value in said.items() if value not in (None, "", [])}


def _time(us: int) -> str:
    return format_time(from_us(us))
