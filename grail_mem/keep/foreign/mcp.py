"""The memory server of the Model Context Protocol: entities with what was observed of them, and relations.

`memory.jsonl`, or one object with `entities` and `relations` as its `read_graph` answers. Knows nothing of the store that
takes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from grail_mem.keep.foreign.said import Said, draft, relation, skip, text, texts

KIND: Final = "mcp"


def is_record(value: object) -> bool:
    """Whether a value is a record of the server."""
    return (
        isinstance(value, dict)
        and value.get("type") in ("entity", "relation")
        and bool(value.keys() & {"entityType", "observations", "relationType"})
    )


def record(where: str, value: object) -> Said:
    """An entity with what was observed of it, or a relation, as a draft; agents wrote both."""
    if not isinstance(value, dict):
        return skip(where, "", "it is no entity with a name, and no relation")
    return _relation(where, value) if value.get("type") == "relation" else _entity(where, value)


def _relation(where: str, value: Mapping[str, Any]) -> Said:
    source, verb, target = (text(value.get(name)) for name in ("from", "relationType", "to"))
    if not (source and verb and target):
        return skip(where, value.get("from"), "a relation needs from, relationType and to")
    said = f"{source} {verb} {target}"
    return draft(
        KIND, where, f"relation\0{source}\0{verb}\0{target}", f"{said}.", title=said, source_kind="agent_inference",
        relationships=[relation(source, verb, target)],
    )  # fmt: skip


def _entity(where: str, value: Mapping[str, Any]) -> Said:
    name, kind = text(value.get("name")), text(value.get("entityType"))
    if value.get("type") not in ("entity", None) or not name:
        return skip(where, value.get("name"), "it is no entity with a name, and no relation")
    content = "\n".join(f"- {line}" for line in texts(value.get("observations"))) or f"{name} is known."
    entity = {"name": name} | ({"type": kind} if kind else {})
    return draft(KIND, where, f"entity\0{name}", content, title=name, source_kind="agent_inference", entities=[entity])
