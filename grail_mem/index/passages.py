"""Passages: the parts of an observation that are searched one by one, so that the end of a long note is found too.

A passage is a piece of the content, cut where paragraphs, lines, sentences or at least words end. Knows nothing of how
passages are scored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

VERSION: Final = 1
"""Changes when a content would be cut elsewhere; an index of another version is made anew."""

# The default embedder reads 256 tokens, about 1,000 characters of English; what a passage holds beyond that it would not see.
TARGET_CHARS: Final = 900
_SMALLEST: Final = 200
# Where a piece may end, best first: a blank line, a line, a sentence, a word.
_ENDS: Final = tuple(
    map(re.compile, (r"\n[ \t]*\n\s*", r"\n", r"(?<=[.!?。！？।])[\"')\]]*\s+|(?<=[。！？।])", r"\s+"))
)


class Passage(NamedTuple):
    """One piece of a content.

    Attributes:
        number: Its place among the passages of its observation, from 0.
        start: Where it begins in the content, in characters.
        text: The piece itself, without white space around it.
    """

    number: int
    start: int
    text: str


def passages(content: str) -> list[Passage]:
    r"""Take a content and return its passages in order; together they hold all of it but white space.

    Example:
        >>> [p.text for p in passages("One.\n\nTwo.")]
        ['One.\n\nTwo.']
    """
    made: list[Passage] = []
    for start, end in _pieces(content, 0, len(content), 0):
        text = content[start:end]
        if stripped := text.strip():
            made.append(Passage(len(made), start + len(text) - len(text.lstrip()), stripped))
    return made or [Passage(0, 0, "")]


def _pieces(content: str, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
    """Spans of at most `TARGET_CHARS`, as long as the ends of one level allow; what is longer is cut by the next level."""
    if end - start <= TARGET_CHARS:
        yield start, end
        return
    if level == len(_ENDS):
        for at in range(start, end, TARGET_CHARS):
            yield at, min(at + TARGET_CHARS, end)
        return
    begin = start
    for piece_start, piece_end in _units(content, start, end, level):
        if piece_end - begin > TARGET_CHARS and piece_start - begin >= _SMALLEST:
            yield begin, piece_start
            begin = piece_start
        if piece_end - begin > TARGET_CHARS:
            yield from _pieces(content, begin, piece_end, level + 1)
            begin = piece_end
    if begin < end:
        yield begin, end


def _units(content: str, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
    at = start
    for match in _ENDS[level].finditer(content, start, end):
        if match.end() > at:
            yield at, match.end()
            at = match.end()
    if at < end:
        yield at, end
