"""`grail candidates`: what is listed can be typed, and each decision is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from grail_mem import Memory

Grail = Callable[..., Result]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    with Memory(root, embedder="none") as memory:
        memory.init()
        memory.submit([{"title": f"Ann likes {what}", "content": f"Ann likes {what}."} for what in ("tea", "rain")])
    return root


def listed(grail: Grail, store: Path, *words: str) -> dict[str, str]:
    """The rows of the table by title, with their ids."""
    result = grail("candidates", "list", store, *words)
    assert result.exit_code == 0, result.output
    rows = (re.split(r"\s{2,}", line.strip(), maxsplit=3) for line in result.stdout.splitlines())
    return {row[3]: row[0] for row in rows if len(row) == 4 and row[0] != "id"}


@pytest.mark.parametrize("spelled", [str.lower, str.upper])
def test_ids_are_listed_short_and_small_and_name_a_candidate_in_any_case(
    grail: Grail, grail_json: Callable[..., Any], store: Path, spelled: Callable[[str], str]
) -> None:
    """As in every other list and in file names; the whole id stands in the JSON."""
    ids = listed(grail, store)
    whole = {one["observation"]["title"]: one["id"] for one in grail_json("candidates", "list", store)["candidates"]}
    assert ids == {title: id_[-6:].lower() for title, id_ in whole.items()}
    shown = grail("candidates", "show", store, spelled(ids["Ann likes tea"]))
    assert shown.exit_code == 0, shown.output
    assert whole["Ann likes tea"] in shown.stdout
    assert grail("candidates", "approve", store, spelled(ids["Ann likes tea"])).exit_code == 0
    assert listed(grail, store) == {"Ann likes rain": ids["Ann likes rain"]}
    assert list(listed(grail, store, "--status", "approved").values()) == [ids["Ann likes tea"]]


def test_decisions_say_what_became_of_each(grail: Grail, grail_json: Callable[..., Any], store: Path) -> None:
    ids = listed(grail, store)
    done = grail_json("candidates", "decline", store, ids["Ann likes rain"], "--reason", "not so")
    assert [one["status"] for one in done["candidates"]] == ["declined"]
    twice = grail("candidates", "approve", store, ids["Ann likes rain"])
    assert twice.exit_code == 5, twice.output
    assert "declined already" in twice.output
    assert grail("candidates", "show", store, "zzzzzz").exit_code == 3
    submitted = grail("candidates", "submit", store, input=json.dumps({"title": "New", "content": "Ann likes snow."}))
    assert submitted.exit_code == 0, submitted.output
    assert "New" in listed(grail, store)
