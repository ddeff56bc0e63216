"""Where everything lies under a store's root.

Knows nothing of what the files hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grail_mem.store.filename import is_ignored_dir, is_observation_file

MEMORIES: Final = "memories"
SETTINGS_FILE: Final = "grail.yaml"
LEDGER: Final = ".grail/ledger"
LOCAL: Final = ".grail/local"
OUTPUT: Final = "output"


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of one store; building it touches no file.

    Attributes:
        root: Absolute path of the store.
    """

    root: Path

    @property
    def memories(self) -> Path:
        """Truth: the observation files."""
        return self.root / MEMORIES

    @property
    def settings(self) -> Path:
        """The settings file, optional."""
        return self.root / SETTINGS_FILE

    @property
    def ledger(self) -> Path:
        """Truth: one append-only chain per clone of the store."""
        return self.root / LEDGER

    @property
    def local(self) -> Path:
        """What belongs to this copy on this machine alone: locks, the clone's name, files being written."""
        return self.root / LOCAL

    @property
    def staging(self) -> Path:
        """Files being written, before they get their names."""
        return self.local / "staging"

    @property
    def output(self) -> Path:
        """Everything derived; may be deleted at any time."""
        return self.root / OUTPUT

    @property
    def snapshots(self) -> Path:
        """Derived: one folder per snapshot."""
        return self.output / "snapshots"

    def is_store(self) -> bool:
        """Whether this folder holds a store."""
        return self.ledger.is_dir() or self.settings.is_file() or self.memories.is_dir()


def category_of(path: str) -> str:
    """The category of an observation file from its path relative to the root."""
    return path[len(MEMORIES) + 1 :].rpartition("/")[0]


def is_observation_path(path: str) -> bool:
    """Whether a path relative to the root is one that a scan would find: what others wrote may name any path at all."""
    top, _, below = path.partition("/")
    *folders, name = below.split("/")
    return (
        top == MEMORIES
        and is_observation_file(name)
        and not any(not folder or is_ignored_dir(folder) for folder in folders)
        and _is_storable(path)
    )


def _is_storable(path: str) -> bool:
    return "\0" not in path and not any("\ud800" <= character <= "\udfff" for character in path)


def folder_of(category: str) -> str:
    """The folder of a category, relative to the root."""
    return f"{MEMORIES}/{category}" if category else MEMORIES
