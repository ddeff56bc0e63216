"""Wrong input of every kind is answered in one form: what is wrong and where, then what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_FORM = re.compile(r"error: (?:[A-Z'`/]|[a-z_]+ (?:must|is|needs|holds|has)\b|memories/|grail\.yaml)")

WRONG = [
    ("list", ["--limit", "many"], 2), ("list", ["--since", "yesterdayish"], 2), ("list", ["--cursor", "x"], 2),
    ("recall", ["--min-confidence", "2"], 2), ("recall", ["--status", "open"], 2), ("recall", ["--nosuch"], 2),
    ("search", [""], 2), ("search", ["q", "--mode", "x"], 2), ("get", ["zzzzzz"], 3), ("get", ["01ARZ3NDEKTSV4RRFFQ69G5FAV"], 3),
    ("sql", ["selec 1"], 2), ("sql", ["drop table observations"], 2), ("add", ["--title", "x", "--file", "{tmp}/none"], 3),
    ("add", ["--title", "x", "--file", "{tmp}"], 2), ("add", ["--title", "x", "--file", "{bad}"], 2),
    ("add", ["--content", "x", "--category", "../x"], 2), ("add", ["--content", "x", "--observed-at", "soon"], 2),
    ("add", ["--content", "x", "--confidence", "7"], 2), ("add", ["--jsonl", "{bad}"], 2),
    ("import", ["{bad}"], 2), ("import", ["{tmp}/none"], 3), ("ingest", ["{tmp}"], 2), ("ingest", ["{tmp}/none"], 3),
    ("remember", ["x", "--evidence", "never said"], 2), ("candidates show", ["zzzzzz"], 3), ("proposals show", ["zzzzzz"], 3),
    ("proposals list", ["--kind", "merge"], 2), ("proposals list", ["--status", "open"], 2), ("consolidate", ["--kind", "x"], 2),
    ("candidates list", ["--status", "open"], 2), ("candidates submit", ["--file", "{bad}"], 2),
    ("delete", ["zzzzzz"], 3), ("erase", ["zzzzzz"], 2), ("erase", ["zzzzzz", "--reason", "x"], 3), ("backup restore", ["{bad}"], 5),
    ("export", ["--format", "docx"], 2), ("grant", ["assistant/u1", "nowhere"], 2), ("history", ["zzzzzz"], 3),
    ("retain", ["--days", "x"], 2), ("log", ["--limit", "x"], 2), ("due", ["--within", "x"], 2), ("proposals apply", ["zzzzzz"], 3),
]  # fmt: skip


@pytest.mark.parametrize(
    ("verb", "words", "code"), WRONG, ids=[f"{verb} {' '.join(words)}" for verb, words, _ in WRONG]
)
def test_an_error_is_a_sentence_or_begins_with_what_it_is_about(grail, demo: Path, tmp_path: Path, verb, words, code):
    bad = tmp_path / "bad"
    bad.write_bytes(b"\xff\xfe{")
    result = grail(*verb.split(), demo, *(word.format(tmp=tmp_path, bad=bad) for word in words), input="")
    first, _, rest = result.stderr.partition("\n")
    assert result.exit_code == code, result.output
    assert _FORM.match(first), first
    assert first.endswith(".") or verb == "sql", first  # where an arrow below points at the mistake
    assert "fault of grail_mem" not in rest
