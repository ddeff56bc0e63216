"""The name of an attribute: its one form, whatever separators, case and number it is written with, and its words.

Knows nothing of synonyms.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

import regex as re

_JOINT: Final = re.compile(r"[\s_\-.:]+")
_HUMP: Final = re.compile(r"(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})")
_SINGULAR: Final = re.compile(r"(?:ss|us|is|as|os|news|series)$")
"""Endings in `s` that make no plural: `address`, `status`, `analysis`, `alias`, `os`."""
_LEAST_PLURAL: Final = 4


@lru_cache(maxsize=65_536)
def attribute_form(attribute: str, *, number: bool = False) -> str:
    """Take an attribute and return the form that all its spellings share.

    Args:
        attribute: As written.
        number: Keep the plural apart from the singular.

    Example:
        >>> attribute_form("Acme/primary database"), attribute_form("acme/primaryDatabases")
        ('acme/primary_database', 'acme/primary_database')
    """
    levels = filter(None, map(_parts, attribute.split("/")))
    return "/".join("_".join(parts if number else map(_one, parts)) for parts in levels)


def attribute_words(attribute: str) -> frozenset[str]:
    """The words of an attribute, small."""
    return frozenset(word for level in attribute.split("/") for part in _parts(level) for word in (part, _one(part)))


def is_plural(attribute: str) -> bool:
    """Whether the last word says that there are several."""
    parts = _parts(attribute.rpartition("/")[2])
    return bool(parts) and _one(parts[-1]) != parts[-1]


def _parts(level: str) -> list[str]:
    text = _HUMP.sub("_", unicodedata.normalize("NFC", level.strip()))
    return [part.casefold() for part in _JOINT.split(text) if part]


def _one(word: str) -> str:
    """The singular of a word, English; short words and those that only look like a plural stay."""
    if len(word) < _LEAST_PLURAL or not word.isalpha() or not word.endswith("s") or _SINGULAR.search(word):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if re.search(r"(?:x|ch|sh|ss)es$", word):
        return word[:-2]
    return word[:-1]
