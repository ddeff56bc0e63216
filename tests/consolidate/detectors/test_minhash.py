"""Candidates: near equal texts meet, and never too many."""

from __future__ import annotations

import random

import numpy as np

from grail_mem.consolidate.statements.minhash import MOST_IN_BAND, NEIGHBOURS, candidates, code_of, signatures


def signed(texts: list[list[str]]) -> np.ndarray:
    starts = [0, *np.cumsum([len(text) for text in texts]).tolist()]
    return signatures(np.array([code_of(word) for text in texts for word in text], dtype=np.uint64), starts)


def met(texts: list[list[str]], partition: list[int] | None = None) -> set[tuple[int, int]]:
    keys = np.array(partition or [0] * len(texts), dtype=np.uint64)
    return {(left, right) for left, right in candidates(signed(texts), keys).tolist()}


def words(n: int, seed: int = 0) -> list[str]:
    return [f"w{random.Random(seed * 1_000_003 + i).randrange(10**9)}" for i in range(n)]


def test_one_changed_word_still_meets() -> None:
    """Of two hundred texts of twelve words, nearly all meet their copy with one other word, and hardly any another text."""
    texts = [words(12, seed) for seed in range(200)]
    changed = [[*text[:5], "changed", *text[6:]] for text in texts]
    pairs = met(texts + changed)
    assert sum((i, i + 200) in pairs for i in range(200)) >= 190
    assert len(pairs) <= 220


def test_signatures_do_not_depend_on_batches_or_neighbours(monkeypatch: object) -> None:
    """A text has one signature, whatever stands before and after it."""
    texts = [words(1 + seed % 40, seed) for seed in range(300)]
    together = signed(texts)
    for index in (0, 1, 150, 299):
        assert (signed([texts[index]])[0] == together[index]).all()


def test_partitions_never_meet() -> None:
    """Equal texts of two partitions are no candidates."""
    text = words(10)
    assert met([text, text, text], [1, 2, 1]) == {(0, 2)}


def test_boilerplate_does_not_become_quadratic() -> None:
    """A thousand texts that are equal but for a word have so many candidates a text, not a thousand."""
    texts = [[*words(40), f"n{i}"] for i in range(1_000)]
    assert len(met(texts)) <= 1_000 * NEIGHBOURS * 20
    assert len(met(texts[:MOST_IN_BAND])) == MOST_IN_BAND * (MOST_IN_BAND - 1) // 2
