"""`grail export` in its formats and `grail import` of what other programs keep, as people see them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from zipfile import ZipFile

import pytest


@pytest.mark.parametrize("form", ["jsonl", "markdown", "graphml", "parquet"])
def test_a_format_goes_to_a_file_or_to_stdout(form, grail, grail_json, demo, tmp_path):
    done = grail_json("export", demo, "--format", form, "--out", tmp_path / "e")
    assert (done["format"], done["n_observations"]) == (form, 24)
    streamed = grail("export", demo, "--format", form, "--out", "-")
    assert streamed.exit_code == 0
    assert streamed.stdout_bytes == (tmp_path / "e").read_bytes()
    assert grail("export", demo, "--format", form, "--out", tmp_path / "e").exit_code == 5
    assert grail("export", demo, "--format", form, "--out", tmp_path / "e", "--force").exit_code == 0
    assert grail_json("export", demo, "--format", form, "--no-history", "--dry-run")["n_observations"] < 24


def test_a_format_that_is_none_is_refused_with_those_that_are(grail, demo):
    result = grail("export", demo, "--format", "csv", "--out", "x")
    assert result.exit_code == 2
    assert "jsonl, markdown, graphml, parquet" in result.stderr


def test_a_zip_comes_back_as_it_went(grail, grail_json, demo, tmp_path):
    grail("export", demo, "--format", "markdown", "--out", tmp_path / "e.zip")
    done = grail_json("import", tmp_path / "new", tmp_path / "e.zip")
    assert (done["form"], done["n_added"], done["skipped"]) == ("markdown", 24, [])
    with ZipFile(tmp_path / "e.zip") as archive:
        for name in archive.namelist():
            if name.endswith(".md"):
                assert (tmp_path / "new" / name).read_bytes() == (demo / name).read_bytes()


def test_skips_of_one_reason_are_told_together_and_json_lists_each(grail, grail_json, tmp_path):
    facts = [{"id": f"f-{n}", "memory": None if n else "Said."} for n in range(6)]
    (tmp_path / "mem0.json").write_text(json.dumps({"results": facts}))
    result = grail("import", tmp_path / "new", tmp_path / "mem0.json")
    assert result.stdout == "1 observation added, 0 there already, 5 skipped.\n"
    new, _, rest = result.stderr.partition("\n")
    assert new == f"note: {tmp_path / 'new'} is a new store"
    assert rest == (
        "skipped results 2 (f-1), results 3 (f-2), results 4 (f-3) and 2 more; --json lists all: the memory holds no text\n"
    )
    done = grail_json("import", tmp_path / "new", tmp_path / "mem0.json", "--from", "mem0")
    assert [item["where"] for item in done["skipped"]] == [f"results {n}" for n in range(2, 7)]
    assert done["n_records"] == 6
    unknown = grail("import", tmp_path / "new", tmp_path / "mem0.json", "--from", "notion")
    assert unknown.exit_code == 2
    assert "citefold" in unknown.stderr


def test_a_database_shows_what_was_found_and_takes_what_is_named(grail, grail_json, tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE jottings(k INTEGER PRIMARY KEY, said TEXT, mood TEXT, vector BLOB)")
        connection.execute("INSERT INTO jottings VALUES (1, 'Ann likes tea.', 'calm', x'00')")
        connection.commit()
    asked = ("import", "--root", tmp_path / "new", tmp_path / "a.db", "--table", "jottings", "--column", "content=said")
    assert grail(*asked, "--dry-run").stdout == (
        "table jottings, 1 row:\n  read: content=said\n  kept as it is: k, mood\n  not taken: vector\n"
        "  jottings, row 1: Ann likes tea.\n1 observation would be added, 0 there already, 1 skipped.\n"
    )
    done = grail_json(*asked)
    assert (done["form"], done["n_added"], done["mapping"][0]["columns"]) == ("sqlite", 1, {"content": "said"})
    wrong = grail(*asked[:4], "--column", "content", "--column", "=said")
    assert wrong.exit_code == 2
    assert "not 'content', '=said'" in wrong.stderr


def test_a_folder_to_import_is_told_from_a_store(grail, grail_json, demo, tmp_path, monkeypatch):
    """A folder alone is what is imported, unless it is a store; a verb that takes files says that a folder is none."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "bees.md").write_text("# Bees\n\nThey swarm in [[May]].\n")
    monkeypatch.chdir(demo)
    assert grail_json("import", vault)["n_added"] == 1
    store = grail("import", ".")
    assert (store.exit_code, "needs FILE|FOLDER" in store.stderr) == (2, True)
    refused = grail("ingest", vault)
    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"error: '{vault}' is a folder, and `grail ingest` takes a file.\n")
    assert grail("ingest", ".").stderr.endswith("Write `grail ingest [DIR] FILE`; DIR is the store.\n")
