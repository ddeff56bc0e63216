"""Acronyms: which names are the initials of which, and where a text spells one out.

Knows nothing of neighbourhoods and confidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex as re

from grail_mem.consolidate.names.name_form import NameForm, name_form

MIN_CHARS: Final = 2
"""Letters of an acronym at least."""
MAX_CHARS: Final = 8
"""Letters of an acronym at most."""
_SMALL_WORDS: Final = "a an and as at by de der des for from in of on or the to und von with"
SMALL_WORDS: Final = frozenset(_SMALL_WORDS.split())
"""Words whose initials an acronym may leave out."""
TAIL_CHARS: Final = 200
"""Characters before a parenthesis in which the name that it explains must stand."""

_PARENTHESIS: Final = re.compile(r"[(\[]([^()\[\]\n]{2,120})[)\]]")


def initials(form: NameForm) -> tuple[str, ...]:
    """The acronyms that a name of several words may have: of all its words, and without the small ones.

    Example:
        >>> initials(name_form("Department of Defense"))
        ('dd', 'dod')
    """
    if len(form.tokens) < MIN_CHARS or not all(token.isalpha() for token in form.tokens):
        return ()
    every = "".join(token[0] for token in form.tokens)
    main = "".join(token[0] for token in form.tokens if token not in SMALL_WORDS)
    return tuple(sorted({text for text in (every, main) if MIN_CHARS <= len(text) <= MAX_CHARS}))


def is_acronym(form: NameForm, *, is_upper: bool) -> bool:
    """Whether a name may be an acronym: one run of letters, written in capitals somewhere or with full stops."""
    return len(form.tokens) == 1 and MIN_CHARS <= len(form.plain) <= MAX_CHARS and (is_upper or form.dotted)


def spelled_out(text: str, names: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    """The pairs that a text puts beside each other as `Name (Other)`.

    Args:
        text: Any text.
        names: By plain form of a name, the plain forms of those that it may be the same as; both directions.

    Yields:
        Pairs of plain forms, the one before the parenthesis first.
    """
    for match in _PARENTHESIS.finditer(text):
        inside = name_form(match[1].strip()).plain
        others = names.get(inside)
        if not others:
            continue
        before = name_form(text[max(0, match.start() - TAIL_CHARS) : match.start()].rsplit("\n", 1)[-1]).tokens
        tails = {"".join(before[-n:]) for n in range(1, min(len(before), 12) + 1)}
        for other in sorted(others & tails):
            yield other, inside
