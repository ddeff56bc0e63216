"""Scopes: a session answers as a store would that holds nothing but what it may read.

That is more than that nothing forbidden is returned: no count, no order, no score and no reason depends on it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws_strategies import examples
from search_stores import hashed_words, never_silent

from grail_mem import Memory
from grail_mem.errors import GrailError
from grail_mem.memory.session import Session

NOW = datetime(2026, 7, 1, tzinfo=UTC)
SCOPES = [None, "org:store", "agent:assistant/u1", "agent:assistant/u2", "user:u1", "user:u2", "project:p", "team:blue"]
NAMES = ["Acme", "Ann Lee", "Oslo", "Postgres", "Bob"]
WORDS = [*NAMES, "pear", "plum", "moved to", "chose", "in June", "42"]
GRANTEES = ["user:u1", "agent:assistant", "agent:assistant/u1", "project:p", "*", "user:u2", "agent:other"]
Asker = Memory | Session


@st.composite
def notes(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Notes of several scopes that share words, names, tags, folders, sessions and speakers."""
    made: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 12))):
        ends = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True))
        made.append(
            {
                "content": " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))) + f" n{number}",
                "title": draw(st.sampled_from([*NAMES, f"title {number}"])),
                "category": draw(st.sampled_from(["work", "work/acme", "home", "home/garden"])),
                "tags": draw(st.lists(st.sampled_from(["a", "b", "c"]), max_size=2)),
                "entities": [{"name": ends[0], "type": "T", "aliases": draw(st.lists(st.sampled_from(["AC", "PG"]), max_size=1))}],
                "relationships": [{"source": ends[0], "target": ends[1], "relationship_type": "KNOWS"}] if draw(st.booleans()) else [],
                "observed_at": NOW - timedelta(days=draw(st.integers(0, 90)), seconds=number),
                "scope": draw(st.sampled_from(SCOPES)),
                **({"session": draw(st.sampled_from(["s", "t"])), "turn": number} if draw(st.booleans()) else {}),
                **({"speaker": draw(st.sampled_from(["Ann Lee", "Bob", "Cleo"]))} if draw(st.booleans()) else {}),
            }
        )  # fmt: skip
    return made


grants = st.lists(
    st.tuples(
        st.sampled_from(GRANTEES), st.sampled_from([s for s in SCOPES if s]),
        st.lists(st.sampled_from(["read", "write", "forget"]), min_size=1, max_size=2, unique=True),
    ),
    max_size=4,
)  # fmt: skip


def without_times(value: object) -> object:
    """An answer without how long its stages took."""
    if isinstance(value, dict):
        return {name: without_times(item) for name, item in value.items() if name not in ("ms", "cursor")}
    return [without_times(item) for item in value] if isinstance(value, list | tuple) else value


def told(ask: Callable[[], Any]) -> object:
    """What a call gives or refuses, comparable."""
    try:
        given = ask()
    except GrailError as error:
        return type(error).__name__, error.message
    if hasattr(given, "to_pylist"):
        return given.to_pylist()
    said = given.to_dict()
    if said.get("abstention") and said["abstention"]["reason"] in ("nothing_stored", "not_permitted"):
        return "nothing"  # which a session says in other words
    if said.get("abstention") and "scope=" in said["abstention"]["detail"]:
        return "nothing"  # in scopes of which it may read none
    return without_times(said)


def answers(asker: Asker, questions: list[str], ids: list[str]) -> list[object]:
    """What every reading verb answers, whatever is asked."""
    asked: list[Callable[[], Any]] = [
        asker.recall,
        lambda: asker.recall(order="recorded", limit=2),
        lambda: asker.recall(tags=["a"], category="work/**"),
        lambda: asker.recall(entity_names=["Acme", "PG"]),
        lambda: asker.recall(text="pear", speaker="Bob"),
        lambda: asker.recall(scope=["user:u2", "org:store"]),
        lambda: asker.recall(session="s", min_confidence=0.5),
        asker.list_categories, asker.list_communities, asker.list_entities, asker.list_tags,
        lambda: asker.sql("SELECT id, scope, category, tags FROM observations ORDER BY id"),
        lambda: asker.sql("SELECT * FROM entities ORDER BY key"),
        lambda: asker.sql("SELECT * FROM communities ORDER BY 1"),
        lambda: asker.sql("SELECT * FROM relationships ORDER BY ALL"),
        lambda: asker.recall(mode="global"),
        lambda: asker.recall(mode="local", entity_names=["Acme"]),
        lambda: asker.recall(document="s"),
    ]  # fmt: skip
    for question in questions:
        asked += [
            lambda q=question: asker.search(q, limit=20, context=1, asked_at=NOW),
            lambda q=question: asker.recall(q, mode="local", asked_at=NOW),
            lambda q=question: asker.recall(q, mode="global", asked_at=NOW),
            lambda q=question: asker.search(q, category="home", asked_at=NOW),
        ]
    asked += [lambda i=i: asker.get(i) for i in ids]
    edges = sorted(map(str, asker.graph().edges(data=True)))
    nodes = sorted(map(str, asker.graph().nodes(data=True)))
    return [*map(told, asked), edges, nodes, [asker.ids_ending(i[-3:]) for i in ids]]


@pytest.mark.slow
@examples(25)
@given(
    made=notes(), later=notes(), granted=grants, compacted=st.booleans(), vectors=st.booleans(),
    questions=st.lists(st.lists(st.sampled_from([*WORDS, "Who", "When did Cleo"]), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=2),
    hide=st.sets(st.integers(0, 11), max_size=2),
)  # fmt: skip
def test_a_session_answers_as_if_nothing_else_were_there(
    made: list[dict[str, Any]], later: list[dict[str, Any]], granted: list[Any], compacted: bool, vectors: bool,
    questions: list[str], hide: set[int],
) -> None:  # fmt: skip
    """Whatever is stored, granted and asked, in delta and snapshot, with vectors and without."""
    embedder = hashed_words() if vectors else "none"
    root, other = never_silent(Path(tempfile.mkdtemp())), never_silent(Path(tempfile.mkdtemp()))
    try:
        with Memory(root, embedder=embedder) as memory, Memory(other, embedder=embedder) as alone:
            first = memory.add_observations(made)
            for number in hide:
                if number < len(first):
                    memory.hide(first[number].id)
            if compacted:
                memory.compact()
            memory.add_observations([{**note, "content": f"{note['content']} later"} for note in later])
            for grantee, scope, rights in granted:
                memory.grant(grantee, scope, rights)
            if vectors:
                memory.index()
            with memory.session(user_id="u1", agent_id="assistant", project_id="p") as session:
                readable = set(session.scopes)
                everything = {o.id: o for o in memory.recall(limit=100).observations}
                for o in everything.values():
                    if (o.scope or "org:store") in readable:
                        (other / o.path).parent.mkdir(parents=True, exist_ok=True)
                        shutil.copy(root / o.path, other / o.path)
                alone.sync()
                if compacted:
                    alone.compact()
                if vectors:
                    alone.index()
                ids = list(everything)
                assert answers(session, questions, ids) == answers(alone, questions, ids)
    finally:
        for path in (root, other):
            shutil.rmtree(path)


@examples(25)
@given(made=notes(), granted=grants, data=st.data())
def test_a_session_changes_only_what_it_may(
    made: list[dict[str, Any]], granted: list[Any], data: st.DataObject
) -> None:
    """Every writing verb on every observation: allowed by a grant, or refused; refused like a missing one if it is unseen."""
    root = never_silent(Path(tempfile.mkdtemp()))
    try:
        with Memory(root, embedder="none") as memory:
            written = memory.add_observations(made)
            for grantee, scope, rights in granted:
                memory.grant(grantee, scope, rights)
            with memory.session(user_id="u1", agent_id="assistant", project_id="p") as session:
                for one, note in zip(written, made, strict=True):
                    scope = note["scope"] or "org:store"
                    held = {
                        right
                        for grantee, where, rights in granted
                        if where == scope and grantee in session.principal.grantees
                        for right in ("read", *rights)
                    }
                    held = {"read", "write", "forget"} if scope == session.principal.private else held
                    verb, needed = data.draw(st.sampled_from(list(NEEDED.items())))
                    before = bytes_of(root)
                    said = told(lambda i=one.id, verb=verb: CALLS[verb](session, i))
                    if needed <= held:
                        assert isinstance(said, dict), said
                        continue
                    assert before == bytes_of(root)
                    never = told(lambda verb=verb: CALLS[verb](session, MISSING))
                    assert isinstance(said, tuple)
                    if "read" in held:
                        assert said[0] == "AccessError"
                    else:
                        assert (said[0], said[1].replace(one.id, MISSING)) == never
    finally:
        shutil.rmtree(root)


MISSING = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
NEEDED = {
    "update": {"write"},
    "move": {"write"},
    "hide": {"forget"},
    "rescope": {"write", "forget"},  # those who are left cannot read it any more
}
CALLS: dict[str, Callable[[Session, str], Any]] = {
    "update": lambda session, i: session.update(i, append="more"),
    "move": lambda session, i: session.move(i, "elsewhere"),
    "hide": lambda session, i: session.hide(i),
    "rescope": lambda session, i: session.update(i, scope="private"),
}


def bytes_of(root: Path) -> dict[Path, bytes]:
    """Every observation file."""
    return {path: path.read_bytes() for path in sorted((root / "memories").rglob("*.md"))}
