"""BM25 over the passages of a corpus, all of them at once.

Knows nothing of questions but their terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

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

    Attributes:
        idf: How rare each term is, float32; a passage counts when it counts in the corpus.
        scores: BM25 of every passage as a share of what a passage with all terms could reach, float32, 0 to 1.
    """

    def __init__(self, corpus: Corpus, hashes: Sequence[int]) -> None:
        import numpy as np

        self._corpus = corpus
        live = corpus.columns.live
        self._found: list[list[tuple[np.ndarray, np.ndarray]]] = []
        df = np.zeros(len(hashes))
        for number, value in enumerate(hashes):
            held: list[tuple[np.ndarray, np.ndarray]] = []
            for part in corpus.parts:
                row, count = part.segment.by_term.rows(value)
                df[number] += np.count_nonzero(live[row + part.first_passage]) if len(row) else 0
                held.append((row, count))
            self._found.append(held)
        self.df = df
        self.idf = idf_of(df, corpus.n_live)
        self.is_known = df > 0
        self.total = max(float(self.idf[self.is_known].sum()), 1e-6)
        self._norm = K1 * (1 - B + B * corpus.columns.n_terms / np.float32(corpus.mean_terms)).astype(np.float32)
        self.scores = self._scores()

    def _scores(self) -> np.ndarray:
        import numpy as np

        scores = np.zeros(self._corpus.n_passages, np.float32)
        for weight, held in zip(self.idf / self.total, self._found, strict=True):
            for part, (row, count) in zip(self._corpus.parts, held, strict=True):
                if len(row):
                    at = row + part.first_passage
                    scores[at] += np.float32(weight) * (count / (count + self._norm[at]))
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


def idf_of(df: np.ndarray, n: int) -> np.ndarray:
    """How rare terms are that `df` of `n` passages have, float32. Source: Robertson and Zaragoza, 2009."""
    import numpy as np

    rare: np.ndarray = np.log(1 + (n - df + 0.5) / (df + 0.5)).astype(np.float32)
    return rare


def df_of(corpus: Corpus, hashes: Sequence[int]) -> np.ndarray:
    """How many passages have each term."""
    import numpy as np

    live = corpus.columns.live
    found = np.zeros(len(hashes))
    for number, value in enumerate(hashes):
        for part in corpus.parts:
            row, _ = part.segment.by_term.rows(value)
            found[number] += np.count_nonzero(live[row + part.first_passage]) if len(row) else 0
    return found
