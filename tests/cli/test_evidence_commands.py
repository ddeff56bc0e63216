"""`grail ingest`, `remember`, `verify`, `cite`: what they print, and with which code they leave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grail_mem.cli.app import app

RUNNER = CliRunner()


def run(*words: str, code: int = 0, stdin: str | None = None) -> str:
    done = RUNNER.invoke(app, list(words), input=stdin)
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    file = tmp_path / "chat.jsonl"
    file.write_text(
        '{"role": "user", "text": "We go with Postgres.", "at": "2026-06-02"}\nnot json\n{"role": "user", "text": "Good night."}\n'
    )
    return file


def test_a_conversation_is_ingested_quoted_verified_and_cited(tmp_path: Path, chat: Path) -> None:
    """The whole way, for people and as JSON."""
    root = str(tmp_path / "store")
    said = run("ingest", root, str(chat), "--session", "s")
    assert "ingested 2 new turns of 2  sources/chats/s.jsonl" in said
    assert "turn 2 was left out" in said
    array = tmp_path / "chat.json"
    array.write_text(json.dumps({"turns": [{"role": "user", "text": "Good night."}]}))
    again = json.loads(run("ingest", root, str(array), "--session", "s", "--json"))
    assert (again["n_turns"], again["n_new"]) == (1, 0)
    said = run(
        "remember",
        root,
        "We go with Postgres",
        "--evidence",
        "We go with Postgres.",
        "--session",
        "s",
        "--tag",
        "decision",
    )
    assert said.startswith("remembered  ")
    assert "confirmed: supported" in said
    id_ = said.split()[1]
    refused = run("remember", root, "We go with MySQL", "--evidence", "We go with Postgres.", "--session", "s", code=2)
    assert "does not support" in refused
    refused = json.loads(
        run("remember", root, "x", "--evidence", "We go with MySQL.", "--session", "s", "--json", code=2)
    )
    assert refused["error"]["code"] == "evidence_not_found"
    assert "1 verified" in run("verify", root)
    assert "turn=0" in run("cite", root, id_)
    assert json.loads(run("cite", root, id_, "--json"))["evidence"][0]["status"] == "verified"
    (Path(root) / "sources/chats/s.jsonl").unlink()
    told = run("verify", root, code=1)
    assert "source missing" in told
    assert f"1 observation out of answers now: {id_}" in told
    assert json.loads(run("verify", root, "--json", "--all", code=1))["out"] == [id_]


def test_a_document_and_standard_input_are_ingested(tmp_path: Path) -> None:
    """What says nothing of them is refused."""
    root = str(tmp_path / "store")
    file = tmp_path / "minutes.txt"
    file.write_text("The bridge was closed in May.")
    assert "ingested 1 new document of 1  sources/documents/" in run("ingest", root, str(file), "--title", "Minutes")
    source = json.loads(run("ingest", root, "-", "--source", "mail", "--json", stdin="The gate is open again."))[
        "source"
    ]
    done = json.loads(
        run(
            "remember", root, "The gate is open again", "--evidence", "The gate is open again", "--in", source, "--json"
        )
    )
    assert done["support"]["verdict"] == "supported"
    refused = run("ingest", root, str(file), "--source", "x", "--observed-at", "2d", code=2)
    assert "--source says nothing of a document" in refused
    assert "--observed-at says nothing" in refused
    run("ingest", root, str(tmp_path / "none"), code=3)
    run("remember", root, "A claim without a quote", code=2)
    added = run("add", root, "--content", "Plain.")
    assert added.startswith("added")
    assert "changed" not in run("update", root, added.split()[1], "--tag", "a")


def test_log_shows_no_piece_of_a_name_as_an_id(tmp_path: Path, chat: Path) -> None:
    run("ingest", str(tmp_path / "s"), str(chat), "--session", "standup")
    told = run("log", str(tmp_path / "s"))
    assert "sources/chats/standup.jsonl" in told
    assert "tandup" not in told.replace("standup", "")


@pytest.mark.parametrize("text", ['{"role": "user", "te', "[1, 2]", "Minutes of May.\n\nNothing."])
def test_a_file_without_turns_is_refused(tmp_path: Path, text: str) -> None:
    """A file that is no transcript at all is not taken for an empty one."""
    (tmp_path / "file").write_text(text)
    run("ingest", str(tmp_path / "s"), str(tmp_path / "file"), "--session", "standup", code=2)
    assert not (tmp_path / "s" / "sources").exists()


def test_a_grant_that_is_not_there_is_called_a_grant(tmp_path: Path) -> None:
    run("add", str(tmp_path / "s"), "--content", "Tea at four.")
    assert "no grant 'nothing'" in run("revoke", str(tmp_path / "s"), "nothing", code=3)


def test_a_conversation_is_observed_and_what_it_states_is_suggested(tmp_path: Path, chat: Path) -> None:
    """From a file of turns to an answer: by itself nothing of it is in one, and that is said."""
    root = str(tmp_path / "store")
    run("ingest", root, str(chat), "--session", "s")
    assert "evidence can quote 1 conversation (`grail list sources`)" in run("recall", root)
    assert "sources/chats/s.jsonl  chat  s" in run("list", root, "sources")
    said = run("ingest", root, str(chat), "--session", "s", "--observe", "--extract")
    assert "observed 2 new turns of 2" in said
    assert "suggested 1 new candidate" in said
    assert "We go with Postgres." in run("search", root, "Which database do we take, Postgres?", "--embedder", "none")
    again = json.loads(run("ingest", root, str(chat), "--session", "s", "--observe", "--json"))
    assert (again["observed"]["n_known"], again["observed"]["written"]) == (2, [])
    assert "suggested 0 new candidates" in run("candidates", "extract", root, "s")
    assert "There are no turns of the conversation 'other'." in run("candidates", "extract", root, "other")


@pytest.mark.parametrize("option", ["--observe", "--extract"])
def test_a_document_is_not_observed(tmp_path: Path, option: str) -> None:
    file = tmp_path / "note.txt"
    file.write_text("A text of some length.")
    assert f"{option} says nothing of a document." in run("ingest", str(tmp_path / "s"), str(file), option, code=2)


def test_what_is_no_list_is_told_from_a_store(tmp_path: Path) -> None:
    """A word that is neither a list nor a folder is not taken for a store that is empty."""
    run("init", str(tmp_path))
    for words in (["bogus"], [str(tmp_path), "bogus"], ["bogus", "--root", str(tmp_path)]):
        assert "lists observations, categories, entities, communities, tags, sources, not 'bogus'" in " ".join(
            run("list", *words, code=2).split()
        )
    assert "--history says nothing of sources" in run("list", str(tmp_path), "sources", "--history", code=2)
