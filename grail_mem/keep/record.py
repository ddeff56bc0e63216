"""One record that comes in, and one that does not, with the reason.

Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Incoming:
    """One record.

    Attributes:
        line: Where it stands in the file, or its number.
        kind: `observation`, `source`, `tombstone` or `grant`.
        id: The id that it names; empty for none.
        path: Where its file was; empty for none.
        category: Its category, where it names one.
        data: The bytes of its file; None when there is only a draft.
        draft: The fields of a draft.
        adopted: The times that its file does not tell.
        hidden: Whether it is hidden.
        said: The record itself, of kinds without a file.
        key: What it is called in a foreign store; with its content it makes the id.
        origin: What its file keeps of where it came from.
        where: Where it stands, for people; empty for the line.
    """

    line: int
    kind: str = "observation"
    id: str = ""
    path: str = ""
    category: str = ""
    data: bytes | None = None
    draft: Mapping[str, Any] = field(default_factory=dict)
    adopted: Mapping[str, str] = field(default_factory=dict)
    hidden: bool = False
    said: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that was not taken: where it stands, what it is called, and why not."""

    line: int
    name: str
    reason: str
    where: str = ""

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return self.where or (f"line {self.line}" if self.line else "at the end")

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return {"line": self.line, "where": self.place, "name": self.name, "reason": self.reason}


Records = Iterator[Incoming | Skipped]
