"""What the adapters share: the tools of a caller, and the error of a framework that is not there. Knows no framework."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from grail_mem.errors import GrailError, MissingDependencyError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.tools import Toolbox, ToolResult

_LOG = logging.getLogger("grail_mem")

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


@contextmanager
def answer_first() -> Iterator[None]:
    """What keeps a conversation behind an answer: if that cannot be kept, it is logged, and the answer is not lost for it."""
    try:
        yield
    except GrailError:
        _LOG.warning("What was said was not kept.", exc_info=True)


def missing(package: str, extra: str) -> MissingDependencyError:
    """The error of a framework that is not installed."""
    return MissingDependencyError(
        f"This adapter needs the package {package}.", hint=f"pip install 'grail-mem[{extra}]'"
    )
