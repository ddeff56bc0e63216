"""Revising: a person's word, with a reason; what was said before stays, and history tells it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grail_mem import ConflictError, InputError, Memory, NotFoundError
from grail_mem.model.lineage import predecessors


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An empty store."""
    with Memory(tmp_path) as memory:
        yield memory


def add(memory: Memory, **fields: Any) -> str:
    said = {"title": "Office", "content": "The office is in Hamburg.", "observed_at": "2026-01-01", "confidence": 0.6}
    return memory.add_observation(**said | fields).id


def contents(memory: Memory, **asked: Any) -> list[str]:
    return sorted(o.content.strip() for o in memory.recall(**asked).observations)


@pytest.mark.parametrize("attribute", [None, "acme/office"])
def test_supersede_keeps_the_old_revision_as_history(memory: Memory, attribute: str | None) -> None:
    """It held until the time that is named; the new one holds from then on and is like the old one in all else."""
    old = add(memory, attribute=attribute, tags=["place"], category="acme", scope="project:x")
    done = memory.revise(
        old, action="supersede", reason="They moved.", content="The office is in Kiel.", at="2026-05-01"
    )
    assert (done.id, done.action, done.changed) == (old, "supersede", (old,))
    new = memory.get(done.new_id)
    assert (new.category, new.tags, new.scope, new.attribute) == ("acme", ("place",), "project:x", attribute)
    assert new.supersedes == old
    assert memory.get(old).superseded_by == new.id
    assert contents(memory) == ["The office is in Kiel."]
    assert contents(memory, as_of="2026-03-01") == ["The office is in Hamburg."]
    assert contents(memory, include_history=True) == ["The office is in Hamburg.", "The office is in Kiel."]


@pytest.mark.parametrize("attribute", [None, "acme/office"])
def test_correct_says_that_it_never_was_so(memory: Memory, attribute: str | None) -> None:
    """The corrected text holds from the same time on; the wrong one held at no time, but is still there."""
    old = add(memory, attribute=attribute)
    done = memory.revise(old, action="correct", reason="A slip.", content="The office is in Harburg.", title="Office")
    for at in ("2026-03-01", "2026-11-01"):
        assert contents(memory, as_of=at) == ["The office is in Harburg."]
    assert memory.get(done.new_id).observed_at == memory.get(old).observed_at
    assert "Hamburg" in memory.get(old).content
    then = memory.get(old).recorded_at
    assert contents(memory, believed_at=then, as_of="2026-03-01") == ["The office is in Hamburg."]


def test_confirm_makes_surer_and_answers_the_review(memory: Memory) -> None:
    """A provisional one waits no longer, half of the doubt goes, and what was due is no longer."""
    old = add(memory, status="provisional", review_at="2026-02-01")
    assert [it.id for it in memory.due()] == [old]
    memory.revise(old, action="confirm", reason="Seen with my own eyes.", evidence="It says so on the door.")
    o = memory.get(old)
    assert (o.status, o.confidence, o.expires_at, o.review_at) == ("confirmed", 0.8, None, None)
    assert [it.quote for it in o.evidence] == ["It says so on the door."]
    assert memory.due() == []


def test_expire_ends_it_and_keeps_it(memory: Memory) -> None:
    """It holds until the time that is named; before it began is a refusal."""
    old = add(memory)
    with pytest.raises(InputError, match="not after"):
        memory.revise(old, action="expire", reason="Gone.", at="2025-01-01")
    memory.revise(old, action="expire", reason="Gone.", at="2026-05-01")
    assert contents(memory) == []
    assert contents(memory, as_of="2026-04-01") == ["The office is in Hamburg."]


@pytest.mark.parametrize("attribute", [None, "acme/office"])
def test_dispute_keeps_both_and_the_settlement_frees_the_other(memory: Memory, attribute: str | None) -> None:
    """Both are marked until one of them is revised."""
    old = add(memory, attribute=attribute)
    done = memory.revise(old, action="dispute", reason="Ann says no.", content="The office is in Kiel.")
    assert memory.get(old).conflicts_with == (done.new_id,)
    assert memory.get(done.new_id).conflicts_with == (old,)
    assert len(contents(memory)) == 2
    memory.revise(done.new_id, action="expire", reason="Ann was wrong.")
    assert memory.get(old).conflicts_with == ()
    assert contents(memory) == ["The office is in Hamburg."]


def test_a_dispute_holds_against_what_was_said_again_and_again(memory: Memory) -> None:
    """A fact that was reinforced later than it was first said can be disputed too."""
    old = add(memory, attribute="acme/office")
    memory.add_observation(
        content="The office is in Hamburg.", attribute="acme/office", session="s", observed_at="2026-06-01"
    )
    done = memory.revise(old, action="dispute", reason="Ann says no.", content="The office is in Kiel.")
    assert memory.get(old).conflicts_with == (done.new_id,)


def test_everything_wrong_is_said_at_once(memory: Memory) -> None:
    """And nothing is changed."""
    old = add(memory)
    before = (memory.root / memory.get(old).path).read_bytes()
    with pytest.raises(InputError) as refused:
        memory.revise(old, action="correct", reason=" ", at="yesterday-ish", evidence=[3])
    assert len(refused.value.problems) == 5
    with pytest.raises(InputError, match="action must be one of"):
        memory.revise(old, action="delete", reason="x")
    with pytest.raises(InputError, match="leave content"):
        memory.revise(old, action="confirm", reason="x", content="y")
    with pytest.raises(NotFoundError):
        memory.revise("01M8PEKNGGMK9SFFFWR7JYZDQG", action="confirm", reason="x")
    with pytest.raises(InputError, match="empty"):
        memory.revise(old, action="correct", reason="x", content="  ")
    assert (memory.root / memory.get(old).path).read_bytes() == before
    assert len(memory.recall(include_history=True).observations) == 1


def test_what_is_superseded_is_revised_no_more(memory: Memory) -> None:
    """The newer one is named; a hidden one is not found."""
    old = add(memory)
    done = memory.revise(old, action="correct", reason="A slip.", content="The office is in Harburg.")
    with pytest.raises(ConflictError, match=done.new_id):
        memory.revise(old, action="confirm", reason="x")
    memory.hide(done.new_id)
    with pytest.raises(NotFoundError):
        memory.revise(done.new_id, action="confirm", reason="x")


@pytest.mark.slow
def test_history_tells_who_when_and_why_from_every_revision(memory: Memory) -> None:
    """Asked from either end, it is the same; a hand-set `supersedes` is followed too, and what is hidden is not told."""
    first = add(memory)
    second = memory.revise(
        first, action="supersede", reason="They moved.", content="Kiel.", at="2026-02-01", actor="ann"
    ).new_id
    third = memory.revise(second, action="correct", reason="A slip.", content="Kiel-Ost.", actor="bob").new_id
    fourth = add(memory, content="By hand.", observed_at="2026-06-01", supersedes=third)
    wanted = [first, second, third, fourth]
    for _ in range(2):
        for id_ in wanted:
            found = memory.history(id_)
            assert sorted(o.id for o in found.revisions) == sorted(wanted)
            assert ("ann", "They moved.") in {(step.actor, step.reason) for step in found.steps if step.id == first}
            assert ("bob", "A slip.") in {(step.actor, step.reason) for step in found.steps if step.id == third}
            assert [step.at for step in found.steps] == sorted(step.at for step in found.steps)
        memory.compact()
    assert found.to_dict()["revisions"][-1]["supersedes"] == [third]
    memory.hide(second)
    assert sorted(o.id for o in memory.history(first).revisions) == sorted({*wanted} - {second})
    with pytest.raises(NotFoundError):
        memory.history(second)


def test_history_across_scopes_holds_what_both_sides_name(memory: Memory) -> None:
    """What somebody says in a scope of his own to have replaced is no part of the history there, not for the owner either."""
    first = add(memory)
    second = memory.revise(first, action="supersede", reason="They moved.", content="Kiel.").new_id
    with memory.session(user_id="u2", agent_id="a1") as other:
        claim = other.add_observation(content="Rome.", supersedes=second).id
        assert {o.id for o in other.history(claim).revisions} == {claim}
    memory.update(second, scope="user:ann")  # both still name each other
    for _ in range(2):
        assert {o.id for o in memory.history(first).revisions} == {first, second}
        assert {o.scope for o in memory.history(first).revisions} == {None, "user:ann"}
        assert {o.id for o in memory.history(claim).revisions} == {claim}
        memory.compact()
    memory.grant("user:u3", "org:store", ["read"])
    with memory.session(user_id="u3", agent_id="a1") as reader:
        assert {o.id for o in reader.history(first).revisions} == {first}


def test_history_of_a_loop_made_by_hand_ends(memory: Memory) -> None:
    """Two files that each say that they supersede the other are two revisions, not an endless tale."""
    one = add(memory)
    two = add(memory, content="Another.", supersedes=one)
    memory.update(one, supersedes=two)
    assert {o.id for o in memory.history(one).revisions} == {one, two}


def test_due_tells_each_once_with_all_that_is_due(memory: Memory) -> None:
    """Reviews, ends within the span, and tasks to come; what is over, archived or far away is not told."""
    both = add(memory, review_at="2026-02-01", expires_at=datetime(2100, 1, 1, tzinfo=UTC), content="1")
    add(memory, review_at="2100-01-01", content="2")
    add(memory, review_at="2026-02-01", expires_at="2026-03-01", content="3")
    task = add(memory, kind="prospective", content="4")
    gone = add(memory, review_at="2026-02-01", content="5")
    memory.archive(gone)
    assert [it.id for it in memory.due()] == [task, both]
    assert [name for name, _ in memory.due()[1].why] == ["review"]
    assert [name for name, _ in memory.due(within="100y")[1].why] == ["review", "ends"]
    memory.compact()
    assert [it.id for it in memory.due()] == [task, both]
    for wrong in ("soon", "2026-01-01T00:00:00Z"[::-1], 7):
        with pytest.raises(InputError):
            memory.due(within=wrong)  # type: ignore[arg-type]  # what callers may get wrong


def test_archive_puts_away_and_unarchive_brings_back_as_it_was(memory: Memory) -> None:
    """The file is, byte for byte, what it was; a superseded one is put away already."""
    old = add(memory, status="provisional")
    path = memory.root / memory.get(old).path
    before = path.read_bytes()
    assert memory.archive(old, reason="Old news.").changed
    assert not memory.archive(old).changed
    assert contents(memory) == []
    assert contents(memory, include_history=True) == ["The office is in Hamburg."]
    assert memory.unarchive(old).changed
    assert not memory.unarchive(old).changed
    assert path.read_bytes() == before
    memory.revise(old, action="correct", reason="A slip.", content="No.")
    with pytest.raises(ConflictError):
        memory.archive(old)


def test_pinned_does_not_age(memory: Memory) -> None:
    """An old episode counts less in a ranking, unless it is pinned; unpinning leaves no trace."""
    old = add(memory, kind="episodic", content="The quarterly ferry audit found nothing.", observed_at="2020-01-01")
    path = memory.root / memory.get(old).path
    before = path.read_bytes()

    def aged() -> bool:
        (hit,) = asking.search("What did the ferry audit find?").observations
        return any("days old" in reason for reason in hit.reasons)  # type: ignore[attr-defined]  # ranked answers hold hits

    (memory.root / "grail.yaml").write_text("silence: never\n")
    with Memory(memory.root, embedder="none") as asking:
        assert aged()
        assert asking.pin(old).changed
        assert not aged()
        assert asking.unpin(old).changed
    assert path.read_bytes() == before


def test_correcting_one_of_two_in_conflict_keeps_lineage_sound(memory: Memory) -> None:
    """What supersedes several names all of them."""
    one = add(memory, attribute="a/b", content="one")
    two = add(memory, attribute="a/b", content="two")
    last = memory.add_observation(content="three", attribute="a/b", observed_at="2026-03-01")
    assert set(predecessors(memory.get(last.id))) == {one, two}
    assert {o.id for o in memory.history(one).revisions} == {one, two, last.id}
