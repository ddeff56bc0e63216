"""A fact that somebody ended, corrected or put away: told once more it is known, told late it changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory

TOLD: dict[str, Any] = {
    "content": "The hall is ours.", "title": "Hall", "observed_at": "2026-01-01T00:00:00Z", "session": "a",
    "attribute": "hall/owner",
}  # fmt: skip
THEIRS = {"content": "The hall is theirs.", "title": "Hall", "attribute": "hall/owner"}


def contents(memory: Memory, **conditions: Any) -> list[str]:
    return sorted(o.content.strip() for o in memory.recall(limit=100, **conditions).observations)


def _expire(memory: Memory, id_: str) -> None:
    memory.revise(id_, action="expire", reason="it was sold", at="2026-03-01")


def _update(memory: Memory, id_: str) -> None:
    memory.update(id_, valid_until="2026-03-01")


def _correct(memory: Memory, id_: str) -> None:
    memory.revise(id_, action="correct", reason="a slip", content="The hall is theirs.")


def _supersede(memory: Memory, id_: str) -> None:
    memory.revise(id_, action="supersede", reason="sold", content="The hall is theirs.", at="2026-03-01")


def _archive(memory: Memory, id_: str) -> None:
    memory.archive(id_, reason="not needed")


ENDS: list[Callable[[Memory, str], None]] = [_expire, _update, _correct, _supersede, _archive]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("after", ["at once", "rebuilt"])
@pytest.mark.parametrize(
    "otherwise",
    [
        {"tags": ["t"]},
        {"content": "the hall is OURS"},
        {"title": "Who has it"},
        {"valid_from": "2026-01-01T00:00:00Z"},
        {"observed_at": None, "valid_from": "2026-01-01T00:00:00Z"},
        {"entities": ["Hall"], "category": "elsewhere"},
    ],
    ids=["tags", "letters", "title", "beginning", "beginning alone", "entities"],
)
def test_the_same_in_other_form_does_not_revive_it(
    tmp_path: Path, end: Callable[[Memory, str], None], after: str, otherwise: dict[str, Any]
) -> None:
    """Whoever put it away and however; the answer says what became of it."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**TOLD)
        end(memory, first.id)
        if after == "rebuilt":
            memory.rebuild()
        held, everything = contents(memory), contents(memory, include_history=True)
        again = memory.add_observation(**TOLD | otherwise)
        assert (again.id, again.created, again.decision) == (first.id, False, "known")
        assert (contents(memory), contents(memory, include_history=True)) == (held, everything)
        said = " ".join(again.warnings)
        told = {_archive: "it is archived", _correct: "it is history", _supersede: "it is history"}
        assert told.get(end, "it was ended and holds until 2026-03-01T00:00:00Z") in said


@pytest.mark.parametrize("end", [_correct, _supersede, _archive])
@pytest.mark.parametrize(
    ("attribute", "otherwise"),
    [("hall/owner", {}), ("hall/owner", {"tags": ["t"]}), (None, {})],
    ids=["fact", "fact with tags", "note"],
)
def test_without_a_time_the_turn_of_a_conversation_tells_that_it_is_the_same(
    tmp_path: Path, end: Callable[[Memory, str], None], attribute: str | None, otherwise: dict[str, Any]
) -> None:
    """A turn is said once, whenever it is told."""
    said = TOLD | {"observed_at": None, "turn": 7, "attribute": attribute}
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**said)
        end(memory, first.id)
        held = contents(memory)
        again = memory.add_observation(**said | otherwise)
        assert (again.id, again.created, again.decision) == (first.id, False, "known")
        assert contents(memory) == held
        assert memory.add_observation(**said | {"turn": 8}).created


def test_a_turn_told_again_is_held_once(tmp_path: Path) -> None:
    """What another observation holds keeps its turn, so a retry adds no second line."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**TOLD)
        again = TOLD | {"observed_at": None, "session": "b", "turn": 3}
        assert memory.add_observation(**again).decision == "reinforced"
        assert memory.add_observation(**again).decision == "known"
        (held,) = memory.get(first.id).extra["reinforced_by"]
        assert held["turn"] == 3
        assert memory.add_observation(**again | {"turn": 4}).decision == "reinforced"


def test_told_late_by_somebody_else_it_ends_with_the_one_that_was_ended(tmp_path: Path) -> None:
    """As if it had been told before the end was known; from that end on it is said to hold again."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**TOLD)
        _expire(memory, first.id)
        late = memory.add_observation(**TOLD | {"session": "b", "observed_at": "2026-02-01"})
        assert (late.id, late.decision) == (first.id, "reinforced")
        assert "it was ended and holds until 2026-03-01T00:00:00Z" in late.warnings[1]
        assert contents(memory) == []
        assert memory.add_observation(**TOLD | {"session": "b", "observed_at": "2026-02-01"}).decision == "known"
        anew = memory.add_observation(**TOLD | {"session": "b", "observed_at": "2026-03-01"})
        assert (anew.created, anew.decision) == (True, "new")
        assert contents(memory) == ["The hall is ours."]


def test_what_it_held_when_it_was_ended_is_known_though_said_of_a_later_time(tmp_path: Path) -> None:
    """Who ended it knew of that, too."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**TOLD)
        later = TOLD | {"session": "b", "observed_at": "2026-04-01"}
        assert memory.add_observation(**later).decision == "reinforced"
        _expire(memory, first.id)
        assert memory.add_observation(**later).decision == "known"
        assert contents(memory) == []


def test_what_is_archived_is_in_conflict_with_nothing_that_gave_way(tmp_path: Path) -> None:
    """Lineage is the same from both ends."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**TOLD)
        other = memory.add_observation(**THEIRS, observed_at=TOLD["observed_at"])
        assert memory.get(first.id).conflicts_with == (other.id,)
        memory.archive(first.id)
        memory.add_observation(content="The hall is nobody's.", attribute="hall/owner", observed_at="2026-02-01")
        assert memory.get(other.id).status == "superseded"
        assert memory.get(first.id).conflicts_with == ()


@pytest.mark.parametrize("given", ["without an end", "for a time"])
def test_an_older_statement_that_comes_late_is_history_although_the_newer_one_was_ended(
    tmp_path: Path, given: str
) -> None:
    """Not when the newer one was made for a time: that never took the place of what lasts."""
    fields = {} if given == "without an end" else {"valid_until": "2099-01-01"}
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**TOLD, **fields)
        _expire(memory, first.id)
        late = memory.add_observation(**THEIRS, observed_at="2025-06-01")
        if fields:
            assert (late.decision, contents(memory)) == ("coexists", ["The hall is theirs."])
        else:
            assert (late.decision, late.others) == ("superseded_on_arrival", (first.id,))
            assert contents(memory) == []
            assert contents(memory, as_of="2025-12-01") == ["The hall is theirs."]
            assert contents(memory, as_of="2026-02-01") == ["The hall is ours."]
            assert memory.get(first.id).supersedes == late.id
        assert memory.check().ok


def test_the_end_that_somebody_gave_stands_whatever_comes_late(tmp_path: Path) -> None:
    """Another statement from between holds, and the same told from after that one ends then, too."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**TOLD)
        _expire(memory, first.id)
        late = memory.add_observation(**THEIRS, observed_at="2026-02-01")
        assert (late.decision, contents(memory)) == ("new", ["The hall is theirs."])
        assert contents(memory, as_of="2026-01-15") == ["The hall is ours."]
        again = memory.add_observation(**TOLD | {"observed_at": "2026-02-15"})
        assert (again.id, again.decision) == (first.id, "reinforced")
        assert contents(memory) == []
        assert memory.get(late.id).superseded_by == first.id
        assert contents(memory, as_of="2026-02-20") == ["The hall is ours."]


def test_what_a_repetition_says_beside_is_named(tmp_path: Path) -> None:
    """Whether it was known or adds a source: nothing of it is lost in silence."""
    with Memory(tmp_path) as memory:
        memory.add_observation(**TOLD, tags=["Old"])
        known = memory.add_observation(**TOLD, tags=["old", "new"], entities=["Hall"], kind="episodic")
        assert known.decision == "known"
        assert known.warnings[1].startswith("not taken over: tags, entities, kind;")
        again = memory.add_observation(**TOLD | {"session": "b"}, tags=["OLD"], review_at="2030-01-01")
        assert again.decision == "reinforced"
        assert again.warnings[1].startswith("not taken over: review_at;")
        same = memory.add_observation(**TOLD | {"session": "c"}, confidence=0.5, source_kind="user_statement")
        assert len(same.warnings) == 1


def test_one_that_is_hidden_is_named_when_it_is_of_the_same_time(tmp_path: Path) -> None:
    """Another period was never hidden."""
    said = {name: value for name, value in TOLD.items() if name != "attribute"}
    with Memory(tmp_path) as memory:
        memory.hide(memory.add_observation(**said, valid_until="2099-01-01").id, reason="private")
        assert memory.add_observation(**said).warnings == ()
        (warning,) = memory.add_observation(**said, valid_until="2099-01-01").warnings
        assert "hidden" in warning


def test_a_line_of_the_ledger_from_before_is_no_word_that_no_end_was_given(tmp_path: Path) -> None:
    """Lines without the interval were written by earlier versions: in doubt what is told again is the same."""
    said = TOLD | {"valid_until": "2099-01-01T00:00:00Z"}
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**said)
        (chain,) = (tmp_path / ".grail" / "ledger").glob("*.jsonl")
        written = chain.read_text()
        assert ',"detail":"../2099-01-01T00:00:00Z"' in written
        chain.write_text(written.replace(',"detail":"../2099-01-01T00:00:00Z"', ""))
    with Memory(tmp_path) as memory:
        _update(memory, first.id)
        assert memory.add_observation(**said).id == first.id
        assert contents(memory) == []


def test_a_conflict_that_the_same_batch_settles_is_told_as_settled(tmp_path: Path) -> None:
    """Whatever the order in the batch, the answers agree with what is stored."""
    said = [
        TOLD | {"source_kind": "user_statement"},
        THEIRS | {"observed_at": "2026-02-01", "source_kind": "tool_result"},
        TOLD | {"content": "The hall is nobody's.", "observed_at": "2026-03-01", "source_kind": "user_statement"},
    ]
    for number, order in enumerate(permutations(said)):
        with Memory(tmp_path / str(number)) as memory:
            for one in memory.add_observations(list(order)):
                stored = memory.get(one.id)
                assert (one.decision == "conflict") == bool(stored.conflicts_with)
                assert any("both are kept and marked" in text for text in one.warnings) == bool(stored.conflicts_with)
