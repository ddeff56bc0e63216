"""Vectors on disk: each text once for each model, whole whatever happens to a writer, scores as computed by hand."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem import IndexUnusableError
from grail_mem.index.embedder import Identity, unit
from grail_mem.index.vectors import VectorStore, kept_models, missing, text_digest

MODEL = Identity("test/model 1", "abc", 8)


def vectors_of(texts: list[str], dimension: int = 8) -> np.ndarray:
    """Some vector for each text, always the same."""
    seeds = [text_digest(text) for text in texts]
    made = [np.random.default_rng(seed).normal(size=dimension) for seed in seeds]
    return unit(np.array(made, np.float32).reshape(len(texts), dimension))


def digests(texts: list[str]) -> np.ndarray:
    return np.array([text_digest(text) for text in texts], np.uint64)


@given(st.lists(st.lists(st.text(max_size=5), max_size=6), max_size=5))
def test_each_text_is_there_once_with_its_vector(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("vectors")
    store, early = VectorStore(folder, MODEL), VectorStore(folder, MODEL)
    seen: set[str] = set()
    for batch in batches:
        assert missing(store, batch) == list(dict.fromkeys(text for text in batch if text not in seen))
        assert store.add(batch, vectors_of(batch)) == len(set(batch) - seen)
        seen |= set(batch)
    early.refresh()
    texts = sorted(seen)
    for reader in (store, early, VectorStore(folder, MODEL)):
        assert len(reader) == len(seen)
        rows = reader.rows(digests(texts))
        assert (rows >= 0).all()
        assert np.allclose(reader.vectors(rows), vectors_of(texts), atol=1e-3)
        assert reader.rows(digests(["never added"])).tolist() == [-1]


def test_similarity_is_the_cosine(tmp_path: Path) -> None:
    """Of all rows, and of chosen ones in the order asked for."""
    store = VectorStore(tmp_path, MODEL)
    texts = [f"t{i}" for i in range(50)]
    store.add(texts, vectors_of(texts))
    query = vectors_of(["asked"])[0]
    rows = store.rows(digests(texts))
    by_hand = np.array([float(vector @ query) for vector in vectors_of(texts)])
    assert np.allclose(store.similarity(query, rows), by_hand, atol=2e-3)
    assert np.allclose(store.similarity(query)[rows], by_hand, atol=2e-3)
    assert np.allclose(store.similarity(query, rows[[7, 3]]), by_hand[[7, 3]], atol=2e-3)


def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    """Also at the same dimension; the old ones stay until somebody deletes them."""
    VectorStore(tmp_path, MODEL).add(["a"], vectors_of(["a"]))
    other = Identity(MODEL.name, "def", 8)
    store = VectorStore(tmp_path, other)
    assert len(store) == 0
    store.add(["b"], vectors_of(["b"]))
    assert len(VectorStore(tmp_path, MODEL)) == 1
    assert set(kept_models(tmp_path)) == {MODEL, other}


@pytest.mark.parametrize("left", [1, 7, 8, 20])
def test_what_a_killed_writer_left_is_overwritten(tmp_path: Path, left: int) -> None:
    store = VectorStore(tmp_path, MODEL)
    store.add(["a", "b"], vectors_of(["a", "b"]))
    folder = next(path.parent for path in tmp_path.rglob("about.json"))
    for name in ("vectors.f16", "texts.u64"):
        with (folder / name).open("ab") as file:
            file.write(b"\1" * (left if name == "vectors.f16" else min(left, 7)))
    again = VectorStore(tmp_path, MODEL)
    assert len(again) == 2
    again.add(["c"], vectors_of(["c"]))
    last = VectorStore(tmp_path, MODEL)
    assert np.allclose(last.vectors(last.rows(digests(["a", "b", "c"]))), vectors_of(["a", "b", "c"]), atol=1e-3)


def test_a_folder_that_says_something_else_is_refused(tmp_path: Path) -> None:
    VectorStore(tmp_path, MODEL).add(["a"], vectors_of(["a"]))
    next(tmp_path.rglob("about.json")).write_text("{}")
    with pytest.raises(IndexUnusableError, match="Delete"):
        VectorStore(tmp_path, MODEL)


def _add_some(folder: Path, who: int) -> None:
    store = VectorStore(folder, MODEL)
    for number in range(20):
        texts = [f"{who} {number}", f"shared {number}"]
        store.add(texts, vectors_of(texts))


def test_many_processes_append(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    started = [context.Process(target=_add_some, args=(tmp_path, who)) for who in range(3)]
    for process in started:
        process.start()
    for process in started:
        process.join()
        assert process.exitcode == 0
    store = VectorStore(tmp_path, MODEL)
    assert len(store) == 80
    texts = [f"{who} {n}" for who in range(3) for n in range(20)] + [f"shared {n}" for n in range(20)]
    assert np.allclose(store.vectors(store.rows(digests(texts))), vectors_of(texts), atol=1e-3)
