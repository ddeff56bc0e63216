"""In what a sentence contradicts a claim: they are the same but for one fact. Knows nothing of support.

A fact is a number, a unit, a date, a name, a negation, one of two opposites, or who does it to whom.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Final, NamedTuple

from grail_mem.support import words as known
from grail_mem.support.dated import is_date, is_within, may_be_one
from grail_mem.support.difference import DATE_WORDS, OPPOSITE
from grail_mem.support.fit import third_person
from grail_mem.support.reading import Sentence, as_written, is_one_number, number_of
from grail_mem.support.sameness import Edit, edits
from grail_mem.support.wording import is_number

_AUXILIARIES: Final = frozenset(("do", "did", "any", "longer", "anymore", "ever", "have", "all"))
_LEAST_SHARED: Final = 2
"""Words that both must say, so that they are about one thing."""
_MOST_STARTS: Final = 3
_SHORTEST: Final = 3

_Texts = tuple[Sentence, Sentence]
"""The claim and the sentence, whose words are shown as they are written."""


class Conflict(NamedTuple):
    """What the claim says and the sentence says otherwise.

    Attributes:
        reasons: Plain sentences, one for each place.
        is_sure: Both cannot hold; False when they only are not the same.
    """

    reasons: tuple[str, ...]
    is_sure: bool


def conflict(claim: Sentence, said: Sentence) -> Conflict | None:
    """Take a claim and a sentence and return in what they contradict each other; None when that cannot be seen."""
    ours, our_names = _essence(claim)
    theirs, their_names = _essence(said)
    if not known.OPERATORS.isdisjoint(frozenset(theirs) ^ frozenset(ours)):
        return None
    if swapped := _swapped(ours, theirs, claim):
        return swapped
    found = _trimmed(list(edits(ours, theirs)), len(ours))
    if not found or len(ours) - sum(len(edit.left) for edit in found) < _LEAST_SHARED:
        return None
    reasons: list[str] = []
    names = frozenset(
        word for word, name in (*zip(ours, our_names, strict=True), *zip(theirs, their_names, strict=True)) if name
    )
    for edit in found:
        reason = _reason(edit, ours, names, (claim, said))
        if reason is None:
            return None
        reasons += reason
    return Conflict(tuple(reasons), is_sure=True) if reasons else None


def _essence(sentence: Sentence) -> tuple[tuple[str, ...], tuple[int, ...]]:
    idle = known.ARTICLES | known.FILLERS - {"always", "now", "currently"}
    words = sentence.words
    kept = [
        at
        for at, word in enumerate(words)
        if word not in idle and not (word in {"on", "in", "at"} and at + 1 < len(words) and is_date(words[at + 1]))
    ]
    return tuple(words[at] for at in kept), tuple(sentence.names[at] for at in kept)


def _trimmed(found: list[Edit], n_ours: int) -> list[Edit]:
    """The places but for what the sentence says more before and behind."""
    made: list[Edit] = []
    for edit in found:
        right = edit.right
        if edit.at + len(edit.left) == n_ours and len(right) > len(edit.left):
            n_negations = sum(word in known.NEGATING or word in _AUXILIARIES for word in right)
            right = right[: len(edit.left) + (n_negations if edit.left else 0)]
        if edit.at == 0 and not edit.left:
            if not known.NEGATING.isdisjoint(right):
                made.append(edit)
            continue
        if edit.left or right:
            made.append(edit._replace(right=right))
    return made


def _reason(edit: Edit, ours: tuple[str, ...], names: frozenset[str], texts: _Texts) -> list[str] | None:
    """What is contradicted in one place; nothing when it is a trifle, None when the place is more than a contradiction."""
    if len(edit.left) == len(edit.right) == 1 and _are_opposite(edit.left[0], edit.right[0]):
        return [_differs(edit.left[0], edit.right[0], texts)]
    left, right = _positive(edit.left), _positive(edit.right)
    negated = _n_negations(edit.left) != _n_negations(edit.right)
    if len(left) != len(right):
        return None
    made = [_negation(edit)] if negated else []
    before = next((word for word in reversed(ours[: edit.at]) if word not in names), "")
    behind = ours[edit.at + len(edit.left)] if edit.at + len(edit.left) < len(ours) else ""
    for one, other in zip_longest(left, right):
        pair = _pair(one, other, before, behind, names, texts)
        if pair is None:
            return None
        made += [pair] if pair else []
        before = one
    return made if not negated or len(made) == 1 else None


def _pair(one: str, other: str, before: str, behind: str, names: frozenset[str], texts: _Texts) -> str | None:
    """How two words in one place contradict each other; empty when they do not, None when they are two things."""
    if _is_one(one, other):
        return ""
    differs = _differs(one, other, texts)
    if is_date(one) and is_date(other):
        if is_within(other, one):
            return ""
        return None if may_be_one(one, other) else differs
    if is_number(one) and is_number(other) and not is_date(one) and not is_date(other):
        if is_one_number(one, other, behind):
            return ""
        number = number_of(one)
        return differs if number is None or number != number_of(other) else None
    if {one, other} <= known.UNITS and is_number(before):
        return f"the claim says {before} {as_written(texts[0], one)}, the quote {as_written(texts[1], other)}"
    if {one, other} <= DATE_WORDS or _are_opposite(one, other):
        return differs
    if {one, other} <= names and (before in known.EXCLUSIVE or behind in known.EXCLUSIVE or before in {"in", "at"}):
        return f"the claim names {as_written(texts[0], one)}, the quote {as_written(texts[1], other)}"
    return None


def _differs(one: str, other: str, texts: _Texts) -> str:
    return f"the claim says {as_written(texts[0], one)}, the quote {as_written(texts[1], other)}"


def _are_opposite(one: str, other: str) -> bool:
    forms = [{word, word.removesuffix("s")} for word in (one, other)]
    pairs = (frozenset((a, b)) for a in forms[0] for b in forms[1])
    return any(pair in OPPOSITE or pair in known.OPPOSITES for pair in pairs)


def _is_one(one: str, other: str) -> bool:
    return one == other or third_person(one) == other or third_person(other) == one or {one, other} == {"is", "'s"}


def _positive(words: tuple[str, ...]) -> tuple[str, ...]:
    if known.NEGATING.isdisjoint(words):
        return words
    return tuple(word for word in words if word not in known.NEGATING and word not in _AUXILIARIES)


def _n_negations(words: tuple[str, ...]) -> int:
    return sum(word in known.NEGATING for word in words) % 2


def _negation(edit: Edit) -> str:
    word = next(word for word in edit.left + edit.right if word in known.NEGATING).replace("-", " ")
    who, whom = ("claim", "quote") if word.split()[0] in edit.left else ("quote", "claim")
    return f"the {who} says {word}, the {whom} does not"


def _swapped(ours: tuple[str, ...], theirs: tuple[str, ...], claim: Sentence) -> Conflict | None:
    """That the same words stand in another order."""
    forms = tuple(map(_form, ours))
    if len(set(forms)) <= _LEAST_SHARED:
        return None
    for begin in range(min(_MOST_STARTS, max(len(theirs) - len(ours) + 1, 0))):
        window = tuple(map(_form, theirs[begin : begin + len(ours)]))
        if window != forms and sorted(window) == sorted(forms):
            moved = dict.fromkeys(one for one, other in zip(ours, window, strict=True) if _form(one) != other)
            shown = " and ".join(as_written(claim, word) for word in list(moved)[:2])
            is_sure = not known.DIRECTED.isdisjoint({*ours, *theirs})
            return Conflict((f"{shown} stand the other way round in the quote",), is_sure)
    return None


def _form(word: str) -> str:
    """A word without the `s` of the third person."""
    return word[:-1] if len(word) > _SHORTEST and word.endswith("s") else word
