"""A field of a tool: its name, what it takes, its schema, and how a value that a model sent is read.

A value that can mean one thing only is taken for it; everything else is refused with what came and what to send. Knows nothing
of tools.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from grail_mem.errors import InputError
from grail_mem.model.names import clean_tags
from grail_mem.tools.naming import FieldProblem, is_absent, named

Takes = Literal["text", "integer", "number", "boolean", "choice", "time", "texts", "tags", "records"]

_SHOWN: Final = 60
_MAX_ITEMS: Final = 100
MAX_CHARS: Final = 100_000
_JSON_LIKE: Final = re.compile(r"""\s*(?:\[\s*["{\[]|\{\s*")""")
_YES_NO: Final = {"true": True, "false": False, "yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a tool.

    Attributes:
        name: As the schema has it.
        takes: What kind of value.
        says: For the model, in a few words.
        aliases: Other names that models give it.
        required: Whether the tool needs it.
        choices: The values of a choice.
        least: The smallest number.
        most: The largest number, or characters of a text at most.
        parts: The fields of a record, the required ones first; a text alone stands for the first.
        check: Reads the value once more, for what only its own kind knows.
    """

    name: str
    takes: Takes
    says: str
    aliases: tuple[str, ...] = ()
    required: bool = False
    choices: tuple[str, ...] = ()
    least: float = 0
    most: float = MAX_CHARS
    parts: tuple[Field, ...] = ()
    check: Callable[[Any], Any] | None = None

    def read(self, value: Any) -> Any:
        """The value as the tool takes it; None when there is none.

        Raises:
            InputError: It is none that the field takes; the message begins with what is wrong, and the hint says what to send.
        """
        if is_absent(value):
            return None
        made = _READERS[self.takes](self, value)
        if is_absent(made):
            return None
        if self.check is not None:
            self.check(made)
        return made


def shown(value: Any) -> str:
    """What came, short enough to be said."""
    try:
        text = json.dumps(value, ensure_ascii=True, default=repr)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _text(field: Field, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"must be text, not {shown(value)}.", hint="Send one string.")
    if len(value) > field.most:
        raise InputError(f"is {len(value)} characters long; at most {field.most:.0f} are taken.", hint="Send less.")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError("holds NUL or half a surrogate pair.", hint="Send text without it.")
    return value


def _line(field: Field, value: Any) -> str:
    return _text(field, value).strip()


def _integer(field: Field, value: Any) -> int:
    number = _finite(value)
    if number is None or number != int(number):
        raise InputError(f"must be a whole number, not {shown(value)}.", hint=_range(field))
    return int(_within(field, int(number), value))


def _number(field: Field, value: Any) -> float:
    number = _finite(value)
    if number is None:
        raise InputError(f"must be a number, not {shown(value)}.", hint=_range(field))
    return float(_within(field, number, value))


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not value.isascii():
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _within(field: Field, number: float, value: Any) -> float:
    if not field.least <= number <= field.most:
        raise InputError(f"must be from {field.least:g} to {field.most:g}, not {shown(value)}.", hint=_range(field))
    return number


def _range(field: Field) -> str:
    return f"Send a number from {field.least:g} to {field.most:g}."


def _boolean(_field: Field, value: Any) -> bool:
    if isinstance(value, str):
        value = _YES_NO.get(value.strip().casefold(), value)
    if not isinstance(value, bool):
        raise InputError(f"must be true or false, not {shown(value)}.", hint="Send true or false.")
    return value


def _choice(field: Field, value: Any) -> str:
    by_key = {choice.casefold(): choice for choice in field.choices}
    made = by_key.get(value.strip().casefold()) if isinstance(value, str) else None
    if made is None:
        allowed = ", ".join(field.choices)
        raise InputError(f"must be one of {allowed}, not {shown(value)}.", hint=f"Send one of {allowed}.")
    return made


def _texts(field: Field, value: Any) -> list[str]:
    listed = _listed(value)
    listed = [listed] if isinstance(listed, str) else listed
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise InputError(f"must be a list of texts, not {shown(value)}.", hint='Send a list such as ["Acme", "Ann"].')
    _few(listed)
    return [made for item in listed if (made := _line(field, item))]


def _tags(_field: Field, value: Any) -> list[str]:
    try:
        return list(clean_tags(value))
    except InputError as error:
        raise InputError(
            " ".join(error.problems), hint='Send a list such as ["security", "api"].', problems=error.problems
        ) from error


def _records(field: Field, value: Any) -> list[dict[str, Any]]:
    listed = _listed(value)
    listed = [listed] if isinstance(listed, str | Mapping) else listed
    if not isinstance(listed, list):
        raise InputError(f"must be a list of objects, not {shown(value)}.", hint=_example(field))
    _few(listed)
    made: list[dict[str, Any]] = []
    problems: list[str] = []
    for number, item in enumerate(listed, start=1):
        try:
            made.append(_record(field, item))
        except InputError as error:
            problems += [f"item {number} {text}" for text in error.problems]
    if problems:
        raise InputError(" ".join(problems), hint=_example(field), problems=problems)
    return made


def _record(field: Field, item: Any) -> dict[str, Any]:
    needed = [part.name for part in field.parts if part.required]
    if isinstance(item, str) and len(needed) == 1:
        item = {needed[0]: item}
    if not isinstance(item, Mapping):
        raise InputError(f"must be an object, not {shown(item)}.")
    values, problems = read_fields(field.parts, item)
    if problems:
        raise InputError("", problems=[f"{name}: {what}" for name, what, _ in problems])
    return values


def _example(field: Field) -> str:
    item = json.dumps({part.name: "…" for part in field.parts}, ensure_ascii=False)
    return f"Send a list such as [{item}]."


def _few(listed: list[Any]) -> None:
    if len(listed) > _MAX_ITEMS:
        raise InputError(f"holds {len(listed)} items; at most {_MAX_ITEMS} are taken.", hint="Send fewer.")


def _listed(value: Any) -> Any:
    """A list that was sent as a text in JSON, as the list."""
    if isinstance(value, tuple | set | frozenset):
        return sorted(value, key=repr) if isinstance(value, set | frozenset) else list(value)
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        if _JSON_LIKE.match(value):
            raise InputError(
                f"is no whole JSON: {shown(value)}.", hint="Send the list itself, not as a text."
            ) from error
        return value


_READERS: Final[Mapping[str, Callable[[Field, Any], Any]]] = {
    "text": _text, "time": _line, "integer": _integer, "number": _number, "boolean": _boolean, "choice": _choice,
    "texts": _texts, "tags": _tags, "records": _records,
}  # fmt: skip


def read_fields(fields: tuple[Field, ...], sent: Mapping[Any, Any]) -> tuple[dict[str, Any], list[FieldProblem]]:
    """What was sent, by the names of the fields, without what is absent; and everything that is wrong with it."""
    meant = {name: field.name for field in fields for name in (field.name, *field.aliases)}
    given, problems = named(meant, sent)
    values: dict[str, Any] = {}
    wrong = {problem.field for problem in problems}
    for field in fields:
        if field.name in wrong:
            continue
        try:
            value = field.read(given.get(field.name))
        except InputError as error:
            problems.append(FieldProblem(field.name, " ".join(error.problems), error.hint))
            continue
        if value is not None:
            values[field.name] = value
        elif field.required:
            problems.append(FieldProblem(field.name, "is missing.", field.says))
    return values, problems
