"""Extraction: what a speaker says of themselves, decides, promises or corrects, found by rules as drafts with exact quotes.

Rather nothing than something wrong: questions, conditions, jokes and words of others are passed over. No model is asked.
Knows nothing of how candidates are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grail_mem.store.sources import Turn

_LEAST: Final = 15
"""Characters that a quote has at least, so that it can be located."""
_MOST: Final = 300
_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:\.(?=\w)[^.!?\n]*)*[.!?]*")
_LEAD: Final = r"(?:(?:well|oh|and|so|yes|ok|okay|also|by the way|honestly|personally|just so you know|for the record|please note),?\s+)?"
_DATE: Final = (
    r"(?:\d{4}-\d{2}-\d{2}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|next (?:week|month|year)|(?:the )?end of (?:the )?(?:week|month|year|day)|"
    r"(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:january|february|march|april|may|june|july|august|september|october|november|december)|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? \d{4})?|q[1-4])"
)
_VERBS: Final = "prefer|like|love|hate|dislike|enjoy|avoid"
_RULES: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = tuple(
    (name, kind, re.compile(f"{_LEAD}{pattern}[.!]*", re.IGNORECASE))
    for name, kind, pattern in (
        ("preference", "semantic", rf"I (?P<how>really |strongly |much |generally |usually )?(?P<verb>{_VERBS}) (?P<rest>.+?)"),
        ("preference", "semantic", r"I (?P<how>always|never) (?P<verb>[a-z]+) (?P<rest>.+?)"),
        ("preference", "semantic", r"I (?P<verb>can't stand|cannot stand) (?P<rest>.+?)"),
        ("decision", "semantic", r"(?P<who>we|I)(?:'ve| have)? (?:finally |now )?(?P<verb>decided|chose|picked|agreed|settled) (?P<rest>(?:to|on|that|against|for)? ?.+?)"),
        ("decision", "semantic", r"(?P<who>we)(?:'re| are) going with (?P<rest>.+?)"),
        ("decision", "semantic", r"(?P<who>we)(?:'ll| will)? go with (?P<rest>.+?)"),
        ("commitment", "prospective", rf"(?P<who>we|I)(?:'ll| will|'m going to| am going to|'re going to| are going to) (?P<rest>.+? (?:by|before|until|on) {_DATE}.{{0,40}}?)"),
        ("commitment", "prospective", r"(?P<who>we|I)(?:'ll| will|'m going to| am going to|'re going to| are going to) (?P<rest>.+? (?:tomorrow|tonight|next (?:week|month|year)))"),
        ("fact", "episodic", rf"(?P<who>I) (?P<verb>moved|started|joined|left|switched) (?P<rest>.+? (?:in|on|since|from) {_DATE}.{{0,30}}?)"),
        ("fact", "semantic", rf"(?P<what>(?:the|our|my) [\w' -]{{2,60}}?|(?-i:(?!That|This|It|He|She|They|There|What|Which)[A-Z][\w-]+(?: [A-Z][\w-]+)?)) (?P<verb>starts|begins|ends|opens|closes|launches|is due|is scheduled) (?P<rest>(?:on|in|at|for|by|from) {_DATE}.{{0,40}}?)"),
        ("correction", "semantic", r"(?:no|actually|correction)[,:] (?P<what>(?:the|our|my) [\w' -]{2,60}?|(?-i:(?!That|This|It|He|She|They|There|What|Which)[A-Z][\w-]+(?: [A-Z][\w-]+)?)) (?P<verb>is|was|are|were|has|starts|lives|works) (?P<rest>.+?)"),
        ("correction", "semantic", r"(?P<what>(?:the|our|my) [\w' -]{2,60}?|(?-i:(?!That|This|It|He|She|They|There|What|Which)[A-Z][\w-]+(?: [A-Z][\w-]+)?)) (?P<verb>is|was|are|were) (?P<rest>not .+?,? but .+?)"),
    )
)  # fmt: skip
_PASSED: Final = re.compile(
    r"\?|\bif\b|\bunless\b|\bwould\b|\bI'd\b|\bwe'd\b|\bmaybe\b|\bperhaps\b|\bmight\b|\bprobably\b|\bwish\b|\bsuppose\b|\bimagine\b|\bpretend\b|"
    r"\bkidding\b|\bjoking\b|\bjust joking\b|\bhaha|\blol\b|;\)|😂|🤣|\bfor example\b|\be\.g\.|\bsays?\b|\bsaid\b|\btold\b|\baccording to\b|\bclaims?\b|"
    r"\bguess\b|\bnot sure\b|\bI think\b|[\"“”«»]|^\s*>|\bin theory\b|\bhypothetical|\bshould\b|\bcould\b|\bdidn't\b|\bhaven't\b|\bhas not\b|\bused to\b|\bdream|\bstory\b|\bnovel\b",
    re.IGNORECASE,
)  # fmt: skip
"""What makes a sentence a question, a condition, a joke, a doubt or somebody else's words."""
_EMPTY: Final = re.compile(
    r"(?:it|that|this|them|these|those|him|her|you|the idea|your \w+|to think .*|to say .*|how .*|what .*|where .*|when .*|know .*|knew .*|thought .*|"
    r"mind.*|forget .*|again\b.*|about (?:it|that|this)|so|not)(?: \w+){0,2}",
    re.IGNORECASE,
)
"""Objects that say nothing without the turn before."""
KIND_OF_RULE: Final = {
    "preference": "semantic", "decision": "semantic", "commitment": "prospective", "fact": "semantic", "correction": "semantic",
}  # fmt: skip
"""What can be extracted, and the kind of observation that it is unless something else is said."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """One thing that a turn says.

    Attributes:
        claim: What it says, in the third person.
        quote: The exact words.
        turn: In which turn they stand.
        rule: `preference`, `decision`, `commitment`, `fact` or `correction`.
        kind: The kind of observation that it is.
        attribute: The fact that it may state.
    """

    claim: str
    quote: str
    turn: Turn
    rule: str
    kind: str
    attribute: str

    def draft(self, **more: Any) -> dict[str, Any]:
        """It as a draft that can be submitted."""
        source = f"{self.turn.path}#turn={self.turn.number}"
        speaker = {"speaker": self.turn.speaker} if self.turn.speaker else {}
        return {
            "content": self.claim, "kind": self.kind, "attribute": self.attribute, "tags": [self.rule], "turn": self.turn.number,
            "evidence": {"quote": self.quote, "source": source}, **speaker, **more,
        }  # fmt: skip


def extract(turns: Sequence[Turn]) -> tuple[Extracted, ...]:
    """What people say in turns of a conversation, in order; turns of assistants, tools and systems are passed over."""
    found = (one for turn in turns if turn.role == "user" for one in _in_turn(turn))
    return tuple({(one.turn.number, one.quote): one for one in found}.values())


def _in_turn(turn: Turn) -> Iterator[Extracted]:
    if turn.text.count("```") or len(turn.text) > 20_000:  # noqa: PLR2004  chosen: code and documents that were pasted
        return
    for match in _SENTENCE.finditer(turn.text):
        said = match[0].strip()
        if not _LEAST <= len(said) <= _MOST or _PASSED.search(said):
            continue
        for rule, kind, pattern in _RULES:
            if found := pattern.fullmatch(said):
                rest = found["rest"].strip(" .!,")
                if rest and not _EMPTY.fullmatch(rest):
                    claim = _claim(found, rest, turn.speaker or "The user", rule)
                    yield Extracted(claim, said, turn, rule, kind, _attribute(found, rule, turn.speaker or "user"))
                break


def _claim(found: re.Match[str], rest: str, name: str, rule: str) -> str:
    """The sentence in the third person."""
    groups, rest = found.groupdict(), _third(rest, name)
    if what := groups.get("what"):
        return f"{_third(what[0].upper() + what[1:], name)} {found['verb']} {rest}."
    who = (groups.get("who") or "I").lower()
    if rule == "decision":
        verb = (groups.get("verb") or "decided on").lower()
        rest = rest.removeprefix("on ") if verb == "decided on" else rest
        return f"{name} {verb} {rest}." if who == "i" else f"{_group(name)} {verb} {rest}."
    if rule == "commitment":
        return f"{name if who == 'i' else _group(name)} will {rest}."
    if rule == "fact":
        return f"{name} {found['verb'].lower()} {rest}."
    how = (groups.get("how") or "").strip().lower()
    verb = found["verb"].lower()
    return f"{name} {f'{how} ' if how else ''}{verb if ' ' in verb else _conjugated(verb)} {rest}."


def _group(name: str) -> str:
    return f"{name}'s group"


def _conjugated(verb: str) -> str:
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else f"{verb}s"


def _third(text: str, name: str) -> str:
    """A part of a sentence with the speaker's `I`, `me`, `my` and `our` made the name."""
    text = re.sub(r"\bmy\b", f"{name}'s", text, flags=re.IGNORECASE)
    text = re.sub(r"\bour\b", f"{_group(name)}'s", text, flags=re.IGNORECASE)
    return re.sub(r"\b(?:me|I)\b", name, text)


def _attribute(found: re.Match[str], rule: str, name: str) -> str:
    """A name for the fact, from who or what it is about."""
    groups = found.groupdict()
    about = groups.get("what") or (f"{name} {rule} {' '.join(found['rest'].split()[:3])}")
    return "/".join(filter(None, (rule, re.sub(r"[^\w]+", "-", about.lower()).strip("-")[:60])))
