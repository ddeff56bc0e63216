"""Neighbours: the pairs of statements that may speak of one thing, so few that a model can read them all.

Pairs come from one attribute, from one entity and exclusive relation, from statements about one entity that are near in
meaning or in words, and from near equal texts without entities. Their number grows with that of the statements. Knows
nothing of what the model says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from grail_mem.consolidate.names.texts import Said, texts
from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.statements.asking import is_worth_asking
from grail_mem.consolidate.statements.conflicts import attributes_of, may_be_compared, plain_statements
from grail_mem.consolidate.statements.exclusive import relations
from grail_mem.consolidate.statements.same_texts import comparable
from grail_mem.consolidate.statements.statements import About, Statements
from grail_mem.index.document import embedded_texts
from grail_mem.index.tokens import STOP_WORDS
from grail_mem.index.vectors import text_digest
from grail_mem.support.difference import is_settled
from grail_mem.support.wording import TRIFLES

if TYPE_CHECKING:
    import numpy as np

MOST_WORDS: Final = 40
"""Words of a statement that a model reads; two of them fit into 160 tokens."""
MOST_OF_ENTITY: Final = 100
"""Statements of one entity that are held against each other, the newest; of an entity with more, most things are unrelated."""
NEIGHBOURS: Final = 3
"""Older statements about its entities that each statement is held against, the nearest."""
LEAST_COSINE: Final = 0.5
"""Of the vectors of two statements that are neighbours. Chosen: benchmark `contradictions`."""
_ENTITIES: Final = "SELECT id, e.key FROM (SELECT id, unnest(entities) AS e FROM rows) ORDER BY ALL"
_FOLDERS: Final = "SELECT id, category FROM rows"


class Near(NamedTuple):
    """Two statements that may speak of one thing.

    Attributes:
        older: The one, by index: what was observed first.
        newer: The other.
        place: Why: `attribute`, `relation` or `text`.
        about: Of what: the attribute, the entity and relation, or the entities.
    """

    older: int
    newer: int
    place: str
    about: str


def near_pairs(statements: Statements, reading: Reading) -> list[Near]:
    """The pairs, each once: those of attributes first, then of relations, then the others, the newest of each first."""
    plain = [index for index in plain_statements(statements, reading) if statements.n_words(index) <= MOST_WORDS]
    made: list[Near] = []
    seen: set[tuple[int, int]] = set()
    for finder in (_by_attribute, _by_relation, _by_entity, _by_text):
        found = []
        for left, right, about in finder(statements, plain, reading):
            older, newer = sorted((left, right), key=lambda index: _age(statements.about[index]))
            if (older, newer) not in seen and _may_speak_of_one_thing(statements, older, newer):
                seen.add((older, newer))
                found.append(Near(older, newer, _PLACES.get(finder.__name__, "text"), about))
        found.sort(
            key=lambda pair: (_age(statements.about[pair.newer]), _age(statements.about[pair.older])), reverse=True
        )
        made += found
    return made


def _may_speak_of_one_thing(statements: Statements, one: int, other: int) -> bool:
    return may_be_compared(statements, one, other) and is_worth_asking(statements.said(one), statements.said(other))


_PLACES: Final = {"_by_attribute": "attribute", "_by_relation": "relation"}
_Found = Iterator[tuple[int, int, str]]


def _age(about: About) -> tuple[int, int, str]:
    """What orders statements by time, the oldest first."""
    return about.observed_us, about.recorded_us, about.id


def _by_attribute(statements: Statements, plain: Sequence[int], _reading: Reading) -> _Found:
    for (_, attribute), members in sorted(attributes_of(statements, plain).items()):
        yield from ((left, right, attribute) for left, right in combinations(members, 2))


def _by_relation(statements: Statements, plain: Sequence[int], reading: Reading) -> _Found:
    found = reading.once("relations", relations)
    index_of = {statements.about[index].id: index for index in plain}
    for (source, name), stated in found.conflicts():
        here = [one for one in stated if one.id in index_of]
        for one, other in combinations(here, 2):
            if one.id != other.id and not found.may_both_hold(one, other):
                yield index_of[one.id], index_of[other.id], f"{source} {name}"


def _by_entity(statements: Statements, plain: Sequence[int], reading: Reading) -> _Found:
    entities = reading.once("entities_of_statements", _entities)
    members: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index in _told_alone(statements, plain):
        about = statements.about[index]
        for key in entities.get(about.id, ()):
            members[comparable(about), key].append(index)
    several = {key: _newest(statements, some) for key, some in sorted(members.items()) if len(some) > 1}
    vectors = _vectors(statements, sorted({index for some in several.values() for index in some}), reading)
    best: dict[int, dict[int, float]] = defaultdict(dict)
    for (_, key), some in several.items():
        for newer, older, alike in _nearest(statements, some, vectors, frozenset(key.split()), entities):
            best[newer][older] = max(alike, best[newer].get(older, 0.0))
    for newer, of in sorted(best.items()):
        for older in sorted(of, key=lambda index: (-of[index], -index))[:NEIGHBOURS]:
            both = entities[statements.about[newer].id] & entities[statements.about[older].id]
            yield older, newer, ", ".join(sorted(both))


def _nearest(
    statements: Statements,
    ordered: Sequence[int],
    vectors: Mapping[int, np.ndarray],
    named: frozenset[str],
    entities: Mapping[str, frozenset[str]],
) -> Iterator[tuple[int, int, float]]:
    """For each statement the older ones that are nearest, with how near they are.

    Args:
        statements: All of them.
        ordered: Statements about one entity, the newest first.
        vectors: Those there are, by statement.
        named: The words of the entity, which all of them share.
        entities: Of every statement, by id; those of one of a pair must all be among those of the other.
    """
    import numpy as np

    alike = _alike(statements, ordered, vectors, named)
    for place, newer in enumerate(ordered):
        n_found = 0
        for step in np.argsort(-alike[place, place + 1 :], kind="stable"):
            near, older = float(alike[place, place + 1 + step]), ordered[place + 1 + int(step)]
            if near <= 0 or n_found == NEIGHBOURS:
                break
            ours, theirs = (entities[statements.about[index].id] for index in (newer, older))
            if (ours <= theirs or theirs <= ours) and _may_speak_of_one_thing(statements, older, newer):
                n_found += 1
                yield newer, older, near


def _alike(
    statements: Statements, ordered: Sequence[int], vectors: Mapping[int, np.ndarray], named: frozenset[str]
) -> np.ndarray:
    """How near statements are to each other, n x n: by their vectors, or by their words where one has none; 0 when too far."""
    import numpy as np

    said = [
        {word for word in statements.said(index).words if word not in STOP_WORDS and word not in TRIFLES} - named
        for index in ordered
    ]
    column = {word: number for number, word in enumerate(sorted(set().union(*said)))}
    has = np.zeros((len(ordered), len(column)), np.float32)
    for row, words in enumerate(said):
        has[row, [column[word] for word in words]] = 1
    both = has @ has.T
    either = has.sum(axis=1)[:, None] + has.sum(axis=1) - both
    by_words = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    blank = np.zeros(len(next(iter(vectors.values()))) if vectors else 1, np.float32)
    rows = np.stack([vectors.get(index, blank) for index in ordered])
    known = np.array([index in vectors for index in ordered])
    cosine = rows @ rows.T
    return np.where(np.outer(known, known), np.where(cosine >= LEAST_COSINE, cosine, 0), by_words)


def _vectors(statements: Statements, chosen: Sequence[int], reading: Reading) -> dict[int, np.ndarray]:
    """The vectors that the search index has of statements; nothing is embedded here."""
    import numpy as np

    store = reading.vectors
    if store is None or not len(store):
        return {}
    index_of = {statements.about[index].id: index for index in chosen}
    said = [
        (index_of[id_], text_digest(text))
        for id_, title, content in texts(reading, list(index_of))
        for text in [*embedded_texts(Said(title, content))][:1]
    ]
    rows = store.rows(np.array([digest for _, digest in said], np.uint64))
    return {index: store.vectors(row) for (index, _), row in zip(said, rows, strict=True) if row >= 0}


def _told_alone(statements: Statements, plain: Sequence[int]) -> list[int]:
    """Statements outside of conversations that tell nothing of the past: without an attribute, only these can be compared."""
    return [
        index
        for index in plain
        if statements.about[index].turn is None and is_settled(statements.said(index), past=False)
    ]


def _newest(statements: Statements, some: Sequence[int]) -> list[int]:
    return sorted(some, key=lambda index: _age(statements.about[index]), reverse=True)[:MOST_OF_ENTITY]


def _entities(reading: Reading) -> dict[str, frozenset[str]]:
    """The keys of the entities of every observation that has any."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in reading.ask(_ENTITIES).to_pylist():
        if row["key"]:
            found[row["id"]].add(row["key"])
    return {id_: frozenset(keys) for id_, keys in found.items()}


def _by_text(statements: Statements, plain: Sequence[int], reading: Reading) -> _Found:
    entities = reading.once("entities_of_statements", _entities)
    chosen = [index for index in _told_alone(statements, plain) if statements.about[index].id not in entities]
    folder_of = {row["id"]: row["category"] for row in reading.ask(_FOLDERS).to_pylist()} if chosen else {}
    partition = [f"{comparable(statements.about[i])}\x1f{folder_of[statements.about[i].id]}" for i in chosen]
    for left, right in statements.near(chosen, partition, reading):
        yield left, right, folder_of[statements.about[left].id]
