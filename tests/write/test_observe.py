"""Turns of a conversation as observations: each once, with its words, and no surer than who said them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grail_mem import AccessError, InputError, Memory
from grail_mem.write.evidence import CAPS

TURNS = [
    {"id": "a", "role": "user", "speaker": "Anna", "text": "I moved to Leeds in May.", "at": "2026-06-02T10:00:00Z"},
    {"id": "b", "role": "assistant", "text": "Do you like it there?"},
    {"id": "c", "role": "tool", "text": "The weather in Leeds is mild today."},
    {"id": "d", "role": "user", "speaker": "Anna", "text": "Yes."},
]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    opened = Memory(tmp_path, embedder="none")
    opened.ingest_chat(TURNS, session="s")
    return opened


def contents(memory: Memory) -> list[str]:
    return [o.content for o in memory.recall(session="s", order="oldest").observations]


def test_what_was_said_is_found(memory: Memory) -> None:
    """Words, speaker, time and place of a turn are those of its observation, which quotes it."""
    assert memory.recall().abstention.reason == "nothing_stored"  # type: ignore[union-attr]
    done = memory.observe("s")
    assert ([one.created for one in done.written], done.n_turns, done.n_known) == ([True] * 3, 3, 0)
    assert done.warnings == ("what tools and systems said was passed over: 1 of 4 turns.",)
    said = {o.turn: o for o in memory.recall(session="s").observations}
    assert set(said) == {0, 1, 3}
    first = said[0]
    assert (first.content, first.speaker, first.category, first.kind) == (
        TURNS[0]["text"],
        "Anna",
        "chats/s",
        "episodic",
    )
    assert first.observed_at.isoformat() == "2026-06-02T10:00:00+00:00"
    assert [(e.source, e.span, e.checker) for e in first.evidence] == [
        ("sources/chats/s.jsonl#turn=0", (0, 24), "verbatim")
    ]
    assert (said[1].source_kind, said[1].confidence) == ("agent_inference", CAPS["agent_inference"])
    assert not said[3].evidence, "one word stands anywhere"
    assert said[3].source == "sources/chats/s.jsonl#turn=3"
    assert memory.search("Where did Anna move to?").observations[0].id == first.id
    assert {one.status for one in memory.verify().quotes} == {"verified"}
    assert (
        "> I moved to Leeds in May." in memory.cite(first.id).text or "I moved to Leeds" in memory.cite(first.id).text
    )


def test_a_turn_becomes_an_observation_once(memory: Memory) -> None:
    """Whatever people did to the note since: moved it, wrote over it, or took it away."""
    first, second, third = (one.id for one in memory.observe("s").written)
    memory.move(first, "elsewhere")
    memory.update(second, content="The assistant asked whether Anna likes Leeds.")
    memory.hide(third)
    again = memory.observe("s")
    assert (again.written, again.n_known) == ((), 2)
    assert again.warnings[0] == "turn 3 was left out: an observation that says it is hidden."
    memory.erase(third, reason="asked")
    assert "turn 3 was left out: the same was erased on" in memory.observe("s").warnings[0]
    memory.ingest_chat([{"role": "user", "text": "And the rent is lower."}], session="s")
    assert [memory.get(one.id).content for one in memory.observe("s").written] == ["And the rent is lower."]


def test_a_corrected_turn_replaces_what_it_said_before(memory: Memory) -> None:
    """The former words are no second memory beside the present ones."""
    memory.observe("s")
    memory.ingest_chat(
        [{"role": "user", "speaker": "Anna", "text": "I moved to Leeds in March.", "id": "a", "correction": True}],
        session="s",
    )
    (done,) = memory.observe("s").written
    former = memory.get(str(memory.get(done.id).supersedes))
    assert (former.content, former.superseded_by) == ("I moved to Leeds in May.", done.id)
    assert contents(memory) == ["Do you like it there?", "Yes.", "I moved to Leeds in March."]
    assert memory.observe("s").written == ()


def test_a_long_turn_is_observed_whole_and_quoted_in_part(memory: Memory) -> None:
    text = "The harbour was quiet that day. " * 200
    memory.ingest_chat([{"role": "user", "text": text}], session="long")
    (done,) = memory.observe("long").written
    made = memory.get(done.id)
    assert made.content.strip() == text.strip()
    assert text.startswith(made.evidence[0].quote)
    assert memory.verify().quotes[-1].status == "verified"
    assert memory.observe("long").written == ()


def test_what_goes_with_the_conversation_goes(memory: Memory) -> None:
    memory.observe("s")
    memory.erase(session="s", reason="asked")
    assert memory.recall(include_history=True).observations == ()
    assert memory.observe("s").written == ()


def test_two_scopes_have_conversations_of_one_name(memory: Memory) -> None:
    """Whose a turn is decides whose its observation is."""
    with memory.session(user_id="u1", agent_id="a", session="s") as session:
        session.ingest_chat([{"role": "user", "text": "I prefer the window seat."}])
        (made,) = session.observe().written
        assert session.get(made.id).scope == "agent:a/u1"
        with pytest.raises(AccessError):
            session.observe("s", scope="org:store")
    assert memory.observe("s").n_turns == 3


@pytest.mark.parametrize(
    ("values", "said"), [({"session": 3}, "session"), ({"session": "s", "category": "../x"}, "category")]
)
def test_what_cannot_be_used_is_refused(memory: Memory, values: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        memory.observe(**values)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="session"):
        memory.observe()
    assert memory.recall().observations == ()


def test_a_conversation_that_is_not_there_says_so(memory: Memory) -> None:
    assert memory.observe("other").warnings == ("There are no turns of the conversation 'other' that can be observed.",)
