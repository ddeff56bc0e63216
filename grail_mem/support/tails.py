"""What may stand before and behind a statement without making it say less: more for what happened, little for what is so.

`I bought a boat in Genoa` says that a boat was bought. `I use Postgres in staging` does not say that Postgres is used: what
holds is bound to a place, a time, a purpose or a part. Closed lists, written by hand; what is not on them makes a
statement say less. Knows nothing of how the statement was found.
"""

from __future__ import annotations

import re
from typing import Final

from grail_mem.support import words as known
from grail_mem.support.dated import is_date
from grail_mem.support.difference import DATE_WORDS
from grail_mem.support.reading import Sentence, number_of
from grail_mem.support.words import words_of

_PAST: Final = words_of("""
was had did went came got gave took made said told saw knew thought found left felt kept began became brought bought built broke
caught chose drove ate fell flew forgot grew heard held hid lost led lent lay met paid ran rode rose sold sent shot sang sank sat
slept spoke spent stood stole swam taught threw understood woke wore won wrote drew drank fought hung shook shone slid stuck struck
swore swept tore
""")
"""Past forms that are no form of the present; with `-ed`."""
_PRESENT: Final = words_of("is do can could will would shall should may might must 'd 'll")
_NOT_PAST: Final = words_of(
    "need needs feed speed seed weed red bed shed exceed proceed succeed embed indeed hundred breed used"
)
_LEAST_ED: Final = 4
_SCHEDULED: Final = words_of("ends starts begins expires launches arrives departs happens")
"""At the end of a claim, what is said of something that happens once, on a day."""

FREQUENCY: Final = words_of("""
sometimes often usually generally mostly mainly occasionally rarely seldom normally typically once twice frequently regularly
officially technically theoretically nominally formally legally practically virtually temporarily briefly initially
monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday saturdays sunday sundays
weekdays weekends christmas easter ramadan hanukkah thanksgiving lent holidays holiday right
""")
"""Words that may begin a sentence with a capital and bind it, so that they are nobody's name."""
_TIMES: Final = words_of("""
second seconds minute minutes hour hours day days night nights week weeks weekend weekends month months year years decade decades while
moment moments bit time times summer winter spring autumn fall season term semester quarter morning mornings evening evenings now
min h s
""")
_REASONS: Final = words_of("because although though which who")
"""Behind what is so: a reason or more of it, which takes nothing from it."""
_STAYS: Final = words_of("live lives work works study studies")
_WHERE: Final = words_of("in at near with as since")
"""Behind what somebody lives or works in: more of the place."""
_HOLDS: Final = words_of("have has own owns")
_WORKPLACES: Final = words_of("""
school university college hospital clinic company firm bank startup agency library museum studio shop bakery restaurant factory lab
institute charity practice
""")
_EVENT: Final = words_of("""
in on at with by from for to into during after before since near between via using because and but so while which who last this as
next than under over through instead every each
""")
_NARROWS_EVENT: Final = words_of("than under over through every each while next")
_IDIOMS: Final = words_of("heart soul loan way ways sense senses case cases manner name effect general principle all")
"""Behind `in a`, `with my` and the like, what is no place."""
_NOT_OWN: Final = words_of("""
family families relatives ancestry blood genes dna veins bones head mind eye eyes pipeline works cards air past
""")
"""Behind `have … in the`, what is not where one has something: diabetes in the family, tunes in my head."""
_DETERMINED: Final = words_of("a the @my @our his her their its this that @me him them it you what") - {"this", "that"}
_UNREAL: Final = known.UNREAL | words_of("""
joke example punchline test tests mistake accident error map dry run draft demo rehearsal sandbox mock form photo picture painting
drawing part parts character spirit name fight vision fantasy wish thought thoughts theory rumour
""")
_BINDING: Final = known.PREPOSITIONS - known.JOINS | known.ADVERBS | FREQUENCY
_PARTICLES: Final = words_of("up out off down over on in away back through along")
"""At the end of a claim, what makes with the preposition behind it another verb: `came up with`."""
_YEAR: Final = re.compile("(?:19|20)[0-9]{2}")
_BARE: Final = frozenset(
    (way, thing)
    for way, things in (
        ("by", "card car train bus plane bike boat taxi phone email mail post hand ship cheque"),
        ("for", "work love school college university family fun money"), ("at", "home work school university"), ("on", "foot time"),
    )
    for thing in things.split()
)  # fmt: skip
"""Phrases without an article in which the noun means what it says."""
_ONCE_MORE: Final = words_of("quit stop stops stopped start starts begin begins give gives gave leave leaves end ends")
_UNDONE: Final = words_of("failed bounced rejected declined refused crashed relapsed")
_LISTED: Final = 4
"""Words of a phrase in which it shows whether it is of the world."""
_PRONOUNS: Final = words_of("he she it they you @me @we @my @our there his her their")
_PREDICATES: Final = words_of("""
work works live lives have is like likes love loves hate hates need needs want wants use uses prefer prefers study studies teach teaches
play plays speak speaks own owns run runs write writes
""")
_AFTER_COMMA: Final = (
    _PRONOUNS
    | known.JOINS
    | known.ARTICLES
    | words_of("please thanks thank always near where with in on at from for not by after before")
)
_COURTESIES: Final = words_of("please thanks thank not where")
_HARMLESS: Final = words_of("""
slowly quickly finally luckily fortunately unfortunately sadly happily obviously clearly honestly actually really definitely absolutely
certainly simply proudly voluntarily together too already still always now currently
""")
_OF_STATES: Final = words_of("""
usually generally today yesterday tonight lately recently last this every week month year morning evening night day in on at during
""")
"""Openings that bind what is so to a time or place."""
_OF_EVENTS: Final = words_of("usually generally every")


def happened(claim: Sentence) -> bool:
    """Whether a statement says what happens once, not what is so: a verb in the past, and none in the present; or a day.

    `quit`, `read` and the like are one form for both, and are taken for what is so: there less may stand around it.
    """
    words = claim.words
    if words[-1] in _SCHEDULED or (words[-3:-2] == ("is",) and words[-2] in {"on", "at", "in"} and _is_day(words[-1])):
        return True
    if not _PRESENT.isdisjoint(words):
        return False
    return any(_is_past(words, at) for at in range(len(words)))


def _is_day(word: str) -> bool:
    return is_date(word) or word in DATE_WORDS or word[:1].isdigit()


def _is_past(words: tuple[str, ...], at: int) -> bool:
    word = words[at]
    if word in _PAST:
        return True
    is_verb = word.endswith("ed") and len(word) >= _LEAST_ED and word not in _NOT_PAST
    return is_verb and at > 0 and words[at - 1] not in known.DETERMINERS


def may_open(word: str, *, is_event: bool) -> bool:
    """Whether a word may stand before a statement in its own clause."""
    if is_event and _YEAR.fullmatch(word):
        return True
    if word in (_OF_EVENTS if is_event else _OF_STATES):
        return False
    return word in known.FILLERS | known.OPENINGS | known.ARTICLES or is_date(word)


def narrows(claim: Sentence, said: Sentence, end: int) -> str:
    """The word behind a statement by which the sentence says less than it; empty when there is none.

    Args:
        claim: The statement.
        said: The sentence that has its words.
        end: The place behind them.
    """
    behind = said.words[end:]
    if not behind or behind == ("always", "have"):
        return ""
    undone = known.REVERSALS | known.FAKES | (_UNDONE if {"but", "then", "that"} & {*behind} else frozenset())
    if turned := next((word for word in behind if word in undone and word not in claim.words), ""):
        return turned
    if end in said.breaks and claim.words[-1] in behind:  # the thing is named again, more narrowly
        return claim.words[-1]
    if end in said.breaks and not _may_follow_comma(said, end):
        return behind[0]
    if behind[0] in _HARMLESS:
        return narrows(claim, said, end + 1)
    if behind[0] in known.JOINS:
        return _joined(said, end, is_event=happened(claim))
    return "" if _is_aside(said, end) else _tail(claim, said, end)


def _may_follow_comma(said: Sentence, at: int) -> bool:
    word = said.words[at]
    return word in _AFTER_COMMA | _HARMLESS or said.names[at] > 1 or is_date(word)


def _is_aside(said: Sentence, end: int) -> bool:
    """Whether a clause of its own follows, a courtesy, or how the thing is named."""
    following, after = said.words[end], said.words[end + 1 : end + 2]
    if end in said.breaks and (following in _PRONOUNS | known.ARTICLES or said.names[end] > 1):
        if not {"kind", "sort"}.isdisjoint(said.words[end : end + _LISTED]):
            return False
        return not (following in {"that", "this"} and after == ("was",))
    if following in {"named", "called"}:
        return said.names[end + 1 : end + 2] not in {(), (0,)}
    return following in _COURTESIES


def _tail(claim: Sentence, said: Sentence, end: int) -> str:
    following = said.words[end]
    if claim.words[-1] in _PARTICLES and following in known.PREPOSITIONS:
        return following
    return _event_tail(said, end) if happened(claim) else _state_tail(claim, said, end)


def _joined(said: Sentence, end: int, *, is_event: bool) -> str:
    """What narrows a statement behind `and`, `but`, `because` and the like."""
    following = said.words[end]
    rest = tuple(word for word in said.words[end + 1 :] if word not in known.FILLERS)
    if following in _REASONS | {"so"}:
        return ""
    if rest[:1] == ("not",) and not (known.PREPOSITIONS | known.ADVERBS | FREQUENCY).isdisjoint(rest[1:2]):
        return rest[1]
    if following in {"while", "whereas"}:
        return "" if is_event or (rest and rest[0] in _PRONOUNS) else following
    if not rest or rest[0] in _PRONOUNS | _PREDICATES or (following == "but" and rest[0] == "not"):
        return ""
    if is_event:
        return next((word for word in rest if word in _UNREAL), "")
    return next((word for word in rest if word in _BINDING or (word.endswith("ly") and word not in _HARMLESS)), "")


def _event_tail(said: Sentence, end: int) -> str:
    """What narrows something that happened: a part, a length, a time over and over, or what is not in the world."""
    words = said.words
    following, phrase = words[end], words[end + 1 : end + 1 + _LISTED]
    if following in known.ADVERBS - {"again", "daily", "weekly", "monthly", "yearly"} or is_date(following):
        return ""
    if following in {"last", "this"}:
        return "" if phrase and (phrase[0] in _TIMES or is_date(phrase[0]) or said.names[end + 1]) else following
    if following not in _EVENT or following in _NARROWS_EVENT or not phrase:
        return following
    if not _UNREAL.isdisjoint(phrase) or (following == "by" and number_of(phrase[0]) is not None):
        return following
    if (following, phrase[0]) in _BARE:
        return ""
    if following == "for" and not (_TIMES | FREQUENCY).isdisjoint(phrase):
        return following
    return "" if _is_definite(said, end + 1) else following


def _is_definite(said: Sentence, at: int) -> bool:
    """Whether what stands there is a name, a date, a number or a thing with an article; a bare noun may be part of an idiom."""
    word = said.words[at]
    return (
        word in _DETERMINED or said.names[at] > 0 or is_date(word) or number_of(word) is not None or word[:1].isdigit()
    )


def _state_tail(claim: Sentence, said: Sentence, end: int) -> str:
    """What narrows something that is so; hardly anything behind it does not."""
    words = said.words
    following, rest = words[end], words[end + 1 :]
    if following in {"now", "already", "too", "anymore", "yes"} and not rest:
        return ""
    if following == "daily" and _ONCE_MORE.isdisjoint(claim.words):
        return "" if not rest else rest[0]
    if not rest:
        return following
    if following == "since" and (is_date(rest[0]) or number_of(rest[0]) is not None or rest[0] in _PRONOUNS):
        return ""
    if following == "over" and not {"prefer", "prefers"}.isdisjoint(claim.words):
        return ""
    if following == "instead":
        return "" if rest[0] == "of" and len(rest) > 1 and said.names[end + 2] else following
    return "" if _is_place(claim, said, end) else following


def _is_place(claim: Sentence, said: Sentence, end: int) -> bool:
    """Whether more of the place follows, where somebody lives, works or keeps what they have."""
    following, rest = said.words[end], said.words[end + 1 :]
    near = rest[:_LISTED]
    if not (_UNREAL | _TIMES | _IDIOMS).isdisjoint(near) or not FREQUENCY.isdisjoint(near):
        return False
    if any(map(is_date, near)):
        return False
    if not _STAYS.isdisjoint(claim.words):
        return following in _WHERE and _is_definite(said, end + 1)
    if not _HOLDS.isdisjoint(claim.words):
        is_place = rest[0] in {"the", "@my", "@our"} or rest == ("home",) or said.names[end + 1] > 0
        return following in {"in", "at", "near"} and is_place and _NOT_OWN.isdisjoint(near)
    return following in {"at", "in", "for"} and rest[0] in {"a", "the", "@my"} and not _WORKPLACES.isdisjoint(rest[1:3])
