"""Embedding what has no vector yet, batch by batch, so that whoever waits or stops loses nothing.

Knows nothing of when it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final

from grail_mem.index.corpus import Corpus
from grail_mem.index.document import embedded_texts
from grail_mem.index.embedder import WordEmbedder, WordVectors
from grail_mem.index.meaning import Meaning
from grail_mem.query.view import View

if TYPE_CHECKING:
    import numpy as np

Progress = Callable[[str, int, int], None]
_BATCH: Final = 128
"""Texts that are embedded and written at a time: a second or so of work, which is what a kill loses."""
_ROWS: Final = 1_000


def texts_without_vector(view: View, corpus: Corpus, meaning: Meaning) -> list[str]:
    """The texts of passages that have no vector yet, each once, in order."""
    import numpy as np

    columns = corpus.columns
    wanted = np.unique(columns.doc[columns.live & (meaning.row < 0)])
    held = set(meaning.store.digests().tolist())
    found: dict[int, str] = {}
    for document, texts in _texts(view, corpus, wanted):
        first = int(columns.first_passage[document])
        for number, text in enumerate(texts):
            digest = int(columns.digest[first + number])
            if digest not in held:
                found.setdefault(digest, text)
    return list(found.values())


def _texts(view: View, corpus: Corpus, documents: np.ndarray) -> Iterator[tuple[int, Iterator[str]]]:
    rows = corpus.columns.row[documents]
    for document, row in zip(documents[rows < -1].tolist(), rows[rows < -1].tolist(), strict=True):
        yield document, embedded_texts(corpus.delta[-2 - row])
    reader = view.live_base()
    below = documents[rows >= 0]
    for start in range(0, len(below), _ROWS):
        chosen = below[start : start + _ROWS]
        read = reader.observations(corpus.columns.row[chosen].tolist()) if reader else []
        yield from zip(chosen.tolist(), map(embedded_texts, read), strict=True)


def embed(
    meaning: Meaning,
    texts: list[str],
    *,
    progress: Progress | None = None,
    lock: AbstractContextManager[object] | None = None,
) -> int:
    """Make the vectors of texts and keep them; returns how many were made.

    Args:
        meaning: Where they are kept, and the model.
        texts: The texts.
        progress: Called with what is being done, how much of it is done, and how much there is.
        lock: Held while vectors are put where others read them.
    """
    done = 0
    for some in _batches(sorted(texts, key=len)):
        made = make(meaning, some)
        with lock or nullcontext():
            keep(meaning, some, made)
        done += len(some)
        if progress is not None:
            progress("embedding", done, len(texts))
    return done


def make(meaning: Meaning, texts: list[str]) -> tuple[np.ndarray, WordVectors | None]:
    """The vectors of texts, and of their words where the model has some; one caller at a time asks the model."""
    with meaning.lock:
        if isinstance(meaning.embedder, WordEmbedder):
            return meaning.embedder.embed_words(texts)
        return meaning.embedder.embed(texts), None


def keep(meaning: Meaning, texts: list[str], made: tuple[np.ndarray, WordVectors | None]) -> None:
    """Keep the vectors of texts."""
    meaning.store.add(texts, *made)


def _batches(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), _BATCH):
        yield texts[start : start + _BATCH]
