"""The conditions are those of `make_filter`: every verb and command that takes conditions takes all of them, and passes them on."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory
from grail_mem.cli.grouped import CONDITIONS as GROUPED
from grail_mem.cli.recall import recall_command
from grail_mem.cli.search import search_command
from grail_mem.cli.transfer import export_command
from grail_mem.model.filter import make_filter

OURS = {"now", "zone", "default_scope"}
"""What the store says, not the caller."""
CONDITIONS = sorted(inspect.signature(make_filter).parameters.keys() - OURS - {"include_history"})
VALUES: dict[str, Any] = {
    "since": "2030-01-01", "before": "2020-01-01", "min_confidence": 0.9, "text": "elsewhere", "as_of": "2020-01-01",
    "believed_at": "2020-01-01", "kind": "summary", "status": "archived", "source_kind": "system", "scope": "user:nobody",
}  # fmt: skip
"""By condition, what the only observation of the test does not meet; a word for the others."""


@pytest.mark.parametrize("verb", [Memory.recall, Memory.export])
def test_whoever_takes_conditions_takes_all(verb: Callable[..., Any]) -> None:
    """And passes each on by its name."""
    assert set(CONDITIONS) <= inspect.signature(verb).parameters.keys()
    passed = inspect.getsource(verb)
    assert [name for name in CONDITIONS if not re.search(rf'(\b{name}=|"{name}": ){name}\b', passed)] == []


@pytest.mark.parametrize("command", [recall_command, search_command, export_command])
def test_a_command_takes_all_conditions_and_passes_them_on_together(command: Callable[..., Any]) -> None:
    assert set(CONDITIONS) <= inspect.signature(command).parameters.keys()
    assert set(CONDITIONS) == GROUPED.keys()
    assert "**conditions," in inspect.getsource(command)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one observation."""
    root = tmp_path_factory.mktemp("conditions") / "store"
    with Memory(root) as memory:
        memory.add_observation(content="Here.", confidence=0.5, observed_at="2026-01-01")
        assert memory.export(root.parent / "all.jsonl").n_observations == 1
    return root


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_condition_holds_on_what_is_recalled_and_exported(root: Path, name: str) -> None:
    asked = {name: VALUES.get(name, "elsewhere")}
    with Memory(root) as memory:
        assert memory.recall(**asked).observations == ()
        assert memory.export(root.parent / f"{name}.jsonl", **asked).n_observations == 0
