"""What a tool answers with: text for the model, the same as values, and whether it failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from grail_mem.errors import GrailError, InputError
from grail_mem.model.refusal import without_place
from grail_mem.model.untrusted import as_data
from grail_mem.tools.naming import FieldProblem


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call.

    Attributes:
        text: For the model; stored words stand in it as fenced data.
        structured: The same in short, as plain JSON values; `ok` is False when it failed, and `error` says why.
        is_error: Whether it failed; then no memory was changed.
    """

    text: str
    structured: dict[str, Any]
    is_error: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return {"text": self.text, "structured": self.structured, "is_error": self.is_error}


def failed(tool: str, code: str, message: str, problems: Sequence[FieldProblem] = (), hint: str = "") -> ToolResult:
    """A call that failed, with everything that is wrong at once."""
    message = as_data(message)
    problems = [FieldProblem(*map(as_data, problem)) for problem in problems]
    lines = [f"{tool or 'The call'} failed ({code}): {message}"]
    lines += [
        f"- {p.field}: {p.problem} {p.remedy}".rstrip() if p.field else f"- {p.problem} {p.remedy}".rstrip()
        for p in problems
    ]
    if hint:
        lines.append(hint)
    error = {"code": code, "message": message, "problems": [p.to_dict() for p in problems], "hint": hint}
    return ToolResult("\n".join(lines), {"ok": False, "tool": tool, "error": error}, is_error=True)


def failed_by(tool: str, error: GrailError, fields: Sequence[str]) -> ToolResult:
    """A call that the store refused."""
    said = error.problems if isinstance(error, InputError) else ()
    problems = [] if said == (error.message,) else [_of_field(text, fields) for text in said]
    told, hint = without_place(error)
    message = told if not problems else "nothing was done; the arguments cannot be used."
    hint = _HINTS.get(error.code, hint)
    return failed(tool, error.code, message, problems, _HINTS.get("", "") if "`" in hint else hint)


_HINTS: Final = {
    "": "Nothing was changed.",
    "unsupported_evidence": "Claim what the words say, quote words that say it, or leave quote out: then it is kept as your own conclusion.",
    "evidence_not_found": "Quote the words exactly as they stand in the conversation, or leave quote out.",
    "access": "Only the owner of the store can allow it; do not try again.",
}
"""What a model can do, by the code of an error; other hints count unless they name commands that it has not."""


def _of_field(text: str, fields: Sequence[str]) -> FieldProblem:
    """A problem in words as one of the field that its first word names."""
    first, _, rest = text.partition(" ")
    name = first.rstrip(":")
    return FieldProblem(name, rest, "") if name in fields else FieldProblem("", text, "")
