"""Reading a question: what it searches for, whom it asks about, what kind of answer it wants, which days it names.

The cues are English; a question in another language is searched by its words. Knows nothing of the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final, Literal, NamedTuple

from grail_mem.index.tokens import STOP_WORDS, terms
from grail_mem.model.names import entity_key
from grail_mem.recall.date_fit import date_match
from grail_mem.support.dates import WEEKDAYS, DateAsked, read_dates
from grail_mem.support.sentences import sentences

__all__ = ["DateAsked", "Kind", "Known", "Question", "date_match", "known_names", "read_question", "wordings"]

Kind = Literal["time", "number", "name", "other"]
"""What kind of answer a question wants."""

ROLES: Final = frozenset(("user", "assistant", "system", "tool"))
"""Speakers that are no names: the words of a question do not name them, its grammar does."""

_NO_NAMES: Final = STOP_WORDS | frozenset(WEEKDAYS)

_NICKNAME_LETTERS: Final = 3
_NICKNAME_CUT: Final = 4
"""Mel is Melanie; a beginning that leaves more out is more likely another word."""

# What asks without saying what about.
_FRAMES: Final = re.compile(
    r"""\b(?:
        how\ (?:long|many|much|old|often)(?:\ ago)?
            (?:\ (?:times?|days?|weeks?|months?|years?|hours?)(?=\ (?:did|has|have|had|do|does|was|were|ago|before|passed)))?
            (?:\ ago\b)?
        | what\ (?:kind|type|sort|kinds|types|sorts)\ of
        | what\ (?:is|are|was|were)\ the\ names?\ of
        | can\ you\ remind\ me
        | according\ to
        | in\ what\ (?:year|month)
        | what\ (?:year|month|date|day|time)
        | (?:days?|weeks?|months?)\ ago
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_TIME: Final = re.compile(
    r"\bwhen\b|\bwhat (?:year|month|date|day|time)\b|\bhow long ago\b|\bhow long (?:has|have|did|was|is)"
    r"|\bhow (?:many|much) (?:days|weeks|months|years|time)"
)
_ASKS_NUMBER: Final = re.compile(
    r"\bhow (?:many|much|old|often|long|far)\b|\bwhat (?:percentage|amount|number)|\btotal"
)
_ASKS_NAME: Final = re.compile(
    r"\b(?:who|whose|whom|where|which (?:city|country|state|place))\b"
    r"|\bwhat.{0,12}\b(?:name|names|called|country|city|book|movie|game|band|company)"
)
_KINDS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("time", _ASKS_TIME), ("number", _ASKS_NUMBER), ("name", _ASKS_NAME),
)  # fmt: skip

_USER: Final = re.compile(r"\b(?:i|(?P<possessive>my)|me)\b", re.IGNORECASE)
_ASSISTANT: Final = re.compile(
    r"\byou (?:mentioned|told|recommend|said|suggest|were|gave|provided|list)|\bremind me\b"
    r"|\b(?:previous|our) (?:chat|conversation)",
    re.IGNORECASE,
)
# A whole question; `Any tips?` lives on what stands before it.
_ASKS: Final = re.compile(
    r"\b(?:who|whom|whose|what|when|where|which|why|how)\b"
    r"|^\W*(?:(?:and|so|but|or|also|well|please|anyway)\b,?\s*)*"
    r"(?:do|does|did|is|are|am|was|were|can|could|should|would|will|have|has|had)\b",
    re.IGNORECASE,
)
_ASKING_MARK: Final = re.compile(r"[?？][\"'”’»)\]]*\Z")
_JOINED: Final = re.compile(r"\s*(?:and|or|&|,)\s*", re.IGNORECASE)
_WORD: Final = re.compile(r"(?P<word>\w+(?:[.@-]\w+)*)(?P<possessive>['’]s\b|(?<=s)['’](?!\w))?")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it was understood.

    Attributes:
        text: As it was asked.
        terms: What it is searched by, in order, with repetitions; without frames and speakers.
        search_text: What is embedded: the question without the names of speakers.
        kind: What kind of answer it wants.
        asked: Keys of the speakers it names, in order of naming.
        subject: The speaker it asks for; None when it names none, or several as equals.
        subject_is_sure: Exactly one speaker is named; otherwise grammar decided.
        names: Its capitalised words that are neither speakers nor in a date, but for its first word.
        dates: The days it names.
    """

    text: str
    terms: tuple[str, ...]
    search_text: str
    kind: Kind
    asked: tuple[str, ...]
    subject: str | None
    subject_is_sure: bool
    names: tuple[str, ...]
    dates: tuple[DateAsked, ...]

    @property
    def date_terms(self) -> frozenset[str]:
        """Terms of the dates that were read: the day of an observation meets them, not its text."""
        return frozenset(term for date in self.dates for term in terms(date.text))


class _Word(NamedTuple):
    """A word of the question, and where it stands."""

    text: str
    begin: int
    end: int
    is_possessive: bool


class _Naming(NamedTuple):
    """A place where a speaker is named."""

    speaker: str
    begin: int
    end: int
    is_possessive: bool
    is_name: bool


def read_question(
    text: str, *, speakers: Mapping[str, Sequence[str]] | Known, asked_at: datetime, zone: tzinfo
) -> Question:
    """Take a question and return what it asks for.

    Args:
        text: The question.
        speakers: Each speaker's key with the names under which one may be named: full name, aliases; or what `known_names`
            makes of that, for who asks often.
        asked_at: When it was asked, aware: `yesterday` is the day before.
        zone: The zone whose calendar counts.

    Example:
        >>> from datetime import UTC, datetime
        >>> asked_at = datetime(2023, 6, 1, tzinfo=UTC)
        >>> q = read_question("When did Mel paint it?", speakers={"melanie": ["Melanie"]}, asked_at=asked_at, zone=UTC)
        >>> q.terms, q.search_text, q.kind, q.subject
        (('paint',), 'When did paint it?', 'time', 'melanie')
    """
    words = [_Word(m["word"], m.start(), m.end(), m["possessive"] is not None) for m in _WORD.finditer(text)]
    known = speakers if isinstance(speakers, Known) else known_names(speakers)
    named = list(_names_of_speakers(words, known))
    rest = _without(text, named)
    namings = _first_of_each(sorted((*named, *_roles(text, known)), key=lambda naming: naming.begin))
    dates = read_dates(text, asked_at=asked_at, zone=zone)
    said_dates = [(text.find(date.text), date.text) for date in dates]
    return Question(
        text=text,
        terms=_terms(rest, text),
        search_text=rest if any(map(str.isalnum, rest)) else " ".join(text.split()),
        kind=_kind(text),
        asked=tuple(naming.speaker for naming in namings),
        subject=_subject(text, namings),
        subject_is_sure=len(namings) == 1,
        names=_names(
            words, [(n.begin, n.end) for n in named] + [(begin, begin + len(said)) for begin, said in said_dates]
        ),
        dates=dates,
    )


def wordings(texts: Sequence[str], most: int) -> tuple[str, ...]:
    """Take what was asked and return it, and after it, of each message of several sentences, those that ask.

    The others may be what a question lives on, or talk that leads away from it; which of both, only the store can tell. So
    the message is asked both ways. What asks stays together: a polite question alone would be met by anything.

    Args:
        texts: Questions, or messages that hold some; all are kept.
        most: How many are returned at most, if `texts` are not more.

    Example:
        >>> wordings(["It rains again. When did Mel paint the barn?"], 3)
        ('It rains again. When did Mel paint the barn?', 'When did Mel paint the barn?')
    """
    asking = [asked for text in texts if (asked := _asking(text))]
    return tuple(dict.fromkeys((*texts, *asking[: max(most - len(texts), 0)])))


def _asking(text: str) -> str:
    """The sentences of a text that ask for something by themselves; empty when there are no others, or they say nothing."""
    several = list(sentences(text))
    asking = [sentence for sentence in several if _ASKING_MARK.search(sentence) and _ASKS.search(sentence)]
    asked = " ".join(asking)
    return "" if len(asking) == len(several) or STOP_WORDS.issuperset(terms(asked)) else asked


def _terms(rest: str, text: str) -> tuple[str, ...]:
    """Terms of the barest wording that says anything: without frames, else with them, else with the names too."""
    for wording in (_FRAMES.sub(" ", rest), rest, text):
        found = tuple(terms(wording))
        if not STOP_WORDS.issuperset(found):
            return found
    return tuple(terms(text))


def _kind(text: str) -> Kind:
    lower = text.lower()
    return next((kind for kind, cue in _KINDS if cue.search(lower)), "other")


def _names_of_speakers(words: Sequence[_Word], known: Known) -> Iterator[_Naming]:
    """Where speakers are named, the longest name first where several would fit."""
    capitals = any(word.text[0].isupper() for word in words[1:])
    keys = [entity_key(word.text) for word in words]
    at = 0
    while at < len(words):
        length, speaker = next(
            (
                (n, known.full[name])
                for n in range(min(known.longest, len(words) - at), 0, -1)
                if (name := tuple(keys[at : at + n])) in known.full and (n > 1 or _may_name(words[at], at))
            ),
            (1, _short_name(words[at], at, keys[at], known, capitals=capitals)),
        )
        if speaker is not None:
            last = words[at + length - 1]
            yield _Naming(speaker, words[at].begin, last.end, last.is_possessive, is_name=True)
        at += length


class Known(NamedTuple):
    """Names of speakers, each with who bears it: the first one to bear it, where several do; and who plays a role."""

    full: Mapping[tuple[str, ...], str]
    first: Mapping[str, str]
    short: Mapping[str, str]
    longest: int
    roles: frozenset[str]


def known_names(speakers: Mapping[str, Sequence[str]]) -> Known:
    """Full names in words, first names, and the beginnings of first names that stand for them."""
    full: dict[tuple[str, ...], str] = {}
    first: dict[str, str] = {}
    short: dict[str, str] = {}
    for speaker, names in speakers.items():
        for key in dict.fromkeys(map(entity_key, (speaker, *names))):
            words = tuple(_words_of(key))
            if words and key not in ROLES:
                full.setdefault(words, speaker)
                first.setdefault(words[0], speaker)
    for name, speaker in first.items():
        for length in range(max(_NICKNAME_LETTERS, len(name) - _NICKNAME_CUT), len(name)):
            short.setdefault(name[:length], speaker)
    return Known(full, first, short, max(map(len, full), default=0), ROLES.intersection(speakers))


def _words_of(key: str) -> list[str]:
    return [match["word"] for match in _WORD.finditer(key)]


def _short_name(word: _Word, at: int, key: str, known: Known, *, capitals: bool) -> str | None:
    """Whom a word names alone: by the first name, or by its beginning, which is capitalised where anything is."""
    if key in known.first:
        return known.first[key] if _may_name(word, at) else None
    if key in STOP_WORDS or (capitals and not word.text[0].isupper()):
        return None
    return known.short.get(key)


def _may_name(word: _Word, at: int) -> bool:
    """Whether a word can be a name where it stands: Will is one unless it is written will, or begins the question."""
    return entity_key(word.text) not in STOP_WORDS or (at > 0 and word.text[0].isupper())


def _roles(text: str, known: Known) -> Iterator[_Naming]:
    """The user or the assistant, as the grammar says: what the assistant told me is asked of the assistant."""
    if "assistant" in known.roles and (match := _ASSISTANT.search(text)):
        yield _Naming("assistant", match.start(), match.end(), is_possessive=False, is_name=False)
    elif "user" in known.roles and (match := _USER.search(text)):
        yield _Naming("user", match.start(), match.end(), match["possessive"] is not None, is_name=False)


def _first_of_each(namings: Iterable[_Naming]) -> list[_Naming]:
    first: dict[str, _Naming] = {}
    for naming in namings:
        first.setdefault(naming.speaker, naming)
    return list(first.values())


def _subject(text: str, namings: Sequence[_Naming]) -> str | None:
    """The speaker asked for: the first one named, or the second where the first only owns something."""
    if len(namings) < 2:  # noqa: PLR2004  two to choose between
        return namings[0].speaker if namings else None
    one, other = namings[:2]
    if _JOINED.fullmatch(text, one.end, max(one.end, other.begin)):
        return None
    return other.speaker if one.is_possessive and not other.is_possessive else one.speaker


def _without(text: str, named: Iterable[_Naming]) -> str:
    """The question with names taken out and white space squeezed."""
    kept, at = [], 0
    for naming in named:
        kept.append(text[at : naming.begin])
        at = naming.end
    return " ".join(" ".join((*kept, text[at:])).split())


def _names(words: Sequence[_Word], others: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Capitalised words but the first, outside of what is known to be something else."""
    taken = {at for begin, end in others for at in range(begin, end)}
    return tuple(
        dict.fromkeys(
            word.text
            for word in words[1:]
            if word.text[0].isupper() and word.begin not in taken and word.text.lower() not in _NO_NAMES
        )
    )
