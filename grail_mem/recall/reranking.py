"""Reranking: the best hits ordered anew by a function of the caller's, such as a cross-encoder.

No model comes with the package. Knows nothing of how hits were found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import InputError

if TYPE_CHECKING:
    from grail_mem.recall.hit import Hit

Reranker = Callable[[str, list[str]], Sequence[float]]
"""From a question and texts to a score for each text, higher for better, on any scale."""
N_RERANKED: Final = 50
"""Hits that are ordered anew at most; chosen: a cross-encoder takes ten milliseconds or so for each."""


def chosen_reranker(choice: Any) -> Reranker | None:
    """The reranker that somebody chose.

    Raises:
        InputError: It cannot be called.
    """
    if choice is not None and not callable(choice):
        raise InputError(
            f"A reranker must be a function from a question and texts to scores, not {type(choice).__name__}."
        )
    chosen: Reranker | None = choice
    return chosen


def rerank(reranker: Reranker, question: str, hits: Sequence[Hit]) -> tuple[list[Hit], dict[str, float]]:
    """Hits with the first ones in the reranker's order, equal ones as they were; and its scores by id.

    A hit's own score stays that of the ranking. What the reranker raises is raised.

    Args:
        reranker: The function.
        question: What is asked.
        hits: In order.

    Raises:
        InputError: It did not return a finite number for each text.
    """
    best, rest = hits[:N_RERANKED], hits[N_RERANKED:]
    if not best:
        return list(hits), {}
    scores = _checked(reranker(question, [_text(hit) for hit in best]), len(best))
    order = sorted(range(len(best)), key=lambda place: -scores[place])
    made = [_told(best[place], scores[place], place) for place in order]
    return [*made, *rest], {best[place].id: scores[place] for place in order}


def _text(hit: Hit) -> str:
    from grail_mem.index.document import own_title

    title, said = own_title(hit), hit.passage or hit.content
    return f"{title}\n{said}" if title else said


def _told(hit: Hit, score: float, place: int) -> Hit:
    return replace(hit, reasons=(*hit.reasons, f"reranked by {score:.3f}, was number {place + 1}"))


def _checked(said: Any, n_texts: int) -> list[float]:
    try:
        scores = [float(score) for score in said]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The reranker returned {type(said).__name__}, which is no list of numbers.", hint=_HINT
        ) from error
    if len(scores) != n_texts or not all(map(math.isfinite, scores)):
        what = "numbers that are not finite" if len(scores) == n_texts else f"{len(scores)} scores"
        raise InputError(f"The reranker returned {what} for {n_texts} texts.", hint=_HINT)
    return scores


_HINT: Final = "It must return one finite number for each text, higher for better."
