"""Ranked search: a question put to everything a view shows, and the passages that answer it best.

Knows nothing of packs and of whether the answer is good enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo

from grail_mem.index.columns import Columns
from grail_mem.index.corpus import Corpus, Progress
from grail_mem.index.embedder import Embedder
from grail_mem.index.meaning import Meaning
from grail_mem.model.filter import Filter
from grail_mem.query.view import View
from grail_mem.recall.aliases import passages_by_other_names
from grail_mem.recall.candidates import Candidates, candidates
from grail_mem.recall.evidence import Asked
from grail_mem.recall.features import features
from grail_mem.recall.question import Question, known_names, read_question
from grail_mem.recall.ranking import (
    RANKS,
    RECIPROCAL,
    WEIGHTED,
    Weights,
    recipe_named,
    reciprocal_ranks,
    shipped_weights,
)  # fmt: skip

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a question found.

    Attributes:
        asked: The question.
        found: The candidates.
        weights: What they were weighed by.
        columns: Features of the candidates, in the order of the weights.
        score: Score of each candidate.
        order: Candidates from the best to the worst.
    """

    asked: Asked
    found: Candidates
    weights: Weights
    columns: np.ndarray
    score: np.ndarray
    order: np.ndarray


class Searcher:
    """What one process keeps between questions: the corpus of a view, and its vectors.

    Args:
        view: The store.
        embedder: The model, or None to do without vectors.
    """

    def __init__(self, view: View, embedder: Embedder | None) -> None:
        self.view, self.embedder = view, embedder
        self.corpus = Corpus(view.layout)
        self._speakers: tuple[str, ...] = ()
        self._holds: tuple[Columns, np.ndarray, np.ndarray] | None = (
            None  # what held the last time, since little changes
        )
        self._known = known_names({})
        self.meaning = Meaning(view.layout, embedder) if embedder is not None else None

    def refresh(self, *, progress: Progress | None = None) -> None:
        """Bring corpus and vectors up to date with the view, which must be; `progress` as for `Corpus.refresh`."""
        changed = self.corpus.refresh(self.view, progress=progress)
        if self.meaning is not None:
            self.meaning.refresh(self.corpus, changed=changed)

    @property
    def n_behind(self) -> int:
        """Passages that have no vector yet."""
        return self.meaning.n_behind if self.meaning is not None else 0

    @property
    def gates_name(self) -> str:
        """By what name the gates of this search are kept: the embedder's, or `none` without vectors."""
        if self.embedder is None or self._usable() is None:
            return "none"
        identity = self.embedder.identity
        return identity.name

    def read(self, text: str, asked_at: datetime) -> Question:
        """What a question asks for."""
        speakers = self.corpus.speakers
        if self._speakers != speakers:
            self._speakers, self._known = speakers, known_names({key: (key,) for key in speakers})
        return read_question(text, speakers=self._known, asked_at=asked_at, zone=ZoneInfo(self.view.settings.zone))

    def allowed(self, f: Filter) -> np.ndarray:
        """The passages of observations that meet a filter, bool, by number."""
        import numpy as np

        corpus = self.corpus
        if f == Filter():
            return corpus.columns.live
        if f.current_us is not None and replace(f, current_us=None) == Filter():
            return self._holding(f.current_us)
        reader = self.view.live_base()
        rids = reader.rids(f) if reader is not None else np.zeros(0, np.int32)
        below = corpus.document_of_row[rids]
        ids = {found.id for found in self.view.loose().matching(f)}
        loose = [corpus.document_of_delta[number] for number, o in enumerate(corpus.delta) if o.id in ids]
        documents = np.concatenate([below[below >= 0], np.array(loose, np.int64)])
        allowed = np.zeros(corpus.n_passages, bool)
        allowed[corpus.passages_of(documents)] = True
        return allowed

    def _holding(self, at_us: int) -> np.ndarray:
        """The passages of observations that hold at an instant, as most do: the others alone are looked for."""
        import numpy as np

        corpus, reader = self.corpus, self.view.live_base()
        rids = reader.rids_not_holding(at_us) if reader is not None else np.zeros(0, np.int32)
        below = corpus.document_of_row[rids]
        ids = self.view.loose().not_holding(at_us)
        loose = (
            [corpus.document_of_delta[number] for number, o in enumerate(corpus.delta) if o.id in ids] if ids else []
        )
        over = np.concatenate([below[below >= 0], np.array(loose, np.int64)])
        if not len(over):
            return corpus.columns.live
        if self._holds is None or self._holds[0] is not corpus.columns or not np.array_equal(self._holds[1], over):
            allowed = corpus.columns.live.copy()
            allowed[corpus.passages_of(over)] = False
            self._holds = corpus.columns, over, allowed
        return self._holds[2]

    def rank(
        self,
        question: Question,
        allowed: np.ndarray,
        weights: Mapping[str, Weights] | None = None,
        stage: Callable[[str, Callable[[], Any]], Any] | None = None,
        ranking: str = WEIGHTED,
    ) -> Ranked:
        """Weigh the passages that may answer a question.

        Args:
            question: As it was read.
            allowed: Which passages may be returned, bool, by number.
            weights: By recipe; those that come with the package when left out.
            stage: Called with the name of each stage and what does it; returns what that returns.
            ranking: One of `RANKINGS`.

        Raises:
            InputError: The ranking needs vectors that the embedder does not make.
        """
        import numpy as np

        run = stage or (lambda _, work: work())
        of = weights or shipped_weights()
        meaning = self._usable()
        chosen = RANKS if ranking == RECIPROCAL else of[self._recipe(ranking)]
        if chosen.recipe == "lexical":
            meaning = None
        also = passages_by_other_names(self.view, self.corpus, question.text)
        asked: Asked = run("search", lambda: Asked(question, self.corpus, meaning, also))
        found: Candidates = run("candidates", lambda: candidates(asked, allowed))
        columns = run("features", lambda: features(asked, found.evidence, found.passages, found.links, list(chosen.of)))
        score = reciprocal_ranks(columns) if chosen is RANKS else chosen.score(columns)
        if meaning is not None and chosen is not RANKS:
            bare = np.flatnonzero(meaning.row[found.passages] < 0)
            if len(bare):  # what has no vector yet is weighed as if nothing had one
                plain = of["lexical"]
                listed = features(asked, found.evidence, found.passages[bare], found.links, list(plain.of))
                score[bare] = plain.score(listed)
        us = self.corpus.columns.us[self.corpus.columns.doc[found.passages]]
        key = self.corpus.columns.key[self.corpus.columns.doc[found.passages]]
        order = np.lexsort((found.passages, key, -us, -score))
        return Ranked(asked, found, chosen, columns, score, order)

    def _usable(self) -> Meaning | None:
        return self.meaning if self.meaning is not None and len(self.meaning.store) else None

    def _recipe(self, ranking: str) -> str:
        meaning = self._usable()
        return recipe_named(
            ranking,
            has_vectors=meaning is not None,
            has_words=meaning is not None and meaning.has_words,
            may_have_vectors=self.embedder is not None,
        )
