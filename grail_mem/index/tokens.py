"""Terms: what a text is searched by, the same for what is stored and for what is asked.

Words are folded (case, accents of alphabetic scripts) and stemmed; identifiers are kept whole and also cut into their
parts; scripts without spaces become pairs of characters. Knows nothing of weights or indexes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

import regex as re

VERSION: Final = 1
"""Changes when a text would get other terms; an index of another version is made anew."""

MAX_TERM_CHARS: Final = 64
_KEPT: Final = 65_536

# Written without spaces between words.
_UNSPACED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Tham}"
_LETTER: Final = rf"[\p{{L}}\p{{M}}\p{{N}}\p{{Pc}}--[{_UNSPACED}]]"
_RUN: Final = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<number>v?[0-9]+(?:[.,:/-][0-9]+)+(?![\p{{L}}\p{{N}}_]))"
    rf"|(?P<word>(?!\p{{M}}){_LETTER}(?:{_LETTER}|['’.\-/:@#&+](?={_LETTER}))*(?:\+\+|\#)?)",
    re.V1,
)
"""A run without spaces; a number, version, date or time; a word or an identifier with its joints (`ORCHID-77`, `src/app.py`)."""
_JOINTS: Final = re.compile(r"['’.\-/:@#&+_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SHORT_FORM: Final = re.compile(r"(?:n['’]t|['’](?:s|ll|re|ve|d|m|t))$", re.IGNORECASE)
_ALNUM: Final = r"[\p{L}\p{M}\p{N}]"
# Case is spelled out: to ignore it would make every class slow.
_PLAIN_WORD: Final = re.compile(rf"{_ALNUM}+(?:['’](?:[sSdDmMtT]|ll|LL|re|RE|ve|VE)(?!{_ALNUM}))?", re.V1)
"""A word without joints, with the end of its short form."""
_DATE: Final = re.compile(r"((?:19|20)[0-9]{2})[-/.][0-9]{1,2}(?:[-/.][0-9]{1,2})?")

# English: determiners and quantifiers; pronouns; auxiliaries with what is left of their short forms; prepositions and
# conjunctions; adverbs of place, time and degree that say nothing alone, and question words.
_FUNCTION_WORDS: Final = """
a an the this that these those each every either neither some any no all both such own same other another
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves one who whom whose which what
am is are was were be been being have has had having do does did doing done can could will would shall should may might must
ca wo sha
of in on at by for with about against between into through during before after above below to from up down out off over under
and but if or because as until while than so nor
not only very too just then once here there when where why how again further more most few
"""
STOP_WORDS: Final = frozenset(_FUNCTION_WORDS.split())


@lru_cache(maxsize=1)
def _stemmer() -> object:
    import Stemmer

    return Stemmer.Stemmer("english", 0)  # without its own cache, which is not safe between threads


@lru_cache(maxsize=_KEPT)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))  # type: ignore[attr-defined]  # the package has no types


def fold(text: str) -> str:
    """Take a text and return it for comparing: NFKC, case folded, without accents on Latin, Greek and Cyrillic letters.

    Marks of other scripts are part of their letters and stay.

    Example:
        >>> fold("Café ΆΛΦΑ")
        'cafe αλφα'
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept: list[str] = []
    for char in unicodedata.normalize("NFD", folded):
        if "\u0300" <= char <= "\u036f" and kept and kept[-1] < "\u0590":
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def terms(text: str, *, stop_words: bool = True) -> list[str]:
    """Take a text and return its terms in order, with repetitions.

    Args:
        text: Any text.
        stop_words: Leave out function words; a text of nothing else keeps them.

    Example:
        >>> terms("Why did we choose ORCHID-77?")
        ['choos', 'orchid-77', 'orchid', '77']
    """
    found = list(_terms(text))
    if not stop_words:
        return [term for term, _ in found]
    said = [term for term, is_stop in found if not is_stop]
    return said or [term for term, _ in found]


def marked_terms(text: str) -> list[tuple[str, bool]]:
    """The terms of a text but for function words, in order, each with whether it may begin a name.

    A name begins with a capital, a digit or a letter of a script that has no capitals.

    Example:
        >>> marked_terms("The Nile floods")
        [('nile', True), ('flood', False)]
    """
    return [found for word in text.split() for found in marked_terms_of(word)]


def marked_terms_of(word: str) -> list[tuple[str, bool]]:
    """The same of what stands between two spaces: terms never cross one."""
    return [(term, mark) for term, is_stop, mark in _of_word(word) if not is_stop]


def content_words(text: str) -> Iterator[tuple[int, int]]:
    """Take a text and yield the span of each word that is no stop word, in order.

    A word ends at any joint; what is left of a short form (`'s`, `n't`) is part of none.

    Example:
        >>> list(content_words("Why didn't Ann's ORCHID-77 start?"))
        [(11, 14), (17, 23), (24, 26), (27, 32)]
    """
    for match in _PLAIN_WORD.finditer(text):
        word = match[0] if match[0].isalnum() else _SHORT_FORM.sub("", match[0])
        if fold(word) not in STOP_WORDS:
            yield match.start(), match.start() + len(word)


def _terms(text: str) -> Iterator[tuple[str, bool]]:
    for word in text.split():
        for term, is_stop, _ in _of_word(word):
            yield term, is_stop


def _of_word(word: str) -> tuple[tuple[str, bool, bool], ...]:
    """The terms of what stands between spaces, which no run crosses: each with whether it is a stop word and may begin a name."""
    return _of_short(word) if len(word) <= MAX_TERM_CHARS else _cut(word)


@lru_cache(maxsize=_KEPT)
def _of_short(word: str) -> tuple[tuple[str, bool, bool], ...]:
    return _cut(word)


def _cut(word: str) -> tuple[tuple[str, bool, bool], ...]:
    return tuple(
        (term, is_stop, not match[0][0].islower())
        for match in _RUN.finditer(unicodedata.normalize("NFC", word))
        for term, is_stop in (
            _of_run(match[0], str(match.lastgroup)) if len(match[0]) <= MAX_TERM_CHARS else _of_long(match[0])
        )
    )


def _of_run(run: str, kind: str) -> tuple[tuple[str, bool], ...]:
    """The terms of one run, each with whether it is a stop word."""
    if kind == "unspaced":
        return tuple((gram, False) for gram in _grams(fold(run)))
    if kind == "number":
        return tuple((number, False) for number in _numbers(run.lower()))
    whole = _SHORT_FORM.sub("", run) or run
    parts = [part for joined in _JOINTS.split(whole) for part in _HUMP.split(joined) if len(part) > 1]
    if len(parts) <= 1 and not _JOINTS.search(whole):
        return (_word(whole),)
    return ((fold(whole), False), *map(_word, parts))


def _numbers(run: str) -> list[str]:
    """A number without its thousands' separators; a version with and without its `v`; a date and its year."""
    if re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", run):
        return [run.replace(",", "")]
    if date := _DATE.fullmatch(run):
        return [run, date[1]]
    return [run, run[1:]] if run[0] == "v" else [run]


def _of_long(run: str) -> Iterator[tuple[str, bool]]:
    """A run too long for one term: what stands between its joints, cut where needed."""
    for part in _JOINTS.split(run):
        for start in range(0, len(part), MAX_TERM_CHARS):
            piece = part[start : start + MAX_TERM_CHARS]
            yield from ((gram, False) for gram in _grams(fold(piece))) if _is_unspaced(piece) else (_word(piece),)


def _word(word: str) -> tuple[str, bool]:
    folded = fold(word)
    if folded in STOP_WORDS:
        return folded, True
    return (_stem(folded) if folded.isascii() and folded.isalpha() else folded), False


def _is_unspaced(run: str) -> bool:
    return (match := _RUN.match(run)) is not None and match.lastgroup == "unspaced"


def _grams(run: str) -> list[str]:
    """Overlapping pairs of characters, marks with their letters; one character alone is itself."""
    letters: list[str] = []
    for char in run:
        if letters and unicodedata.category(char).startswith("M"):
            letters[-1] += char
        else:
            letters.append(char)
    return [a + b for a, b in pairwise(letters)] or letters
