"""The question before something is erased for good.

Knows nothing of how it is erased.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from grail_mem.cli import output
from grail_mem.errors import InputError


def ask_to_erase(what: str, show: Callable[[], None], *, as_json: bool) -> None:
    """Go on only when a person says yes.

    Args:
        what: What would go, in words.
        show: Prints it at length.
        as_json: Whether the answer is for a program.

    Raises:
        InputError: Nobody is there to ask.
        Abort: The person says no.
    """
    if as_json or not sys.stdin.isatty():
        raise InputError(f"This would erase {what} for good.", hint="Say --yes, or look first with --dry-run.")
    show()
    if (output.ask("Erase this for good? Type yes:") or "").lower() != "yes":
        raise typer.Abort
