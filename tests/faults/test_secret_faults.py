"""Faults of similar systems around secrets that must not happen here."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grail_mem import InputError, Memory
from grail_mem.errors import GrailError

ROOT = Path(__file__).parents[2]
SECRET = "AKIA" + "QYLPMN5HHHFPZAM2"
CANARY = "password=Zanzibar42!"


def grail(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "grail_mem", *words], input=given, capture_output=True, text=True, env=environment
    )


@pytest.mark.parametrize("policy", ["warn", "redact", "refuse"])
def test_f47_a_secret_is_in_no_error_log_or_ledger(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, policy: str
) -> None:
    """Whatever is sent and however wrong: no error, warning, log line or line of the ledger quotes it."""
    caplog.set_level(logging.DEBUG)
    (tmp_path / "grail.yaml").write_text(f"screening: {policy}\n")
    said: list[str] = []
    with Memory(tmp_path, embedder="none") as memory:
        there = memory.add_observation(content="There.")
        for call in (
            lambda: memory.add_observation(content=f"see {SECRET}", confidence=SECRET),  # type: ignore[arg-type]
            lambda: memory.add_observation(content=f"see {SECRET}", kind=SECRET),
            lambda: memory.add_observation(content=f"see {SECRET}", entities=[{"wrong": SECRET}]),
            lambda: memory.add_observation(content="x", observed_at=SECRET),
            lambda: memory.add_observation(content="x", supersedes=SECRET),
            lambda: memory.add_observation(content="x", scope=f"{SECRET}/x"),
            lambda: memory.add_observation(content="x", category=f"../{SECRET}"),
            lambda: memory.add_observations([{SECRET: 1}]),
            lambda: memory.update(there.id, **{SECRET: 1}),
            lambda: memory.update(there.id, content=f"see {SECRET}", reason=SECRET),
            lambda: memory.move(there.id, f"../{SECRET}"),
            lambda: memory.hide(there.id, reason=f"it held {SECRET}"),
        ):
            try:
                said.append(str(getattr(call(), "warnings", "")))
            except GrailError as error:
                said += [str(error), *getattr(error, "problems", ()), str(error.__cause__ or "")]
        said += [str(problem) for problem in memory.check().problems]
        said += [str(problem) for problem in memory.scan().problems]
    said += [record.getMessage() + str(record.exc_text) for record in caplog.records]
    said += [path.read_text() for path in (tmp_path / ".grail" / "ledger").iterdir()]
    assert not [text for text in said if SECRET in text]


def test_f47_a_command_takes_text_from_its_input_and_quotes_no_secret(tmp_path: Path) -> None:
    """What is piped in stands in no list of processes; what the command says does not repeat it."""
    (tmp_path / "grail.yaml").write_text("screening: refuse\n")
    done = grail("add", str(tmp_path), "--file", "-", given=CANARY)
    assert done.returncode == InputError.exit_code, done.stderr
    assert "what looks like a password" in done.stderr
    assert "Zanzibar42" not in done.stdout + done.stderr


def test_f48_a_key_in_a_note_is_told_or_kept_out(tmp_path: Path) -> None:
    """By default the writer is told; the store can be set to take nothing of it."""
    for policy in ("warn", "redact", "refuse"):
        root = tmp_path / policy
        root.mkdir()
        (root / "grail.yaml").write_text("" if policy == "warn" else f"screening: {policy}\n")
        with Memory(root, embedder="none") as memory:
            try:
                assert "aws key" in memory.add_observation(content=f"key {SECRET}").warnings[0]
            except InputError:
                assert policy == "refuse"
        kept = [p for p in root.rglob("*") if p.is_file() and SECRET.encode() in p.read_bytes()]
        assert bool(kept) == (policy == "warn")


def test_f48_keys_stored_before_are_found_afterwards(tmp_path: Path) -> None:
    """Files, sources and reasons of the ledger, with place, kind and what to do; nothing changes and no key is shown."""
    (tmp_path / "grail.yaml").write_text("screening: off\n")
    with Memory(tmp_path, embedder="none") as memory:
        written = memory.add_observation(content=f"first\nthe key {SECRET} is Dana's", title="Keys")
        memory.hide(written.id, reason=f"it held {CANARY}")
        (tmp_path / "sources").mkdir()
        (tmp_path / "sources" / "chat.jsonl").write_text(f'{{"text": "hello"}}\n{{"text": "use {SECRET}"}}\n')
        before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
        found = memory.scan()
        assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
    assert not found.ok
    places = {p.place.rpartition("/")[2].split("_")[0].rsplit(":", 1)[0]: p for p in found.problems}
    clone = next(p.name for p in (tmp_path / ".grail" / "ledger").iterdir())
    assert set(places) == {written.path.rpartition("/")[2].split("_")[0], "chat.jsonl", clone}
    assert places["chat.jsonl"].line == 2
    assert {(p.code, bool(p.remedy), "[redacted: " in p.message) for p in found.problems} == {("secret", True, True)}
    assert SECRET not in str(found)
    assert "Zanzibar42" not in str(found)


@pytest.mark.slow
def test_f48_the_command_tells_by_its_exit_code(tmp_path: Path) -> None:
    """0 for a clean store, 1 with a finding, in text and as JSON."""
    with Memory(tmp_path, embedder="none") as memory:
        memory.add_observation(content="Nothing here.")
    assert grail("scan", str(tmp_path)).returncode == 0
    (tmp_path / "memories" / "note.md").write_text(f"# Note\n\n{CANARY}\n")
    for done in (grail("scan", str(tmp_path)), grail("scan", str(tmp_path), "--json")):
        assert done.returncode == 1, done.stderr
        assert "note.md" in done.stdout
        assert "Zanzibar42" not in done.stdout + done.stderr


def test_f48_a_session_hears_of_what_it_may_read_alone(tmp_path: Path) -> None:
    """Neither of others' observations, nor of hidden ones, nor of sources and ledger."""
    with Memory(tmp_path, embedder="none") as memory:
        memory.add_observation(content=f"theirs {SECRET}", scope="user:u2")
        with memory.session(user_id="u1", agent_id="a") as session:
            own = session.add_observation(content=f"mine {SECRET}")
            hidden = session.add_observation(content=f"hidden {SECRET}")
            memory.hide(hidden.id, reason="x")
            assert {p.where for p in session.scan().problems} == {own.path}
        assert len({p.where for p in memory.scan().problems}) == 3
