"""The tools of a memory for the OpenAI Agents SDK, and a session of it whose words are kept as evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from grail_mem.adapters.frameworks import Caller, answer_first, missing, toolbox_of
from grail_mem.memory import Memory
from grail_mem.memory.session import Session as GrailSession
from grail_mem.tools import Toolbox

try:
    from agents import FunctionTool
    from agents.memory import Session, SessionSettings
except ImportError as error:
    raise missing("openai-agents", "openai-agents") from error


def memory_tools(caller: Caller) -> list[FunctionTool]:
    """The tools of a memory; what a model sends wrongly comes back to it as the answer of the tool.

    Args:
        caller: A session, the owner's memory, or a `Toolbox`.
    """
    toolbox = toolbox_of(caller)
    return [_tool(toolbox, definition) for definition in toolbox.definitions("openai")]


def _tool(toolbox: Toolbox, definition: dict[str, Any]) -> FunctionTool:
    name = definition["name"]

    async def run(context: Any, arguments: str) -> str:  # noqa: ARG001  the framework's signature
        return (await asyncio.to_thread(toolbox.call, name, arguments)).text

    return FunctionTool(
        name=name,
        description=definition["description"],
        params_json_schema=definition["parameters"],
        on_invoke_tool=run,
        strict_json_schema=True,
    )


class TranscribedSession:
    """A session of the SDK whose turns also go into the memory's transcript, so that what is remembered can quote them.

    Another session keeps the items, since the SDK takes items back and replaces them, and a transcript only grows.

    Args:
        inner: The session that keeps the items, such as an `SQLiteSession`.
        caller: Whose memory it is. Of a session, turns go to its own conversation; of the owner, to one named after `inner`.
    """

    def __init__(self, inner: Session, caller: Memory | GrailSession) -> None:
        self._inner, self._caller = inner, caller
        self.session_id: str = inner.session_id
        self.session_settings: SessionSettings | None = inner.session_settings

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The items, oldest first."""
        return list(await self._inner.get_items(limit))

    async def add_items(self, items: list[Any]) -> None:
        """Keep items, and what user and assistant say in them as turns."""
        await self._inner.add_items(items)
        if turns := [turn for item in items for turn in _turns(item)]:
            conversation = None if isinstance(self._caller, GrailSession) else f"agents/{self.session_id}"
            with answer_first():
                await asyncio.to_thread(self._caller.ingest_chat, turns, session=conversation)

    async def pop_item(self) -> Any:
        """Take the last item back; the transcript keeps its words."""
        return await self._inner.pop_item()

    async def clear_session(self) -> None:
        """Take all items back; the transcript keeps their words."""
        await self._inner.clear_session()


def _turns(item: Any) -> Iterable[Mapping[str, str]]:
    role = item.get("role")
    if role not in ("user", "assistant"):
        return
    content = item.get("content")
    parts = [content] if isinstance(content, str) else [p.get("text") for p in content or () if isinstance(p, Mapping)]
    text = "\n".join(part for part in parts if isinstance(part, str)).strip()
    if text:
        yield {"role": role, "text": text}
