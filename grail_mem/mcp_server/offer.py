"""What a server offers to one caller: its tools, and the one way in which a call is answered.

Knows nothing of the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from grail_mem.errors import GrailError
from grail_mem.mcp_server.limits import Limits
from grail_mem.mcp_server.more_calls import MORE_CALLS, Asked, Tell
from grail_mem.mcp_server.more_tools import MORE_TOOLS
from grail_mem.mcp_server.opening import Opening, named
from grail_mem.model.scope import Principal
from grail_mem.tools import TOOLS, Tool, Toolbox, ToolResult
from grail_mem.tools.calls import ERASE
from grail_mem.tools.field import read_fields
from grail_mem.tools.result import failed, failed_by
from grail_mem.tools.targets import STORE, targets_of

if TYPE_CHECKING:
    from grail_mem.memory import Memory
    from grail_mem.memory.session import Session


class Offer:
    """The tools for one caller.

    Args:
        opening: The store.
        principal: Who calls; None is the owner.
        limits: What the server was started with.
    """

    def __init__(self, opening: Opening, principal: Principal | None, limits: Limits) -> None:
        self._opening, self._principal, self._limits = opening, principal, limits
        self._offered = {
            tool.name: tool if limits.allow_erase else tool.without(ERASE)
            for tool in (*TOOLS, *MORE_TOOLS)
            if limits.offers(tool.name, read_only=tool.read_only)
        }

    @property
    def is_structured(self) -> bool:
        """Whether answers carry their values beside the text."""
        return self._limits.structured

    @property
    def caller(self) -> Memory | Session:
        """The store as the caller may use it, opened now if it was not."""
        return self._opening.caller(self._principal)

    def tools(self) -> list[Tool]:
        """The tools that are offered, as this caller has them; for an owner the store is not opened for that."""
        targets = (STORE,) if self._principal is None else tuple(targets_of(self.caller))
        return [tool.naming(targets) for tool in self._offered.values()]

    def call(self, name: str, arguments: Mapping[str, Any], tell: Tell) -> ToolResult:
        """What a tool answers to what a model sent; whatever that is, it is answered and not raised.

        Args:
            name: The tool.
            arguments: As the model sent them.
            tell: Hears of progress; what it raises ends the call.
        """
        tool = self._offered.get(name)
        try:
            if tool is None or name not in MORE_CALLS:
                return self._toolbox.call(name, arguments) if tool is not None else self._no_tool(name)
            return self._call(tool, arguments, tell)
        except GrailError as error:
            return failed_by(name, error, [field.name for field in tool.fields] if tool is not None else ())

    def _call(self, tool: Tool, arguments: Mapping[str, Any], tell: Tell) -> ToolResult:
        caller = self.caller
        fields = tool.naming(tuple(targets_of(caller))).fields
        values, problems = read_fields(fields, arguments)
        if problems:
            return failed(tool.name, "input", "nothing was done; the arguments cannot be used.", problems)
        may = {
            "acting_for": named(self._principal),
            "read_only": self._limits.read_only,
            "may_apply": self._limits.allow_apply,
            "may_erase": self._limits.allow_erase,
        }
        return MORE_CALLS[tool.name](Asked(caller, values, self._limits.budget_tokens, tell, may))

    @cached_property
    def _toolbox(self) -> Toolbox:
        five = [tool.name for tool in TOOLS if tool.name in self._offered]
        return Toolbox(
            self.caller, budget_tokens=self._limits.budget_tokens, only=five, may_erase=self._limits.allow_erase
        )

    def _no_tool(self, name: str) -> ToolResult:
        hidden = {tool.name: tool for tool in (*TOOLS, *MORE_TOOLS)}.get(name)
        why = "" if hidden is None else " This server was started without it."
        return failed(
            "",
            "unknown_tool",
            f"there is no tool {name[:80]!r}.{why}",
            hint=f"The tools are {', '.join(self._offered)}.",
        )
