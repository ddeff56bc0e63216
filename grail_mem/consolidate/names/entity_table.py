"""Entities of a store as numbered rows: how each is written, where it is mentioned, and what is stated of it.

An entity belongs to one scope: the same name in two scopes is two rows. Superseded and archived observations do not count.
Knows nothing of likeness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from grail_mem.consolidate.reading import Reading
from grail_mem.model.names import entity_key, type_key

ALIAS_TYPES: Final = frozenset({
    "alias", "alias of", "also known as", "aka", "has alias", "is alias of", "known as", "nickname of", "same as",
})  # fmt: skip
"""Types of relationships that say that both ends are one thing; `_` and `-` count as spaces."""

_LIVE: Final = "status NOT IN ('superseded', 'archived')"
_MENTIONS: Final = f"""
SELECT id, scope, category, e.key, e.name, e.type, e.aliases
FROM (SELECT id, scope, category, unnest(entities) AS e FROM rows WHERE {_LIVE}) ORDER BY id, e.key, e.name
"""  # noqa: S608  # our own words
_RELATIONSHIPS: Final = f"""
SELECT id, scope, category, r.source, r.relationship_type, r.target
FROM (SELECT id, scope, category, unnest(relationships) AS r FROM rows WHERE {_LIVE}) ORDER BY ALL
"""  # noqa: S608  # our own words


@dataclass(slots=True)
class EntityRow:
    """One entity of one scope.

    Attributes:
        scope: Whose it is; empty for the default scope.
        key: Its normalised name.
        written: Its name as written, with the number of times.
        types: Keys of its types.
        seen: Numbers of the observations that mention it, ascending.
        stated: Relationships it has: direction, type and the number of the other end.
    """

    scope: str
    key: str
    written: Counter[str] = field(default_factory=Counter)
    types: set[str] = field(default_factory=set)
    seen: list[int] = field(default_factory=list)
    stated: set[tuple[str, str, int]] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The way it is written most often; of those as frequent the first."""
        return min(self.written, key=lambda name: (-self.written[name], name))


@dataclass(slots=True)
class EntityTable:
    """All entities of a store.

    Attributes:
        ids: Ids of the observations that mention any, ascending; their place is their number.
        categories: The category of each observation.
        entities: The entities, in order of scope and key.
        mentioned: For each observation, the numbers of the entities in it, ascending.
        declared: Pairs of entities that an observation says are one, the smaller number first, with the number of the
            first such observation.
        claims: By entity, the entities that some observation gives it as another name of.
        related: Pairs of entities with a relationship of another type between them.
    """

    ids: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    entities: list[EntityRow] = field(default_factory=list)
    mentioned: list[list[int]] = field(default_factory=list)
    declared: dict[tuple[int, int], int] = field(default_factory=dict)
    claims: dict[int, set[int]] = field(default_factory=dict)
    related: set[tuple[int, int]] = field(default_factory=set)


def pair(left: int, right: int) -> tuple[int, int]:
    """Two numbers, the smaller first."""
    return (left, right) if left < right else (right, left)


def read_entities(reading: Reading) -> EntityTable:
    """Every entity that live observations mention."""
    table = EntityTable()
    mentions = list(_rows(reading, _MENTIONS))
    stated = [
        (id_, scope, category, source, type_key(kind), target)
        for id_, scope, category, source, kind, target in _rows(reading, _RELATIONSHIPS)
    ]
    number_of = _observations(table, mentions, stated)
    known = {(scope or "", key) for _, scope, _, key, *_ in mentions if key}
    known |= {(scope or "", entity_key(name)) for _, scope, _, *ends in stated for name in (ends[0], ends[2])}
    rows = {place: EntityRow(*place) for place in sorted(known) if place[1]}
    at = {place: number for number, place in enumerate(rows)}
    table.entities = list(rows.values())
    for id_, scope, _, key, name, type_, _ in mentions:
        if key:
            _mention(table, at[scope or "", key], number_of[id_], name, type_ or "")
    for id_, scope, _, *ends in stated:
        _state(table, at, scope or "", number_of[id_], ends)
    for id_, scope, _, key, _, _, aliases in mentions:
        for alias in aliases or ():
            other = at.get((scope or "", entity_key(alias)))
            if key and other is not None:
                _declare(table, at[scope or "", key], other, number_of[id_])
    for number, entity in enumerate(table.entities):
        entity.seen = sorted(set(entity.seen))
        for observation in entity.seen:
            table.mentioned[observation].append(number)
    return table


def _rows(reading: Reading, text: str) -> Iterator[tuple[Any, ...]]:
    """The rows of an answer, a batch in memory at a time."""
    for batch in reading.ask(text).to_batches(max_chunksize=65_536):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _observations(table: EntityTable, *sources: list[Any]) -> dict[str, int]:
    """Number the observations and note their categories."""
    category_of = {row[0]: row[2] for rows in sources for row in rows}
    table.ids = sorted(category_of)
    table.categories = [category_of[id_] for id_ in table.ids]
    table.mentioned = [[] for _ in table.ids]
    return {id_: number for number, id_ in enumerate(table.ids)}


def _mention(table: EntityTable, number: int, observation: int, name: str, type_: str) -> None:
    entity = table.entities[number]
    entity.written[name] += 1
    entity.seen.append(observation)
    if type_:
        entity.types.add(type_key(type_))


def _state(table: EntityTable, at: dict[tuple[str, str], int], scope: str, observation: int, ends: list[str]) -> None:
    """Take in one relationship; its ends are mentioned by the observation that states it."""
    names = ends[0], ends[2]
    source, target = (at.get((scope, entity_key(name))) for name in names)
    if source is None or target is None:
        return
    for number, name in zip((source, target), names, strict=True):
        entity = table.entities[number]
        entity.written[name] = max(1, entity.written[name])
        entity.seen.append(observation)
    if source == target:
        return
    if ends[1].replace("_", " ").replace("-", " ") in ALIAS_TYPES:
        _declare(table, source, target, observation)
        return
    table.related.add(pair(source, target))
    table.entities[source].stated.add((">", ends[1], target))
    table.entities[target].stated.add(("<", ends[1], source))


def _declare(table: EntityTable, owner: int, other: int, observation: int) -> None:
    if owner != other:
        table.declared.setdefault(pair(owner, other), observation)
        table.claims.setdefault(other, set()).add(owner)
