"""Relations that have one target at a time, and where a store states two.

Which relations are so is known for a few (`KNOWN`) and learned from the store for others: a type is exclusive when nearly
all sources of which it is stated more than once have one target. Knows nothing of texts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from grail_mem.consolidate.reading import Reading
from grail_mem.model.names import entity_key

_KNOWN: Final = """
LIVES_IN RESIDES_IN WORKS_AT WORKS_FOR EMPLOYED_BY REPORTS_TO MANAGED_BY MARRIED_TO BORN_IN HAS_CEO HEADQUARTERED_IN
HAS_CAPITAL HAS_STATUS HAS_PRIMARY_DATABASE PRIMARY_DATABASE CURRENT_VERSION ASSIGNED_TO HAS_DEADLINE DUE_ON
"""
KNOWN: Final = frozenset(_KNOWN.split())
"""Types of which nearly everything has one target at a time."""
LEAST_SOURCES: Final = 20
"""Sources with several statements of a type from which it is learned, at least: with 19 right ones of 20, the true share is
above three quarters at 95 % (Clopper and Pearson 1934)."""
LEAST_SHARE: Final = 0.95
"""Of those, how many have one target."""
_MOST_TARGETS: Final = 8
"""A source with more targets has them at the same time."""
_STATED: Final = """
SELECT observation_id AS id, source, relationship_type, target FROM relationships ORDER BY observation_id, source, target"""
_NOT_LETTERS: Final = re.compile(r"[\W_]+")


class Stated(NamedTuple):
    """One relationship as an observation states it; names as keys."""

    id: str
    source: str
    type: str
    target: str
    shown: str


class Relations(NamedTuple):
    """The relationships of a store.

    Attributes:
        stated: By source and type, those of exclusive types.
        n_of: How many relationships each observation states.
        linked: Pairs of entities that any relationship joins, so that one may be part of the other.
    """

    stated: Mapping[tuple[str, str], list[Stated]]
    n_of: Mapping[str, int]
    linked: frozenset[tuple[str, str]]

    def conflicts(self) -> Iterator[tuple[tuple[str, str], list[Stated]]]:
        """The sources of which an exclusive type is stated with several targets, in order."""
        for key, stated in sorted(self.stated.items()):
            if 1 < len({one.target for one in stated}) <= _MOST_TARGETS:
                yield key, stated

    def may_both_hold(self, one: Stated, other: Stated) -> bool:
        """Whether two targets are one, or one may lie in the other: `Acme` and `Acme Inc`, Berlin and Germany."""
        words, others = frozenset(one.target.split()), frozenset(other.target.split())
        return words <= others or others <= words or (one.target, other.target) in self.linked


def relations(reading: Reading) -> Relations:
    """Everything that observations state between entities."""
    by_type: dict[str, dict[str, list[Stated]]] = defaultdict(lambda: defaultdict(list))
    n_of: dict[str, int] = defaultdict(int)
    linked: set[tuple[str, str]] = set()
    for row in reading.ask(_STATED).to_pylist():
        one = Stated(
            row["id"],
            entity_key(row["source"]),
            type_word(row["relationship_type"]),
            entity_key(row["target"]),
            row["target"],
        )
        by_type[one.type][one.source].append(one)
        n_of[one.id] += 1
        linked |= {(one.source, one.target), (one.target, one.source)}
    exclusive = {
        (source, name): stated
        for name, sources in by_type.items()
        if name in KNOWN or is_exclusive(sources)
        for source, stated in sources.items()
    }
    return Relations(exclusive, n_of, frozenset(linked))


def is_exclusive(sources: Mapping[str, list[Stated]]) -> bool:
    """Whether nearly all sources with several statements of a type have one target."""
    several = [{one.target for one in stated} for stated in sources.values() if len({one.id for one in stated}) > 1]
    return len(several) >= LEAST_SOURCES and sum(len(targets) == 1 for targets in several) >= LEAST_SHARE * len(several)


def type_word(name: str) -> str:
    """A type in one spelling: `works at` and `WORKS-AT` are `WORKS_AT`."""
    return _NOT_LETTERS.sub("_", name.strip()).strip("_").upper()
