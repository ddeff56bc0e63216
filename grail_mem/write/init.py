"""Make a folder a store, without changing a file that is there.

Knows nothing of observations.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from grail_mem.errors import InputError
from grail_mem.model.category import clean_category
from grail_mem.store.filename import is_ignored_dir, is_observation_file
from grail_mem.store.files import FOLDER_MODE, replace_file, sync_folder, translated
from grail_mem.store.layout import MEMORIES, OUTPUT, Layout
from grail_mem.store.version import FILE as VERSION_FILE
from grail_mem.store.version import STORE_VERSION, write_version

GITIGNORE: Final = (
    "# derived files and this machine's own state; everything else is worth keeping in git\n/output/\n/.grail/local/\n"
)
GITATTRIBUTES: Final = """\
# lines that stand on one side of a merge alone are kept, and one that was emptied on the other side is emptied again
/.grail/ledger/*.jsonl merge=union
/sources/chats/*.jsonl merge=union
"""
SETTINGS: Final = "# Settings of this grail_mem store; `grail config show` lists them all with their meaning.\n"
NEVER_STAMP: Final = """\
# This folder held notes before it was a store: nothing is written into files that others made.
# `grail sync --stamp` writes ids and times into them once; `stamp: sync` does so on every sync.
stamp: never
"""
NO_NOTES: Final = frozenset({"readme.md", "changelog.md", "contributing.md", "license.md", "code_of_conduct.md"})
"""Files that many folders have which hold no notes otherwise."""


def make_store(layout: Layout, *, notes: str | None = None) -> list[str]:
    """Make the folders and the settings file of a store, leaving what is there.

    Args:
        layout: Where the store is to be.
        notes: Folder of the observation files, relative to the root; `.` is the root itself; None looks where notes lie.

    Returns:
        Paths that were made, relative to the root.

    Raises:
        InputError: The folder cannot be used, or the settings name another one.
    """
    notes = _chosen(layout, notes)
    place = Layout(layout.root, "" if notes == "." else notes)
    texts = [
        SETTINGS,
        f"notes: {notes}\n" if notes != MEMORIES else "",
        NEVER_STAMP if _has_notes(place.memories) else "",
    ]
    files = {
        layout.settings: "".join(texts),
        layout.root / ".gitignore": GITIGNORE,
        layout.root / ".gitattributes": GITATTRIBUTES,
    }
    is_new = not layout.settings.exists() and not layout.ledger.is_dir()
    made: list[str] = []
    with translated("make the store", layout.root):
        if is_new:  # first, so that a store which is made in part is none of an earlier version
            (layout.root / VERSION_FILE).parent.mkdir(parents=True, mode=FOLDER_MODE, exist_ok=True)
            write_version(layout, STORE_VERSION)
        for folder in (place.memories, layout.ledger, layout.local):
            if not folder.is_dir():
                folder.mkdir(parents=True, mode=FOLDER_MODE, exist_ok=True)  # two first writers make it at once
                sync_folder(folder.parent)
                made.append(f"{folder.relative_to(layout.root)}/")
        for path, text in files.items():
            if not path.exists():
                replace_file(path, text.encode())
                made.append(path.name)
    return made


def _chosen(layout: Layout, notes: str | None) -> str:
    """The folder of the notes as the settings have it: the one asked for, or the one where they lie."""
    is_store = layout.settings.exists()
    present = layout.notes or "."
    if notes is None:
        if is_store or layout.memories.is_dir() or not _has_notes(layout.root, at_top=True):
            return present
        return "."
    chosen = notes if notes == "." else clean_category(notes)
    if is_store and chosen != present:
        raise InputError(
            f"This store has its notes in '{present}', not in '{chosen}'.",
            hint="Move the files and change `notes` in grail.yaml together.",
        )
    return chosen


def _has_notes(top: Path, *, at_top: bool = False) -> bool:
    """Whether there is an observation file in a folder or below; `at_top` leaves out what is no note in a root."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
            if entry.is_symlink() or (at_top and folder == top and entry.name.lower() in {*NO_NOTES, OUTPUT}):
                continue
            if entry.is_dir() and not is_ignored_dir(entry.name):
                waiting.append(entry)
            elif is_observation_file(entry.name):
                return True
    return False
