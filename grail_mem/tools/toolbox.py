"""The tools for one caller: their definitions, and the one way in which a model's call becomes a call of a verb.

Knows nothing of servers and frameworks.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from grail_mem.errors import GrailError, InputError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.model.scope import clean_scope
from grail_mem.tools import answers
from grail_mem.tools.calls import CALLS, ERASE
from grail_mem.tools.definitions import TOOLS
from grail_mem.tools.field import read_fields
from grail_mem.tools.naming import FieldProblem, nearest
from grail_mem.tools.naming_ids import UnclearError
from grail_mem.tools.result import ToolResult, failed, failed_by
from grail_mem.tools.targets import targets_of
from grail_mem.tools.tool import FORMATS, Format, Tool

MIN_BUDGET: Final = 300
"""Tokens that the frame of an answer and what to do next need; chosen."""
_HIDE: Final = "Leave erase out: then it is hidden, which a person can take back. Only a person erases for good."
_BY_NAME: Final = {tool.name: tool for tool in TOOLS}


class Toolbox:
    """The five tools of an agent over one opened store or session.

    Args:
        caller: Who calls: a session, limited to what is granted to it, or the owner's memory.
        budget_tokens: Tokens that the text of an answer has at most, as estimated; 300 or more.
        targets: By the names that a model may write to, the scopes they mean, the first of them when it names none; None
            for those in which the caller may write.
        only: Names of the tools that are offered; None for all five.
        may_erase: Offer to erase beside hiding; what is hidden can be brought back, what is erased cannot.

    Raises:
        InputError: An argument cannot be used.

    Example:
        >>> import tempfile
        >>> from grail_mem import Memory
        >>> with Memory(tempfile.mkdtemp()) as memory, memory.session(user_id="u1", agent_id="assistant") as session:
        ...     tools = Toolbox(session)
        ...     written = tools.call("memory_write", {"content": "Prefers concise answers."})
        ...     tools.call("memory_search", '{"q": "How long should answers be?", "top_k": "3"}').structured["count"]
        1
    """

    def __init__(
        self,
        caller: Memory | Session,
        *,
        budget_tokens: int = 2000,
        targets: Mapping[str, str] | None = None,
        only: Collection[str] | None = None,
        may_erase: bool = True,
    ) -> None:
        if isinstance(budget_tokens, bool) or not isinstance(budget_tokens, int) or budget_tokens < MIN_BUDGET:
            raise InputError(f"budget_tokens must be a whole number, {MIN_BUDGET} or more, not {budget_tokens!r}.")
        if targets is not None and not targets:
            raise InputError(
                "targets must name at least one.", hint="Leave it out for all that the caller may write to."
            )
        wrong = sorted(set(only or ()) - set(_BY_NAME))
        if isinstance(only, str) or wrong:
            raise InputError(f"only names tools of {', '.join(_BY_NAME)}, not {only!r}.")
        self._caller, self._budget = caller, budget_tokens
        self._targets = None if targets is None else {name: clean_scope(scope) for name, scope in targets.items()}
        self._tools = tuple(tool for tool in TOOLS if only is None or tool.name in only)
        self._may_erase = may_erase

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that are offered, as this caller has them."""
        names = tuple(self._named_targets())
        shown = (tool if self._may_erase else tool.without(ERASE) for tool in self._tools)
        return tuple(tool.naming(names) for tool in shown)

    def definitions(self, format: Format = "mcp") -> list[dict[str, Any]]:  # noqa: A002  the word of the interface
        """The definitions as an interface takes them.

        Args:
            format: `mcp`, `anthropic`, `openai` (a strict function of the Responses API) or `openai-chat`.

        Raises:
            InputError: There is no such format.
        """
        if format not in FORMATS:
            raise InputError(f"There is no format {format!r}; the formats are {', '.join(FORMATS)}.")
        return [tool.definition(format) for tool in self.tools]

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> ToolResult:
        """What a tool answers to what a model sent; whatever that is, it is answered and not raised.

        Args:
            name: The tool.
            arguments: As the model sent them: values by name, or one JSON text of them.
        """
        tool = next((tool for tool in self._tools if tool.name == name), None)
        if tool is None:
            return self._no_tool(name)
        sent = _opened(arguments)
        if isinstance(sent, FieldProblem):
            return failed(tool.name, "input", "the arguments cannot be read.", [sent])
        try:
            targets = self._named_targets()
            values, problems = read_fields(tool.choosing(tuple(targets)).fields, sent)
            if problems:
                return failed(tool.name, "input", "nothing was done; the arguments cannot be used.", problems)
            if values.get(ERASE) and not self._may_erase:
                return failed(tool.name, "access", "nothing was done; erasing is not offered here.", hint=_HIDE)
            return CALLS[tool.name](self._caller, values, self._budget, targets)
        except UnclearError as error:
            return answers.unclear(tool.name, error.message, error.hint, error.candidates, self._budget)
        except GrailError as error:
            return failed_by(tool.name, error, [field.name for field in tool.fields])

    def _named_targets(self) -> Mapping[str, str | None]:
        return targets_of(self._caller) if self._targets is None else self._targets

    def _no_tool(self, name: object) -> ToolResult:
        names = [tool.name for tool in self._tools]
        near = nearest(name, names) if isinstance(name, str) else ""
        hint = (f"Did you mean {near}? " if near else "") + f"The tools are {', '.join(names)}."
        return failed("", "unknown_tool", f"there is no tool {str(name)[:80]!r}.", hint=hint)


def _opened(arguments: object) -> Mapping[Any, Any] | FieldProblem:
    """The arguments by name; a problem when they are none."""
    remedy = 'Send one JSON object, such as {"query": "…"}.'
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            return FieldProblem("arguments", f"are no JSON: {error}.", remedy)
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        return FieldProblem("arguments", f"must be an object, not {type(arguments).__name__}.", remedy)
    return arguments
