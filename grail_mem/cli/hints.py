"""What to do about a command that was typed wrongly: a word too many, a folder where a command belongs.

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


def usage_hint(error: Exception, ctx: Any) -> str:
    """A line before the usage of a command, or nothing.

    Args:
        error: What the parser raised.
        ctx: The parser's context, which holds the command and its path.
    """
    said = str(error)
    if "unexpected extra argument" in said:
        return "There are words too many. Put a text of several words in quotes, and a value behind its option.\n"
    if (found := _NO_COMMAND.search(said)) and is_folder(found[1]):
        return _command_first(found[1], ctx)
    return ""


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
