"""Fitting the weights of the ranking to labelled questions.

Each gold passage competes with the passages that are no gold, never with another gold; weights are kept small. Knows
nothing of what the features mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from grail_mem.errors import InputError

if TYPE_CHECKING:
    import numpy as np

L2: Final = 0.03
"""How much large weights cost, in units of standard deviations; .01 to .1 make no difference on the development data."""
N_TRAINED: Final = 200
"""Passages of a question that are learnt from besides its golds: those that look best before weights are fitted."""
_ROUNDS: Final = 3


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


def fit(questions: Sequence[Labelled]) -> Fitted:
    """The weights that rank golds before the rest.

    Args:
        questions: At least one with a gold candidate; those without one teach nothing.

    Raises:
        InputError: No question has a gold candidate.
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
    columns = [((q.columns - mean) / scale).astype(np.float64) for q in usable]
    learnt, loss = np.zeros(columns[0].shape[1]), 0.0
    for _ in range(_ROUNDS):
        parts = [_trained(q, c, learnt) for q, c in zip(usable, columns, strict=True)]
        learnt, loss = _minimum(parts, weight, learnt)
    raw = learnt / scale
    return Fitted(raw, -float(raw @ mean), loss)


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


def _minimum(
    parts: Sequence[tuple[np.ndarray, np.ndarray]], weight: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, float]:
    import numpy as np
    from scipy.optimize import minimize

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = L2 * float(w @ w) / 2, L2 * w
        for (gold, others), share in zip(parts, weight, strict=True):
            g, o = gold @ w, others @ w
            most = max(g.max(), o.max())
            e_gold, e_others = np.exp(g - most), np.exp(o - most)
            whole = e_gold + e_others.sum()
            total -= share * float(np.mean(np.log(np.maximum(e_gold / whole, 1e-30))))
            pull = share / len(g)
            slope = slope - pull * ((1 - e_gold / whole) @ gold) + pull * ((e_others * (1 / whole).sum()) @ others)
        return total, slope

    done = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return done.x, float(done.fun)
