"""Hits read, ordered and completed: observations of documents, age, near-duplicates, the turns around a hit.

Knows nothing of scores but that higher is better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from grail_mem.index.corpus import observations_at
from grail_mem.index.document import own_title
from grail_mem.model.observation import PINNED
from grail_mem.query.select import as_files_say
from grail_mem.query.view import View
from grail_mem.recall.exact import behind
from grail_mem.recall.hit import Hit
from grail_mem.recall.proven import proven
from grail_mem.recall.ranked import Searcher
from grail_mem.recall.result import Recall
from grail_mem.recall.timed import timed
from grail_mem.store.files import FileState

if TYPE_CHECKING:
    import numpy as np

_ALIKE: Final = 0.9
"""Share of terms from which on two texts say the same; chosen, well above what rewording leaves."""

_SPEAKERS: Final = 3
"""Places that the same words of different speakers have in an answer; chosen."""
_AROUND: Final = ".,;:!?…\"'“”‘’«»()[]{}*_`~。、！？，"
"""What stands around a word and is none of it; signs of numbers and units are not here."""


def answered(view: View, ask: Callable[[dict[str, Any]], tuple[Recall, dict[str, FileState]]]) -> Recall:
    """An answer of which every observation is as its file says now, with its trace and what the store has to say.

    Args:
        view: The store; it is brought up to date first.
        ask: Gives an answer, and the states of the files of its observations when they were read, by path; takes the trace.
    """
    trace: dict[str, Any] = {}
    timed(trace, "refresh", view.refresh)
    found = as_files_say(view, lambda: ask(trace), lambda answer: answer.observations)
    return proven(view, replace(found, trace=trace, warnings=(*found.warnings, *view.warnings, *behind(view))))


def fresh(hits: Sequence[Hit], asked_at: datetime, half_life_days: float, floor: float) -> list[Hit]:
    """Hits in order when episodes count the less the older they are."""
    if not half_life_days:
        return list(hits)
    made = []
    for hit in hits:
        days = (asked_at - hit.observed_at).total_seconds() / 86_400
        ages = hit.kind == "episodic" and hit.extra.get(PINNED) is not True
        share = max(0.5 ** (max(days, 0) / half_life_days), floor) if ages else 1.0
        if share < 1:
            said = (*hit.reasons, f"{days:.0f} days old: counts {share:.2f}")
            hit = replace(hit, score=round(hit.score + math.log(share), 3), reasons=said)  # noqa: PLW2901
        made.append(hit)
    return sorted(made, key=lambda hit: -hit.score)


def unlike(hits: Sequence[Hit]) -> tuple[list[Hit], int]:
    """Hits without those that say the same as a better one of the same speaker; with another number, they do not.

    What many speakers say in the same words keeps `_SPEAKERS` places: who is quoted costs nothing to forge.
    """
    kept: list[Hit] = []
    words: list[set[str]] = []
    same: dict[str, list[str]] = {}
    for hit in hits:
        said = f"{own_title(hit)} {hit.passage or hit.content}".casefold().split()
        mine = {word.strip(_AROUND) or word for word in said}
        alike = [k for k, other in zip(kept, words, strict=True) if _are_alike(mine, other)]
        twin = next((k for k in alike if k.speaker == hit.speaker), alike[0] if len(alike) >= _SPEAKERS else None)
        if twin is not None:
            same.setdefault(twin.id, []).append(hit.id)
            continue
        kept.append(hit)
        words.append(mine)
    n_same = sum(map(len, same.values()))
    return [_with_twins(hit, same.get(hit.id, [])) for hit in kept], n_same


def _are_alike(one: set[str], other: set[str]) -> bool:
    """Whether two texts have nearly the same words, and the same numbers."""
    fewer, more = len(one), len(other)
    if fewer > more:
        fewer, more = more, fewer
    if fewer < _ALIKE * more:  # which is told at once
        return False
    n_both = len(one & other)
    if n_both < _ALIKE * (fewer + more - n_both):
        return False
    return not any(any(map(str.isdigit, word)) for word in one ^ other)


def _with_twins(hit: Hit, twins: Sequence[str]) -> Hit:
    if not twins:
        return hit
    more = f" and {len(twins) - 1} more" if len(twins) > 1 else ""
    return replace(hit, reasons=(*hit.reasons, f"also said in {twins[0]}{more}"))


def with_context(
    searcher: Searcher, hits: Sequence[Hit], document: Mapping[str, int], allowed: np.ndarray, reach: int, view: View
) -> tuple[list[Hit], dict[str, FileState]]:
    """Hits with the turns around them that may be returned."""
    import numpy as np

    corpus = searcher.corpus
    columns = corpus.columns
    made: list[Hit] = []
    states: dict[str, FileState] = {}
    for hit in hits:
        if hit.session is None:
            made.append(hit)
            continue
        own = document[hit.id]
        first, last = columns.first_passage[own], columns.first_passage[own + 1] - 1
        begin, end = columns.place[first], columns.place[last]
        near = np.arange(max(begin - 40, 0), min(end + 41, len(columns.at)))
        docs = columns.doc[columns.at[near]]
        keep = allowed[columns.at[near]] & (columns.session[columns.at[near]] == columns.session[first])
        listed = list(dict.fromkeys(docs[keep].tolist()))
        place = listed.index(own)
        around = [d for d in listed[max(place - reach, 0) : place + reach + 1] if d != own]
        turns, more = observations_at(view, corpus, around)
        states |= more
        made.append(replace(hit, context=tuple(turns)))
    return made, states
