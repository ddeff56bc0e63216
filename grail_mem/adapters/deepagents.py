"""Memory for Deep Agents and LangChain agents as one middleware: the tools, and what is known before the model answers.

What is known comes as a call of the search tool with its result, behind what the user said. The system prompt stays as it
is, so what a provider caches of it stays usable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from grail_mem.adapters.frameworks import Caller, missing, toolbox_of
from grail_mem.adapters.langchain import memory_tools
from grail_mem.model.ulid import new_id

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
except ImportError as error:
    raise missing("langchain", "deepagents") from error

_SEARCH = "memory_search"


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives an agent the tools of a memory, and before each answer to the user what the memory holds of the question.

    Args:
        caller: A session, the owner's memory, or a `Toolbox`.
        look_first: Search for what the user said before the model is asked; when nothing is found, nothing is added.

    Raises:
        MissingDependencyError: On import: the extra `deepagents` is not installed.
    """

    def __init__(self, caller: Caller, *, look_first: bool = True) -> None:
        super().__init__()
        self._toolbox, self._look_first = toolbox_of(caller), look_first
        self.tools = memory_tools(self._toolbox)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002  the framework's signature
        """What the memory holds of what the user said, as a tool call and its result."""
        messages: Sequence[AnyMessage] = state["messages"]
        said = messages[-1] if messages else None
        if not self._look_first or not isinstance(said, HumanMessage) or not str(said.text).strip():
            return None
        arguments = {"query": str(said.text)[:2000]}
        result = self._toolbox.call(_SEARCH, arguments)
        if result.is_error or not result.structured.get("count"):
            return None
        id_ = f"call_{new_id().lower()}"
        asked = AIMessage("", tool_calls=[{"name": _SEARCH, "args": arguments, "id": id_, "type": "tool_call"}])
        return {"messages": [asked, ToolMessage(result.text, tool_call_id=id_, name=_SEARCH)]}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The same, in a thread of its own."""
        return await asyncio.to_thread(self.before_agent, state, runtime)
