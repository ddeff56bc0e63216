"""Evidence: a quote located in the sources, hashed, and checked to support what is claimed.

Knows nothing of how an observation is stored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from grail_mem.errors import EvidenceNotFoundError, InputError
from grail_mem.model.observation import Evidence
from grail_mem.model.quote import Found, Match, find, folded
from grail_mem.query.passages import DOCUMENT, in_session, in_source, is_erased
from grail_mem.query.view import View
from grail_mem.store.sources import Locator, Turn, digest, parse_locator
from grail_mem.support.checkers import checker_of
from grail_mem.support.reading import MOST_CHARS
from grail_mem.support.support import Support, check_support
from grail_mem.write.quotes import Quote, clean_quote, read_quotes
from grail_mem.write.screening import screened_quotes
from grail_mem.write.validate import Draft

KIND_OF_ROLE: Final = {
    "user": "user_statement", "system": "system", "tool": "tool_result", DOCUMENT: "tool_result",
    "assistant": "agent_inference",
}  # fmt: skip
CAPS: Final = {
    "user_statement": 0.95, "system": 0.90, "tool_result": 0.85, "session_summary": 0.85, "agent_inference": 0.60,
}  # fmt: skip
"""How sure an observation can be by who said it; chosen: people about themselves most, a model's own conclusions least."""
_SHOWN: Final = 120
_NEAR: Final = 60.0
"""Likeness in percent from which a turn is named as the closest one; chosen."""
_BESIDE: Final = 1_000
"""Characters on each side of a quote in a long text that are read with it; chosen."""
_LABEL: Final = re.compile(r"^[^\S\n]*[^\W\d_][\w .'’-]{0,40}:[^\S\n]+(?=(?:I|My)\b)")
"""Who speaks in a document that is a conversation: what stands behind such a name is said, not reported."""
_ENDS: Final = re.compile(r"[.!?…。！？]\s|\n")
_MOST_PLACES: Final = 20
"""Places of one quote that are looked at; chosen."""
_MAX_COMPARED: Final = 20_000
"""Characters of a passage that are compared for a near miss, since that takes the product of both lengths."""


@dataclass(frozen=True, slots=True)
class Located:
    """A quote where it stands.

    Attributes:
        source: The locator, such as `sources/chats/2026-06-02.jsonl#turn=14`.
        quote: The words as the source has them.
        span: From which character of the turn or document to which, exclusive.
        sha256: Digest of these words.
        match: `exact` or `normalised`.
        role: Who spoke: a role, or `document`.
        at: When, in UTC; empty when not known.
        n_found: In how many places it stands.
        quoted: Whether its turn was recorded from a quote alone.
        around: The turn, or as much of a long turn or document as stands around the quote, the quote within it.
        elsewhere: Other turns and documents among those looked at in which it stands as well.
    """

    source: str
    quote: str
    span: tuple[int, int]
    sha256: str
    match: Match
    role: str
    speaker: str = ""
    at: str = ""
    turn: int | None = None
    n_found: int = 1
    quoted: bool = False
    around: str = ""
    elsewhere: tuple[Located, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is worth knowing of how it was found."""
        if self.n_found == 1:
            return ()
        return (f"the quote stands in {self.n_found} places; the first was taken, {self.source}.",)

    def evidence(self, support: Support | None = None) -> Evidence:
        """What an observation keeps of it."""
        made = Evidence(self.quote, self.source, self.span, self.sha256, self.match, self.role)
        return made if support is None else replace(made, checker=support.checker, support=round(support.score, 3))


def locate(
    view: View,
    quote: str,
    *,
    source: str | None = None,
    session: str | None = None,
    scope: str | None = None,
    turn: int | None = None,
) -> Located:
    """Where a quote stands: inside one turn or one document, as it is or else in other quotation marks, dashes or spaces.

    Args:
        view: The store.
        quote: 15 characters or 3 words at least.
        source: A source as `ingest` printed it, with `#turn=` or without.
        session: A session, when no source is named.
        scope: Whose the session is; where that one has no such turn, the default scope's.
        turn: The one turn to look at; None for all.

    Raises:
        EvidenceNotFoundError: It stands nowhere there; the message names the closest turn.
        InputError: The quote is too short, or no place was named.
    """
    text = clean_quote(quote)
    places = passages(view, Quote(text, source, session, turn), scope)
    found = found_in(places, text)
    if found is None:
        raise not_found(text, places, source or f"the session {session!r}", turn)
    return found


def passages(view: View, said: Quote, scope: str | None) -> list[Turn]:
    """Where a quote may stand.

    Raises:
        InputError: No place was named, or what was named is none.
    """
    if said.source is None:
        if said.session is None:
            raise InputError("evidence needs a place: name the source or the session that the quote stands in.")
        listed = [p for whose in dict.fromkeys((scope, None)) for p in in_session(view, said.session, whose)]
        return _left(view, listed if said.turn is None else [p for p in listed if p.number == said.turn], said.quote)
    locator = parse_locator(said.source)
    if locator is None:
        raise InputError(
            f"{said.source!r:.100} is no source of a store.",
            hint="Name it as `grail ingest` printed it, such as sources/chats/2026-06-02.jsonl#turn=14, or name the session.",
        )
    if said.turn is not None and locator.turn is None:
        locator = Locator(locator.path, said.turn)
    return _left(view, in_source(view, locator), said.quote)


def must_be_recorded(view: View) -> bool:
    """Whether the caller can quote only what was ingested, so that a model makes up no words of a person."""
    return view.principal is not None and view.settings.transcript == "required"


def _left(view: View, places: list[Turn], quote: str) -> list[Turn]:
    """Passages without those that were erased and came back, and those that the caller must not quote.

    Where some have the quote, only these are held against what was erased.
    """
    if must_be_recorded(view):
        places = [place for place in places if not place.quoted]
    if not view.receipts.tells_of_sources:
        return places
    wanted = folded(quote)
    having = [p for p in places if quote in p.text or wanted in _folded(p.text)] or places
    erased = {(p.path, p.number, p.revision) for p in having if is_erased(view, p)}
    return [p for p in places if (p.path, p.number, p.revision) not in erased]


def found_in(places: Sequence[Turn], quote: str) -> Located | None:
    """The first passage in which a quote stands as it is, else the first in which it stands after folding."""
    exact = [(place, Found(begin, begin + len(quote), "exact", place.text.count(quote)))
             for place in places if (begin := place.text.find(quote)) >= 0]  # fmt: skip
    wanted = "" if exact else folded(quote)
    among = exact or [
        (place, found)
        for place in places
        if wanted in (whole := _folded(place.text))
        and (found := find(place.text, quote, folded_text=whole)) is not None
    ]
    if not among:
        return None
    first, *others = (located_at(place, found) for place, found in among[:_MOST_PLACES])
    return replace(first, n_found=sum(item.n for _, item in among), elsewhere=tuple(others))


@lru_cache(maxsize=32_768)  # turns of the sessions quoted lately
def _folded(text: str) -> str:
    return folded(text)


def forget_quoted() -> None:
    """Let go of the texts that were compared with quotes."""
    _folded.cache_clear()


def located_at(place: Turn, found: Found) -> Located:
    """A quote found in a passage."""
    words = place.text[found.begin : found.end]
    return Located(
        str(place.locator), words, (found.begin, found.end), digest(words), found.match, place.role, place.speaker, place.at,
        place.locator.turn, found.n, place.quoted, _around(place.text, found.begin, found.end),
    )  # fmt: skip


def _around(text: str, begin: int, end: int) -> str:
    """A text, or of a long one whole sentences before and behind some words, where sentences end."""
    if len(text) <= MOST_CHARS:
        return text
    before, behind = text[max(0, begin - _BESIDE) : begin], text[end : end + _BESIDE]
    first = next((found.end() for found in _ENDS.finditer(before)), 0) if begin > _BESIDE else 0
    last = max((found.start() + 1 for found in _ENDS.finditer(behind)), default=len(behind))
    return before[first:] + text[begin:end] + behind[: last if end + _BESIDE < len(text) else None]


def _of_one(found: Located) -> str:
    """What stands around a quote of a document; in one that is a conversation, what this speaker says, without the name."""
    at = found.around.find(found.quote)
    line = found.around[found.around.rfind("\n", 0, at) + 1 :].partition("\n")[0] if at >= 0 else ""
    label = _LABEL.match(line)
    return line[label.end() :] if label and label.end() <= line.find(found.quote) else found.around


def judged(view: View, claim: str, found: Located) -> Support:
    """Whether a quote supports a claim: by its words, and by what it is a part of, which may take them back.

    Who quotes chooses where a quote begins and ends: `I live in Bern` stands in `It is not true that I live in Bern.`
    """
    checker = checker_of(view.settings.checker)

    def checked(words: str) -> Support:
        return check_support(claim, words, speaker=found.speaker, role=found.role, context=found.at, checker=checker)

    alone = checked(found.quote)
    if alone.verdict != "supported" or found.around.strip() in ("", found.quote):
        return alone
    within = checked(_of_one(found) if found.role == DOCUMENT else found.around)
    if within.verdict == "supported":
        return replace(alone, score=min(alone.score, within.score))
    why = "; ".join(within.reasons)
    return replace(within, verdict="unsupported", reasons=(f"what stands around the quote does not say so: {why}",))


def best_place(view: View, claim: str, found: Located) -> tuple[Located, Support]:
    """The first place of a quote where it supports a claim, and how well; the first of all where it does so nowhere.

    The same words may be asked in one turn and stated in the next.
    """
    first = judged(view, claim, found)
    if first.verdict == "supported":
        return found, first
    judgements = ((place, judged(view, claim, place)) for place in found.elsewhere)
    place, support = next((it for it in judgements if it[1].verdict == "supported"), (found, first))
    return replace(place, n_found=found.n_found), support


def not_found(quote: str, places: Sequence[Turn], where: str, turn: int | None) -> EvidenceNotFoundError:
    """The error for a quote that stands nowhere, with the closest passage."""
    place = where if turn is None else f"turn {turn} of {where}"
    if not places:
        return EvidenceNotFoundError(
            f"The quote {_short(quote)} has no place: there is nothing to be read in {place}.",
            hint="Ingest the conversation or document first: `grail ingest`.",
        )
    return EvidenceNotFoundError(
        f"The quote {_short(quote)} does not stand in {place} ({len(places)} looked at). {_closest(quote, places)}",
        hint="Quote the words as they stand there, from one turn.",
    )


def _closest(quote: str, places: Sequence[Turn]) -> str:
    from rapidfuzz import fuzz, process

    wanted = quote.casefold()
    texts = [
        p.text[:_MAX_COMPARED].casefold() if 2 * len(p.text) > len(quote) else "" for p in places
    ]  # "ok" is near all
    best = process.extractOne(wanted, texts, scorer=fuzz.partial_ratio, score_cutoff=_NEAR)
    if best is None:
        return "Nothing there comes near it."
    place = places[best[2]]
    near = fuzz.partial_ratio_alignment(wanted, best[0])
    words = place.text[near.dest_start : near.dest_end] if near else place.text
    named = place.path if place.number < 0 else f"turn {place.number} ({place.role})"
    return f"Closest is {named}: {_short(words)}."


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"}"'


def resolved(
    view: View, value: Any, claim: Any, *, session: Any = None, scope: Any = None
) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
    """The evidence of an observation that is about to be stored, located and checked, and warnings.

    Args:
        view: The store.
        value: A quote, a mapping with quote and source, or a list of both; evidence that was located already passes.
        claim: What the observation says.
        session: Its session, for quotes that name no place.
        scope: Its scope.

    Raises:
        InputError: A quote cannot be used or stands nowhere; `problems` lists every reason.
    """
    if isinstance(value, tuple) and all(isinstance(item, Evidence) for item in value):
        return value, ()
    made: list[Evidence] = []
    warnings: list[str] = []
    problems: list[InputError] = []
    session = session if isinstance(session, str) else None
    scope = scope if isinstance(scope, str) else None
    for said in read_quotes(screened_quotes(value, view.settings)):
        try:
            found = locate(
                view, said.quote, source=said.source, session=said.session or session, scope=scope, turn=said.turn
            )
        except InputError as error:
            problems.append(error)
            continue
        found, support = best_place(view, claim if isinstance(claim, str) else "", found)
        made.append(found.evidence(support))
        warnings += found.warnings
        if support.verdict != "supported":
            why = "; ".join(support.reasons)
            warnings.append(f"the quote {_short(found.quote)} does not support all of the observation: {why}.")
    if problems:
        kind = problems[0].__class__ if len({type(error) for error in problems}) == 1 else InputError
        raise kind(
            " ".join(error.message for error in problems), hint=problems[0].hint,
            problems=[text for error in problems for text in error.problems],
        )  # fmt: skip
    return tuple(made), tuple(warnings)


def capped(kind: str, wanted: Any, own: str) -> tuple[str, Any, list[str]]:
    """A kind of source and a confidence that are no higher than those of who spoke; what is no number is left to the check."""
    warnings: list[str] = []
    if CAPS.get(kind, 0) > CAPS[own]:
        warnings.append(f"source_kind {kind} was made {own}: the quote's speaker counts for no more.")
        kind = own
    most = CAPS.get(kind, CAPS[own])
    if wanted is None:
        return kind, most, warnings
    if isinstance(wanted, int | float) and most < wanted <= 1:
        warnings.append(f"confidence {wanted} was made {most}: {kind} counts for no more.")
        return kind, most, warnings
    return kind, wanted, warnings


def kind_of(evidence: Sequence[Evidence]) -> str:
    """The kind of source of what rests on quotes: that of the one among their speakers who counts most."""
    return max((KIND_OF_ROLE.get(item.role, "agent_inference") for item in evidence), key=lambda kind: CAPS[kind])


def with_evidence(view: View, draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """A draft whose quotes are located and checked, no surer than their speakers allow, and warnings.

    One without evidence is returned as it is.

    Raises:
        InputError: A quote cannot be used or stands nowhere; `problems` lists every reason.
    """
    if draft.evidence is None:
        return draft, ()
    claim = draft.content or draft.title
    evidence, warnings = resolved(view, draft.evidence, claim, session=draft.session, scope=draft.scope)
    if evidence is draft.evidence:  # located already, and so was who said it
        return draft, warnings
    own = kind_of(evidence)
    kind, sure, lowered = capped(draft.source_kind or own, draft.confidence, own)
    return replace(draft, evidence=evidence, source_kind=kind, confidence=sure), (*warnings, *lowered)
