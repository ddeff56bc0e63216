"""What comes before the model is asked, and what is kept of a conversation, in the frameworks that have a place for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripts import Call, Script

from grail_mem import Memory
from grail_mem.memory.session import Session

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::PendingDeprecationWarning", "ignore::ImportWarning"
)  # among frameworks


@pytest.fixture
def ana(tmp_path: Path) -> Iterator[Session]:
    with (
        Memory(tmp_path / "store", embedder="none") as memory,
        memory.session(user_id="ana", agent_id="helper", session="chat/1") as session,
    ):
        session.add_observation(content="Ana drinks green tea at four.")
        yield session


def turns(session: Session) -> list[tuple[str, str]]:
    """What the transcripts of the store hold."""
    lines = [line for path in session.root.glob("sources/**/*.jsonl") for line in path.read_text().splitlines()]
    said = [json.loads(line) for line in lines]
    return [(turn["role"], turn["text"]) for turn in said if "role" in turn]


@pytest.mark.parametrize("agent", ["create_agent", "create_deep_agent"])
def test_what_is_known_comes_as_a_tool_result(ana: Session, agent: str) -> None:
    pytest.importorskip("deepagents")
    from deepagents import create_deep_agent
    from graphs import scripted_model
    from langchain.agents import create_agent
    from langgraph.checkpoint.memory import InMemorySaver

    from grail_mem.adapters.deepagents import MemoryMiddleware

    script = Script(["Green tea.", "You are welcome."])
    made = {"create_agent": create_agent, "create_deep_agent": create_deep_agent}[agent](
        scripted_model(script), system_prompt="Help.", middleware=[MemoryMiddleware(ana)], checkpointer=InMemorySaver()
    )
    thread: Any = {"configurable": {"thread_id": "1"}}
    made.invoke({"messages": [("user", "Which tea does Ana drink?")]}, thread)
    made.invoke({"messages": [("user", "Zxqv!")]}, thread)
    first, second = script.requests
    assert len(first.results) == 1, "the search stands in the conversation as one tool call with one result"
    assert "green tea at four" in first.results[0]
    assert second.results == first.results, "nothing is known of the second message, so nothing is added"
    assert second.system == first.system
    assert second.behind[: len(first.behind)] == first.behind
    assert turns(ana) == [
        ("user", "Which tea does Ana drink?"), ("assistant", "Green tea."), ("user", "Zxqv!"), ("assistant", "You are welcome."),
    ]  # fmt: skip


def test_a_quote_of_the_message_is_evidence_in_the_same_turn(ana: Session) -> None:
    pytest.importorskip("deepagents")
    from graphs import scripted_model
    from langchain.agents import create_agent

    from grail_mem.adapters.deepagents import MemoryMiddleware

    quote = "I take my coffee without sugar"
    write = Call("memory_write", {"content": "I take my coffee without sugar.", "quote": quote})
    script = Script([write, "Noted."])
    agent = create_agent(scripted_model(script), middleware=[MemoryMiddleware(ana)])
    asyncio.run(agent.ainvoke({"messages": [("user", f"{quote}, please.")]}))
    assert "Remembered" in script.results[-1]
    (found,) = ana.recall(text="without sugar").observations
    assert [e.quote for e in found.evidence] == [quote]


def test_a_turn_that_cannot_be_kept_does_not_take_the_answer(ana: Session, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("deepagents")
    from graphs import scripted_model
    from langchain.agents import create_agent

    from grail_mem.adapters.deepagents import MemoryMiddleware

    agent = create_agent(scripted_model(Script(["Yes.", "No."])), middleware=[MemoryMiddleware(ana)])
    for answer in ("Yes.", "No."):  # the same message again, answered otherwise
        done = agent.invoke({"messages": [{"role": "user", "content": "Is it tea?", "id": "m1"}]})
        assert done["messages"][-1].text == answer
    assert "was not kept" in caplog.text
    assert turns(ana) == [("user", "Is it tea?"), ("assistant", "Yes.")]


def test_a_session_of_the_agents_sdk_is_transcribed(ana: Session) -> None:
    pytest.importorskip("agents")
    from agents.memory import SQLiteSession

    from grail_mem.adapters.openai_agents import TranscribedSession

    async def talk() -> list[Any]:
        inner = SQLiteSession("s1")
        session = TranscribedSession(inner, ana)
        await session.add_items([{"role": "user", "content": "I take my coffee black."}])
        await session.add_items(
            [
                {"type": "function_call", "call_id": "1", "name": "x", "arguments": "{}"},
                {"role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]},
            ]
        )
        items = await session.get_items()
        assert await session.pop_item() == items[-1]
        await session.clear_session()
        assert await session.get_items() == []
        inner.close()
        return items

    assert len(asyncio.run(talk())) == 3
    assert turns(ana) == [("user", "I take my coffee black."), ("assistant", "Noted.")]


def test_a_block_of_llama_index_brings_and_keeps(ana: Session) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import Memory as LlamaMemory

    from grail_mem.adapters.llama_index import GrailMemoryBlock

    async def talk() -> list[ChatMessage]:
        memory = LlamaMemory.from_defaults(
            session_id="s1", token_limit=60, chat_history_token_ratio=0.5, token_flush_size=10,
            memory_blocks=[GrailMemoryBlock(ana)], insert_method="user",
        )  # fmt: skip
        await memory.aput(ChatMessage(role="user", content="A first message that is long enough to leave soon. " * 4))
        await memory.aput(ChatMessage(role="assistant", content="An answer that is long enough to leave soon. " * 4))
        await memory.aput(ChatMessage(role="user", content="Which tea does Ana drink?"))
        found = await memory.aget()
        await memory.sql_store._async_engine.dispose()  # the framework leaves it open
        return found

    messages = asyncio.run(talk())
    assert all(message.role != "system" for message in messages)
    assert "green tea at four" in str(messages[-1].content)
    assert turns(ana)[0] == ("user", ("A first message that is long enough to leave soon. " * 4))
