"""The texts of a store that are the same: exact copies by digest, nearly exact ones by MinHash bands and a full reading.

Knows nothing of who said them, where and when.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.statements.statements import About, Statements, read_statements
from grail_mem.support.sameness import SAME, sameness

LEAST_CONTENT: Final = 5
"""Content words. Shorter texts, such as `Thanks!`, must be equal in every word. Chosen: what is shorter is said again by
chance, and one letter or word of it is most of what it says."""

LEAST_SHORT: Final = 2
"""Content words of a short text at least: `Continue` or `OK` is no statement, and nothing is won by merging it."""
SHORT: Final = 0.6
"""Confidence when short texts are equal: that the same few words were said may be two events."""


@dataclass(slots=True)
class SameTexts:
    """Which statements have the same words.

    Attributes:
        groups: Statements by index whose words are the same, one alone included; each is in one group.
        near: Statements that share many words and are not the same; each stands for all exact copies of it.
    """

    groups: list[list[int]] = field(default_factory=list)
    near: list[tuple[int, int]] = field(default_factory=list)
    _first: dict[int, int] = field(default_factory=dict)
    _sure: dict[tuple[int, int], float] = field(default_factory=dict)
    _short: frozenset[int] = frozenset()

    def sure(self, members: Sequence[int]) -> float:
        """How sure it is that some statements of one group are the same text."""
        if members and self._first[members[0]] in self._short:
            return SHORT
        firsts = sorted({self._first[index] for index in members})
        return min((self._sure[pair] for pair in combinations(firsts, 2)), default=SAME)


def same_texts(reading: Reading) -> SameTexts:
    """Sort the statements by their texts; every text is compared once, however often it was said."""
    statements = reading.once("statements", read_statements)
    copies = _copies(statements)
    found = SameTexts(_first={member: first for first, members in copies.items() for member in members})
    found._short = frozenset(index for index in copies if is_short_text(statements, index))
    neighbours: dict[int, set[int]] = defaultdict(set)
    long = [index for index in copies if index not in found._short and statements.n_words(index)]
    for left, right in statements.near(long, [comparable(statements.about[index]) for index in long], reading):
        sure = sameness(statements.said(left), statements.said(right), statements.n_texts)
        if sure:
            found._sure[left, right] = sure
            neighbours[left].add(right)
            neighbours[right].add(left)
        else:
            found.near.append((left, right))
    found.groups = [sorted(m for first in clique for m in copies[first]) for clique in _cliques(copies, neighbours)]
    return found


def comparable(about: About) -> str:
    """What must be equal before two statements are compared at all: whose memory it is, and its kind."""
    return f"{about.scope or ''}\x1f{about.kind}"


def is_short_text(statements: Statements, index: int) -> bool:
    """Whether a text has so few words that they may be said again by chance."""
    return statements.n_words(index) > 0 and statements.n_content(index) < LEAST_CONTENT


def _copies(statements: Statements) -> dict[int, list[int]]:
    """Statements with exactly the same words but for trifles, by the first of them."""
    by_text: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, about in enumerate(statements.about):
        by_text[comparable(about), about.digest].append(index)
    return {members[0]: members for members in by_text.values()}


def _cliques(texts: Mapping[int, object], neighbours: Mapping[int, set[int]]) -> Iterator[list[int]]:
    """Each text with those that are the same as it and as each other: no chain of small errors joins two statements."""
    taken: set[int] = set()
    for text in sorted(texts):
        if text in taken:
            continue
        clique = [text]
        for other in sorted(neighbours.get(text, ())):
            if other not in taken and all(other in neighbours[member] for member in clique):
                clique.append(other)
        taken.update(clique)
        yield clique
