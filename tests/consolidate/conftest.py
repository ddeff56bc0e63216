"""A fresh store for each test, without an embedder; helpers of this folder can be imported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grail_mem import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder="none") as opened:
        yield opened
