"""The vectors of a corpus: which passage has which, and which have none yet.

Knows nothing of how vectors are kept and made, nor of what they are compared with.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from grail_mem.index.corpus import Corpus
from grail_mem.index.embedder import Embedder, QuestionVectors, WordEmbedder, WordVectors
from grail_mem.index.vectors import VectorStore
from grail_mem.store.layout import Layout

if TYPE_CHECKING:
    import numpy as np

_DIGITS: Final = 5
"""Decimals of cosines: what lies beyond is less than what half precision leaves of them."""


class Meaning:
    """The vectors of one model for the passages of a corpus; `refresh` brings them up to date.

    Args:
        layout: Where the store is.
        embedder: The model.
    """

    def __init__(self, layout: Layout, embedder: Embedder) -> None:
        import numpy as np

        self.embedder = embedder
        self.lock = threading.Lock()  # a model of the user's own may not stand two callers at a time
        self.store = VectorStore(layout.vectors, embedder.identity)
        self.row = np.zeros(0, np.int64)
        self.n_behind = 0
        self._n_without = 0
        self._seen: object = None
        self._digest = np.zeros(0, np.uint64)

    def refresh(self, corpus: Corpus, *, changed: bool) -> None:
        """Find the vector of every passage; `changed` says whether the corpus did since the last time."""
        self.store.refresh()
        seen = (self.store.state, len(self.store))
        if changed or len(self.row) != corpus.n_passages or seen != self._seen:
            self.row = self._rows(corpus.columns.digest, is_same=seen == self._seen)
            self._seen, self._digest = seen, corpus.columns.digest
            self._n_without = int((self.row < 0).sum())
            self.n_behind = int((corpus.columns.live & (self.row < 0)).sum())

    def _rows(self, digest: np.ndarray, *, is_same: bool) -> np.ndarray:
        """The row of each passage's vector; the first passages, if they and the vectors are as before, are known."""
        import numpy as np

        n = min(len(digest), len(self._digest)) if is_same else 0
        differ = digest[:n] != self._digest[:n]
        n = int(differ.argmax()) if differ.any() else n
        return np.concatenate([self.row[:n], self.store.rows(digest[n:])])

    @property
    def has_words(self) -> bool:
        """Whether there are vectors of words, too."""
        return self.store.has_words

    def question(self, text: str) -> QuestionVectors:
        """The vectors of a question."""
        import numpy as np

        with self.lock:
            if isinstance(self.embedder, WordEmbedder):
                return self.embedder.embed_question(text)
            return QuestionVectors(self.embedder.embed([text])[0], np.zeros((0, 0), np.float32), ())

    def cosines(self, vector: np.ndarray, passages: np.ndarray) -> np.ndarray:
        """Cosine between a question and passages, float32, rounded; -1 for those without a vector.

        Args:
            vector: The question's vector.
            passages: Numbers of passages.
        """
        import numpy as np

        row = self.row[passages]
        made = np.full(len(row), -1, np.float32)
        there = np.flatnonzero(row >= 0)
        # kept at half precision, vectors are not quite of length one
        made[there] = np.round(np.clip(self.store.cosines(vector, row[there]), -1, 1), _DIGITS)
        return made

    def nearest(self, vector: np.ndarray, allowed: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The passages with the best cosines above 0, the best first, those with equal ones in order; and their cosines.

        Args:
            vector: The question's vector.
            allowed: Which passages may be returned, bool, by number.
            n: How many at most.
        """
        import numpy as np

        passages = np.flatnonzero(allowed & (self.row >= 0) if self._n_without else allowed)
        passages = passages[self.store.likely(vector, self.row[passages], n)]
        cosine = self.cosines(vector, passages)
        order = np.argsort(-cosine, kind="stable")[:n]
        order = order[cosine[order] > 0]
        return passages[order], cosine[order]

    def vectors(self, passages: np.ndarray) -> np.ndarray:
        """Vectors of passages, float32, passages x dimension; zeros for those without one.

        Args:
            passages: Numbers of passages, of any shape; a negative one stands for no passage.
        """
        import numpy as np

        row = np.where(passages >= 0, self.row[passages], -1)
        made = self.store.vectors(row)
        made[row < 0] = 0
        return made

    def words(self, passages: np.ndarray) -> tuple[np.ndarray, WordVectors]:
        """Which of the passages have word vectors, and those of the ones that have, in order."""
        row = self.row[passages]
        return row >= 0, self.store.words(row[row >= 0])
