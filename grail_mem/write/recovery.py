"""Recovery: finish what a killed writer had committed, and put back what a loss of power took; empty the journal.

Both are the same work on the records of the journal: every file that they speak of comes to its last state, unless
somebody else had a hand in it since, and every line that is missing is appended to its chain. Knows nothing of
observations.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from itertools import zip_longest
from typing import Final, NamedTuple

from grail_mem.errors import GrailError, InputError
from grail_mem.query.view import View
from grail_mem.store.files import FOLDER_MODE, open_folder, read_file, second_name, translated, write_staged
from grail_mem.store.journal import File, Record, left_behind, left_unfinished
from grail_mem.store.layout import STAGING, Layout
from grail_mem.store.ledger_line import REMOVES, Entry, read_line
from grail_mem.store.lock import exclusive, exclusive_if_free
from grail_mem.write import swap

LOCK: Final = "write.lock"
LATER_S: Final = 10.0
"""How much later than a record a folder or a file has to have been changed to be somebody else's work. Chosen: longer than a
busy machine takes from writing a record to renaming its files, shorter than a person takes to think better of it."""
_BLOCK: Final = 512
"""The smallest part of a file that a disk writes."""
_OPEN_AT_ONCE: Final = 100
_NOT_OURS: Final = (errno.ELOOP, errno.ENOTDIR, errno.EINVAL)
_LOG: Final = logging.getLogger(__name__)


class _Goal(NamedTuple):
    """What a path is to hold.

    Attributes:
        data: The bytes; None when there is to be no file.
        known: Digests of what the records say that it held before or now.
        written: All bytes that records gave it, of which a part may be left.
        is_new: Whether a record made it, so that it may be missing.
        at: When the last record changed it, in seconds since 1970.
        edited: Whether somebody else changed it after that, as a sync found; then only a file that is gone is put back.
        staged: Where its bytes lie until they are put in place.
    """

    data: bytes | None
    known: frozenset[str] = frozenset()
    written: tuple[bytes, ...] = ()
    is_new: bool = False
    at: float = 0.0
    edited: bool = False
    staged: str = ""


_NOTHING: Final = _Goal(None)


def recover(view: View) -> None:
    """Bring the store to what its journal says, as far as that is not so already; the write lock must be held.

    Raises:
        OSError: The disk did not take it; the journal stays, and the next call tries again.
    """
    if swap.is_left(view.layout.root):
        swap.finish(view.layout.root)
    journal = view.journal
    journal.open()
    if journal.is_left_behind:
        _restore(view, list(journal.records()), lost_power=True)
        checkpoint(view)
    elif (record := journal.unfinished) is not None:
        _restore(view, [record], lost_power=False)
        journal.note_in_place()


def recover_on_opening(view: View) -> None:
    """Finish what a killed writer committed and put back what a loss of power took, before the first look at a store.

    One that cannot be written stays as it is. A record that is not in place while somebody holds the lock is that writer's own.
    """
    lock = view.layout.local / LOCK
    try:
        if left_behind(view.layout):
            with exclusive(lock):
                recover(view)
        elif left_unfinished(view.layout):
            with exclusive_if_free(lock) as held:
                if held:
                    recover(view)
    except (OSError, GrailError) as error:
        _LOG.warning("What a killed process or a loss of power left undone could not be finished: %s.", error)


def finish_on_opening(layout: Layout) -> None:
    """Finish a restoring that was killed, before the first look at a store; one under way is waited for.

    Raises:
        StoreError: It cannot be finished: the store is half the old and half the new one.
    """
    if swap.is_left(layout.root):
        with translated("finish restoring a backup", layout.root), exclusive(layout.local / LOCK):
            swap.finish(layout.root)


def settle(view: View) -> None:
    """Empty the journal, unless somebody writes just now; what cannot be made durable stays in it."""
    if not view.journal.is_open or not view.layout.local.is_dir():
        return
    with suppress(OSError, GrailError), exclusive_if_free(view.layout.local / LOCK) as held:
        if held:
            recover(view)
            if not view.journal.is_empty:
                checkpoint(view)


def checkpoint(view: View, *, larger: bool = False) -> None:
    """Make everything that was promised durable in its place, and empty the journal; the write lock must be held.

    Args:
        view: The store.
        larger: Make the journal larger, since it was full.

    Raises:
        OSError: The disk did not confirm it; the journal stays as it is.
    """
    layout = view.layout
    records = [record for record in view.journal.records() if record.promised]
    chains = {f"{layout.ledger}/{record.clone}.jsonl": None for record in records}
    goals = _goals(records)
    files = {f"{layout.root}/{path}": None for path, goal in goals.items() if goal.data is not None}
    folders = {f"{layout.root}/{path.rpartition('/')[0]}": None for path in goals}
    _sync_all([*chains, *files])
    _sync_all([*folders, str(layout.ledger)] if records else [], may_be_gone=True)
    view.journal.empty(larger=larger)


def _sync_all(paths: Sequence[str], *, may_be_gone: bool = False) -> None:
    elsewhere = False
    for start in range(0, len(paths), _OPEN_AT_ONCE):
        opened: list[int] = []
        try:
            for path in paths[start : start + _OPEN_AT_ONCE]:
                try:
                    opened.append(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
                except FileNotFoundError:
                    elsewhere |= not may_be_gone  # perhaps under another name by now, its bytes not on the disk yet
                except OSError:
                    elsewhere = True
            _sync(opened)
        finally:
            for descriptor in opened:
                os.close(descriptor)
    if elsewhere:
        os.sync()


def _sync(descriptors: Sequence[int]) -> None:
    """Sync files: all are begun before the first is waited for, which takes less than half the time."""
    for descriptor in descriptors:
        with suppress(OSError):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    for descriptor in descriptors:
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in _NOT_OURS:  # a pipe or the like in its place
                raise


def _changes(record: Record) -> Iterator[tuple[Entry, File | None]]:
    """The entries of a record, each with its file if it has one."""
    for line, file in zip_longest(record.lines, record.files):
        entry = read_line(line, record.clone)
        if entry is not None:
            yield entry, file


def _goals(records: Sequence[Record]) -> dict[str, _Goal]:
    """What each path is to hold after all records."""
    goals: dict[str, _Goal] = {}
    for entry, file in (change for record in records for change in _changes(record)):
        path, was = entry.path, entry.was
        before = goals.get(was or path, _NOTHING)
        at = datetime.fromisoformat(entry.at).timestamp()
        known = before.known | ({file.before if file else "", entry.digest} - {""})
        if entry.action in REMOVES:
            goals[path] = _Goal(None, known, before.written, at=at, staged=file.staged if file else "")
        elif file is not None and path:
            written = (*before.written, file.data)
            is_new = before.is_new or not file.before or bool(was)
            goals[path] = _Goal(file.data, known, written, is_new, at, staged=file.staged)
        elif entry.action == "relocate" and was in goals:
            edited = before.edited or before.data is None or sha256(before.data).hexdigest() != entry.digest
            goals[path] = before._replace(known=known, is_new=True, at=at, edited=edited)
        elif entry.action == "edit" and path in goals:
            goals[path] = before._replace(edited=True)
        elif entry.action == "vanish":
            goals.pop(path, None)
        if was and path in goals:
            goals[was] = _Goal(None, known, before.written, at=at, staged=file.staged if file else "")
    return goals


def _restore(view: View, records: Sequence[Record], *, lost_power: bool) -> None:
    layout = view.layout
    layout.staging.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    with open_folder(layout.root, STAGING) as (staging_fd, _):
        goals = _goals(records)
        for path, goal in sorted(goals.items(), key=lambda item: item[1].data is None):  # what is to go goes last
            try:
                _bring(layout, path, goal, staging_fd, lost_power=lost_power)
            except InputError as error:  # a link or a file stands where a folder was: somebody's own doing
                _LOG.warning("What was written to %s could not be put back: %s", path, error)
            except PermissionError as error:
                if lost_power:
                    raise
                _LOG.warning("What a killed process began to write to %s was not finished: %s", path, error)
        for clone in dict.fromkeys(record.clone for record in records):
            _append(view, clone, [r for r in records if r.clone == clone], lost_power=lost_power)
        for file in (file for record in records for file in record.files):
            for name in (file.staged, second_name(file.staged)):
                with suppress(OSError):
                    os.unlink(name, dir_fd=staging_fd)


def _bring(layout: Layout, path: str, goal: _Goal, staging_fd: int, *, lost_power: bool) -> None:
    """Bring one path to what it is to hold, unless it is so or somebody else had a hand in it."""
    folder, _, name = path.rpartition("/")
    if not lost_power and not (goal.staged and os.access(goal.staged, os.F_OK, dir_fd=staging_fd)):
        return  # it was put in place; whatever happened since was somebody else
    try:
        with open_folder(layout.root, folder) as (descriptor, _):
            if not _is_due(descriptor, name, goal, lost_power=lost_power):
                return
            if goal.data is None:
                os.unlink(name, dir_fd=descriptor)
                return
    except FileNotFoundError:  # the folder is not there
        if not goal.is_new or (lost_power and _nearest_mtime(layout, folder) > goal.at + LATER_S):
            return
    if goal.data is not None:
        staged = write_staged(staging_fd, goal.data, sync=False)
        with open_folder(layout.root, folder, create=True) as (descriptor, _):
            os.rename(staged, name, src_dir_fd=staging_fd, dst_dir_fd=descriptor)


def _nearest_mtime(layout: Layout, folder: str) -> float:
    """When the nearest folder on the way that is there was changed last."""
    while folder:
        folder = folder.rpartition("/")[0]
        with suppress(OSError):
            return os.stat(layout.root / folder).st_mtime
    return 0.0


def _is_due(folder: int, name: str, goal: _Goal, *, lost_power: bool) -> bool:
    """Whether a name in a folder holds something else than it is to hold, and that is the work of nobody else.

    A folder or file that was changed well after the last record has reached the disk after it, too: then what it lacks
    was taken away by somebody.
    """
    try:
        data, state = read_file(name, dir_fd=folder)
    except FileNotFoundError:
        later = lost_power and os.fstat(folder).st_mtime > goal.at + LATER_S
        return goal.data is not None and goal.is_new and not later
    except OSError as error:
        if error.errno in _NOT_OURS:
            return False
        raise
    if data == goal.data or (lost_power and state.ctime_ns / 1e9 > goal.at + LATER_S):
        return False
    if goal.edited:
        return lost_power and not data
    torn = lost_power and (not data or any(_is_part_of(data, written) for written in goal.written))
    return torn or sha256(data).hexdigest() in goal.known


def _is_part_of(data: bytes, whole: bytes) -> bool:
    """Whether data is what is left of a file of which not every block reached the disk."""
    blocks = ((data[at : at + _BLOCK], whole[at : at + _BLOCK]) for at in range(0, len(data), _BLOCK))
    return len(data) <= len(whole) and all(part == old[: len(part)] or not part.strip(b"\0") for part, old in blocks)


def _append(view: View, clone: str, records: Sequence[Record], *, lost_power: bool) -> None:
    """Append the lines that a chain lacks; where the chain is another one by now, to the present one."""
    lines = [
        line for record in records for line in record.lines if lost_power or _is_as_said(view.layout, record, line)
    ]
    if lost_power and _changed_after(f"{view.layout.ledger}/{clone}.jsonl", records[-1]):
        return  # by git: what it lacks is on another branch
    view.catch_up()
    elsewhere: list[Entry] = []
    with view.appending(clone) as chain:
        missing = chain.mend(lines, cut=lost_power)
        for line in missing:
            drafted = chain.redraft(line)
            if drafted is not None:
                chain.write(drafted)
            elif (entry := read_line(line, clone)) is not None:
                elsewhere.append(entry)
    if not elsewhere:
        return
    with view.appending(view.clone_name()) as chain:  # an earlier recovery that was cut off may have begun this
        there = set(map(_said, chain.entries()))
        chain.write(chain.draft([entry for entry in elsewhere if _said(entry) not in there]))


def _said(entry: Entry) -> tuple[str, ...]:
    """What an entry says, whichever chain it stands in."""
    return (entry.action, entry.id, entry.path, entry.digest, entry.at)


def _is_as_said(layout: Layout, record: Record, line: bytes) -> bool:
    """Whether the file of a line holds what the line says; a line without a file says nothing of one."""
    number = record.lines.index(line)
    entry = read_line(line, record.clone)
    if number >= len(record.files) or entry is None:
        return True
    if entry.action in REMOVES:
        return not os.path.lexists(layout.root / entry.path)
    try:
        return sha256(read_file(layout.root / entry.path)[0]).hexdigest() == entry.digest
    except OSError:
        return False


def _changed_after(path: str, record: Record) -> bool:
    entry = read_line(record.lines[-1], record.clone)
    try:
        return entry is not None and os.stat(path).st_mtime > datetime.fromisoformat(entry.at).timestamp() + LATER_S
    except OSError:
        return False
