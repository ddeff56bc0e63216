"""Whether two texts may speak of one thing at one time, so that it is worth asking a model whether both can hold.

A model of entailment takes each text for a picture of one scene: told that staging runs version 5 and production version 4,
it is sure of a contradiction. What can be seen of that in the words is seen here. Knows nothing of models.
"""

from __future__ import annotations

import re
from typing import Final

from grail_mem.support.difference import DATE_WORDS
from grail_mem.support.sameness import Edit, edits
from grail_mem.support.wording import NEGATIONS, Wording, essence, is_number

_TIMES: Final = """
spring summer autumn fall winter morning noon afternoon evening night midnight dawn weekend weekends weekday weekdays
mondays tuesdays wednesdays thursdays fridays saturdays sundays quarter q1 q2 q3 q4 first third fourth fifth next last since
after before during then later earlier child childhood young
"""
TIME_WORDS: Final = DATE_WORDS.union(_TIMES.split())
"""Words that say when, or which of several times."""
_INDEFINITE: Final = frozenset(("a", "an", "some", "somebody", "someone", "something"))
"""What a text begins with that does not say of which thing it speaks."""
_YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}(?:-[0-9]{2}){0,2}")
_MOST_PLACES: Final = 1
"""Places in which one frame may be filled differently or negated; with two, another thing is said of another thing."""
_FRAME: Final = 0.4
"""The share of the longer text that both must say in one order to be one frame. Chosen: benchmark `contradictions`."""


def is_worth_asking(left: Wording, right: Wording) -> bool:
    """Take two wordings and return whether nothing in them says that they speak of two things or two times."""
    if _INDEFINITE & {*left.words[:1], *right.words[:1]}:
        return False
    ours, theirs = essence(left.words), essence(right.words)
    if sorted(ours) == sorted(theirs):
        return ours != theirs
    if _times(ours) != _times(theirs):
        return False
    found = list(edits(ours, theirs))
    filled = [edit for edit in found if edit.left and edit.right]
    n_shared = len(ours) - sum(len(edit.left) for edit in found)
    differing = [edit for edit in found if edit in filled or not NEGATIONS.isdisjoint(edit.left + edit.right)]
    if n_shared >= _FRAME * max(len(ours), len(theirs)) and len(differing) > _MOST_PLACES:
        return False
    return not (len(found) == len(filled) == 1 and _are_names(filled[0], left, right))


def _times(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for word in words if word in TIME_WORDS or _YEAR.fullmatch(word))


def _are_names(edit: Edit, left: Wording, right: Wording) -> bool:
    """Whether a name or number stands in the place of another: many things are so, and only a rule knows which are exclusive."""
    named = {word for said in (left, right) for word, name in zip(said.words, said.names, strict=True) if name}
    return all(any(word in named or is_number(word) for word in side) for side in (edit.left, edit.right))
