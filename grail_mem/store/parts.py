"""Entities, relationships and evidence as files have them: from a plain value to one of them, or to None.

Knows nothing of the file that a value stands in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from grail_mem.model.names import entity_key
from grail_mem.model.observation import (
    Entity,
    Evidence,
    Relationship,
)

MAX_NAME: Final = 1_000  # a key is made of every name, which takes quadratic time for odd texts
SCALARS: Final = (str, int, float)
"""What a plain value is; a truth value is none, though it counts as a whole number."""
_KEPT: Final = 16_384
"""Plain entities and relationships kept, so that a rebuild makes each once; chosen, a few megabytes at most."""
_EVIDENCE: Final = frozenset({"quote", "source", "span", "sha256", "match", "role", "checker", "support"})


def unique_entities(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Entities without repetitions of one name and type, in order."""
    listed = tuple(entities)
    if len(listed) <= 1:
        return listed
    return tuple({(entity.key, entity_key(entity.type)): entity for entity in reversed(listed)}.values())[::-1]


def read_entity(value: Any) -> Entity | None:
    """An entity from a name or a mapping; None when it is neither."""
    if isinstance(value, str):
        return Entity(value.strip()) if value.strip() else None
    if isinstance(value, dict) and tuple(value) == ("name", "type"):
        name, kind = value.values()
        if type(name) is str and type(kind) is str:
            return _plain_entity(name, kind)
    if not isinstance(value, Mapping) or not is_name(value.get("name")):
        return None
    aliases = value.get("aliases") or ()
    aliases = (aliases,) if isinstance(aliases, str) else tuple(map(str, aliases))
    return Entity(str(value["name"]).strip(), _word(value, "type"), _word(value, "description"), aliases)


@lru_cache(maxsize=_KEPT)
def _plain_entity(name: str, kind: str) -> Entity | None:
    return Entity(name.strip(), kind.strip()) if is_name(name) else None


def read_relationship(value: Any) -> Relationship | None:
    """A relationship from a mapping; None when an end or the type is missing."""
    if not isinstance(value, Mapping):
        return None
    if isinstance(value, dict) and tuple(value) == ("source", "target", "relationship_type"):
        source, target, kind = value.values()
        if type(source) is str and type(target) is str and type(kind) is str:
            return _plain_relationship(source, target, kind)
    kind = value.get("relationship_type") or value.get("type")
    if not all(map(is_name, (value.get("source"), value.get("target"), kind))):
        return None
    return Relationship(
        str(value["source"]).strip(), str(value["target"]).strip(), str(kind).strip(), _word(value, "description"),
        _number(value.get("weight")), _number(value.get("confidence")),
    )  # fmt: skip


@lru_cache(maxsize=_KEPT)
def _plain_relationship(source: str, target: str, kind: str) -> Relationship | None:
    if not (is_name(source) and is_name(target) and is_name(kind)):
        return None
    return Relationship(source.strip(), target.strip(), kind.strip())


def read_evidence(value: Any) -> Evidence | None:
    """Evidence from a mapping; None when it has no quote."""
    if not isinstance(value, Mapping) or not is_name(value.get("quote")):
        return None
    span = value.get("span")
    pair = (int(span[0]), int(span[1])) if isinstance(span, list) and [type(n) for n in span] == [int, int] else None
    digest, match, role, checker = (_word(value, name) for name in ("sha256", "match", "role", "checker"))
    support, odd = _number(value.get("support")), {"span"} if pair is None and value.get("span") is not None else set()
    if support is None and value.get("support") is not None:
        odd.add("support")
    more = {key: item for key, item in value.items() if key not in _EVIDENCE or key in odd}
    return Evidence(str(value["quote"]), _word(value, "source"), pair, digest, match, role, checker, support, more)


def is_name(value: Any) -> bool:
    """Whether a value can name something: not empty to the eye, and short enough to be compared."""
    if isinstance(value, bool) or not isinstance(value, SCALARS):
        return False
    return len(str(value)) <= MAX_NAME and bool(entity_key(str(value)))


def _word(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    return "" if found is None else str(found).strip()


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
