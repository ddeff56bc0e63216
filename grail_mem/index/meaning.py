"""The vectors of a corpus: which passage has which, and which have none yet.

Knows nothing of how vectors are kept and made, nor of what they are compared with.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from grail_mem.index.corpus import Corpus
from grail_mem.index.embedder import Embedder, QuestionVectors, WordEmbedder, WordVectors
from grail_mem.index.vectors import VectorStore
from grail_mem.store.layout import Layout

if TYPE_CHECKING:
    import numpy as np


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
        self._n_seen = -1

    def refresh(self, corpus: Corpus, *, changed: bool) -> None:
        """Find the vector of every passage; `changed` says whether the corpus did since the last time."""
        self.store.refresh()
        if changed or len(self.row) != corpus.n_passages or len(self.store) != self._n_seen:
            self._n_seen = len(self.store)
            self.row = self.store.rows(corpus.columns.digest)
            self.n_behind = int((corpus.columns.live & (self.row < 0)).sum())

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

    def cosines(self, vector: np.ndarray) -> np.ndarray:
        """Cosine between a question and every passage, float32; -1 for those without a vector."""
        import numpy as np

        if not len(self.store):
            return np.full(len(self.row), -1, np.float32)
        # kept at half precision, vectors are not quite of length one
        cosines = np.clip(self.store.similarity(vector), -1, 1)
        return np.where(self.row >= 0, cosines[self.row], np.float32(-1))

    def vectors(self, passages: np.ndarray) -> np.ndarray:
        """Vectors of passages, float32; zeros for those without one."""
        import numpy as np

        row = self.row[passages]
        made = np.zeros((len(passages), self.store.identity.dimension), np.float32)
        made[row >= 0] = self.store.vectors(row[row >= 0])
        return made

    def words(self, passages: np.ndarray) -> tuple[np.ndarray, WordVectors]:
        """Which of the passages have word vectors, and those of the ones that have, in order."""
        row = self.row[passages]
        return row >= 0, self.store.words(row[row >= 0])
