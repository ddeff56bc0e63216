"""The scan: what of the observation files is not as it was known, found without reading unchanged files.

Knows nothing of what the files hold; whether a changed file really says something else is decided by its content hash,
elsewhere.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from grail_mem.model.problem import Problem
from grail_mem.store.filename import is_ignored_dir, is_observation_file
from grail_mem.store.files import UNKNOWN_STATE, FileState, state_of
from grail_mem.store.layout import OUTPUT, Layout, inside

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-]+\.md")
"""Names that need no closer look: how our own files are called, and most others."""
_MASK: Final = (1 << 63) - 1
_TICK_NS: Final = 20_000_000  # the kernel stamps files by its own tick, up to 10 ms; twice that is safe
_COARSE_NS: Final = 2_000_000_000  # file systems that keep whole seconds (or two) only


class FolderState(NamedTuple):
    """What tells that a folder holds the same files in the same states as before.

    Attributes:
        mtime_ns: The folder's own time, moved by files coming, going and being renamed; -1 when not settled.
        digest: Over names and states of its observation files, whatever their order.
        n_files: Observation files directly in it.
    """

    mtime_ns: int
    digest: int
    n_files: int


@dataclass(slots=True)
class Found:
    """What a scan found.

    Attributes:
        changed: Paths of files that are new or whose state differs.
        gone: Paths of known files that are no longer there.
        folders: Every folder that was listed, as it is now.
        missing_folders: Known folders that are no longer there.
        problems: Folders that could not be read, links, and the like.
        n_files: Files looked at.
    """

    changed: dict[str, FileState] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    folders: dict[str, FolderState] = field(default_factory=dict)
    missing_folders: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    n_files: int = 0


KnownFiles = Callable[[str], Mapping[str, FileState]]


def settled(state: FileState, began_ns: int) -> FileState:
    """The state, or the unknown state when the file changed so shortly before that a further change might not show.

    Args:
        state: As it was while the file was read.
        began_ns: The time before it was looked at. A later one would not do: a process that is held up after reading
            would take a file for settled that changed again in the same tick of the clock.
    """
    return UNKNOWN_STATE if _fresh(state.ctime_ns, began_ns) else state


def _fresh(stamp_ns: int, now_ns: int) -> bool:
    return now_ns - stamp_ns < (_COARSE_NS if stamp_ns % 1_000_000_000 == 0 else _TICK_NS)


def scan_all(
    layout: Layout,
    known: Mapping[str, FolderState],
    files: KnownFiles,
    *,
    progress: Callable[[int], None] | None = None,
) -> Found:
    """Look at every observation file's state.

    Args:
        layout: Where the store is.
        known: Folders (relative to the root) as they were.
        files: Gives the known states of the files in one folder, by name; asked only for folders that differ.
        progress: Called with the number of files seen so far, once a folder.
    """
    found = Found()
    waiting = [layout.notes]
    while waiting:
        folder = waiting.pop()
        waiting += _look(layout, folder, known, files, found)
        if progress:
            progress(found.n_files)
    _note_missing(known, found, set(found.folders), files)
    return found


def scan_folders(layout: Layout, known: Mapping[str, FolderState], files: KnownFiles) -> Found:
    """Look only into folders whose own time moved: finds files added, removed and renamed, not edits in place."""
    found = Found()
    waiting = [folder for folder in sorted(known) if _moved(layout.root, folder, known[folder], found)]
    if layout.notes not in known:
        waiting.append(layout.notes)
    while waiting:
        folder = waiting.pop()
        if folder not in found.folders:
            waiting += [sub for sub in _look(layout, folder, known, files, found) if sub not in known]
    _note_missing(known, found, set(known) - set(found.missing_folders), files)
    return found


def _moved(root: Path, folder: str, known: FolderState, found: Found) -> bool:
    try:
        return os.stat(root / folder, follow_symlinks=False).st_mtime_ns != known.mtime_ns
    except FileNotFoundError:
        found.missing_folders.append(folder)
    except OSError as error:
        found.problems.append(_unreadable(folder, error))
    return False


def _look(layout: Layout, folder: str, known: Mapping[str, FolderState], files: KnownFiles, found: Found) -> list[str]:
    """Compare one folder with what was known of it; returns its subfolders."""
    began_ns = time.time_ns()
    try:
        status = os.stat(layout.root / folder, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(20, "it is a link or a file")
        there, subfolders, odd = _list(layout.root, folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        found.problems.append(_unreadable(folder, error))
        if folder in known:
            found.folders[folder] = known[folder]
        return [name for name in known if name and name.rpartition("/")[0] == folder and name != folder]
    mtime_ns = -1 if _fresh(status.st_mtime_ns, began_ns) else status.st_mtime_ns
    now = FolderState(mtime_ns, _digest(there), len(there))
    found.folders[folder] = now
    found.n_files += len(there)
    found.problems += odd
    before = known.get(folder)
    if before is None or (before.digest, before.n_files) != (now.digest, now.n_files):
        expected = files(folder)
        for name, entry in there.items():
            if expected.get(name) != (state := state_of(entry)):
                found.changed[inside(folder, name)] = state
        found.gone += [inside(folder, name) for name in expected if name not in there]
    return subfolders


def _list(root: Path, folder: str) -> tuple[dict[str, os.stat_result], list[str], list[Problem]]:
    files: dict[str, os.stat_result] = {}
    subfolders: list[str] = []
    odd: list[Problem] = []
    with _opened(f"{root}/{folder}") as descriptor, os.scandir(descriptor) as entries:
        for entry in entries:
            name = entry.name
            if _PLAIN_NAME.fullmatch(name) and entry.is_file(follow_symlinks=False):
                files[name] = entry.stat(follow_symlinks=False)
                continue
            if is_ignored_dir(name):
                continue
            if not name.isascii() and not _is_unicode(name):
                odd.append(_odd("bad_name", "the name is not valid UTF-8", inside(folder, ascii(name)), "rename it"))
            elif entry.is_symlink():
                if is_observation_file(name) or entry.is_dir():
                    odd.append(_odd("link", "links are not followed", inside(folder, name), "put the file itself here"))
            elif entry.is_dir(follow_symlinks=False):
                if folder or name != OUTPUT:
                    subfolders.append(inside(folder, name))
            elif is_observation_file(name):
                files[name] = entry.stat(follow_symlinks=False)
    return files, subfolders, odd


@contextmanager
def _opened(folder: str) -> Iterator[int]:
    """A folder's descriptor: asking for files by it saves the system from walking the whole path for each."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _odd(code: str, message: str, where: str, remedy: str) -> Problem:
    return Problem(code, message, where, remedy=remedy, severity="warning")


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _digest(files: Mapping[str, os.stat_result]) -> int:
    total = 0
    for name, status in files.items():
        total += hash((crc32(name.encode()), status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return total & _MASK


def _note_missing(known: Mapping[str, FolderState], found: Found, there: set[str], files: KnownFiles) -> None:
    for folder in sorted(known):
        if folder not in there:
            if folder not in found.missing_folders:
                found.missing_folders.append(folder)
            found.gone += [inside(folder, name) for name in files(folder)]


def _unreadable(folder: str, error: OSError) -> Problem:
    return Problem(
        "unreadable_folder",
        f"the folder cannot be read ({error.strerror}); what was known of it is kept",
        folder,
        remedy="give back the right to read it, then run `grail sync`",
        severity="warning",
    )
