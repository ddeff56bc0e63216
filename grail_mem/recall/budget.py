"""Counting tokens: what a text costs of a model's context, by the tokenizer of the caller or by a labelled estimate.

Knows nothing of what is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, Protocol, runtime_checkable

import regex as re

from grail_mem.errors import InputError


@runtime_checkable
class Counter(Protocol):
    """Says how many tokens a text is; the same text is always as many."""

    @property
    def name(self) -> str:
        """Whose tokens they are."""
        ...

    @property
    def is_estimate(self) -> bool:
        """Whether the number is an estimate instead of a tokenizer's own."""
        ...

    def count(self, text: str) -> int:
        """The tokens of a text, 0 or more."""
        ...


class Estimate:
    r"""An estimate by the scripts and lengths of words that would rather be too high than too low.

    Source: measured against the tokenizers o200k, llama3, qwen3 and cl100k, the estimate divided by their counts. English talk,
    prose, markdown and code 1.14 to 1.27, JSON 1.12 to 1.17; 46 languages in Latin letters .76 to 1.28; six Cyrillic ones .94 to
    1.56, Arabic and Persian 1.01 to 1.57, Hebrew .89 to 1.79, Greek .90 to 1.73, Chinese, Japanese, Korean and Vietnamese 1.14 to 1.46,
    four of India .84 to 2.7
    (all without cl100k, which needs up to 1.6 times as many for scripts other than Latin). Numbers, dates and identifiers are
    taken as qwen3 does, a token a digit: .83 of it, up to 2.6 times the others. Random characters .67 to 2.8, one
    character repeated 5.2.

    Example:
        >>> Estimate().count("The database will be Postgres.")
        8
    """

    name = "estimate"
    is_estimate = True

    def count(self, text: str) -> int:
        """The tokens of a text as estimated."""
        return -(-sum([_word(p) if len(p) < _LONG else _cost(p) for p in _PIECES.findall(text)]) // _UNIT)


class CallableCounter:
    """Any function from a text to its number of tokens, such as `lambda text: len(encoding.encode(text))`.

    Args:
        function: Takes a text, returns the number of its tokens.
        name: What the tokenizer is called.
    """

    is_estimate = False

    def __init__(self, function: Callable[[str], int], *, name: str = "") -> None:
        self._function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)

    def count(self, text: str) -> int:
        """The tokens of a text as the function says.

        Raises:
            InputError: The function did not return a whole number that is 0 or more.
        """
        made = self._function(text)
        if isinstance(made, bool) or not isinstance(made, int) or made < 0:
            raise InputError(
                f"The counter {self.name!r} returned {made!r} for a text.",
                hint="It must return the number of its tokens.",
            )
        return made


def counter_of(given: Counter | Callable[[str], int] | None) -> Counter:
    """The counter that was given, a function as a counter, or the estimate for None."""
    if given is None:
        return Estimate()
    return given if isinstance(given, Counter) else CallableCounter(given)


_UNIT: Final = 20
"""Costs are whole numbers of twentieths of a token, so that sums are the same everywhere."""
_PER_CHAR: Final = {
    "digit": 20, "mark": 15, "cyrillic": 10, "greek": 17, "arabic": 12, "hebrew": 19, "han": 20, "kana": 16, "hangul": 18,
    "indic": 28, "thai": 16, "two": 24, "three": 56, "four": 56,
}  # fmt: skip
_KINDS: Final = (
    r"(?P<word>\p{Latin}+)|(?P<digit>[ ]?[0-9]+)|(?P<mark>[!-~])|(?P<gap>\s*[\t\n\r\f\v]\s*|\s{2,})|(?P<cyrillic>\p{Cyrillic}+)|(?P<greek>\p{Greek}+)"
    r"|(?P<arabic>\p{Arabic}+)|(?P<hebrew>\p{Hebrew}+)|(?P<han>[\u3000-\u303f\u4e00-\u9fff\uff00-\uff5e]+)"
    r"|(?P<kana>[\p{Hiragana}\p{Katakana}\u30fc]+)|(?P<hangul>\p{Hangul}+)|(?P<indic>[\u0900-\u0dff]+)|(?P<thai>\p{Thai}+)"
    r"|(?P<two>[\x00-\x1f\x7f-\u07ff])|(?P<three>[\u0800-\uffff])|(?P<four>[\U00010000-\U0010ffff])"
)
_PIECE: Final = re.compile(_KINDS, re.V1)
_PIECES: Final = re.compile(re.sub(r"\?P<\w+>", "?:", _KINDS), re.V1)
"""A single space before a word belongs to it and costs nothing, so it is no piece."""
_ACCENT: Final = re.compile(r"[^\x00-\x7f]")
_CAPITAL: Final = re.compile(r"(?<=\p{Ll})\p{Lu}|(?<=\p{Lu})\p{Lu}{3}")
_LONG: Final = 14
"""Letters beyond which a run is rather a key or a hash than a word."""


def _cost(piece: str) -> int:
    """The cost of one piece in units."""
    kind = _PIECE.match(piece).lastgroup or ""  # type: ignore[union-attr]  # it is a piece
    if kind == "word":
        n = len(piece)
        cost = 19 + 5 * max(0, min(n, _LONG) - 4) + 13 * max(0, n - _LONG)
        if not piece.isascii():
            cost += 24 * len(_ACCENT.findall(piece))
        return cost if piece.islower() else cost + 14 * len(_CAPITAL.findall(piece))
    if kind == "gap":
        return 20 + len(piece) // 4
    return _PER_CHAR[kind] * len(piece)


_word: Final = lru_cache(maxsize=32_768)(_cost)
"""Most short pieces of a text come again."""
