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
        idf: How rare each term is, as `idf_in` says, float32.
        is_known: Whether any passage that counts has it, bool.
        scores: BM25 of every passage as a share of what a passage with all terms could reach, float32, 0 to 1.
    """

    def __init__(self, corpus: Corpus, hashes: Sequence[int], also: Mapping[int, np.ndarray] | None = None) -> None:
        self._corpus = corpus
        self._found = [[part.segment.by_term.rows(value) for part in corpus.parts] for value in hashes]
        for value, passages in (also or {}).items():
            if value in hashes:
                at = hashes.index(value)
                self._found[at] = [_with(*pair, passages) for pair in zip(corpus.parts, self._found[at], strict=True)]
        df, self.idf = _rarity(corpus, self._found)
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


def idf_in(corpus: Corpus, hashes: Sequence[int]) -> np.ndarray:
    """How rare terms are in a corpus, float32: the mean of how rare among passages and among sessions.

    A conversation that says a word over and over makes it frequent among passages and is still one conversation. A document in
    no session is one by itself.
    """
    return _rarity(corpus, [[part.segment.by_term.rows(value) for part in corpus.parts] for value in hashes])[1]


_Held = Sequence[tuple["np.ndarray", "np.ndarray"]]
"""The passages of each part that have a term, and how often."""


def _rarity(corpus: Corpus, found: Sequence[_Held]) -> tuple[np.ndarray, np.ndarray]:
    """How many passages have each of some terms, float64, and how rare each is, float32."""
    import numpy as np

    df = np.array([_n_live(corpus, held) for held in found], np.float64)
    n_sessions = np.array([_n_sessions(corpus, held) for held in found], np.float64)
    return df, (_idf(df, corpus.n_live) + _idf(n_sessions, corpus.n_sessions)) / np.float32(2)


def _idf(df: np.ndarray, n: int) -> np.ndarray:
    """How rare what `df` of `n` have is, float32. Source: Robertson and Zaragoza, 2009."""
    import numpy as np

    rare: np.ndarray = np.log(1 + (n - df + 0.5) / (df + 0.5)).astype(np.float32)
    return rare


def _n_live(corpus: Corpus, held: _Held) -> int:
    """How many passages that count have a term, given those that have it in each part."""
    import numpy as np

    live, n = corpus.columns.live, 0
    for part, is_live, (row, _) in zip(corpus.parts, corpus.is_all_live, held, strict=True):
        n += len(row) if is_live else int(np.count_nonzero(live[row + part.first_passage]))
    return n


def _n_sessions(corpus: Corpus, held: _Held) -> int:
    """How many sessions have a term in a passage that counts."""
    import numpy as np

    at = [row + part.first_passage for part, (row, _) in zip(corpus.parts, held, strict=True) if len(row)]
    if not at:
        return 0
    session = corpus.columns.session[np.concatenate(at)]
    seen = np.zeros(corpus.n_sessions + 1, bool)  # the last place is that of passages that do not count
    seen[session] = True
    return int(np.count_nonzero(seen[:-1]))
