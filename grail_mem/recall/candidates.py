"""Candidates: the passages that are weighed at all, each with which retrievers brought it.

A retriever only ever brings passages that may be returned. Knows nothing of weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from grail_mem.index.rows import among, distinct, expanded
from grail_mem.recall.evidence import Asked, Evidence, gather
from grail_mem.recall.links import N_SEEDS, Link, links

if TYPE_CHECKING:
    import numpy as np

N_LEXICAL: Final = 500
N_VECTOR: Final = 300
N_WINDOW: Final = 60
N_SESSIONS: Final = 12
N_OF_SESSIONS: Final = 100
N_GRAPH: Final = 200
"""Measured on a store of all development sets together: more find nothing that is ranked among the first."""
_BLOCK: Final = 64
"""Scores that are told by their best at first; chosen, so that 20,000 passages already gain."""
SESSION_REACH: Final = 20
"""Of a long session, the passages so near to a hit; chosen."""


@dataclass(slots=True)
class Candidates:
    """Passages to weigh.

    Attributes:
        passages: Ascending, int64.
        by: By retriever, the passages that it brought, ascending.
        evidence: What speaks for them.
        links: Where the best of them lead.
    """

    passages: np.ndarray
    by: dict[str, np.ndarray]
    evidence: Evidence
    links: list[Link] = field(default_factory=list)


def candidates(asked: Asked, allowed: np.ndarray) -> Candidates:
    """The passages to weigh for a question.

    Args:
        asked: The question.
        allowed: Which passages may be returned, bool, by number.
    """
    import numpy as np

    corpus = asked.corpus
    lexical = _best(np.where(allowed, asked.lexical.scores, 0), N_LEXICAL)
    vector, cosine = asked.nearest(allowed, N_VECTOR)
    titled = corpus.passages_of(asked.titled)
    by = {"lexical": lexical, "vector": vector, "entity": titled[allowed[titled]][:N_GRAPH]}
    near = corpus.around(np.concatenate([lexical[:N_WINDOW], vector[:N_WINDOW]])).ravel()
    by["window"] = near[near >= 0]
    by["session"] = _mates(asked, lexical[:N_OF_SESSIONS], vector[:N_OF_SESSIONS], cosine[:N_OF_SESSIONS])
    by = {name: distinct(found[allowed[found]]) for name, found in by.items()}
    passages = distinct(np.concatenate(list(by.values())))
    evidence = gather(asked, passages)
    found = _links(asked, evidence, passages, allowed)
    reached = _reached(found)
    by["graph"] = reached
    new = reached[~among(reached, passages)]
    if len(new):
        passages = distinct(np.concatenate([passages, new]))
        evidence = gather(asked, new, evidence)
    return Candidates(passages, by, evidence, found)


def _best(scores: np.ndarray, n: int) -> np.ndarray:
    """The passages with the best scores above 0, the best first, those with equal ones in order."""
    import numpy as np

    least = _nth_of_blocks(scores, n)
    at = np.flatnonzero(scores >= least if least > 0 else scores > 0)
    if len(at) > n:
        least = np.partition(scores[at], len(at) - n)[len(at) - n]
        at = at[scores[at] >= least]
    return at[np.argsort(-scores[at], kind="stable")][:n]


def _nth_of_blocks(scores: np.ndarray, n: int) -> float:
    """A bound that at least n scores reach, by one look at each: the n-th best of the bests of blocks; 0 for few scores."""
    import numpy as np

    n_blocks = len(scores) // _BLOCK
    if n_blocks < n:
        return 0.0
    best = scores[: n_blocks * _BLOCK].reshape(n_blocks, _BLOCK).max(axis=1)
    return float(np.partition(best, n_blocks - n)[n_blocks - n])


def _mates(asked: Asked, lexical: np.ndarray, vector: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """The passages of the sessions in which most was found, near to what was found."""
    import numpy as np

    columns = asked.corpus.columns
    hits = np.concatenate([lexical, vector])
    score = np.concatenate([asked.lexical.scores[lexical], cosine])
    sessions, place = np.unique(columns.session[hits], return_inverse=True)
    total = np.bincount(place, score.astype(np.float64), minlength=len(sessions))
    best = np.sort(sessions[np.argsort(-total, kind="stable")[:N_SESSIONS]])
    at = columns.place[hits[among(columns.session[hits], best)]]
    around = distinct(np.clip(expanded(at - SESSION_REACH, at + SESSION_REACH + 1), 0, max(len(columns.at) - 1, 0)))
    found = columns.at[around] if len(columns.at) else around
    mates: np.ndarray = found[among(columns.session[found], best)]
    return mates


def _links(asked: Asked, evidence: Evidence, passages: np.ndarray, allowed: np.ndarray) -> list[Link]:
    """Where the passages lead that look best before anything is weighed."""
    import numpy as np

    at = evidence.places(passages)
    base = (
        0.4 * _of_best(evidence.bm25[at])
        + 0.3 * _of_best(evidence.cosine[at])
        + 0.3 * _of_best(evidence.word_score[at])
        + 0.2 * evidence.titled[at]
    )
    order = np.argsort(-np.round(base, 5), kind="stable")[:N_SEEDS]
    order = order[base[order] > 0]
    if not len(order):
        return []
    weights = (base[order] / base[order[0]]) ** 2
    return links(asked, passages[order], weights, allowed)


def _of_best(values: np.ndarray) -> np.ndarray:
    most = float(values.max(initial=0))
    return values / most if most > 0 else values


def _reached(found: list[Link]) -> np.ndarray:
    """The passages that the strongest links lead to."""
    import numpy as np

    to = np.concatenate([np.zeros(0, np.int64), *(link.to for link in found)])
    strength = np.concatenate([np.zeros(0), *(link.weight * (link.says_title + link.strength) for link in found)])
    passages, place = np.unique(to, return_inverse=True)
    best = np.zeros(len(passages))
    np.maximum.at(best, place, strength)
    return np.sort(passages[np.argsort(-np.round(best, 5), kind="stable")[:N_GRAPH]])
