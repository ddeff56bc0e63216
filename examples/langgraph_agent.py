"""An agent of LangGraph with memory: what it keeps in one thread it finds in another.

Run it: `pip install 'grail-mem[langgraph,deepagents]'`, then `python examples/langgraph_agent.py`. A script stands for the
model, so that no key is needed; put a chat model of your own in its place.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from grail_mem import Memory
from grail_mem.adapters.deepagents import MemoryMiddleware
from grail_mem.adapters.langgraph import GrailStore


class ScriptedModel(BaseChatModel):
    """Says what a script holds."""

    script: Iterator[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> ScriptedModel:
        """Take any tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=next(self.script))])


def calls(name: str, **arguments: Any) -> AIMessage:
    """What a model says that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call_{name}"}])


def main() -> None:
    """Two threads of one agent, and its graph's store in the same folder of files."""
    script = iter(
        [
            calls("memory_write", content="Ana drinks green tea.", tags=["preference"]),
            AIMessage("I will remember that."),
            AIMessage("Green tea."),
        ]
    )
    with (
        tempfile.TemporaryDirectory() as root,
        Memory(root) as memory,
        memory.session(user_id="ana", agent_id="assistant") as session,
    ):
        agent = create_agent(
            ScriptedModel(script=script),
            system_prompt="You are Ana's assistant.",
            middleware=[MemoryMiddleware(session)],
            checkpointer=InMemorySaver(),
            store=GrailStore(session),
        )
        for thread, said in (("1", "I drink green tea."), ("2", "What does Ana drink, green tea or coffee?")):
            done = agent.invoke({"messages": [("user", said)]}, {"configurable": {"thread_id": thread}})
            for message in done["messages"]:
                print(f"{message.type}: {(message.text or 'calls ' + message.tool_calls[0]['name']).splitlines()[0]}")
        store = GrailStore(session)
        store.put(("ana", "settings"), "language", {"code": "de"})
        (kept,) = session.recall(category="langgraph/ana/settings").observations
        print(f"the graph's own store: {kept.path}")


if __name__ == "__main__":
    main()
