"""Quotes of a conversation in `revise` and in claims for another scope: looked up, judged, and counted by who said them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grail_mem import Memory
from grail_mem.errors import ConflictError, EvidenceNotFoundError, InputError, NotFoundError, UnsupportedEvidenceError
from grail_mem.memory.session import Session

TEA, COFFEE = "I prefer green tea over coffee", "I prefer coffee over green tea"
AGAIN = "I prefer green tea over coffee, still."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder="none") as opened:
        yield opened


@pytest.fixture
def session(memory: Memory) -> Iterator[Session]:
    with memory.session(user_id="u1", agent_id="a", session="chat/1") as made:
        made.ingest_chat(
            [
                {"role": "user", "text": f"{TEA}. That is all for now."},
                {"role": "assistant", "text": "So tea is over for you, I take it."},
                {"role": "tool", "text": "The weather is fine all over the country."},
                {"role": "user", "text": AGAIN},
                {"role": "user", "text": f"{COFFEE}."},
            ]
        )
        yield made


def told(session: Session) -> str:
    return session.remember("The user prefers green tea over coffee.", evidence=TEA).id


def test_a_quote_of_the_session_is_located(session: Session) -> None:
    """Its place, digest and speaker are kept; one that stands nowhere is refused, and nothing changes."""
    id_ = told(session)
    session.revise(id_, action="confirm", reason="said again", evidence=AGAIN, session="chat/1")
    found = session.get(id_).evidence[-1]
    assert (found.role, bool(found.sha256), found.source.endswith("#turn=3")) == ("user", True, True)
    with pytest.raises(EvidenceNotFoundError):
        session.revise(id_, action="confirm", reason="r", evidence="I cannot stand any coffee", session="chat/1")
    assert len(session.get(id_).evidence) == 2
    with pytest.raises(InputError, match="source_kind"):
        session.revise(id_, action="confirm", reason="r", source_kind="gossip")


@pytest.mark.parametrize(
    "quote", [None, "So tea is over for you, I take it", "The weather is fine all over the country"]
)
@pytest.mark.parametrize("action", ["correct", "supersede", "expire"])
def test_less_authority_takes_nothing_away(session: Session, action: str, quote: str | None) -> None:
    """Neither a conclusion nor the words of an assistant or a tool end what a person said; a dispute may be told."""
    id_ = told(session)
    content = {} if action == "expire" else {"content": quote or "The user prefers water."}
    with pytest.raises((ConflictError, UnsupportedEvidenceError)):
        session.revise(
            id_, action=action, reason="r", evidence=quote, session="chat/1", source_kind="agent_inference", **content
        )
    assert (session.get(id_).status, session.get(id_).valid_until) == ("confirmed", None)
    session.revise(id_, action="dispute", reason="r", session="chat/1", source_kind="agent_inference")


def test_the_words_of_the_person_do(session: Session) -> None:
    """What the user said later takes the place, with the authority of the user."""
    made = session.revise(
        told(session), action="supersede", reason="r", content="The user prefers coffee over green tea.", evidence=COFFEE,
        session="chat/1", source_kind="agent_inference",
    )  # fmt: skip
    assert session.get(made.new_id).source_kind == "user_statement"


def test_a_conversation_without_a_transcript_keeps_the_words_without_a_place(memory: Memory) -> None:
    """Nothing can be looked up there, which is said."""
    id_ = memory.add_observation(content="The user prefers green tea over coffee.", source_kind="agent_inference").id
    made = memory.revise(
        id_, action="confirm", reason="r", evidence=TEA, session="nowhere", source_kind="agent_inference"
    )
    assert "not recorded" in made.warnings[0]
    assert (memory.get(id_).evidence[0].source, memory.get(id_).evidence[0].sha256) == ("", "")


def test_where_a_transcript_is_required_a_session_quotes_nothing_that_was_not_ingested(tmp_path: Path) -> None:
    """No model can make up what a person said; what was recorded from a quote alone before counts no more. The owner may."""
    with (
        Memory(tmp_path, embedder="none") as memory,
        memory.session(user_id="u1", agent_id="a", session="old") as session,
    ):
        session.remember("The user prefers green tea over coffee.", evidence=TEA)
    (tmp_path / "grail.yaml").write_text("transcript: required\n")
    claim, quote = "The user keeps bees in the garden.", "I keep bees in the garden."
    with Memory(tmp_path, embedder="none") as memory:
        for name in ("old", "new"):
            with memory.session(user_id="u1", agent_id="a", session=name) as session:
                with pytest.raises(EvidenceNotFoundError, match="nothing to be read"):
                    session.remember(claim, evidence=quote)
                with pytest.raises(EvidenceNotFoundError):
                    session.remember(f"{TEA}, says the user.", evidence=TEA)
        with memory.session(user_id="u1", agent_id="a", session="new") as session:
            session.ingest_chat([{"role": "user", "text": quote}])
            assert session.remember(claim, evidence=quote).status == "confirmed"
        assert memory.remember(
            "I keep a hive in the barn.", evidence="I keep a hive in the barn.", session="own"
        ).created


def test_a_claim_for_another_scope_rests_on_the_own_transcript(memory: Memory, session: Session) -> None:
    """The quote must have been said here, and its speaker counts, whatever role the caller names."""
    memory.grant("user:u1", "project:grail", "write")
    scope = "project:grail"
    made = session.remember("The user prefers green tea over coffee.", evidence=TEA, scope=scope)
    assert memory.get(made.id).evidence[0].role == "user"
    said = "The weather is fine all over the country"
    other = session.remember(said, evidence=said, scope=scope, role="user")
    assert memory.get(other.id).source_kind == "tool_result"
    with pytest.raises(EvidenceNotFoundError):
        session.remember("The user prefers water over wine.", evidence="I prefer water over wine", scope=scope)


def test_several_are_hidden_by_their_ids_or_none(memory: Memory) -> None:
    """One id that is not there leaves all of them."""
    ids = [memory.add_observation(content=f"Plan {name}").id for name in "AB"]
    with pytest.raises(NotFoundError):
        memory.hide_selected([*ids, "01JZZZZZZZZZZZZZZZZZZZZZZZ"])
    assert len(memory.hide_selected(ids, dry_run=True)) == len(memory.recall().observations) == 2
    memory.hide_selected(ids)
    assert not memory.recall().observations
