"""Agents of LangChain, LangGraph and Deep Agents with a scripted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scripts import Script

from grail_mem.memory.session import Session


def scripted_model(script: Script) -> Any:
    """A chat model of LangChain that answers by a script."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class ScriptedChatModel(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            system = [str(m.text) for m in messages if m.type == "system"]
            behind = [[m.type, str(m.text), getattr(m, "tool_calls", [])] for m in messages if m.type != "system"]
            results = [str(m.text) for m in messages if m.type == "tool"]
            said = script.answer("\n".join(system), behind, results)
            message = AIMessage(said) if isinstance(said, str) else AIMessage(
                "", tool_calls=[{"name": said.name, "args": said.arguments, "id": f"call_{script.n_asked}"}]
            )  # fmt: skip
            return ChatResult(generations=[ChatGeneration(message=message)])

    return ScriptedChatModel()


def langgraph(caller: Session, script: Script, system: str, said: Sequence[str]) -> None:
    from langchain.agents import create_agent
    from langgraph.checkpoint.memory import InMemorySaver

    from grail_mem.adapters.langgraph import memory_tools

    agent = create_agent(
        scripted_model(script), memory_tools(caller), system_prompt=system, checkpointer=InMemorySaver()
    )
    _talk(agent, said)


def deepagents(caller: Session, script: Script, system: str, said: Sequence[str], *, look_first: bool = False) -> None:
    from deepagents import create_deep_agent
    from langgraph.checkpoint.memory import InMemorySaver

    from grail_mem.adapters.deepagents import MemoryMiddleware

    agent = create_deep_agent(
        scripted_model(script), system_prompt=system, middleware=[MemoryMiddleware(caller, look_first=look_first)],
        checkpointer=InMemorySaver(),
    )  # fmt: skip
    _talk(agent, said)


def _talk(agent: Any, said: Sequence[str]) -> None:
    for text in said:
        agent.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": "1"}})
