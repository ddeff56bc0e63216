"""What is there already is not written again; what only sounds like it is."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory
from grail_mem.model.observation import Observation

SAID: dict[str, Any] = {
    "content": "The hall is ours.", "title": "The hall", "observed_at": "2026-01-01T00:00:00Z", "session": "a",
}  # fmt: skip
FACT = SAID | {"attribute": "hall/owner"}
END, LATER = "2100-01-01T00:00:00Z", "2100-06-01T00:00:00Z"


def count(memory: Memory) -> int:
    return len(memory.recall(include_history=True, limit=100).observations)


def held(memory: Memory) -> list[Observation]:
    return list(memory.recall(limit=100).observations)


@pytest.mark.parametrize("said", [SAID, FACT], ids=["note", "fact"])
@pytest.mark.parametrize(
    "fields",
    [{"valid_until": END}, {"valid_from": "2025-01-01", "valid_until": END}],
    ids=["an end", "a beginning and an end"],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_it_holds_for_another_time_and_is_another_observation(
    tmp_path: Path, said: dict[str, Any], fields: dict[str, Any], *, at_once: bool
) -> None:
    """In either order, and each of them once."""
    for number, told in enumerate(([said, said | fields], [said | fields, said])):
        with Memory(tmp_path / str(number)) as memory:
            if at_once:
                made = memory.add_observations([*told, *told])
            else:
                made = [memory.add_observation(**one) for one in (*told, *told)]
            assert [one.created for one in made] == [True, True, False, False]
            assert [one.id for one in made[:2]] == [one.id for one in made[2:]]
            assert {o.valid_until is None for o in held(memory)} == {True, False}
            assert count(memory) == 2


def _expire(memory: Memory, id_: str) -> None:
    memory.revise(id_, action="expire", reason="it was sold", at="2026-03-01")


def _update(memory: Memory, id_: str) -> None:
    memory.update(id_, valid_until="2026-03-01")


def _by_hand(memory: Memory, id_: str) -> None:
    path = memory.root / memory.get(id_).path
    path.write_text(path.read_text().replace("\n---\n", "\nvalid_until: 2026-03-01T00:00:00Z\n---\n", 1))
    memory.sync()


@pytest.mark.parametrize("end", [_expire, _update, _by_hand])
@pytest.mark.parametrize("after", ["at once", "compacted", "rebuilt"])
@pytest.mark.parametrize("said", [SAID, FACT, FACT | {"valid_until": END}], ids=["note", "fact", "fact for a time"])
def test_a_repetition_does_not_revive_what_somebody_ended(
    tmp_path: Path, said: dict[str, Any], after: str, end: Callable[[Memory, str], None]
) -> None:
    """Whoever ended it, and however the store was kept since; the answer says when it ended and what would say it anew."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**said)
        end(memory, first.id)
        if after == "compacted":
            memory.compact()
        elif after == "rebuilt":
            memory.rebuild()
        again = memory.add_observation(**said)
        assert (again.id, again.created, again.decision) == (first.id, False, "known")
        assert held(memory) == []
        assert "it was ended and holds until 2026-03-01T00:00:00Z" in again.warnings[1]
        anew = memory.add_observation(**said | {"observed_at": "2026-04-01"})
        assert anew.created
        assert [o.id for o in held(memory)] == [anew.id]


def test_an_end_given_and_brought_forward_is_no_end_of_what_lasts(tmp_path: Path) -> None:
    """Somebody ended what was said for a time; the same said without an end was never said before."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**FACT, valid_until=END)
        _expire(memory, first.id)
        assert not memory.add_observation(**FACT, valid_until=END).created
        assert memory.add_observation(**FACT, valid_until=LATER).created
        assert memory.add_observation(**FACT).created
        assert count(memory) == 3


def test_the_same_from_somebody_else_reaches_the_fact(tmp_path: Path) -> None:
    """One session, one time, one wording: who says it is kept, and its authority counts."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**FACT, source_kind="agent_inference")
        again = memory.add_observation(**FACT, source_kind="user_statement")
        assert (again.id, again.decision) == (first.id, "reinforced")
        other = memory.add_observation(
            content="The hall is theirs.", attribute="hall/owner", observed_at="2026-02-01", source_kind="tool_result"
        )
        assert other.decision == "conflict"
        assert memory.add_observation(**FACT, source_kind="user_statement").decision == "known"


def test_a_repetition_kept_in_history_is_known(tmp_path: Path) -> None:
    """What was said again and then superseded is not stored as news when it is told once more."""
    with Memory(tmp_path) as memory:
        memory.add_observation(**FACT)
        later = FACT | {"observed_at": "2026-01-02", "session": "b"}
        assert memory.add_observation(**later).decision == "reinforced"
        memory.add_observation(content="The hall is theirs.", attribute="hall/owner", observed_at="2026-02-01")
        n = count(memory)
        assert memory.add_observation(**later).decision == "known"
        assert memory.add_observation(**FACT).decision == "known"
        assert count(memory) == n


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"confidence": 0.4}, "confidence"),
        ({"source_kind": "system", "review_at": END}, "source_kind, review_at"),
        ({"expires_at": END}, "expires_at"),
        ({}, ""),
    ],
)
def test_what_is_not_taken_over_is_named(tmp_path: Path, fields: dict[str, Any], named: str) -> None:
    """The one that is there stays as it is, and the answer says what of the new one it does not hold."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**SAID)
        again = memory.add_observation(**SAID, **fields)
        assert (again.id, again.created) == (first.id, False)
        there, *more = again.warnings
        assert there == "the same observation was there already; nothing was written."
        assert [said.split(";")[0] for said in more] == ([f"not taken over: {named}"] if named else [])
        (same,) = memory.add_observations([SAID])
        assert same.warnings == ("the same observation was there already; nothing was written.",)


def test_a_file_that_somebody_wrote_is_in_doubt_the_same(tmp_path: Path) -> None:
    """Nobody knows whether its end was there from the beginning, so a repetition revives nothing."""
    with Memory(tmp_path / "one") as memory:
        first = memory.add_observation(**SAID, valid_until=END)
    shutil.copytree(tmp_path / "one" / "memories", tmp_path / "other" / "memories")
    with Memory(tmp_path / "other") as memory:
        memory.sync()
        assert [o.id for o in held(memory)] == [first.id]
        again = memory.add_observation(**SAID)
        assert (again.id, again.created) == (first.id, False)
        assert "holds until" in again.warnings[1]


@pytest.mark.parametrize("given", [{}, {"valid_until": END}], ids=["lasting", "for a time"])
@pytest.mark.parametrize("ended", ["before", "after"])
def test_an_import_is_in_doubt_what_is_said_again(tmp_path: Path, given: dict[str, Any], ended: str) -> None:
    """Whether it was ended before it was exported or after it came in, its repetition revives nothing."""
    said = FACT | given
    with Memory(tmp_path / "one") as memory:
        first = memory.add_observation(**said)
        if ended == "before":
            _expire(memory, first.id)
        memory.export(tmp_path / "one.jsonl")
    with Memory(tmp_path / "two") as memory:
        memory.import_file(tmp_path / "one.jsonl")
        if ended == "after":
            _expire(memory, first.id)
        again = memory.add_observation(**said)
        assert (again.id, again.created) == (first.id, False)
        assert held(memory) == []


def test_what_is_put_away_is_known_and_said_to_be(tmp_path: Path) -> None:
    """Nothing is written, and the answer says why the observation that is there is in no answer."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**SAID)
        memory.archive(first.id, reason="not needed")
        again = memory.add_observation(**SAID)
        assert (again.id, again.created) == (first.id, False)
        assert again.warnings[1] == f"it is archived; `grail unarchive {first.id}` brings it back."
        memory.unarchive(first.id)
        memory.add_observation(content="The hall is theirs.", observed_at="2026-02-01", supersedes=first.id)
        again = memory.add_observation(**SAID)
        assert again.warnings[1] == (f"it is history, since something else took its place: `grail history {first.id}`.")


def test_of_a_batch_what_repeats_another_one_is_known_and_has_the_id_of_what_is_stored(tmp_path: Path) -> None:
    """Whether the one before it is stored itself or told to one that was there."""
    with Memory(tmp_path) as memory:
        first, again = memory.add_observations([FACT, FACT])
        assert [(one.id, one.created, one.decision) for one in (first, again)] == [
            (first.id, True, "new"), (first.id, False, "known")
        ]  # fmt: skip
        later = FACT | {"session": "b", "observed_at": "2026-01-02"}
        told = memory.add_observations([later, later])
        assert [(one.id, one.created, one.decision) for one in told] == [
            (first.id, False, "reinforced"), (first.id, False, "known")
        ]  # fmt: skip
        assert {one.path for one in told} == {first.path}


@pytest.mark.parametrize("said", [SAID, FACT], ids=["note", "fact"])
def test_of_several_that_say_the_same_the_one_that_holds_is_meant(tmp_path: Path, said: dict[str, Any]) -> None:
    """An ended one that came in with an import does not stand before the lasting one, whoever says it again."""
    with Memory(tmp_path / "one") as memory:
        ended = memory.add_observation(**said, valid_until="2026-02-01")
        lasting = memory.add_observation(**said)
        memory.export(tmp_path / "one.jsonl")
    with Memory(tmp_path / "two") as memory:
        memory.import_file(tmp_path / "one.jsonl")
        again = memory.add_observation(**said)
        assert (again.id, again.warnings[1:]) == (lasting.id, ())
        assert memory.add_observation(**said, valid_until="2026-02-01").id == ended.id
        if said is FACT:
            word = memory.add_observation(**said, source_kind="user_statement")
            assert (word.id, word.decision) == (lasting.id, "reinforced")
            known = memory.add_observation(**said, source_kind="user_statement")
            assert (known.decision, known.warnings[1:]) == ("known", ())


def test_an_import_for_another_time_is_another_observation(tmp_path: Path) -> None:
    """A decision makes an end come sooner; another beginning, or an end before the one there, was never said before."""
    with Memory(tmp_path / "one") as memory:
        memory.add_observation(**SAID, valid_from="2025-01-01", valid_until="2027-01-01")
        memory.export(tmp_path / "one.jsonl")
    with Memory(tmp_path / "two") as memory:
        memory.import_file(tmp_path / "one.jsonl")
        assert memory.add_observation(**SAID, valid_from="2030-01-01", valid_until="2031-01-01").created
        assert memory.add_observation(**SAID, valid_from="2025-01-01", valid_until="2026-12-30").created
        assert not memory.add_observation(**SAID, valid_from="2025-01-01").created


def test_a_copy_that_holds_is_told_who_says_it_though_another_copy_was_ended(tmp_path: Path) -> None:
    """Two clones said the same and one of them ended it; what holds hears the new word."""
    with Memory(tmp_path / "one") as one:
        first = one.add_observation(**FACT, source_kind="agent_inference")
        _expire(one, first.id)
    with Memory(tmp_path / "two") as two:
        other = two.add_observation(**FACT, source_kind="agent_inference")
    for folder in ("memories", ".grail/ledger"):
        shutil.copytree(tmp_path / "one" / folder, tmp_path / "two" / folder, dirs_exist_ok=True)
    with Memory(tmp_path / "two") as memory:
        memory.sync()
        word = memory.add_observation(**FACT, source_kind="user_statement")
        assert (word.id, word.decision) == (other.id, "reinforced")


def test_many_of_the_same_words_each_for_its_own_time(tmp_path: Path) -> None:
    """Each is stored once, in a batch and told again."""
    days = [{"valid_from": f"2026-01-{n:02}", "valid_until": f"2026-01-{n + 1:02}"} for n in range(1, 29)]
    with Memory(tmp_path) as memory:
        made = memory.add_observations([SAID | day for day in (*days, *days)])
        assert sum(one.created for one in made) == len(days)
        assert [one.id for one in made[: len(days)]] == [one.id for one in made[len(days) :]]
        assert not any(one.created for one in memory.add_observations([SAID | day for day in days]))
