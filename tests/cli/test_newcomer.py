"""What a newcomer gets wrong is answered with what to do."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from grail_mem.cli import hints
from grail_mem.cli.app import COMMANDS
from grail_mem.cli.doctor import _rows
from grail_mem.keep.doctor import Finding


@pytest.mark.parametrize(
    ("verb", "words", "said"),
    [
        ("recall", ["--category", "migratoin/database"], ["There is no category 'migratoin/database'. Did you mean 'migration/database'?"]),
        ("recall", ["--category", "migratoin/**"], ["There is no category 'migratoin'. Did you mean 'migration'?"]),
        ("recall", ["--tag", "DECISOIN"], ["There is no tag 'DECISOIN'. Did you mean 'decision'?"]),
        ("recall", ["--tag", "decision", "--entity", "Postgers"], ["There is no entity 'Postgers'. Did you mean 'Postgres'?"]),
        ("search", ["Which database?", "--entity", "Postgers", "--embedder", "none"], ["There is no entity 'Postgers'. Did you mean 'Postgres'?"]),
        ("recall", ["--entity", "Oracle"], []),
        ("recall", ["--category", "*/databsae"], []),
        ("recall", ["--tag", "decision", "--since", "2031-01-01"], []),
    ],
)  # fmt: skip
def test_a_misspelt_name_is_answered_with_the_nearest_one(grail, demo, verb, words, said):
    result = grail(verb, demo, *words)
    assert result.exit_code == 0
    assert result.stdout.startswith("no_match: ")
    assert [line for line in result.stderr.splitlines() if line.startswith("There is no")] == said


def test_a_session_is_told_of_no_name_that_it_may_not_read(grail, demo):
    """The nearest name would tell what is there."""
    result = grail("recall", demo, "--tag", "decisoin", "--as", "assistant/nobody")
    assert result.stderr == ""


def test_with_json_nothing_stands_beside_the_document(grail_json, demo):
    assert grail_json("recall", demo, "--tag", "decisoin")["abstention"]["reason"] == "no_match"


def test_a_text_where_the_store_is_meant_is_told_where_it_goes(grail, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = grail("add", "My first memory", input="")
    assert result.exit_code == 2
    assert "content is empty" in result.stderr
    assert "--content TEXT" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_claim_without_words_is_told_where_they_go(grail, demo):
    result = grail("remember", demo, "Postgres is fast.")
    assert result.exit_code == 2
    assert "--evidence" in result.stderr


def test_a_text_without_quotes_is_told_to_have_them(grail, demo):
    result = grail("recall", demo, "which", "database")
    assert result.exit_code == 2
    assert "in quotes" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_rights_is_a_sentence_and_what_to_do(grail, tmp_path):
    tmp_path.chmod(0o500)
    try:
        result = grail("demo", tmp_path / "new")
    finally:
        tmp_path.chmod(0o700)
    assert result.exit_code == 6
    assert "Permission denied" in result.stderr
    assert "grail doctor" in result.stderr


def test_an_error_of_the_operating_system_is_no_fault_of_the_program(grail, tmp_path):
    (tmp_path / "file").write_text("x")
    result = grail("demo", tmp_path / "file" / "below")
    assert result.exit_code in {2, 6}
    assert "fault of grail_mem" not in result.stderr


def test_doctor_counts_the_extras_that_are_not_there_on_one_line():
    found = [
        Finding("Python", "fine", "Python 3.11.7"),
        Finding("extra mcp", "note", "mcp is not installed", "If you want it: pip install it."),
        Finding("extra review", "note", "jinja2 is not installed", "If you want it: pip install it."),
        Finding("git", "note", "git is not on the PATH", "Install it."),
    ]
    assert list(_rows(found)) == [
        ["ok", "Python", "Python 3.11.7"],
        ["note", "extras", "not installed: mcp, review. If you want one: pip install 'grail-mem[NAME]'."],
        ["note", "git", "git is not on the PATH. Install it."],
    ]


def test_doctor_tells_of_wrong_settings_once(grail, tmp_path: Path):
    (tmp_path / "grail.yaml").write_text("defualt_scope: x\n")
    (tmp_path / "memories").mkdir()
    result = grail("doctor", tmp_path)
    assert result.exit_code == 1
    assert result.stdout.count("defualt_scope") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["proposals"], "`grail proposals list {dir}`. The commands are list, show,"),
        (["candidates"], "`grail candidates list {dir}`. The commands are list, show,"),
        (["config"], "`grail config show {dir}`."),
        (["backup"], "`grail backup create {dir}`."),
        (["tools"], "`grail tools --root {dir}`"),
        (["mcp", "token"], "`grail mcp token list {dir}`."),
        ([], "`grail list {dir}`."),
    ],
)
def test_a_folder_where_a_command_belongs_is_told_where_it_goes(grail, tmp_path, words, said):
    result = grail(*words, tmp_path)
    assert result.exit_code == 2
    assert f"No such command '{tmp_path}'." in result.stderr
    assert said.format(dir=tmp_path) in result.stderr


def test_a_word_that_is_no_folder_is_no_command_and_nothing_more(grail):
    assert "folder" not in grail("proposals", "lst").stderr


@pytest.mark.parametrize("word", sorted(hints._ELSEWHERE))
def test_another_name_for_a_command_is_answered_with_commands_that_there_are(grail, word):
    result = grail(word)
    assert result.exit_code == 2
    told = hints._ELSEWHERE[word]
    assert told in result.stderr
    named = set(re.findall(r"`grail ([a-z-]+)", told)) - {"--help", "--version"}
    assert named <= set(COMMANDS)
    assert word not in COMMANDS


def test_a_new_store_is_told_so_that_a_misspelt_name_is_noticed(grail, grail_json, tmp_path):
    """Once, beside the answer, and never beside a document."""
    (tmp_path / "a.jsonl").write_text('{"title": "A", "content": "B."}\n')
    (tmp_path / "doc.txt").write_text("Words.")
    ways = {
        "add": ["add", "{}", "--content", "x"],
        "lines": ["add", "{}", "--jsonl", tmp_path / "a.jsonl"],
        "import": ["import", "{}", tmp_path / "a.jsonl"],
        "ingest": ["ingest", "{}", tmp_path / "doc.txt"],
        "submit": ["candidates", "submit", "{}", "--file", tmp_path / "a.jsonl"],
    }
    for name, words in ways.items():
        typed = [str(word).format(tmp_path / name) for word in words]
        note = f"note: {tmp_path / name} is a new store"
        assert note in grail(*typed).stderr.splitlines(), name
        assert note not in grail(*typed).stderr, name
    grail_json("add", tmp_path / "json", "--content", "x")
    assert grail("add", tmp_path / "refused", "--title", "x", input="").stderr.count("new store") == 0
    assert not (tmp_path / "refused").exists()
