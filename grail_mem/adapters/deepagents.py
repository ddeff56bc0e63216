"""Memory for Deep Agents and LangChain agents as one middleware: the tools, and what is known before the model answers.

What is known comes as a call of the search tool with its result, behind what the user said. The system prompt stays as it
is, so what a provider caches of it stays usable.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from grail_mem.adapters.frameworks import answer_first, missing, toolbox_of
from grail_mem.adapters.langchain import memory_tools
from grail_mem.memory.session import Session
from grail_mem.tools import Toolbox

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
except ImportError as error:
    raise missing("langchain", "deepagents") from error

_MAX_ID = 100


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives an agent the tools of a memory, what it holds of each message of the user, and a transcript of what was said.

    Args:
        session: Whose memory it is.
        tools: The tools, with choices of one's own; all of them when left out.
        look_first: Bring what is known of a message before the model is asked; when nothing is, nothing is added.
        keep_turns: Keep what user and agent said, so that what is remembered can quote it.

    Raises:
        MissingDependencyError: On import: the extra `deepagents` is not installed.
    """

    def __init__(
        self, session: Session, *, tools: Toolbox | None = None, look_first: bool = True, keep_turns: bool = True
    ) -> None:
        super().__init__()
        self._session, self._look_first, self._keep_turns = session, look_first, keep_turns
        self.tools = memory_tools(toolbox_of(session) if tools is None else tools)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002  the framework's signature
        """What the memory holds of what the user said, as a tool call and its result."""
        said = _last(state["messages"], HumanMessage)
        if not self._look_first or said is None or said is not state["messages"][-1]:
            return None
        context = self._session.prepare_turn_context(_text(said), turn_id=_turn(said))
        if not context.included:
            return None
        (call,) = context.as_messages("openai-chat")[0]["tool_calls"]
        name, id_ = call["function"]["name"], call["id"]
        args = json.loads(call["function"]["arguments"])
        asked = AIMessage("", tool_calls=[{"name": name, "args": args, "id": id_, "type": "tool_call"}])
        return {"messages": [asked, ToolMessage(context.text, tool_call_id=id_, name=name)]}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The same, in a thread of its own."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    def after_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002  as above
        """Keep the turn; what cannot be kept is logged, since the answer is there and must not be lost for it."""
        said = _last(state["messages"], HumanMessage)
        if not self._keep_turns or said is None or not _text(said).strip():
            return
        answer = _last(_behind(state["messages"], said), AIMessage)
        with answer_first():
            self._session.complete_turn(
                _turn(said), user=_text(said), assistant=(_text(answer) if answer else "") or None
            )

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """The same, in a thread of its own."""
        await asyncio.to_thread(self.after_agent, state, runtime)


def _last(messages: Sequence[AnyMessage], kind: type) -> Any:
    return next((message for message in reversed(messages) if isinstance(message, kind)), None)


def _behind(messages: Sequence[AnyMessage], said: AnyMessage) -> Sequence[AnyMessage]:
    return messages[next(n for n, message in enumerate(messages) if message is said) + 1 :]


def _text(message: Any) -> str:
    return str(message.text)


def _turn(message: Any) -> str:
    """By what a message's turn is known: its own id, where that can be one."""
    own = str(message.id or "")
    return (
        own
        if 0 < len(own) <= _MAX_ID and own.isprintable()
        else sha256(f"{own}\0{_text(message)}".encode(errors="surrogatepass")).hexdigest()
    )
