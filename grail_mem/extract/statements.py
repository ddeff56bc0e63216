"""What a turn states that is worth keeping: each statement with its exact words, and told in the third person.

Knows nothing of turns, and of how it is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from grail_mem.extract import telling, worth
from grail_mem.extract.lexicon import FREQUENCY, WHEN
from grail_mem.extract.parts import LEAST, MOST, clauses, sentences
from grail_mem.extract.person import of_others
from grail_mem.extract.rules import BEING, LIKED, RULES, STATE, TASTE, Rule

_LEAD: Final = re.compile(
    r"(?:(?:well|oh|ah|and|so|but|yes|yeah|yep|ok|okay|also|hey|hi|hello|wow|great|thanks|thank you|sure|actually|anyway|honestly|personally|by the way|btw|oh and|"
    r"just so you know|for the record|please note|fyi|to be honest|speaking of [^,.]{2,40}|that reminds me|as for [^,.]{2,40}|in fact|of course|unfortunately|"
    r"luckily|fortunately|sadly|you know|for me|in my case|for context|as a side note|on a side note|I have to say|I should mention(?: that)?|I forgot to mention(?: that)?|"
    r"as I said|like I said|as I mentioned|note that|remember that|FYI)[,:;.!]?(?:\s+|$)|[-–—*•]\s+)+",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    rf"(?P<opening>(?:{WHEN}|{FREQUENCY}|as a [^,]{{3,30}}|when I was [^,]{{2,30}})(?: (?:in|of|at) (?:[\w']+ ?){{1,3}})?),?\s+(?=I\b|we\b|my\b|our\b)",
    re.IGNORECASE,
)
_JOIN: Final = re.compile(r"^(?:[\s,;:()–—-]*(?:(?:and|but|so|because|since|though|although)\s+)?)", re.IGNORECASE)
_GOVERNS: Final = re.compile(
    r"\b(?:said|says|told|claims?|wrote|asked|according|whether|if|imagine|pretend|suppose|wish|quote|example)\b|[\"“«]",
    re.IGNORECASE,
)
"""What may say of the rest of its sentence that it is somebody else's, or not so."""
_CORRECTING: Final = ("no,", "no:", "actually,", "correction")
_ENDING: Final = re.compile(r"[.!…]+$")


class Statement(NamedTuple):
    """One thing that somebody says.

    Attributes:
        claim: It in the third person.
        quote: The exact words.
        rule: `preference`, `decision`, `commitment`, `fact` or `correction`.
        kind: The kind of observation that it is.
        attribute: The fact that it states; empty for what happened once, or of which there may be several.
    """

    claim: str
    quote: str
    rule: str
    kind: str
    attribute: str


def statements(text: str, name: str) -> Iterator[Statement]:
    """What somebody says of themselves in a turn, in order.

    Args:
        text: The turn.
        name: What the speaker is called in the claims.

    Example:
        >>> [one.claim for one in statements("By the way, I just moved to Bern, any tips?", "Ann")]
        ['Ann just moved to Bern.']
    """
    said = [*sentences(text), ""]
    for sentence, after in pairwise(said):
        if worth.is_told_as_true(sentence) and not worth.takes_back(after):
            yield from (_spelled(one, name) for one in _in_sentence(sentence, name))


def _spelled(said: Statement, name: str) -> Statement:
    """A statement whose speaker has no name, and is the user within a sentence."""
    if not name.startswith("The "):
        return said
    return said._replace(claim=said.claim[:1] + said.claim[1:].replace(name, f"the {name[4:]}"))


def _in_sentence(sentence: str, name: str) -> Iterator[Statement]:
    """What a sentence states: of the clauses from each on, as many as state something together."""
    pieces = clauses(sentence)
    first = 0
    while first < len(pieces):
        for last in range(_reach(pieces, first), first, -1):
            said = _JOIN.sub("", "".join(pieces[first:last])).rstrip(" ,;:-–—(")
            if LEAST <= len(said) <= MOST and worth.is_sure(said) and (found := _stated(said, name)) is not None:
                yield found
                first = last - 1
                break
        if _GOVERNS.search(pieces[first]):
            return
        first += 1


def _reach(pieces: Sequence[str], first: int) -> int:
    """Behind which clause what begins with one is too long to be quoted; one clause at least is in reach."""
    length, last = len(pieces[first]), first + 1
    while last < len(pieces) and length + len(pieces[last]) <= MOST:
        length += len(pieces[last])
        last += 1
    return last


def _stated(said: str, name: str) -> Statement | None:
    words = said.replace("’", "'")
    lead = _LEAD.match(words)
    begin = lead.end() if lead and len(words) - lead.end() >= LEAST else 0
    corrects = lead is not None and lead[0].lower().startswith(_CORRECTING)
    found = _by_rules(words, said, name) if corrects else None
    return found or _by_rules(words[begin:], said[begin:], name)


def _by_rules(words: str, said: str, name: str) -> Statement | None:
    words = _ENDING.sub("", words).strip()
    opening = _OPENING.match(words)
    if opening is None:
        return _by_rule(words, said, name)
    rest, when = words[opening.end() :], opening["opening"]
    found, tail = _by_rule(rest, said, name), ""
    if found is None:  # some forms need a time
        tail = f" {when[:1].lower()}{when[1:]}"
        found = _by_rule(f"{rest}{tail}", said, name)
    if found is None:
        return None
    told = found.claim.removesuffix(".").removesuffix(tail)
    return found._replace(claim=f"{when[:1].upper()}{of_others(when[1:], name)}, {told}.")


def _by_rule(words: str, said: str, name: str) -> Statement | None:
    """What words state by the first form that fits them."""
    for rule in RULES:
        if (match := rule.pattern.fullmatch(words)) is not None:
            if _says_nothing(match, rule):
                return None
            about = rule.about(match, name) if rule.about is not None else ""
            return Statement(f"{telling.claim(rule.claim, match, name)}.", said, rule.name, rule.kind, about)
    return None


def _says_nothing(match: re.Match[str], rule: Rule) -> bool:
    """Whether a statement is one of the moment, or nobody knows later of what."""
    rest = match["rest"].strip()
    if not rest:
        return rule is not BEING
    if rule.name == "correction":
        return False
    if worth.needs_the_talk(match[0], rest) or (rule in (TASTE, LIKED, BEING) and worth.is_of_the_talk(rest)):
        return True
    return rule is STATE and match["verb"].lower() == "have" and worth.is_not_had(rest)
