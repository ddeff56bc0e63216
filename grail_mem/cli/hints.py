"""What to do about a command that was typed wrongly: a word too many, a folder where a command belongs, another name for it.

Knows nothing of what the commands do.
"""

from __future__ import annotations

import re
import shlex
from typing import Any, Final

from grail_mem.cli.which import is_folder

_NO_COMMAND: Final = re.compile(r"No such command '(.*?)'\.", re.DOTALL)
_SHOWING: Final = ("list", "show")
"""Commands that only look: the first choice where one must be named as an example."""


_ELSEWHERE: Final = {
    "forget": "`grail delete` hides an observation, which can be undone; `grail erase` removes it for good.",
    "remove": "`grail delete` hides an observation, which can be undone; `grail erase` removes it for good.",
    "rm": "`grail delete` hides an observation, which can be undone; `grail erase` removes it for good.",
    "hide": "`grail delete` hides an observation, and `grail restore` brings it back.",
    "edit": "`grail update` changes fields, `grail revise` replaces what no longer holds.",
    "show": "`grail get` prints an observation, `grail list` lists them.",
    "ls": "`grail list` lists observations; `grail list DIR categories` the folders.",
    "find": "`grail search` takes a question, `grail recall` exact conditions.",
    "query": "`grail search` takes a question, `grail recall` exact conditions, `grail sql` a SELECT.",
    "ask": "`grail search` takes a question.",
    "status": "`grail check` looks at a store, `grail doctor` at the installation, too.",
    "serve": "`grail mcp` serves the memory to MCP clients, `grail review` a page to people.",
    "help": "`grail --help` lists the commands, `grail VERB --help` tells of one.",
    "version": "`grail --version` tells it.",
}
"""What else people type for commands, and what they mean by it."""


def usage_hint(error: Exception, ctx: Any) -> str:
    """A line before the usage of a command, or nothing.

    Args:
        error: What the parser raised.
        ctx: The parser's context, which holds the command and its path.
    """
    said = str(error)
    if "unexpected extra argument" in said:
        return "There are words too many. Put a text of several words in quotes, and a value behind its option.\n"
    found = _NO_COMMAND.search(said)
    if found is None:
        return ""
    if is_folder(found[1]):
        return _command_first(found[1], ctx)
    meant = _ELSEWHERE.get(found[1].lower(), "") if ctx.parent is None else ""
    return f"{meant}\n" if meant else ""


def _command_first(folder: str, ctx: Any) -> str:
    """Where a folder goes that stands in a command's place."""
    names = ctx.command.list_commands(ctx)
    if ctx.command.invoke_without_command:
        return f"That is a folder. Write `{ctx.command_path} --root {shlex.quote(folder)}`, or a command before it.\n"
    example = next((name for name in _SHOWING if name in names), names[0])
    several = f" The commands are {', '.join(names)}." if ctx.parent is not None else ""
    return (
        f"That is a folder; the command comes first: `{ctx.command_path} {example} {shlex.quote(folder)}`.{several}\n"
    )
