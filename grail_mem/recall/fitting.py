"""Fitting the weights of the ranking to labelled questions.

Each gold passage competes with the passages that are no gold, never with another gold; weights are kept small, or near to
others that are known to be good. Knows nothing of what the features mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from grail_mem.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    import numpy as np

L2: Final = 0.03
"""How much large weights cost, in units of standard deviations; .01 to .1 make no difference on the development data."""
N_TRAINED: Final = 200
"""Passages of a question that are learnt from besides its golds: those that look best before weights are fitted."""
_ROUNDS: Final = 3
_LEAST_SPREAD: Final = 0.1
"""What the spread of a feature counts at least beside known weights, so that one that hardly varies in few questions cannot
get a large weight; chosen: most features lie between 0 and 1 and spread .1 to .4 on the development data."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One question with its candidates.

    Attributes:
        columns: Features, candidates x features.
        observation: Which observation each candidate is part of.
        is_gold: Whether that answers the question, bool.
        share: How much the questions of its set count together.
    """

    columns: np.ndarray
    observation: np.ndarray
    is_gold: np.ndarray
    share: float = 1.0

    def only(self, features: Sequence[int]) -> Labelled:
        """The same with some of the features."""
        return replace(self, columns=self.columns[:, list(features)])


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was learnt.

    Attributes:
        weights: A weight for each feature.
        bias: Added to every score, so that the mean candidate has 0.
        loss: Mean loss of a question.
    """

    weights: np.ndarray
    bias: float
    loss: float


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known of the weights beforehand.

    Attributes:
        weights: For each feature.
        bias: Added to every score.
        strength: How much it costs to leave them, for the square of standard deviations.
    """

    weights: np.ndarray
    bias: float
    strength: float


def fit(questions: Sequence[Labelled], prior: Prior | None = None) -> Fitted:
    """The weights that rank golds before the rest.

    Args:
        questions: At least one with a gold candidate; those without one teach nothing.
        prior: The weights to begin with and to stay near to; without it they are kept small.

    Returns:
        With a prior, the mean candidate has the score that the prior gives it.

    Raises:
        InputError: No question has a gold candidate.
        MissingDependencyError: The extra `fit` is not installed.
    """
    import numpy as np

    usable = [q for q in questions if q.is_gold.any() and not q.is_gold.all()]
    if not usable:
        raise InputError(
            "No question has an answer among what was found for it.",
            hint="Check that the ids of the answers are right.",
        )
    n_of_share = {share: sum(q.share == share for q in usable) for share in {q.share for q in usable}}
    weight = np.array([q.share / n_of_share[q.share] for q in usable])
    weight /= weight.sum()
    mean = sum(w * q.columns.mean(axis=0, dtype=np.float64) for w, q in zip(weight, usable, strict=True))
    spread = sum(w * ((q.columns - mean) ** 2).mean(axis=0) for w, q in zip(weight, usable, strict=True))
    scale = np.sqrt(spread) + 1e-6
    if prior is not None:
        scale = np.maximum(scale, _LEAST_SPREAD)
    columns = [((q.columns - mean) / scale).astype(np.float64) for q in usable]
    known = np.zeros(len(scale)) if prior is None else prior.weights * scale
    strength = L2 if prior is None else prior.strength
    learnt, loss = known, 0.0
    for _ in range(_ROUNDS):
        parts = [_trained(q, c, learnt) for q, c in zip(usable, columns, strict=True)]
        learnt, loss = _minimum(parts, weight, learnt, known, strength)
    raw = learnt / scale
    if prior is None:
        return Fitted(raw, -float(raw @ mean), loss)
    return Fitted(raw, prior.bias + float((prior.weights - raw) @ mean), loss)


def losses_of(questions: Sequence[Labelled], weights: np.ndarray) -> np.ndarray:
    """The loss of each question by weights; each must have a gold candidate and another one."""
    import numpy as np

    one = np.ones(1)
    parts = (_trained(q, q.columns.astype(np.float64), weights) for q in questions)
    return np.array([_Trained([part], one).loss(weights)[0] for part in parts])


def crossed(
    questions: Sequence[Labelled], folds: Sequence[int], learn: Callable[[Sequence[Labelled]], Fitted]
) -> list[np.ndarray]:
    """Scores of every question's candidates by weights that did not see it.

    Args:
        questions: The questions.
        folds: Number of the fold that holds each out.
        learn: What makes weights of questions.
    """
    learnt = {
        fold: learn([q for q, other in zip(questions, folds, strict=True) if other != fold])
        for fold in sorted(set(folds))
    }
    return [q.columns @ learnt[fold].weights + learnt[fold].bias for q, fold in zip(questions, folds, strict=True)]


def _trained(q: Labelled, columns: np.ndarray, learnt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best passage of each gold observation, then the passages of other observations that look best."""
    import numpy as np

    score = columns @ learnt if learnt.any() else columns.sum(axis=1)
    gold = np.flatnonzero(q.is_gold)
    gold = gold[np.argsort(-score[gold], kind="stable")]
    _, first = np.unique(q.observation[gold], return_index=True)
    others = np.flatnonzero(~q.is_gold)
    others = others[np.argsort(-score[others], kind="stable")[:N_TRAINED]]
    return columns[gold[first]], columns[others]


class _Trained:
    """The passages of all questions that are learnt from, behind one another.

    Args:
        parts: Gold and other passages of each question, at least one of both.
        weight: How much each question counts.
    """

    def __init__(self, parts: Sequence[tuple[np.ndarray, np.ndarray]], weight: np.ndarray) -> None:
        import numpy as np

        n_gold, n_others = (np.array([len(part[kind]) for part in parts]) for kind in (0, 1))
        self._gold, self._others = (np.concatenate([part[kind] for part in parts]) for kind in (0, 1))
        self._first_gold, self._first_other = np.cumsum(n_gold) - n_gold, np.cumsum(n_others) - n_others
        self._of_gold, self._of_other = (np.repeat(np.arange(len(parts)), n) for n in (n_gold, n_others))
        self._counts = (weight / n_gold)[self._of_gold]

    def loss(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss by weights, and its slope."""
        import numpy as np

        g, o = self._gold @ w, self._others @ w
        most = np.maximum(np.maximum.reduceat(g, self._first_gold), np.maximum.reduceat(o, self._first_other))
        e_gold, e_others = np.exp(g - most[self._of_gold]), np.exp(o - most[self._of_other])
        whole = e_gold + np.add.reduceat(e_others, self._first_other)[self._of_gold]
        pull = np.add.reduceat(self._counts / whole, self._first_gold)[self._of_other]
        slope = (e_others * pull) @ self._others - (self._counts * (1 - e_gold / whole)) @ self._gold
        return -float(self._counts @ np.log(np.maximum(e_gold / whole, 1e-30))), slope


def _minimum(
    parts: Sequence[tuple[np.ndarray, np.ndarray]],
    weight: np.ndarray,
    start: np.ndarray,
    known: np.ndarray,
    strength: float,
) -> tuple[np.ndarray, float]:
    try:
        from scipy.optimize import minimize
    except ImportError as error:
        raise MissingDependencyError("Fitting weights needs scipy.", hint="pip install 'grail-mem[fit]'") from error

    trained = _Trained(parts, weight)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        away = w - known
        own, slope = trained.loss(w)
        return own + strength * float(away @ away) / 2, slope + strength * away

    done = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return done.x, float(done.fun)
