"""Sessions: turns of a conversation, told apart, found by session and by speaker, in files, snapshots and SQL."""

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


def test_what_somebody_said_is_found_by_the_speaker(tmp_path: Path) -> None:
    """Beside the snapshot, in it, and after a rebuild; case, spaces and Unicode form make no difference, no session is needed."""
    with Memory(tmp_path) as memory:
        for speaker, content in (("Mary Ann", "One."), (" mary  ann", "Two."), ("José", "Three."), ("user", "Four.")):
            assert memory.add_observation(content=content, speaker=speaker).created
        memory.add_observation(content="Of nobody.", entities=["Mary Ann"])
        for round_ in range(3):
            assert {c for *_, c in said(memory, speaker="MARY ANN")} == {"One.", "Two."}
            assert {c for *_, c in said(memory, speaker=["jose\u0301", "User", "nobody"])} == {"Three.", "Four."}
            assert said(memory, speaker="Mary") == []
            asked = "SELECT count(*) AS n FROM observations WHERE speaker IS NULL"
            assert memory.sql(asked).to_pylist() == [{"n": 1}]
            memory.rebuild() if round_ else memory.compact()


def test_equal_words_of_two_speakers_are_two_observations(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        made = [memory.add_observation(content="Yes.", speaker=name) for name in (None, "Ann", "Bob", " ann ")]
        assert [written.created for written in made] == [True, True, True, False]
        memory.compact()
        assert not memory.add_observation(content="Yes.", speaker="BOB").created


def test_a_speaker_is_corrected_and_removed(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        written = memory.add_observation(content="Yes.", speaker="Ann", session="s", turn=2)
        file = tmp_path / written.path
        assert "session: s\nturn: 2\nspeaker: Ann\n" in file.read_text()
        memory.compact()
        memory.update(written.id, speaker="Bob")
        assert (len(said(memory, speaker="bob")), said(memory, speaker="Ann")) == (1, [])
        memory.update(written.id, speaker=None)
        assert said(memory, speaker="bob") == []
        assert "speaker" not in file.read_text()


def test_a_turn_needs_a_session_and_a_number(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        for wrong in ({"turn": 3}, {"session": "s", "turn": -1}, {"session": "s", "turn": True}, {"session": 7}, {"speaker": 7},
                      {"speaker": "two\nlines"}, {"speaker": "\u200b"}):  # fmt: skip
            with pytest.raises(InputError):
                memory.add_observation(content="x", **wrong)  # type: ignore[arg-type]  # that is the point
        with pytest.raises(InputError, match="session"):
            memory.recall(session="")
        with pytest.raises(InputError, match="speaker"):
            memory.recall(speaker=["Ann", " "])


def test_a_turn_that_a_person_wrote_wrong_is_named(tmp_path: Path) -> None:
    note = tmp_path / "memories/a/n.md"
    note.parent.mkdir(parents=True)
    note.write_text("---\nsession: s\nturn: first\n---\nA note.\n")
    with Memory(tmp_path) as memory:
        assert said(memory) == [("s", None, "A note.")]
        assert [p.code for p in memory.check().problems] == ["bad_value"]


@pytest.mark.parametrize("wrong", ["[Ann, Bob]", '"\u200b"', "x" * 1_001])
def test_a_speaker_that_is_no_name_is_named(tmp_path: Path, wrong: str) -> None:
    note = tmp_path / "memories/a/n.md"
    note.parent.mkdir(parents=True)
    note.write_text(f"---\nspeaker: {wrong}\n---\nA note.\n", encoding="utf-8")
    with Memory(tmp_path) as memory:
        assert [o.speaker for o in memory.recall().observations] == [None]
        assert [p.code for p in memory.check().problems] == ["bad_value"]
