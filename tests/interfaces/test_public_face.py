"""What callers can reach, and that the two faces are one."""

from __future__ import annotations

import inspect
from pathlib import Path

import grail_mem
from grail_mem import Memory, MemoryProject
from grail_mem.memory.session import Session
from grail_mem.project import SESSION_VERBS, VERBS, SessionProject


def test_all_is_small_sorted_and_true() -> None:
    """Every public name exists, and the list is sorted."""
    assert list(grail_mem.__all__) == sorted(grail_mem.__all__)
    for name in grail_mem.__all__:
        assert getattr(grail_mem, name) is not None


def test_every_verb_is_a_coroutine_with_the_same_arguments() -> None:
    """The asynchronous twins have the verbs of Memory and of a session, none more and none less."""
    for twin, of, verbs in ((MemoryProject, Memory, VERBS), (SessionProject, Session, SESSION_VERBS)):
        for name in verbs:
            verb = getattr(twin, name)
            asked, said = inspect.signature(verb), inspect.signature(getattr(of, name))
            assert asked.parameters == said.parameters, name
            if name != "session":  # it opens nothing until it is entered
                assert inspect.iscoroutinefunction(verb), name
        public = {name for name in vars(twin) if not name.startswith("_")}
        assert public == set(verbs)


OWNERS_ALONE = {
    "init", "sync", "compact", "rebuild", "check", "index", "calibrate", "fit", "reset_gates", "reset_weights", "session",
    "grant", "revoke", "grants", "ingest_document",
    "backup", "verify_backup", "restore_backup", "import_file", "verify_ledger",
    "retain", "fade", "migrate",
}  # fmt: skip
"""Verbs that keep the store or say who may do what."""


def test_a_session_has_every_verb_but_those_of_the_owner() -> None:
    """A new verb is given to sessions, or is told here to be the owner's alone."""
    assert set(SESSION_VERBS) >= set(VERBS) - OWNERS_ALONE
    assert not OWNERS_ALONE & set(SESSION_VERBS)


def test_only_the_subject_is_positional() -> None:
    """Everything else must be named by the caller."""
    for name in VERBS:
        parameters = list(inspect.signature(getattr(Memory, name)).parameters.values())[1:]
        positional = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        assert positional in (
            [],
            ["query"],
            ["id"],
            ["ids"],
            ["id", "category"],
            ["tail"],
            ["drafts"],
            ["questions"],
            ["text", "params"],
            ["grantee", "scope", "rights"],
            ["text"],
            ["turns"],
            ["session"],
            ["path"],
            ["claim"],
            ["out"],
        ), name


async def _design_calls(root: Path) -> list[str]:
    mp = MemoryProject(root)
    await mp.add_observation(
        title="Acme picked Postgres over DynamoDB",
        content="Cost and joins decided it.",
        category="work/clients/acme",
        tags=["decision"],
        entities=[{"name": "Acme", "type": "ORGANIZATION"}, {"name": "Postgres", "type": "TECHNOLOGY"}],
        relationships=[{"source": "Acme", "target": "Postgres", "relationship_type": "CHOSE"}],
        observed_at="2d",
        confidence=0.95,
        source="architecture review meeting",
    )
    await mp.add_observation(
        title="Elsewhere", content="Postgres too.", category="work/clients/acme-labs", tags=["decision"]
    )
    await mp.add_observation(
        title="Old", content="x", category="work/clients/acme", tags=["decision"], observed_at="30d"
    )
    found = await mp.recall(
        mode="recall",
        since="7d",
        category="work/clients/acme/**",
        tags=["decision"],
        entity_names=["Postgres"],
        min_confidence=0.8,
    )
    await mp.close()
    return [o.title for o in found.observations]


def test_the_calls_of_the_design_work_as_written(tmp_path: Path) -> None:
    """The two calls without search, an entity without description, and exactly the one matching observation."""
    import asyncio

    assert asyncio.run(_design_calls(tmp_path)) == ["Acme picked Postgres over DynamoDB"]


def test_sql_counts_by_category_as_the_design_writes_it(tmp_path: Path) -> None:
    """The third call of the design."""
    with Memory(tmp_path) as memory:
        memory.add_observation(content="one", category="a")
        memory.add_observation(content="two", category="a")
        table = memory.sql("select category, count(*) from observations group by 1")
    assert table.num_rows == 1
    assert [column.to_pylist() for column in table.columns] == [["a"], [2]]
