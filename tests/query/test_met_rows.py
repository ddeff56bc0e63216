"""Rows that were asked for before: the same answers as asking anew, and each key is asked for once."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest

from grail_mem.query.delta import BaseRow
from grail_mem.query.met_rows import MOST, MetRows
from grail_mem.store.files import FileState


def row(number: int) -> BaseRow:
    return BaseRow(number, f"id{number}", f"notes/{number}.md", "0" * 64, FileState(1, 2, 3), True, 0, 0)


class Asked:
    """Ten rows in a table, which gives one more than it was asked for, as a digest that two keys share does."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.fails = False

    def __call__(self, table: str, keys: Collection[str]) -> Iterator[BaseRow]:
        if self.fails:
            raise OSError("gone")
        self.keys += keys
        rows = [row(number) for number in range(10)]
        yield rows[9]
        yield from (one for one in rows if (one.id if table == "ids" else one.path) in keys)


def test_each_key_is_asked_for_once_whichever_way_it_was_met() -> None:
    """A row met by its id is known by its path, and what is not there is known not to be there."""
    asked = Asked()
    met = MetRows(asked)
    assert met.of("ids", ["id1", "nobody"]) == {"id1": row(1)}
    assert met.of("ids", {"nobody", "id9", "id1"}) == {"id1": row(1), "id9": row(9)}
    assert met.of("paths", ["notes/1.md", "notes/2.md"]) == {"notes/1.md": row(1), "notes/2.md": row(2)}
    assert met.of("ids", []) == {}
    assert asked.keys == ["id1", "nobody", "notes/2.md"]


def test_a_question_that_failed_is_asked_again() -> None:
    asked = Asked()
    met = MetRows(asked)
    asked.fails = True
    with pytest.raises(OSError, match="gone"):
        met.of("ids", ["id1"])
    asked.fails = False
    assert met.of("ids", ["id1"]) == {"id1": row(1)}


def test_more_than_is_remembered_is_answered_all_the_same() -> None:
    met = MetRows(Asked())
    many = [f"x{number}" for number in range(MOST)]
    for keys in (["id1"], many, ["id2", *many], ["id1", "id2", "x1"]):
        assert met.of("ids", keys) == {f"id{n}": row(n) for n in (1, 2) if f"id{n}" in keys}
