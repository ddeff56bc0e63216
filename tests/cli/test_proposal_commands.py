"""`grail consolidate` and `grail proposals`: every form that people type, and what they and programs read."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from proposal_sets import bytes_of, propose
from typer.testing import Result

from grail_mem import Memory

Grail = Callable[..., Result]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two observations past their time, one provisional, one that nothing is wrong with."""
    root = tmp_path / "store"
    with Memory(root) as memory:
        memory.add_observation(title="Offer", content="The offer stands.", expires_at="2025-01-01", category="a")
        memory.add_observation(
            title="Rent", content="The rent is 900.", valid_from="2024-01-01", valid_until="2025-01-01"
        )
        memory.add_observation(title="Fine", content="Nothing is wrong with it.")
    return root


@pytest.fixture
def ids(store: Path) -> list[str]:
    with Memory(store) as memory:
        return [one.id for one in memory.consolidate(kinds=["expire_stale"])]


def test_consolidate_says_what_waits_and_what_is_new(grail: Grail, store: Path) -> None:
    """A table by kind, the new ones with their sentence, and what to do next; a second run finds nothing new."""
    result = grail("consolidate", store, "--kind", "expire_stale")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[:2] == ["kind          waiting  new", "expire_stale  2        2"]
    assert "'Offer' can be archived: it expired 2025-01-01T00:00:00Z." in result.stdout
    assert "2 proposals waiting, 2 new. No observation was changed." in result.stdout
    assert "proposals review" in result.stderr
    again = grail("consolidate", store, "--kind", "expire_stale")
    assert "2 proposals waiting, 0 new." in again.stdout
    assert len(list((store / "output/proposals").iterdir())) == 1


def test_the_documented_forms_parse(grail: Grail, store: Path, ids: list[str]) -> None:
    """`apply DIR --accept ID`, `apply DIR ID --accept`, `--accept=ID`, `--root`, and ids written short."""
    for words in (
        ["apply", store, "--accept", ids[0]],
        ["undo", store, ids[0]],
        ["apply", store, ids[0], "--accept"],
        ["undo", "--root", store, ids[0][-6:].lower()],
        ["apply", store, f"--accept={ids[0]}"],
        ["undo", store, ids[0]],
        ["apply", "--root", store, "--accept", ids[0], "--accept", ids[1]],
    ):
        result = grail("proposals", *words)
        assert result.exit_code == 0, (words, result.output)
    with Memory(store) as memory:
        assert {p.status for p in memory.proposals(status="all")} == {"applied"}


def test_list_show_and_dry_run_change_nothing(grail: Grail, store: Path, ids: list[str]) -> None:
    """They read; what `show` and `--dry-run` print is the exact difference."""
    with Memory(store) as memory:
        before = bytes_of(memory)
    listed = grail("proposals", "list", store)
    assert listed.stdout.splitlines()[0].split() == ["id", "kind", "confidence", "what"]
    assert listed.stdout.splitlines()[-1] == "2 proposals waiting."
    shown = grail("proposals", "show", store, ids[0])
    assert "  +status: archived" in shown.stdout
    assert "    | The offer stands." in shown.stdout
    dry = grail("proposals", "apply", store, ids[0], "--dry-run")
    assert "would be applied" in dry.stdout
    assert "  +status: archived" in dry.stdout
    with Memory(store) as memory:
        assert bytes_of(memory) == before
        assert len(memory.proposals()) == 2


def test_json_is_one_document(grail_json: Callable[..., Any], store: Path, ids: list[str]) -> None:
    """Each command prints all there is to know, and nothing else."""
    assert grail_json("consolidate", store, "--kind", "expire_stale")["new"] == []
    listed = grail_json("proposals", "list", store)
    assert (listed["total"], [p["id"] for p in listed["proposals"]]) == (2, ids)
    shown = grail_json("proposals", "show", store, ids[0])["proposals"][0]
    assert shown["files"][0]["action"] == "edit"
    assert shown["affected"][0]["sha256"]
    assert grail_json("proposals", "apply", store, ids[0])["outcomes"][0]["status"] == "applied"
    assert grail_json("proposals", "apply", store, ids[0], exit_code=5)["outcomes"][0]["done"] is False
    assert grail_json("proposals", "reject", store, ids[1])["outcomes"][0]["status"] == "rejected"
    assert grail_json("proposals", "undo", store, *ids)["outcomes"][1]["status"] == "pending"
    assert grail_json("proposals", "list", store, "--status", "all")["total"] == 2


def test_all_kind_and_confidence_choose(grail: Grail, store: Path, ids: list[str]) -> None:
    """--min-confidence narrows --all; none left is no error."""
    assert "applied" in grail("proposals", "apply", store, "--min-confidence", "0.93").stdout
    with Memory(store) as memory:
        assert [p.id for p in memory.proposals()] == [ids[1]]
    assert (
        "rejected" in grail("proposals", "reject", store, "--all", "--kind", "expire_stale", "--reason", "kept").stdout
    )
    nothing = grail("proposals", "apply", store, "--all")
    assert (nothing.exit_code, nothing.stdout) == (0, "There is no such proposal waiting.\n")
    assert "kept" in grail("proposals", "show", store, ids[1]).stdout


@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (["apply"], 2, "needs ids, or --all"),
        (["apply", "ID", "--all"], 2, "not both"),
        (["apply", "xx"], 2, "'xx' is no id"),
        (["apply", "ZZZZZZ"], 3, "no proposal whose id ends in ZZZZZZ"),
        (["list", "--status", "open"], 2, "There is no status 'open'"),
        (["list", "--kind", "merge"], 2, "There is no kind 'merge'"),
        (["list", "--limit", "0"], 2, "limit must be a whole number from 1"),
        (["frobnicate"], 2, "No such command"),
    ],
)
def test_wrong_words_are_refused_with_what_to_do(
    grail: Grail, store: Path, ids: list[str], words: list[str], exit_code: int, said: str
) -> None:
    """Nothing is applied, and the message names the fault."""
    given = [ids[0] if word == "ID" else word for word in words]
    result = grail("proposals", given[0], store, *given[1:])
    assert result.exit_code == exit_code, result.output
    assert said in result.stderr
    with Memory(store) as memory:
        assert len(memory.proposals()) == 2


def test_wrong_kinds_and_confidences_of_consolidate_are_refused(grail: Grail, store: Path) -> None:
    for words in (["--kind", "x"], ["--min-confidence", "2"], ["--min-confidence", "high"]):
        assert grail("consolidate", store, *words).exit_code == 2
    assert grail("consolidate", store / "missing").exit_code == 3


def test_review_steps_through_what_waits(grail: Grail, store: Path, ids: list[str]) -> None:
    """y applies, n rejects, anything else asks again, the end of the input leaves the rest."""
    result = grail("proposals", "review", store, input="x\ny\nn\n")
    assert result.exit_code == 0, result.output
    assert "1 of 2" in result.stdout
    assert "'x' is none of y, n, s, o, q." in result.stderr
    assert result.stdout.splitlines()[-1] == "1 applied, 1 rejected, 0 skipped."
    with Memory(store) as memory:
        assert {p.id: p.status for p in memory.proposals(status="all")} == {ids[0]: "applied", ids[1]: "rejected"}


@pytest.mark.parametrize("answers", ["s\ns\n", "\nq\n", "", "q\n"])
def test_review_skips_without_a_decision(grail: Grail, store: Path, ids: list[str], answers: str) -> None:
    assert (
        grail("proposals", "review", store, input=answers).stdout.splitlines()[-1]
        == "0 applied, 0 rejected, 2 skipped."
    )
    with Memory(store) as memory:
        assert len(memory.proposals()) == 2


def test_review_opens_the_files_in_the_editor(
    grail: Grail, store: Path, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """o calls $EDITOR with the files as they are; one that was edited there makes the proposal stale, which is shown."""
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nfor f in "$@"; do echo "By a person." >> "$f"; done\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(editor))
    result = grail("proposals", "review", store, ids[0], input="o\ns\n")
    assert "was changed" in result.stdout
    with Memory(store) as memory:
        assert [o.title for o in memory.recall(text="by a person", include_history=True).observations] == ["Offer"]


def test_what_a_person_may_get_wrong_is_no_fault_of_the_program(
    grail: Grail, store: Path, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Odd numbers, folders, editors and no keyboard are told in a sentence."""
    for value in ("abc", "7", "nan"):
        assert grail("proposals", "list", store, "--min-confidence", value).exit_code == 2
    for place in ("~nobody-of-that-name/x", "a" * 5000):
        for words in (["list", place], ["show", place, ids[0]]):
            result = grail("proposals", *words)
            assert result.exit_code in (2, 3), result.output
    for editor in ("no-such-editor", 'vi "x'):
        monkeypatch.setenv("EDITOR", editor)
        result = grail("proposals", "review", store, input="o\nq\n")
        assert result.exit_code == 0, result.output
        assert "cannot be started" in result.stderr
    assert "undone already" in grail("proposals", "undo", store, _undone(grail, store, ids[0])).stdout


def _undone(grail: Grail, store: Path, id_: str) -> str:
    for verb in ("apply", "undo"):
        assert grail("proposals", verb, store, id_).exit_code == 0
    return id_


def test_invisible_characters_are_shown_as_escapes(grail: Grail, tmp_path: Path) -> None:
    """Text of an observation cannot act on the terminal or hide in a diff."""
    with Memory(tmp_path / "s") as memory:
        made = memory.add_observation(title="Red \x1b[31m", content="Hidden \u202e text.", tags=["x"])
        id_ = propose(memory, [{"do": "set", "id": made.id, "fields": {"content": "New \u200b text."}}])
    shown = grail("proposals", "show", tmp_path / "s", id_)
    assert "\\u202e" in shown.stdout
    assert "\\u200b" in shown.stdout
    assert not set("\x1b\u202e\u200b") & set(shown.stdout)
