"""A tool of an agent: one definition, and what every format makes of it.

Knows nothing of the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from grail_mem.errors import InputError
from grail_mem.tools.field import Field

Format = Literal["mcp", "openai", "openai-chat", "anthropic"]
FORMATS: Final = ("mcp", "openai", "openai-chat", "anthropic")

_TYPES: Final = {"text": "string", "time": "string", "choice": "string", "integer": "integer", "number": "number",
    "boolean": "boolean"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: What a model calls.
        title: For people.
        description: For the model: when to use it, when not, and an example.
        fields: Its arguments.
        read_only: Whether it changes nothing.
        destructive: Whether it can take something away.
        idempotent: Whether a second call with the same arguments changes nothing more.
    """

    name: str
    title: str
    description: str
    fields: tuple[Field, ...]
    read_only: bool
    destructive: bool
    idempotent: bool

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return _object(self.fields, strict=False)

    @property
    def strict_schema(self) -> dict[str, Any]:
        """The schema in which every argument is required and one that may be left out may be null."""
        return _object(self.fields, strict=True)

    def choosing(self, targets: Sequence[str]) -> Tool:
        """The tool for a caller that may write to these targets."""
        chosen = (replace(field, choices=tuple(targets)) if field.name == "target" else field for field in self.fields)
        return replace(self, fields=tuple(chosen))

    def naming(self, targets: Sequence[str]) -> Tool:
        """The tool as it is shown to a model: without a target when there is no choice of one."""
        made = self.choosing(targets)
        if len(targets) > 1:
            return made
        return replace(made, fields=tuple(field for field in made.fields if field.name != "target"))

    def without(self, name: str) -> Tool:
        """The tool without an argument; the same when it has none of that name."""
        if all(field.name != name for field in self.fields):
            return self
        return replace(self, fields=tuple(field for field in self.fields if field.name != name))

    def definition(self, format: str) -> dict[str, Any]:  # noqa: A002  the word of the interface
        """The tool as a kind of interface takes it.

        Raises:
            InputError: There is no such format.
        """
        match format:
            case "mcp":
                return {"name": self.name, "title": self.title, "description": self.description, "inputSchema": self.schema,
                    "annotations": self.annotations}  # fmt: skip
            case "anthropic":
                return {"name": self.name, "description": self.description, "input_schema": self.schema}
            case "openai":
                return {"type": "function", **self._strict()}
            case "openai-chat":
                return {"type": "function", "function": self._strict()}
        raise InputError(f"There is no format {format!r}; the formats are {', '.join(FORMATS)}.")

    @property
    def annotations(self) -> dict[str, Any]:
        """What a host of the Model Context Protocol is told of it."""
        return {
            "title": self.title, "readOnlyHint": self.read_only, "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent, "openWorldHint": False,
        }  # fmt: skip

    def _strict(self) -> dict[str, Any]:
        return {
            "name": self.name, "description": self.description, "parameters": self.strict_schema, "strict": True,
        }  # fmt: skip


def _object(fields: Sequence[Field], *, strict: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "object",
        "properties": {field.name: _property(field, strict=strict) for field in fields},
        "required": [field.name for field in fields if strict or field.required],
        "additionalProperties": False,
    }
    return made


def _property(field: Field, *, strict: bool) -> dict[str, Any]:
    made: dict[str, Any] = dict(_type_of(field, strict=strict))
    if field.says:
        made["description"] = field.says
    if strict and not field.required:
        made["type"] = [made["type"], "null"]
        if "enum" in made:
            made["enum"] = [*made["enum"], None]
    return made


def _type_of(field: Field, *, strict: bool) -> Mapping[str, Any]:
    if field.takes in ("texts", "tags"):
        return {"type": "array", "items": {"type": "string"}}
    if field.takes == "records":
        return {"type": "array", "items": _object(field.parts, strict=strict)}
    made: dict[str, Any] = {"type": _TYPES[field.takes]}
    if field.choices:
        made["enum"] = list(field.choices)
    return made
