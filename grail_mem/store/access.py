"""Recalls counted beside the truth: on which days an observation was recalled, and since when that is counted.

Two kinds of files under `output/access/`: logs, to which any process appends one line a call, and one file of days into which
they are folded. Folding is a union of pairs of id and day, so it may be done twice, by anybody, and be cut off anywhere. No
answer depends on any of it, and deleting it begins the count anew. Knows nothing of what a recall is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from threading import Lock
from typing import Final

from grail_mem.errors import InputError
from grail_mem.model.strength import MOST_DAYS
from grail_mem.store.files import FILE_MODE, open_folder, read_file, replace_file
from grail_mem.store.layout import OUTPUT, Layout
from grail_mem.store.lock import exclusive_if_free

FOLDER: Final = f"{OUTPUT}/access"
LOG: Final = "log"
DAYS: Final = "days"
LOCK: Final = "access.lock"
FOLD_AT_BYTES: Final = 1_000_000
"""Size of a log from which on whoever appends folds it; chosen: some 35,000 recalls, read in a fraction of a second."""
_KEPT: Final = 100_000
"""Pairs of id and day that a process remembers as told, so that it tells each once; chosen."""
_ID: Final = r"[0-9A-HJKMNP-TV-Z]{26}"
_LINE: Final = re.compile(rf"(\d{{1,7}})((?: {_ID})*)")
_OF_ONE: Final = re.compile(rf"({_ID})((?: \d{{1,7}})+)")
_FOLDING: Final = re.compile(rf"{LOG}\.[0-9a-f]{{16}}")
_LAST_DAY: Final = date.max.toordinal()


@dataclass(frozen=True, slots=True)
class Accesses:
    """What is known of recalls.

    Attributes:
        since: The first day of which recalls were noted, as an ordinal of `date`; None when none ever were.
        days: By id, the days on which it was recalled.
    """

    since: int | None = None
    days: Mapping[str, frozenset[int]] = field(default_factory=dict)


class AccessLog:
    """What one process tells of its recalls; each observation once a day."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._told: set[tuple[int, str]] = set()
        self._folder = 0
        self._guard = Lock()

    def note(self, ids: Iterable[str], *, day: int | None = None) -> None:
        """Note that observations were recalled; a disk that does not take it is no reason to fail a recall.

        Args:
            ids: The observations.
            day: When, as an ordinal of `date`; today when left out.
        """
        today = datetime.now(UTC).date().toordinal() if day is None else day
        with self._guard:
            if (folder := _folder_id(self._layout)) != self._folder or len(self._told) > _KEPT:
                self._told.clear()  # somebody deleted what was told
                self._folder = folder
            new = [id_ for id_ in dict.fromkeys(ids) if (today, id_) not in self._told]
            if not new or not self._layout.is_store():
                return
            self._told.update((today, id_) for id_ in new)
        with suppress(OSError, InputError):
            size = _append(self._layout, f"{today} {' '.join(new)}\n".encode())
            with self._guard:
                self._folder = _folder_id(self._layout)
            if size >= FOLD_AT_BYTES:
                fold(self._layout)


def read_accesses(layout: Layout) -> Accesses:
    """Everything that is known of recalls; what somebody broke is passed over."""
    return _read(layout, _names(layout))


def fold(layout: Layout, living: Callable[[Collection[str]], Container[str]] | None = None) -> None:
    """Take the logs into the file of days, unless somebody does so right now.

    A log is first given another name, and goes only with the next fold, so that what a process appends to it meanwhile
    counts.

    Args:
        layout: The store.
        living: Says of which of some ids days are kept; None for all.

    Raises:
        OSError: The disk did not take it; nothing is lost.
    """
    with exclusive_if_free(layout.local / LOCK) as held:
        names = _names(layout) if held else []
        if not names:
            return
        known = _read(layout, names)
        there = known.days if living is None else living(known.days)
        kept = {id_: days for id_, days in known.days.items() if id_ in there}
        with open_folder(layout.root, FOLDER) as (descriptor, _):  # no link on the way
            replace_file(layout.root / FOLDER / DAYS, _text(known.since, kept))
            for name in names:
                if _FOLDING.fullmatch(name):
                    os.unlink(name, dir_fd=descriptor)
            if LOG in names:
                os.rename(LOG, f"{LOG}.{os.urandom(8).hex()}", src_dir_fd=descriptor, dst_dir_fd=descriptor)


def _folder_id(layout: Layout) -> int:
    """What tells the folder from one that takes its place; 0 when there is none."""
    try:
        return os.stat(layout.root / FOLDER).st_ino
    except OSError:
        return 0


def _text(since: int | None, days: Mapping[str, Collection[int]]) -> bytes:
    lines = [f"{id_} {' '.join(map(str, sorted(some)[-MOST_DAYS:]))}\n" for id_, some in sorted(days.items()) if some]
    return (f"{since}\n" if since is not None else "").encode() + "".join(lines).encode()


def _append(layout: Layout, line: bytes) -> int:
    """Append a line in one call, which no other process can divide; returns how long the file is then.

    A log that got another name meanwhile may be gone already, so that the line is told again; it counts once.
    """
    with open_folder(layout.root, FOLDER, create=True) as (folder, _):
        while True:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(LOG, flags, FILE_MODE, dir_fd=folder)
            try:
                os.write(descriptor, line)
                written = os.fstat(descriptor)
            finally:
                os.close(descriptor)
            if written.st_ino == _number(LOG, folder):
                return written.st_size


def _number(name: str, folder: int) -> int:
    """The number of a file in a folder; 0 when there is none."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino
    except FileNotFoundError:
        return 0


def _names(layout: Layout) -> list[str]:
    try:
        listed = os.listdir(layout.root / FOLDER)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in listed if name in (DAYS, LOG) or _FOLDING.fullmatch(name))


def _read(layout: Layout, names: Iterable[str]) -> Accesses:
    since: int | None = None
    days: dict[str, set[int]] = {}
    for name in names:
        for line in _lines(layout, name):
            first, pairs = _pairs(line)
            if first is not None:
                since = first if since is None else min(since, first)
            for id_, day in pairs:
                days.setdefault(id_, set()).add(day)
    return Accesses(since, {id_: frozenset(sorted(some)[-MOST_DAYS:]) for id_, some in days.items()})


def _lines(layout: Layout, name: str) -> list[str]:
    with suppress(OSError, InputError), open_folder(layout.root, FOLDER) as (descriptor, _):
        return read_file(name, dir_fd=descriptor)[0].decode("ascii", "replace").split("\n")
    return []


def _pairs(line: str) -> tuple[int | None, list[tuple[str, int]]]:
    """The day that a line of a log begins with, and its pairs; a line of the file of days begins with none."""
    if found := _LINE.fullmatch(line):
        day = int(found[1])
        return (day, [(id_, day) for id_ in found[2].split()]) if 1 <= day <= _LAST_DAY else (None, [])
    if found := _OF_ONE.fullmatch(line):
        return None, [(found[1], day) for day in map(int, found[2].split()) if 1 <= day <= _LAST_DAY]
    return None, []
