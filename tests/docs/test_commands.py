"""Every command that a page names is one, with every option that stands there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from grail_mem.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(
        path
        for path in (ROOT / "docs").rglob("*.md")
        if not {"site", ".cache"} & {*path.relative_to(ROOT / "docs").parts} and path.stem not in {"cli", "changelog"}
    ),
]
NAMED = re.compile(r"`(grail [^`\n]+)`|^(?:\$ )?(grail [^\n]+)$", re.MULTILINE)


def commands(text: str) -> Iterator[list[str]]:
    """The words of every command line on a page, whether it stands in a sentence or in a block."""
    for inline, block in NAMED.findall(text):
        line = re.split(r" [|>&;#] | 2>|…$", inline or block)[0]
        try:
            yield shlex.split(line)
        except ValueError:  # a quote that goes on in the next line
            yield line.split()


def named(words: list[str]) -> tuple[list[str], set[str]]:
    """The words that name a command, and every option that it takes; of a command with others below it, theirs too."""
    command: Any = get_command(app)
    way = [command]
    for word in words[1:]:
        found = command.get_command(None, word) if hasattr(command, "get_command") else None
        if found is None:
            break
        command = found
        way.append(command)
    way_to = list(way)
    if len(way) > 1 and hasattr(command, "list_commands"):  # `grail mcp DIR` is `grail mcp serve DIR`
        way += [command.get_command(None, name) for name in command.list_commands(None)]
    options = {option for one in way for param in one.params for option in (*param.opts, *param.secondary_opts)}
    taken_out = (
        {"--accept"} if words[1:2] == ["proposals"] else set()
    )  # by the command itself, before the parser sees it
    return words[1 : len(way_to)], options | taken_out | {"--help"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_command_on_a_page_is_one(page: Path) -> None:
    wrong = []
    for words in commands(page.read_text(encoding="utf-8")):
        name, known = named(words)
        if not name and len(words) > 1 and re.fullmatch("[a-z][a-z-]*", words[1]):
            wrong.append(f"{shlex.join(words)}: there is no such command")
        given = {word.split("=")[0].rstrip(".,") for word in words if re.match(r"--[a-z]", word)}
        wrong += [f"{shlex.join(words)}: no option {option}" for option in sorted(given - known)]
    assert wrong == []


def test_what_is_no_command_is_seen() -> None:
    """The look at pages can fail."""
    assert list(commands("Say `grail recall --tga x`.\n\n$ grail nosuch | head\n")) == [
        ["grail", "recall", "--tga", "x"],
        ["grail", "nosuch"],
    ]
    assert named(["grail", "nosuch"])[0] == []
    name, options = named(["grail", "proposals", "show", "notes", "x"])
    assert (name, "--tga" in options, "--json" in options) == (["proposals", "show"], False, True)
