"""The form of a name: what is left of it when the ways of writing it are taken away, and which of them it used.

Knows nothing of other names, types or observations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import regex as re

from grail_mem.consolidate.names.legal_forms import without_legal_form
from grail_mem.index.tokens import fold

MIN_PLURAL_CHARS: Final = 4
"""Shortest plural, in characters, that is told by its ending; chosen: shorter words (`bus`, `AWS`) end in s too."""

_NO_PLURAL: Final = ("ss", "us", "as", "os")
_MARKS: Final = re.compile("[™®©℠]")
_DOTTED: Final = re.compile(r"(?<![\p{L}\p{N}])(?:\p{L}\.[ ]?){2,}(?:\p{L}(?![\p{L}\p{N}]))?")
"""Letters with full stops: U.S., J. R. R."""
_POSSESSIVE: Final = re.compile(r"(?<=\p{L})['’ʼ]s(?![\p{L}\p{N}])")
_CONTRACTION: Final = re.compile(r"(?<=\p{L})['’ʼ](?=(?:ll|re|ve|d|m|t)(?![\p{L}\p{N}]))")
"""The apostrophe of we'll and I'd, which are other words without it."""
_CUT_OUT: Final = re.compile(r"(?:['’ʼ]s|[\s'’ʼ\"”“,;:–—-])$|^[\s'’ʼ\"”,;:–—]")
_APOSTROPHE: Final = re.compile(r"(?<=\p{L})['’ʼ](?=\p{L})")
_AND: Final = re.compile(r"\s*&\s*")
_TOKEN: Final = re.compile(
    r"(?P<number>(?<![^\s(\[])[-−]?\p{N}+(?:[.,:/–-]\p{N}+)*|\p{N}+(?:[.,:/–-]\p{N}+)*)"
    r"|\p{L}[\p{L}\p{M}]*|(?<!\S)\.(?=\p{L})|[\p{S}@*%#]"
)
"""A number with its joints, a run of letters, the dot before a name, or a sign that tells names apart: C++, C#, @ann."""


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name taken apart.

    Attributes:
        tokens: Runs of letters, numbers and telling signs, folded, in order.
        core: What names that are written differently have in common: tokens without article, possessive, plural and legal
            form, without spaces but between two numbers.
        plain: The tokens without spaces but between two numbers, nothing left out.
        legal: Legal forms at the end, each by its common name.
        article: Whether it begins with the article.
        possessive: Whether a word of it is a possessive.
        plural: Whether the last word looks like a plural.
        dotted: Whether it is letters with full stops, such as U.S.
    """

    tokens: tuple[str, ...]
    core: str
    plain: str
    legal: tuple[str, ...]
    article: bool
    possessive: bool
    plural: bool
    dotted: bool

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers in it, in order."""
        return tuple(token for token in self.tokens if not token[-1:].isalpha() and token[-1:].isalnum())

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens that are letters, in order."""
        return tuple(token for token in self.tokens if token[0].isalpha())


@lru_cache(maxsize=65_536)
def name_form(name: str) -> NameForm:
    """The form of a name.

    Example:
        >>> name_form("The Acme Widgets Co., Ltd.").core, name_form("Qwen 2 7B").core, name_form("C++").core
        ('acmewidget', 'qwen2 7b', 'c++')
    """
    folded = fold(_MARKS.sub("", name))
    dotted = _DOTTED.search(folded)
    if dotted:
        folded = _DOTTED.sub(lambda letters: re.sub(r"[. ]", "", letters[0]) + " ", folded)
    undone = _POSSESSIVE.sub("", folded)
    written = tuple(match[0] for match in _TOKEN.finditer(_joined(undone)))
    stem, legal = without_legal_form(written)
    article = len(stem) > 1 and stem[0] == "the"
    stem = stem[1:] if article else stem
    single = singular(stem[-1]) if stem else ""
    return NameForm(
        written, squashed((*stem[:-1], single)) if stem else "", squashed(written), legal, article, undone != folded,
        bool(stem) and single != stem[-1], bool(dotted),
    )  # fmt: skip


def is_cut_out(name: str) -> bool:
    """Whether a name looks like cut out of a sentence, with a possessive or half a pair of quotes at its end.

    Example:
        >>> is_cut_out("Grey's Anatomy's"), is_cut_out("Grey's Anatomy"), is_cut_out("What Would You Do?")
        (True, False, False)
    """
    return _CUT_OUT.search(name) is not None


def _joined(folded: str) -> str:
    return _AND.sub(" and ", _APOSTROPHE.sub("", _CONTRACTION.sub("~", folded)))


def squashed(tokens: tuple[str, ...]) -> str:
    """Tokens without spaces, but between two numbers, which would make another number."""
    text = ""
    for token in tokens:
        text += f" {token}" if text[-1:].isnumeric() and token[:1].isnumeric() else token
    return text


def singular(word: str) -> str:
    """An English plural without its ending; any other word as it is."""
    is_plain = word.isascii() and word.isalpha() and len(word) >= MIN_PLURAL_CHARS
    if not is_plain or not word.endswith("s") or word.endswith(_NO_PLURAL):
        return word
    if word.endswith("is"):
        return word[:-1] if len(word) == MIN_PLURAL_CHARS else word  # APIs, but not analysis
    if word.endswith("ies") and len(word) > MIN_PLURAL_CHARS:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1]
