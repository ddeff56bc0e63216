"""A sentence as it is compared: its words in one spelling, the speaker as a mark, and where its clauses begin.

Knows nothing of a second text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Final, NamedTuple

import regex as re

from grail_mem.support import words as known
from grail_mem.support.dated import is_date, with_dates
from grail_mem.support.sentences import clauses
from grail_mem.support.wording import is_number, wording

MOST_CHARS: Final = 4_000
"""A sentence is read so far. Comparing takes the product of two lengths, and of one that is longer nothing is supported, since
what takes it back may stand in the rest."""

_POSSESSIVE: Final = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_PRONOUN_IS: Final = re.compile(r"\b(it|that|he|she|there|here|what|who|where|how|this)['’]s\b", re.IGNORECASE)
_LETS: Final = re.compile(r"\blet['’]s\b", re.IGNORECASE)
_NO_APOSTROPHE: Final = re.compile(
    r"\b(do|does|did|is|was|are|were|has|have|had|could|would|should|ca|wo)(nt)\b", re.IGNORECASE
)
_REPEATED: Final = re.compile(
    r"\b(?:as|like) (?:i|we) (?:have |already )?(?:said|mentioned|wrote|told you)\b(?: before)?[,:]?|^\W*(?:please )?(?:note|remember|know|be aware|keep in mind)(?: that)?\b[,:]?|\b(?:by the way|of course|in fact|in short|heads up|(?:just )?so you know|for the record|for your information|as a reminder|good news|from now on)\b[,:]?|^\W*i(?:['’]d| would) like to (?:mention|note|add|say)(?: that)?\b",
    re.IGNORECASE,
)
"""The speaker says it once more, which is no report of somebody else; and phrases that say nothing."""
_HALF_DAY: Final = re.compile(r"\b([0-9]{1,2})(?:[:.]([0-5][0-9]))?\s?([ap])\.?\s?m\b\.?", re.IGNORECASE)
_MARK: Final = "ʼs"
"""The possessive as a word of its own: its first character is a letter."""
_JOINED: Final = re.compile(r"(?<=\p{L})(?<!\b(?:" + "|".join(known.TENS) + r"))[-‐‑](?=\p{L})", re.IGNORECASE)
_BITS: Final = re.compile(r"(?<=[0-9]\s?[MGT])b\b")
"""Mb are bits, and MB bytes: case tells them apart, which is gone once words are compared."""
_MINUS: Final = re.compile(r"−\s*(?=[0-9])")
_FLAG: Final = re.compile(r"(?<!\S)--?(?=\p{L})")
_GRADE: Final = re.compile(r"(?<![\w-])(AB|[A-FO])[-−–](?=[\s.,;:!?)\]]|$)")
"""`O-` and `A-`: the minus is a part of the name."""
_DOTTED: Final = re.compile(r"(?<!\S)\.(?=\p{L})")
"""`.NET` and `.env` are no net and no env."""
_LETTERED: Final = re.compile(r"(?<=[0-9])a\b", re.IGNORECASE)
"""The letter of `5A` is no article."""
JOINT: Final = "ʼ"
"""Joins what a hyphen joined into one word: sons-in-law are no sons."""
_TRAILING_ZEROS: Final = re.compile(r"(?<=\A-?[0-9]+)\.0+\Z")
_CODE: Final = re.compile(r"-?0[0-9]")
_IRONIC: Final = re.compile(r'(?<=\S\s)["“„«]\p{Ll}|["“„«]\p{Ll}[^"“”«»]*["”»](?=\s+\w)')
_EDGES: Final = "\"'“”‘’«».,;:!?()[]*"
_DOUBLE_QUOTES: Final = frozenset('"“”«»„')
_ONES: Final = frozenset("123456789")
_KEPT: Final = 32
"""Sentences of which is kept how their words are written: one verdict may name several."""


class Sentence(NamedTuple):
    """A sentence as it is compared.

    Attributes:
        words: In order; `@me`, `@my`, `@we`, `@our` stand for the speaker and what is the speaker's.
        names: For each, 2 when it is written as a name, 1 when it may be one, else 0.
        breaks: Places of words before which a comma or another mark stands, in order.
        labelled: Places of words before which a colon stands, in order.
        asks: It is a question.
        is_open: Only the whole may be taken for what the speaker says: double quotation marks stand in it, so that somebody
            else may be speaking, or it is too long to be read to its end.
        is_ironic: A part of it stands in quotation marks that is no name or title: `I "quit" smoking`.
        text: The sentence as it is written.
    """

    words: tuple[str, ...]
    names: tuple[int, ...]
    breaks: tuple[int, ...]
    labelled: tuple[int, ...]
    asks: bool
    is_open: bool
    is_ironic: bool = False
    text: str = ""

    def with_words(self, words: Sequence[str], names: Sequence[int]) -> Sentence:
        """The same with other words; marks between them are no longer known."""
        return self._replace(words=tuple(words), names=tuple(names), breaks=(), labelled=())


def read_sentence(text: str, today: date | None = None) -> Sentence:
    """Take one sentence and return it ready to be compared.

    Args:
        text: The sentence.
        today: The day on which it was said; None when that is not known.

    Example:
        >>> read_sentence("My sister doesn't owe us $1,200, right?").words
        ('@my', 'sister', 'do', 'not', 'owe', '@we', '1200', '$', 'right')
    """
    is_cut, written = len(text) > MOST_CHARS, text
    text = with_dates(_apart(text[:MOST_CHARS]), today)
    words: list[str] = []
    names: list[int] = []
    breaks: list[int] = []
    labelled: list[int] = []
    for part, is_labelled in clauses(text):
        said = wording(part)
        spelled = list(_spelled([word for word in said.words if word != "?"]))
        of_name = dict(zip(said.words, said.names, strict=True))
        if words and spelled:
            breaks.append(len(words))
            labelled += [len(words)] if is_labelled else []
        words += spelled
        names += [_as_name(of_name.get(word, 0), is_first=not breaks) for word in spelled]
    ends = text.rstrip("\"'”’)»* \t!.")
    return Sentence(
        tuple(words),
        tuple(names),
        tuple(breaks),
        tuple(labelled),
        ends.endswith(("?", "？")),
        is_cut or not _DOUBLE_QUOTES.isdisjoint(text),
        _IRONIC.search(text.strip()) is not None,
        written,
    )


def as_written(sentence: Sentence, word: str) -> str:
    """A word of a sentence as it stands there; one that stands there in parts or other words, as it is compared.

    Example:
        >>> as_written(read_sentence("My Mother goes home."), "mom")
        'Mother'
    """
    if word.startswith("@"):
        return "the speaker"
    return _written(sentence.text).get(word) or word.replace(JOINT, "-").replace("not-anymore", "no longer")


@lru_cache(maxsize=_KEPT)
def _written(text: str) -> dict[str, str]:
    """For each word of a sentence that is compared, how it is written; the first time counts."""
    made: dict[str, str] = {}
    for part in text[:MOST_CHARS].split():
        for word in read_sentence(part).words:
            made.setdefault(word, part.strip(_EDGES))
    return made


def _as_name(flag: int, *, is_first: bool) -> int:
    """How much a word looks like a name: within a sentence, a capital is one also where a clause begins."""
    return flag if is_first or not flag else 2


def as_said_by(sentence: Sentence, names: Sequence[tuple[str, ...]]) -> Sentence:
    """A claim with the names of a speaker replaced by the mark of the speaker, articles before them gone.

    Args:
        sentence: The claim.
        names: The words of each name, longest first.
    """
    words: list[str] = []
    flags: list[int] = []
    at = 0
    while at < len(sentence.words):
        name = next((name for name in names if sentence.words[at : at + len(name)] == name), None)
        if name is None:
            words.append(sentence.words[at])
            flags.append(sentence.names[at])
            at += 1
            continue
        if words and words[-1] in known.ARTICLES:
            words.pop(), flags.pop()
        at += len(name)
        owns = sentence.words[at : at + 1] == ("'s",)
        at += owns
        words.append("@my" if owns else "@me")
        flags.append(0)
    return sentence.with_words(words, flags)


def number_of(word: str) -> Decimal | None:
    """The number that a word is; None for dates, times, versions of three parts and other words."""
    if not is_number(word):
        return None
    with suppress(InvalidOperation):
        return Decimal(word)
    return None


def is_one_number(one: str, other: str, behind: str) -> bool:
    """Whether two numbers are the same, however they are written; one that may be a name, only as it is written.

    `0042` is a code. `3.10` may be a version unless a unit stands behind it, and is another one than `3.1`.

    Args:
        one: A number.
        other: The other one.
        behind: The word behind it, as it is compared.
    """
    if one == other:
        return True
    number = number_of(one)
    is_name = _CODE.match(one) or _CODE.match(other) or ("." in one + other and behind not in known.UNITS)
    return number is not None and number == number_of(other) and not is_name


def _apart(text: str) -> str:
    """The text with short forms and times of day taken apart, so that every word is one."""
    if "'" in text or "’" in text:
        text = _PRONOUN_IS.sub(r"\1 is", _LETS.sub("let us", text))
        text = _POSSESSIVE.sub(f" {_MARK}", text)
    text = _GRADE.sub(rf"\1{JOINT}minus", _DOTTED.sub(f"dot{JOINT}", _LETTERED.sub(f" {JOINT}a", text)))
    text = _FLAG.sub(" minus ", _MINUS.sub("-", text))
    text = _BITS.sub("bit", text)
    text = _JOINED.sub(JOINT, _REPEATED.sub(" ", text))
    return _HALF_DAY.sub(_of_day, _NO_APOSTROPHE.sub(r"\1n't", text))


def _of_day(match: re.Match[str]) -> str:
    hour = int(match[1])
    if not 1 <= hour <= 12:  # noqa: PLR2004  hours of half a day
        return match[0]
    return f"{hour % 12 + (12 if match[3].lower() == 'p' else 0)}:{match[2] or '00'} "


def _spelled(words: Sequence[str]) -> Iterator[str]:
    """Each word in the spelling that stands for all of its kind."""
    made: list[str] = []
    for word in words:
        before = made[-1] if made else ""
        if word == _MARK:
            _possess(made, before)
        elif word in known.UNIT_OF and (number_of(before) is not None):
            made.append(known.UNIT_OF[word])
        elif before in known.CURRENCIES and number_of(word) is not None:
            made[-1:] = [_number(word), before]
        elif word in _ONES and before.endswith("0") and before in _TENS:
            made[-1] = str(int(before) + int(word))
        else:
            made.append(_one(word))
        if len(made) > 1 and (joined := known.PHRASES.get((made[-2], made[-1]))):
            made[-2:] = joined
    yield from made


_TENS: Final = frozenset(map(str, known.TENS.values()))


def _one(word: str) -> str:
    if word in known.TENS:
        return str(known.TENS[word])
    if word in known.TEENS:
        return str(known.TEENS[word])
    if is_number(word) and not is_date(word):
        return _number(word)
    word = known.ONE_SPELLING.get(word, word)
    return known.SAME_FORM.get(word, word)


def _number(word: str) -> str:
    return _TRAILING_ZEROS.sub("", word)


def _possess(made: list[str], before: str) -> None:
    if before in {"@me", "@we"}:
        made[-1] = "@my" if before == "@me" else "@our"
    else:
        made.append("'s")
