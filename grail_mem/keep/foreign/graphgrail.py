"""A store of graphgrail in memory mode: its markdown files, with the entities and relations that its tables tell of them.

Knows nothing of the store that takes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grail_mem.keep.foreign.notes import Note, notes
from grail_mem.keep.foreign.place import Place
from grail_mem.keep.foreign.said import Said, category_of, draft, entities_of, id_of, relation, skip, tags_of, text
from grail_mem.keep.foreign.streamed import READING

KIND: Final = "graphgrail"
_MARK: Final = "meta.json"
_NOTES: Final = "memories/"
_TABLES: Final = ("final_docs", "final_entities", "final_relationships")
_OWN: Final = ("output/", "input/", _MARK, "mapping.json", "_history.jsonl", "grail.yaml")


def is_store(place: Place) -> bool:
    """Whether a folder or a zip is such a store."""
    if _MARK not in place.files:
        return False
    try:
        told = json.loads(place.read(_MARK))
    except (*READING, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and told.get("mode") == "memory" and "grail_version" in told


def read(place: Place) -> Iterator[Said]:
    """The observations as drafts, and everything that is none."""
    tables, found = _tables(place), []
    for name, reason in tables.odd.items():
        yield skip(name, "", reason)
    for item in notes(place):
        if isinstance(item, Said) or item.name.startswith(_NOTES):
            found.append(item)
        else:
            yield skip(item.name, item.title, f"it does not lie in {_NOTES}")
    ids = {item.title: id_of(KIND, item.name, _content(item)) for item in found if isinstance(item, Note)}
    for item in found:
        yield _draft(item, tables, ids) if isinstance(item, Note) else item
    for name in sorted(place.files):
        if not name.endswith(".md") and not name.startswith(_OWN):
            yield skip(name, "", "it is no observation")


class _Tables:
    """Entities and relations by the path of the observation that they are of."""

    def __init__(self) -> None:
        self.entities: dict[str, list[dict[str, Any]]] = {}
        self.relationships: dict[str, list[dict[str, Any]]] = {}
        self.odd: dict[str, str] = {}


def _tables(place: Place) -> _Tables:
    made = _Tables()
    rows: dict[str, list[dict[str, Any]]] = {}
    for table in _TABLES:
        name = f"output/{table}.parquet"
        if name in place.files:
            try:
                rows[table] = _rows(place, name)
            except Exception as error:  # noqa: BLE001  whatever a damaged table raises, the files are there without it
                made.odd[name] = f"it cannot be read: {type(error).__name__}"
    paths = {str(row.get("id")): str(row.get("path") or "") for row in rows.get("final_docs", ())}
    for row in rows.get("final_entities", ()):
        said = {
            "name": text(row.get("name")),
            "type": text(row.get("type")),
            "description": text(row.get("description")),
        }
        for path in _paths(row, paths):
            made.entities.setdefault(path, []).append(said)
    for row in rows.get("final_relationships", ()):
        source, target = text(row.get("source")), text(row.get("target"))
        verb = text(row.get("relationship_type")) or "RELATED"
        if source and target:
            said = relation(source, verb, target, description=text(row.get("description")))
            for path in _paths(row, paths):
                made.relationships.setdefault(path, []).append(said)
    return made


def _rows(place: Place, name: str) -> list[dict[str, Any]]:
    """The rows of a table, without its vectors."""
    import io

    import pyarrow.parquet as pq

    wanted = {"id", "path", "name", "type", "description", "document_ids", "source", "target", "relationship_type"}
    table = pq.ParquetFile(io.BytesIO(place.read(name)))
    names = [column for column in table.schema_arrow.names if column in wanted]
    rows: list[dict[str, Any]] = table.read(columns=names).to_pylist()
    return rows


def _paths(row: Mapping[str, Any], paths: Mapping[str, str]) -> list[str]:
    listed = row.get("document_ids")
    return [paths[str(id_)] for id_ in (listed if isinstance(listed, list) else ()) if str(id_) in paths]


def _content(note: Note) -> str:
    return note.body.strip("\n")


def _draft(note: Note, tables: _Tables, ids: Mapping[str, str]) -> Said:
    content, fields = _content(note), note.fields
    if not content.strip():
        return skip(note.name, note.title, "the observation is empty")
    folder = note.folder.removeprefix(_NOTES.rstrip("/")).lstrip("/")
    related = fields.get("related_to")
    confidence = fields.get("confidence")
    listed = related if isinstance(related, list) else []
    return draft(
        KIND, note.name, note.name, content, origin=note.title, title=text(fields.get("title")) or note.title,
        category=category_of(folder) if folder else "", tags=tags_of(fields.get("tags")), source=text(fields.get("source")),
        observed_at=str(fields.get("observed_at") or note.at), source_kind="agent_inference",
        confidence=confidence if isinstance(confidence, int | float) and 0 <= confidence <= 1 else None,
        entities=entities_of(tables.entities.get(note.name, ())), relationships=tables.relationships.get(note.name, []),
        related_to=list(dict.fromkeys(ids[str(slug)] for slug in listed if str(slug) in ids and ids[str(slug)])),
    )  # fmt: skip
