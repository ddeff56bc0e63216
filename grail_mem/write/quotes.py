"""Quotes as callers send them: what was said, and where it is to be found.

Knows nothing of sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.names import clean_text
from grail_mem.model.observation import MAX_TURN
from grail_mem.model.quote import MIN_CHARS, MIN_WORDS, is_long_enough
from grail_mem.store.parts import MAX_NAME, is_name

MAX_QUOTES: Final = 50
_FIELDS: Final = ("quote", "source", "session", "turn")


@dataclass(frozen=True, slots=True)
class Quote:
    """Words, and where they are said to stand.

    Attributes:
        source: A source as `ingest` printed it, or None.
        session: A session, or None.
        turn: The turn of either, or None for any.
    """

    quote: str
    source: str | None = None
    session: str | None = None
    turn: int | None = None


def read_quotes(value: Any) -> tuple[Quote, ...]:
    """Quotes from one text, one mapping, or a list of both.

    Raises:
        InputError: One cannot be used; `problems` lists every reason.
    """
    listed = list(value) if isinstance(value, list | tuple) else [value]
    if not listed or len(listed) > MAX_QUOTES:
        raise InputError(f"needs 1 to {MAX_QUOTES} quotes, not {len(listed)}.")
    found: list[Quote] = []
    problems: list[str] = []
    for number, item in enumerate(listed, start=1):
        try:
            found.append(_read(item))
        except InputError as error:
            problems += [f"item {number}: {text}" if len(listed) > 1 else text for text in error.problems]
    if problems:
        raise InputError(" ".join(problems), problems=problems)
    return tuple(found)


def _read(item: Any) -> Quote:
    if isinstance(item, str):
        return Quote(clean_quote(item))
    if not isinstance(item, Mapping):
        raise InputError(f"evidence must be a quote, or mappings with quote and source, not {type(item).__name__}.")
    problems = [
        f"there is no field '{name}'; the fields are {', '.join(_FIELDS)}." for name in item if name not in _FIELDS
    ]
    quote = ""
    try:
        quote = clean_quote(item.get("quote"))
    except InputError as error:
        problems += error.problems
    turn = item.get("turn")
    if turn is not None and (isinstance(turn, bool) or not isinstance(turn, int) or not 0 <= turn <= MAX_TURN):
        problems.append(f"turn must be a whole number from 0, not {turn!r:.60}.")
    for name in ("source", "session"):
        if item.get(name) is not None and not isinstance(item[name], str):
            problems.append(f"{name} must be text, not {type(item[name]).__name__}.")
    if problems:
        raise InputError(" ".join(problems), problems=problems)
    return Quote(quote, item.get("source") or None, item.get("session") or None, turn)


def clean_quote(value: Any) -> str:
    """A quote that can be looked for.

    Raises:
        InputError: It is no text, too short to stand in one place, or too long.
    """
    if not isinstance(value, str):
        raise InputError(f"quote must be text, not {type(value).__name__}.")
    text = clean_text(value)[0].strip()
    if len(text) > MAX_NAME:
        raise InputError(
            f"quote is {len(text)} characters long; at most {MAX_NAME} are allowed. Quote the words that say it."
        )
    if not is_long_enough(text) or not is_name(text):
        raise InputError(f"quote {text!r:.60} is too short: it needs {MIN_CHARS} characters or {MIN_WORDS} words.")
    return text
