"""The delta: what files say now where that differs from the rows below, and which of those rows no longer count.

Plain values in memory. Knows nothing of DuckDB, nor of how files are looked at.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Literal, NamedTuple, Protocol

from grail_mem.model.problem import Problem
from grail_mem.model.times import format_time, from_us
from grail_mem.store.files import FileState
from grail_mem.store.observation_file import Adopted, FileRow


class BaseRow(NamedTuple):
    """What the delta needs to know of a row of the snapshot."""

    rid: int
    id: str
    path: str
    sha256: str
    state: FileState
    has_id: bool
    observed_us: int
    recorded_us: int


class Base(Protocol):
    """The rows below the delta.

    Attributes:
        came_first: Whether its rows were known before the files that are looked at now, and so keep their ids.
    """

    came_first: bool

    def by_path(self, paths: Collection[str]) -> dict[str, BaseRow]:
        """Rows by path, those that no longer count included."""
        ...

    def by_id(self, ids: Collection[str]) -> dict[str, BaseRow]:
        """Rows by id, those that no longer count included."""
        ...


Kind = Literal["adopt", "edit", "relocate", "vanish"]


@dataclass(frozen=True, slots=True)
class Change:
    """What somebody else did to a file, found by looking: the ledger has not heard of it."""

    kind: Kind
    id: str
    path: str
    was: str = ""
    row: FileRow | None = None


_versions: Final = count(1)
"""Shared: a view that begins anew, as after another branch was checked out, must not look like the one it was."""


@dataclass(slots=True)
class Delta:
    """Rows by path, dead rows of the snapshot, and what was seen of each file looked at.

    Attributes:
        rows: What files say that the snapshot does not hold.
        dead: Row numbers of the snapshot that no longer count.
        states: Every path looked at and its state; None when the file is gone.
        problems: By path, why a file is not used or which of its fields are not.
        version: Moves with every change of rows or dead rows, to a number that no delta of this process had.
    """

    rows: dict[str, FileRow] = field(default_factory=dict)
    dead: set[int] = field(default_factory=set)
    states: dict[str, FileState | None] = field(default_factory=dict)
    problems: dict[str, tuple[Problem, ...]] = field(default_factory=dict)
    version: int = field(default_factory=_versions.__next__)

    def moved(self) -> None:
        """Note that rows or dead rows changed."""
        self.version = next(_versions)


def adopted_as(before: BaseRow) -> Adopted:
    """What a row of the snapshot keeps for a file that does not carry it itself."""
    return Adopted(before.id, format_time(from_us(before.observed_us)), format_time(from_us(before.recorded_us)))


Known = BaseRow | FileRow
"""What was known of a file before it is looked at."""


def id_of(known: Known) -> str:
    """The id that the file was known by."""
    return known.id if isinstance(known, BaseRow) else known.observation.id


def digest_of(known: Known) -> str:
    """The SHA-256 of the bytes that it had."""
    return known.sha256 if isinstance(known, BaseRow) else known.observation.sha256
