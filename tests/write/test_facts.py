"""The same-fact decision: what becomes of a new statement about an attribute, and of what was known of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory
from grail_mem.model.observation import Observation

ATTRIBUTE = "acme/primary-database"
EARLY, MIDDLE, LATE = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"
MYSQL, POSTGRES = "Acme uses MySQL.", "Acme uses Postgres."


@pytest.fixture(params=["delta", "snapshot"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Memory, bool]]:
    """A store whose known statements are outside, or inside, its snapshot."""
    with Memory(tmp_path) as memory:
        yield memory, request.param == "snapshot"


def said(content: str, at: str, **fields: Any) -> dict[str, Any]:
    return {"content": content, "attribute": ATTRIBUTE, "observed_at": at} | fields


def current(memory: Memory) -> list[str]:
    return sorted(o.content.strip() for o in memory.recall(attribute=ATTRIBUTE).observations)


def everything(memory: Memory) -> dict[str, Observation]:
    return {o.content.strip(): o for o in memory.recall(attribute=ATTRIBUTE, include_history=True).observations}


USER, AGENT, SYSTEM = ({"source_kind": kind} for kind in ("user_statement", "agent_inference", "system"))
TABLE: list[tuple[dict[str, Any], dict[str, Any], str, list[str]]] = [
    (said(MYSQL, EARLY), said(POSTGRES, LATE), "supersedes", [POSTGRES]),
    (said(MYSQL, EARLY, **AGENT), said(POSTGRES, LATE, **USER), "supersedes", [POSTGRES]),
    (said(MYSQL, LATE), said(POSTGRES, EARLY), "superseded_on_arrival", [MYSQL]),
    (said(MYSQL, LATE, **USER), said(POSTGRES, EARLY, **AGENT), "superseded_on_arrival", [MYSQL]),
    (said(MYSQL, EARLY, **USER), said(POSTGRES, LATE, **AGENT), "conflict", [MYSQL, POSTGRES]),
    (said(MYSQL, LATE, **AGENT), said(POSTGRES, EARLY, **USER), "conflict", [MYSQL, POSTGRES]),
    (said(MYSQL, EARLY), said(POSTGRES, EARLY), "conflict", [MYSQL, POSTGRES]),
    (said(MYSQL, EARLY, **USER), said(POSTGRES, EARLY, **SYSTEM), "conflict", [MYSQL, POSTGRES]),
    (said(MYSQL, EARLY), said("Acme uses SQLite this week.", LATE), "coexists", [MYSQL, "Acme uses SQLite this week."]),
    (said(MYSQL, EARLY), said(POSTGRES, LATE, valid_until="2100-01-01"), "coexists", [MYSQL, POSTGRES]),
    (said(MYSQL, EARLY, valid_until="2100-01-01"), said(POSTGRES, LATE), "coexists", [MYSQL, POSTGRES]),
    (said(MYSQL, EARLY), said("acme  uses mysql", LATE, source="a call"), "reinforced", [MYSQL]),
    (said(MYSQL, EARLY), said(MYSQL, EARLY), "known", [MYSQL]),
    (said(MYSQL, EARLY), said(POSTGRES, LATE, scope="project:other"), "new", [MYSQL, POSTGRES]),
    (said(MYSQL, EARLY), said(POSTGRES, LATE, attribute="acme/cache"), "new", [MYSQL]),
    (said(MYSQL, EARLY), said(POSTGRES, LATE, attribute="globex/primary-database"), "new", [MYSQL]),
    (said(MYSQL, EARLY), said(POSTGRES, LATE, attribute="Acme/Primary_Database"), "supersedes", [POSTGRES]),
    (said(MYSQL, EARLY), said(POSTGRES, LATE, valid_from="2025-01-01"), "superseded_on_arrival", [MYSQL]),
    (said(MYSQL, EARLY, status="archived"), said(POSTGRES, LATE), "new", [POSTGRES]),
]


@pytest.mark.parametrize(("known", "new", "decision", "left"), TABLE)
def test_decision_table(
    store: tuple[Memory, bool], known: dict[str, Any], new: dict[str, Any], decision: str, left: list[str]
) -> None:
    """Authority and event time decide; what is for a time stands beside; another scope or subject is another fact."""
    memory, compacted = store
    memory.add_observation(**known)
    if compacted:
        memory.compact()
    done = memory.add_observation(**new)
    assert done.decision == decision
    assert done.created == (decision not in ("reinforced", "known"))
    assert current(memory) == sorted(left)
    memory.rebuild()
    assert current(memory) == sorted(left)


def test_lineage_stands_in_both_files_and_nothing_else_changes(store: tuple[Memory, bool]) -> None:
    """The old file says what took its place and until when it held, by the smallest edit; the new one what it replaces."""
    memory, compacted = store
    old = memory.add_observation(**said(MYSQL, EARLY))
    before = (memory.root / old.path).read_text()
    if compacted:
        memory.compact()
    new = memory.add_observation(**said(POSTGRES, LATE))
    assert new.others == (old.id,)
    after = (memory.root / old.path).read_text()
    added = f"status: superseded\nvalid_until: {LATE}\nsuperseded_by: {new.id}\n"
    assert sorted(after.splitlines()) == sorted((before + added).splitlines())
    assert memory.get(new.id).supersedes == old.id
    assert memory.get(old.id).superseded_by == new.id
    assert MYSQL in memory.get(old.id).content


def test_the_answer_and_its_warning_name_what_was_decided(tmp_path: Path) -> None:
    """A caller hears in words what became of a statement."""
    with Memory(tmp_path) as memory:
        old = memory.add_observation(**said(MYSQL, EARLY))
        assert (old.decision, old.others, old.warnings) == ("new", (), ())
        done = memory.add_observation(**said(POSTGRES, EARLY))
        assert done.others == (old.id,)
        assert any(old.id in warning and "both are kept" in warning for warning in done.warnings)
        assert done.to_dict()["decision"] == "conflict"


def test_what_is_named_as_replaced_is_history_without_an_attribute_too(store: tuple[Memory, bool]) -> None:
    """In the same scope, and not by a conclusion of an agent's against somebody's word."""
    memory, in_snapshot = store
    old = memory.add_observation(content=MYSQL, observed_at=EARLY, source_kind="user_statement")
    if in_snapshot:
        memory.compact()
    guess = memory.add_observation(content="Acme uses Oracle.", supersedes=old.id, source_kind="agent_inference")
    foreign = memory.add_observation(content="Acme uses Redis.", supersedes=old.id, scope="user:u1")
    assert {guess.decision, foreign.decision, memory.get(old.id).status} == {"new", "confirmed"}
    new = memory.add_observation(content=POSTGRES, observed_at=LATE, supersedes=old.id, source_kind="user_statement")
    assert (new.decision, new.others) == ("supersedes", (old.id,))
    former = memory.get(old.id)
    assert (former.status, former.superseded_by, former.valid_until) == (
        "superseded",
        new.id,
        memory.get(new.id).observed_at,
    )
    assert MYSQL not in [o.content for o in memory.recall().observations]
    assert MYSQL in [o.content for o in memory.recall(as_of=MIDDLE).observations]
    assert memory.check().ok


def test_conflict_is_marked_on_both_and_ends_with_a_decision(tmp_path: Path) -> None:
    """Neither of two is dropped; a later word of enough authority settles it, and no mark is left on what is current."""
    with Memory(tmp_path) as memory:
        one = memory.add_observation(**said(MYSQL, EARLY, **USER))
        two = memory.add_observation(**said(POSTGRES, LATE, **AGENT))
        assert memory.get(one.id).conflicts_with == (two.id,)
        assert memory.get(two.id).conflicts_with == (one.id,)
        last = memory.add_observation(**said("Acme uses Oracle.", "2026-04-01", **USER))
        assert last.decision == "supersedes"
        assert set(last.others) == {one.id, two.id}
        assert current(memory) == ["Acme uses Oracle."]
        assert memory.get(last.id).conflicts_with == memory.get(one.id).conflicts_with == ()
        assert {memory.get(id_).superseded_by for id_ in (one.id, two.id)} == {last.id}


def test_reinforcing_settles_a_conflict(tmp_path: Path) -> None:
    """What the user says again later outweighs what an agent concluded in between."""
    with Memory(tmp_path) as memory:
        memory.add_observation(**said(MYSQL, EARLY, **USER))
        agent = memory.add_observation(**said(POSTGRES, MIDDLE, **AGENT))
        memory.add_observation(**said(MYSQL, LATE, session="chat/2", **USER))
        assert current(memory) == [MYSQL]
        assert memory.get(agent.id).status == "superseded"


def test_only_a_new_source_makes_surer_and_every_date_is_kept(tmp_path: Path) -> None:
    """The same source twice counts once, an agent's echo counts not at all, and no date is lost."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(**said(MYSQL, EARLY, confidence=0.8, session="a", **USER))
        memory.add_observation(**said(MYSQL, MIDDLE, confidence=0.8, session="a", **USER))
        assert memory.get(first.id).confidence == 0.8
        memory.add_observation(**said(MYSQL, "2026-02-02T00:00:00Z", confidence=0.8, session="x", **AGENT))
        assert memory.get(first.id).confidence == 0.8
        memory.add_observation(**said(MYSQL, LATE, confidence=0.8, session="b", **USER))
        o = memory.get(first.id)
        assert o.confidence == 0.88
        assert [it["at"] for it in o.extra["reinforced_by"]] == [MIDDLE, "2026-02-02T00:00:00Z", LATE]
        assert [it.get("session") for it in o.extra["reinforced_by"]] == ["a", "x", "b"]
        assert memory.recall(attribute=ATTRIBUTE, include_history=True, limit=10).observations[0].id == first.id
        assert len(everything(memory)) == 1


def test_a_provisional_fact_expires_unless_two_new_sources_repeat_it(tmp_path: Path) -> None:
    """30 days to be repeated; one repetition gives 30 more, the second confirms."""
    with Memory(tmp_path) as memory:
        done = memory.add_observation(**said(MYSQL, EARLY, status="provisional", session="a"))
        o = memory.get(done.id)
        assert o.expires_at is not None
        assert (o.expires_at - o.recorded_at).days == 30
        memory.add_observation(**said(MYSQL, MIDDLE, session="b"))
        again = memory.get(done.id)
        assert again.status == "provisional"
        assert again.expires_at is not None
        assert again.expires_at >= o.expires_at
        memory.add_observation(**said(MYSQL, LATE, session="c"))
        o = memory.get(done.id)
        assert (o.status, o.expires_at) == ("confirmed", None)


def test_a_fact_may_come_back(tmp_path: Path) -> None:
    """What was superseded and is said again is current again, by an observation of its own."""
    with Memory(tmp_path) as memory:
        for content in (MYSQL, POSTGRES):
            memory.add_observation(content=content, attribute=ATTRIBUTE)
        back = memory.add_observation(content=MYSQL, attribute=ATTRIBUTE)
        assert (back.created, back.decision) == (True, "supersedes")
        assert current(memory) == [MYSQL]


def test_late_news_of_the_past_fits_between(tmp_path: Path) -> None:
    """The timeline is right whatever the order of arrival: what holds at a time is the last thing said before it."""
    with Memory(tmp_path) as memory:
        for content, at in ((MYSQL, EARLY), ("Acme uses Oracle.", LATE), (POSTGRES, MIDDLE)):
            memory.add_observation(**said(content, at))
        at = [
            [o.content.strip() for o in memory.recall(attribute=ATTRIBUTE, as_of=time).observations]
            for time in ("2025-12-31", "2026-01-15", "2026-02-15", "2026-03-15")
        ]
        assert at == [[], [MYSQL], [POSTGRES], ["Acme uses Oracle."]]


def test_what_was_believed_then_is_answered(tmp_path: Path) -> None:
    """`believed_at` knows nothing that was recorded later, not even that something would be superseded."""
    with Memory(tmp_path) as memory:
        old = memory.add_observation(**said(MYSQL, EARLY))
        new = memory.add_observation(**said(POSTGRES, LATE))
        then = memory.get(old.id).recorded_at

        def believed(**asked: Any) -> list[str]:
            return [o.content.strip() for o in memory.recall(attribute=ATTRIBUTE, **asked).observations]

        for _ in range(2):
            assert believed(believed_at=then) == [MYSQL]
            assert believed(believed_at=memory.get(new.id).recorded_at) == [POSTGRES]
            assert believed(believed_at=then, as_of="2025-01-01") == []
            assert believed(believed_at="2026-01-02") == []
            memory.compact()


def test_a_future_beginning_lets_the_old_fact_hold_until_then(tmp_path: Path) -> None:
    """Announced is not in force: both are kept, and each holds in its time."""
    with Memory(tmp_path) as memory:
        memory.add_observation(**said(MYSQL, EARLY))
        memory.add_observation(**said(POSTGRES, LATE, valid_from="2100-01-01"))
        assert current(memory) == [MYSQL]
        then = memory.recall(attribute=ATTRIBUTE, as_of="2100-01-02").observations
        assert [o.content.strip() for o in then] == [POSTGRES]


def test_a_batch_decides_as_single_writes_do(tmp_path: Path) -> None:
    """Statements of one call meet each other too, and the batch is all or none."""
    with Memory(tmp_path) as memory:
        done = memory.add_observations(
            [said(MYSQL, EARLY), said(POSTGRES, LATE), said(MYSQL.lower(), EARLY, session="s"), said("Oracle", MIDDLE)]
        )
        assert [it.decision for it in done] == ["new", "supersedes", "superseded_on_arrival", "superseded_on_arrival"]
        assert current(memory) == [POSTGRES]
        again = memory.add_observations(
            [said("Valkey", LATE, attribute="c"), said("valkey.", LATE, attribute="c", session="s")]
        )
        assert [it.decision for it in again] == ["new", "reinforced"]
        assert again[0].id == again[1].id
        assert again[0].path == again[1].path
        assert memory.get(again[0].id).extra["reinforced_by"][0]["session"] == "s"
        assert memory.check().ok


def test_a_near_attribute_is_named(store: tuple[Memory, bool]) -> None:
    """Nothing is guessed: the words are taken as they are, and the caller hears of an attribute that is much alike."""
    memory, compacted = store
    memory.add_observation(**said(MYSQL, EARLY))
    if compacted:
        memory.compact()
    done = memory.add_observation(**said(POSTGRES, LATE, attribute="acme/main primary database"))
    assert done.decision == "new"
    assert any(ATTRIBUTE in warning for warning in done.warnings)
    far = memory.add_observation(**said("Blue", LATE, attribute="acme/colour"))
    assert not far.warnings
    other = memory.add_observation(**said(POSTGRES, LATE, attribute="acme/primary databases", scope="user:ann"))
    assert not other.warnings


def test_keep_leaves_everything_beside_everything(tmp_path: Path) -> None:
    """The setting `facts: keep` decides nothing."""
    (tmp_path / "grail.yaml").write_text("facts: keep\n")
    with Memory(tmp_path) as memory:
        memory.add_observation(**said(MYSQL, EARLY))
        assert memory.add_observation(**said(POSTGRES, LATE)).decision == "new"
        assert current(memory) == [MYSQL, POSTGRES]


def test_without_an_attribute_nothing_is_decided(tmp_path: Path) -> None:
    """Statements of no fact stand beside each other, as they always did."""
    with Memory(tmp_path) as memory:
        memory.add_observation(content=MYSQL, observed_at=EARLY)
        done = memory.add_observation(content=POSTGRES, observed_at=LATE)
        assert (done.decision, done.others) == ("new", ())
        assert len(memory.recall().observations) == 2


def test_a_hand_edited_fact_counts_as_its_file_says_now(tmp_path: Path) -> None:
    """A person who rewrote the file has the word: what the file says now is what the new statement meets."""
    with Memory(tmp_path) as memory:
        old = memory.add_observation(**said(MYSQL, EARLY))
        memory.compact()
        path = memory.root / old.path
        path.write_text(path.read_text().replace(MYSQL, POSTGRES))
        assert memory.add_observation(**said(POSTGRES, LATE, session="s")).decision == "reinforced"


def test_a_named_predecessor_is_superseded_whatever_the_times(tmp_path: Path) -> None:
    """A writer that says what it replaces is believed."""
    with Memory(tmp_path) as memory:
        old = memory.add_observation(**said(MYSQL, LATE, **USER))
        new = memory.add_observation(**said(POSTGRES, LATE, supersedes=old.id))
        assert new.decision == "supersedes"
        assert current(memory) == [POSTGRES]
