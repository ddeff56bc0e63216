"""Whether a sentence says a claim: the claim's words in their order, and nothing in or around them that takes it back.

The sentence may say more, but only where more is known to be harmless. Everything else fits not. Knows nothing of what a
misfit means.

Source: the licensed edits of natural logic (MacCartney and Manning, "Natural logic for textual inference", 2007), with the
few that need no parser.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from grail_mem.support import words as known
from grail_mem.support.dated import is_date, is_within
from grail_mem.support.reading import Sentence, is_one_number, number_of
from grail_mem.support.tails import FREQUENCY, happened, may_open, narrows
from grail_mem.support.wording import is_number

MORE_AROUND: Final = 0.97
"""What is left of the score when the sentence says more before or behind the claim. Chosen, as all of these."""
NARROWER: Final = 0.95
"""When it names the day and the claim the month."""
ADJECTIVE_LESS: Final = 0.92
"""For each adjective that the claim leaves away."""
MOVED: Final = 0.9
"""When a part of the claim stands elsewhere in the sentence."""

_MOST_ADJECTIVES: Final = 3
_MOST_TURNS: Final = 4
_BEFORE_DATE: Final = frozenset(("on", "in", "at"))
_OPENS: Final = frozenset(["on", "in", "at", "during", "since", "after", "before", "for", "with", "by"])
_ANYWHERE: Final = frozenset(("in", "on"))
_NAMES_WORDS: Final = known.words_of("""
answer sentence phrase line motto slogan text message reply quote lyrics example title character status test caption
""")
"""Before a colon, what says that words are named behind it."""
_LIST: Final = 4
"""Words before `and` that may be a list of names."""


class Fit(NamedTuple):
    """Where a sentence says a claim.

    Attributes:
        begin: The first word.
        end: The word behind the last.
        score: 1 for word by word, less for each licence that was needed.
    """

    begin: int
    end: int
    score: float


class Blocked(NamedTuple):
    """The words are there, and something around them takes the claim back.

    Attributes:
        word: What does.
    """

    word: str


def fit(claim: Sentence, said: Sentence, *, is_mapped: bool) -> Fit | Blocked | None:
    """Take a claim and a sentence and return how the sentence says it, what hinders it, or None.

    Args:
        claim: One sentence.
        said: A sentence of the quote.
        is_mapped: The claim spoke of the speaker by name or role, which became a mark.
    """
    hindered: Blocked | None = None
    for turned, cost in _turns(claim, said):
        for found in _matches(turned, said, is_mapped=is_mapped):
            word = _taken_back(found, turned, said)
            if not word:
                around = MORE_AROUND if found.end - found.begin < len(said.words) else 1.0
                return found._replace(score=found.score * cost * around)
            hindered = hindered or Blocked(word)
    return hindered


def _turns(claim: Sentence, said: Sentence) -> Iterator[tuple[Sentence, float]]:
    """The claim, and the claim with its phrase of time or place in front, or with both sides of its `is` exchanged."""
    yield claim, 1.0
    words, names = claim.words, claim.names
    places = [at for at, word in enumerate(words) if at and word in _OPENS][-_MOST_TURNS:]
    if said.words[:1] and said.words[0] in _OPENS:
        yield from ((claim.with_words(words[at:] + words[:at], names[at:] + names[:at]), MOVED) for at in places)
    if words[:1] and words[0] in _OPENS:
        for at in range(2, min(6, len(words) - 1)):
            yield claim.with_words(words[at:] + words[:at], names[at:] + names[:at]), MOVED
    if words.count("is") == 1 and _is_identity(words, at := words.index("is")):
        yield claim.with_words((*words[at + 1 :], "is", *words[:at]), (*names[at + 1 :], 0, *names[:at])), MOVED


def _is_identity(words: tuple[str, ...], at: int) -> bool:
    """Whether `is` joins one definite thing and its value, which may change places."""
    left, right = words[:at], words[at + 1 :]
    if not left or not right:
        return False
    of, value = (left, right) if left[0] in {"@my", "@our", "the"} else (right, left)
    return (
        of[0] in {"@my", "@our", "the"}
        and len(value) <= 3  # noqa: PLR2004  words of a value
        and known.FUNCTION_WORDS.isdisjoint(value)
        and known.DIRECTED.isdisjoint(words)
        and known.FUNCTION_WORDS.isdisjoint(of[1:])
    )


def _matches(claim: Sentence, said: Sentence, *, is_mapped: bool) -> Iterator[Fit]:
    for begin in _starts(claim, said):
        found = _Match(claim, said, begin, is_mapped=is_mapped).run()
        if found is not None:
            yield found


def _starts(claim: Sentence, said: Sentence) -> Iterator[int]:
    """Places of the sentence where the claim's first word may stand, with the article before it."""
    first = next((word for word in claim.words if word not in known.ARTICLES), "")
    may_differ = is_number(first) or first in _BEFORE_DATE or first == "is"
    for at, word in enumerate(said.words):
        if word == first or (may_differ and (is_number(word) or word == "'s")):
            yield at - (at > 0 and said.words[at - 1] in known.ARTICLES)


class _Match:
    """One walk over both texts, from one place of the sentence."""

    def __init__(self, claim: Sentence, said: Sentence, begin: int, *, is_mapped: bool) -> None:
        self.claim, self.said, self.begin, self.at = claim, said, begin, begin
        self.is_mapped = is_mapped
        self.score = 1.0
        self.n_matched = 0

    def run(self) -> Fit | None:
        words = self.claim.words
        for place, word in enumerate(words):
            if word == "the" and self.here == "a":  # any one is not the one
                return None
            if word in known.ARTICLES:
                self.at += self.n_matched > 0 and self.here in known.ARTICLES
                continue
            if word in _BEFORE_DATE and is_date(words[place + 1] if place + 1 < len(words) else ""):
                self.at += self.here in _BEFORE_DATE
                continue
            if not self._reach(place):
                return None
            self.at += 1
            self.n_matched += 1
        return Fit(self.begin, self.at, self.score) if self.n_matched > 1 else None

    @property
    def here(self) -> str:
        return self.said.words[self.at] if self.at < len(self.said.words) else ""

    def _reach(self, place: int) -> bool:
        """Go to the next word of the sentence that is the claim's, over what may be left away."""
        n_adjectives = 0
        while self.here:
            if self._same(place):
                return True
            if self.n_matched == 0 and self.here not in known.ARTICLES:
                return False
            if not self._is_idle():
                n_adjectives += 1
                if n_adjectives > _MOST_ADJECTIVES or not self._is_adjective(n_adjectives):
                    return False
                self.score *= ADJECTIVE_LESS
            self.at += 1
        return False

    def _is_idle(self) -> bool:
        here = self.here
        following = self.said.words[self.at + 1] if self.at + 1 < len(self.said.words) else ""
        if here in _BEFORE_DATE and is_date(following):
            return True
        return here in known.FILLERS or here in known.ARTICLES

    def _is_adjective(self, n: int) -> bool:
        """Whether the word stands between `a` and a noun and may be left away."""
        return (
            self.at >= n
            and self.said.words[self.at - n] == "a"
            and self.here in known.INTERSECTIVE
            and known.NARROWING.isdisjoint(self.claim.words)
        )

    def _same(self, place: int) -> bool:
        word, here = self.claim.words[place], self.here
        if word == here:
            return not (self.is_mapped and word in known.THIRD_POSSESSIVE and self._is_of_speaker(place))
        if is_date(word) and is_date(here):
            self.score *= NARROWER
            return is_within(here, word)
        if number_of(word) is not None:
            return is_one_number(word, here, "".join(self.claim.words[place + 1 : place + 2]))
        if {word, here} == {"is", "'s"}:
            return True
        return self.is_mapped and (self._is_speaker(place) or self._is_inflected(place))

    def _is_speaker(self, place: int) -> bool:
        """Whether the claim's pronoun can only be the speaker: nobody else stands before it."""
        word, here = self.claim.words[place], self.here
        return (word in known.SPEAKER_AS.get(here, ())) and self._is_of_speaker(place)

    def _is_of_speaker(self, place: int) -> bool:
        before = self.claim.words[:place]
        return "@me" in before and "@my" not in before and not any(self.claim.names[1:place])

    def _is_inflected(self, place: int) -> bool:
        """Whether the claim's verb has the `s` of the third person where the speaker says `I`."""
        word, here = self.claim.words[place], self.here
        before = self.said.words[self.at - 1] if self.at else ""
        return (
            third_person(here) == word
            and "@me" in self.said.words[self.begin : self.at]
            and before not in known.DETERMINERS
            and number_of(before) is None
            and self.claim.words[place - 1] not in known.DETERMINERS
        )


def third_person(verb: str) -> str:
    """A verb with the `s` of the third person.

    Example:
        >>> third_person("study"), third_person("watch"), third_person("play")
        ('studies', 'watches', 'plays')
    """
    if verb.endswith("y") and verb[-2:-1] not in set("aeiou"):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"


def _taken_back(found: Fit, claim: Sentence, said: Sentence) -> str:
    """The word before or behind the claim that makes of it something else; empty when there is none."""
    words, begin, end = said.words, found.begin, found.end
    if said.is_open and (begin, end) != (0, len(words)):
        return '"'
    if said.is_ironic and not claim.is_open:
        return '"'
    return (
        _before(said, begin, is_event=happened(claim))
        or _around(words[:begin], words[end:], claim)
        or _behind(said, end, claim)
        or narrows(claim, said, end)
    )


def _before(said: Sentence, begin: int, *, is_event: bool) -> str:
    """What stands before the claim and may make it somebody's words, or a part of something larger."""
    words = said.words
    starts = [0, *(at for at in said.breaks if at <= begin)]
    joined = max((at for at in range(starts[-1], begin) if words[at] in known.JOINS), default=-1)
    own = words[max(starts[-1], joined + 1) : begin]
    if unknown := next((word for word in own if not may_open(word, is_event=is_event)), ""):
        return unknown
    if joined >= starts[-1]:
        return _no_clause(words[starts[-1] : joined])
    if len(starts) == 1:
        return ""
    return _no_statement(said, starts[-2], starts[-1], is_event=is_event)


def _no_clause(words: tuple[str, ...]) -> str:
    """The word by which what stands before `and` is neither a clause nor a short list."""
    if not words or not known.AUXILIARIES.isdisjoint(words):
        return ""
    return next((word for word in words if word in known.INSIDE), "and" if len(words) > _LIST else "")


def _no_statement(said: Sentence, begin: int, end: int, *, is_event: bool) -> str:
    """The last word of the clause before a comma or colon, when it is no statement of its own, opening or address."""
    words = said.words[begin:end]
    is_label = end in said.labelled
    if words[0] in known.DRAFTS:
        return words[0]
    if unreal := next((word for word in words if is_label and word in _NAMES_WORDS), ""):
        return unreal
    if is_label and words[0] in {"@my", "@our"} and known.AUXILIARIES.isdisjoint(words[1:]):
        return words[-1]
    if words[0] in known.FIRST or ("is" in words[:-1]) or said.words[end : end + 1][0] in known.JOINS:
        return ""
    if all(
        may_open(word, is_event=is_event) or (not is_label and _may_be_called(word, said.names[begin + at]))
        for at, word in enumerate(words)
    ):
        return ""
    return words[-1]


def _may_be_called(word: str, name: int) -> bool:
    """Whether a word may be the name of who is spoken to, not an adverb with the capital of a beginning."""
    is_adverb = word.endswith("ly") or word in FREQUENCY | known.FUNCTION_WORDS | known.ADVERBS
    return name > 1 or (name == 1 and not is_adverb)


def _around(before: tuple[str, ...], behind: tuple[str, ...], claim: Sentence) -> str:
    """What says elsewhere in the sentence that it is not so, or not in the world."""
    for words in (before, behind):
        for at, word in enumerate(words):
            if word in known.OPERATORS or (word in _ANYWHERE and not known.UNREAL.isdisjoint(words[at + 1 : at + 4])):
                return word
            if word == "at" and not known.BOUNDS.isdisjoint(words[at + 1 : at + 3]):
                return word
            if word == "but" and at and words[at - 1] in known.UNIVERSAL:
                return word
    if behind and (behind[-1] in known.NEGATING or not known.ENDED.isdisjoint(behind)):
        return behind[-1]
    if any(
        word == "not" and behind[at + 1 : at + 2] and behind[at + 1] in known.NOT_AFTER_ALL
        for at, word in enumerate(behind)
    ):
        return "not"
    pairs = (frozenset((ours, theirs)) for ours in claim.words for theirs in behind)
    return next((" ".join(sorted(pair)) for pair in pairs if pair in known.OPPOSITES), "")


def _behind(said: Sentence, end: int, claim: Sentence) -> str:
    """What stands right behind and belongs to the claim's last word, or says less."""
    words = said.words
    if end == len(words):
        return ""
    following = words[end]
    if end in said.breaks:
        is_idle = may_open(following, is_event=True) or following in known.ADVERBS or following.endswith("ly")
        is_more = len(words) == end + 1 and not is_idle
        return following if is_more or following in known.RESTRICTIONS - known.NEGATING else _or(words[end:])
    if following == "too" and end + 1 < len(words) and end + 1 not in said.breaks:  # too little of it
        return following
    if (
        following in known.ADVERBS
        or is_date(following)
        or (following in {"named", "called"} and said.names[end + 1 : end + 2] == (2,))
    ):
        return _or(words[end:])
    if following not in known.PREPOSITIONS or end + 1 == len(words) or end + 1 in said.breaks:
        return following
    if not known.NARROWING.isdisjoint(claim.words):
        return following
    if following in {"to", "as"} and not (words[end + 1] in known.DETERMINERS or said.names[end + 1]):
        return following
    if (words[end - 1] in known.UNITS or is_number(words[end - 1])) and following in {"to", "and", "per"}:
        return following
    if (
        words[end - 1] in known.UNIT_OF and following == "and" and "half" in words[end + 1 : end + 3]
    ):  # an hour and a half
        return following
    return next((word for word in words[end : end + 3] if word in known.RESTRICTIONS), "") or _or(words[end:])


def _or(words: tuple[str, ...]) -> str:
    return "or" if "or" in words else ""
