"""`grail calibrate`, `grail fit` and `grail search --ranking`: what people and programs read of a store's own gates and weights."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labelled_store import answered, filled, unanswered

NONE = ("--embedder", "none")
ASKED = "Where does the otter sleep?"


@pytest.fixture(scope="session")
def _made_sleepers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, and beside it a file of questions that what says answers, and one of those that what asks does."""
    folder = tmp_path_factory.mktemp("made")
    with filled(folder / "store", embedder="none") as memory:
        for kind in ("says", "asks"):
            lines = map(json.dumps, [*answered(memory, kind), *unanswered()])
            (folder / f"{kind}.jsonl").write_text("\n".join(lines))
    return folder


@pytest.fixture
def sleepers(_made_sleepers: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_made_sleepers, tmp_path / "sleepers"))


def test_calibrate_shows_the_new_gates_beside_those_in_force(grail: Callable[..., Any], sleepers: Path) -> None:
    store = sleepers / "store"
    tried = grail("calibrate", store, sleepers / "says.jsonl", *NONE, "--dry-run")
    assert (tried.exit_code, tried.stderr) == (0, "")
    assert tried.stdout.endswith("Nothing was written.\n")
    assert not (store / "gates.json").exists()
    done = grail("calibrate", store, sleepers / "says.jsonl", *NONE)
    first, _, head, before, after, _, said, written = done.stdout.splitlines()
    assert first == "Gates for the embedder none and the weights 'lexical'."
    assert head.split() == ["gate", "which", "AUROC", "answered", "silent", "floor", "sure"]
    assert before.split()[:3] == ["topic", "in", "force"]
    assert after.split()[:2] == ["topic", "new"]
    assert said.startswith("Of 22 questions with an answer and 22 without one;")
    assert written == f"Written to {store / 'gates.json'}."


def test_calibrate_as_json_is_what_memory_returns(
    grail: Callable[..., Any], grail_json: Callable[..., Any], sleepers: Path
) -> None:
    done = grail_json("calibrate", sleepers / "store", sleepers / "says.jsonl", *NONE)
    assert (done["embedder"], done["recipe"], done["speaker"]) == ("none", "lexical", None)
    assert len(done["answered_scores"]) == done["topic"]["n_answered"] == 22
    assert json.loads((sleepers / "store/gates.json").read_text())["gates"] == {"none": done["gates"]}
    assert grail_json("calibrate", sleepers / "store", "--reset") == {"removed": True}
    assert grail_json("calibrate", sleepers / "store", "--reset") == {"removed": False}
    assert grail("calibrate", "--root", sleepers / "store", "--reset").stdout == "The store has no gates of its own.\n"


@pytest.mark.slow
def test_calibrate_draws_where_the_scores_lie(
    grail: Callable[..., Any], sleepers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    words = ("calibrate", sleepers / "store", sleepers / "says.jsonl", *NONE, "--dry-run", "--plot")
    picture = sleepers / "scores.png"
    assert grail(*words, picture).exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert grail(*words, sleepers / "scores.txt").exit_code == 2
    assert grail(*words, sleepers / "nowhere/scores.png").exit_code == 6
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    missing = grail(*words, picture)
    assert (missing.exit_code, missing.stderr.splitlines()[-1]) == (7, "pip install 'grail-mem[plot]'")


def test_calibrate_names_every_line_that_is_wrong(grail: Callable[..., Any], sleepers: Path) -> None:
    file = sleepers / "bad.jsonl"
    file.write_text('{"question": "a"}\nno\n')
    result = grail("calibrate", sleepers / "store", file, *NONE)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "  - line 1: answers is missing.\n  - line 2: not JSON" in result.stderr
    assert grail("calibrate", sleepers / "store", sleepers / "nowhere.jsonl").exit_code == 3
    assert grail("fit", sleepers / "store", file, *NONE).exit_code == 2


@pytest.mark.parametrize("verb", ["calibrate", "fit"])
def test_a_file_is_needed_unless_something_is_reset(grail: Callable[..., Any], sleepers: Path, verb: str) -> None:
    store = sleepers / "store"
    result = grail(verb, store)
    assert (result.exit_code, f"Write `grail {verb} [DIR] FILE`" in result.stderr) == (2, True)
    assert grail(verb, store, sleepers / "says.jsonl", "--reset").exit_code == 2
    both = grail(verb, store, "--reset", "--dry-run")
    assert (both.exit_code, "leave out --dry-run" in both.stderr) == (2, True)
    assert grail(verb, sleepers, "--reset").exit_code == 3


@pytest.mark.slow
def test_fit_writes_weights_only_if_they_are_better(grail: Callable[..., Any], sleepers: Path) -> None:
    pytest.importorskip("scipy")
    store = sleepers / "store"
    kept = grail("fit", store, sleepers / "says.jsonl", *NONE)
    assert (kept.exit_code, (store / "weights.json").exists()) == (0, False)
    assert "Nothing was written: " in kept.stdout
    done = grail("fit", store, sleepers / "asks.jsonl", *NONE)
    first, _, head, before, after, _, written = done.stdout.splitlines()
    assert first == "Weights 'lexical', fitted to 22 questions."
    assert head.split() == ["weights", "any@5", "all@5", "MRR"]
    assert before.split() == ["shipped", "1.000", "1.000", "0.500"]
    assert after.startswith("fitted, by cross-validation")
    assert written.startswith(f"Written to {store / 'weights.json'}. Scores changed: run `grail calibrate`")
    shown = grail("search", store, ASKED, *NONE)
    assert "warning: The gates that are shipped for none were calibrated with other weights" in shown.stderr
    assert grail("fit", store, "--reset").stdout == "weights.json was removed; the weights that are shipped count.\n"
    assert grail("search", store, ASKED, *NONE).stderr == ""


@pytest.mark.slow
def test_fit_as_json_is_what_memory_returns(grail_json: Callable[..., Any], sleepers: Path) -> None:
    pytest.importorskip("scipy")
    words = ("fit", sleepers / "store", sleepers / "asks.jsonl", *NONE)
    tried = grail_json(*words, "--dry-run", "--recipe", "lexical")
    assert (tried["recipe"], tried["n_questions"], tried["is_better"], tried["path"]) == ("lexical", 22, True, None)
    assert tried["after"]["MRR"] > tried["before"]["MRR"]
    assert grail_json(*words)["path"] == str(sleepers / "store/weights.json")


def test_search_takes_a_ranking(grail: Callable[..., Any], grail_json: Callable[..., Any], sleepers: Path) -> None:
    words = ("search", sleepers / "store", ASKED, *NONE)
    assert grail_json(*words, "--ranking", "reciprocal_rank")["trace"]["rank"]["recipe"] == "reciprocal_rank"
    assert grail_json(*words, "--ranking", "lexical")["trace"]["rank"]["recipe"] == "lexical"
    wrong = grail(*words, "--ranking", "bm25")
    assert (wrong.exit_code, "weighted, words, vectors, lexical, reciprocal_rank" in wrong.stderr) == (2, True)
