"""An engine that was let go of serves the next user, who finds nothing of the last one there."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from grail_mem.query import engine as engines
from grail_mem.query.engine import engine


def open_files() -> set[str]:
    return {os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink() and path.exists()}


def used(path: Path) -> None:
    with closing(engine()) as duck:
        duck.con.execute(f"ATTACH '{path}' AS x")
        duck.con.execute("CREATE TABLE x.kept AS SELECT 1 AS n")
        duck.con.execute("CREATE TEMP TABLE mine AS SELECT 2 AS n")
        duck.con.execute("BEGIN")
        duck.con.execute("INSERT INTO x.kept VALUES (3)")  # never committed


def test_the_next_user_finds_nothing_of_the_last_one(tmp_path: Path) -> None:
    used(tmp_path / "one.duckdb")
    with closing(engine()) as duck:
        for name in ("mine", "x.kept"):
            with pytest.raises(duckdb.CatalogException):
                duck.con.execute(f"SELECT * FROM {name}")
        duck.con.execute(f"ATTACH '{tmp_path / 'one.duckdb'}' AS x")
        assert duck.con.execute("SELECT n FROM x.kept").fetchall() == [(1,)]


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs to see which files are open")
def test_an_attached_file_is_let_go_of(tmp_path: Path) -> None:
    used(tmp_path / "one.duckdb")
    assert str(tmp_path / "one.duckdb") not in open_files()


def test_engines_in_use_are_not_shared_and_few_are_kept() -> None:
    several = [engine() for _ in range(6)]
    assert len({id(one) for one in several}) == 6
    for one in several:
        one.close()
    again = [engine() for _ in range(6)]
    assert 0 < sum(one in several for one in again) < 6
    for one in again:
        one.close()


def test_one_that_cannot_be_cleaned_is_not_used_again() -> None:
    broken = engine()
    broken._root.close()  # as after an error that DuckDB does not survive
    broken.close()
    with closing(engine()) as duck:
        assert duck is not broken
        assert duck.con.execute("SELECT 42").fetchall() == [(42,)]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # workers of the tests have threads
def test_a_forked_process_makes_its_own() -> None:
    with closing(engine()) as duck:
        duck.con.execute("SELECT 1")
    assert engines._idle
    child = os.fork()
    if not child:
        with closing(engine()) as duck:
            fine = duck.con.execute("SELECT 42").fetchall() == [(42,)]
            os._exit(0 if fine and not any(one is duck for one in engines._left_behind) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
