"""The definitions of the five tools: valid schemas in every format, one source for all of them, short."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from grail_mem import Memory
from grail_mem.errors import InputError
from grail_mem.recall.budget import Estimate
from grail_mem.tools import TOOLS, Toolbox
from grail_mem.tools.field import read_fields
from grail_mem.tools.tool import FORMATS

NAMES = ["memory_search", "memory_get", "memory_write", "memory_revise", "memory_forget"]
WITHIN = {"mcp": 2550, "anthropic": 2250, "openai": 2660, "openai-chat": 2690}
"""Tokens as estimated, 1.6 times what cl100k and the tokenizer of Claude count in compact JSON: 1,380 to 1,610."""


def schemas(definition: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema of a definition with every schema inside."""
    found = definition.get("function", definition)
    stack = [found.get("inputSchema") or found.get("input_schema") or found["parameters"]]
    while stack:
        one = stack.pop()
        yield one
        stack += list(one.get("properties", {}).values()) + ([one["items"]] if "items" in one else [])


@pytest.fixture(scope="module")
def toolbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbox]:
    with Memory(tmp_path_factory.mktemp("s"), embedder="none") as memory:
        memory.grant("user:u1", "project:grail", "write")
        with memory.session(user_id="u1", agent_id="a", project_id="grail") as session:
            yield Toolbox(session)


@pytest.mark.parametrize("format_", FORMATS)
def test_every_schema_is_valid_and_closed(toolbox: Toolbox, format_: Any) -> None:
    """Each is JSON Schema, takes no further argument, and is a plain JSON value."""
    made = toolbox.definitions(format_)
    assert [one.get("function", one)["name"] for one in made] == NAMES
    assert json.loads(json.dumps(made)) == made
    for definition in made:
        for schema in schemas(definition):
            Draft202012Validator.check_schema(schema)
            if "properties" in schema:
                assert schema["additionalProperties"] is False


@pytest.mark.parametrize("format_", ["openai", "openai-chat"])
def test_a_strict_schema_requires_every_property_and_lets_null_stand_for_none(toolbox: Toolbox, format_: Any) -> None:
    """What strict decoding needs: all required, what may be left out may be null, in choices too."""
    for tool, definition in zip(toolbox.tools, toolbox.definitions(format_), strict=True):
        function = definition.get("function", definition)
        assert (definition["type"], function["strict"]) == ("function", True)
        for schema in schemas(definition):
            if "properties" in schema:
                assert schema["required"] == list(schema["properties"])
        for field in tool.fields:
            said = function["parameters"]["properties"][field.name]
            assert ("null" in said["type"]) == (not field.required)
            if field.choices:
                assert (None in said["enum"]) == (not field.required)


def test_formats_say_the_same(toolbox: Toolbox) -> None:
    """One definition: name, description and properties are those of the tool in every format."""
    by_format = {name: toolbox.definitions(name) for name in FORMATS}
    for number, tool in enumerate(toolbox.tools):
        mcp, plain = by_format["mcp"][number], by_format["anthropic"][number]
        assert mcp["inputSchema"] == plain["input_schema"] == tool.schema
        assert by_format["openai"][number]["parameters"] == by_format["openai-chat"][number]["function"]["parameters"]
        assert list(by_format["openai"][number]["parameters"]["properties"]) == [field.name for field in tool.fields]
        assert mcp["annotations"]["readOnlyHint"] == (tool.name in NAMES[:2])
        assert mcp["annotations"]["destructiveHint"] == (tool.name in NAMES[3:])


@pytest.mark.parametrize("format_", FORMATS)
def test_definitions_are_short(toolbox: Toolbox, format_: Any) -> None:
    """They stand in every prompt, so what they cost is bounded."""
    text = json.dumps(toolbox.definitions(format_), ensure_ascii=False, separators=(",", ":"))
    assert Estimate().count(text) <= WITHIN[format_]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_description_says_when_and_when_not_with_an_example_that_can_be_read(tool: Any) -> None:
    """A model that has never seen the product is told both, and its example is a valid call."""
    assert re.search(r"\b(?:Not for|not to|Never)\b", tool.description)
    example = json.loads(tool.description.partition("Example: ")[2])
    values, problems = read_fields(tool.fields, example)
    assert (values, problems) == (example, [])


def test_no_name_means_two_arguments() -> None:
    """An alias belongs to one argument of its tool, and none is the name of another."""
    for tool in TOOLS:
        for fields in (tool.fields, *(field.parts for field in tool.fields if field.parts)):
            names = [name for field in fields for name in (field.name, *field.aliases)]
            assert len(names) == len(set(names)), tool.name
            assert all(name == name.casefold() and " " not in name for name in names)


def test_only_narrows_the_tools(tmp_path: Any) -> None:
    """A box may offer some of the tools; another is unknown then, and a wrong name is refused."""
    with Memory(tmp_path, embedder="none") as memory:
        box = Toolbox(memory, only=["memory_search", "memory_get"])
        assert [one["name"] for one in box.definitions("mcp")] == NAMES[:2]
        assert box.call("memory_write", {"content": "x"}).structured["error"]["code"] == "unknown_tool"
        for wrong in (
            {"only": ["memory_serch"]},
            {"budget_tokens": 10},
            {"targets": {}},
            {"targets": {"a": "nothing"}},
        ):
            with pytest.raises(InputError):
                Toolbox(memory, **wrong)
        with pytest.raises(InputError, match="formats are"):
            box.definitions("yaml")  # type: ignore[arg-type]
