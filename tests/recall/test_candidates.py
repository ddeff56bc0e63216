"""Faster ways to the best passages and to the titles a text says, held to the plain ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.index.document import GAP, MAX_NAME_TERMS, phrase_hash
from grail_mem.recall.candidates import _best
from grail_mem.recall.links import _at_their_longest, _runs


@given(st.integers(0, 700), st.integers(1, 9), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_the_best_are_those_a_whole_sort_puts_first(size: int, n: int, values: int, seed: int) -> None:
    """Ties, scores of nothing and below, and more or fewer blocks than wanted."""
    scores = np.random.default_rng(seed).integers(-2, values, size).astype(np.float32)
    plain = [at for at in np.argsort(-scores, kind="stable").tolist() if scores[at] > 0][:n]
    assert _best(scores, n).tolist() == plain


@given(
    st.lists(st.tuples(st.sampled_from([GAP, 5, 6, 7]), st.booleans(), st.integers(0, 1)), max_size=14),
    st.sets(st.lists(st.sampled_from([5, 6, 7]), min_size=1, max_size=4).map(tuple), max_size=6),
)
def test_titles_in_a_text_are_told_at_their_longest(
    said: list[tuple[int, bool, int]], names: set[tuple[int, ...]]
) -> None:
    """A run counts when it begins where a name may, crosses no border, and does not begin inside a longer one."""
    said.sort(key=lambda item: item[2])
    terms = np.array([term for term, _, _ in said], np.uint64)
    owner = np.array([whose for _, _, whose in said], np.int64)
    known = {phrase_hash(name) for name in names}
    plain: list[tuple[int, int]] = []
    covered: set[int] = set()
    for n in range(MAX_NAME_TERMS, 0, -1):
        inside = set(covered)
        for place in range(len(said) - n + 1):
            run = said[place : place + n]
            is_whole = all(term != GAP for term, _, _ in run) and len({whose for _, _, whose in run}) == 1
            value = phrase_hash(term for term, _, _ in run)
            if is_whole and run[0][1] and place not in inside and value in known:
                plain.append((place, value))
                covered.update(range(place, place + n))
    begin, length, hashes = _runs(terms, np.array([mark for _, mark, _ in said], bool), owner)
    there = np.array([value in known for value in hashes.tolist()], bool)
    found = _at_their_longest(begin[there].tolist(), length[there].tolist(), hashes[there].tolist())
    assert list(found) == plain
