"""The tools of a memory as tools of LangChain, for agents of LangChain, LangGraph and Deep Agents."""

from __future__ import annotations

from typing import Any

from grail_mem.adapters.frameworks import Caller, missing, toolbox_of
from grail_mem.tools import Toolbox

try:
    from langchain_core.tools import BaseTool, StructuredTool, ToolException
except ImportError as error:
    raise missing("langchain-core", "langgraph") from error


def memory_tools(caller: Caller) -> list[BaseTool]:
    """The tools of a memory; what a model sends wrongly comes back to it as the error of the tool.

    Args:
        caller: A session, the owner's memory, or a `Toolbox`.
    """
    toolbox = toolbox_of(caller)
    return [_tool(toolbox, definition) for definition in toolbox.definitions("mcp")]


def _tool(toolbox: Toolbox, definition: dict[str, Any]) -> BaseTool:
    name = definition["name"]

    def run(**arguments: Any) -> tuple[str, dict[str, Any]]:
        result = toolbox.call(name, arguments)
        if result.is_error:
            raise ToolException(result.text)
        return result.text, result.structured

    made: BaseTool = StructuredTool(
        name=name,
        description=definition["description"],
        args_schema=definition["inputSchema"],
        func=run,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
    return made
