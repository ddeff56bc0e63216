"""A model's tool call as it came from OpenAI or Anthropic, and the message that answers it; no package of either is needed.

The definitions for a request are `Toolbox.definitions("openai")` (Responses), `("openai-chat")` (Chat Completions) and
`("anthropic")` (Messages). Knows nothing of the loop around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grail_mem.adapters.frameworks import Answering
from grail_mem.errors import InputError


def answer(tools: Answering, call: Any) -> dict[str, Any]:
    """The message, item or block that answers one tool call.

    Whatever the model sent is answered, a fault of its own with what is wrong and what to send instead.

    Args:
        tools: A `Toolbox`, or the commands of a memory tool.
        call: The call, as an object of the provider's package or as the mapping that it is in JSON: of Responses an item
            `function_call`, of Chat Completions one of a message's `tool_calls`, of Messages a block `tool_use`.

    Returns:
        For Responses an item `function_call_output`, for Chat Completions a message of the role `tool`, for Messages a block
        `tool_result`; the ones for one response go into the next request together.

    Raises:
        InputError: It is no tool call of any of them.

    Example:
        >>> import tempfile
        >>> from grail_mem import Memory
        >>> from grail_mem.tools import Toolbox
        >>> call = {"type": "tool_use", "id": "toolu_1", "name": "memory_search", "input": {"query": "Which database?"}}
        >>> with Memory(tempfile.mkdtemp()) as memory:
        ...     block = answer(Toolbox(memory), call)
        >>> block["type"], block["tool_use_id"], block["is_error"]
        ('tool_result', 'toolu_1', False)
    """
    kind = _part(call, "type")
    if kind == "function_call":
        result = tools.call(_text(call, "name"), _part(call, "arguments"))
        return {"type": "function_call_output", "call_id": _text(call, "call_id"), "output": result.text}
    if kind == "tool_use":
        result = tools.call(_text(call, "name"), _part(call, "input"))
        return {
            "type": "tool_result", "tool_use_id": _text(call, "id"), "content": result.text, "is_error": result.is_error,
        }  # fmt: skip
    function = _part(call, "function")
    if function is not None:
        result = tools.call(_text(function, "name"), _part(function, "arguments"))
        return {"role": "tool", "tool_call_id": _text(call, "id"), "content": result.text}
    raise InputError(
        f"This is no tool call: {type(call).__name__} of type {kind!r}.",
        hint="Give an item function_call, one of a message's tool_calls, or a block tool_use.",
    )


def _part(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)


def _text(of: Any, name: str) -> str:
    value = _part(of, name)
    if not isinstance(value, str):
        raise InputError(f"The tool call has no {name}.")
    return value
