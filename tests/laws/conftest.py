"""What the crash tests share: a folder in memory and a server that runs verbs in processes that die."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from crash_shim import Server, compiled


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: killing a process does not need a disk, and syncing one is slow."""
    memory_backed = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="grail-crash-", dir=memory_backed if memory_backed.is_dir() else None
    ) as path:
        yield Path(path)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture(scope="module")
def libc_server(folder: Path) -> Iterator[Server]:
    library = compiled(folder)
    if library is None:
        pytest.skip("needs a C compiler on Linux: what DuckDB writes is seen in libc only")
    server = Server(preload=library)
    yield server
    server.close()
