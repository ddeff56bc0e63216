"""The scan: what of the observation files is not as it was known, found without reading unchanged files.

Knows nothing of what the files hold; whether a changed file really says something else is decided by its content hash,
elsewhere.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from grail_mem.model.problem import Problem
from grail_mem.store.filename import is_ignored_dir, is_observation_file
from grail_mem.store.files import UNKNOWN_STATE, FileState
from grail_mem.store.layout import OUTPUT, Layout, inside

_PLAIN_NAMES: Final = re.compile(r"(?:[A-Za-z0-9_-]+\.md(?:/|$))*")
"""Names that need no closer look, with slashes between them: how our own files are called, and most others."""
_STATE: Final = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns")
"""The values of a `FileState` in a stat result, in a tuple that takes less time to make."""
_MASK: Final = (1 << 63) - 1
_TICK_NS: Final = 20_000_000  # the kernel stamps files by its own tick, up to 10 ms; twice that is safe
_COARSE_NS: Final = 2_000_000_000  # file systems that keep whole seconds (or two) only


class FolderState(NamedTuple):
    """What tells that a folder holds the same files in the same states as before.

    Attributes:
        mtime_ns: The folder's own time, moved by files coming, going and being renamed; -1 when not settled.
        digest: Over names and states of its observation files, in the order in which the system lists them. Another
            order for the same files only costs a comparison of each.
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
        listed = _list(layout.root, folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        found.problems.append(_unreadable(folder, error))
        if folder in known:
            found.folders[folder] = known[folder]
        return [name for name in known if name and name.rpartition("/")[0] == folder and name != folder]
    mtime_ns = -1 if _fresh(listed.mtime_ns, began_ns) else listed.mtime_ns
    now = FolderState(mtime_ns, listed.digest(), len(listed.names))
    found.folders[folder] = now
    found.n_files += now.n_files
    found.problems += listed.odd
    before = known.get(folder)
    if before is None or (before.digest, before.n_files) != (now.digest, now.n_files):
        _compare(folder, listed.states(), files(folder), found)
    return listed.subfolders


def _compare(folder: str, there: Mapping[str, FileState], expected: Mapping[str, FileState], found: Found) -> None:
    for name, state in there.items():
        if expected.get(name) != state:
            found.changed[inside(folder, name)] = state
    found.gone += [inside(folder, name) for name in expected if name not in there]


@dataclass(slots=True)
class _Listed:
    """What lies directly in a folder.

    Attributes:
        mtime_ns: The folder's own time, before it was listed.
        names: Its observation files.
        numbers: The values of their states, file after file.
        subfolders: Paths of its folders, relative to the root.
        odd: What is not looked into, and why.
    """

    mtime_ns: int
    names: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    subfolders: list[str] = field(default_factory=list)
    odd: list[Problem] = field(default_factory=list)

    def digest(self) -> int:
        """The same in every process: the hash of numbers is."""
        return hash((crc32("/".join(self.names).encode()), *self.numbers)) & _MASK

    def states(self) -> dict[str, FileState]:
        """The files' states by name."""
        numbers = iter(self.numbers)
        return dict(zip(self.names, map(FileState, numbers, numbers, numbers), strict=True))


def _list(root: Path, folder: str) -> _Listed:
    """What lies in a folder; asking by its descriptor saves the system from walking the whole path for each file."""
    descriptor = _opened(f"{root}/{folder}")
    try:
        listed = _Listed(os.fstat(descriptor).st_mtime_ns)
        names, numbers = listed.names, listed.numbers
        with os.scandir(descriptor) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False) or _is_read(entry, folder, listed):
                    try:
                        numbers += _STATE(entry.stat(follow_symlinks=False))
                    except FileNotFoundError:  # it went meanwhile
                        continue
                    names.append(entry.name)
    finally:
        os.close(descriptor)
    if not _PLAIN_NAMES.fullmatch("/".join(names)):
        _leave_out(listed, folder)
    return listed


def _opened(place: str) -> int:
    try:
        return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except NotADirectoryError as error:
        raise NotADirectoryError(error.errno, "it is a link or a file") from error


def _is_read(entry: os.DirEntry[str], folder: str, listed: _Listed) -> bool:
    """Whether what is no regular file is read like one; folders to look into and what is odd are noted."""
    name = entry.name
    if is_ignored_dir(name) or _is_bad_name(name, folder, listed):
        return False
    if entry.is_symlink():
        if is_observation_file(name) or entry.is_dir():
            where = inside(folder, name)
            listed.odd.append(_odd("link", "links are not followed", where, "put the file itself here"))
        return False
    if entry.is_dir(follow_symlinks=False):
        if folder or name != OUTPUT:
            listed.subfolders.append(inside(folder, name))
        return False
    return is_observation_file(name)


def _leave_out(listed: _Listed, folder: str) -> None:
    """Leave out files that are not observations."""
    states = listed.states()
    listed.names, listed.numbers = [], []
    for name, state in states.items():
        if not is_ignored_dir(name) and not _is_bad_name(name, folder, listed) and is_observation_file(name):
            listed.names.append(name)
            listed.numbers += state


def _is_bad_name(name: str, folder: str, listed: _Listed) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        listed.odd.append(_odd("bad_name", "the name is not valid UTF-8", inside(folder, ascii(name)), "rename it"))
        return True
    return False


def _odd(code: str, message: str, where: str, remedy: str) -> Problem:
    return Problem(code, message, where, remedy=remedy, severity="warning")


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
