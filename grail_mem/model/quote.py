"""Where a quote stands in a text: as it is, or after a declared folding of forms that people do not tell apart.

Folded are compatible Unicode forms (NFKC), kinds of quotation marks and dashes, and white space; upper and lower case is
not. Knows nothing of what the texts are.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import regex as re

MIN_CHARS: Final = 15
MIN_WORDS: Final = 3
"""A shorter quote stands in too many places by chance; one of the two is enough. Chosen."""

_FOLDS: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′ʼ`´＇", "'"),
        **dict.fromkeys("“”„‟″«»＂", '"'),
        **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
    }
)
_CLUSTERS: Final = re.compile(r"[\s\x1c-\x1f]+|\P{M}\p{M}*+|\p{M}+")
_SPACES: Final = re.compile(r"\s+")
_WORDS: Final = re.compile(r"\w+(?:['’-]\w+)*")
_UNSPACED: Final = re.compile(
    r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]"
)
"""Letters of scripts that put no space between words; two of them count as a word."""

Match = Literal["exact", "normalised"]


@dataclass(frozen=True, slots=True)
class Found:
    """A quote in a text.

    Attributes:
        begin: Where it begins, in characters.
        end: Where it ends, exclusive.
        match: Whether it stands there as it is, or only after folding.
        n: In how many places it stands.
    """

    begin: int
    end: int
    match: Match
    n: int = 1


def is_long_enough(quote: str) -> bool:
    """Whether a quote is long enough to be looked for.

    Example:
        >>> is_long_enough("yes"), is_long_enough("Tea, no milk"), is_long_enough("internationalisation")
        (False, True, True)
    """
    text = _SPACES.sub(" ", quote).strip()
    n_words = len(_WORDS.findall(_UNSPACED.sub(" ", text))) + len(_UNSPACED.findall(text)) // 2
    return _WORDS.search(text) is not None and (len(text) >= MIN_CHARS or n_words >= MIN_WORDS)


def find(text: str, quote: str, *, folded_text: str | None = None) -> Found | None:
    """The first place where a quote stands in a text; None when there is none.

    Args:
        text: The text.
        quote: What is looked for.
        folded_text: `folded(text)`, where it is known.

    Example:
        >>> find("She said “no  way”.", 'said "no way"')
        Found(begin=4, end=18, match='normalised', n=1)
    """
    if not quote:
        return None
    at = text.find(quote)
    if at >= 0:
        return Found(at, at + len(quote), "exact", text.count(quote))
    wanted = folded(quote)
    if not wanted or wanted not in (folded(text) if folded_text is None else folded_text):
        return None
    return _found_folded(text, wanted)


def _found_folded(text: str, wanted: str) -> Found | None:
    """Where a folded quote stands, from the beginning of a letter with its marks to the end of one."""
    parts: list[str] = []
    begins: list[int] = []  # for each folded character the source's place when it is the first of its letter, else -1
    ends: list[int] = []
    for cluster in _CLUSTERS.finditer(text):
        part = " " if cluster[0].isspace() else _folded_letter(cluster[0])
        parts.append(part)
        begins += [cluster.start(), *[-1] * (len(part) - 1)] if part else []
        ends += [*[-1] * (len(part) - 1), cluster.end()] if part else []
    whole = "".join(parts)
    places: list[tuple[int, int]] = []
    at = whole.find(wanted)
    while at >= 0:
        begin, end = begins[at], ends[at + len(wanted) - 1]
        if begin >= 0 and end >= 0:
            places.append((begin, end))
        at = whole.find(wanted, at + 1)
    return Found(*places[0], "normalised", len(places)) if places else None


def folded(text: str) -> str:
    """A text in the form in which quotes are compared, without white space around it.

    Decomposed, since two texts have one NFKC form exactly when they have one NFKD form, and each letter's can be told by itself.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.translate(_FOLDS)).translate(_FOLDS)
    elif "`" in text:
        text = text.replace("`", "'")
    return " ".join(text.split())


@lru_cache(maxsize=4096)
def _folded_letter(letter: str) -> str:
    """A letter with its marks in that form."""
    return unicodedata.normalize("NFKD", letter.translate(_FOLDS)).translate(_FOLDS)
