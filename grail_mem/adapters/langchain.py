"""The tools of a memory as tools of LangChain, for agents of LangChain, LangGraph and Deep Agents."""

from __future__ import annotations

import asyncio
from typing import Any

from grail_mem.adapters.frameworks import Caller, missing, toolbox_of
from grail_mem.tools import Toolbox

try:
    from langchain_core.tools import BaseTool, ToolException
except ImportError as error:
    raise missing("langchain-core", "langgraph") from error


def memory_tools(caller: Caller) -> list[BaseTool]:
    """The tools of a memory; what a model sends wrongly comes back to it as the error of the tool.

    Args:
        caller: A session, the owner's memory, or a `Toolbox`.
    """
    toolbox = toolbox_of(caller)
    return [_Tool(toolbox, definition) for definition in toolbox.definitions("mcp")]


class _Tool(BaseTool):
    """One tool; what a model sends reaches it as it is, whatever the arguments are called."""

    _toolbox: Toolbox

    def __init__(self, toolbox: Toolbox, definition: dict[str, Any]) -> None:
        super().__init__(
            name=definition["name"],
            description=definition["description"],
            args_schema=definition["inputSchema"],
            response_format="content_and_artifact",
            handle_tool_error=True,
        )
        self._toolbox = toolbox

    def _run(self, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
        result = self._toolbox.call(self.name, arguments)
        if result.is_error:
            raise ToolException(result.text)
        return result.text, result.structured

    async def _arun(self, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
        return await asyncio.to_thread(self._run, **arguments)
