"""Measures of a ranking: any and all of the golds among the first, mean reciprocal rank, nDCG.

What is ranked are passages; an observation stands where its best passage does. Knows nothing of how they were ranked.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import numpy as np

NAMES: Final = ("any@5", "all@5", "any@10", "all@10", "recall@5", "MRR", "nDCG@10")
T = TypeVar("T", bound=Hashable)


def first_places(names: Sequence[T] | np.ndarray, score: np.ndarray) -> list[T]:
    """Names by their best score, each once, best first."""
    import numpy as np

    order = np.argsort(-np.asarray(score), kind="stable")
    return list(dict.fromkeys(np.asarray(names)[order].tolist()))


def row(ranked: Sequence[T], gold: Iterable[T]) -> list[float]:
    """The measures of one ranking, in the order of `NAMES`; a gold that is not ranked stands behind everything."""
    import numpy as np

    wanted = list(gold)
    place = {name: i for i, name in enumerate(ranked)}
    ranks = np.array([place.get(name, 10**9) for name in wanted])
    gain = sum(1 / np.log2(2 + r) for r in ranks if r < 10)  # noqa: PLR2004  nDCG@10
    best = sum(1 / np.log2(2 + r) for r in range(min(len(wanted), 10)))
    return [
        float((ranks < 5).any()), float((ranks < 5).all()), float((ranks < 10).any()), float((ranks < 10).all()),  # noqa: PLR2004  as named
        float((ranks < 5).mean()), float(1 / (1 + ranks.min())), float(gain / best),  # noqa: PLR2004  as named
    ]  # fmt: skip
