"""A problem: one finding about an input or a file, as a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from grail_mem.errors import InputError

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding: where, what, and what to do.

    Attributes:
        code: Stable short name such as `bad_date`; the docs list them.
        message: What is wrong, in one sentence.
        where: Field name, or path relative to the root; empty when it concerns the whole.
        line: 1-based line in the file, or 0 when not known.
        remedy: What to do, one sentence.
        severity: `error` means that the thing was not used; `warning` that it was used as described.
    """

    code: str
    message: str
    where: str = ""
    line: int = 0
    remedy: str = ""
    severity: Severity = "error"

    @property
    def place(self) -> str:
        """`path:line`, `path`, or the field name."""
        return f"{self.where}:{self.line}" if self.line else self.where

    def __str__(self) -> str:
        return " · ".join(part for part in (self.place, self.message, self.remedy) if part)

    def to_dict(self) -> dict[str, object]:
        """The finding as plain JSON values."""
        return asdict(self)


def as_sentence(text: str) -> str:
    """A clause, such as a remedy in a list of problems, as a sentence that stands by itself.

    Example:
        >>> as_sentence("give back the right to read it")
        'Give back the right to read it.'
    """
    end = "" if text.endswith((".", "?")) else "."
    return f"{text[:1].upper()}{text[1:]}{end}" if text else ""


class Gather:
    """Reads the parts of an input one by one and gathers every problem instead of stopping at the first."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.hints: dict[str, None] = {}

    def read(self, name: str, value: Any, reader: Callable[[Any], Any], default: Any) -> Any:
        """The value as read, or the default when it is None or cannot be used; the problem is kept then."""
        if value is None:
            return default
        try:
            return reader(value)
        except InputError as error:
            self.found += [text if text.startswith(name) else f"{name}: {text}" for text in error.problems]
            self.hints |= {error.hint: None} if error.hint else {}
            return default

    def stop(self, what: str) -> None:
        """Raise everything found as one `InputError`, if anything was found."""
        if self.found:
            raise InputError(" ".join((what, *self.found)), hint=" ".join(self.hints), problems=self.found)
