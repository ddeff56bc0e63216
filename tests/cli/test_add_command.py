"""`grail add`: options, files, stdin, lines of JSON."""

from __future__ import annotations

import json

import pytest

from grail_mem.cli.drafts import read_entity


def test_add_takes_every_field(grail_json, tmp_path):
    first = grail_json("add", tmp_path, "--content", "First.")
    added = grail_json(
        "add", tmp_path, "--title", "T", "--content", "C", "--category", "work/acme", "--tag", "a", "--tag", "b",
        "--entity", "Acme:ORGANIZATION", "--entity", "Postgres", "--relationship", "Acme|CHOSE|Postgres",
        "--observed-at", "2026-06-02T14:23:00+02:00", "--confidence", "0.95", "--source", "review", "--kind", "episodic",
        "--attribute", "acme/db", "--status", "provisional", "--valid-from", "2026-01-01", "--valid-until", "2027-01-01",
        "--expires-at", "2028-01-01", "--review-at", "2026-12-01", "--supersedes", first["id"], "--related-to", first["id"],
        "--scope", "project:x", "--session", "chat/7", "--turn", "3", "--speaker", "Caroline",
        "--source-kind", "tool_result", "--slug", "my words", "--actor", "ann",
    )  # fmt: skip
    assert added["path"].startswith("memories/work/acme/2026-06-02_my-words_")
    got = grail_json("get", tmp_path, added["id"])
    for name in ("sha256", "recorded_at", "path"):
        del got[name]
    assert got == {
        "id": added["id"], "title": "T", "content": "C", "category": "work/acme", "tags": ["a", "b"],
        "observed_at": "2026-06-02T12:23:00Z", "confidence": 0.95, "source": "review", "kind": "episodic",
        "entities": [{"name": "Acme", "type": "ORGANIZATION"}, {"name": "Postgres"}],
        "relationships": [{"source": "Acme", "target": "Postgres", "relationship_type": "CHOSE"}],
        "attribute": "acme/db", "status": "provisional", "valid_from": "2026-01-01T00:00:00Z",
        "valid_until": "2027-01-01T00:00:00Z", "expires_at": "2028-01-01T00:00:00Z",
        "review_at": "2026-12-01T00:00:00Z", "supersedes": first["id"], "related_to": [first["id"]],
        "scope": "project:x", "session": "chat/7", "turn": 3, "speaker": "Caroline", "source_kind": "tool_result",
    }  # fmt: skip
    (ledger,) = tmp_path.glob(".grail/ledger/*.jsonl")
    assert '"ann"' in ledger.read_text()


def test_add_reads_a_file_or_stdin(grail, grail_json, tmp_path):
    (tmp_path / "n.md").write_text("\ufeffFrom a file.\n", encoding="utf-8")
    store = tmp_path / "s"
    grail("add", store, "--file", tmp_path / "n.md")
    grail("add", store, input="Piped.")
    grail("add", store, "--file", "-", input="By dash.")
    assert [o["content"].strip() for o in grail_json("recall", store, "--order", "recorded")["observations"]] == [
        "By dash.", "Piped.", "From a file.",
    ]  # fmt: skip


def test_add_says_where_it_is_and_that_it_was_there(grail, tmp_path):
    words = ("add", tmp_path, "--content", "Once.", "--observed-at", "2026-06-02")
    first, second = grail(*words), grail(*words)
    assert first.stdout.startswith("added  01")
    assert second.stdout == first.stdout.replace("added", "there already")


def test_add_reports_every_problem_at_once(grail, tmp_path):
    result = grail(
        "add", tmp_path / "s", "--content", " ", "--relationship", "A|B", "--confidence", "7", "--kind", "odd"
    )
    assert result.exit_code == 2
    assert result.stderr == (
        "error: Nothing was stored.\n"
        "  - --relationship 'A|B' is not of the form 'SOURCE|TYPE|TARGET'.\n"
        "  - content is empty; an observation needs a statement.\n"
        "  - confidence must be a number from 0 to 1, not 7.\n"
        "  - kind: must be one of semantic, episodic, procedural, prospective, summary, not 'odd'.\n"
    )
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("words", "data", "code"),
    [
        (["--file", "gone.md"], None, 3),
        (["--file", "."], None, 2),
        (["--content", "a", "--file", "-"], "b", 2),
        ([], "", 2),
        ([], b"\xff", 2),
        (["--jsonl", "-", "--title", "t"], "{}", 2),
    ],
)
def test_add_refuses_what_it_cannot_use(grail, tmp_path, monkeypatch, words, data, code):
    monkeypatch.chdir(tmp_path)
    result = grail("add", "s", *words, input=data)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith("error: ")


def test_an_entity_is_a_name_and_perhaps_a_type():
    assert read_entity("Acme:ORG") == {"name": "Acme", "type": "ORG"}
    assert read_entity("http://a.example/x") == {"name": "http://a.example/x"}
    assert read_entity("Star Trek: Picard") == {"name": "Star Trek: Picard"}
    assert read_entity("ISO:A4:") == {"name": "ISO:A4"}
    assert read_entity("a:b:PERSON") == {"name": "a:b", "type": "PERSON"}
    assert read_entity("東京:PLACE") == {"name": "東京", "type": "PLACE"}
    assert read_entity("At 10:30") == {"name": "At 10:30"}


@pytest.mark.slow
def test_jsonl_stores_every_line_and_again_none(grail_json, tmp_path):
    drafts = [{"content": f"No. {n}", "observed_at": "2026-01-01", "entities": ["A"]} for n in range(520)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, drafts)) + "\n\n")
    first = grail_json("add", tmp_path / "s", "--jsonl", tmp_path / "d.jsonl")
    assert (first["n_created"], first["n_existing"]) == (520, 0)
    assert [set(result) for result in first["results"][:1]] == [
        {"id", "path", "created", "warnings", "decision", "others"}
    ]
    second = grail_json("add", tmp_path / "s", "--jsonl", "-", input=(tmp_path / "d.jsonl").read_text())
    assert (second["n_created"], second["n_existing"]) == (0, 520)
    assert [it["id"] for it in second["results"]] == [it["id"] for it in first["results"]]


def test_jsonl_with_bad_lines_stores_nothing_and_names_each(grail, grail_json, tmp_path):
    text = (
        b'{"content": "good"}\n\n{"content": 2, "kind": "odd"}\n{bad\n[]\n{"content": "x", "colour": 1}\n\xff\n'
        + b"[" * 100_000
    )
    result = grail("add", tmp_path / "s", "--jsonl", "-", input=text)
    assert result.exit_code == 2
    assert result.stderr == (
        "error: Nothing was stored.\n"
        "  - line 3: content must be text, not int.\n"
        "  - line 3: kind: must be one of semantic, episodic, procedural, prospective, summary, not 'odd'.\n"
        "  - line 4: not JSON: Expecting property name enclosed in double quotes at column 2.\n"
        "  - line 5: not a JSON object with the fields of an observation.\n"
        "  - line 6: 'colour' is no field of an observation.\n"
        "  - line 7: not UTF-8 text (byte 0).\n"
        "  - line 8: not JSON that can be read: too deep, or a number too long.\n"
    )
    assert not (tmp_path / "s").exists()
    assert len(grail_json("add", tmp_path / "s", "--jsonl", "-", input=text, exit_code=2)["error"]["problems"]) == 7


def test_what_is_there_already_is_told_with_what_is_not_taken_over(grail, tmp_path):
    """Singly and in bulk; that nothing was written is said once."""
    said = ("add", tmp_path, "--content", "The hall is ours.", "--observed-at", "2026-01-01")
    assert grail(*said).exit_code == 0
    again = grail(*said, "--confidence", "0.4")
    assert again.stdout.startswith("there already  ")
    assert again.stderr.startswith("note: not taken over: confidence; `grail update ")
    assert grail(*said).stderr == ""
    line = '{"content": "The hall is ours.", "observed_at": "2026-01-01", "confidence": 0.4}\n'
    bulk = grail("add", tmp_path, "--jsonl", "-", input=line)
    assert bulk.stdout == "added 0, there already 1\n"
    assert bulk.stderr.startswith("note: draft 1: not taken over: confidence")
