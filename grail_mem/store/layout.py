"""Where everything lies under a store's root.

Knows nothing of what the files hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from grail_mem.store.filename import is_ignored_dir, is_observation_file

MEMORIES: Final = "memories"
SETTINGS_FILE: Final = "grail.yaml"
LEDGER: Final = ".grail/ledger"
LOCAL: Final = ".grail/local"
OUTPUT: Final = "output"


_PLACES: Final = {
    "memories": MEMORIES, "settings": SETTINGS_FILE, "ledger": LEDGER, "local": LOCAL, "staging": f"{LOCAL}/staging",
    "output": OUTPUT, "snapshots": f"{OUTPUT}/snapshots",
}  # fmt: skip
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of one store; building it touches no file.

    Attributes:
        root: Absolute path of the store.
        memories: Truth: the observation files.
        settings: The settings file, optional.
        ledger: Truth: one append-only chain per clone of the store.
        local: What belongs to this copy on this machine alone: locks, the clone's name, files being written.
        staging: Files being written, before they get their names.
        output: Everything derived; may be deleted at any time.
        snapshots: Derived: one folder per snapshot.
    """

    root: Path
    memories: Path = field(init=False, repr=False)
    settings: Path = field(init=False, repr=False)
    ledger: Path = field(init=False, repr=False)
    local: Path = field(init=False, repr=False)
    staging: Path = field(init=False, repr=False)
    output: Path = field(init=False, repr=False)
    snapshots: Path = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, place in _PLACES.items():  # joined once: a write asks for a dozen of them
            object.__setattr__(self, name, self.root / place)

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
        and not _UNSTORABLE.search(path)
    )


def folder_of(category: str) -> str:
    """The folder of a category, relative to the root."""
    return f"{MEMORIES}/{category}" if category else MEMORIES
