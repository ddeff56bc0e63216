"""`grail tools` and `grail skill`: thin faces of the five tools and of the skill folder."""

from __future__ import annotations

import json
import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory
from grail_mem.cli.app import COMMANDS
from grail_mem.tools import TOOLS
from grail_mem.tools.field import read_fields
from grail_mem.tools.tool import FORMATS

SKILL = files("grail_mem").joinpath("skill")


@pytest.mark.parametrize("format_", FORMATS)
def test_definitions_are_printed_as_a_list(grail: Any, format_: str) -> None:
    """They can be pasted as they are, and need no store."""
    made = json.loads(grail("tools", "--format", format_).stdout)
    assert made == [tool.naming(["store"]).definition(format_) for tool in TOOLS]


def test_a_tool_is_called_for_an_agent(grail: Any, grail_json: Any, tmp_path: Path) -> None:
    """What the agent writes is its own; a failed call ends with 1 and says why on stdout."""
    made = grail_json("tools", "call", tmp_path, "memory_write", '{"content": "Ann likes tea."}', "--as", "a/u1")
    with Memory(tmp_path, embedder="none") as memory:
        assert memory.get(made["structured"]["id"]).scope == "agent:a/u1"
        memory.grant("user:u1", "org:acme", "write")
    found = grail("tools", "call", tmp_path, "memory_search", "-", "--as", "a/u1", input='{"tags": ["x"]}')
    assert (found.exit_code, "no_match" in found.stdout) == (0, True)
    failed = grail("tools", "call", tmp_path, "memory_search", '{"limit": 0}')
    assert (failed.exit_code, "limit: must be from 1 to 50" in failed.stdout) == (1, True)
    listed = json.loads(grail("tools", "--as", "a/u1", "--root", tmp_path).stdout)
    assert listed[2]["inputSchema"]["properties"]["target"]["enum"] == ["private", "org"]
    assert grail("tools", "--format", "yaml").exit_code == 2
    assert grail("tools", "call", tmp_path, "memory_search", "{}", "--budget", "10").exit_code == 2


def test_the_skill_is_installed_and_never_written_over(grail: Any, grail_json: Any, tmp_path: Path) -> None:
    """The same again changes nothing; a file that somebody changed stays unless forced."""
    assert grail_json("skill", "install", tmp_path / "s", "--dry-run")["dry_run"] is True
    assert not (tmp_path / "s").exists()
    made = grail_json("skill", "install", tmp_path / "s")
    first = Path(made["folder"]) / "SKILL.md"
    assert first.read_text() == SKILL.joinpath("SKILL.md").read_text()
    assert sorted(made["files"]) == ["SKILL.md", "commands/recall.md", "commands/remember.md", "commands/review.md"]
    assert grail("skill", "install", tmp_path / "s").exit_code == 0
    first.write_text("mine")
    refused = grail("skill", "install", tmp_path / "s")
    assert (refused.exit_code, first.read_text()) == (5, "mine")
    assert grail("skill", "install", tmp_path / "s", "--force").exit_code == 0
    assert first.read_text().rstrip() == grail("skill", "show").stdout.rstrip()
    (tmp_path / "file").write_text("x")
    assert grail("skill", "install", tmp_path / "file").exit_code == 2


def test_what_the_skill_says_can_be_run(grail: Any) -> None:
    """Every command in it exists, every call of a tool has arguments that the tool takes, and the frontmatter names it."""
    texts = [SKILL.joinpath("SKILL.md").read_text(), *(f.read_text() for f in SKILL.joinpath("commands").iterdir())]
    head = texts[0].split("---")[1]
    assert re.search(r"^name: [a-z-]{1,64}$", head, re.MULTILINE)
    assert len(re.search(r"^description: (.*)$", head, re.MULTILINE)[1]) <= 1024  # type: ignore[index]
    commands = [found for text in texts for found in re.findall(r"\bgrail ([a-z-]+)", text) if found != "memory"]
    assert {"tools", "proposals", "candidates", "consolidate"} <= set(commands) <= {*COMMANDS, "is"}
    listed = {
        (group, verb)
        for text in texts
        for group, verb in re.findall(r"grail (proposals|candidates|tools) ([a-z]+)", text)
    }
    for group, verb in listed:
        assert grail(group, verb, "--help").exit_code == 0, (group, verb)
    calls = [line for text in texts for line in re.findall(r"grail tools call (memory_\w+ '.*?'(?=\s|`|$))", text)]
    assert len(calls) >= 7
    for line in calls:
        name, sent = shlex.split(line)
        tool = next(tool for tool in TOOLS if tool.name == name)
        assert read_fields(tool.fields, json.loads(sent)) == (json.loads(sent), [])
