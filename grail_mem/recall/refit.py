"""Refit: the weights of a recipe fitted to labelled questions about one store, near to those that are shipped.

A few dozen questions say little about two dozen weights. So the shipped weights are where the fit begins, leaving them
costs, and how much is chosen by cross-validation: the strength at which questions that were held out have the least loss,
unless that is within chance of the loss by the shipped weights, which then stay. Knows nothing of files of questions and of weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import InputError
from grail_mem.query.view import View
from grail_mem.recall.fitting import Fitted, Labelled, Prior, crossed, fit, losses_of
from grail_mem.recall.labelled import LabelledQuestion, Questions
from grail_mem.recall.measures import NAMES, first_places, row
from grail_mem.recall.ranked import Ranked, Searcher
from grail_mem.recall.ranking import RECIPROCAL, Weights, shipped_weights
from grail_mem.recall.trial import LEAST, Progress, ask, documents_of, folds_of, read_for
from grail_mem.recall.tuning import keep_weights
from grail_mem.settings import RECIPES

if TYPE_CHECKING:
    import numpy as np

STRENGTHS: Final = (3.0, 1.0, 0.3, 0.1, 0.03)
"""How much leaving the shipped weights may cost; the last is what keeps weights small where nothing is known."""
_SHOWN: Final = ("any@5", "all@5", "MRR")


@dataclass(frozen=True, slots=True)
class Taught:
    """One question with what it found.

    Attributes:
        labelled: The candidates, and which of them answer it.
        gold: The documents that answer it, found or not.
    """

    labelled: Labelled
    gold: tuple[int, ...]

    @property
    def can_teach(self) -> bool:
        """Whether an answer is among the candidates, and something else."""
        return bool(self.labelled.is_gold.any() and not self.labelled.is_gold.all())


@dataclass(frozen=True, slots=True)
class Fit:
    """What a fit found.

    Attributes:
        recipe: Whose weights were fitted.
        n_questions: Questions that taught something.
        n_not_found: Questions none of whose answers is among what is weighed, so that no weights can help.
        strength: What leaving the shipped weights costs; None when leaving them helps too little to be sure of.
        before: Shares of the questions with any and with all answers among the first 5, and the mean reciprocal rank, by
            the shipped weights.
        after: The same by fitted weights that did not see the question.
        is_better: Whether leaving the shipped weights helps: no figure fell and the mean reciprocal rank rose.
        weights: The fitted weights and the bias.
        path: Where they were written; None when they were not.
    """

    recipe: str
    n_questions: int
    n_not_found: int
    strength: float | None
    before: Mapping[str, float]
    after: Mapping[str, float]
    is_better: bool
    weights: Weights
    path: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "recipe": self.recipe, "n_questions": self.n_questions, "n_not_found": self.n_not_found, "strength": self.strength,
            "before": dict(self.before), "after": dict(self.after), "is_better": self.is_better,
            "weights": self.weights.to_dict(), "path": self.path,
        }  # fmt: skip


def refit(
    view: View,
    searcher: Searcher,
    questions: Questions,
    *,
    recipe: str | None = None,
    force: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Fit:
    """Fit the weights of one recipe, and keep them in the store if that makes the ranking better.

    Args:
        view: The store.
        searcher: Its corpus and vectors.
        questions: Labelled questions; those without an answer teach nothing. 20 others at least.
        recipe: `words`, `vectors` or `lexical`; None takes the one that is in use.
        force: Keep the weights even if they are no better, unless they are those shipped.
        dry_run: Only report.
        progress: Called with what is being done, how much of it is done, and how much there is.

    Raises:
        InputError: The questions cannot be used or are too few, or the recipe cannot be used here.
        MissingDependencyError: The extra `fit` is not installed.
    """
    ranking = _ranking(recipe, view.settings.ranking)
    asked = [q for q in read_for(view, searcher, questions, ranking) if q.answers]
    _refuse_few(len(asked), len(asked))
    shipped, found = taught(view, searcher, asked, ranking=ranking, progress=progress)
    _refuse_few(sum(q.can_teach for q in found), len(asked))
    made = _fitted(shipped, found, progress)
    if dry_run or made.strength is None or not (made.is_better or force):
        return made
    return replace(made, path=str(keep_weights(view.layout, made.weights)))


def taught(
    view: View,
    searcher: Searcher,
    questions: Sequence[LabelledQuestion],
    *,
    ranking: str,
    progress: Progress | None = None,
) -> tuple[Weights, list[Taught]]:
    """What questions find, and the shipped weights of the recipe by which they are asked.

    Args:
        view: The store.
        searcher: Its corpus and vectors, up to date.
        questions: Questions with an answer, at least one.
        ranking: One of `RANKINGS` that has weights.
        progress: Called with what is being done, how much of it is done, and how much there is.
    """
    document = documents_of(view, searcher, frozenset().union(*(q.answers for q in questions)))
    found = []
    weights: Weights | None = None
    for question, ranked in ask(searcher, questions, ranking=ranking, weights=shipped_weights(), progress=progress):
        weights = ranked.weights
        gold = tuple(document.get(id_, -1) for id_ in sorted(question.answers))
        found.append(Taught(_labelled(ranked, gold), gold))
    assert weights is not None  # noqa: S101  there are questions
    return weights, found


def _ranking(recipe: str | None, ranking: str) -> str:
    if recipe is not None and recipe not in RECIPES:
        raise InputError(f"There is no recipe {recipe!r}; the recipes are {', '.join(RECIPES)}.")
    if recipe is None and ranking == RECIPROCAL:
        raise InputError(
            f"The ranking '{RECIPROCAL}' has no weights.",
            hint="Name a recipe, or choose another ranking in grail.yaml.",
        )
    return recipe or ranking


def _refuse_few(n_usable: int, n_asked: int) -> None:
    if n_usable < LEAST:
        raise InputError(
            f"{n_usable} of {n_asked} questions with an answer can teach something; at least {LEAST} must.",
            hint="A question whose answer is not among the candidates of the search cannot."
            if n_usable < n_asked
            else "Ask more questions that the store can answer.",
        )


def _labelled(ranked: Ranked, gold: Sequence[int]) -> Labelled:
    import numpy as np

    observation = ranked.asked.corpus.columns.doc[ranked.found.passages]
    return Labelled(ranked.columns, observation, np.isin(observation, gold))


def _fitted(shipped: Weights, questions: Sequence[Taught], progress: Progress | None) -> Fit:
    """The fit of everything, with figures of fits that did not see what they are judged by."""
    usable = [place for place, q in enumerate(questions) if q.can_teach]
    some = [questions[place].labelled for place in usable]
    folds = folds_of([0] * len(usable))
    n_fits, done = len(set(folds)) + 1, 0

    def learn(of: Sequence[Labelled]) -> tuple[Fitted, float | None]:
        nonlocal done
        learnt = near(shipped, of)
        done += 1
        if progress is not None:
            progress("fitting", done, n_fits)
        return learnt

    scores = [q.labelled.columns @ _values(shipped) for q in questions]
    before = measured(questions, scores)
    for place, score in zip(usable, crossed(some, folds, lambda of: learn(of)[0]), strict=True):
        scores[place] = score
    after = measured(questions, scores)
    learnt, strength = learn(some)
    is_better = (
        strength is not None and after["MRR"] > before["MRR"] and all(after[name] >= before[name] for name in _SHOWN)
    )
    of = {name: round(float(w), 4) for name, w in zip(shipped.of, learnt.weights, strict=True)}
    weights = Weights(shipped.recipe, round(learnt.bias, 4), of)
    return Fit(shipped.recipe, len(usable), len(questions) - len(usable), strength, before, after, is_better, weights)


def near(shipped: Weights, questions: Sequence[Labelled]) -> tuple[Fitted, float | None]:
    """Weights near to those known, and the strength that holds them there; None where leaving them helps too little.

    Of the strengths by which the loss of what is held out falls by more than its standard error, the one with the least.

    Args:
        shipped: The weights that are known.
        questions: Each with a gold candidate and another one.
    """
    import numpy as np

    folds = folds_of([0] * len(questions))
    prior = _values(shipped)
    known = losses_of(questions, prior)
    best, most = None, 0.0
    for strength in STRENGTHS:
        gain = known - _held_out_losses(questions, folds, Prior(prior, shipped.bias, strength))
        mean, error = float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(len(gain)))
        if mean > max(most, error):
            best, most = strength, mean
    if best is None:
        return Fitted(prior, shipped.bias, float(known.mean())), None
    return fit(questions, Prior(prior, shipped.bias, best)), best


def _values(weights: Weights) -> np.ndarray:
    import numpy as np

    return np.array(list(weights.of.values()))


def _held_out_losses(questions: Sequence[Labelled], folds: Sequence[int], prior: Prior) -> np.ndarray:
    """The loss of each question by weights that did not see it."""
    import numpy as np

    losses = np.zeros(len(questions))
    for fold in sorted(set(folds)):
        held = [place for place, own in enumerate(folds) if own == fold]
        learnt = fit([q for q, own in zip(questions, folds, strict=True) if own != fold], prior)
        losses[held] = losses_of([questions[place] for place in held], learnt.weights)
    return losses


def measured(questions: Sequence[Taught], scores: Sequence[np.ndarray]) -> dict[str, float]:
    """Shares of questions with any and with all golds among the first 5, and the mean reciprocal rank, by scores."""
    import numpy as np

    rows = [
        row(first_places(q.labelled.observation, score), q.gold) for q, score in zip(questions, scores, strict=True)
    ]
    means = dict(zip(NAMES, np.mean(rows, axis=0).tolist(), strict=True))
    return {name: round(means[name], 4) for name in _SHOWN}
