"""The one thing in which two wordings that are otherwise the same contradict each other: a value, or whether it is so.

Everything else must be equal word by word, and nothing in either may say that the statement is past, possible, passing or
one of several. Knows nothing of observations.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from grail_mem.index.tokens import STOP_WORDS
from grail_mem.support.sameness import Edit, edits
from grail_mem.support.wording import NEGATIONS, Wording, essence, is_number, is_passing

_NOT_NOW: Final = """
formerly previously former previous originally until ended quit stopped
maybe perhaps might may could would should plan plans planned planning consider considers considering considered propose proposes
proposed proposal suggest suggests suggested want wants hope hopes if unless whether probably likely possibly either or option
options assume assumes estimate estimated about approximately around roughly almost nearly
also too additionally another both second secondary alternative besides other others various several some sometimes often usually
? ~ ~~ ☐ ≈
"""
UNSETTLED: Final = frozenset(_NOT_NOW.split())
"""Words of what is past, possible, rough or one of several: statements with them can both hold."""
_PAST_TENSE: Final = frozenset(("was", "were", "had", "did", "been"))
"""What happened can happen again in another way."""

_UNITS: Final = """
ms s sec second seconds min minute minutes h hour hours day days week weeks month months year years
b kb mb gb tb kib mib gib tib bit bits byte bytes g kg mg t lb lbs oz mm cm m km mile miles ft inch inches l ml
$ € £ ¥ usd eur gbp chf jpy dollar dollars euro euros cent cents percent k million billion thousand c f kw mw w v mah
"""
UNIT_WORDS: Final = frozenset(_UNITS.split())
_MONTHS: Final = """
january february march april june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday
"""
DATE_WORDS: Final = frozenset(_MONTHS.split())
_CUES: Final = """
is are am = be costs cost has have takes take needs need requires require limited limit set equals uses use runs run weighs weigh
measures earns pays owns contains holds lasts last due starts start begins begin ends end launches launch scheduled expires happens
lives listens supports allows keeps retains employs
"""
_CUE_WORDS: Final = frozenset(_CUES.split())
"""What stands before a value; a number before it is part of what is spoken of."""
_LINKS: Final = "on at to of by in for from $ € £ ¥ - exactly only every max maximum min minimum up port"
_BETWEEN: Final = frozenset(_LINKS.split())
"""What may stand between that and the value."""
_OPPOSITES: Final = """
enabled disabled|on off|open closed|allowed forbidden|allowed prohibited|true false|active inactive|required optional|public private
approved rejected|accepted rejected|supported unsupported|likes dislikes|loves hates|passes fails|always never|possible impossible
synchronous asynchronous|available unavailable|online offline|encrypted unencrypted|paid unpaid|legal illegal|safe unsafe
present absent|complete incomplete|enabled off|male female|vegetarian carnivore|single married|full empty
"""
OPPOSITE: Final = frozenset(frozenset(pair.split()) for pair in _OPPOSITES.replace("\n", "|").split("|") if pair)
_AUXILIARIES: Final = frozenset(("do", "does", "longer", "any"))
_LONGEST_VALUE: Final = 4
"""Words of a value, at most."""
_ALIKE: Final = 0.75
"""Share of equal letters in one order: `color` and `colour` have 0.9, `berlin` and `dublin` 0.67. Chosen."""


class Difference(NamedTuple):
    """In what two wordings contradict each other.

    Attributes:
        what: `number`, `date`, `unit`, `negation`, `opposite` or `value`.
        left: The value in the one; empty for what is not negated there.
        right: The value in the other.
        at: Where it stands, in the essence of the left.
    """

    what: str
    left: str
    right: str
    at: int = 0


def is_settled(said: Wording, *, past: bool = True) -> bool:
    """Whether a text states plainly what is so.

    Args:
        said: Its words.
        past: Take what is said in the past tense, too.
    """
    words = frozenset(said.words)
    used_to = any(a == "used" and b == "to" for a, b in zip(said.words, said.words[1:], strict=False))
    return (
        words.isdisjoint(UNSETTLED)
        and not is_passing(said.words)
        and not used_to
        and (past or words.isdisjoint(_PAST_TENSE))
    )


def difference(left: Wording, right: Wording) -> Difference | None:
    """Take two wordings and return in what they contradict each other; None when in nothing, or in more than one thing."""
    ours, theirs = essence(left.words), essence(right.words)
    found = list(edits(ours, theirs))
    if negated := _negated(found):
        return negated
    if len(found) != 1 or not found[0].left or not found[0].right:
        return None
    edit = found[0]
    if frozenset((*edit.left, *edit.right)) in OPPOSITE and len(edit.left) == len(edit.right) == 1:
        return Difference("opposite", edit.left[0], edit.right[0])
    return _measured(ours, edit)


def replaced(left: Wording, right: Wording) -> Difference | None:
    """The one value that stands in the place of another, whatever it is; None when more differs, or only the spelling."""
    found = list(edits(essence(left.words), essence(right.words)))
    if len(found) != 1:
        return None
    edit = found[0]
    if not edit.left or not edit.right or max(len(edit.left), len(edit.right)) > _LONGEST_VALUE:
        return None
    if alike(edit.left, edit.right) or not STOP_WORDS.isdisjoint(edit.left + edit.right):
        return None
    return Difference("value", " ".join(edit.left), " ".join(edit.right), edit.at)


def is_said_of(words: tuple[str, ...], at: int) -> bool:
    """Whether a place is before the word that says `is` or `has`: it is part of what is spoken of."""
    return any(word in _CUE_WORDS for word in words[at:]) and not any(word in _CUE_WORDS for word in words[:at])


def alike(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether two values may be one, written in two ways: one is part of the other, or most letters are equal."""
    from rapidfuzz.distance import Indel

    if not frozenset(left).isdisjoint(right):
        return True
    if all(map(is_number, left + right)):
        return False
    one, other = "".join(left), "".join(right)
    return one in other or other in one or Indel.normalized_similarity(one, other) >= _ALIKE


def _negated(found: list[Edit]) -> Difference | None:
    """That the one says `not` where the other says the same without it."""
    words = [(edit.left, edit.right) for edit in found]
    negations = [w for edit in found for w in edit.left + edit.right if w in NEGATIONS]
    if len(negations) != 1:
        return None
    rest = [tuple([w for w in side if w not in NEGATIONS and w not in _AUXILIARIES] for side in pair) for pair in words]
    if not all(len(a) == len(b) and all(map(_inflected, a, b)) for a, b in rest):
        return None
    is_left = any(w in NEGATIONS for edit in found for w in edit.left)
    return Difference("negation", *(("not", "") if is_left else ("", "not")))


def _inflected(left: str, right: str) -> bool:
    """Whether two words are one but for the `s` of the third person."""
    short, long = sorted((left, right), key=len)
    return short == long or long in (f"{short}s", f"{short}es") or (short, long) == ("have", "has")


def _measured(ours: tuple[str, ...], edit: Edit) -> Difference | None:
    """That a number, its unit or a date is another one where a value is expected."""
    left, right = edit.left, edit.right
    if len(left) != len(right) or len(left) > _LONGEST_VALUE or not _is_value_place(ours, edit.at):
        return None
    differing = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
    kinds = {_measure(a, b) for a, b in differing}
    if kinds == {"number"} and len(differing) == 1:
        return Difference("number", " ".join(left), " ".join(right))
    if kinds == {"unit"} and is_number(ours[edit.at - 1]):
        return Difference("unit", " ".join((ours[edit.at - 1], *left)), " ".join((ours[edit.at - 1], *right)))
    if kinds in ({"date"}, {"date", "number"}):
        return Difference("date", " ".join(left), " ".join(right))
    return None


def _measure(left: str, right: str) -> str:
    if is_number(left) and is_number(right):
        return "date" if "-" in left and "-" in right else "number"
    if {left, right} <= UNIT_WORDS:
        return "unit"
    return "date" if {left, right} <= DATE_WORDS else ""


def _is_value_place(words: tuple[str, ...], at: int) -> bool:
    """Whether what stands there is what is said, and not what is spoken of."""
    before = at - 1
    while before >= 0 and (words[before] in _BETWEEN or is_number(words[before]) or words[before] in DATE_WORDS):
        before -= 1
    return before >= 0 and words[before] in _CUE_WORDS
