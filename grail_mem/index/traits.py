"""Traits of a passage that rankings use: whether it asks, who speaks, what kinds of answers stand in it, which names.

The cues are English; a text in another language has fewer of them or none. Knows nothing of questions or weights.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from grail_mem.index.tokens import STOP_WORDS

VERSION: Final = 1
"""Changes when a text would get other traits; an index of another version is made anew."""

MOST: Final = 3
"""Counts stop here: a passage with ten numbers answers "how many" no better than one with three."""

_FIRST_PERSON: Final = "i my me mine we our us"
_TIME: Final = """
yesterday today tonight tomorrow last next ago day days week weekend month year years morning
monday tuesday wednesday thursday friday saturday sunday spring summer fall winter recently since soon
january february march april june july august september october november december
"""
_NUMBERS: Final = """
one two three four five six seven eight nine ten eleven twelve dozen hundred thousand first second third
half once twice couple several few
"""
_GREETINGS: Final = "oh yeah yes hey hi hello wow ok okay really also let let's got get gonna thanks"
_FIRST_PERSON_WORDS, _TIME_WORDS, _NUMBER_WORDS = (frozenset(s.split()) for s in (_FIRST_PERSON, _TIME, _NUMBERS))
_CUES: Final = _FIRST_PERSON_WORDS | _TIME_WORDS | _NUMBER_WORDS
_WORD: Final = re.compile(r"\w+")
_SPACED: Final = bytes(ord(char) if char.isalnum() or char == "_" else ord(" ") for char in map(chr, range(256)))
"""What is no part of an ASCII word becomes a space."""
# The first character comes before the conditions on what precedes it: so the search can skip to the next digit or capital.
_NUMBER: Final = re.compile(r"[0-9](?<!\w.)(?:[0-9,.:]*[0-9])?(?!\w)")
_CAPITALISED: Final = re.compile(r"[A-Z](?<!\w.)(?<!\A.)(?<!\n.)(?<![.!?\n][^\S\n].)[a-z]+")

# Words of a phrase stand in one sentence; small words join it when another capital or a number follows.
_JOIN: Final = r"(?<![.!?;:])[^\S\n]++(?:(?:of|the|and|for|in|de|la|du|von|van)[^\S\n]++)?"
_PHRASE: Final = re.compile(rf"[A-Z](?<!\w.)[\w'’&.-]*(?:{_JOIN}[A-Z0-9][\w'’&.-]*)*")
_OPENING: Final = re.compile(r"(?:\A|\n|[.!?;:]\s)[\s\"'“‘(\[*_>#-]*\Z")
_OPENING_CHARS: Final = 8
_PUNCTUATION: Final = ".,'’&-"
_SHORT_FORM: Final = re.compile(r"(?:n['’]t|['’]\w+)\Z")
_SMALLEST_NAME: Final = 3
_KEPT: Final = 65_536
_NO_NAMES: Final = STOP_WORDS.union(_GREETINGS.split())


class Traits(NamedTuple):
    """What a passage looks like, whatever it is about.

    Attributes:
        ends_in_question: Its last character is a question mark.
        asks: A question mark stands somewhere in it.
        first_person: Words such as I, my and we, from 0 to `MOST`.
        times: Words that say when, and years, from 0 to `MOST`.
        numbers: Numbers in digits or words, from 0 to `MOST`.
        capitals: Capitalised words within sentences, from 0 to `MOST`.
    """

    ends_in_question: bool
    asks: bool
    first_person: int
    times: int
    numbers: int
    capitals: int


def traits(text: str) -> Traits:
    """Take a passage's text and return its traits.

    Example:
        >>> traits("I saw Ann in Paris two days ago, in 2023. Did you?")
        Traits(ends_in_question=True, asks=True, first_person=1, times=3, numbers=2, capitals=2)
    """
    cues = list(filter(_CUES.__contains__, _words(text.lower())))
    numbers = _NUMBER.findall(text)
    years = sum(len(number) == 4 and number.isdigit() for number in numbers)  # noqa: PLR2004  digits of a year
    return Traits(
        ends_in_question=text.rstrip().endswith(("?", "？")),
        asks="?" in text or "？" in text,
        first_person=min(sum(map(_FIRST_PERSON_WORDS.__contains__, cues)), MOST),
        times=min(sum(map(_TIME_WORDS.__contains__, cues)) + years, MOST),
        numbers=min(sum(map(_NUMBER_WORDS.__contains__, cues)) + len(numbers), MOST),
        capitals=min(len(_CAPITALISED.findall(text)), MOST),
    )


def _words(text: str) -> list[str]:
    if text.isascii():  # five times as fast
        return text.encode().translate(_SPACED).decode().split()
    return _WORD.findall(text)


def capitalised(text: str, *, at_start: bool) -> list[str]:
    """Take a text and return its capitalised phrases as written, each once, in order.

    Function words and greetings that begin a phrase are dropped, and so is a possessive that ends it. One word alone is
    a phrase when it has three letters or more.

    Args:
        text: Any text.
        at_start: Whether the first word of a sentence counts: yes for prose about things; no for speech, where it is
            capitalised whatever it is.

    Example:
        >>> capitalised("The Battle of Hastings was fought near Ann's New York.", at_start=True)
        ['Battle of Hastings', "Ann's New York"]
        >>> capitalised("Coffee with Ann? New York, again.", at_start=False)
        ['Ann', 'York']
    """
    found: dict[str, None] = {}
    for match in _PHRASE.finditer(text):
        words = match[0].split()
        if not at_start and _opens(text, match.start()):
            del words[0]
        if name := _name(words):
            found[name] = None
    return list(found)


def _opens(text: str, begin: int) -> bool:
    """Whether a sentence begins there."""
    if begin > 1 and text[begin - 1] == " " and text[begin - 2].isalnum():
        return False  # as most words do
    return _OPENING.search(text, max(begin - _OPENING_CHARS, 0), begin) is not None


def _name(words: list[str]) -> str:
    """The phrase without what does not belong to a name; nothing when nothing is left."""
    start = 0
    while start < len(words) and _is_idle(words[start]):
        start += 1
    name = " ".join(words[start:]).rstrip(_PUNCTUATION)
    if name.endswith(("'s", "’s")):
        name = name[:-2].rstrip(_PUNCTUATION)
    return name if len(name) >= _SMALLEST_NAME and not _is_idle(name) else ""


@lru_cache(maxsize=_KEPT)
def _is_idle(word: str) -> bool:
    """Whether a word names nothing: a function word, also in a short form such as I'm, or a greeting."""
    lower = word.lower()
    return lower in _NO_NAMES or _SHORT_FORM.sub("", lower.rstrip(_PUNCTUATION)) in _NO_NAMES
