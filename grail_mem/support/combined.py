"""Words and a model of entailment together: words are decisive against a claim, the model decides paraphrases.

Knows nothing of which model it is.
"""

from __future__ import annotations

import re
from typing import Final

from grail_mem.index.tokens import terms
from grail_mem.support import words as known
from grail_mem.support.dated import said_on
from grail_mem.support.entailment import EntailmentModel
from grail_mem.support.fit import third_person
from grail_mem.support.lexical import MOST_WORDS, LexicalChecker, Reading, finding_of, read_claim, read_quote, terms_of
from grail_mem.support.reading import Sentence
from grail_mem.support.verdict import SUPPORTED, Support
from grail_mem.support.wording import is_number

LEAST, MOST = 0.45, 0.8
"""Scores of the model's second class between which a premise supports: below it says nothing of the claim, above it
contradicts. Chosen on the half `tuned` of `support_pairs.jsonl`."""
LEAST_COVERED: Final = 0.5
"""The share of the claim's terms that the sentence must have and more, so that both are about one thing. Chosen as above."""
MOST_SENTENCES: Final = 12
"""Sentences of a quote that the model reads, the first that may say the claim; one takes some hundredths of a second."""

_I_FORMS: Final = (
    (re.compile(r"\b(?:I['’]m|I am)\b"), "{} is"), (re.compile(r"\b(?:I['’]ve|I have)\b"), "{} has"),
    (re.compile(r"\bI['’]ll\b"), "{} will"), (re.compile(r"\bI['’]d\b"), "{} would"),
    (re.compile(r"\b(?:my|mine)\b", re.IGNORECASE), "{}'s"), (re.compile(r"\b(?:I|me)\b"), "{}"),
)  # fmt: skip
_ROLE_NAMES: Final = {"user": "The user", "assistant": "The assistant"}


class CombinedChecker:
    """Asks the words first; the model only where the words neither say it nor rule it out."""

    def __init__(self, model: EntailmentModel) -> None:
        self._model = model
        self._lexical = LexicalChecker()
        self.name = model.name

    def check(self, claim: str, quote: str, *, speaker: str = "", role: str = "", context: str = "") -> Support:
        """The verdict; arguments as of `check_support`."""
        said = self._lexical.check(claim, quote, speaker=speaker, role=role, context=context)
        if said.verdict != "unsupported":
            return Support(said.verdict, said.score, self.name, said.reasons)
        made = self._by_model(claim, quote, speaker, role, context)
        return made or Support("unsupported", said.score, self.name, said.reasons)

    def _by_model(self, claim: str, quote: str, speaker: str, role: str, context: str) -> Support | None:
        """What the model finds, when the words do not forbid to ask it; None when that is nothing."""
        today = said_on(context) if context else None
        claims = read_claim(claim, today, speaker=speaker, role=role)
        if isinstance(claims, str) or len(claims) != 1:
            return None
        readings = claims[0]
        found = finding_of(readings, read_quote(quote, today))
        if found.fit or found.hindrance or found.conflict:
            return None
        named = speaker.strip() or _ROLE_NAMES.get(role, "")
        premises = [
            text
            for text, sentence in ((sentence.text, sentence) for sentence in read_quote(quote, today))
            if _may_say(readings[-1], sentence)
        ][:MOST_SENTENCES]
        scores = self._model.contradiction_scores([(_by_name(text, named), claim) for text in premises])
        return self._verdict(scores)

    def _verdict(self, scores: list[float]) -> Support | None:
        """What the scores say; a contradiction that only the model reads is no verdict, as it is wrong too often."""
        if any(score >= MOST for score in scores):
            return Support("unsupported", 0.0, self.name, ("the model reads a contradiction, the words show none",))
        if any(score >= LEAST for score in scores):
            return Support(
                "supported", SUPPORTED, self.name, ("the quote says it in other words, as the model reads it",)
            )
        return None


def _by_name(text: str, named: str) -> str:
    """A sentence with the speaker's name where it says `I`."""
    if named:
        for pattern, form in _I_FORMS:
            text = pattern.sub(form.format(named.replace("\\", "")), text)
    return text


def _may_say(reading: Reading, said: Sentence) -> bool:
    """Whether nothing in the words of a sentence forbids that it says the claim in other words."""
    claim, _ = reading
    ours, theirs = frozenset(claim.words), frozenset(said.words)
    if said.asks or said.is_open or len(said.words) > MOST_WORDS:
        return False
    if (known.OPERATORS | known.NOT_YET) & (theirs ^ ours) or (known.NEGATING & theirs) != (known.NEGATING & ours):
        return False
    if known.QUANTIFIERS & (ours ^ theirs) or (known.PERSONS & ours and not known.PERSONS & theirs):
        return False
    if (known.ROLES & ours) - theirs or ("was" in theirs) != ("was" in ours):
        return False
    wanted, there = frozenset(terms_of(claim)), frozenset(terms_of(said))
    if len(wanted & there) <= LEAST_COVERED * len(wanted):
        return False
    return _names_are_there(claim, said, there) and not _changes_form(claim.words, said.words)


def _names_are_there(claim: Sentence, said: Sentence, there: frozenset[str]) -> bool:
    """Whether every name and number of the claim is in the sentence."""
    named = [
        word
        for word, name in zip(claim.words, claim.names, strict=True)
        if (name or is_number(word)) and not word.startswith("@") and word not in known.FUNCTION_WORDS | known.ARTICLES
    ]
    return all(word in said.words or set(terms(word)) <= there for word in named)


def _changes_form(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether a word stands in both in two forms, other than the `s` of the third person: `lives` and `lived`."""
    forms = {stem: word for word in theirs if word.isalpha() for stem in terms(word)}
    for word in ours:
        other = next((forms[stem] for stem in (terms(word) if word.isalpha() else ()) if stem in forms), word)
        if other not in {word, third_person(word)} and third_person(other) != word and word not in theirs:
            return True
    return False
