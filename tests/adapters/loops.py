"""Loops of one's own around the packages of OpenAI and Anthropic, and Anthropic's runner, against a server on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scripts import Call, Script

from grail_mem.adapters.tool_calls import answer
from grail_mem.memory.session import Session
from grail_mem.tools import Toolbox
from tests.hosted.scripted import Service, serving

MODEL = "scripted"
MOST_REQUESTS = 8


@contextmanager
def scripted(script: Script, read: Callable[..., Any], respond: Callable[..., Any], style: str) -> Iterator[str]:
    """A server that answers by a script; gives its address."""
    with serving(style) as service:

        def say(service: Service) -> Any:
            return respond(script.answer(*read(service.asked[-1])), len(service.asked))

        service.says(say)
        yield service.url


def chat(caller: Session, script: Script, system: str, said: Sequence[str]) -> None:
    """Chat Completions."""
    import openai

    tools = Toolbox(caller)
    with (
        scripted(script, _read_chat, _chat, "openai") as url,
        openai.OpenAI(api_key="k", base_url=f"{url}/v1") as client,
    ):
        messages: list[Any] = [{"role": "system", "content": system}]
        for text in said:
            messages.append({"role": "user", "content": text})
            for _ in range(MOST_REQUESTS):
                response = client.chat.completions.create(
                    model=MODEL, messages=messages, tools=tools.definitions("openai-chat")
                )
                message = response.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                messages += [answer(tools, call) for call in message.tool_calls or ()]
                if not message.tool_calls:
                    break


def _read_chat(body: Any) -> tuple[str, list[Any], list[str]]:
    system, *behind = body["messages"]
    return system["content"], behind, [m["content"] for m in behind if m["role"] == "tool"]


def _chat(said: Call | str, n: int) -> dict[str, Any]:
    call = [] if isinstance(said, str) else [
        {"id": f"call_{n}", "type": "function", "function": {"name": said.name, "arguments": said.json}}
    ]  # fmt: skip
    message = {"role": "assistant", "content": said if isinstance(said, str) else None} | (
        {"tool_calls": call} if call else {}
    )
    return {
        "id": f"c{n}", "object": "chat.completion", "created": 1, "model": MODEL,
        "choices": [{"index": 0, "finish_reason": "tool_calls" if call else "stop", "logprobs": None, "message": message}],
    }  # fmt: skip


def responses(caller: Session, script: Script, system: str, said: Sequence[str]) -> None:
    """Responses."""
    import openai

    tools = Toolbox(caller)
    with scripted(script, _read_response, _response, "openai") as url, openai.OpenAI(
        api_key="k", base_url=f"{url}/v1"
    ) as client:  # fmt: skip
        items: list[Any] = []
        for text in said:
            items.append({"role": "user", "content": text})
            for _ in range(MOST_REQUESTS):
                response = client.responses.create(
                    model=MODEL, instructions=system, input=items, tools=tools.definitions("openai")
                )
                items += [item.model_dump(exclude_none=True) for item in response.output]
                calls = [item for item in response.output if item.type == "function_call"]
                items += [answer(tools, call) for call in calls]
                if not calls:
                    break


def _read_response(body: Any) -> tuple[str, list[Any], list[str]]:
    items = body["input"]
    return body["instructions"], items, [i["output"] for i in items if i.get("type") == "function_call_output"]


def _response(said: Call | str, n: int) -> dict[str, Any]:
    item: dict[str, Any] = (
        {"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": said, "annotations": []}]}
        if isinstance(said, str) else
        {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": said.name, "arguments": said.json,
         "status": "completed"}
    )  # fmt: skip
    return {
        "id": f"resp_{n}", "object": "response", "created_at": 1, "status": "completed", "model": MODEL, "output": [item],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
    }  # fmt: skip


def messages_api(caller: Session, script: Script, system: str, said: Sequence[str]) -> None:
    """Messages."""
    import anthropic

    tools = Toolbox(caller)
    with scripted(script, _read_messages, _message, "anthropic") as url, anthropic.Anthropic(
        api_key="k", base_url=url
    ) as client:  # fmt: skip
        messages: list[Any] = []
        for text in said:
            messages.append({"role": "user", "content": text})
            for _ in range(MOST_REQUESTS):
                response = client.messages.create(
                    model=MODEL, max_tokens=99, system=system, messages=messages, tools=tools.definitions("anthropic")
                )
                messages.append(
                    {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in response.content]}
                )
                calls = [block for block in response.content if block.type == "tool_use"]
                if not calls:
                    break
                messages.append({"role": "user", "content": [answer(tools, call) for call in calls]})


def memory_tool(caller: Session, script: Script, system: str, said: Sequence[str]) -> None:
    """Messages, with the runner of the package and the memory tool."""
    import anthropic

    from grail_mem.adapters.anthropic import MemoryTool

    thread = _Thread()
    with scripted(script, thread.read, thread.say, "anthropic") as url, anthropic.Anthropic(
        api_key="k", base_url=url
    ) as client:  # fmt: skip
        messages: list[Any] = []
        for text in said:
            messages.append({"role": "user", "content": text})
            runner = client.beta.messages.tool_runner(
                model=MODEL, max_tokens=99, system=system, messages=list(messages), tools=[MemoryTool(caller)],
                max_iterations=MOST_REQUESTS,
            )  # fmt: skip
            for response in runner:
                messages.append(
                    {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in response.content]}
                )
                if (results := runner.generate_tool_call_response()) is not None:
                    messages.append(results)


class _Thread:
    """What the service keeps of a conversation that its runner continues by sending only what is new."""

    def __init__(self) -> None:
        self._system, self._messages = "", list[Any]()

    def read(self, body: Any) -> tuple[str, list[Any], list[str]]:
        if body.get("thread", {}).get("type") == "continue":
            self._messages += body["messages"]
        else:
            self._system, self._messages = body["system"], list(body["messages"])
        return _read_messages({"system": self._system, "messages": list(self._messages)})

    def say(self, said: Call | str, n: int) -> dict[str, Any]:
        message = _message(said, n)
        self._messages.append({"role": "assistant", "content": message["content"]})
        return message


def _read_messages(body: Any) -> tuple[str, list[Any], list[str]]:
    blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
    results = [b["content"] for b in blocks if b["type"] == "tool_result"]
    return body["system"], body["messages"], [r if isinstance(r, str) else json.dumps(r) for r in results]


def _message(said: Call | str, n: int) -> dict[str, Any]:
    block = (
        {"type": "text", "text": said}
        if isinstance(said, str)
        else {"type": "tool_use", "id": f"toolu_{n}", "name": said.name, "input": said.arguments}
    )
    return {
        "id": f"msg_{n}", "type": "message", "role": "assistant", "model": MODEL, "stop_sequence": None,
        "stop_reason": "end_turn" if isinstance(said, str) else "tool_use", "content": [block],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
