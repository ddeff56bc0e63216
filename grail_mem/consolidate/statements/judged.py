"""Conflicts that a model of entailment reads in neighbouring statements where the words show none.

The model is asked twice for a pair, each text as the premise once, and both answers must be sure: that one cannot be true
where the other is, holds in both directions. Knows nothing of which model it is and of which statement is right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from grail_mem.consolidate.answers import Answers, Scores, Side
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
"""Pairs that a run asks of the model, the newest of each place first; what it said stays for the next run. The local model
reads some ten pairs in a second."""
CONFIDENCE: Final[Mapping[str, float]] = {"attribute": 0.6, "relation": 0.6, "text": 0.55}
"""How sure it is that a pair cannot both hold, by why it was asked; below what a rule on words is there."""
_AT_ONCE: Final = 16
_BOTH: Final = 2


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
    answers = reading.answers or Answers(None, model.name)
    near = [pair for pair in near_pairs(statements, reading) if _ordered(pair) not in ruled]
    waiting = [pair for pair in near if answers.of(*_sides(pair, statements)) is None]
    if len(waiting) > MOST_ASKED:
        reading.problems.append(_in_part(model, len(near), len(waiting)))
    asked = waiting[:MOST_ASKED]
    for first in range(0, len(asked), _AT_ONCE):
        some = asked[first : first + _AT_ONCE]
        _ask(model, some, statements, reading, answers)
        reading.progress(first + len(some), len(asked))
    sure = [pair for pair in near if _is_sure(answers.of(*_sides(pair, statements)))]
    for first in range(0, len(sure), _AT_ONCE):
        some = sure[first : first + _AT_ONCE]
        said = _sentences(some, statements, reading)
        for pair in some:
            scores = answers.of(*_sides(pair, statements)) or ()
            older, newer = (said[id_] for id_, _ in _sides(pair, statements))
            yield _conflict(pair, older, newer, model.name, scores)


def _ask(
    model: EntailmentModel, some: Sequence[Near], statements: Statements, reading: Reading, answers: Answers
) -> None:
    """Ask of some pairs, the older text first; the other way round only where that is sure."""
    said = _sentences(some, statements, reading)
    told: list[tuple[tuple[Side, Side], tuple[str, str]]] = []
    for pair in some:
        older, newer = _sides(pair, statements)
        if said[older[0]] and said[newer[0]]:
            told.append(((older, newer), (said[older[0]], said[newer[0]])))
        else:
            answers.put(older, newer, (0.0,))
    there = scores_of(model, [texts for _, texts in told])
    sure = [texts[::-1] for (_, texts), score in zip(told, there, strict=True) if score >= LEAST_SCORE]
    back = iter(scores_of(model, sure) if sure else ())
    for (pair_of, _), score in zip(told, there, strict=True):
        scores = (score, next(back)) if score >= LEAST_SCORE else (score,)
        answers.put(*pair_of, tuple(round(one, 4) for one in scores))


def _is_sure(scores: Scores | None) -> bool:
    return scores is not None and len(scores) == _BOTH and min(scores) >= LEAST_SCORE


def _sides(pair: Near, statements: Statements) -> tuple[Side, Side]:
    older, newer = statements.about[pair.older], statements.about[pair.newer]
    return (older.id, older.digest), (newer.id, newer.digest)


def _conflict(pair: Near, older: str, newer: str, judge: str, scores: Scores) -> Conflict:
    left, right = _ordered(pair)
    values = (cut(older), cut(newer)) if left == pair.older else (cut(newer), cut(older))
    return Conflict(pair.about, left, right, values, f"{pair.place} judged", CONFIDENCE[pair.place], judge, scores)


def _ordered(pair: Near) -> tuple[int, int]:
    return min(pair.older, pair.newer), max(pair.older, pair.newer)


def _sentences(some: Sequence[Near], statements: Statements, reading: Reading) -> dict[str, str]:
    """What the statements of some pairs say, by id."""
    ids = {id_ for pair in some for id_, _ in _sides(pair, statements)}
    return {id_: _sentence(row) for id_, row in texts_of(reading, sorted(ids)).items()}


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


def _in_part(model: EntailmentModel, n_near: int, n_waiting: int) -> Problem:
    return Problem(
        "judged_in_part",
        f"{n_near:,} pairs of statements may speak of one thing; {model.name} was asked of {MOST_ASKED:,} more, and "
        f"{n_waiting - MOST_ASKED:,} wait.",
        "resolve_contradiction",
        remedy="Run again: each run asks of the newest that wait.",
        severity="warning",
    )
