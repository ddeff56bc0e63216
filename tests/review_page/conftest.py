"""One store for what only looks, a copy for what changes something."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from review_stores import Browser, made_store

from grail_mem import Memory


@pytest.fixture(scope="session")
def made_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("review") / "harbour-lights"
    made_store(root).close()
    return root


@pytest.fixture(scope="session")
def looking(made_root: Path) -> Iterator[Browser]:
    """A browser for tests that change nothing."""
    with Memory(made_root, embedder="none") as memory:
        yield Browser(memory)


@pytest.fixture
def memory(made_root: Path, tmp_path: Path) -> Iterator[Memory]:
    """A store of the test's own."""
    with Memory(shutil.copytree(made_root, tmp_path / "store"), embedder="none") as opened:
        yield opened


@pytest.fixture
def browser(memory: Memory) -> Browser:
    return Browser(memory)
