"""The tools of a memory for LlamaIndex, and a memory block that brings what is known and keeps what was said."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from grail_mem.adapters.frameworks import Caller, answer_first, missing, toolbox_of
from grail_mem.memory.session import Session
from grail_mem.tools import Toolbox

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.tools import AsyncBaseTool, BaseTool, ToolMetadata, ToolOutput
except ImportError as error:
    raise missing("llama-index-core", "llama-index") from error

_ROLES = {MessageRole.USER: "user", MessageRole.ASSISTANT: "assistant"}


def memory_tools(caller: Caller) -> list[BaseTool]:
    """The tools of a memory; what a model sends wrongly comes back to it as the error of the tool.

    Args:
        caller: A session, the owner's memory, or a `Toolbox`.
    """
    toolbox = toolbox_of(caller)
    return [_Tool(toolbox, definition) for definition in toolbox.definitions("mcp")]


@dataclass
class _Metadata(ToolMetadata):
    """A tool's description with the schema that the tool has already."""

    schema: dict[str, Any] = field(default_factory=dict)

    def get_parameters_dict(self) -> dict[str, Any]:
        return self.schema


class _Tool(AsyncBaseTool):
    def __init__(self, toolbox: Toolbox, definition: dict[str, Any]) -> None:
        self._toolbox = toolbox
        self._metadata = _Metadata(
            name=definition["name"], description=definition["description"], schema=definition["inputSchema"]
        )

    @property
    def metadata(self) -> ToolMetadata:
        return self._metadata

    def call(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        name = self._metadata.get_name()
        result = self._toolbox.call(name, args[0] if args else arguments)
        return ToolOutput(
            tool_name=name,
            content=result.text,
            raw_input=arguments,
            raw_output=result.structured,
            is_error=result.is_error,
        )

    async def acall(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        return await asyncio.to_thread(self.call, *args, **arguments)


class GrailMemoryBlock(BaseMemoryBlock[str]):
    """A block of LlamaIndex's `Memory`: brings what is known of the last thing the user said, and keeps turns that leave it.

    Give `Memory.from_defaults(…, insert_method="user")`, so that what is brought stands before the user's words and the system
    prompt stays as it is.

    Args:
        session: Whose memory it is; turns go to the transcript of its conversation.
        **block: What LlamaIndex's blocks have in common, such as `priority`.

    Raises:
        MissingDependencyError: On import: the extra `llama-index` is not installed.
    """

    name: str = "memory"
    _session: Session = PrivateAttr()

    def __init__(self, session: Session, **block: Any) -> None:
        super().__init__(**block)
        self._session = session

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:  # noqa: ARG002
        said = next((m.content for m in reversed(messages or []) if m.role == MessageRole.USER and m.content), None)
        if said is None:
            return ""
        context = await asyncio.to_thread(self._session.prepare_turn_context, said)
        return context.text if context.included else ""

    async def _aput(self, messages: Sequence[ChatMessage]) -> None:
        turns = [{"role": _ROLES[m.role], "text": m.content} for m in messages if m.role in _ROLES and m.content]
        if turns:
            with answer_first():
                await asyncio.to_thread(self._session.ingest_chat, turns)
