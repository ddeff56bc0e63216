"""Answers to tool calls, and what happens without the packages that adapters need."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grail_mem import Memory
from grail_mem.adapters.tool_calls import answer
from grail_mem.errors import InputError, MissingDependencyError
from grail_mem.tools import Toolbox

ARGUMENTS = '{"query": "tea"}'
CALLS: list[tuple[Any, dict[str, Any]]] = [
    (
        {"type": "function_call", "call_id": "1", "name": "memory_search", "arguments": ARGUMENTS},
        {"type": "function_call_output", "call_id": "1"},
    ),
    (
        SimpleNamespace(type="function", id="1", function=SimpleNamespace(name="memory_search", arguments=ARGUMENTS)),
        {"role": "tool", "tool_call_id": "1"},
    ),
    (
        SimpleNamespace(type="tool_use", id="1", name="memory_search", input={"query": "tea"}),
        {"type": "tool_result", "tool_use_id": "1", "is_error": False},
    ),
    (
        {"type": "tool_use", "id": "1", "name": "memory_serach", "input": None},
        {"type": "tool_result", "tool_use_id": "1", "is_error": True},
    ),
]


@pytest.mark.parametrize(("call", "made"), CALLS)
def test_a_call_is_answered_in_its_own_form(tmp_path: Path, call: Any, made: dict[str, Any]) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        memory.add_observation(content="Green tea.")
        result = answer(Toolbox(memory), call)
    text = result.pop("output", None) or result.pop("content")
    assert result == made
    assert ("Green tea." in text) != made.get("is_error", False)


@pytest.mark.parametrize(
    "call", [None, 7, "text", {}, {"type": "text", "text": "hi"}, {"type": "tool_use", "name": "x"}, {"function": {"name": None}, "id": "1"}]
)  # fmt: skip
def test_what_is_no_call_is_refused(tmp_path: Path, call: Any) -> None:
    with Memory(tmp_path, embedder="none") as memory, pytest.raises(InputError, match="tool call"):
        answer(Toolbox(memory), call)


ADAPTERS = [
    ("anthropic", "anthropic", "anthropic"), ("langchain", "langchain_core", "langgraph"), ("langgraph", "langgraph", "langgraph"),
    ("deepagents", "langchain", "deepagents"), ("crewai", "crewai", "crewai"), ("openai_agents", "agents", "openai-agents"),
    ("llama_index", "llama_index", "llama-index"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "package", "extra"), ADAPTERS)
def test_a_framework_that_is_not_there_is_named_with_its_extra(
    module: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [
        name for name in sys.modules if name.split(".")[0] == package or name.startswith("grail_mem.adapters.")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=r"needs the package") as caught:
        importlib.import_module(f"grail_mem.adapters.{module}")
    assert caught.value.hint.startswith("pip install 'grail-mem[")
    if module not in ("langgraph", "deepagents"):  # these name what is missing first, which may be another one here
        assert caught.value.hint == f"pip install 'grail-mem[{extra}]'"


def test_the_tools_and_the_memory_tool_load_no_framework() -> None:
    names = [
        "anthropic",
        "openai",
        "langchain",
        "langchain_core",
        "langgraph",
        "deepagents",
        "crewai",
        "agents",
        "llama_index",
        "pydantic",
    ]
    code = (
        "import sys, grail_mem.adapters.tool_calls, grail_mem.adapters.memory_commands, grail_mem.adapters.keyed\n"
        f"print([name for name in {names!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
