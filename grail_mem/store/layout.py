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
GATES_FILE: Final = "gates.json"
WEIGHTS_FILE: Final = "weights.json"
LEDGER: Final = ".grail/ledger"
CANDIDATES: Final = ".grail/candidates"
_CANDIDATE: Final = re.compile(r"\.grail/candidates/[0-9A-HJKMNP-TV-Z]{26}\.md")
UNDO: Final = ".grail/undo"
LOCAL: Final = ".grail/local"
STAGING: Final = f"{LOCAL}/staging"
OUTPUT: Final = "output"
CHATS: Final = "sources/chats"
DOCUMENTS: Final = "sources/documents"


_PLACES: Final = {
    "settings": SETTINGS_FILE, "gates": GATES_FILE, "weights": WEIGHTS_FILE, "ledger": LEDGER, "undo": UNDO, "local": LOCAL, "staging": STAGING,
    "output": OUTPUT, "snapshots": f"{OUTPUT}/snapshots", "index": f"{OUTPUT}/index", "vectors": f"{OUTPUT}/vectors",
}  # fmt: skip
_PLAIN_PATH: Final = re.compile(
    r"(?:(?!(?i:node_modules|__pycache__)/)[A-Za-z0-9_][\w -]*/)*[A-Za-z0-9_][\w-]*\.md", re.ASCII
)
"""Paths that need no closer look: how our own files are called."""
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_SOURCE: Final = re.compile(
    rf"{CHATS}/[^\x00-\x1f/\\.]{{1,120}}(?:\.[1-9][0-9]{{0,6}})?\.jsonl"
    rf"|{DOCUMENTS}/[0-9a-f]{{64}}\.(?:meta\.json|(?!md$)[a-z0-9]{{1,10}})"
)


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of one store; building it touches no file.

    Attributes:
        root: Absolute path of the store.
        notes: Folder of the observation files, relative to the root; empty when they lie in the root itself.
        memories: Truth: the observation files.
        settings: The settings file, optional.
        gates: Gates of silence calibrated on this store, optional; settings as well.
        weights: Weights of the ranking fitted to this store, optional; settings as well.
        ledger: Truth: one append-only chain per clone of the store.
        undo: What stood in files before applied proposals changed them, a file a proposal; needed to undo them.
        local: What belongs to this copy on this machine alone: locks, the clone's name, files being written.
        staging: Files being written, before they get their names.
        output: Everything derived; may be deleted at any time.
        snapshots: Derived: one folder per snapshot.
        index: Derived: what ranked recall searches.
        vectors: Derived: vectors of texts, a folder for each model.
    """

    root: Path
    notes: str = MEMORIES
    memories: Path = field(init=False, repr=False)
    settings: Path = field(init=False, repr=False)
    gates: Path = field(init=False, repr=False)
    weights: Path = field(init=False, repr=False)
    ledger: Path = field(init=False, repr=False)
    undo: Path = field(init=False, repr=False)
    local: Path = field(init=False, repr=False)
    staging: Path = field(init=False, repr=False)
    output: Path = field(init=False, repr=False)
    snapshots: Path = field(init=False, repr=False)
    index: Path = field(init=False, repr=False)
    vectors: Path = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, place in _PLACES.items():  # joined once: a write asks for a dozen of them
            object.__setattr__(self, name, self.root / place)
        object.__setattr__(self, "memories", self.root / self.notes)

    def is_store(self) -> bool:
        """Whether this folder holds a store."""
        return self.ledger.is_dir() or self.settings.is_file() or self.memories.is_dir()

    def folder_of(self, category: str) -> str:
        """The folder of a category, relative to the root."""
        return inside(self.notes, category) if category else self.notes

    def category_of(self, folder: str) -> str:
        """The category that a folder is, from its path relative to the root."""
        return folder[len(self.notes) :].lstrip("/") if self.notes else folder

    def holds(self, path: str) -> bool:
        """Whether a path relative to the root is that of an observation file of this store."""
        below = path.startswith(f"{self.notes}/") if self.notes else not path.startswith(f"{OUTPUT}/")
        return below and is_observation_path(path)


def is_observation_path(path: str) -> bool:
    """Whether a path relative to the root is one that a scan might find: what others wrote may name any path at all."""
    if _PLAIN_PATH.fullmatch(path):
        return True
    *folders, name = path.split("/")
    return (
        is_observation_file(name)
        and not any(not folder or is_ignored_dir(folder) for folder in folders)
        and not _UNSTORABLE.search(path)
    )


def is_source_path(path: str) -> bool:
    """Whether a path relative to the root is that of a file of sources: a transcript, a document or what is known of one."""
    return _SOURCE.fullmatch(path) is not None and not _UNSTORABLE.search(path)


def candidate_path(id_: str) -> str:
    """Where a candidate lies, relative to the root."""
    return f"{CANDIDATES}/{id_}.md"


def is_candidate_path(path: str) -> bool:
    """Whether a path relative to the root is that of a candidate."""
    return _CANDIDATE.fullmatch(path) is not None


def inside(folder: str, name: str) -> str:
    """The path of a name in a folder, relative to the root; the root itself is the empty folder."""
    return f"{folder}/{name}" if folder else name
