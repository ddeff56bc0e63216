"""A database of any program comes in by what its columns are called, or by what the caller says they are."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from grail_mem import InputError, Memory
from grail_mem.model.observation import Observation

MEMORIES = """
CREATE TABLE memories(
    id TEXT PRIMARY KEY, content TEXT, title TEXT, created_at, user_id TEXT, agent_id TEXT, session_id TEXT, tags TEXT, category TEXT,
    memory_type TEXT, confidence REAL, status TEXT, deleted INTEGER DEFAULT 0, superseded_by TEXT, quote TEXT, entities TEXT,
    mood TEXT, embedding BLOB
);
INSERT INTO memories(id, content, title, created_at, user_id, agent_id, session_id, tags, category, memory_type, confidence, status,
                     superseded_by, quote, entities, mood, embedding) VALUES
('m1', 'Lives in Rome.', 'Home', 1700000000, 'ann', 'helper', 's-1', '["home", "city"]', 'people/ann', 'semantic', 0.5, 'active',
 'm2', 'I live in Rome', '[{"name": "Rome", "type": "CITY"}]', 'calm', x'00ff'),
('m2', 'Lives in Oslo.', NULL, 1710000000123, 'ann', NULL, NULL, 'home; city', NULL, 'preference', 90, NULL, NULL, NULL, 'Oslo, Ann', NULL, NULL),
('m3', 'Likes tea.', '', '2025-01-02 03:04:05', NULL, NULL, NULL, '', NULL, NULL, NULL, 'pending', NULL, NULL, NULL, NULL, NULL),
('m4', 'No time.', '', 'some day', NULL, NULL, NULL, '{"a":', NULL, NULL, 'high', 'odd', NULL, NULL, '7', NULL, NULL);
INSERT INTO memories(id, content, deleted) VALUES ('m5', 'Gone.', 1), ('m6', NULL, 0), ('m7', '  ', 0);
CREATE TABLE facts(subject TEXT, predicate TEXT, object TEXT, ts REAL);
INSERT INTO facts VALUES ('Ann', 'likes', 'tea', 2460676.5), ('Ann', 'age', 42, 1700000000000000);
CREATE TABLE settings(key TEXT, value TEXT);
INSERT INTO settings VALUES ('theme', 'dark');
CREATE VIEW newest AS SELECT id, content FROM memories WHERE id = 'm2';
"""


def database(path: Path, sql: str = MEMORIES) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(sql)
    connection.close()
    return path


def taken(root: Path, path: Path, **asked: Any) -> tuple[Any, dict[str, Observation]]:
    """What an import does, and what is there then by content; counted whole, planned as done, and done once."""
    with Memory(root) as memory:
        planned = memory.import_file(path, dry_run=True, **asked)
        done = memory.import_file(path, **asked)
        assert planned.to_dict() | {"dry_run": False} == done.to_dict()
        assert done.n_records == done.n_added + done.n_unchanged + done.n_beside + len(done.skipped)
        again = memory.import_file(path, **asked)
        assert (again.n_added, again.n_unchanged, len(again.skipped)) == (0, done.n_added, len(done.skipped))
        assert memory.check().ok
        return done, {o.content: o for o in memory.recall(limit=1000, include_history=True).observations}


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, Observation]]:
    place = tmp_path_factory.mktemp("sqlite")
    return taken(place / "store", database(place / "agent.db"))


def test_tables_are_found_by_their_columns_and_the_mapping_is_told(
    imported: tuple[Any, dict[str, Observation]],
) -> None:
    done, found = imported
    assert done.form == "sqlite"
    assert set(found) == {"Lives in Rome.", "Lives in Oslo.", "Likes tea.", "No time.", "Ann likes tea", "Ann age 42"}
    tables = {one["table"]: one for one in done.mapping}
    assert (tables["memories"]["n_rows"], tables["facts"]["n_rows"]) == (7, 2)
    assert tables["memories"]["columns"] == {
        "content": "content", "id": "id", "title": "title", "observed_at": "created_at", "user": "user_id", "agent": "agent_id",
        "session": "session_id", "tags": "tags", "category": "category", "kind": "memory_type", "confidence": "confidence",
        "status": "status", "deleted": "deleted", "superseded_by": "superseded_by", "quote": "quote", "entities": "entities",
    }  # fmt: skip
    assert (tables["memories"]["kept"], list(tables["memories"]["left"])) == (["mood"], ["embedding"])
    assert [row["content"] for row in tables["memories"]["first"]] == ["Lives in Rome.", "Lives in Oslo.", "Likes tea."]


def test_a_row_keeps_what_its_columns_say(imported: tuple[Any, dict[str, Observation]]) -> None:
    rome = imported[1]["Lives in Rome."]
    assert (rome.title, rome.scope, rome.session, rome.kind, rome.confidence) == (
        "Home", "user:ann", "s-1", "semantic", 0.5,
    )  # fmt: skip
    assert (rome.category, rome.tags) == ("imported/sqlite/memories/people/ann", ("home", "city"))
    assert [(e.name, e.type) for e in rome.entities] == [("Rome", "CITY")]
    assert rome.source_kind == "agent_inference"
    assert rome.extra["imported"] == {
        "from": "sqlite", "id": "m1", "file": "agent.db", "table": "memories", "agent_id": "helper",
        "quote": "I live in Rome", "mood": "calm",
    }  # fmt: skip


def test_times_are_read_however_they_are_counted(imported: tuple[Any, dict[str, Observation]]) -> None:
    found = imported[1]
    told = {content: o.observed_at.isoformat()[:19] for content, o in found.items() if content != "No time."}
    assert told == {
        "Lives in Rome.": "2023-11-14T22:13:20", "Lives in Oslo.": "2024-03-09T16:00:00", "Likes tea.": "2025-01-02T03:04:05",
        "Ann likes tea": "2025-01-01T00:00:00", "Ann age 42": "2023-11-14T22:13:20",
    }  # fmt: skip
    assert found["No time."].extra["imported"] == {
        "from": "sqlite", "id": "m4", "file": "agent.db", "table": "memories", "created_at": "some day", "confidence": "high",
        "status": "odd",
    }  # fmt: skip


def test_what_took_the_place_of_another_row_does_so_here(imported: tuple[Any, dict[str, Observation]]) -> None:
    rome, oslo = imported[1]["Lives in Rome."], imported[1]["Lives in Oslo."]
    assert (rome.status, oslo.supersedes, oslo.confidence) == ("superseded", rome.id, 0.9)
    assert oslo.tags == ("home", "city", "preference")
    assert imported[1]["Likes tea."].status == "provisional"


def test_every_row_and_table_that_is_not_taken_is_told(imported: tuple[Any, dict[str, Observation]]) -> None:
    told = {item.place: item.reason for item in imported[0].skipped}
    assert told == {
        "agent.db, table newest": "a view is read only when --table names it",
        "agent.db, table settings": "no column of it is known to hold what is remembered; --table and --column name one",
        "agent.db, memories.embedding": "a column that is not taken: vectors are made here",
        "memories, row 5": "it was deleted there", "memories, row 6": "it holds no text", "memories, row 7": "it holds no text",
    }  # fmt: skip


def test_subject_predicate_and_object_become_a_relationship(imported: tuple[Any, dict[str, Observation]]) -> None:
    (made,) = imported[1]["Ann likes tea"].relationships
    assert (made.source, made.relationship_type, made.target) == ("Ann", "likes", "tea")
    assert imported[1]["Ann age 42"].relationships == ()


def test_a_table_and_its_columns_can_be_named(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db", 'CREATE TABLE "odd ""table"""("the text", wann TEXT, title TEXT); INSERT INTO "odd ""table""" VALUES (\'Said.\', \'2025-05-05\', \'T\');' + MEMORIES)  # fmt: skip
    done, found = taken(
        tmp_path / "new", path, table='odd "table"', columns={"content": "the text", "observed_at": "WANN"}
    )
    assert (done.form, found["Said."].title, found["Said."].observed_at.month) == ("sqlite", "T", 5)
    assert list(found) == ["Said."]
    assert set(taken(tmp_path / "view", path, table="newest")[1]) == {"Lives in Oslo."}
    assert set(taken(tmp_path / "told", path, columns={"content": "value", "title": "key"})[1]) == {"dark"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"table": "memories; DROP TABLE memories"}, "There is no table 'memories; DROP TABLE memories'."),
        ({"table": "settings", "columns": {"content": "x", "title": "value) --"}}, "'value) --', 'x'"),
        ({"columns": {"contents": "x", "scope": "y"}}, "No column can be 'contents', 'scope'."),
        ({"columns": {"content": "absent"}}, "No table has the columns"),
        ({"table": "facts", "columns": {"title": "object"}}, "No column of facts is known"),
    ],
)
def test_what_is_named_and_not_there_is_told_and_nothing_is_imported(
    asked: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = database(tmp_path / "a.db")
    with Memory(tmp_path / "new") as memory, pytest.raises(InputError) as raised:
        memory.import_file(path, **asked)
    assert said in raised.value.message
    assert raised.value.hint
    assert not (tmp_path / "new").exists()
    assert path.stat().st_size == database(tmp_path / "b.db").stat().st_size


def test_columns_that_several_tables_have_need_a_table(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db", "CREATE TABLE a(said TEXT); CREATE TABLE b(said TEXT);")
    with Memory(tmp_path / "new") as memory, pytest.raises(InputError, match="Several tables have the columns"):
        memory.import_file(path, columns={"content": "said"})


def test_a_table_is_chosen_of_a_database_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"title": "T", "content": "Said."}\n')
    with Memory(tmp_path / "new") as memory, pytest.raises(InputError, match="no database"):
        memory.import_file(path, table="memories")


def test_retold_is_the_same_reader_with_some_names_more(tmp_path: Path) -> None:
    sql = "CREATE TABLE turns(id INTEGER PRIMARY KEY, role TEXT, utterance TEXT, ts INTEGER); INSERT INTO turns VALUES (1, 'user', 'I like tea.', 1700000000);"
    path = database(tmp_path / "r.db", sql)
    done, found = taken(tmp_path / "new", path, kind="retold")
    said = found["I like tea."]
    assert (done.form, said.speaker, said.category) == ("retold", "user", "imported/retold/turns")
    assert said.source_kind == "agent_inference"
