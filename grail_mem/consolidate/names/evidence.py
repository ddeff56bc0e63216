"""What a store says for and against two names being one thing.

Knows nothing of confidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import regex as re

from grail_mem.consolidate.names.acronyms import spelled_out
from grail_mem.consolidate.names.entity_table import EntityTable
from grail_mem.consolidate.names.likeness import Named
from grail_mem.consolidate.names.neighbourhood import Neighbourhoods, Shared
from grail_mem.consolidate.names.texts import texts
from grail_mem.consolidate.reading import Reading
from grail_mem.model.names import entity_key

EXCLUSIVE: Final = frozenset({
    "born in", "born on", "date of birth", "birthday", "died on", "died in", "has mother", "has father", "mother",
    "father", "headquartered in", "founded in", "founded on", "ticker", "isbn", "email", "has email", "version",
})  # fmt: skip
"""Types of relationships of which one thing has one target; `_` and `-` count as spaces; chosen: facts that never change or
that name a thing."""
MAX_TEXTS: Final = 500
"""Observations of one name that are read for two names in one list; chosen: a name seen more often is well established."""

LEVELS: Final = ("apart", "strange", "unknown", "some", "strong")
"""How much surrounds two names, least first."""
NEAR: Final = 0.5
"""Cosine from which what is said around two names speaks for one thing: fewer than one of a hundred pairs of two things that are
spelled alike reach it, and more than half of the pairs of one thing do (tests/benchmarks/alias_vectors.py)."""
FAR: Final = 0.1
"""Cosine below which it speaks for two: one of a hundred pairs of one thing lies below, and half of those of two; the same."""

_IN_PARENTHESES: Final = """
SELECT id, coalesce(scope, '') FROM rows WHERE status NOT IN ('superseded', 'archived')
AND (contains(content, '(') OR contains(title, '(') OR contains(content, '[')) ORDER BY id
"""
_LIST: Final = r"\s*(?:,|;|/|&|\band\b|\bor\b|\bvs\b\.?|\bversus\b|\bund\b|\bnot\b|\bunlike\b)(?:\s+(?:and|or|not))?\s+"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of two names together.

    Attributes:
        shared: What surrounds both.
        n_together: Observations that list both as entities.
        is_related: Whether a relationship holds between them.
        is_listed: Whether a text names one beside the other, such as `Ann and Anna`.
        is_exclusive: Whether each has another target of a relationship of which one thing has one.
        clash: Whether both have types and none in common.
        nearness: Cosine of what is said where the one and where the other is named; None when that is not known.
    """

    shared: Shared
    n_together: int = 0
    is_related: bool = False
    is_listed: bool = False
    is_exclusive: bool = False
    clash: bool = False
    nearness: float | None = None

    @property
    def level(self) -> str:
        """How much surrounds both, one of `LEVELS`: by neighbours, one more or one less by what is said around them."""
        place = LEVELS.index(self.shared.level)
        if self.nearness is not None:
            place += (self.nearness >= NEAR) - (self.nearness < FAR)
        return LEVELS[max(0, min(place, len(LEVELS) - 1))]

    @property
    def speaks_against(self) -> bool:
        """Whether anything says that they are two things."""
        return bool(self.n_together or self.is_related or self.is_listed or self.is_exclusive)


def evidence_of(
    table: EntityTable,
    pairs: Iterable[tuple[int, int]],
    listed: set[tuple[int, int]],
    near: Mapping[tuple[int, int], float],
) -> dict[tuple[int, int], Evidence]:
    """The evidence for each pair of entities."""
    around = Neighbourhoods(table)
    sets: dict[int, set[int]] = {}
    found = {}
    for left, right in pairs:
        a, b = table.entities[left], table.entities[right]
        smaller, larger = sorted((left, right), key=lambda n: (len(table.entities[n].seen), n))
        seen = sets.setdefault(larger, set(table.entities[larger].seen))
        found[left, right] = Evidence(
            around.shared(left, right), sum(o in seen for o in table.entities[smaller].seen), (left, right) in table.related,
            (left, right) in listed, _exclusive(table, left) != {} and _conflicts(table, left, right),
            bool(a.types and b.types and not a.types & b.types), near.get((left, right)),
        )  # fmt: skip
    return found


def _exclusive(table: EntityTable, number: int) -> dict[str, set[int]]:
    targets: dict[str, set[int]] = defaultdict(set)
    for direction, kind, target in table.entities[number].stated:
        if direction == ">" and kind.replace("_", " ").replace("-", " ") in EXCLUSIVE:
            targets[kind].add(target)
    return targets


def _conflicts(table: EntityTable, left: int, right: int) -> bool:
    ours, theirs = _exclusive(table, left), _exclusive(table, right)
    return any(not ours[kind] & theirs[kind] for kind in ours.keys() & theirs.keys())


def listed_pairs(reading: Reading, table: EntityTable, pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """The pairs that some text of an observation of either names one beside the other, as two things."""
    wanted: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for places in pairs:
        for number in places:
            for observation in table.entities[number].seen[:MAX_TEXTS]:
                wanted[table.ids[observation]].append(places)
    found: set[tuple[int, int]] = set()
    for id_, title, content in texts(reading, list(wanted)):
        text = entity_key(f"{title}\n{content}")
        for places in wanted[id_]:
            if places not in found and _is_listed(text, *(table.entities[number].key for number in places)):
                found.add(places)
    return found


def _is_listed(text: str, left: str, right: str) -> bool:
    if left not in text or right not in text:
        return False
    names = [rf"(?<![\p{{L}}\p{{N}}]){re.escape(name)}(?![\p{{L}}\p{{N}}])" for name in (left, right)]
    return any(re.search(a + _LIST + b, text) for a, b in (names, names[::-1]))


def expansions(
    reading: Reading, table: EntityTable, names: list[Named], pairs: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], str]:
    """The pairs of acronym and name that a text spells out, with the id of the first such observation."""
    wanted: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    at: dict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)
    for places in pairs:
        forms, scope = [names[number].form.plain for number in places], table.entities[places[0]].scope
        for one, other in (forms, forms[::-1]):
            wanted[scope][one].add(other)
            at[scope, one, other].append(places)
    found: dict[tuple[int, int], str] = {}
    if wanted:
        answer = reading.ask(_IN_PARENTHESES)
        scopes = dict(zip(*(column.to_pylist() for column in answer.columns), strict=True))
        for id_, title, content in texts(reading, list(scopes)):
            scope = scopes[id_]
            for text in (title, content) if scope in wanted else ():
                for one, other in spelled_out(text, wanted[scope]):
                    for places in at[scope, one, other]:
                        found.setdefault(places, id_)
    return found
