"""An agent loop of one's own with memory, in the format of OpenAI's Chat Completions.

Run it: `python examples/agent_loop.py`. A script stands for the model, so that no key is needed; put
`client.chat.completions.create(model=…, messages=messages, tools=tools)` in its place.
"""

from __future__ import annotations

import json
import tempfile
from typing import Any

from grail_mem import Memory
from grail_mem.adapters.tool_calls import answer
from grail_mem.memory.session import Session
from grail_mem.tools import Toolbox

SYSTEM = "You are Ana's assistant. What you learn about her you keep with your memory tools."


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    """What a model says that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }


def says(text: str) -> dict[str, Any]:
    """What a model says that is done."""
    return {"role": "assistant", "content": text}


SCRIPT = [
    calls("memory_write", content="The user drinks green tea.", quote="I drink green tea"),
    says("I will remember that."),
    calls("memory_search", query="What does Ana drink?", limit="many"),  # wrong, as models are; the answer says how
    calls("memory_search", query="What does Ana drink?"),
    says("Green tea."),
]


def model(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The next line of the script."""
    assert messages[0]["content"] == SYSTEM, "the system prompt never changes, so a cache of it stays usable"
    assert tools
    return SCRIPT.pop(0)


def turn(session: Session, messages: list[dict[str, Any]], said: str) -> str:
    """One turn of the conversation: what is known comes first, and what was said is kept."""
    tools = Toolbox(session)
    context = session.prepare_turn_context(said)
    messages.append({"role": "user", "content": said})
    if context.included:
        messages += context.as_messages("openai-chat")
    while True:
        message = model(messages, tools.definitions("openai-chat"))
        messages.append(message)
        if not message.get("tool_calls"):
            session.complete_turn(context, assistant=message["content"])
            return str(message["content"])
        for call in message["tool_calls"]:
            result = answer(tools, call)
            print(f"  {call['function']['name']}: {result['content'].splitlines()[0]}")
            messages.append(result)


def main() -> None:
    """Two conversations; the second one knows what was said in the first."""
    with tempfile.TemporaryDirectory() as root, Memory(root) as memory:
        for said in ("I drink green tea, by the way.", "What do I drink?"):
            with memory.session(user_id="ana", agent_id="assistant") as session:
                print(f"ana: {said}")
                print(f"assistant: {turn(session, [{'role': 'system', 'content': SYSTEM}], said)}")


if __name__ == "__main__":
    main()
