"""A text in sentences, and a sentence in clauses. Knows nothing of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex as re

from grail_mem.support.wording import plain

MOST_CHARS: Final = 2_000
"""A sentence is cut here: comparing takes the product of two lengths, and no claim needs a longer one."""

_END: Final = re.compile(r"(?<=[.!?…。！？])[\"'”’»)\]]*\s+|(?<![:,;])\s*\n\s*|(?<=[。！？])")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|ltd|inc|co|corp|no|approx|ca|jr|sr|a\.m|p\.m|\p{Lu})\.)$",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[,;](?=\s|$)|:(?=\s|$)|\s[-–]\s|[—()]|\.{3}|…")
_LONGEST_ABBREVIATION: Final = 8


def sentences(text: str) -> Iterator[str]:
    """Take a text and yield its sentences in order, without marks of markdown; a line that ends in a colon goes on.

    Example:
        >>> list(sentences("Dr. Sol called. Was it you?\\nNo"))
        ['Dr. Sol called.', 'Was it you?', 'No']
    """
    text = plain(text)
    begin = 0
    for match in _END.finditer(text):
        before = text[max(begin, match.start() - _LONGEST_ABBREVIATION) : match.start()]
        if "\n" not in match[0] and _ABBREVIATED.search(before):
            continue
        yield from _cut(text[begin : match.start()] + match[0].strip())
        begin = match.end()
    yield from _cut(text[begin:])


def clauses(sentence: str) -> list[str]:
    """The parts of a sentence between commas, colons, dashes and brackets."""
    return [part for part in _CLAUSE.split(sentence) if part.strip()]


def _cut(sentence: str) -> Iterator[str]:
    sentence = sentence.strip()
    for start in range(0, len(sentence), MOST_CHARS):
        yield sentence[start : start + MOST_CHARS]
