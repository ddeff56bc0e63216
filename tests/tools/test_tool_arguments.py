"""What a model sends: names as it guesses them, values that can mean one thing only, and a problem for each that cannot."""

from __future__ import annotations

from typing import Any

import pytest

from grail_mem.tools import TOOLS
from grail_mem.tools.field import Field, read_fields

BY_NAME = {tool.name: tool for tool in TOOLS}
GOOD: dict[str, Any] = {
    "text": "Ann likes tea", "integer": 5, "number": 0.5, "boolean": True, "time": "2026-06-02", "texts": ["Acme"], "tags": ["a"],
}  # fmt: skip
WRONG: dict[str, list[Any]] = {
    "text": [5, True, {"a": 1}, ["a"], "x\0y", "\ud800"],
    "integer": ["five", 5.5, True, {}, "5x", 10**400, "1e999", "٥"],
    "number": ["high", True, [1], float("nan"), float("inf"), "nan"],
    "boolean": ["perhaps", 2, [True], {}],
    "choice": ["nonsense", 3, ["a"]],
    "time": ["last spring", "2026-13-40", "2026-02-30", 20260602],
    "texts": [5, {"a": 1}, [1], [["a"]]],
    "tags": [5, {"a": 1}, [1], ["x" * 300]],
    "records": [5, [5], [{"colour": 1}], '{"broken"', [{}]],
}
"""By what a field takes, values that are none of it."""


def read(tool: str, sent: dict[Any, Any]) -> tuple[dict[str, Any], list[dict[str, str]]]:
    values, problems = read_fields(BY_NAME[tool].fields, sent)
    return values, [problem.to_dict() for problem in problems]


def good(field: Field) -> Any:
    if field.takes == "choice":
        return field.choices[0] if field.choices else None
    if field.takes == "records":
        return [{part.name: "x" for part in field.parts}]
    return GOOD[field.takes]


CASES = [(tool.name, field, alias) for tool in TOOLS for field in tool.fields for alias in (field.name, *field.aliases)]


def test_every_alias_means_its_field() -> None:
    """Every name that a field goes by, in any spelling of it, gives the field its value."""
    for tool, field, alias in CASES:
        if field.name == "target":
            continue  # its choices are the caller's
        camel = "".join(part.title() if n else part for n, part in enumerate(alias.split("_")))
        for name in (alias, alias.upper(), camel, alias.replace("_", "-"), f" {alias} "):
            values, problems = read(tool, {name: good(field)})
            assert values.get(field.name) == good(field), (tool, name)
            assert not [p for p in problems if p["problem"] != "is missing."], (tool, name)


def test_two_names_for_one_field_clash() -> None:
    """Two values for one argument are refused, whatever their order; an empty one is no value."""
    for tool, field, alias in CASES:
        if field.name in (alias, "target"):
            continue
        _, problems = read(tool, {alias: good(field), field.name: good(field)})
        assert problems[0]["field"] == field.name
        assert "twice" in problems[0]["problem"]
        values, _ = read(tool, {alias: None, field.name: good(field)})
        assert values[field.name] == good(field)


def test_every_wrong_value_names_its_field() -> None:
    """Whatever a field does not take gives one problem, with its name, what is wrong and what to send."""
    tried = 0
    for tool, field, alias in CASES:
        if alias != field.name or field.name == "target":
            continue
        for value in WRONG[field.takes]:
            values, problems = read(tool, {field.name: value})
            (problem,) = [p for p in problems if p["field"] == field.name]
            assert problem["problem"], (tool, field.name, value)
            assert problem["remedy"], (tool, field.name, value)
            assert field.name not in values
            tried += 1
    assert tried > 150


@pytest.mark.parametrize(
    ("tool", "sent", "values"),
    [
        ("memory_search", {"limit": "5"}, {"limit": 5}),
        ("memory_search", {"limit": 5.0}, {"limit": 5}),
        ("memory_search", {"limit": " 5.0 "}, {"limit": 5}),
        ("memory_search", {"min_confidence": "0.8"}, {"min_confidence": 0.8}),
        ("memory_search", {"min_confidence": 1}, {"min_confidence": 1.0}),
        ("memory_search", {"include_history": "True"}, {"include_history": True}),
        ("memory_search", {"include_history": "no"}, {"include_history": False}),
        ("memory_search", {"tags": '["security","api"]'}, {"tags": ["security", "api"]}),
        ("memory_search", {"tags": "security, api"}, {"tags": ["security", "api"]}),
        ("memory_search", {"tags": "security"}, {"tags": ["security"]}),
        ("memory_search", {"entity_names": "Acme, Inc."}, {"entity_names": ["Acme, Inc."]}),
        ("memory_search", {"entity_names": '["Acme, Inc.", "Ann"]'}, {"entity_names": ["Acme, Inc.", "Ann"]}),
        ("memory_search", {"mode": " Local "}, {"mode": "local"}),
        ("memory_search", {"since": " 7d "}, {"since": "7d"}),
        ("memory_write", {"content": "x", "entities": "Acme"}, {"content": "x", "entities": [{"name": "Acme"}]}),
        ("memory_write", {"content": "x", "entities": '["Acme", {"name": "Ann", "type": null}]'}, {"content": "x", "entities": [{"name": "Acme"}, {"name": "Ann"}]}),
        ("memory_write", {"content": "x", "relations": {"subject": "A", "object": "B", "predicate": "KNOWS"}}, {"content": "x", "relationships": [{"source": "A", "target": "B", "relationship_type": "KNOWS"}]}),
        ("memory_forget", {"id": "01J", "reason": "r"}, {"id": ["01J"], "reason": "r"}),
    ],
)  # fmt: skip
def test_a_value_that_can_mean_one_thing_is_taken_for_it(tool: str, sent: Any, values: Any) -> None:
    """Numbers and truth as text, lists as JSON or between commas, one item for a list."""
    assert read(tool, sent) == (values, [])


@pytest.mark.parametrize("empty", [None, "", "  ", []])
def test_empty_is_absent(empty: Any) -> None:
    """A strict format sends null for what is left out; models also send empty text."""
    sent = {field.name: empty for field in BY_NAME["memory_search"].fields}
    assert read("memory_search", sent) == ({}, [])
    _, problems = read("memory_write", {"content": empty, "title": empty})
    assert [(p["field"], p["problem"]) for p in problems] == [("content", "is missing.")]


def test_all_problems_come_at_once() -> None:
    """One answer tells everything that is wrong, unknown names with the nearest known one."""
    _, problems = read(
        "memory_search", {"tagz": ["a"], "limit": 0, "since": "last spring", "k": "many", "category": "../x", 7: 1}
    )
    by_field = {p["field"]: p for p in problems}
    assert set(by_field) == {"tagz", "limit", "since", "category", "7"}
    assert by_field["tagz"]["remedy"].startswith("Did you mean tags?")
    assert "2026-06-02" in by_field["since"]["remedy"]
    assert "twice" in by_field["limit"]["problem"]


@pytest.mark.parametrize("number", [0, -1, 51, "0"])
def test_a_number_outside_its_bounds_is_refused(number: Any) -> None:
    """Nothing is cut to what would be allowed: a filter counts as sent, or not at all."""
    _, (problem,) = read("memory_search", {"limit": number})
    assert problem["problem"].startswith("must be from 1 to 50")
