"""The forms of a statement: what somebody says of themselves, each with how it is told. The first that fits counts.

Knows nothing of sentences, and of what makes a statement worth nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from grail_mem.extract import telling
from grail_mem.extract.lexicon import (
    ADVERBS,
    DATE,
    ENGAGEMENTS,
    EVENTS,
    FREQUENCY,
    IS,
    LASTING,
    MENTAL,
    ONGOING,
    PAST,
    PEOPLE,
    PLANS,
    ROUTINES,
    SOME_DAY,
    STATES,
    TASTES,
    THINGS,
    THOUGHTS,
    TURNS_OF,
    WEIGHTY,
    WHEN,
)  # fmt: skip

About = Callable[[re.Match[str], str], str]


class Rule(NamedTuple):
    """One form of a statement.

    Attributes:
        name: `preference`, `decision`, `commitment`, `fact` or `correction`.
        kind: The kind of observation that it is.
        claim: How it is told, as `telling.claim` takes it.
        pattern: The words, without the mark at the end.
        about: Names the fact that it states; None for what happened once, or of which there may be several.
    """

    name: str
    kind: str
    claim: str
    pattern: re.Pattern[str]
    about: About | None = None


_ADV: Final = rf"(?P<adv>(?:(?:{ADVERBS}) )*)"
_WHO: Final = r"(?P<who>I|we)"
_AM: Final = rf"I(?:'m| am) {_ADV}"
_HAVE: Final = rf"{_WHO}(?:'ve| have) "
_STATE: Final = "|".join(sorted(STATES, key=len, reverse=True))
_ROUTINE: Final = "|".join(sorted(ROUTINES, key=len, reverse=True))
_PARTICIPLE: Final = r"\w+(?:ed|en|wn|ne|ught|ld|pt|nt|ade|ead|un|um|ome|ost|id|ut)"
_OWNED: Final = r"(?:my|our) (?:[\w-]+ ){0,3}?"
_NOUN: Final = r"(?:the|our|my) [\w' -]{2,60}?|(?-i:(?!That|This|It|He|She|They|There|What|Which|I|We)[A-Z][\w-]+(?: [A-Z][\w-]+)?)"
_VERB_OF_PEOPLE: Final = (
    "is|are|was|were|has|have|had|loves|likes|hates|prefers|lives|works|enjoys|turned|turns|moved|got|died|passed away|started|gave|bought|needs|goes|"
    "plays|plans|got married|graduated|came|visited|taught|made|sold|adopted|named|studies|speaks|owns|runs|held"
)
_VERB_OF_THINGS: Final = (
    "is|are|was|were|has|have|had|starts|begins|ends|takes|costs|got|arrived|broke|includes|runs|died|happened"
)
_NOT_DOING: Final = "looking|wondering|trying|hoping|asking|curious|thinking|feeling|having"
_NOT_BEEN: Final = "thinking|wondering|looking|trying|considering|meaning|told|hearing|checking|doing (?:great|good|well|fine|ok|okay|better)|keeping busy"


def _rule(name: str, kind: str, claim: str, pattern: str, about: About | None = None) -> Rule:
    return Rule(name, kind, claim, re.compile(pattern, re.IGNORECASE), about)


TASTE: Final = _rule(
    "preference",
    "semantic",
    "{who} {adv}{does} {rest}",
    rf"I {_ADV}(?P<verb>{TASTES}) (?P<rest>.+)",
    telling.of_a_taste,
)
LIKED: Final = _rule(
    "preference",
    "semantic",
    "{who} {adv}{verb} {rest}",
    rf"I {_ADV}(?P<verb>loved|enjoyed|hated|disliked) (?P<rest>.+)",
)
BEING: Final = _rule(
    "fact", "semantic", "{who} is {adv}{verb} {rest}", rf"{_AM}(?P<verb>{IS})\b ?(?P<rest>.*)", telling.of_being
)
STATE: Final = _rule(
    "fact", "semantic", "{who} {adv}{does} {rest}", rf"I {_ADV}(?P<verb>{_STATE}) (?P<rest>.+)", telling.of_a_place
)
_CORRECTIONS: Final = (
    _rule(
        "correction", "semantic", "{what} {verb} {rest}",
        rf"(?:no|actually|correction)[,:] (?P<what>{_NOUN}) (?P<verb>is|was|are|were|has|starts|lives|works) (?P<rest>.+)", telling.of_a_thing,
    ),
    _rule(
        "correction", "semantic", "{what} {verb} {rest}", rf"(?P<what>{_NOUN}) (?P<verb>is|was|are|were) (?P<rest>not .+?,? but .+)",
        telling.of_a_thing,
    ),
)  # fmt: skip
_PREFERENCES: Final = (
    TASTE,
    _rule(
        "preference", "semantic", "{who} {adv}{does} {rest}",
        rf"I (?P<adv>always|never|usually|typically|often|regularly|generally|mostly|rarely|seldom|normally|still) (?P<verb>(?!{MENTAL})[a-z]+(?<!ed)) "
        r"(?P<rest>.+)", telling.of_a_habit,
    ),
    _rule(
        "preference", "semantic", "{who} {adv}{does} {rest}", rf"I {_ADV}(?P<verb>{_ROUTINE}) (?P<rest>(?:.+? )?(?:{FREQUENCY})\b.*)",
        telling.of_a_habit,
    ),
    _rule(
        "preference", "semantic", "{what} {verb} {rest}",
        r"(?P<what>my (?:[\w-]+ ){0,2}favou?rite [\w' -]{2,40}?) (?P<verb>is|are|has to be|will always be) (?P<rest>.+)", telling.of_a_thing,
    ),
)  # fmt: skip
_DECISIONS: Final = (
    _rule(
        "decision", "semantic", "{who} {verb} {rest}",
        rf"{_WHO}(?:'ve| have)? (?:(?:finally|now|just|also|recently) )?(?P<verb>decided|chose|picked|agreed|settled) (?P<rest>.+)",
    ),
    _rule("decision", "semantic", "{who} decided on {rest}", r"(?P<who>we)(?:(?:'re| are) going|(?:'ll| will)? go) with (?P<rest>.+)"),
)  # fmt: skip
_COMMITMENTS: Final = (
    _rule("commitment", "prospective", "{who} will {rest}", rf"{_WHO}(?:'ll| will|(?:'m| am|'re| are) going to) (?P<rest>.*\b{DATE}\b.*)"),
    _rule("commitment", "prospective", "{who} is {adv}{verb} {rest}", rf"{_AM}(?P<verb>{PLANS}) (?P<rest>.+)"),
    _rule("commitment", "prospective", "{who} is {adv}{verb} {rest}", rf"{_AM}(?P<verb>{THOUGHTS}) (?P<rest>{WEIGHTY}.+)"),
    _rule("commitment", "prospective", "{who} has {adv}{verb} {rest}", rf"{_HAVE}{_ADV}(?P<verb>been (?:thinking (?:of|about)|considering|meaning to|hoping to)) (?P<rest>{WEIGHTY}.+)"),
    _rule(
        "commitment", "prospective", "{who} is {adv}{verb} {rest}",
        rf"{_AM}(?P<verb>(?!{_NOT_DOING})\w+ing|scheduled|booked) (?P<rest>.*\b(?:next|tomorrow|this (?:coming|weekend|summer|winter|fall|spring))\b.*)",
    ),
    _rule(
        "commitment", "prospective", "{who} {adv}{does} {rest}",
        rf"I {_ADV}(?P<verb>need to|have to|must|plan to|plan on|hope to|intend to|want to) (?P<rest>.+ (?:by|before|until|on|in|for) (?:the )?{DATE}.*)",
    ),
    _rule("commitment", "prospective", "{who} {adv}{does} {rest}", rf"I {_ADV}(?P<verb>want to|hope to|plan to|plan on|dream of|intend to) (?P<rest>(?:{SOME_DAY})\b.*)"),
    _rule(
        "commitment", "prospective", "{who} has {adv}{rest}",
        rf"I(?:'ve got| have) {_ADV}(?P<rest>(?:an?|my|our|the|two|three) (?:(?!(?:from|of|for|with|to|about|in|on)\b)[\w'-]+ ){{0,4}}?(?:{ENGAGEMENTS})\b.*)",
    ),
)  # fmt: skip
_DOINGS: Final = (
    _rule("fact", "semantic", "{who} is {adv}{verb} {rest}", rf"{_AM}(?P<verb>{ONGOING}) (?P<rest>.+)"),
    _rule("fact", "semantic", "{who} is {adv}{verb} {rest}", rf"{_AM}(?P<verb>(?!{_NOT_DOING})\w+ing) (?P<rest>.*\b(?:{LASTING})\b.*)"),
    _rule(
        "fact", "semantic", "{who} has {adv}{verb} {rest}",
        rf"{_HAVE}{_ADV}(?P<verb>been (?:(?:{ADVERBS}) )*(?:{TURNS_OF})) (?P<rest>(?!bit\b|little\b|while\b|lot\b).+)",
    ),
    _rule("fact", "semantic", "{who} has {adv}{verb} {rest}", rf"{_HAVE}{_ADV}(?P<verb>been (?!(?:{_NOT_BEEN})\b)\w+ing) (?P<rest>.+)"),
)  # fmt: skip
_EVENTS: Final = (
    _rule(
        "fact", "episodic", "{who} has {adv}{verb} {rest}",
        rf"{_HAVE}(?P<adv>(?:(?:{ADVERBS}) )+)(?P<verb>(?!(?:been|had|heard|thought|tried|noticed|seen)\b){_PARTICIPLE}\b) (?P<rest>.+)",
    ),
    _rule(
        "fact", "episodic", "{who} has {verb} {rest}",
        rf"{_HAVE}(?P<verb>(?!(?:been|heard|thought|noticed|seen)\b){_PARTICIPLE}\b) (?P<rest>(?=.*{WHEN}).+)",
    ),
    _rule("fact", "episodic", "{who} {adv}{verb} {rest}", rf"(?:{_WHO} )?(?P<adv>(?:(?:also|actually) )?(?:just|recently|finally) )(?P<verb>{PAST}) (?P<rest>.+)"),
    _rule("fact", "episodic", "{who} {adv}{verb} {rest}", rf"{_WHO} {_ADV}(?P<verb>{PAST}) (?P<rest>(?=.*{WHEN}).+)"),
    _rule(
        "fact", "episodic", "{name} and {what} {verb} {rest}",
        rf"(?P<what>my (?:[\w-]+ ){{0,2}}?(?:{PEOPLE})(?: [A-Z]\w+)?) and I (?P<verb>{PAST}) (?P<rest>(?=.*{WHEN}).+)",
    ),
    LIKED,
    _rule("fact", "episodic", "{who} {adv}{verb} {rest}", rf"I {_ADV}(?P<verb>{EVENTS}) (?P<rest>.+)"),
    _rule(
        "fact", "semantic", "{who} was {verb} {rest}",
        r"I was (?P<verb>born|raised|diagnosed|promoted|hired|fired|laid off|accepted|admitted|elected|invited|engaged) (?P<rest>.+)",
    ),
)  # fmt: skip
_THINGS: Final = (
    STATE,
    _rule("fact", "semantic", "{who} has {adv}{rest}", rf"I've got {_ADV}(?P<rest>.+)"),
    _rule(
        "fact", "semantic", "{what} {verb} {rest}",
        rf"(?P<what>{_NOUN}) (?P<verb>starts|begins|ends|opens|closes|launches|is due|is scheduled) (?P<rest>(?:on|in|at|for|by|from) {DATE}.*)",
        telling.of_a_thing,
    ),
    _rule(
        "fact", "semantic", "{what} {adv}{verb} {rest}",
        rf"(?P<what>{_OWNED}(?:{PEOPLE})(?:,? [A-Z]\w+,?)?) {_ADV}(?P<verb>{_VERB_OF_PEOPLE}) (?P<rest>.+)",
    ),
    _rule(
        "fact", "semantic", "{what} {adv}{verb} {rest}",
        rf"(?P<what>{_OWNED}(?:{THINGS})(?: (?:of|for|to|at|in|on) [\w' -]{{2,30}}?)?) {_ADV}(?P<verb>{_VERB_OF_THINGS}) (?P<rest>.+)",
        telling.of_one_thing,
    ),
)  # fmt: skip
RULES: Final = (*_CORRECTIONS, *_PREFERENCES, *_DECISIONS, *_COMMITMENTS, BEING, *_DOINGS, *_EVENTS, *_THINGS)
