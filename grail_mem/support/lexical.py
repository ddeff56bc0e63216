"""The checker that needs no model: it reads the words, and in doubt says that they support nothing. Knows no synonyms.

English. A quote in another language supports a claim that says it word by word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from grail_mem.index.tokens import terms
from grail_mem.support.conflict import Conflict, conflict
from grail_mem.support.dated import said_on
from grail_mem.support.fit import Blocked, Fit, fit
from grail_mem.support.mention import not_said, with_quotes
from grail_mem.support.reading import JOINT, Sentence, as_said_by, as_written, read_sentence
from grail_mem.support.sentences import sentences
from grail_mem.support.verdict import SUPPORTED, Support
from grail_mem.support.wording import wording

NAME: Final = "lexical-2"
MOST_CLAIMS: Final = 8
"""Sentences of a claim; more is a text, not a claim."""
MOST_WORDS: Final = 120
"""Words of one sentence of a claim: comparing takes the product of two lengths."""

_UNSUPPORTED_AT_MOST: Final = 0.5
_MOST_NAMED: Final = 6
"""Missing words that are named."""
_OF_ROLE: Final = {"user": ("user",), "assistant": ("assistant", "agent"), "": ()}
_KEPT: Final = 32
"""Quotes whose reading is kept: many claims may rest on one."""
_LEAST_COVERED: Final = 0.25
"""The share of the claim's terms without which a sentence is not about it."""

Reading = tuple[Sentence, bool]
"""A claim's sentence, and whether the speaker's name in it became a mark."""


class Finding(NamedTuple):
    """What one sentence of the claim met in the quote.

    Attributes:
        fit: The best fit.
        conflict: The first contradiction, or what at least is not the same.
        hindrance: Why words that are there do not count.
        covered: The share of its terms that the best sentence has, 0 to 1.
        missing: The terms that it has not.
        claim: The sentence.
    """

    fit: Fit | None
    conflict: Conflict | None
    hindrance: str
    covered: float
    missing: tuple[str, ...]
    claim: Sentence


class LexicalChecker:
    """Checks by words, numbers, units, dates, names, negation, order, mood and speaker; the same answer every time."""

    name = NAME

    def check(self, claim: str, quote: str, *, speaker: str = "", role: str = "", context: str = "") -> Support:
        """Take a claim and a quote and return whether the quote supports it.

        Args:
            claim: What is claimed.
            quote: What was said.
            speaker: Who said it: in the claim, that name is who says `I` in the quote.
            role: `user` or `assistant`: so is `the user`. Of another role, nobody is `I`.
            context: A text that begins with the day of saying (`2026-03-11`), from which `tomorrow` is counted.

        Example:
            >>> LexicalChecker().check("Ann prefers tea", "I prefer tea, always.", speaker="Ann", role="user").verdict
            'supported'
        """
        findings = self.findings(claim, quote, speaker=speaker, role=role, context=context)
        if isinstance(findings, str):
            return Support("unsupported", 0.0, NAME, (findings,))
        return _together(findings)

    def findings(self, claim: str, quote: str, *, speaker: str, role: str, context: str) -> list[Finding] | str:
        """What each sentence of the claim met; or why the claim cannot be compared."""
        today = said_on(context) if context else None
        claims = read_claim(claim, today, speaker=speaker, role=role)
        if isinstance(claims, str):
            return claims
        said = read_quote(quote, today)
        return [finding_of(readings, said) for readings in claims]


def read_claim(claim: str, today: date | None, *, speaker: str, role: str) -> list[list[Reading]] | str:
    """For each sentence of a claim, its readings, the one with marks last; or why the claim cannot be compared."""
    read = [read_sentence(sentence, today) for sentence in sentences(claim)]
    claims = [sentence for sentence in read if sentence.words]
    if wrong := _unfit(claims):
        return wrong
    names = _names(speaker, role)
    return [list(_readings(sentence, names)) for sentence in claims]


@lru_cache(maxsize=_KEPT)
def read_quote(quote: str, today: date | None) -> tuple[Sentence, ...]:
    """The sentences of a quote; those that say nothing of the world are marked as questions are."""
    said = [read_sentence(sentence, today) for sentence in sentences(with_quotes(quote))]
    said = [sentence for sentence in said if sentence.words]
    marked = not_said([sentence.text for sentence in said], said)
    return tuple(
        sentence._replace(asks=True) if is_named else sentence for sentence, is_named in zip(said, marked, strict=True)
    )


def _unfit(claims: Sequence[Sentence]) -> str:
    if not claims:
        return "the claim says nothing"
    if len(claims) > MOST_CLAIMS:
        return f"the claim has more than {MOST_CLAIMS} sentences"
    if any(len(sentence.words) > MOST_WORDS for sentence in claims):
        return f"a sentence of the claim has more than {MOST_WORDS} words"
    if any(sentence.asks for sentence in claims):
        return "the claim is a question"
    return ""


def _names(speaker: str, role: str) -> list[tuple[str, ...]]:
    """The words by which a claim names the speaker, the longest first."""
    whole = wording(speaker).words
    named = {whole, whole[:1], *((word,) for word in _OF_ROLE.get(role, ()))} - {()}
    return sorted(named, key=lambda name: (-len(name), name)) if role in _OF_ROLE else []


def _readings(sentence: Sentence, names: Sequence[tuple[str, ...]]) -> Iterator[Reading]:
    """The claim as it stands, and with the speaker's name as the mark that `I` is."""
    yield sentence, False
    mapped = as_said_by(sentence, names)
    if mapped.words != sentence.words:
        yield mapped, True


def finding_of(readings: Sequence[Reading], said: Sequence[Sentence]) -> Finding:
    """What one sentence of a claim meets in the sentences of a quote."""
    best: Fit | None = None
    against: Conflict | None = None
    hindrance = ""
    wanted = terms_of(readings[-1][0])
    covered, missing = 0.0, tuple(wanted)
    for sentence in said:
        there = frozenset(terms_of(sentence))
        share = sum(term in there for term in wanted) / max(len(wanted), 1)
        if share > covered:
            covered, missing = share, tuple(term for term in wanted if term not in there)
        if share < _LEAST_COVERED:
            continue
        for claim, is_mapped in readings:
            found = fit(claim, sentence, is_mapped=is_mapped)
            if sentence.asks:
                hindrance = hindrance or (
                    "the quote only asks, names, imagines or drafts it, or takes it back" if found is not None else ""
                )
            elif isinstance(found, Fit):
                best = found if best is None or found.score > best.score else best
            elif isinstance(found, Blocked):
                hindrance = hindrance or f"the quote says so only with {as_written(sentence, found.word)!r}"
            elif against is None or not against.is_sure:
                against = conflict(claim, sentence) or against
    return Finding(best, against, hindrance, covered, missing, readings[0][0])


def _as_written(claim: Sentence, missing: Sequence[str]) -> Iterator[str]:
    """The words of a claim that have the missing terms."""
    absent = frozenset(missing)
    for word in dict.fromkeys(claim.words):
        if not absent.isdisjoint(_terms_of_word(word)):
            yield as_written(claim, word)


def _terms_of_word(word: str) -> list[str]:
    return terms(word.replace(JOINT, "-"))


def terms_of(sentence: Sentence) -> list[str]:
    """The terms of a sentence that say something, marks of the speaker left out."""
    return terms(" ".join(word for word in sentence.words if not word.startswith(("@", "'"))).replace(JOINT, "-"))


def _together(findings: Sequence[Finding]) -> Support:
    """One verdict for all sentences of the claim: the least supported decides, a contradiction before all."""
    against = [one.conflict for one in findings if one.conflict and one.conflict.is_sure and one.fit is None]
    if against:
        return Support("contradicted", 0.0, NAME, tuple(reason for one in against for reason in one.reasons))
    if all(one.fit is not None and not (one.conflict and one.conflict.is_sure) for one in findings):
        score = min(one.fit.score for one in findings if one.fit)
        if score >= SUPPORTED:
            return Support("supported", round(score, 3), NAME, _licences(score))
        return Support("unsupported", round(score, 3), NAME, ("the quote says much more than the claim",))
    score = _UNSUPPORTED_AT_MOST * min(one.covered for one in findings)
    reasons = dict.fromkeys(reason for one in findings for reason in _why_not(one))
    return Support("unsupported", round(score, 3), NAME, tuple(reasons))


def _licences(score: float) -> tuple[str, ...]:
    return () if score == 1.0 else ("the quote says it with other words around it",)


def _why_not(one: Finding) -> Iterator[str]:
    if one.fit is not None:
        if one.conflict:
            yield "the quote says both this and its contrary"
        return
    if one.hindrance:
        yield one.hindrance
    elif one.conflict:
        yield from one.conflict.reasons
    elif one.missing:
        yield f"the quote does not say: {', '.join(islice(_as_written(one.claim, one.missing), _MOST_NAMED))}"
    else:
        yield "the words are there, but not as the claim puts them"
