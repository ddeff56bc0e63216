"""Features: what speaks for a passage, as numbers that one linear score weighs.

Each is a plain quantity in its own unit; docs/concepts/ranked-recall.md lists them. Knows nothing of weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from grail_mem.index.corpus import REACH
from grail_mem.index.document import term_hash
from grail_mem.index.rows import distinct
from grail_mem.index.segment import TRAITS
from grail_mem.recall.evidence import Asked, Evidence
from grail_mem.recall.links import Link
from grail_mem.recall.question import date_match

if TYPE_CHECKING:
    import numpy as np

LEXICAL: Final = (
    "coverage", "rarest_term", "pairs", "session_coverage", "bm25", "bm25_before", "bm25_after", "bm25_near",
    "bm25_session", "coverage_near", "answers_words",
)  # fmt: skip
MEANING: Final = (
    "cosine", "cosine_before", "cosine_after", "cosine_window", "cosine_wide_window", "cosine_session",
)  # fmt: skip
WORDS: Final = ("words_before", "words_pair", "words_window", "words_session", "answers")
SPEAKER: Final = ("speaker", "speaker_unsure")
SHAPE: Final = (
    "is_question", "after_question", "log_terms", "first_person", "time_for_when", "number_for_how_many", "name_for_who",
    "capitals",
)  # fmt: skip
DATE: Final = ("date",)
GRAPH: Final = ("title", "link_title", "link_shared", "link_rest", "link_rest_words", "link_rest_cosine")
GROUPS: Final = {
    "lexical": LEXICAL, "meaning": MEANING, "words": WORDS, "speaker": SPEAKER, "shape": SHAPE, "date": DATE, "graph": GRAPH,
}  # fmt: skip
CONTEXT: Final = (
    "session_coverage", "bm25_before", "bm25_after", "bm25_near", "bm25_session", "coverage_near", "answers_words",
    "cosine_before", "cosine_after", "cosine_window", "cosine_wide_window", "cosine_session", "words_before", "words_pair",
    "words_window", "words_session", "answers", "after_question",
)  # fmt: skip
"""Those that look at neighbours or at the session."""
FEATURES: Final = tuple(name for group in GROUPS.values() for name in group)

_WIDE: Final = 0.7
_WINDOW: Final = 0.5
_PAIR: Final = 0.9
_BLOCK: Final = 128
"""Passages whose surroundings are compared at a time: they stay in the processor's cache."""
_REACHED: Final = (1.0, 0.9, 0.8, 0.7)
"""How much what stands beside a passage counts for it, by distance. Measured on the development data."""


def features(
    asked: Asked, evidence: Evidence, passages: np.ndarray, found: Sequence[Link], wanted: Sequence[str] = FEATURES
) -> np.ndarray:
    """The features of passages.

    Args:
        asked: The question.
        evidence: What speaks for them and what stands around them.
        passages: The passages.
        found: The links of the best.
        wanted: Names of features.

    Returns:
        float32, passages x wanted.
    """
    import numpy as np

    made = _Made(asked, evidence, passages)
    columns: dict[str, np.ndarray] = {}
    names = set(wanted)
    columns |= made.lexical() if names & set(LEXICAL) else {}
    columns |= made.meaning() if names & set(MEANING) else {}
    columns |= made.words() if names & set(WORDS) else {}
    columns |= made.speaker() | made.shape() | made.graph(found)
    if "answers" in columns:
        columns["answers"] = columns["answers"] * (columns["speaker"] + columns["speaker_unsure"] > 0)
    nothing = np.zeros(len(passages), np.float32)
    return np.stack([columns.get(name, nothing) for name in wanted], axis=1).astype(np.float32)


class _Made:
    """The features of passages, a group at a time."""

    def __init__(self, asked: Asked, evidence: Evidence, passages: np.ndarray) -> None:
        import numpy as np

        self._asked, self._evidence, self._passages = asked, evidence, passages
        columns = asked.corpus.columns
        self._near = asked.corpus.around(passages)
        self._place = evidence.places(self._near)  # the last row stands for no passage
        self._own = self._place[:, REACH]
        self._before = self._place[:, REACH - 1]
        self._after = self._place[:, REACH + 1]
        _, self._session = np.unique(columns.session[passages], return_inverse=True)
        self._traits = dict(
            zip(
                TRAITS,
                np.vstack([columns.traits[evidence.passages], np.zeros((1, 6), np.uint8)]).T.astype(np.float32),
                strict=True,
            )
        )

    def _best_in_session(self, values: np.ndarray) -> np.ndarray:
        """The best value of the passages of each passage's session, of those looked at."""
        import numpy as np

        shape = (int(self._session.max(initial=-1)) + 1, *values.shape[1:])
        best = np.zeros(shape, np.float32)
        np.maximum.at(best, self._session, values)
        return best[self._session]

    def lexical(self) -> dict[str, np.ndarray]:
        """Which terms of the question a passage, its neighbours and its session have."""
        import numpy as np

        lexical, evidence = self._asked.lexical, self._evidence
        share = np.where(lexical.is_known, lexical.idf, 0) / np.float32(lexical.total)
        has, bm25 = evidence.has, evidence.bm25
        near = np.maximum(np.maximum(has[self._before], has[self._after]), has[self._own])
        rarest = int(np.argmax(np.where(lexical.is_known, lexical.idf, -1))) if len(share) else -1
        rarest_term = has[self._own, rarest] if rarest >= 0 and lexical.is_known[rarest] else bm25[self._own] * 0
        return {
            "coverage": _dot(has[self._own], share),
            "rarest_term": rarest_term,
            "pairs": self._pairs(),
            "session_coverage": _dot(self._best_in_session(has[self._own]), share),
            "bm25": bm25[self._own],
            "bm25_before": bm25[self._before],
            "bm25_after": bm25[self._after],
            "bm25_near": sum(
                (0.5 ** abs(d) * bm25[self._place[:, REACH + d]] for d in (-3, -2, 2, 3)),
                np.zeros(len(self._own), np.float32),
            ),
            "bm25_session": self._best_in_session(bm25[self._own]),
            "coverage_near": _dot(near, share),
            "answers_words": self._ends_in_question(self._before) * bm25[self._before],
        }

    def _pairs(self) -> np.ndarray:
        """Share of the question's neighbouring terms that are neighbours in the passage."""
        import numpy as np

        said = list(map(term_hash, self._asked.question.terms))
        pairs = list(dict.fromkeys(pairwise(said)))
        share = np.zeros(len(self._passages), np.float32)
        if not pairs:
            return share
        column = {value: number for number, value in enumerate(self._asked.hashes)}
        has = self._evidence.has[self._own] > 0
        both = [has[:, column[a]] & has[:, column[b]] for a, b in pairs]
        mine = np.flatnonzero(np.logical_or.reduce(both))  # others need not be read
        terms, _, owner = self._asked.corpus.terms_of(self._passages[mine])
        first, second, whose = terms[:-1], terms[1:], mine[owner[:-1]]
        together = owner[:-1] == owner[1:]
        for a, b in pairs:
            share[distinct(whose[together & (first == np.uint64(a)) & (second == np.uint64(b))])] += 1
        return share / np.float32(len(pairs))

    def _ends_in_question(self, place: np.ndarray) -> np.ndarray:
        ends: np.ndarray = self._traits["ends_in_question"][place]
        return ends

    def meaning(self) -> dict[str, np.ndarray]:
        """How alike the question and a passage, its neighbours together and the best of its session are."""
        import numpy as np

        if self._asked.vectors is None:
            return {}
        weight = np.abs(np.arange(-REACH, REACH + 1))
        window = np.where(weight <= 1, _WINDOW**weight, 0).astype(np.float32)
        near, wide = self._cosines_together(window, (_WIDE**weight).astype(np.float32))
        cosine = self._evidence.cosine
        return {
            "cosine": cosine[self._own],
            "cosine_before": cosine[self._before],
            "cosine_after": cosine[self._after],
            "cosine_window": near,
            "cosine_wide_window": wide,
            "cosine_session": self._best_in_session(cosine[self._own]),
        }

    def _cosines_together(self, *weights: np.ndarray) -> list[np.ndarray]:
        """For each kind of weights of neighbours, the cosine between the question and what stands around each passage."""
        import numpy as np

        meaning, vectors = self._asked.meaning, self._asked.vectors
        assert meaning is not None and vectors is not None  # noqa: S101, PT018  asked only when there are vectors
        made = [np.zeros(len(self._passages), np.float32) for _ in weights]
        known = np.zeros((len(self._evidence.passages) + 1, len(vectors.vector)), np.float32)
        known[:-1] = meaning.vectors(self._evidence.passages)
        for begin in range(0, len(self._passages), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            around = known[self._place[block]]
            for column, weight in zip(made, weights, strict=True):
                column[block] = _cosine(around, weight, vectors.vector)
        return made

    def words(self) -> dict[str, np.ndarray]:
        """How well each word of the question is met by one of a passage and its neighbours."""
        import numpy as np

        if not self._asked.has_words:
            return {}
        best, score = self._evidence.words, self._evidence.word_score
        less = self._asked.word_weights[1]
        window = best[self._own]
        for d in range(-REACH, REACH + 1):
            window = np.maximum(window, np.float32(_REACHED[abs(d)]) * best[self._place[:, REACH + d]])
        return {
            "words_before": score[self._before],
            "words_pair": _dot(np.maximum(best[self._own], np.float32(_PAIR) * best[self._before]), less),
            "words_window": _dot(window, less),
            "words_session": self._best_in_session(score[self._own]),
            "answers": self._ends_in_question(self._before) * score[self._before],
        }

    def speaker(self) -> dict[str, np.ndarray]:
        """Whether the speaker asked for says it: 1 or -1, 0 when none is asked for."""
        import numpy as np

        number, is_sure = self._asked.speaker
        if number < 0:
            return {name: np.zeros(len(self._passages), np.float32) for name in SPEAKER}
        columns = self._asked.corpus.columns
        says = np.where(columns.speaker[columns.doc[self._passages]] == number, np.float32(1), np.float32(-1))
        return {"speaker": says * np.float32(is_sure), "speaker_unsure": says * np.float32(1 - is_sure)}

    def shape(self) -> dict[str, np.ndarray]:
        """What a passage is like, and whether it is like an answer to such a question."""
        import numpy as np

        traits, own, kind = self._traits, self._own, self._asked.question.kind
        columns = self._asked.corpus.columns
        many = {name: traits[name][own] / 3 for name in ("first_person", "times", "numbers", "capitals")}
        days = columns.us[columns.doc[self._passages]] // 86_400_000_000
        return {
            "is_question": self._ends_in_question(own),
            "after_question": self._ends_in_question(self._before),
            "log_terms": np.log1p(columns.n_terms[self._passages]).astype(np.float32),
            "first_person": many["first_person"],
            "time_for_when": many["times"] * (kind == "time"),
            "number_for_how_many": many["numbers"] * (kind == "number"),
            "name_for_who": many["capitals"] * (kind == "name"),
            "capitals": many["capitals"],
            "date": date_match(self._asked.question.dates, days),
        }

    def graph(self, found: Sequence[Link]) -> dict[str, np.ndarray]:
        """How strongly the best passages lead here, and how much it then adds of what the question asks."""
        import numpy as np

        evidence, lexical = self._evidence, self._asked.lexical
        share = np.where(lexical.is_known, lexical.idf, 0) / np.float32(lexical.total)
        made = {name: np.zeros(len(self._passages), np.float32) for name in GRAPH}
        made["title"] = evidence.titled[self._own]
        order = np.argsort(self._passages)
        for link in found:
            at = np.searchsorted(self._passages, link.to, sorter=order)
            at = order[np.minimum(at, len(order) - 1)]
            known = self._passages[at] == link.to
            here, strength = at[known], link.strength[known] * np.float32(link.weight)
            if not len(here):
                continue
            seed, own = evidence.places(np.array([link.seed]))[0], self._own[here]
            terms = evidence.has[own] * (1 - evidence.has[seed])
            _raise(made["link_title"], here, link.says_title[known] * np.float32(link.weight))
            _raise(made["link_shared"], here, link.shares[known] * np.float32(link.weight))
            _raise(made["link_rest"], here, strength * (_dot(terms, share)))
            _raise(made["link_rest_cosine"], here, strength * evidence.cosine[own])
            if self._asked.has_words:
                more = np.clip(evidence.words[own] - evidence.words[seed], 0, 1)
                _raise(made["link_rest_words"], here, strength * (_dot(more, self._asked.word_weights[0])))
        return made


def _dot(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighed sums of rows, each by itself: a product of matrices rounds a row by what stands beside it."""
    import numpy as np

    made: np.ndarray = np.einsum("pt,t->p", rows, weights)
    return made


def _raise(column: np.ndarray, at: np.ndarray, values: np.ndarray) -> None:
    import numpy as np

    column[at] = np.maximum(column[at], values)


def _cosine(around: np.ndarray, weight: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Cosine between a vector and the weighed sums of others, rounded; each row by itself, whatever stands beside it."""
    import numpy as np

    counts = np.flatnonzero(weight)
    some = slice(counts[0], counts[-1] + 1)
    together = np.einsum("pdv,d->pv", around[:, some], weight[some])
    length = np.sqrt(np.einsum("pv,pv->p", together, together))
    made: np.ndarray = np.round(np.einsum("pv,v->p", together, vector) / np.where(length > 0, length, 1), 5)
    return made
