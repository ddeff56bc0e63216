"""What mem0 answers and exports: facts that a model took from conversations, their relations, and how they changed.

The answer of `get_all` (an object with `results` and `relations`, or the list alone), lines of its records, and the answer
of `history`. Knows nothing of the store that takes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.keep.foreign.said import Said, draft, id_of, relation, scope_of, skip, tags_of, text

KIND: Final = "mem0"
_KNOWN: Final = ("results", "memories", "relations", "history")
_WORD: Final = 60
"""Longest text of the metadata that becomes a tag."""
_EVENTS: Final = ("ADD", "UPDATE", "DELETE")


def is_record(value: object) -> bool:
    """Whether a value is a fact of mem0, or an event in the life of one."""
    return isinstance(value, dict) and (("memory" in value and "id" in value) or is_event(value))


def is_event(value: object) -> bool:
    """Whether a value is an event in the life of a fact."""
    return isinstance(value, dict) and "memory_id" in value and "event" in value


def read(items: Iterable[tuple[str, str, Any]]) -> Iterator[Said]:
    """Facts, relations and former versions as drafts.

    Args:
        items: Where each stands, the member it is of, and the value.
    """
    lives: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    facts: set[str] = set()
    for where, key, value in items:
        if key and key not in _KNOWN:
            yield skip(where, key, f"{key[:60]!r} is no part that is read")
        elif key == "relations" or _is_relation(value):
            yield _relation(where, value)
        elif is_event(value):
            lives.setdefault(str(value["memory_id"]), []).append((where, value))
        else:
            made = fact(where, value)
            facts |= {text(value.get("id"))} if isinstance(value, dict) and not made.reason else set()
            yield made
    for events in lives.values():
        yield from _life(events, facts)


def fact(where: str, value: object) -> Said:
    """A fact as a draft: concluded by a model, in the scope of the user whom it is about."""
    if not isinstance(value, dict):
        return skip(where, "", "it is no memory")
    said, id_ = text(value.get("memory")) or text(value.get("data")), text(value.get("id"))
    if not said:
        return skip(where, id_, "the memory holds no text")
    try:
        scope = scope_of(value.get("user_id"))
    except InputError as error:
        return skip(where, id_, error.message)
    return draft(
        KIND, where, id_, said, origin=id_, scope=scope, source_kind="agent_inference", source="mem0",
        observed_at=text(value.get("updated_at")) or text(value.get("created_at")),
        expires_at=text(value.get("expiration_date")), tags=_tags(value), speaker=text(value.get("actor_id")),
        session=text(value.get("run_id")),
        kept={"created_at": text(value.get("created_at")), "agent_id": text(value.get("agent_id"))},
    )  # fmt: skip


def _tags(value: Mapping[str, Any]) -> list[str]:
    """Its categories, and what its metadata say in one word."""
    told = value.get("metadata")
    named = (
        [f"{key}:{said}" for key, said in told.items() if isinstance(said, str) and 0 < len(said) <= _WORD]
        if isinstance(told, dict)
        else []
    )
    categories = value.get("categories")
    return tags_of([*(categories if isinstance(categories, list) else []), *named])


def _is_relation(value: object) -> bool:
    return isinstance(value, dict) and "relationship" in value and "source" in value


def _relation(where: str, value: object) -> Said:
    told = value if isinstance(value, dict) else {}
    source, verb = text(told.get("source")), text(told.get("relationship"))
    target = text(told.get("target")) or text(told.get("destination"))
    if not (source and verb and target):
        return skip(where, told.get("source"), "a relation needs source, relationship and target")
    said = f"{source} {verb} {target}"
    return draft(
        KIND, where, f"relation\0{source}\0{verb}\0{target}", f"{said}.", title=said, source="mem0",
        source_kind="agent_inference", relationships=[relation(source, verb, target)],
    )  # fmt: skip


def _life(events: list[tuple[str, dict[str, Any]]], facts: set[str]) -> Iterator[Said]:
    """The versions of one fact, each with the one that it took the place of; none of a fact that was deleted."""
    events.sort(key=lambda item: text(item[1].get("updated_at")) or text(item[1].get("created_at")))
    gone = any(event.get("event") == "DELETE" or event.get("is_deleted") in (True, 1) for _, event in events)
    versions = [
        event for _, event in events if event.get("event") in ("ADD", "UPDATE") and text(event.get("new_memory"))
    ]
    before = ""
    for where, event in events:
        id_, said = text(event.get("memory_id")), text(event.get("new_memory"))
        last = bool(versions) and event is versions[-1]
        if event.get("event") not in _EVENTS:
            yield skip(where, id_, "it is no event that is known")
        elif gone:
            yield skip(where, id_, "the memory was deleted there")
        elif not said:
            yield skip(where, id_, "the event holds no text")
        elif last and id_ in facts:
            yield skip(where, id_, "the memory itself is taken")
        else:
            key = id_ if last else f"{id_}\0{text(event.get('id'))}"
            yield draft(
                KIND, where, key, said, origin=id_, source="mem0", source_kind="agent_inference",
                observed_at=text(event.get("updated_at")) or text(event.get("created_at")),
                status="" if last else "superseded", supersedes=before,
            )  # fmt: skip
            before = id_of(KIND, key, said)
