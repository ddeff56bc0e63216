"""Nicknames: which English given names are short or familiar for which others, from the package `nicknames`.

An optional extra (`names`): without the package no name has nicknames. Its table is curated by hand, Apache-2.0, and comes
inside the package. Knows nothing of surnames and entities.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Nicknames:
    """Given names and their nicknames, folded.

    Attributes:
        links: Names by name: those that are a nickname of it, and those that it is a nickname of.
        formal: Names that have nicknames.
    """

    links: dict[str, frozenset[str]] = field(default_factory=dict)
    formal: frozenset[str] = frozenset()

    def knows(self, name: str) -> bool:
        """Whether this is a given name."""
        return name in self.links

    def linked(self, name: str) -> list[str]:
        """The names that it is a nickname of or that are nicknames of it, in order."""
        return sorted(self.links.get(name, ()))

    def is_familiar(self, left: str, right: str) -> bool:
        """Whether just one of them is a formal name; two formal names (Aaron, Erin) are as often two people."""
        return right in self.links.get(left, ()) and (left in self.formal) != (right in self.formal)


@lru_cache(maxsize=1)
def nicknames() -> Nicknames:
    """The table of the package, or an empty one when it is not installed."""
    try:
        from nicknames import name_triplets
    except ImportError:
        return Nicknames()
    links: dict[str, set[str]] = {}
    formal: set[str] = set()
    for name, relationship, nickname in name_triplets():
        if relationship == "has_nickname" and name != nickname:
            links.setdefault(name, set()).add(nickname)
            links.setdefault(nickname, set()).add(name)
            formal.add(name)
    return Nicknames({name: frozenset(others) for name, others in links.items()}, frozenset(formal))
