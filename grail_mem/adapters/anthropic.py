"""Anthropic's memory tool for its own runner of tools: `client.beta.messages.run_tools(tools=[MemoryTool(session)], …)`.

The commands are those of `MemoryCommands`, which needs no package.
"""

from __future__ import annotations

from typing import Any

from grail_mem.adapters.frameworks import missing
from grail_mem.adapters.memory_commands import NAME, MemoryCommands
from grail_mem.errors import GrailError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.model.refusal import without_place

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
except ImportError as error:
    raise missing("anthropic", "anthropic") from error


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool over one folder and one scope of a store.

    Args:
        caller: Whose memory it is; what a session may not read is as if it were not there.
        folder: The category that `/memories` stands for.
        scope: The scope that files are in; of a session its own when left out, else the store's default.
        cache_control: As the request has it.

    Raises:
        InputError: Folder or scope cannot be used.
        MissingDependencyError: On import: the extra `anthropic` is not installed.
    """

    def __init__(
        self, caller: Memory | Session, *, folder: str = "files", scope: str | None = None, cache_control: Any = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._commands = MemoryCommands(caller, folder=folder, scope=scope)

    def call(self, input: object) -> str:  # noqa: A002  the word of the package
        """Carry out one command."""
        try:
            return self._commands.run(NAME, input if isinstance(input, dict | str) else None)
        except GrailError as error:
            raise ToolError(" ".join(without_place(error)).rstrip()) from error

    def view(self, command: Any) -> str:
        """A file with numbered lines, or what lies in a folder."""
        return self._carried_out(command)

    def create(self, command: Any) -> str:
        """Make a file."""
        return self._carried_out(command)

    def str_replace(self, command: Any) -> str:
        """Replace what stands in a file exactly once."""
        return self._carried_out(command)

    def insert(self, command: Any) -> str:
        """Put text behind a line."""
        return self._carried_out(command)

    def delete(self, command: Any) -> str:
        """Hide a file, or all files in a folder."""
        return self._carried_out(command)

    def rename(self, command: Any) -> str:
        """Give a file or a folder another path."""
        return self._carried_out(command)

    def _carried_out(self, command: Any) -> str:
        return self.call(command.model_dump(exclude_none=True))
