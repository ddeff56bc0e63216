"""Edits decide nothing among facts: what they leave open is reported, and the next statement decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grail_mem import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path) as memory:
        yield memory


def add(memory: Memory, content: str, day: int, **fields: object) -> str:
    at = f"2026-01-{day:02d}"
    return memory.add_observation(content=content, observed_at=at, **fields).id  # type: ignore[arg-type]  # fields of a draft


def listed(memory: Memory) -> list[tuple[str, str]]:
    return [(p.code, p.where) for p in memory.check().problems]


@pytest.mark.parametrize("how", ["update", "hand"])
def test_two_statements_that_an_edit_made_rivals_are_reported_and_then_decided(memory: Memory, how: str) -> None:
    """Neither is superseded by the edit itself: nobody said which is the later word."""
    old = add(memory, "Acme uses DynamoDB.", 1, attribute="acme/database")
    other = add(memory, "Acme uses Postgres.", 2)
    beside = add(memory, "Acme uses Oracle.", 3, attribute="acme/ledger")
    assert memory.check().problems == ()
    assert memory.due() == []
    if how == "update":
        memory.update(other, attribute="acme/database")
    else:
        path = memory.root / memory.get(other).path
        path.write_text(path.read_text().replace("title:", "attribute: Acme/Database\ntitle:", 1))
        memory.sync()
    assert listed(memory) == [("undecided_fact", memory.get(other).path)]
    assert [(it.id, [name for name, _ in it.why]) for it in memory.due()] == [
        (other, ["undecided"]), (old, ["undecided"]),
    ]  # fmt: skip
    memory.compact()
    assert [it.id for it in memory.due()] == [other, old]
    new = add(memory, "Acme uses MySQL.", 4, attribute="acme/database")
    assert {memory.get(id_).superseded_by for id_ in (old, other)} <= {new, other}
    assert {o.id for o in memory.recall().observations} == {new, beside}
    assert listed(memory) == []


def test_what_was_decided_is_not_reported(memory: Memory) -> None:
    """A conflict is marked in both files; repetitions, what is for a time, other scopes and archived ones are no rivals."""
    add(memory, "Acme uses DynamoDB.", 1, attribute="acme/database")
    add(memory, "Acme uses Postgres.", 1, attribute="acme/database")
    add(memory, "Acme uses Kafka.", 1, attribute="acme/database", scope="user:ann")
    away = add(memory, "Acme uses Redis.", 2)
    memory.archive(away)
    memory.update(away, attribute="acme/database")
    for_now = add(memory, "Acme uses SQLite for now.", 2)
    memory.update(for_now, attribute="acme/database")
    assert listed(memory) == []
    assert memory.due() == []


def test_a_session_hears_of_its_own_undecided_facts_alone(memory: Memory) -> None:
    add(memory, "Acme uses DynamoDB.", 1, attribute="acme/database")
    memory.update(add(memory, "Acme uses Postgres.", 2), attribute="acme/database")
    with memory.session(user_id="u1", agent_id="a1") as session:
        assert session.due() == []
    assert len(memory.due()) == 2
