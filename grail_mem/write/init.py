"""Make a folder a store, without changing a file that is there.

Knows nothing of observations.
"""

from __future__ import annotations

from grail_mem.store.filename import is_ignored_dir, is_observation_file
from grail_mem.store.files import FOLDER_MODE, replace_file, sync_folder, translated
from grail_mem.store.layout import Layout

GITIGNORE = (
    "# derived files and this machine's own state; everything else is worth keeping in git\n/output/\n/.grail/local/\n"
)
SETTINGS = """\
# Settings of this grail_mem store; `grail config show` lists them all with their meaning.
{stamp}"""
NEVER_STAMP = """\
# This folder held notes before it was a store: nothing is written into files that others made.
# `grail sync --stamp` writes ids and times into them once; `stamp: sync` does so on every sync.
stamp: never
"""


def make_store(layout: Layout) -> list[str]:
    """Make the folders and the settings file of a store, leaving what is there.

    Returns:
        Paths that were made, relative to the root.
    """
    found = _has_notes(layout)
    made: list[str] = []
    with translated("make the store"):
        for folder in (layout.memories, layout.ledger, layout.local):
            if not folder.is_dir():
                folder.mkdir(parents=True, mode=FOLDER_MODE)
                sync_folder(folder.parent)
                made.append(f"{folder.relative_to(layout.root)}/")
        files = {
            layout.settings: SETTINGS.format(stamp=NEVER_STAMP if found else ""),
            layout.root / ".gitignore": GITIGNORE,
        }
        for path, text in files.items():
            if not path.exists():
                replace_file(path, text.encode())
                made.append(path.name)
    return made


def _has_notes(layout: Layout) -> bool:
    waiting = [layout.memories]
    while waiting:
        folder = waiting.pop()
        for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
            if entry.is_symlink():
                continue
            if entry.is_dir() and not is_ignored_dir(entry.name):
                waiting.append(entry)
            elif is_observation_file(entry.name):
                return True
    return False
