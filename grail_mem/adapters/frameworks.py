"""What the adapters share: the tools of a caller, and the error of a framework that is not there. Knows no framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from grail_mem.errors import MissingDependencyError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.tools import Toolbox, ToolResult

Caller = Memory | Session | Toolbox
"""Whose memory it is: the owner's, that of a session, or a toolbox with choices of one's own."""


class Answering(Protocol):
    """What answers calls of tools: a `Toolbox`, or the commands of a memory tool."""

    def call(self, name: str, arguments: Mapping[str, Any] | str | None) -> ToolResult:
        """What a tool answers to what a model sent."""
        ...


def toolbox_of(caller: Caller) -> Toolbox:
    """The tools of a caller."""
    return caller if isinstance(caller, Toolbox) else Toolbox(caller)


def missing(package: str, extra: str) -> MissingDependencyError:
    """The error of a framework that is not installed."""
    return MissingDependencyError(
        f"This adapter needs the package {package}.", hint=f"pip install 'grail-mem[{extra}]'"
    )
