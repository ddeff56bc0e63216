"""BM25 over the passages of a corpus, all of them at once.

Knows nothing of questions but their terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from grail_mem.index.columns import Part
from grail_mem.index.corpus import Corpus

if TYPE_CHECKING:
    import numpy as np

K1: Final = 1.2
B: Final = 0.4
"""Saturation and length of BM25. Source: Robertson and Zaragoza, 2009; the length counts less for turns than for pages,
measured on the development data."""


class Lexical:
    """What the terms of a question find.

    Args:
        corpus: Where.
        hashes: The distinct terms, by hash.
        also: By term, passages that say it in other words, ascending.

    Attributes:
        idf: How rare each term is, float32; a passage counts when it counts in the corpus.
        scores: BM25 of every passage as a share of what a passage with all terms could reach, float32, 0 to 1.
    """

    def __init__(self, corpus: Corpus, hashes: Sequence[int], also: Mapping[int, np.ndarray] | None = None) -> None:
        import numpy as np

        self._corpus = corpus
        self._found = [[part.segment.by_term.rows(value) for part in corpus.parts] for value in hashes]
        for value, passages in (also or {}).items():
            if value in hashes:
                at = hashes.index(value)
                self._found[at] = [_with(*pair, passages) for pair in zip(corpus.parts, self._found[at], strict=True)]
        self.df = df = np.array([_n_live(corpus, held) for held in self._found], np.float64)
        self.idf = idf_of(df, corpus.n_live)
        self.is_known = df > 0
        self.total = max(float(self.idf[self.is_known].sum()), 1e-6)
        self.scores = self._scores()

    def _scores(self) -> np.ndarray:
        import numpy as np

        norm = self._corpus.length_norm(K1, B)
        scores = np.zeros(self._corpus.n_passages, np.float32)
        for weight, held in zip(self.idf / self.total, self._found, strict=True):
            for part, (row, count) in zip(self._corpus.parts, held, strict=True):
                if len(row):
                    at = row + part.first_passage
                    scores[at] += np.float32(weight) * (count / (count + norm[at]))
        return scores

    def having(self, passages: np.ndarray) -> np.ndarray:
        """Which terms passages have, bool, passages x terms; a negative number stands for no passage."""
        import numpy as np

        has = np.zeros((len(passages), len(self._found)), bool)
        for number, held in enumerate(self._found):
            for part, (row, _) in zip(self._corpus.parts, held, strict=True):
                if len(row):
                    local = passages - part.first_passage
                    at = np.minimum(np.searchsorted(row, local), len(row) - 1)
                    has[:, number] |= row[at] == local
        return has


def _with(part: Part, found: tuple[np.ndarray, np.ndarray], passages: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The passages of a part that have a term and how often, with some more, once each."""
    import numpy as np

    local = passages - part.first_passage
    local = local[(local >= 0) & (local < part.segment.n_passages)]
    new = np.setdiff1d(local, found[0]).astype(found[0].dtype)
    row = np.concatenate([found[0], new])
    order = np.argsort(row, kind="stable")
    return row[order], np.concatenate([found[1], np.ones(len(new), found[1].dtype)])[order]


def idf_of(df: np.ndarray, n: int) -> np.ndarray:
    """How rare terms are that `df` of `n` passages have, float32. Source: Robertson and Zaragoza, 2009."""
    import numpy as np

    rare: np.ndarray = np.log(1 + (n - df + 0.5) / (df + 0.5)).astype(np.float32)
    return rare


def df_of(corpus: Corpus, hashes: Sequence[int]) -> np.ndarray:
    """How many passages have each term."""
    import numpy as np

    held = ([part.segment.by_term.rows(value) for part in corpus.parts] for value in hashes)
    return np.array([_n_live(corpus, one) for one in held], np.float64)


def _n_live(corpus: Corpus, held: Sequence[tuple[np.ndarray, np.ndarray]]) -> int:
    """How many passages that count have a term, given those that have it in each part."""
    import numpy as np

    live, n = corpus.columns.live, 0
    for part, is_live, (row, _) in zip(corpus.parts, corpus.is_all_live, held, strict=True):
        n += len(row) if is_live else int(np.count_nonzero(live[row + part.first_passage]))
    return n
