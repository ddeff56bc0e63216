"""Which vectors are compared exactly: none of the best is missed while there are few, next to none when there are many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.index.embedder import Identity
from grail_mem.index.short import NAME, load_short
from grail_mem.index.vector_files import KEYS, VECTORS, append
from grail_mem.index.vectors import MANY, VectorStore, _widened, text_digest

MODEL = Identity("test/model", "abc", 48)
N = MANY + 2_000


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows at length one."""
    made: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made.astype(np.float32)


def clustered(n: int, seed: int) -> np.ndarray:
    """Vectors around some hundred centres, as real ones along few directions more than along the others."""
    rng = np.random.default_rng(seed)
    falling = (np.arange(MODEL.dimension) + 1.0) ** -1.2
    centres = np.random.default_rng(7).standard_normal((300, MODEL.dimension)) * falling
    return unit(centres[rng.integers(0, 300, n)] + 0.4 * rng.standard_normal((n, MODEL.dimension)) * falling)


def filled(folder: Path, vectors: np.ndarray) -> VectorStore:
    """A store with vectors; the digests of their texts are made up, since to make those takes longer than all else."""
    store = VectorStore(folder, MODEL)
    store.add(["first"], vectors[:1])
    append(store._folder / VECTORS, 2 * MODEL.dimension, vectors[1:].astype(np.float16).tobytes())
    append(store._folder / KEYS, 8, np.arange(1, len(vectors), dtype=np.uint64).tobytes())
    store.refresh()
    return store


def best(store: VectorStore, query: np.ndarray, rows: np.ndarray, n: int) -> set[int]:
    """The rows with the best cosines, by one product of all of them."""
    cosines = store.vectors(rows) @ query
    return set(rows[np.argsort(-cosines, kind="stable")[:n]].tolist())


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> VectorStore:
    """So many vectors that a short form is made; a few came after it."""
    store = filled(tmp_path_factory.mktemp("many"), clustered(N, 1))
    assert store.shorten()
    assert not store.shorten()
    store.add([f"late {n}" for n in range(50)], clustered(50, 2))
    return store


def test_half_precision_numbers_are_read_as_numpy_reads_them() -> None:
    """All of them that are numbers, the smallest included."""
    bits = np.arange(-(1 << 15), 1 << 15).astype(np.int16)
    plain = bits.view(np.float16).astype(np.float32)
    told = _widened(bits)
    finite = np.isfinite(plain)
    assert told[finite].tolist() == plain[finite].tolist()
    assert np.signbit(told).tolist() == (bits < 0).tolist()


@given(st.integers(1, 400), st.integers(1, 60), st.floats(0.01, 1), st.integers(0, 2**32 - 1))
def test_none_of_the_best_is_missed_while_there_are_few(
    tmp_path_factory: pytest.TempPathFactory, n: int, wanted: int, share: float, seed: int
) -> None:
    store = filled(tmp_path_factory.mktemp("few"), clustered(n, seed))
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(n) < share)
    query = clustered(1, seed + 1)[0]
    likely = store.likely(query, rows, wanted)
    assert (np.diff(likely) > 0).all()
    assert best(store, query, rows, wanted) <= set(rows[likely].tolist())


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.99, 0.5, 0.1, 0.01, 0.001])
def test_next_to_none_of_the_best_is_missed_of_many(many: VectorStore, share: float) -> None:
    """With a filter that leaves fewer than that many, none is; and where many are left, few are compared exactly."""
    rng = np.random.default_rng(3)
    rows = np.flatnonzero(rng.random(len(many)) < share)
    found = []
    for query in clustered(20, 4):
        likely = rows[many.likely(query, rows, 50)]
        found.append(len(best(many, query, rows, 50) & set(likely.tolist())))
        assert len(likely) < 0.15 * len(rows) or len(rows) < 1_000
    assert np.mean(found) >= 0.99 * 50 if len(rows) >= MANY else found == [50] * 20


def test_what_came_after_the_short_form_is_found(many: VectorStore) -> None:
    late = many.rows(np.array([text_digest("late 7")], np.uint64))
    assert int(late[0]) >= N
    query = many.vectors(late)[0]
    everything = np.arange(len(many))
    assert int(late[0]) in many.likely(query, everything, 1)


def test_vectors_without_principal_directions_get_no_short_form(tmp_path: Path) -> None:
    """Where it would lose much, everything is compared."""
    store = filled(tmp_path, unit(np.random.default_rng(5).standard_normal((N, MODEL.dimension))))
    assert not store.shorten()
    query, rows = store.vectors(np.array([9]))[0], np.arange(N)
    assert best(store, query, rows, 50) <= set(store.likely(query, rows, 50).tolist())
    assert not list(tmp_path.rglob(NAME))


def test_a_short_form_goes_with_the_vectors_it_is_made_of(tmp_path: Path) -> None:
    """It is never taken for that of other vectors, nor read when it is damaged; and it is made again."""
    store = filled(tmp_path, clustered(N, 1))
    assert store.shorten()
    path = next(tmp_path.rglob(NAME))
    data, keys = path.read_bytes(), store.digests()
    assert load_short(path.parent, keys, MODEL.dimension) is not None
    assert load_short(path.parent, keys[::-1], MODEL.dimension) is None
    assert load_short(path.parent, keys[: N // 2], MODEL.dimension) is None
    assert load_short(path.parent, keys, MODEL.dimension // 2) is None
    for harmed in (b"", data[:-64], data + bytes(64), data.replace(b'"version": 1', b'"version": 2')):
        path.unlink()
        path.write_bytes(harmed)
        assert load_short(path.parent, keys, MODEL.dimension) is None
    store.drop(["first"])
    assert not path.exists()
    assert len(store) == N - 1
    assert VectorStore(tmp_path, MODEL).shorten()
    store.refresh()
    loaded = load_short(path.parent, store.digests(), MODEL.dimension)
    assert loaded is not None
    assert len(loaded) == N - 1
