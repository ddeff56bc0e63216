"""The best passages of the best observations, and what speaks for each in words.

Knows nothing of whether they answer the question.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from grail_mem.index.tokens import terms
from grail_mem.model.observation import Observation
from grail_mem.recall.hit import Hit
from grail_mem.recall.ranked import Ranked, Searcher

if TYPE_CHECKING:
    import numpy as np

MARGIN: Final = 10.0
"""How far below the best a hit may score. On the development data, 10 of LoCoMo's 10 best golds and 96 of 100 of MuSiQue's
and HotpotQA's are within 8."""
_MANY_WORDINGS: Final = 16
_BESIDE: Final = ("beside a better hit in its session",)
_RETRIEVERS: Final = frozenset({"lexical", "vector", "entity", "graph"})


@dataclass(slots=True)
class Best:
    """One observation's best passage, over all questions, and all of its passages that are shown, in order."""

    document: int
    passage: int
    shown: list[int]
    score: float
    ranked: Ranked
    place: int
    _shares: dict[str, float] | None = None

    @property
    def shares(self) -> dict[str, float]:
        """What each group of features adds to the score."""
        if self._shares is None:
            self._shares = self.ranked.weights.shares(self.ranked.columns[self.place])
        return self._shares


def best_of(ranked: Sequence[Ranked], limit: int, n_passages: int) -> list[Best]:
    """The best passage of each of the best observations, best first."""
    import numpy as np

    best: dict[int, Best] = {}
    for r in ranked:
        doc = r.asked.corpus.columns.doc
        _, first = np.unique(doc[r.found.passages[r.order]], return_index=True)
        for place in r.order[np.sort(first)[:limit]].tolist():
            passage = int(r.found.passages[place])
            document, score = int(doc[passage]), float(r.score[place])
            if document not in best or score > best[document].score:
                best[document] = Best(document, passage, [passage], score, r, place)
    columns = ranked[0].asked.corpus.columns
    order = sorted(
        best.values(), key=lambda b: (-b.score, -int(columns.us[b.document]), int(columns.key[b.document]), b.document)
    )
    if n_passages > 1:
        for found in order[:limit]:
            found.shown = _passages_shown(found, n_passages)
    return order[:limit]


def _passages_shown(best: Best, most: int) -> list[int]:
    """The passages of an observation that are not far worse than its best, in the order of its text."""
    r = best.ranked
    passages = r.found.passages[r.order]
    good = (r.asked.corpus.columns.doc[passages] == best.document) & (r.score[r.order] >= best.score - MARGIN)
    return sorted(map(int, passages[good][:most]))


def explained(hit: Hit, best: Best) -> Hit:
    """A hit with what speaks for it, before what it says already, and with the retrievers that brought it."""
    brought = {name for name, rows in best.ranked.found.by.items() if _is_in(rows, best.passage)}
    if brought & _RETRIEVERS:  # what stands beside a hit, itself included, is only told where nothing else brought it
        brought &= _RETRIEVERS
    via = tuple(name for name in best.ranked.found.by if name in brought)
    return replace(hit, reasons=(*(tuple(_reasons(hit, best)) or _BESIDE), *hit.reasons), via=via)


def added(best: Best) -> dict[str, float]:
    """What each group of features adds to a score, with the bias; empty for what was weighed by other weights."""
    shares = {"bias": best.ranked.weights.bias} | best.shares
    is_so = math.isclose(sum(shares.values()), best.score, abs_tol=0.01)
    return {group: round(value, 3) for group, value in shares.items() if value} if is_so else {}


def _is_in(rows: np.ndarray, value: int) -> bool:
    at = int(rows.searchsorted(value))
    return at < len(rows) and int(rows[at]) == value


def passage_of(o: Observation, best: Best, searcher: Searcher) -> str:
    """The parts of the content that matched, when the content has several."""
    columns = searcher.corpus.columns
    first, end = columns.first_passage[best.document], columns.first_passage[best.document + 1]
    if end - first <= len(best.shown):
        return ""
    spans: list[list[int]] = []
    for passage in best.shown:
        begin, stop = searcher.corpus.span_of(passage)
        if spans and not o.content[spans[-1][1] : begin].strip():
            spans[-1][1] = stop
        else:
            spans.append([begin, stop])
    return "\n\n…\n\n".join(o.content[begin:stop] for begin, stop in spans)


def _reasons(o: Observation, best: Best) -> Iterable[str]:
    """What speaks for a hit, in words, the strongest first."""
    ranked = best.ranked
    asked, evidence = ranked.asked, ranked.found.evidence
    at = int(evidence.places(_array(best.passage))[0])
    shares = best.shares
    said: dict[str, str] = {}
    wanted = dict.fromkeys(asked.question.terms)
    has = {term for term, there in zip(wanted, evidence.has[at], strict=True) if there}
    if asked.has_other_names:
        literal = has & set(terms(f"{o.title}\n{o.content}"))
        called, has = as_asked(asked.question.text, has - literal), literal
        if called:
            said["name"] = f"says {', '.join(called[:6])} by another name"
    if words := as_asked(asked.question.text, has):
        said["lexical"] = f"says {', '.join(words[:6])}"
    if asked.vectors is not None and evidence.cosine[at] > 0:
        said["meaning"] = f"meaning {evidence.cosine[at]:.2f}"
    if shares.get("speaker", 0) > 0 and o.speaker:
        said["speaker"] = f"said by {o.speaker}"
    if shares.get("date", 0) > 0:
        said["date"] = f"from {o.observed_at:%Y-%m-%d}, when asked for"
    if evidence.titled[at]:
        said["graph"] = "its title is in the question"
    elif shares.get("graph", 0) > 0:
        said["graph"] = "linked with other hits"
    return (said[group] for group in sorted(said, key=lambda group: -shares.get(group, 0)))


def as_asked(text: str, said: set[str]) -> list[str]:
    """The words of a text that have one of some terms, each once, in order."""
    return list(dict.fromkeys(word for word, has in _words_of(text) if not said.isdisjoint(has)))


@lru_cache(maxsize=_MANY_WORDINGS)
def _words_of(text: str) -> list[tuple[str, list[str]]]:
    """The words of a text without the marks around them, each with its terms."""
    return [(word.strip(".,;:?!\"'()[]“”‘’"), terms(word, stop_words=False)) for word in text.split()]


def _array(value: int) -> np.ndarray:
    import numpy as np

    return np.array([value])
