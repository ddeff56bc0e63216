"""Evidence: what speaks for each of some passages when a question is asked, before any weighing.

Knows nothing of weights, and of how the passages were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Final

from grail_mem.index.corpus import Corpus
from grail_mem.index.document import MAX_NAME_TERMS, phrase_hash, term_hash
from grail_mem.index.embedder import QuestionVectors
from grail_mem.index.lexical import Lexical, idf_in
from grail_mem.index.meaning import Meaning
from grail_mem.index.rows import among, distinct
from grail_mem.index.tokens import terms
from grail_mem.model.names import entity_key
from grail_mem.recall.question import Question

if TYPE_CHECKING:
    import numpy as np

GENERIC: Final = frozenset(["kind", "type", "sort", "name", "many", "much", "long", "time", "thing", "way"])
"""Words that ask for a kind of answer rather than say what it is about, as they are found in questions of people."""
GENERIC_SHARE: Final = 0.25
"""What such a word counts of another's weight; measured on the development data."""
_DIGITS: Final = 5
"""Decimals of cosines of words: what lies beyond depends on how many are computed at a time."""


class Asked:
    """A question put to a corpus.

    Args:
        question: What is asked.
        corpus: Where.
        meaning: Vectors, or None to do without.
        also: By the hash of a term, passages that say it in other words.
    """

    def __init__(
        self,
        question: Question,
        corpus: Corpus,
        meaning: Meaning | None,
        also: Mapping[int, np.ndarray] | None = None,
    ) -> None:
        self.question, self.corpus, self.meaning = question, corpus, meaning
        self.has_other_names = bool(also)
        self.hashes = [term_hash(term) for term in dict.fromkeys(question.terms)]
        self.lexical = Lexical(corpus, self.hashes, also)
        self.vectors: QuestionVectors | None = meaning.question(question.search_text) if meaning else None

    def cosines(self, passages: np.ndarray) -> np.ndarray:
        """Cosine between the question and passages, float32; -1 for those without a vector."""
        import numpy as np

        if self.meaning is None or self.vectors is None:
            return np.full(len(passages), -1, np.float32)
        return self.meaning.cosines(self.vectors.vector, passages)

    def nearest(self, allowed: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The passages that may be returned and are the most alike, the best first, and their cosines; none without vectors."""
        import numpy as np

        if self.meaning is None or self.vectors is None:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        return self.meaning.nearest(self.vectors.vector, allowed, n)

    @property
    def has_words(self) -> bool:
        """Whether words can be compared by their vectors."""
        return self.meaning is not None and self.meaning.has_words and self.vectors is not None

    @cached_property
    def word_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """How much each word vector of the question counts: by how rare its word is; and the same with generic words less."""
        import numpy as np

        assert self.vectors is not None  # noqa: S101  asked only when there are word vectors
        words = [self.question.search_text[begin:end] for begin, end in self.vectors.spans]
        said = [terms(word)[:1] or [word] for word in words]
        idf = idf_in(self.corpus, [term_hash(term) for (term,) in said])
        pieces = np.array([words.count(word) for word in words] or [1])[: len(words)]
        plain = idf / pieces
        less = plain * np.where([word.casefold().rstrip("s") in GENERIC for word in words], GENERIC_SHARE, 1)
        return _share(plain), _share(less)

    @cached_property
    def phrases(self) -> dict[int, int]:
        """Hashes of the runs of up to eight terms that the question has, with how many terms each has."""
        return {value: len(run) for value, run in runs_of(self.question.text).items()}

    @cached_property
    def phrase_hashes(self) -> np.ndarray:
        """Hashes of those runs, uint64, ascending."""
        import numpy as np

        return np.array(sorted(self.phrases), np.uint64)

    @cached_property
    def titled(self) -> np.ndarray:
        """Documents whose title the question says, each title at its longest."""
        import numpy as np

        found: dict[int, list[np.ndarray]] = {}
        for part in self.corpus.parts:
            titles = part.segment.by_title
            for value in self.phrase_hashes[titles.having(self.phrase_hashes)].tolist():
                found.setdefault(value, []).append(titles.rows(value)[0] + part.first_document)
        inner = _contained(self.phrases, found, [term_hash(t) for t in terms(self.question.text)])
        listed = [rows for value, parts in found.items() if value not in inner for rows in parts]
        return distinct(np.concatenate([np.zeros(0, np.int64), *listed]))

    @cached_property
    def speaker(self) -> tuple[int, float]:
        """Number of the speaker asked for, -1 for none; and 1 when it is sure, else 0."""
        question, speakers = self.question, self.corpus.columns.speakers
        key = entity_key(question.subject) if question.subject else ""
        return (speakers.index(key), float(question.subject_is_sure)) if key in speakers else (-1, 0.0)


def runs_of(text: str) -> dict[int, list[int]]:
    """By their hash, the runs of up to eight terms that a text has, as hashes of the terms."""
    said = [term_hash(term) for term in terms(text)]
    return {
        phrase_hash(said[begin : begin + n]): said[begin : begin + n]
        for n in range(1, MAX_NAME_TERMS + 1)
        for begin in range(len(said) - n + 1)
    }


def _share(weights: np.ndarray) -> np.ndarray:
    shared: np.ndarray = (weights / max(float(weights.sum()), 1e-6)).astype("float32")
    return shared


def _contained(phrases: dict[int, int], found: dict[int, list[np.ndarray]], said: list[int]) -> set[int]:
    """Those found phrases that only occur inside longer found ones."""
    covered: set[int] = set()
    free: set[int] = set()
    spans = [
        (begin, begin + n, value)
        for value, n in phrases.items()
        if value in found
        for begin in range(len(said) - n + 1)
        if phrase_hash(said[begin : begin + n]) == value
    ]
    for begin, end, value in spans:
        inside = any(b <= begin and end <= e and (e - b) > (end - begin) for b, e, _ in spans)
        (covered if inside else free).add(value)
    return covered - free


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for passages; all arrays end with a row for no passage.

    Attributes:
        passages: The passages, ascending, int64.
        has: Which terms of the question each has, float32, passages x terms.
        bm25: Share of the best possible BM25, float32.
        cosine: With the question, float32.
        words: For each word of the question, the best cosine with one of the passage's, float32, passages x words.
        word_score: The same weighed by how rare the words are, float32.
        titled: Whether the question says the passage's title, float32.
    """

    passages: np.ndarray
    has: np.ndarray
    bm25: np.ndarray
    cosine: np.ndarray
    words: np.ndarray
    word_score: np.ndarray
    titled: np.ndarray

    def places(self, passages: np.ndarray) -> np.ndarray:
        """The rows of passages; the last one for those that are not there."""
        import numpy as np

        known = self.passages
        if not len(known):
            return np.zeros(passages.shape, np.int64)
        at = np.minimum(np.searchsorted(known, passages), len(known) - 1)
        return np.where(known[at] == passages, at, len(known))


def gather(asked: Asked, passages: np.ndarray, known: Evidence | None = None) -> Evidence:
    """What speaks for passages and what stands around them.

    Args:
        asked: The question.
        passages: Any, in any order.
        known: What is known of others, which comes along.
    """
    import numpy as np

    near = asked.corpus.around(passages)
    wanted = distinct(near[near >= 0]).astype(np.int64)
    if known is None:
        return _gathered(asked, wanted)
    more = _gathered(asked, wanted[~among(wanted, known.passages)])
    order = np.argsort(np.concatenate([known.passages, more.passages]), kind="stable")

    def joined(name: str) -> np.ndarray:
        """Rows of both in the order of passages; the row for no passage stays the last."""
        one, other = getattr(known, name), getattr(more, name)
        rows: np.ndarray = np.concatenate([one[:-1], other])[np.append(order, len(order))]
        return rows

    passages = np.concatenate([known.passages, more.passages])[order]
    return Evidence(passages, *(joined(item.name) for item in fields(Evidence)[1:]))


def _gathered(asked: Asked, wanted: np.ndarray) -> Evidence:
    """What speaks for passages, ascending and each once."""
    import numpy as np

    corpus = asked.corpus
    n = len(wanted)
    has = np.zeros((n + 1, len(asked.hashes)), np.float32)
    has[:n] = asked.lexical.having(wanted)
    words = np.zeros((n + 1, 0), np.float32)
    word_score = np.zeros(n + 1, np.float32)
    if asked.has_words:
        words = _best_words(asked, wanted)
        word_score = np.einsum("pt,t->p", words, asked.word_weights[0])  # each by itself
    titled = np.append(among(corpus.columns.doc[wanted], asked.titled).astype(np.float32), np.float32(0))
    return Evidence(
        wanted, has, np.append(asked.lexical.scores[wanted], np.float32(0)),
        np.append(np.maximum(asked.cosines(wanted), 0), np.float32(0)), words, word_score, titled,
    )  # fmt: skip


def _best_words(asked: Asked, passages: np.ndarray) -> np.ndarray:
    """The best cosine of each word of the question with a word of each passage. Source: Khattab and Zaharia, ColBERT, 2020."""
    import numpy as np

    assert asked.meaning is not None and asked.vectors is not None  # noqa: S101, PT018  asked only when there are word vectors
    there, words = asked.meaning.words(passages)
    best = np.zeros((len(passages) + 1, len(asked.vectors.words)), np.float32)
    if words.first[-1]:
        cosines = words.vectors.astype(np.float32) @ (asked.vectors.words.T / np.float32(250))
        filled = np.diff(words.first) > 0
        most = np.maximum.reduceat(cosines, words.first[:-1][filled], axis=0)
        best[np.flatnonzero(there)[filled]] = np.round(np.clip(most, 0, 1), _DIGITS)
    return best
