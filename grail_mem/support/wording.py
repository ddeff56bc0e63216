"""The wording of a text: its words in order without decoration, as two copies of one statement share them.

Markdown marks, the fences of a pack, punctuation and case go; everything that can change a meaning stays a word of its own:
numbers, units, signs, operators, negation, tick boxes, question marks, emoji. Accents stay, so Ann is not Änn. Knows nothing
of observations.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

import regex as re

_TRIFLES: Final = "a an the that just really actually basically simply please well so oh ok okay hey"
TRIFLES: Final = frozenset(_TRIFLES.split())
"""Words without which a statement is the same one; English. No word of time, number, degree, possibility or place is here."""
_NEGATIONS: Final = """
not no never none nobody nothing nowhere neither nor without
nicht kein keine keinen nie niemals ohne pas jamais aucun aucune sans nunca ningún ninguna sin
"""
NEGATIONS: Final = frozenset(_NEGATIONS.split())
"""Words that turn a statement around; English, German, French and Spanish."""
_PASSING: Final = """
today tonight yesterday tomorrow now currently recently soon ago last next this these morning afternoon evening weekend week
month temporarily temporary interim meanwhile yet already still heute gestern morgen jetzt aujourd'hui hier demain hoy ayer mañana
"""
PASSING: Final = frozenset(_PASSING.split())
"""Words whose meaning depends on when they were said; the same languages."""
_PERIODS: Final = frozenset(("week", "month", "morning", "afternoon", "evening", "weekend"))
_RATES: Final = frozenset(("a", "per", "each", "every"))

_FENCE: Final = re.compile(
    r"<\s*/?\s*(?:memories|observation|overview|turn)\b[^<>\n]*>"
    r"|&lt;\s*/?\s*(?:memories|observation|overview|turn)\b[^<>\n]*?(?:>|&gt;)",
    re.IGNORECASE,
)
"""A tag of a pack, as `recall.statement` writes it."""
_HIDDEN: Final = re.compile(r"[\p{Cf}\ufe0f]+", re.V1)
_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\(([^()\s]*)[^()\n]*\)")
_RULE: Final = re.compile(r"^[ \t]*(?:={2,}|-{2,}|\*{3,}|`{3,}|:?-+:?(?:[ \t]*\|[ \t]*:?-+:?)+)[ \t]*$", re.MULTILINE)
_LINE_START: Final = re.compile(r"^[ \t]*(?:>[ \t]?)*(?:[-*+][ \t]+|#{1,6}[ \t]+)?", re.MULTILINE)
_OPEN_BOX: Final = re.compile(r"(?<![\w\])])\[ \]")
_DONE_BOX: Final = re.compile(r"(?<![\w\])])\[[xX]\](?!\()")

# Each sign of a script without spaces is a word.
_UNSPACED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
_WORD: Final = re.compile(
    rf"""(?P<number>(?<![\p{{L}}\p{{N}}])[-−](?=\.?\p{{Nd}})|(?:(?<!\w)\.)?\p{{N}}+(?:[.,:/-]\p{{N}}+)*)
    |(?P<sign>[{_UNSPACED}]\p{{M}}*)
    |(?P<word>[\p{{L}}--[{_UNSPACED}]][[\p{{L}}\p{{M}}]--[{_UNSPACED}]]*(?:['’][[\p{{L}}\p{{M}}]--[{_UNSPACED}]]+)*(?:\+\+|\#(?!\w))?)
    |(?P<mark>~~|[<>=!≠≤≥±+~]=|[<>=≠≤≥±+~?％%&]|[\p{{Sc}}\p{{So}}\p{{Sk}}--[`´^¨¯]])""",
    re.V1 | re.VERBOSE,
)
_BEGINNING: Final = re.compile(r"(?:\A|[.!?:;\n|])[^\p{L}\p{N}]*\Z", re.V1)
_LOOK_BACK: Final = 6
"""Characters before a word in which the end of the sentence before it shows."""
_MAYBE: Final = 3
_KEPT: Final = 65_536
"""Words whose parts are kept: the same come again and again; some megabytes at most."""
_THOUSANDS: Final = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_MARKS: Final = {"%": "percent", "％": "percent", "&": "and", "−": "-"}
_SMALL: Final = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS: Final = {word: str(number) for number, word in enumerate(_SMALL.split())}
_SHORT: Final = {"s": "", "ll": "will", "re": "are", "ve": "have", "m": "am", "d": "'d"}
_NOT: Final = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}


class Wording(NamedTuple):
    """The words of a text.

    Attributes:
        words: In order, trifles included.
        names: For each, 2 when it is written as a name: with a capital within a sentence, or with several; 1 when it may be
            one, having a capital where a sentence begins; else 0.
    """

    words: tuple[str, ...]
    names: tuple[int, ...]


def wording(text: str) -> Wording:
    """Take a text and return its words.

    Example:
        >>> wording("- **Ann** doesn't owe us $1,200.").words
        ('ann', 'does', 'not', 'owe', 'us', '$', '1200')
    """
    words: list[str] = []
    names: list[int] = []
    text = plain(text)
    for match in _WORD.finditer(text):
        found, name = _of(match[0])
        words += found
        names += [name if name != _MAYBE else _at_beginning(match)] * len(found)
    return Wording(tuple(words), tuple(names))


def statement_wording(title: str, content: str) -> Wording:
    """The words of a title and a content; a title that the content says too, in its order, is not said twice."""
    body = wording(content)
    if content.startswith(title):
        return body
    head = wording(title)
    if is_within(essence(head.words), essence(body.words)):
        return body
    return Wording(head.words + body.words, head.names + body.names)


def plain(text: str) -> str:
    """A text without the marks of markdown and of a pack, which say nothing."""
    text = unicodedata.normalize("NFC", text) if not text.isascii() else text
    if "<" in text or "&lt;" in text:
        text = (
            _FENCE.sub(" ", text).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
        )
    if not text.isascii():
        text = _HIDDEN.sub("", text)
    text = _LINE_START.sub("", _RULE.sub("", text))
    if "[" in text:
        text = _DONE_BOX.sub(" ☑ ", _OPEN_BOX.sub(" ☐ ", _LINK.sub(r"\1 \2", text)))
    return text


def says_something(text: str) -> bool:
    """Whether there is a word in a text."""
    return _WORD.search(plain(text)) is not None


def is_fenced(text: str) -> bool:
    """Whether a text holds a tag of a pack: somebody stored what was recalled."""
    return ("<" in text or "&lt;" in text) and _FENCE.search(text) is not None


def is_passing(words: tuple[str, ...]) -> bool:
    """Whether what a text means depends on when it was said; `a month` and `every week` are rates, and do not.

    Example:
        >>> is_passing(("due", "this", "month")), is_passing(("1,450", "pounds", "a", "month"))
        (True, False)
    """
    before = ("", *words)
    return any(word in PASSING and not (word in _PERIODS and before[at] in _RATES) for at, word in enumerate(words))


def essence(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without trifles; words that are all trifles stay."""
    kept = tuple(word for word in words if word not in TRIFLES)
    return kept or words


def is_number(word: str) -> bool:
    """Whether a word is a number, date, time or version."""
    return word[:1].isnumeric() or (word[:1] == "." and word[1:2].isnumeric())


def is_within(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    """Whether all of the first stand in the second, in their order."""
    rest = iter(many)
    return all(word in rest for word in few)


@lru_cache(maxsize=_KEPT)
def _of(whole: str) -> tuple[tuple[str, ...], int]:
    """The words of what `_WORD` finds, and how much it looks like a name; `_MAYBE` when that depends on where it stands."""
    if whole[0].isalpha():
        is_small = whole[1:] == whole[1:].lower()
        name = 2 if not is_small else _MAYBE if whole[0].isupper() else 0
        return _word(whole.casefold()), name
    if is_number(whole):
        number = whole.replace(",", "") if _THOUSANDS.fullmatch(whole) else whole
        return (f"0{number}" if number[0] == "." else number,), 0
    return (_MARKS.get(whole, whole),), 0


def _at_beginning(match: re.Match[str]) -> int:
    start = match.start()
    return 1 if _BEGINNING.search(match.string, max(0, start - _LOOK_BACK), start) else 2


def _word(word: str) -> tuple[str, ...]:
    if "'" not in word and "’" not in word:
        return ("can", "not") if word == "cannot" else (_NUMBER_WORDS.get(word, word),)
    head, _, tail = word.replace("’", "'").rpartition("'")
    if tail == "t" and head.endswith("n"):
        return _NOT.get(head[:-1], head[:-1]), "not"
    if tail in _SHORT:
        return (head, _SHORT[tail]) if _SHORT[tail] else (head,)
    return (f"{head}'{tail}",)
