"""Vectors on disk: each text once for each model, whole whatever happens to a writer, scores as computed by hand."""

from __future__ import annotations

import multiprocessing
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem import IndexUnusableError, InputError
from grail_mem.index.embedder import Identity, WordVectors, unit
from grail_mem.index.vector_files import kept_models
from grail_mem.index.vectors import VectorStore, missing, text_digest

MODEL = Identity("test/model 1", "abc", 8)


def vectors_of(texts: list[str], dimension: int = 8) -> np.ndarray:
    """Some vector for each text, always the same."""
    seeds = [text_digest(text) for text in texts]
    made = [np.random.default_rng(seed).normal(size=dimension) for seed in seeds]
    return unit(np.array(made, np.float32).reshape(len(texts), dimension))


def words_of(texts: list[str], width: int = 4) -> WordVectors:
    """Some word vectors for each text, always the same; of some texts none."""
    made = [np.random.default_rng(text_digest(text)) for text in texts]
    rows = [random.integers(-127, 128, (random.integers(0, 5), width), np.int8) for random in made]
    first = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return WordVectors(first, np.concatenate([np.zeros((0, width), np.int8), *rows]))


def same(one: WordVectors, other: WordVectors) -> bool:
    return np.array_equal(one.first, other.first) and np.array_equal(one.vectors, other.vectors)


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


def test_a_cosine_is_the_same_whatever_it_is_computed_with(tmp_path: Path) -> None:
    """Of all rows, and of chosen ones in the order asked for."""
    store = VectorStore(tmp_path, MODEL)
    texts = [f"t{i}" for i in range(50)]
    store.add(texts, vectors_of(texts))
    query = vectors_of(["asked"])[0]
    rows = store.rows(digests(texts))
    by_hand = np.array([float(vector @ query) for vector in vectors_of(texts)])
    assert np.allclose(store.cosines(query, rows), by_hand, atol=2e-3)
    for chosen in ([7, 3], [7], [], list(range(49, -1, -1))):
        assert store.cosines(query, rows[chosen]).tolist() == store.cosines(query, rows)[chosen].tolist()


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


@given(st.lists(st.integers(0, 9), max_size=30))
def test_words_of_chosen_texts_are_those_a_loop_finds(chosen: list[int]) -> None:
    words = words_of([f"t{i}" for i in range(10)])
    rows = [words.vectors[words.first[i] : words.first[i + 1]] for i in chosen]
    found = words.of(np.array(chosen, np.int64))
    assert found.first.tolist() == [0, *np.cumsum([len(of_text) for of_text in rows]).astype(int)]
    assert np.array_equal(found.vectors, np.concatenate([np.zeros((0, 4), np.int8), *rows]))


@pytest.mark.slow
@given(st.lists(st.tuples(st.booleans(), st.lists(st.text(max_size=3), max_size=6)), max_size=6))
def test_two_stores_append_words_and_see_those_of_the_other(
    tmp_path_factory: pytest.TempPathFactory, batches: list[tuple[bool, list[str]]]
) -> None:
    folder = tmp_path_factory.mktemp("vectors")
    stores = VectorStore(folder, MODEL), VectorStore(folder, MODEL)
    seen: set[str] = set()
    for second, batch in batches:
        stores[second].add(batch, vectors_of(batch), words_of(batch))
        seen |= set(batch)
        stores[not second].refresh()
        texts = sorted(seen)
        for reader in (*stores, VectorStore(folder, MODEL)):
            assert reader.has_words
            rows = reader.rows(digests(texts))
            assert same(reader.words(rows), words_of(texts))
            assert np.allclose(reader.vectors(rows), vectors_of(texts), atol=1e-3)


@given(st.sampled_from(["words.i8", "word_ends.i64", "vectors.f16", "texts.u64"]), st.data())
def test_what_was_cut_off_is_made_again(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    """Any file cut anywhere: what is there is right, for a store that was open as well, and the rest can be added again."""
    folder = tmp_path_factory.mktemp("vectors")
    texts = [f"t{i}" for i in range(6)]
    early = VectorStore(folder, MODEL)
    early.add(texts, vectors_of(texts), words_of(texts))
    path = next(folder.rglob(name))
    size = path.stat().st_size
    left = data.draw(st.integers(0, size))
    cut = path.read_bytes()[:left]
    path.unlink()  # a new file, as after a restart: what is mapped must not shrink
    path.write_bytes(cut)
    early.refresh()
    for store in (early, VectorStore(folder, MODEL)):
        assert len(store) == len(texts) if left == size else len(store) <= len(texts)
        there = texts[: len(store)]
        assert missing(store, texts) == texts[len(store) :]
        assert same(store.words(store.rows(digests(there))), words_of(there))
    early.add(texts[::-1], vectors_of(texts[::-1]), words_of(texts[::-1]))
    for store in (early, VectorStore(folder, MODEL)):
        assert same(store.words(store.rows(digests(texts))), words_of(texts))
        assert np.allclose(store.vectors(store.rows(digests(texts))), vectors_of(texts), atol=1e-3)


@pytest.mark.slow
@given(st.integers(0, 4), st.data())
def test_a_writer_killed_anywhere_leaves_nothing_half(
    tmp_path_factory: pytest.TempPathFactory, n_written: int, data: st.DataObject
) -> None:
    """The files are written one after the other; the next writer writes over what was left, and others see only whole rows."""
    folder = tmp_path_factory.mktemp("vectors")
    store, reader = VectorStore(folder, MODEL), VectorStore(folder, MODEL)
    store.add(["a", "b"], vectors_of(["a", "b"]), words_of(["a", "b"]))
    files = [next(folder.rglob(name)) for name in ("words.i8", "word_ends.i64", "vectors.f16", "texts.u64")]
    before = [path.stat().st_size for path in files]
    store.add(["c", "d"], vectors_of(["c", "d"]), words_of(["c", "d"]))
    for number, path in enumerate(files):
        written = path.stat().st_size - before[number]
        kept = written if number < n_written else 0
        if number == n_written:
            kept = data.draw(st.integers(0, written))
        with path.open("r+b") as file:
            file.truncate(before[number] + kept)
    reader.refresh()
    whole = ["a", "b", "c", "d"][: len(reader)]
    assert len(whole) >= 2
    assert same(reader.words(reader.rows(digests(whole))), words_of(whole))
    texts = ["e", "d", "c", "b", "a"]
    VectorStore(folder, MODEL).add(texts, vectors_of(texts), words_of(texts))
    reader.refresh()
    for each in (reader, VectorStore(folder, MODEL)):
        assert same(each.words(each.rows(digests(texts))), words_of(texts))


def test_an_open_store_sees_that_the_folder_was_made_anew(tmp_path: Path) -> None:
    """Also when the new one has more rows: nothing of the old one is mixed in."""
    early = VectorStore(tmp_path, MODEL)
    early.add(["a", "b"], vectors_of(["a", "b"]), words_of(["a", "b"]))
    shutil.rmtree(next(tmp_path.rglob("about.json")).parent)
    early.refresh()
    assert len(early) == 0
    early.add(["a", "b"], vectors_of(["a", "b"]), words_of(["a", "b"]))
    shutil.rmtree(next(tmp_path.rglob("about.json")).parent)
    texts = ["c", "b", "d"]
    VectorStore(tmp_path, MODEL).add(texts, vectors_of(texts), words_of(texts))
    early.refresh()
    assert missing(early, ["a", *texts]) == ["a"]
    assert same(early.words(early.rows(digests(texts))), words_of(texts))
    assert np.allclose(early.vectors(early.rows(digests(texts))), vectors_of(texts), atol=1e-3)


def test_all_texts_of_a_model_have_words_or_none(tmp_path: Path) -> None:
    with_words, without = VectorStore(tmp_path / "1", MODEL), VectorStore(tmp_path / "2", MODEL)
    with_words.add(["a"], vectors_of(["a"]), words_of(["a"]))
    without.add(["a"], vectors_of(["a"]))
    assert with_words.has_words
    assert not without.has_words
    assert not list((tmp_path / "2").rglob("word*"))
    for store, words in ((with_words, None), (with_words, words_of(["b"], width=5)), (without, words_of(["b"]))):
        with pytest.raises(InputError, match="word vector"):
            store.add(["b"], vectors_of(["b"]), words)
        assert len(store) == 1
    with pytest.raises(InputError, match="no word vectors"):
        without.words(np.array([0]))


def _add_some(folder: Path, who: int) -> None:
    store = VectorStore(folder, MODEL)
    for number in range(20):
        texts = [f"{who} {number}", f"shared {number}"]
        store.add(texts, vectors_of(texts))


@pytest.mark.slow
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
