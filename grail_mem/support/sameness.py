"""Whether two wordings are the same statement, and if not, where they differ.

The rule is strict: every word, number, unit, name and negation is there on both sides, in one order. What may differ is what
a careless copy changes: trifles, a typing error, the place of a phrase of time. Synonyms are not looked for: that a synonym
keeps the meaning cannot be seen in the words. Knows nothing of observations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from grail_mem.support.wording import Wording, essence

SAME: Final = 0.97
"""Confidence when all words are equal but for trifles. Chosen: benchmark `duplicates`, as the next ones."""
MOVED: Final = 0.85
"""When a phrase that says when or where has moved from one end to the other."""
SHIFTED: Final = 0.6
"""When it has moved from the beginning into the middle, where it may belong to other words."""
JOINED: Final = 0.85
"""When words are written together on one side: `data base` and `database`."""
KNOWN_TYPO: Final = 0.85
"""When the better spelling is known from other statements."""
LIKELY_TYPO: Final = 0.6
"""When it is not."""

_LEAST_LETTERS: Final = 6
"""Shorter words are one letter away from another word too often: `hired` and `fired`. Chosen: benchmark `duplicates`."""
_ENDING: Final = 2
"""Letters at the end in which a change is inflection, not an error: `server` and `servers`."""
_KNOWN_IN: Final = 3
_RARE_IN: Final = 2
"""In how many statements a spelling stands that is known, and one that is an error, at least and at most."""
_WORDS_PER_TYPO: Final = 6
"""One error in so many words; more is another text."""
_LONGEST_PHRASE: Final = 6
"""Words of a phrase that moves, at most."""
_OPENINGS: Final = "on in at during since after before until yesterday today earlier later"
_OPENS_PHRASE: Final = frozenset(_OPENINGS.split())
"""What a phrase of time or place begins with. `by`, `from`, `to` and `for` are not here: they say who does what to whom."""


class Edit(NamedTuple):
    """One place in which two wordings differ, as the words there on each side; one of them may have none.

    Attributes:
        at: Where the left words begin, in the essence.
        left: The words of the one.
        right: The words of the other.
    """

    at: int
    left: tuple[str, ...]
    right: tuple[str, ...]


def sameness(left: Wording, right: Wording, n_texts: Callable[[str], int]) -> float:
    """How likely two wordings are one statement, 0 to 1; 0 when anything in them says that they are not.

    Args:
        left: One.
        right: The other.
        n_texts: In how many statements a word stands.
    """
    ours, theirs = essence(left.words), essence(right.words)
    if ours == theirs:
        return SAME
    if sorted(ours) == sorted(theirs):
        return max(_moved(ours, theirs), _moved(theirs, ours))
    if len(ours) != len(theirs):
        return JOINED if _joined(ours, theirs) else 0.0
    differing = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    if len(differing) * _WORDS_PER_TYPO > len(ours):
        return 0.0
    names = _names(left) | _names(right)
    return min(_typo(a, b, names, n_texts) for a, b in differing)


def edits(left: tuple[str, ...], right: tuple[str, ...]) -> Iterator[Edit]:
    """Where two sequences of words differ, in order."""
    from rapidfuzz.distance import Indel

    begun: tuple[int, int] | None = None
    end = (0, 0)
    for code in Indel.opcodes(left, right):
        if code.tag == "equal":
            if begun is not None:
                yield Edit(begun[0], left[begun[0] : end[0]], right[begun[1] : end[1]])
            begun = None
        else:
            begun = begun or (code.src_start, code.dest_start)
            end = (code.src_end, code.dest_end)
    if begun is not None:
        yield Edit(begun[0], left[begun[0] : end[0]], right[begun[1] : end[1]])


def _names(said: Wording) -> frozenset[str]:
    return frozenset(word for word, is_name in zip(said.words, said.names, strict=True) if is_name)


def _typo(left: str, right: str, names: frozenset[str], n_texts: Callable[[str], int]) -> float:
    """How likely one of two words is the other with a typing error."""
    from rapidfuzz.distance import OSA

    if left in names or right in names or not (left.isalpha() and right.isalpha()):
        return 0.0
    shorter = min(len(left), len(right))
    if shorter < _LEAST_LETTERS or left[0] != right[0] or OSA.distance(left, right, score_cutoff=1) > 1:
        return 0.0
    if left[-_ENDING:] != right[-_ENDING:]:
        return 0.0
    rare, known = sorted((n_texts(left), n_texts(right)))
    if rare > _RARE_IN:
        return 0.0
    return KNOWN_TYPO if known >= _KNOWN_IN else LIKELY_TYPO


def _moved(left: tuple[str, ...], right: tuple[str, ...]) -> float:
    """How likely the right is the left with the phrase of time or place at its beginning moved elsewhere."""
    for size in range(2, min(_LONGEST_PHRASE, len(left) - 1) + 1):
        phrase, rest = left[:size], left[size:]
        if phrase[0] not in _OPENS_PHRASE:
            return 0.0
        if rest + phrase == right:
            return MOVED
        for at in range(1, len(rest)):
            if right[at : at + size] == phrase and right[:at] + right[at + size :] == rest:
                return SHIFTED
    return 0.0


def _joined(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether both are the same letters, cut into words in another way; numbers are never joined."""
    return "".join(left) == "".join(right) and all(
        word.isalpha() and len(word) > 1 for edit in edits(left, right) for word in edit.left + edit.right
    )
