"""Refit: the weights of a recipe fitted to labelled questions about one store, near to those that are shipped.

A few dozen questions say little about two dozen weights. So the shipped weights are where the fit begins, leaving them
costs, and how much is chosen by cross-validation: a strength for which the questions that were held out are ranked best,
which may be to leave nothing at all. Knows nothing of files of questions and of weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import InputError
from grail_mem.query.view import View
from grail_mem.recall.fitting import Fitted, Labelled, Prior, crossed, fit, loss_of
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
class Fit:
    """What a fit found.

    Attributes:
        recipe: Whose weights were fitted.
        n_questions: Questions that taught something.
        n_not_found: Questions none of whose answers is among what is weighed, so that no weights can help.
        strength: What leaving the shipped weights costs; None when any leaving makes it worse.
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
    asked = [q for q in read_for(view, searcher, questions) if q.answers]
    document = documents_of(view, searcher, frozenset().union(*(q.answers for q in asked)))
    shipped = shipped_weights()
    learnt_from: list[Labelled] = []
    golds: list[list[int]] = []
    weights: Weights | None = None
    for question, ranked in ask(searcher, asked, ranking=ranking, weights=shipped, progress=progress):
        weights = ranked.weights
        golds.append([document[id_] for id_ in sorted(question.answers)])
        learnt_from.append(_labelled(ranked, golds[-1]))
    usable = [place for place, q in enumerate(learnt_from) if q.is_gold.any() and not q.is_gold.all()]
    _refuse_few(asked, len(usable))
    assert weights is not None  # noqa: S101  there are questions
    made = _fitted(weights, learnt_from, golds, usable, progress)
    if dry_run or made.strength is None or not (made.is_better or force):
        return made
    return replace(made, path=str(keep_weights(view.layout, made.weights)))


def _ranking(recipe: str | None, ranking: str) -> str:
    if recipe is not None and recipe not in RECIPES:
        raise InputError(f"There is no recipe {recipe!r}; the recipes are {', '.join(RECIPES)}.")
    if recipe is None and ranking == RECIPROCAL:
        raise InputError(
            f"The ranking '{RECIPROCAL}' has no weights.",
            hint="Name a recipe, or choose another ranking in grail.yaml.",
        )
    return recipe or ranking


def _refuse_few(asked: Sequence[LabelledQuestion], n_usable: int) -> None:
    if n_usable < LEAST:
        raise InputError(
            f"{n_usable} of {len(asked)} questions with an answer can teach something; at least {LEAST} must.",
            hint="Ask more questions; of those given, a search finds no answer at all among what it weighs."
            if len(asked) >= LEAST
            else "Ask more questions that the store can answer.",
        )


def _labelled(ranked: Ranked, gold: Sequence[int]) -> Labelled:
    import numpy as np

    observation = ranked.asked.corpus.columns.doc[ranked.found.passages]
    return Labelled(ranked.columns, observation, np.isin(observation, gold))


def _fitted(
    shipped: Weights, questions: Sequence[Labelled], golds: Sequence[Sequence[int]], usable: Sequence[int],
    progress: Progress | None,
) -> Fit:  # fmt: skip
    """The fit of everything, with figures of fits that did not see what they are judged by."""
    import numpy as np

    prior = np.array(list(shipped.of.values()))
    folds = folds_of([0] * len(usable))
    n_fits, done = len(set(folds)) + 1, 0

    def learn(some: Sequence[Labelled]) -> Fitted:
        nonlocal done
        learnt, _ = _near(prior, shipped.bias, some)
        done += 1
        if progress is not None:
            progress("fitting", done, n_fits)
        return learnt

    taught = [questions[place] for place in usable]
    scores = [q.columns @ prior + shipped.bias for q in questions]
    before = _measured(questions, golds, scores)
    for place, score in zip(usable, crossed(taught, folds, learn), strict=True):
        scores[place] = score
    after = _measured(questions, golds, scores)
    learnt, strength = _near(prior, shipped.bias, taught)
    if progress is not None:
        progress("fitting", n_fits, n_fits)
    is_better = (
        strength is not None and after["MRR"] > before["MRR"] and all(after[name] >= before[name] for name in _SHOWN)
    )
    of = {name: round(float(w), 4) for name, w in zip(shipped.of, learnt.weights, strict=True)}
    weights = Weights(shipped.recipe, round(learnt.bias, 4), of)
    return Fit(shipped.recipe, len(usable), len(questions) - len(usable), strength, before, after, is_better, weights)


def _near(prior: np.ndarray, bias: float, questions: Sequence[Labelled]) -> tuple[Fitted, float | None]:
    """Weights near to those known, as near as ranks best what is held out; and the strength, None for not leaving them."""
    folds = folds_of([0] * len(questions))

    def held_out(strength: float) -> float:
        return _held_out_loss(questions, folds, Prior(prior, bias, strength))

    best, least = None, loss_of(questions, prior)
    for strength in STRENGTHS:
        loss = held_out(strength)
        if loss >= least:
            break  # the loss falls, then rises, as the weights are let loose
        best, least = strength, loss
    if best is None:
        return Fitted(prior, bias, least), None
    return fit(questions, Prior(prior, bias, best)), best


def _held_out_loss(questions: Sequence[Labelled], folds: Sequence[int], prior: Prior) -> float:
    total = 0.0
    for fold in sorted(set(folds)):
        held = [q for q, own in zip(questions, folds, strict=True) if own == fold]
        learnt = fit([q for q, own in zip(questions, folds, strict=True) if own != fold], prior)
        total += loss_of(held, learnt.weights) * len(held)
    return total / len(questions)


def _measured(
    questions: Sequence[Labelled], golds: Sequence[Sequence[int]], scores: Sequence[np.ndarray]
) -> dict[str, float]:
    import numpy as np

    rows = [
        row(first_places(q.observation, score), gold) for q, gold, score in zip(questions, golds, scores, strict=True)
    ]
    means = dict(zip(NAMES, np.mean(rows, axis=0).tolist(), strict=True))
    return {name: round(means[name], 4) for name in _SHOWN}
