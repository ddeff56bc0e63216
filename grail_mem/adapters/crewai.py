"""The tools of a memory for agents of CrewAI.

CrewAI's own memory does not fit: what it hands to a storage is a vector of its own embedder and not the question.
"""

from __future__ import annotations

import asyncio
from typing import Any

from grail_mem.adapters.frameworks import Caller, missing, toolbox_of
from grail_mem.tools import Toolbox

try:
    from crewai.tools import BaseTool, ToolFailure
    from pydantic import BaseModel, PrivateAttr, create_model
except ImportError as error:
    raise missing("crewai", "crewai") from error


def memory_tools(caller: Caller) -> list[BaseTool]:
    """The tools of a memory; what a model sends wrongly comes back to it, and CrewAI counts it as a failure of the tool.

    Args:
        caller: A session, the owner's memory, or a `Toolbox`.
    """
    toolbox = toolbox_of(caller)
    return [_Tool(toolbox, definition) for definition in toolbox.definitions("mcp")]


class _Tool(BaseTool):
    _toolbox: Toolbox = PrivateAttr()

    def __init__(self, toolbox: Toolbox, definition: dict[str, Any]) -> None:
        super().__init__(
            name=definition["name"],
            description=definition["description"],
            args_schema=_arguments(definition["name"], definition["inputSchema"]),
            cache_function=_never,
        )
        self._toolbox = toolbox

    def _run(self, /, **arguments: Any) -> Any:
        result = self._toolbox.call(self.name, arguments)
        return ToolFailure(message=result.text) if result.is_error else result.text

    async def _arun(self, /, **arguments: Any) -> Any:
        return await asyncio.to_thread(self._run, **arguments)


def _never(arguments: Any = None, result: Any = None) -> bool:  # noqa: ARG001  the framework's signature
    """Keeps CrewAI from answering a second search with what the first one found."""
    return False


def _arguments(name: str, schema: dict[str, Any]) -> type[BaseModel]:
    """A model of pydantic that shows a schema and lets every value pass, since the tool reads and refuses them itself."""

    class Arguments(BaseModel, extra="allow"):
        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
            return {**schema, "title": cls.__name__}

    fields: dict[str, Any] = dict.fromkeys(schema["properties"], (Any, None))
    return create_model(f"{name}_arguments", __base__=Arguments, **fields)
