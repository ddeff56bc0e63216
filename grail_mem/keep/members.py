"""What a backup holds: which paths of a store are truth, which derived, and which belong to this copy alone.

Knows nothing of archives.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from grail_mem.model.category import category_key
from grail_mem.model.problem import Problem
from grail_mem.store.filename import is_ignored_dir
from grail_mem.store.files import FileState, state_of
from grail_mem.store.layout import GATES_FILE, LEDGER, LOCAL, OUTPUT, SETTINGS_FILE, WEIGHTS_FILE, Layout, inside

SOURCES: Final = "sources"
OWN: Final = ".grail"
SINGLE: Final = frozenset({SETTINGS_FILE, GATES_FILE, WEIGHTS_FILE, ".gitignore", ".gitattributes"})
_MAX_PATH: Final = 4096


class Member(NamedTuple):
    """One file of a store: its path relative to the root, and its state."""

    path: str
    state: FileState


@dataclass(frozen=True, slots=True)
class Members:
    """The files of a store, by path, and what lies among them that a backup leaves out."""

    files: tuple[Member, ...]
    problems: tuple[Problem, ...]


def unit_of(path: str, notes: str, *, derived: bool = True) -> str:
    """The file or folder that is replaced as a whole when this path is restored; empty when it is no part of a store.

    Args:
        path: Relative to the root, `/` between levels.
        notes: The folder of the observation files, relative to the root; empty for the root itself.
        derived: Whether derived files count.
    """
    parts = path.split("/")
    if not _is_plain(path, parts):
        return ""
    first, below = parts[0], len(parts) > 1
    if path in SINGLE or (first == SOURCES and below):
        return first
    if first == OWN and below:
        return "" if parts[1] == "local" else f"{OWN}/{parts[1]}"
    if first == OUTPUT and below:
        return OUTPUT if derived else ""
    if notes:
        return notes if path.startswith(f"{notes}/") else ""
    hidden = first.startswith(".") or any(is_ignored_dir(part) for part in parts[:-1])
    return "" if hidden or first == OUTPUT else first


def _is_plain(path: str, parts: list[str]) -> bool:
    try:
        n_bytes = len(path.encode())
    except UnicodeEncodeError:  # a name that is no UTF-8
        return False
    return n_bytes <= _MAX_PATH and "\0" not in path and not {"", ".", ".."} & set(parts)


def clashes(paths: Iterator[str] | list[str]) -> list[tuple[str, str]]:
    """Pairs of paths that cannot lie in one folder everywhere: the same but for spelling, or a file in another's place."""
    seen: dict[str, str] = {}
    found: list[tuple[str, str]] = []
    listed = list(paths)
    for path in listed:
        other = seen.setdefault(category_key(path), path)
        if other is not path:
            found.append((path, other))
    for path in listed:
        key = category_key(path)
        while "/" in key:
            key = key.rpartition("/")[0]
            if key in seen:
                found.append((path, seen[key]))
    return found


def members(layout: Layout, *, derived: bool = False) -> Members:
    """Every file of a store that a backup holds, by path.

    Links, sockets and the like are left out with a problem each, and so is what is being written just now.
    """
    files: list[Member] = []
    problems: list[Problem] = []
    waiting = [""] if not layout.notes else [layout.notes, SOURCES, OWN, *([OUTPUT] if derived else [])]
    files += [Member(name, state) for name in sorted(SINGLE) if (state := _file_state(layout, name))]
    if not layout.notes:
        waiting += [SOURCES, OWN, *([OUTPUT] if derived else [])]
    while waiting:
        folder = waiting.pop()
        for entry in _listed(layout, folder, problems):
            path = inside(folder, entry.name)
            kind = _kind(entry)
            if path == LOCAL or (not folder and (path in SINGLE or path in (SOURCES, OWN, OUTPUT))):
                continue
            if kind == "folder":
                if layout.notes or folder.startswith((SOURCES, OWN, OUTPUT)) or not is_ignored_dir(entry.name):
                    waiting.append(path)
            elif kind == "file" and unit_of(path, layout.notes):
                files.append(Member(path, state_of(entry.stat(follow_symlinks=False))))
            elif kind != "gone" and (layout.notes or not entry.name.startswith(".")):
                problems.append(_left_out(path))
    return Members(tuple(sorted(files)), tuple(problems))


def _left_out(path: str) -> Problem:
    return Problem(
        "not_backed_up", "is a link, no regular file, or has a name that is no text; it is not in the backup", path,
        remedy="put a file with a plain name there if it matters", severity="warning",
    )  # fmt: skip


def _listed(layout: Layout, folder: str, problems: list[Problem]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(layout.root / folder if folder else layout.root) as found:
            return sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(
            Problem(
                "not_backed_up", f"cannot be read: {error.strerror or error}", folder or ".", remedy="correct its rights",
                severity="error",
            )
        )  # fmt: skip
        return []


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return "gone"
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def _file_state(layout: Layout, name: str) -> FileState | None:
    try:
        status = os.stat(layout.root / name, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return state_of(status) if stat.S_ISREG(status.st_mode) else None


def is_chain(path: str) -> bool:
    """Whether a path is that of a chain of the ledger."""
    return path.startswith(f"{LEDGER}/") and path.endswith(".jsonl") and path.count("/") == LEDGER.count("/") + 1
