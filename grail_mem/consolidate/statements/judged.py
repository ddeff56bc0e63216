"""Conflicts that a model of entailment reads in neighbouring statements where the words show none.

The model is asked twice for a pair, each text as the premise once, and both answers must be sure: that one cannot be true
where the other is, holds in both directions. Knows nothing of which model it is and of which statement is right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.statements.conflicts import Conflict
from grail_mem.consolidate.statements.neighbours import Near, near_pairs
from grail_mem.consolidate.statements.statements import Statements, cut, texts_of
from grail_mem.model.problem import Problem
from grail_mem.support.entailment import EntailmentModel
from grail_mem.support.entailments import scores_of
from grail_mem.support.sentences import sentences
from grail_mem.support.wording import statement_wording, wording

LEAST_SCORE: Final = 0.99
"""What the model must say in both directions. Chosen: benchmark `contradictions`, the pairs `tuned`."""
MOST_ASKED: Final = 500
"""Pairs that a run asks of the model, the newest of each place first: the local one reads some ten pairs in a second."""
CONFIDENCE: Final[Mapping[str, float]] = {"attribute": 0.6, "relation": 0.6, "text": 0.55}
"""How sure it is that a pair cannot both hold, by why it was asked; below what a rule on words is there."""
_AT_ONCE: Final = 16


def judged(statements: Statements, reading: Reading, ruled: Collection[tuple[int, int]]) -> Iterator[Conflict]:
    """The conflicts that the chosen model finds; none without a model.

    Args:
        statements: All of them.
        reading: The store, with the model.
        ruled: Pairs of which the words say it already, the smaller index first; they are not asked.

    Raises:
        InputError: The model did not answer with a number from 0 to 1 for each pair.
    """
    model = reading.entailment
    if model is None:
        return
    near = [pair for pair in near_pairs(statements, reading) if _ordered(pair) not in ruled]
    asked = near[:MOST_ASKED]
    if len(near) > len(asked):
        reading.problems.append(_in_part(model, len(near), len(asked)))
    for first in range(0, len(asked), _AT_ONCE):
        some = asked[first : first + _AT_ONCE]
        yield from _judged(model, some, statements, reading)
        reading.progress(first + len(some), len(asked))


def _judged(
    model: EntailmentModel, some: Sequence[Near], statements: Statements, reading: Reading
) -> Iterator[Conflict]:
    ids = {statements.about[index].id for pair in some for index in (pair.older, pair.newer)}
    said = {id_: _sentence(row) for id_, row in texts_of(reading, sorted(ids)).items()}
    told = [
        (pair, older, newer)
        for pair in some
        if (older := said[statements.about[pair.older].id]) and (newer := said[statements.about[pair.newer].id])
    ]
    forth = scores_of(model, [(older, newer) for _, older, newer in told])
    sure = [(one, score) for one, score in zip(told, forth, strict=True) if score >= LEAST_SCORE]
    back = scores_of(model, [(newer, older) for (_, older, newer), _ in sure])
    for ((pair, older, newer), there), here in zip(sure, back, strict=True):
        if here >= LEAST_SCORE:
            yield _conflict(pair, older, newer, model.name, (round(there, 3), round(here, 3)))


def _conflict(pair: Near, older: str, newer: str, judge: str, scores: tuple[float, float]) -> Conflict:
    left, right = _ordered(pair)
    values = (cut(older), cut(newer)) if left == pair.older else (cut(newer), cut(older))
    return Conflict(pair.about, left, right, values, f"{pair.place} judged", CONFIDENCE[pair.place], judge, scores)


def _ordered(pair: Near) -> tuple[int, int]:
    return min(pair.older, pair.newer), max(pair.older, pair.newer)


def _sentence(row: Mapping[str, Any]) -> str:
    """What a statement says, as the one sentence that a model reads; empty when it says several things.

    A title that says something else than the body goes before it.
    """
    title, content = str(row["title"]), str(row["content"])
    several = list(sentences(content))
    if len(several) != 1:
        return ""
    if statement_wording(title, content) == wording(content):
        return several[0]
    return f"{title}: {several[0]}"


def _in_part(model: EntailmentModel, n_near: int, n_asked: int) -> Problem:
    return Problem(
        "judged_in_part",
        f"{n_near:,} pairs of statements may speak of one thing; {model.name} was asked of the {n_asked:,} newest.",
        "resolve_contradiction",
        remedy="Decide what it found, then run again.",
        severity="warning",
    )
