"""`grail doctor`: a set-up that does not work is explained, piece by piece, and nothing is changed by looking."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory
from grail_mem.keep.doctor import examine


def doctor(*words: str, cwd: Path, **env: str) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """The exit code, and the findings by what they are about."""
    kept = {name: value for name, value in os.environ.items() if name != "GRAIL_ROOT"}
    path = os.pathsep.join(filter(None, (env.pop("PYTHONPATH", ""), str(Path(__file__).parents[2]))))
    done = subprocess.run(
        [sys.executable, "-m", "grail_mem", "doctor", *words, "--json"], cwd=cwd, env={**kept, "PYTHONPATH": path, **env},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    found: dict[str, list[dict[str, str]]] = {}
    for finding in json.loads(done.stdout)["findings"]:
        found.setdefault(finding["about"], []).append(finding)
    return done.returncode, found


def examined(root: Path) -> dict[str, Any]:
    return {finding.about: finding for finding in examine(root)}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Memory(tmp_path / "notes", embedder="none") as memory:
        memory.init()
        memory.add_observation(content="Acme picked Postgres.")
    return tmp_path / "notes"


@pytest.mark.slow
def test_a_sound_set_up_has_nothing_broken_and_looking_changes_nothing(store: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
    code, found = doctor(str(store), cwd=store)
    assert code == 0
    assert all(one["standing"] != "broken" for findings in found.values() for one in findings)
    assert found["contents"][0]["said"] == "1 observation, 0 errors, 0 warnings."
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*")} == before


@pytest.mark.slow
def test_without_a_store_the_machine_is_looked_at_all_the_same(tmp_path: Path) -> None:
    code, found = doctor(cwd=tmp_path)
    assert code == 0
    assert found["Python"][0]["standing"] == "fine"
    assert "grail init" in found["store"][0]["remedy"]
    code, found = doctor("missing", cwd=tmp_path)
    assert (code, found["store"][0]["standing"]) == (1, "broken")
    assert not (tmp_path / "missing").exists()


@pytest.mark.slow
def test_a_package_that_cannot_be_loaded_is_named_and_the_rest_is_still_told(store: Path, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "duckdb.py").write_text("raise ImportError('libstdc++.so.6 is missing')\n")
    code, found = doctor(str(store), cwd=store, PYTHONPATH=str(tmp_path / "broken"))
    assert code == 1
    assert "duckdb cannot be loaded: ImportError: libstdc++.so.6 is missing" in found["packages"][0]["said"]
    assert "pip install" in found["packages"][0]["remedy"]
    assert found["settings"][0]["standing"] == "fine"


def test_settings_that_cannot_be_used_are_told_with_the_line(store: Path) -> None:
    (store / "grail.yaml").write_text("silense: never\n")
    finding = examined(store)["settings"]
    assert finding.standing == "broken"
    assert "silense" in f"{finding.said} {finding.remedy}"
    assert "silence" in f"{finding.said} {finding.remedy}"


def test_an_embedder_that_is_not_there_is_told_with_the_remedy(store: Path) -> None:
    (store / "grail.yaml").write_text("embedder: sentence-transformers:no/such-model-here\n")
    assert examined(store)["embedder"].standing == "broken"
    (store / "grail.yaml").write_text("embedder: none\n")
    assert examined(store)["embedder"].standing == "fine"


def test_a_lock_that_another_process_holds_is_named(store: Path) -> None:
    with (store / ".grail" / "local" / "write.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "write.lock" in examined(store)["locks"].said
    assert "locks" not in examined(store)


@pytest.mark.slow
def test_a_store_in_git_without_what_its_merge_needs_is_told(store: Path) -> None:
    subprocess.run(["git", "init", "-q", str(store)], check=True)
    assert "git" not in examined(store)
    (store / ".gitattributes").unlink()
    finding = examined(store)["git"]
    assert ".grail/ledger/*.jsonl merge=union" in finding.said
    assert "grail init" in finding.remedy
    with Memory(store, embedder="none") as memory:
        memory.init()
    assert "git" not in examined(store)


@pytest.mark.slow
def test_a_store_of_a_newer_version_is_told(store: Path) -> None:
    (store / ".grail" / "store.json").write_text('{"version": 999}')
    code, found = doctor(str(store), cwd=store)
    assert code == 1
    assert any(one["standing"] == "broken" for about in ("version", "contents") for one in found.get(about, []))


@pytest.mark.slow
def test_another_grail_on_the_path_is_told(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "bin" / "grail"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    _, found = doctor(str(store), cwd=store, PATH=f"{other.parent}{os.pathsep}{os.environ['PATH']}")
    assert str(other) in found["command"][0]["said"]
    assert found["command"][0]["standing"] == "note"
