"""In a session, trust comes from quotes: other words keep no label that they do not earn, and nothing rises without a new quote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory, UnsupportedEvidenceError
from grail_mem.memory.session import Session

TURNS = [
    {"role": "user", "id": "1", "text": "I drink green tea every morning."},
    {"role": "assistant", "id": "2", "text": "You drink black coffee every morning."},
    {"role": "user", "id": "3", "text": "I drink black coffee every morning."},
    {"role": "user", "id": "4", "text": "As I said, I drink green tea every morning."},
]
TEA = {"quote": "I drink green tea every morning.", "source": "sources/chats/talk.jsonl#turn=0"}
GUESS = {"quote": "You drink black coffee every morning.", "source": "sources/chats/talk.jsonl#turn=1"}
COFFEE = {"quote": "I drink black coffee every morning.", "source": "sources/chats/talk.jsonl#turn=2"}
AGAIN = {"quote": "I drink green tea every morning", "source": "sources/chats/talk.jsonl#turn=3"}
CLAIM, OTHER = "I drink green tea every morning", "I drink black coffee every morning"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "store") as memory:
        memory.ingest_chat(TURNS, session="talk")
        memory.grant("user:u1", "org:store", ["read", "write", "forget"])
        yield memory


@pytest.fixture
def session(memory: Memory) -> Iterator[Session]:
    with memory.session(user_id="u1", agent_id="a1", session="talk") as session:
        yield session


def said(memory: Memory, **more: Any) -> str:
    return memory.remember(CLAIM, evidence=TEA, **more).id


@pytest.mark.parametrize(
    "patch",
    [
        {"content": OTHER},
        {"title": OTHER},
        {"append": "They hate tea of any other kind."},
        {"content": OTHER, "evidence": GUESS, "source_kind": "user_statement"},
        {"content": OTHER, "evidence": None},
        {"content": OTHER, "source_kind": "agent_inference"},
    ],
    ids=str,
)
def test_other_words_of_a_session_keep_no_label_without_a_quote(
    memory: Memory, session: Session, patch: dict[str, Any]
) -> None:
    """Whatever a session changes, what is left as a user's word is what a quote of the user says."""
    id_ = said(memory)
    before = memory.get(id_)
    try:
        session.update(id_, **patch)
    except UnsupportedEvidenceError:
        assert memory.get(id_) == before
    else:
        assert memory.get(id_).source_kind == "agent_inference"


def test_a_label_without_a_quote_goes_only_when_it_is_given_up(memory: Memory, session: Session) -> None:
    """What the application labelled as a user's word is not put into other words by an agent."""
    id_ = memory.add_observation(content=CLAIM, source_kind="user_statement").id
    with pytest.raises(UnsupportedEvidenceError, match="label user_statement"):
        session.update(id_, content=OTHER)
    assert session.update(id_, tags=["tea"]).changed
    assert session.update(id_, content=OTHER, source_kind="agent_inference").changed
    assert memory.get(id_).source_kind == "agent_inference"


def test_other_words_with_a_quote_that_says_them_are_the_users(memory: Memory, session: Session) -> None:
    id_ = said(memory)
    session.update(id_, content=OTHER, title=OTHER, evidence=COFFEE)
    changed = memory.get(id_)
    assert (changed.content, changed.source_kind, changed.confidence) == (OTHER, "user_statement", 0.95)
    assert [item.quote for item in changed.evidence] == [COFFEE["quote"]]


def test_words_of_less_account_lower_the_label(memory: Memory, session: Session) -> None:
    id_ = said(memory)
    session.update(id_, content="You drink black coffee every morning.", evidence=GUESS)
    changed = memory.get(id_)
    assert (changed.source_kind, changed.confidence) == ("agent_inference", 0.6)


def test_the_owner_edits_and_is_told(memory: Memory) -> None:
    id_ = said(memory)
    done = memory.update(id_, content=OTHER)
    assert done.warnings == ("no quote says what it says now; its evidence and label stay as they are.",)
    assert memory.get(id_).source_kind == "user_statement"


@pytest.mark.parametrize(
    "patch",
    [{"status": "confirmed"}, {"source_kind": "user_statement"}, {"source_kind": None}, {"confidence": 0.9}, {"expires_at": None}],
    ids=str,
)  # fmt: skip
def test_a_session_raises_nothing_by_itself(memory: Memory, session: Session, patch: dict[str, Any]) -> None:
    """Status, kind of source, confidence beyond what its kind counts for, and the end of what is provisional."""
    id_ = memory.add_observation(
        content=CLAIM, source_kind="agent_inference", status="provisional", confidence=0.5, expires_at="2099-01-01"
    ).id
    before = memory.get(id_)
    for more in ({}, {"evidence": COFFEE}) if "confidence" not in patch else ({},):  # which a quote caps anyway
        with pytest.raises(UnsupportedEvidenceError, match="A session raises"):
            session.update(id_, **patch, **more)
    assert memory.get(id_) == before
    assert session.update(id_, confidence=0.2).changed
    assert session.update(id_, **patch, evidence=TEA).changed


def test_the_quote_that_was_there_raises_nothing(memory: Memory, session: Session) -> None:
    id_ = memory.add_observation(content=CLAIM, status="provisional", evidence=TEA).id
    with pytest.raises(UnsupportedEvidenceError, match="new quote"):
        session.update(id_, status="confirmed", evidence=TEA)
    assert session.update(id_, status="confirmed", evidence=AGAIN).changed


def test_a_session_confirms_with_a_new_quote_alone(memory: Memory, session: Session) -> None:
    """No statement of its own, and nobody else's, becomes surer since an agent says so."""
    id_ = memory.add_observation(content=CLAIM, source_kind="agent_inference", status="provisional", confidence=0.5).id
    before = memory.get(id_)
    for evidence in (None, COFFEE):
        with pytest.raises(UnsupportedEvidenceError, match="A session confirms"):
            session.revise(id_, action="confirm", reason="I am sure", evidence=evidence)
    assert memory.get(id_) == before
    session.revise(id_, action="confirm", reason="they said so", evidence=TEA["quote"])  # stands in its conversation
    now = memory.get(id_)
    assert (now.status, now.source_kind, now.confidence) == ("confirmed", "user_statement", 0.75)
    with pytest.raises(UnsupportedEvidenceError, match="A session confirms"):
        session.revise(id_, action="confirm", reason="once more", evidence=TEA)
    memory.revise(id_, action="confirm", reason="the owner says so")


@pytest.mark.parametrize("action", ["correct", "supersede"])
def test_a_session_replaces_a_users_word_with_a_users_word(memory: Memory, session: Session, action: str) -> None:
    id_ = said(memory)
    for evidence in (None, GUESS, TEA):
        with pytest.raises(UnsupportedEvidenceError, match="replaces"):
            session.revise(id_, action=action, reason="changed", content=OTHER, evidence=evidence)
    assert memory.get(id_).superseded_by is None
    done = session.revise(id_, action=action, reason="changed", content=OTHER, evidence=COFFEE)
    new = memory.get(done.new_id)
    assert (new.source_kind, new.confidence, memory.get(id_).superseded_by) == ("user_statement", 0.95, done.new_id)


def test_what_a_session_disputes_stands_beside_with_its_own_label(memory: Memory, session: Session) -> None:
    id_ = said(memory, attribute="u1/morning-drink")
    done = session.revise(id_, action="dispute", reason="not sure", content=OTHER)
    new = memory.get(done.new_id)
    assert (new.source_kind, new.confidence, new.evidence) == ("agent_inference", 0.6, ())
    assert memory.get(id_).superseded_by is None


def test_what_nobody_labelled_is_changed_as_before(memory: Memory, session: Session) -> None:
    id_ = session.add_observation(content="Prefers short answers.").id
    assert session.update(id_, append="In the evening.").changed
    done = session.revise(id_, action="supersede", reason="said otherwise", content="Prefers long answers.")
    assert session.get(id_).superseded_by == done.new_id


def test_a_way_through_the_archive_raises_nothing(session: Session) -> None:
    """What was put away is as sure as before when it comes back, by whichever verb it went and comes."""
    ends = "2099-01-01T00:00:00Z"
    for status in ("provisional", "superseded"):
        said_ = f"The lamp is {status}."
        own = session.add_observation(content=said_, status="provisional", expires_at=ends).id
        session.update(own, status=status)
        if status == "provisional":
            session.archive(own)
            with pytest.raises(UnsupportedEvidenceError):
                session.update(own, status="confirmed")
            with pytest.raises(UnsupportedEvidenceError):
                session.update(own, expires_at=None)
            assert session.unarchive(own).changed
        session.update(own, status="archived")
        with pytest.raises(UnsupportedEvidenceError):
            session.update(own, status="confirmed")
        assert session.unarchive(own).changed
        (left,) = session.recall(text=said_, include_history=True).observations
        assert (left.status, "status_before" in left.extra) == (status, False)
