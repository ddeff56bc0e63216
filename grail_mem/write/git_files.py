"""The files that tell git what to do with a store: older stores lack some of their lines, and their clones then merge badly.

Lines that somebody else wrote stay as they are. Knows nothing of git itself.
"""

from __future__ import annotations

import os
from typing import Final

from grail_mem.query.form import FormChange, Step
from grail_mem.query.view import View
from grail_mem.store.files import replace_file
from grail_mem.store.layout import Layout
from grail_mem.write.init import GITATTRIBUTES, GITIGNORE

_FILES: Final = {".gitattributes": GITATTRIBUTES, ".gitignore": GITIGNORE}


def _missing(layout: Layout, name: str) -> list[str]:
    """The lines that a file lacks of what a new store has; a link is somebody's own doing."""
    path = layout.root / name
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return []
    there = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    known = {line.strip().split("#")[0].strip().lstrip("/") for line in there}
    return [line for line in _FILES[name].splitlines() if line[:1] != "#" and line.lstrip("/") not in known]


def _find(view: View) -> tuple[FormChange, ...]:
    if not _is_for_git(view.layout):
        return ()
    missing = {name: _missing(view.layout, name) for name in _FILES}
    return tuple(FormChange(name, f"gets the line {line!r}") for name, lines in missing.items() for line in lines)


def _is_for_git(layout: Layout) -> bool:
    """Whether a store is, or was made to be, kept in git."""
    root = layout.root
    return os.path.lexists(root / ".gitignore") or any((folder / ".git").exists() for folder in (root, *root.parents))


def _make(view: View) -> None:
    for name in _FILES:
        path, lines = view.layout.root / name, _missing(view.layout, name)
        if lines:
            before = path.read_bytes() if path.exists() else b""
            begin = before if not before or before.endswith(b"\n") else before + b"\n"
            replace_file(path, begin + "".join(f"{line}\n" for line in lines).encode())


TELL_GIT: Final = Step(2, "tells git how the files of a store merge, and which it leaves alone", _find, _make)
