"""Recovery: finish what a killed writer had committed, and put back what a loss of power took; empty the journal.

Both are the same work on the records of the journal: every file that they speak of comes to its last state, unless it
says something that nobody of them wrote, and every line that is missing is appended to its chain. Knows nothing of
observations.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import zip_longest
from typing import Final, NamedTuple

from grail_mem.errors import GrailError
from grail_mem.query.view import View
from grail_mem.store.files import FOLDER_MODE, open_folder, read_file, second_name, write_staged
from grail_mem.store.journal import File, Record, left_behind
from grail_mem.store.layout import STAGING, Layout
from grail_mem.store.ledger import Entry, read_line
from grail_mem.store.lock import exclusive, exclusive_if_free

LOCK: Final = "write.lock"
_LOG: Final = logging.getLogger(__name__)


class _Goal(NamedTuple):
    """What a path is to hold.

    Attributes:
        data: The bytes; None when there is to be no file.
        known: Digests of what the records say that it held before or now.
        written: All bytes that records gave it, of which a part may be left.
        is_new: Whether a record made it, so that it may be missing.
    """

    data: bytes | None
    known: frozenset[str] = frozenset()
    written: tuple[bytes, ...] = ()
    is_new: bool = False


_NOTHING: Final = _Goal(None)


def recover(view: View) -> None:
    """Bring the store to what its journal says, as far as that is not so already; the write lock must be held.

    Raises:
        OSError: The disk did not take it; the journal stays, and the next call tries again.
    """
    journal = view.journal
    journal.open()
    if journal.is_left_behind:
        _restore(view, list(journal.records()), lost_power=True)
        checkpoint(view)
    elif (record := journal.unfinished) is not None:
        _restore(view, [record], lost_power=False)
        journal.note_in_place()


def recover_from_power_loss(view: View) -> None:
    """Put back what a loss of power took, before the first look at a store; one that cannot be written stays as it is."""
    if not left_behind(view.layout):
        return
    try:
        with exclusive(view.layout.local / LOCK):
            recover(view)
    except OSError as error:
        _LOG.warning("What was written just before a loss of power could not be put back: %s.", error)


def settle(view: View) -> None:
    """Empty the journal, unless somebody writes just now; what cannot be made durable stays in it."""
    if not view.journal.is_open or not view.layout.local.is_dir():
        return
    with suppress(OSError, GrailError), exclusive_if_free(view.layout.local / LOCK) as held:
        if held:
            recover(view)
            if not view.journal.is_empty:
                checkpoint(view)


def checkpoint(view: View) -> None:
    """Make everything that was promised durable in its place, and empty the journal; the write lock must be held.

    Raises:
        OSError: The disk did not confirm it; the journal stays as it is.
    """
    layout = view.layout
    files: dict[str, None] = {}
    folders: dict[str, None] = {}
    for record in view.journal.records():
        if not record.promised:
            continue
        files |= {f"{layout.ledger}/{record.clone}.jsonl": None}
        for entry, _ in _changes(record):
            for path in filter(None, (entry.path, entry.was)):
                files[f"{layout.root}/{path}"] = None
                folders[f"{layout.root}/{path.rpartition('/')[0]}"] = None
    _sync_all([*files, *folders])
    view.journal.empty()


def _sync_all(paths: Sequence[str]) -> None:
    unopened = False
    for path in paths:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            unopened |= error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # it is gone, or something else
            continue
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    if unopened:  # somebody took away the right to read it
        os.sync()


def _changes(record: Record) -> Iterator[tuple[Entry, File | None]]:
    """The entries of a record, each with its file if it has one."""
    for line, file in zip_longest(record.lines, record.files):
        entry = read_line(line, record.clone)
        if entry is not None:
            yield entry, file


def _restore(view: View, records: Sequence[Record], *, lost_power: bool) -> None:
    layout = view.layout
    layout.staging.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    with open_folder(layout.root, STAGING) as (staging_fd, _):
        goals = _goals(records)
        for path, goal in goals.items():
            if goal.data is not None and (
                _is_ours(layout, path, goal, lost_power=lost_power)
                or (goal.is_new and not os.path.lexists(layout.root / path))
            ):
                _put(layout, path, goal.data, staging_fd)
        for path, goal in goals.items():
            if goal.data is None and _is_ours(layout, path, goal, lost_power=lost_power):
                os.unlink(layout.root / path)
        for record in records:
            _append(view, record, lost_power=lost_power)
            for file in record.files:
                for name in (file.staged, second_name(file.staged)):
                    with suppress(OSError):
                        os.unlink(name, dir_fd=staging_fd)


def _goals(records: Sequence[Record]) -> dict[str, _Goal]:
    """What each path is to hold after all records; a path that somebody else had the last word on is left out."""
    goals: dict[str, _Goal] = {}
    by_others: set[str] = set()
    for entry, file in (change for record in records for change in _changes(record)):
        path, was = entry.path, entry.was
        if file is not None and path:
            before = goals.get(was or path, _NOTHING)
            known = before.known | ({file.before, entry.digest} - {""})
            if was:
                goals[was] = _Goal(None, known, before.written)
            is_new = before.is_new or not file.before or bool(was)
            goals[path] = _Goal(file.data, known, (*before.written, file.data), is_new)
            by_others -= {path, was}
        elif entry.action == "vanish":
            goals.pop(path, None)
        elif entry.action == "relocate" and was in goals:
            goals[path] = goals.pop(was)
        elif entry.action == "edit":
            by_others.add(path)
    return {path: goal for path, goal in goals.items() if path not in by_others}


def _is_ours(layout: Layout, path: str, goal: _Goal, *, lost_power: bool) -> bool:
    """Whether a path holds something else than it is to hold, and nothing but what the records speak of, or a part."""
    try:
        data, _ = read_file(layout.root / path)
    except OSError:
        return False
    if data == goal.data:
        return False
    torn = lost_power and (not data.strip(b"\0") or any(written.startswith(data) for written in goal.written))
    return torn or sha256(data).hexdigest() in goal.known


def _digest_of(layout: Layout, path: str) -> str:
    try:
        return sha256(read_file(layout.root / path)[0]).hexdigest()
    except OSError:
        return ""


def _put(layout: Layout, path: str, data: bytes, staging_fd: int) -> None:
    folder, _, name = path.rpartition("/")
    staged = write_staged(staging_fd, data, sync=False)
    with open_folder(layout.root, folder, create=True) as (descriptor, _):
        os.rename(staged, name, src_dir_fd=staging_fd, dst_dir_fd=descriptor)


def _append(view: View, record: Record, *, lost_power: bool) -> None:
    """Append the lines of a record that its chain has not; where the chain is another one by now, to the present one."""
    view.catch_up()
    elsewhere: list[Entry] = []
    with view.ledger.appending(record.clone) as chain:  # a line that lacked its newline alone is whole from here on
        there = set((view.layout.ledger / f"{record.clone}.jsonl").read_bytes().splitlines(keepends=True))
        for line, (entry, file) in zip(record.lines, _changes(record), strict=True):
            as_said = file is None or _digest_of(view.layout, entry.path) == entry.digest
            if line in there or not (as_said or lost_power):
                continue
            drafted = chain.redraft(line)
            if drafted is None:
                elsewhere.append(entry)
            else:
                chain.write(drafted)
    view.hear(chain.written)
    if elsewhere:
        with view.ledger.appending(view.clone_name()) as chain:
            chain.write(chain.draft(elsewhere))
        view.hear(chain.written)
