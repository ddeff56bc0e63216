"""Calibration: the gates of silence fitted to labelled questions about one store, judged by cross-validation.

Knows nothing of files of questions and of gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from grail_mem.errors import InputError
from grail_mem.query.view import View
from grail_mem.recall.labelled import Questions
from grail_mem.recall.ranked import Searcher
from grail_mem.recall.ranking import RECIPROCAL, Weights
from grail_mem.recall.silence import (
    Gate,
    Gates,
    Held,
    auroc,
    crossed,
    fit_gate,
    signals_of,
    speaker_signals_of,
)  # fmt: skip
from grail_mem.recall.trial import LEAST, Progress, ask, folds_of, read_for
from grail_mem.recall.tuning import gates_name, keep_gates, read_tuning


@dataclass(frozen=True, slots=True)
class Judgement:
    """How well a gate tells questions with an answer from those without one.

    Attributes:
        auroc: The chance that a question with an answer scores higher than one without; 0.5 tells nothing.
        answered: Share of the questions with an answer that are not below the floor.
        silent: Share of the questions without an answer that are below the floor.
        floor: Below it, nothing is returned.
        sure: From it on, nothing is doubtful.
    """

    auroc: float
    answered: float
    silent: float
    floor: float
    sure: float


@dataclass(frozen=True, slots=True)
class Compared:
    """One gate before and after.

    Attributes:
        n_answered: Questions with an answer.
        n_unanswered: Questions without one.
        before: The gate in force so far; None when there was none for these scores.
        after: The new gate. What it does is measured on questions that it was not fitted to, by cross-validation.
    """

    n_answered: int
    n_unanswered: int
    before: Judgement | None
    after: Judgement


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What a calibration found.

    Attributes:
        embedder: By what name the gates are kept; `none` for a search without vectors.
        recipe: The weights whose scores they judge.
        topic: Whether anything here is about the question.
        speaker: Whether the one asked for said it; None when too few questions ask for somebody.
        gates: The new gates.
        answered_scores: Scores of the questions with an answer by the new topic gate.
        unanswered_scores: Scores of those without one.
        path: Where they were written; None when they were not.
    """

    embedder: str
    recipe: str
    topic: Compared
    speaker: Compared | None
    gates: Gates
    answered_scores: tuple[float, ...]
    unanswered_scores: tuple[float, ...]
    path: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return asdict(self) | {"gates": self.gates.to_dict()}


@dataclass(slots=True)
class _Signals:
    """Signals of answers, and whether each question has one."""

    of: list[Sequence[float]]
    is_yes: list[bool]

    def add(self, signals: Sequence[float], *, is_yes: bool) -> None:
        self.of.append(signals)
        self.is_yes.append(is_yes)

    def kind(self, *, yes: bool) -> list[Sequence[float]]:
        return [signals for signals, is_yes in zip(self.of, self.is_yes, strict=True) if is_yes is yes]

    def counts(self) -> tuple[int, int]:
        return sum(self.is_yes), len(self.is_yes) - sum(self.is_yes)


def calibrate(
    view: View, searcher: Searcher, questions: Questions, *, dry_run: bool = False, progress: Progress | None = None
) -> Calibrated:
    """Fit the gates for a store's embedder and ranking, and keep them in the store.

    Args:
        view: The store.
        searcher: Its corpus and vectors.
        questions: Labelled questions, 20 with an answer and 20 without one at least.
        dry_run: Only report.
        progress: Called with what is being done, how much of it is done, and how much there is.

    Raises:
        InputError: The questions cannot be used, or are too few.
    """
    ranking = view.settings.ranking
    if ranking == RECIPROCAL:
        raise InputError(
            f"The ranking '{RECIPROCAL}' is never silent, so there is nothing to calibrate.",
            hint="Choose another ranking in grail.yaml.",
        )
    asked = read_for(view, searcher, questions, ranking)
    _refuse_few(sum(bool(q.answers) for q in asked), sum(not q.answers for q in asked))
    tuning = read_tuning(view.layout)
    topic, speaker = _Signals([], []), _Signals([], [])
    weights: Weights | None = None
    for question, ranked in ask(searcher, asked, ranking=ranking, weights=tuning.weights_in_force, progress=progress):
        weights = ranked.weights
        topic.add(signals_of(ranked), is_yes=bool(question.answers))
        said = speaker_signals_of(ranked)
        if said is not None:
            speaker.add(said, is_yes=bool(question.answers))
    assert weights is not None  # noqa: S101  there are questions
    name = gates_name(searcher, weights)
    before, _ = tuning.gates_in_force(name, weights)
    own, compared = _fitted(topic, before.topic if before else None)
    of_speaker, compared_speaker = before.speaker if before else None, None
    if min(speaker.counts()) >= LEAST:
        of_speaker, compared_speaker = _fitted(speaker, of_speaker)
    made = Calibrated(
        name, weights.recipe, compared, compared_speaker, Gates(own, of_speaker, weights.mark),
        tuple(own.score(s) for s in topic.kind(yes=True)), tuple(own.score(s) for s in topic.kind(yes=False)),
    )  # fmt: skip
    return made if dry_run else replace(made, path=str(keep_gates(view.layout, name, made.gates)))


def _refuse_few(n_answered: int, n_unanswered: int) -> None:
    few = [
        f"{n} question{'' if n == 1 else 's'} {kind}"
        for n, kind in ((n_answered, "with an answer"), (n_unanswered, "without one"))
        if n < LEAST
    ]
    if few:
        raise InputError(
            f"There {'is' if few[0].startswith('1 ') else 'are'} {' and '.join(few)}; at least {LEAST} of each kind are needed.",
            hint='A question that the store cannot answer has "answers": [].',
        )


def _fitted(signals: _Signals, before: Gate | None) -> tuple[Gate, Compared]:
    """A new gate, and how it compares with the one before."""
    gate = fit_gate(signals.kind(yes=True), signals.kind(yes=False))
    held = crossed(signals.of, signals.is_yes, folds_of(signals.is_yes))
    was = None
    if before is not None:
        scores = [before.score(s) for s in signals.of]
        was = _judgement([Held(score, score >= before.floor) for score in scores], signals.is_yes, before)
    return gate, Compared(*signals.counts(), was, _judgement(held, signals.is_yes, gate))


def _judgement(held: Sequence[Held], is_yes: Sequence[bool], gate: Gate) -> Judgement:
    yes = [h for h, is_ in zip(held, is_yes, strict=True) if is_]
    no = [h for h, is_ in zip(held, is_yes, strict=True) if not is_]
    return Judgement(
        round(auroc([h.score for h in yes], [h.score for h in no]), 4),
        round(sum(h.passes for h in yes) / len(yes), 4),
        round(sum(not h.passes for h in no) / len(no), 4),
        gate.floor,
        gate.sure,
    )
