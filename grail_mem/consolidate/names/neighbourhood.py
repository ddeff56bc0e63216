"""Neighbourhoods: how much of what surrounds one entity surrounds another.

A neighbour is an entity mentioned by the same observation, the other end of a relationship of the same type, or a category.
The rarer it is, the more it says. Knows nothing of names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from math import log
from typing import Final

from grail_mem.consolidate.names.entity_table import EntityTable

MAX_ENTITIES: Final = 40
"""Entities of one observation beyond which being listed together says nothing; chosen: a list of names, not a statement."""
COMMON_SHARE: Final = 0.25
"""Share of the observations from which a neighbour is everywhere and says nothing."""
COMMON_FEW: Final = 4
"""Observations up to which a neighbour always says something: in a store of twenty a quarter is soon reached."""
STRONG_SHARE: Final = 0.4
"""Share of the smaller neighbourhood from which two are the same surroundings; chosen by tests/benchmarks/aliases.py."""
STRONG_NEIGHBOURS: Final = 2
"""Neighbours in common that it takes at least: one may be chance."""
SOME_SHARE: Final = 0.2
"""Share of the smaller neighbourhood from which it speaks for one thing; chosen by tests/benchmarks/aliases.py."""
APART_SHARE: Final = 0.05
"""Share of the smaller neighbourhood below which two sufficiently known ones are apart."""
APART_NEIGHBOURS: Final = 3
"""Neighbours that each needs before having none in common says anything."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What two entities have in common around them.

    Attributes:
        n: Neighbours of both, categories not counted.
        share: Their weight, as a share of the lighter neighbourhood, 0 to 1.
        level: `apart` when neighbourhoods that are known have nothing in common, `strange` when that is so of the few
            neighbours that one has, `unknown` when one has none or they share too little to say, `some`, `strong`.
    """

    n: int
    share: float
    level: str


class Neighbourhoods:
    """The neighbourhoods of a table's entities, each made when first asked for."""

    def __init__(self, table: EntityTable) -> None:
        self._table = table
        self._common = max(COMMON_FEW, int(len(table.ids) * COMMON_SHARE))
        self._total = len(table.ids) + 1
        self._n_in_category = Counter(table.categories)
        self._kept: dict[int, dict[Hashable, float]] = {}

    def around(self, number: int) -> dict[Hashable, float]:
        """The neighbours of an entity with their weights."""
        found = self._kept.get(number)
        if found is None:
            found = self._kept[number] = self._around(number)
        return found

    def _around(self, number: int) -> dict[Hashable, float]:
        table, weights = self._table, dict[Hashable, float]()
        entity = table.entities[number]
        for observation in entity.seen:
            self._weigh(weights, table.categories[observation], self._n_in_category[table.categories[observation]], 0.5)
            others = table.mentioned[observation]
            for other in others if len(others) <= MAX_ENTITIES else ():
                if other != number:
                    self._weigh(weights, other, len(table.entities[other].seen), 1.0)
        for stated in entity.stated:
            self._weigh(weights, stated, len(table.entities[stated[2]].seen), 1.0)
        return weights

    def _weigh(self, weights: dict[Hashable, float], neighbour: Hashable, n: int, weight: float) -> None:
        if neighbour != "" and n <= self._common:
            weights[neighbour] = weight * log(self._total / n)

    def shared(self, left: int, right: int) -> Shared:
        """What two entities have in common, not counting each other."""
        ours, theirs = self.around(left), self.around(right)
        if len(ours) > len(theirs):
            ours, theirs = theirs, ours
        common = [neighbour for neighbour in ours if neighbour in theirs]
        both = sorted(ours[neighbour] for neighbour in common)
        n = sum(not isinstance(neighbour, str) for neighbour in common)  # a category alone is no company
        sums = [sum(sorted(some.values())) for some in (ours, theirs)]
        share = sum(both) / min(sums) if min(sums) > 0 else 0.0
        return Shared(n, round(share, 4), _level(n, share, len(ours)))


def _level(n_both: int, share: float, n_smaller: int) -> str:
    if n_both >= STRONG_NEIGHBOURS and share >= STRONG_SHARE:
        return "strong"
    if n_both and share >= SOME_SHARE:
        return "some"
    if not n_smaller or share >= APART_SHARE:
        return "unknown"
    return "apart" if n_smaller >= APART_NEIGHBOURS else "strange"
