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
        of: The nicknames of each name that has any.
        links: By name, those that are a nickname of it and those that it is a nickname of.
    """

    of: dict[str, frozenset[str]] = field(default_factory=dict)
    links: dict[str, frozenset[str]] = field(default_factory=dict)

    def knows(self, name: str) -> bool:
        """Whether this is a given name."""
        return name in self.links

    def linked(self, name: str) -> list[str]:
        """The names that it is a nickname of or that are nicknames of it, in order."""
        return sorted(self.links.get(name, ()))

    def are_linked(self, left: str, right: str) -> bool:
        """Whether one is a nickname of the other."""
        return right in self.links.get(left, ())

    def is_familiar(self, left: str, right: str) -> bool:
        """Whether the link holds both ways (Bob, Robert) or one of them is nothing but a nickname (Bobby).

        Two names with nicknames of their own, linked one way (Aaron, Erin), are as often two people.
        """
        both_ways = right in self.of.get(left, ()) and left in self.of.get(right, ())
        return self.are_linked(left, right) and (both_ways or (left in self.of) != (right in self.of))

    def shorter(self, left: str, right: str) -> int:
        """Which of two linked names is the nickname, 0 or 1: the one that has none itself, or else the shorter one."""
        if (left in self.of) != (right in self.of):
            return 0 if right in self.of else 1
        return 0 if (len(left), left) < (len(right), right) else 1


@lru_cache(maxsize=1)
def nicknames() -> Nicknames:
    """The table of the package, or an empty one when it is not installed."""
    try:
        from nicknames import name_triplets
    except ImportError:
        return Nicknames()
    of: dict[str, set[str]] = {}
    links: dict[str, set[str]] = {}
    for name, relationship, nickname in name_triplets():
        if relationship == "has_nickname" and name != nickname:
            of.setdefault(name, set()).add(nickname)
            links.setdefault(name, set()).add(nickname)
            links.setdefault(nickname, set()).add(name)
    return Nicknames(*({name: frozenset(others) for name, others in some.items()} for some in (of, links)))
