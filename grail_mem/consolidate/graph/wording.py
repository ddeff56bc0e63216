"""Whether the words of an observation, other than the names in it, are rather those of one folder or of another.

A second opinion for what the names of entities say: dinner with colleagues is worded like dinners, not like their work.
Knows nothing of entities but their names.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from grail_mem.consolidate.reading import Reading
from grail_mem.index.tokens import content_words, fold

SAMPLE: Final = 200
"""Observations of a folder whose words are read, those with the smallest digests of their ids; enough for frequent words."""
_CHARS: Final = 1000
"""Characters of an observation that are read; the first lines say what it is about."""

_SAMPLE: Final = """
    SELECT id, title, content[:$chars] AS content FROM rows
    WHERE category = $category AND scope IS NOT DISTINCT FROM $scope
    ORDER BY md5(id) LIMIT $n"""


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of folders of one scope, read when they are asked for."""

    reading: Reading
    scope: str | None
    _read: dict[str, tuple[Counter[str], dict[str, set[str]]]] = field(default_factory=dict)

    def leans(self, words: Iterable[str], left: str, right: str, without: tuple[str, ...]) -> float:
        """How much likelier the words are in the right folder than in the left one, nats; negative for the left one.

        Args:
            words: Words as `words_of` gives them; those in neither folder say nothing.
            left: A category.
            right: Another one.
            without: Ids of observations that are not counted.

        Source:
            Naive Bayes over whether a word occurs, add a half (Krichevsky and Trofimov 1981).
        """
        (in_left, n_left), (in_right, n_right) = self._words(left, without), self._words(right, without)
        return sum(
            math.log((in_right[word] + 0.5) / (n_right + 1)) - math.log((in_left[word] + 0.5) / (n_left + 1))
            for word in sorted(set(words))
            if in_left[word] + in_right[word]
        )

    def _words(self, category: str, without: tuple[str, ...]) -> tuple[Counter[str], int]:
        """In how many of the observations read of a folder each word occurs, and how many those are."""
        if category not in self._read:
            asked = {"category": category, "scope": self.scope, "n": SAMPLE, "chars": _CHARS}
            rows = self.reading.ask(_SAMPLE, asked).to_pylist()
            words = {row["id"]: words_of(f"{row['title']}\n{row['content']}") for row in rows}
            self._read[category] = Counter(word for said in words.values() for word in said), words
        counts, words = self._read[category]
        taken = [words[identifier] for identifier in without if identifier in words]
        return counts - Counter(word for said in taken for word in said), len(words) - len(taken)


def words_of(text: str, names: Iterable[str] = ()) -> set[str]:
    """The folded words of a text that say something, without those of some names.

    Example:
        >>> sorted(words_of("Dinner with Dana in the harbour", ["Dana"]))
        ['dinner', 'harbour']
    """
    found = {fold(text[start:stop]) for start, stop in content_words(text)}
    for name in names:
        found -= {fold(name[start:stop]) for start, stop in content_words(name)}
    return found
