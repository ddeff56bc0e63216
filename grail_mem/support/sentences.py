"""A text in sentences, and a sentence in clauses. Knows nothing of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex as re

from grail_mem.support.wording import plain

_END: Final = re.compile(r"(?<=[.!?…。！？؟।])[\"'”’»)\]]*\s+|(?<![:,;])\s*\n\s*|(?<=[。！？])")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|ltd|inc|co|corp|no|approx|ca|jr|sr|a\.m|p\.m|\p{Lu})\.)$",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[,;](?=\s|$)|:(?=\s|$)|\s[-–]\s|[—()]|\.{3}|…")
_LONGEST_ABBREVIATION: Final = 8


def sentences(text: str) -> Iterator[str]:
    r"""Take a text and yield its sentences in order, without marks of markdown; a line that ends in a colon goes on.

    Example:
        >>> list(sentences("Dr. Sol called. Was it you?\nNo"))
        ['Dr. Sol called.', 'Was it you?', 'No']
    """
    text = plain(text)
    begin = 0
    for match in _END.finditer(text):
        before = text[max(begin, match.start() - _LONGEST_ABBREVIATION) : match.start()]
        if "\n" not in match[0] and _ABBREVIATED.search(before):
            continue
        if sentence := (text[begin : match.start()] + match[0]).strip():
            yield sentence
        begin = match.end()
    if sentence := text[begin:].strip():
        yield sentence


def clauses(sentence: str) -> Iterator[tuple[str, bool]]:
    """The parts of a sentence between commas, colons, dashes and brackets, each with whether a colon stands before it."""
    begin, is_labelled = 0, False
    for match in _CLAUSE.finditer(sentence):
        if part := sentence[begin : match.start()].strip():
            yield part, is_labelled
            is_labelled = False
        begin, is_labelled = match.end(), is_labelled or match[0] == ":"
    if part := sentence[begin:].strip():
        yield part, is_labelled
