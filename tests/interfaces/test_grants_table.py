"""Every verb of a session with every right: what it needs, and how it is refused without."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory
from grail_mem.errors import AccessError, GrailError, NotFoundError
from grail_mem.memory.session import Session
from grail_mem.model.scope import RIGHTS
from grail_mem.project import SESSION_VERBS

SCOPE = "project:grail"
SECRET = "zanzibar"
Call = Callable[[Session, str], Any]

SEES: dict[str, Call] = {
    "recall": lambda s, _: s.recall(text=SECRET),
    "search": lambda s, _: s.search(f"What about {SECRET}?"),
    "prepare_turn_context": lambda s, _: s.prepare_turn_context(f"What about {SECRET}?").to_dict(),
    "list_observations": lambda s, _: s.list_observations(),
    "list_categories": lambda s, _: s.list_categories(),
    "list_communities": lambda s, _: s.list_communities(),
    "list_entities": lambda s, _: s.list_entities(),
    "list_tags": lambda s, _: s.list_tags(),
    "sql": lambda s, _: s.sql("SELECT * FROM observations").to_pylist(),
    "graph": lambda s, _: list(s.graph().edges(data=True)),
    "scan": lambda s, _: s.scan().to_dict(),
    "ids_ending": lambda s, i: s.ids_ending(i[-4:]),
    "proposals": lambda s, _: [p.to_dict() for p in s.proposals(status="all")],
    "due": lambda s, _: [item.to_dict() for item in s.due(within="90d")],
    "verify": lambda s, _: s.verify(),
    "log": lambda s, _: s.log(),
    "export": lambda s, _: _exported(s),
}
"""Verbs that answer with what may be read, and with nothing else."""

NEEDS: dict[str, tuple[str, Call]] = {
    "get": ("read", lambda s, i: s.get(i)),
    "cite": ("read", lambda s, i: s.cite(i)),
    "history": ("read", lambda s, i: s.history(i)),
    "revise": ("write", lambda s, i: s.revise(i, action="dispute", reason="checked")),
    "pin": ("write", lambda s, i: s.pin(i)),
    "unpin": ("write", lambda s, i: s.unpin(i)),
    "archive": ("write", lambda s, i: s.archive(i)),
    "unarchive": ("write", lambda s, i: s.unarchive(i)),
    "erase": ("forget", lambda s, i: s.erase(i, reason="asked")),
    "update": ("write", lambda s, i: s.update(i, tags=["more"])),
    "move": ("write", lambda s, i: s.move(i, "elsewhere")),
    "hide": ("forget", lambda s, i: s.hide(i)),
    "restore": ("forget", lambda s, i: s.restore(i)),
}
"""Verbs over one observation, with the right that each needs."""

OTHERS = {
    "add_observation": "test_a_session_writes_where_it_may",
    "add_observations": "test_a_session_writes_where_it_may",
    "remember": "test_a_session_writes_where_it_may",
    "ingest_chat": "test_a_session_writes_where_it_may",
    "ingest_text": "test_a_session_writes_where_it_may",
    "list_sources": "test_sources_are_seen_observed_and_extracted_where_it_may",
    "observe": "test_sources_are_seen_observed_and_extracted_where_it_may",
    "extract": "test_sources_are_seen_observed_and_extracted_where_it_may",
    "hide_selected": "test_conditions_mean_what_may_be_seen",
    "consolidate": "test_proposals_are_made_and_decided_where_it_may",
    "apply": "test_proposals_are_made_and_decided_where_it_may",
    "reject": "test_proposals_are_made_and_decided_where_it_may",
    "undo": "test_proposals_are_made_and_decided_where_it_may",
    "complete_turn": "it keeps what the session's own turns say, tests/turn/test_turn_hooks.py",
    "opening": "it is three recalls, tests/turn/test_turn_hooks.py",
    "finish": "it submits what the session's own turns say, tests/write/test_extraction.py",
    "submit": "its rights are tested with the candidates, tests/write/test_candidate_files.py",
    "candidates": "as submit",
    "approve": "as submit",
    "decline": "as submit",
    "close": "it changes nothing and shows nothing",
}
"""Verbs with a test of their own below, or the reason for none."""


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Memory(tmp_path, embedder="none") as opened:
        yield opened


@pytest.fixture
def stored(memory: Memory) -> str:
    memory.ingest_chat([{"role": "user", "text": f"{SECRET} is what nobody else may know."}], session="s", scope=SCOPE)
    return memory.add_observation(
        title=f"About {SECRET}", content=f"{SECRET} is what nobody else may know; password=hunter2", category=f"{SECRET}/deep", tags=[SECRET],
        entities=[SECRET, "Acme"], relationships=[{"source": SECRET, "target": "Acme", "relationship_type": "OWNS"}],
        scope=SCOPE, review_at="2026-01-01", evidence={"quote": f"{SECRET} is what nobody else may know", "session": "s"},
    ).id  # fmt: skip


def _exported(session: Session) -> str:
    out = BytesIO()
    session.export(out)
    return out.getvalue().decode()


def said(call: Call, session: Session, id_: str) -> tuple[str, str]:
    """What a call says, as text: a name of what it gives, and the words."""
    try:
        given = call(session, id_)
    except GrailError as error:
        return type(error).__name__, str(error)
    return "given", str(given.to_dict() if hasattr(given, "to_dict") else given)


def test_every_verb_of_a_session_is_in_the_table() -> None:
    """A new verb is told here what it needs."""
    assert {*SEES, *NEEDS, *OTHERS} == set(SESSION_VERBS)
    assert {name for name in OTHERS.values() if name.startswith("test_")} <= set(globals())


@pytest.mark.parametrize("verb", SEES)
@pytest.mark.parametrize("right", [None, *RIGHTS])
def test_answers_hold_only_what_may_be_read(memory: Memory, stored: str, verb: str, right: str | None) -> None:
    """Without a grant no answer says a word of it, nor its id; with any grant the reading verbs show it."""
    if right:
        memory.grant("user:u1", SCOPE, right)
    with memory.session(user_id="u1", agent_id="a") as session:
        name, words = said(SEES[verb], session, stored)
        assert name == "given", words
        shown = SECRET in words.replace(f"What about {SECRET}?", "") or stored in words
        assert shown == (right is not None and verb != "proposals"), words


@pytest.mark.parametrize("verb", NEEDS)
@pytest.mark.parametrize("right", [None, *RIGHTS])
def test_one_observation_needs_the_right(memory: Memory, stored: str, verb: str, right: str | None) -> None:
    """With the right it is done; without it is refused; unseen it is refused in the words for what is not there."""
    needed, call = NEEDS[verb]
    if verb == "restore":
        memory.hide(stored)
    if right:
        memory.grant("user:u1", SCOPE, right)
    missing = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
    with memory.session(user_id="u1", agent_id="a") as session:
        name, words = said(call, session, stored)
        if right is None:
            assert (name, words.replace(stored, missing)) == said(call, session, missing)
            assert name == NotFoundError.__name__
        elif needed in ("read", right):
            assert name == "given", words
        else:
            assert name == AccessError.__name__
            assert needed in words


@pytest.mark.parametrize("right", [None, *RIGHTS])
def test_a_session_writes_where_it_may(memory: Memory, right: str | None) -> None:
    """Its own scope always; another by grant alone; a batch is written wholly or not at all."""
    if right:
        memory.grant("user:u1", SCOPE, right)
    with memory.session(user_id="u1", agent_id="a", project_id="grail") as session:
        own = session.add_observation(content="mine")
        quote = "We chose Postgres for the orders."
        session.remember(quote, evidence=quote)
        session.ingest_text("A text of some length.")
        for call in (
            lambda: session.remember(quote, evidence=quote, scope="project", session="other"),
            lambda: session.ingest_chat([{"role": "user", "text": "Hello there, friend."}], scope="project"),
            lambda: session.ingest_text("Another text of some length.", scope="project"),
        ):
            if right == "write":
                call()
            else:
                with pytest.raises(AccessError, match="write"):
                    call()
        assert memory.get(own.id).scope == "agent:a/u1"
        drafts = [{"content": "also mine", "scope": "private"}, {"content": "theirs", "scope": "project"}]
        if right == "write":
            assert [memory.get(one.id).scope for one in session.add_observations(drafts)] == ["agent:a/u1", SCOPE]
            assert memory.get(session.add_observation(content="ours", scope=SCOPE).id).scope == SCOPE
        else:
            for call in (
                lambda: session.add_observations(drafts),
                lambda: session.add_observation(content="x", scope=SCOPE),
            ):
                with pytest.raises(AccessError, match="write"):
                    call()
            assert {o.scope for o in memory.recall().observations} == {"agent:a/u1"}


@pytest.mark.parametrize("right", [None, *RIGHTS])
def test_sources_are_seen_observed_and_extracted_where_it_may(memory: Memory, right: str | None) -> None:
    """A conversation and a document of another scope are in no list and no count; what is made of them needs its right."""
    memory.ingest_chat([{"role": "user", "text": f"I prefer {SECRET} to coffee."}], session=SECRET, scope=SCOPE)
    memory.ingest_text(f"{SECRET} once more.", title=SECRET, scope=SCOPE)
    if right:
        memory.grant("user:u1", SCOPE, right)
    with memory.session(user_id="u1", agent_id="a") as session:
        session.ingest_text("A text of its own.", title="own")
        listed = session.list_sources()
        assert listed.total == len(listed.items) == (3 if right else 1)
        assert (SECRET in str(listed.to_dict())) == bool(right)
        assert not session.observe(SECRET).written, "the conversation of that name is another scope's"
        assert not session.extract(SECRET).submitted
        for needed, call in (("write", session.observe), ("propose", session.extract)):
            if right == needed:
                (made,) = call(SECRET, scope=SCOPE).to_dict()["written" if needed == "write" else "submitted"]
                assert made["created"]
            else:
                with pytest.raises(AccessError, match=needed):
                    call(SECRET, scope=SCOPE)
    assert {o.scope for o in memory.recall().observations} == ({SCOPE} if right == "write" else set())
    assert len(memory.candidates()) == (right == "propose")


@pytest.mark.parametrize("right", [None, *RIGHTS])
def test_proposals_are_made_and_decided_where_it_may(memory: Memory, right: str | None) -> None:
    """`propose` finds them in that scope, `apply` decides on them; nobody else hears of them."""
    text = "Acme moved its whole order service from DynamoDB to Postgres in June after the second review of the costs."
    for folder in ("a", "b"):
        memory.add_observation(content=text, category=folder, scope=SCOPE)
    if right:
        memory.grant("user:u1", SCOPE, right)
    with memory.session(user_id="u1", agent_id="a") as session:
        found = session.consolidate(kinds=["merge_duplicates"])
        assert bool(len(found)) == (right == "propose")
        if not found.proposals:
            memory.consolidate(kinds=["merge_duplicates"])
        (proposal,) = memory.proposals()
        assert [p.id for p in session.proposals()] == ([proposal.id] if right else [])
        for call in (session.apply, session.undo, session.reject):
            if right is None:
                with pytest.raises(NotFoundError):
                    call(proposal.id)
            elif right == "apply":
                (outcome,) = call(proposal.id)
                assert outcome.done == (call != session.reject or outcome.status == "rejected"), outcome
            else:
                with pytest.raises(AccessError, match="apply"):
                    call(proposal.id)


def test_a_run_of_a_session_keeps_the_proposals_of_others(memory: Memory) -> None:
    """What waits in scopes that a session does not see waits on after its run."""
    for scope in (SCOPE, "agent:a/u1"):
        for folder in ("a", "b"):
            text = f"Acme of {scope} moved its order service from DynamoDB to Postgres in June after the review of the costs."
            memory.add_observation(content=text, category=f"{folder}", scope=scope)
    before = {p.id for p in memory.consolidate(kinds=["merge_duplicates"])}
    assert len(before) == 2
    with memory.session(user_id="u1", agent_id="a") as session:
        session.add_observation(content="Something else altogether.")
        assert len(session.consolidate(kinds=["merge_duplicates"])) == 1
    assert {p.id for p in memory.proposals()} == before


def test_a_run_of_a_session_tells_of_no_file_that_all_share(memory: Memory) -> None:
    """A damaged file of proposals is told to the owner alone: it may hold what is others', and its name is theirs to know."""
    for folder in ("a", "b"):
        text = "Acme of ours moved its order service from DynamoDB to Postgres in June after the review of the costs."
        memory.add_observation(content=text, category=folder, scope=SCOPE)
    made = memory.consolidate(kinds=["merge_duplicates"])
    (memory.root / made.path).with_name("0-damaged.json").write_text('{"proposals": [{"secret": ')
    assert "0-damaged.json" in str(memory.consolidate(kinds=["merge_duplicates"]).problems)
    with memory.session(user_id="u1", agent_id="a") as session:
        assert session.consolidate(kinds=["merge_duplicates"]).problems == ()


@pytest.mark.parametrize("right", [None, *RIGHTS])
def test_conditions_mean_what_may_be_seen(memory: Memory, stored: str, right: str | None) -> None:
    """Hiding and erasing by session, speaker or scope find what may be read and need `forget`; the rest is not there."""
    if right:
        memory.grant("user:u1", SCOPE, right)
    with memory.session(user_id="u1", agent_id="a") as session:
        for call in (
            lambda: session.hide_selected(scope=SCOPE), lambda: session.erase(scope=SCOPE, reason="asked"),
        ):  # fmt: skip
            if right == "forget":
                call()
            else:
                with pytest.raises(NotFoundError if right is None else AccessError):
                    call()
                assert memory.get(stored).id == stored


def test_nobody_but_the_application_says_who_acts(memory: Memory) -> None:
    """No verb of a session takes another actor, and the ledger names the pair."""
    with memory.session(user_id="u1", agent_id="a") as session:
        written = session.add_observation(content="mine")
        named: dict[str, dict[str, Any]] = {"revise": {"action": "dispute", "reason": "r"}, "erase": {"reason": "r"}}
        for name, verb in SESSION_VERBS.items():
            if "actor" in inspect.signature(verb).parameters and name in NEEDS:
                more = ("x",) if name == "move" else ()
                with pytest.raises(AccessError, match="session"):
                    getattr(session, name)(written.id, *more, **named.get(name, {}), actor="owner")
        with pytest.raises(AccessError, match="session"):
            session.add_observation(content="x", actor="owner")
    lines = b"".join(path.read_bytes() for path in (memory.root / ".grail" / "ledger").iterdir())
    assert b'"actor":"agent:a/u1"' in lines
