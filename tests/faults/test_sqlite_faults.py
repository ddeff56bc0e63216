"""Faults of taking in a database: what is none, what is damaged, what is being written, and what would run if it could."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory
from grail_mem.keep.foreign import database as databases

TABLE = "CREATE TABLE memories(id INTEGER PRIMARY KEY, content, created_at INTEGER, user_id TEXT);"


def made(path: Path, rows: int = 3, sql: str = TABLE) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)
        connection.executemany(
            "INSERT INTO memories(content, created_at) VALUES (?, 1700000000)",
            [(f"Statement number {i}." + " word" * 40,) for i in range(rows)],
        )
        connection.commit()
    return path


def imported(root: Path, path: Path, **asked: Any) -> tuple[int, list[str]]:
    """How many came in, and why others did not; nothing is lost on the way, and the store is sound."""
    with Memory(root) as memory:
        done = memory.import_file(path, **asked)
        assert done.n_records == done.n_added + done.n_unchanged + done.n_beside + len(done.skipped)
        assert memory.check().ok
        return done.n_added, [item.reason for item in done.skipped]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("data", [b"", b"no database", os.urandom(4096), b"SQLite format 3\0"])
def test_f56_what_is_no_database_or_encrypted_is_told(data: bytes, tmp_path: Path) -> None:
    (path := tmp_path / "a.db").write_bytes(data)
    n, reasons = imported(tmp_path / "new", path, kind="sqlite")
    assert n == 0
    assert data == b"" or reasons
    assert all("no SQLite database" in reason or "cannot be read" in reason for reason in reasons)


def test_f56_a_database_that_was_cut_off_gives_the_rows_before_the_cut(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", rows=300)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    n, reasons = imported(tmp_path / "new", path)
    assert 0 < n < 300
    assert any("malformed" in reason or "disk" in reason for reason in reasons)


def test_f56_a_damaged_page_costs_its_table_what_follows_and_no_other_table(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", rows=300, sql=TABLE + "CREATE TABLE notes(id INTEGER PRIMARY KEY, note TEXT);")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO notes(note) VALUES ('Whole.')")
        connection.commit()
        root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memories'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    data[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(data)
    n, reasons = imported(tmp_path / "new", path)
    assert n == 1
    assert any("malformed" in reason for reason in reasons)


def test_rows_in_the_log_of_an_open_database_come_too_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "a.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(TABLE + "INSERT INTO memories(content) VALUES ('In the log.');")
        assert (folder / "a.db-wal").stat().st_size
        before = bytes_of(folder)
        assert imported(tmp_path / "new", folder / "a.db")[0] == 1
        assert bytes_of(folder) == before


def test_a_locked_database_is_read_and_a_change_under_way_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journal is never played back: one that was made to harm could name any file to be removed."""
    monkeypatch.setattr(databases, "_WAIT_S", 0.0)
    path = made(tmp_path / "a.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert imported(tmp_path / "locked", path)[0] == 3
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("PRAGMA cache_size = 1")
        connection.executemany("INSERT INTO memories(content) VALUES (?)", [("x" * 3000,)] * 200)
        journal = Path(f"{path}-journal").read_bytes()
        assert journal.startswith(databases._HOT)
        n, reasons = imported(tmp_path / "changing", path)
        assert n == 0
        assert "in the middle of a change" in reasons[0]
        assert Path(f"{path}-journal").read_bytes() == journal
        connection.execute("ROLLBACK")
    assert imported(tmp_path / "done", path)[0] == 3


def test_f56_one_odd_row_stops_no_other(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", rows=1)
    odd: list[tuple[Any, str]] = [
        ("X'C328'", "no UTF-8"), ("CAST(X'C328' AS TEXT)", "no UTF-8"), ("X'53616964'", ""), ("7", ""), ("NULL", "no text"),
        ("'a' || char(0) || 'b'", ""), (f"zeroblob({databases.LONGEST + 1})", "longer than"), ("''", "no text"), ("char(55296)", ""),
    ]  # fmt: skip
    with closing(sqlite3.connect(path)) as connection:
        for value, _ in odd:
            connection.execute(f"INSERT INTO memories(content, created_at, user_id) VALUES ({value}, 9e99, NULL)")
        connection.execute("INSERT INTO memories(content, user_id) VALUES ('Of nobody.', 'a/../b*')")
        connection.commit()
    n, reasons = imported(tmp_path / "new", path)
    assert n + len(reasons) == len(odd) + 2
    for wanted in {reason for _, reason in odd if reason}:
        assert any(wanted in reason for reason in reasons)
    with Memory(tmp_path / "new") as memory:
        said = {o.content for o in memory.recall(limit=100).observations}
    assert {"Said", "7"} <= said


def test_names_of_tables_and_columns_are_never_run(tmp_path: Path) -> None:
    name = 'memories"; DROP TABLE kept; --'
    column = 'a: "b"\n- c'
    quoted, odd = databases.quoted(name), databases.quoted(column)
    path = made(tmp_path / "a.db", sql=f"{TABLE}CREATE TABLE {quoted}(content TEXT, ts INTEGER, {odd} TEXT);")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"INSERT INTO {quoted} VALUES ('Said.', 1700000000, 'kept')")
        connection.commit()
    with Memory(tmp_path / "new") as memory:
        assert memory.import_file(path).n_added == 4
        (found,) = memory.recall(text="Said.").observations
        assert found.extra["imported"][column] == "kept"
        assert found.extra["imported"]["table"] == name
        assert memory.check().ok
    assert all(p.resolve().is_relative_to(tmp_path / "new") for p in (tmp_path / "new").rglob("*"))


def test_a_view_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_MOST_STEPS", 20)
    view = "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'x' AS content FROM n WHERE i < 0;"
    path = made(tmp_path / "a.db", sql=TABLE + view)
    assert imported(tmp_path / "new", path)[0] == 3
    n, reasons = imported(tmp_path / "named", path, table="endless")
    assert (n, reasons) == (0, ["it cannot be read: reading one row takes too long"])


def test_a_virtual_table_without_its_module_costs_no_other_table(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "INSERT INTO sqlite_schema VALUES ('table', 'vectors', 'vectors', 0, 'CREATE VIRTUAL TABLE vectors USING absent(x)')"
        )
        connection.commit()
    n, reasons = imported(tmp_path / "new", path)
    assert n == 3
    assert reasons == ["a virtual table is read only when --table names it"]


def test_f11_a_log_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db")
    (tmp_path / "secret").write_bytes(b"secret")
    Path(f"{path}-wal").symlink_to(tmp_path / "secret")
    n, reasons = imported(tmp_path / "new", path)
    assert n == 0
    assert "cannot be read" in reasons[0]


def test_f42_what_was_erased_does_not_come_back_from_a_database(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", rows=1)
    with Memory(tmp_path / "new") as memory:
        memory.import_file(path)
        (o,) = memory.recall().observations
        memory.erase(o.id, reason="asked for")
        done = memory.import_file(path)
        assert (done.n_added, [item.reason for item in done.skipped]) == (0, ["it was erased here"])
