"""Links: one step in the graph of names from the best passages, to what they lead to and the question still lacks.

A passage leads to those whose title it says, to those that say its title, and to those that share a rare name with it. A
second step and a walk like PageRank were measured and gain nothing on the development data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from grail_mem.index.document import GAP, MAX_NAME_TERMS, MULTIPLIER, RELATED
from grail_mem.index.rows import NOWHERE, among, distinct
from grail_mem.index.segment import Postings
from grail_mem.recall.evidence import Asked

if TYPE_CHECKING:
    import numpy as np

N_SEEDS: Final = 8
_SHARED: Final = 0.7
"""What a shared name counts of a title that is said; measured."""
_MOST: Final = 200
"""Passages that a name may have and still tell something; of few passages 2 %, and at least 15."""


class Link(NamedTuple):
    """Where one passage leads.

    Attributes:
        seed: The passage.
        weight: How much it counts, 0 to 1.
        to: Passages, ascending, int64.
        strength: How strong each link is, 0 to 1, float32.
        says_title: Whether the seed says the passage's title, bool.
        shares: How rare the rarest name is that both have, 0 to 1, float32.
    """

    seed: int
    weight: float
    to: np.ndarray
    strength: np.ndarray
    says_title: np.ndarray
    shares: np.ndarray


def links(asked: Asked, seeds: np.ndarray, weights: np.ndarray, allowed: np.ndarray) -> list[Link]:
    """Where passages lead.

    Args:
        asked: The question; names that it says are no links.
        seeds: Passages, the best first.
        weights: How much each counts.
        allowed: Which passages may be reached, bool, by number.
    """
    import numpy as np

    corpus = asked.corpus
    said = _titles_said(asked, seeds)
    names, flags, owner = corpus.names_of(seeds)
    # names that the question says, and those of all who say something: everybody mentions them
    is_new = ~among(names, asked.phrase_hashes) & ~among(names, corpus.speaker_names)
    names, flags, owner = names[is_new], flags[is_new], owner[is_new]
    sharing = _passages_of_names(asked, distinct(names))
    titles = _titles_of(asked, seeds)
    most = min(max(0.02 * corpus.n_live, 15), _MOST)
    rarity = {name: _rarity(len(having), corpus.n_live) for name, having in sharing.items()}
    of_seed: list[list[tuple[int, int]]] = [[] for _ in seeds]
    for number, name, flag in zip(owner.tolist(), names.tolist(), flags.tolist(), strict=True):
        of_seed[number].append((name, flag))
    reached: list[_Way] = []
    for number, seed in enumerate(seeds):
        if len(said[number]):
            reached.append(_Way(number, corpus.passages_of(said[number]), 1.0, 1.0, 0.0))
        if title := int(titles[number]):
            saying = sharing.get(title, np.zeros(0, np.int64))
            saying = saying[corpus.columns.doc[saying] != corpus.columns.doc[seed]]
            if len(saying):
                reached.append(_Way(number, saying, 1 / math.sqrt(1 + math.log1p(len(saying))), 0.0, 0.0))
        for name, flag in of_seed[number]:
            having, rare = sharing[name], rarity[name]
            if 2 <= len(having) <= most:  # noqa: PLR2004  itself and another
                reached.append(_Way(number, having, rare if flag & RELATED else _SHARED * rare, 0.0, rare))
    return list(_linked(seeds, weights, reached, allowed))


def _rarity(n: int, n_all: int) -> float:
    """How rare a name is that n of so many passages have, 0 to 1."""
    return min(max(math.log((n_all + 1) / (n + 0.5)) / math.log(n_all + 1), 0), 1)


class _Way(NamedTuple):
    """What leads from a seed, by its number, to passages, and how strongly."""

    seed: int
    to: np.ndarray
    strength: float
    says_title: float
    shares: float


def _linked(seeds: np.ndarray, weights: np.ndarray, reached: Sequence[_Way], allowed: np.ndarray) -> Iterator[Link]:
    """The links of all seeds: each passage once a seed, by the strongest way to it."""
    import numpy as np

    sizes = [len(way.to) for way in reached]
    to = np.concatenate([np.zeros(0, np.int64), *(way.to for way in reached)])
    number = np.repeat(np.array([way.seed for way in reached], np.int64), sizes)
    keep = np.flatnonzero(allowed[to] & (to != seeds[number]))
    key = number[keep] * len(allowed) + to[keep]
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    chosen = keep[order[first]]
    best = [
        np.maximum.reduceat(np.repeat(np.array(values, np.float32), sizes)[keep[order]], first)
        if len(first)
        else np.zeros(0, np.float32)
        for values in zip(*(way[2:] for way in reached), strict=True)
    ] or [np.zeros(0, np.float32)] * 3
    ends = np.searchsorted(number[chosen], np.arange(len(seeds) + 1))
    for i, (seed, weight) in enumerate(zip(seeds.tolist(), weights.tolist(), strict=True)):
        mine = slice(ends[i], ends[i + 1])
        yield Link(seed, weight, to[chosen[mine]], best[0][mine], best[1][mine] > 0, best[2][mine])


def _titles_said(asked: Asked, seeds: np.ndarray) -> list[np.ndarray]:
    """For each seed, the documents whose title its text says and the question does not, each title at its longest."""
    import numpy as np

    corpus = asked.corpus
    terms, marks, owner = corpus.terms_of(seeds)
    begin, length, hashes = _runs(terms, marks.astype(bool), owner)
    titled: dict[int, list[np.ndarray]] = {}
    for part in corpus.parts:
        for value, first, end in _ranges(part.segment.by_title, distinct(hashes)):
            rows = part.segment.by_title.row[first:end].astype(np.int64) + part.first_document
            if len(rows := rows[corpus.columns.row[rows] != NOWHERE]):
                titled.setdefault(value, []).append(rows)
    known = among(hashes, np.array(sorted(titled), np.uint64))
    found: list[list[np.ndarray]] = [[] for _ in seeds]
    for place, value in _at_their_longest(begin[known].tolist(), length[known].tolist(), hashes[known].tolist()):
        if value not in asked.phrases:
            found[owner[place]] += titled[value]
    own = corpus.columns.doc[seeds]
    return [_others(rows, own[number]) for number, rows in enumerate(found)]


def _others(rows: list[np.ndarray], own: int) -> np.ndarray:
    import numpy as np

    documents = distinct(np.concatenate([np.zeros(0, np.int64), *rows]))
    others: np.ndarray = documents[documents != own]
    return others


def _runs(terms: np.ndarray, marks: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Runs of terms that may be names, the longest first: where each begins, its terms, and its hash.

    Each begins where a name may and lies within one part of one passage.
    """
    import numpy as np

    at = np.flatnonzero(marks & (terms != GAP))
    hashes = terms[at]
    runs = [(at, np.full(len(at), 1), hashes)]
    for n in range(2, MAX_NAME_TERMS + 1):
        last = np.minimum(at + n - 1, max(len(terms) - 1, 0))
        whole = (at + n <= len(terms)) & (terms[last] != GAP) & (owner[last] == owner[at])
        hashes = hashes[whole] * np.uint64(MULTIPLIER) + terms[last[whole]]
        at = at[whole]
        runs.append((at, np.full(len(at), n), hashes))
    begin, length, value = (np.concatenate(arrays) for arrays in zip(*reversed(runs), strict=True))
    return begin, length, value


def _at_their_longest(begin: list[int], length: list[int], hashes: list[int]) -> Iterator[tuple[int, int]]:
    """Those runs that do not begin inside a longer one: where each begins, and its hash.

    Args:
        begin: Where runs begin, the longest first.
        length: Their terms.
        hashes: Their hashes.
    """
    covered: set[int] = set()
    for n, group in groupby(zip(length, begin, hashes, strict=True), key=itemgetter(0)):
        free = [(place, value) for _, place, value in group if place not in covered]
        for place, _ in free:
            covered.update(range(place, place + n))
        yield from free


def _titles_of(asked: Asked, seeds: np.ndarray) -> np.ndarray:
    """The hash of each seed's title, 0 for none."""
    import numpy as np

    doc = asked.corpus.columns.doc[seeds]
    titles = np.zeros(len(seeds), np.uint64)
    for part in asked.corpus.parts:
        mine = (doc >= part.first_document) & (doc < part.first_document + part.segment.n_documents)
        titles[mine] = part.segment.said.title[doc[mine] - part.first_document]
    return titles


def _passages_of_names(asked: Asked, names: np.ndarray) -> dict[int, np.ndarray]:
    """The passages that have each name and count, ascending; of names that very many have, none."""
    import numpy as np

    live = asked.corpus.columns.live
    found: dict[int, list[np.ndarray]] = {name: [] for name in names.tolist()}
    too_many: set[int] = set()
    for part in asked.corpus.parts:
        for name, begin, end in _ranges(part.segment.by_name, names):
            row = part.segment.by_name.row[begin:end].astype(np.int64) + part.first_passage
            row = row[live[row]]
            if len(row) > 4 * _MOST:
                too_many.add(name)
            else:
                found[name].append(row)
    none = np.zeros(0, np.int64)
    return {name: none if name in too_many else np.concatenate([none, *rows]) for name, rows in found.items()}


def _ranges(postings: Postings, names: np.ndarray) -> list[tuple[int, int, int]]:
    import numpy as np

    if not len(postings.hash) or not len(names):
        return []
    at = np.minimum(np.searchsorted(postings.hash, names), len(postings.hash) - 1)
    known = postings.hash[at] == names
    at = at[known]
    return list(zip(names[known].tolist(), postings.first[at].tolist(), postings.first[at + 1].tolist(), strict=True))
