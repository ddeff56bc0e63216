"""BM25 as it stands in the books, over the passages of a corpus: what ranked recall is measured beside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grail_mem.index.corpus import Corpus
from grail_mem.index.lexical import K1, B


def plain_bm25(corpus: Corpus, hashes: Sequence[int]) -> np.ndarray:
    """BM25 of every passage; rare is what few passages have. Source: Robertson and Zaragoza, 2009.

    Args:
        corpus: All of whose passages count.
        hashes: The distinct terms, by hash.
    """
    n, norm = corpus.n_passages, corpus.length_norm(K1, B)
    scores = np.zeros(n)
    for value in hashes:
        held = [
            (row + part.first_passage, count)
            for part in corpus.parts
            for row, count in [part.segment.by_term.rows(value)]
        ]
        df = sum(len(at) for at, _ in held)
        for at, count in held:
            scores[at] += np.log(1 + (n - df + 0.5) / (df + 0.5)) * count / (count + norm[at])
    return scores
