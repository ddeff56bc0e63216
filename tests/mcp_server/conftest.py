"""Small stores for servers, and one server a module."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from grail_mem import Memory
from tests.mcp_clients import Held, over_stdio

CHAT = [
    {"role": "user", "text": "For the record: we go with Postgres for the catalogue."},
    {"role": "assistant", "text": "Noted."},
]
NOTES = [
    {"title": "Acme picked Postgres", "content": "After the review of three engines.", "category": "work/clients/acme",
     "tags": ["decision"], "entities": [{"name": "Acme", "type": "ORGANIZATION"}, {"name": "Postgres", "type": "TECHNOLOGY"}]},
    {"title": "Ann leads the catalogue", "content": "Since spring.", "category": "team", "entities": [{"name": "Ann", "type": "PERSON"}]},
    {"title": "The office closes at six", "content": "The office in Graz closes at six in the evening.", "category": "team"},
    {"title": "The office closes at six", "content": "The office in Graz closes at six in the evening!", "category": "work"},
]  # fmt: skip


@pytest.fixture(scope="session")
def made_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store without an embedder, with a transcript, a quote and two that say the same."""
    root = tmp_path_factory.mktemp("made") / "store"
    root.mkdir()
    (root / "grail.yaml").write_text("embedder: none\n", encoding="utf-8")
    with Memory(root) as memory:
        memory.init()
        memory.ingest_chat(CHAT, session="chat/1")
        memory.add_observations(NOTES)
        memory.remember(
            "We go with Postgres for the catalogue.", evidence="we go with Postgres for the catalogue", session="chat/1"
        )
        for user in ("u1", "u2"):
            with memory.session(user_id=user, agent_id="helper") as session:
                session.add_observation(title=f"Secret of {user}", content=f"Only {user} may see this.")
    return root


@pytest.fixture(scope="module")
def store(made_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the module's own."""
    return Path(shutil.copytree(made_store, tmp_path_factory.mktemp("own") / "store"))


@pytest.fixture(scope="module")
def owner(store: Path) -> Iterator[Held]:
    """A client of a server for the owner that may apply proposals and gets values."""
    with over_stdio(store, "--allow-apply", "--structured") as held:
        yield held
