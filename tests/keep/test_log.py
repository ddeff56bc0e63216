"""The history: everything that was done, newest first, by pages, and no more than the caller may read."""

from __future__ import annotations

from pathlib import Path

import pytest

from grail_mem import AccessError, InputError, Memory
from grail_mem.keep.backup import backup
from grail_mem.keep.log import verify_ledger
from grail_mem.keep.restore import restore_backup


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "store", actor="ann")
    first = memory.add_observation(title="One", content="a", scope="user:ann")
    second = memory.add_observation(title="Two", content="b", scope="user:bob")
    memory.update(first.id, content="c", reason="a typo", actor="bot")
    memory.hide(second.id, reason="asked to")
    return memory


def test_every_change_is_there_newest_first(memory: Memory) -> None:
    entries = memory.log().entries
    assert [(e.action, e.actor, e.reason) for e in entries] == [
        ("hide", "ann", "asked to"), ("update", "bot", "a typo"), ("add", "ann", ""), ("add", "ann", ""),
    ]  # fmt: skip
    assert [e.at for e in entries] == sorted((e.at for e in entries), reverse=True)


def test_pages_are_the_whole_in_order(memory: Memory) -> None:
    whole = memory.log().entries
    got, cursor = [], None
    while True:
        page = memory.log(limit=1, cursor=cursor)
        got += page.entries
        if page.cursor is None:
            break
        cursor = page.cursor
    assert tuple(got) == whole


def test_conditions_narrow_it(memory: Memory) -> None:
    one = memory.log(action="update").entries[0].id
    assert {e.action for e in memory.log(id=one).entries} == {"add", "update"}
    assert {e.id for e in memory.log(actor="bot").entries} == {one}
    assert {e.action for e in memory.log(action="add,hide").entries} == {"add", "hide"}
    assert memory.log(since="1d").entries == memory.log().entries
    assert memory.log(before="1d").entries == ()


def test_bad_conditions_are_all_named_at_once(memory: Memory) -> None:
    with pytest.raises(InputError) as refused:
        memory.log(limit=0, since="never", cursor="x", action=[1])  # type: ignore[list-item]
    assert len(refused.value.problems) == 4


def test_a_caller_with_grants_sees_only_what_it_may_read(memory: Memory) -> None:
    with memory.session(user_id="ann", agent_id="a") as session:
        assert session.log().entries == ()
        memory.grant("user:ann", "user:ann", "read")
        entries = session.log().entries
        assert {e.action for e in entries} == {"add", "update"}
        assert len({e.id for e in entries}) == 1
        assert len(session.log(limit=1).entries) == 1
        for call in (
            lambda: verify_ledger(session._view),
            lambda: backup(session._view, memory.root.parent / "b.tar.gz"),
            lambda: restore_backup(session._view, memory.root.parent / "b.tar.gz", actor="x", reason=""),
        ):
            with pytest.raises(AccessError):
                call()


def test_a_line_that_was_changed_is_named_with_its_place(memory: Memory) -> None:
    assert memory.verify_ledger().ok
    path = next((memory.root / ".grail/ledger").iterdir())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1].replace(b'"actor":"ann"', b'"actor":"eve"'), *lines[2:]]))
    found = memory.verify_ledger()
    assert not found.ok
    assert {(p.code, p.line) for p in found.problems} == {("broken_chain", 2), ("broken_chain", 3)}
    assert all(p.remedy for p in found.problems)
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    assert [p.line for p in memory.verify_ledger().problems] == [2]


def test_a_session_cannot_count_what_others_did(tmp_path: Path) -> None:
    """Its pages are whole, though many entries have one time, and no number in them tells of entries between its own."""
    told = []
    for n_others in (0, 7):
        with Memory(tmp_path / f"store{n_others}", embedder="none") as memory:
            for user, n in (("ann", 3), ("bob", n_others), ("ann", 2)):
                with memory.session(user_id=user, agent_id="a") as session:
                    session.add_observations([{"content": f"Word {n} {at} of {user}."} for at in range(n)])
            with memory.session(user_id="ann", agent_id="a") as session:
                entries, cursor, cursors = list(session.log(limit=2).entries), session.log(limit=2).cursor, []
                while cursor is not None:
                    page = session.log(limit=2, cursor=cursor)
                    cursors.append(cursor.split("/")[1])
                    entries, cursor = [*entries, *page.entries], page.cursor
                assert entries == list(session.log().entries)
                assert len({entry.id for entry in entries}) == len(entries) == 5
                told.append(([entry.seq for entry in entries], cursors))
    assert told[0] == told[1]
