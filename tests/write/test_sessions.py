"""Sessions: turns of a conversation, told apart, found by their session, in files, snapshots and SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from grail_mem import InputError, Memory


def said(memory: Memory, **asked: object) -> list[tuple[str | None, int | None, str]]:
    return [(o.session, o.turn, o.content) for o in memory.recall(order="oldest", **asked).observations]  # type: ignore[arg-type]  # as asked


def test_the_turns_of_a_session_are_found_by_it(tmp_path: Path) -> None:
    """Beside the snapshot, in it, and after a rebuild; equal words in two turns are two observations."""
    with Memory(tmp_path) as memory:
        turns = [
            {"content": text, "session": session, "turn": turn, "observed_at": f"2026-06-02T10:0{turn}:00Z"}
            for session in ("chat/1", "café") for turn, text in enumerate(("Shall we?", "Yes.", "Yes."))
        ]  # fmt: skip
        assert all(written.created for written in memory.add_observations(turns))
        memory.add_observation(content="Of no session.")
        for round_ in range(3):
            assert said(memory, session="chat/1") == [
                ("chat/1", 0, "Shall we?"), ("chat/1", 1, "Yes."), ("chat/1", 2, "Yes."),
            ]  # fmt: skip
            assert {s for s, *_ in said(memory, session=["cafe\u0301"])} == {"café"}
            assert len(said(memory, session=["chat/1", "café", "other"])) == 6
            assert said(memory, session="Chat/1") == []
            asked = (
                "SELECT session, max(turn) AS last FROM observations WHERE session IS NOT NULL GROUP BY 1 ORDER BY 1"
            )
            assert memory.sql(asked).to_pylist() == [
                {"session": "café", "last": 2}, {"session": "chat/1", "last": 2},
            ]  # fmt: skip
            memory.rebuild() if round_ else memory.compact()
        assert not memory.add_observation(**turns[0]).created


def test_a_turn_needs_a_session_and_a_number(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        for wrong in ({"turn": 3}, {"session": "s", "turn": -1}, {"session": "s", "turn": True}, {"session": 7}):
            with pytest.raises(InputError):
                memory.add_observation(content="x", **wrong)  # type: ignore[arg-type]  # that is the point
        with pytest.raises(InputError, match="session"):
            memory.recall(session="")


def test_a_turn_that_a_person_wrote_wrong_is_named(tmp_path: Path) -> None:
    note = tmp_path / "memories/a/n.md"
    note.parent.mkdir(parents=True)
    note.write_text("---\nsession: s\nturn: first\n---\nA note.\n")
    with Memory(tmp_path) as memory:
        assert said(memory) == [("s", None, "A note.")]
        assert [p.code for p in memory.check().problems] == ["bad_value"]
