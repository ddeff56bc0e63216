"""Putting staged files in place and telling the ledger: the one way by which any change becomes part of a store.

Order of a change: bytes staged and synced → (lock) names given → ledger lines appended → (unlock) folders and ledger
synced. Knows nothing of what an observation is.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from grail_mem.query.view import View
from grail_mem.store.clone import clone_name
from grail_mem.store.files import FOLDER_MODE, open_folder, sync_folder, translated, write_staged
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import Entry, Ledger, history
from grail_mem.store.lock import exclusive

COMMITTED: Final = ".commit"
LEFTOVER_AFTER_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Placing:
    """One staged file and the name it gets."""

    staged: str
    path: str
    entry: Entry


@contextmanager
def staging(layout: Layout) -> Iterator[int]:
    """The descriptor of the folder in which files are written before they get their names."""
    with translated("open the store for writing"):
        try:
            descriptor = os.open(layout.staging, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            layout.staging.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
            for folder in (layout.local, layout.local.parent, layout.root):
                sync_folder(folder)
            descriptor = os.open(layout.staging, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def writing(layout: Layout) -> Iterator[None]:
    """Hold the store's write lock; whatever a killed writer had committed is finished first."""
    with exclusive(layout.local / "write.lock"):
        _finish_committed(layout)
        yield


def discard(staging_fd: int, names: Sequence[str]) -> None:
    """Remove staged files that will not be used."""
    for name in names:
        with suppress(OSError):
            os.unlink(name, dir_fd=staging_fd)


def stage(staging_fd: int, files: Sequence[bytes], *, sync: bool) -> list[str]:
    """Write files under names of their own; all are durable afterwards unless `sync` is False.

    Raises:
        OSError: One could not be written; none is left behind.
    """
    names: list[str] = []
    try:
        for data in files:
            names.append(write_staged(staging_fd, data, sync=sync and len(files) == 1))  # noqa: PERF401  what was written must be known when the next fails
        if sync and len(files) > 1:  # all written first: the file system then syncs them in few steps
            for name in names:
                _sync_file(name, staging_fd)
    except BaseException:
        discard(staging_fd, names)
        raise
    return names


def place(view: View, placings: Sequence[Placing], staging_fd: int) -> int | None:
    """Give staged files their names and append their entries, all or none; the write lock must be held.

    Returns:
        The ledger's descriptor for `make_durable`, or None when there was nothing to place.

    Raises:
        OSError: The disk did not take it; nothing was placed.
    """
    if not placings:
        return None
    layout, note = view.layout, ""
    if len(placings) > 1:
        note = _commit_together(placings, staging_fd)
    done: list[Placing] = []
    try:
        for placing in placings:
            put_in_place(layout, placing.staged, placing.path, staging_fd)
            done.append(placing)
        ledger_fd = view.ledger.append([placing.entry for placing in placings], view.clone_name())
    except OSError:
        for placing in done:
            if placing.entry.action == "add":
                with suppress(OSError):
                    os.unlink(layout.root / placing.path)
        discard(staging_fd, [note] if note else [])
        raise
    discard(staging_fd, [note] if note else [])
    return ledger_fd


def put_in_place(layout: Layout, staged: str, path: str, staging_fd: int) -> None:
    """Give a staged file its name, replacing what has that name."""
    folder, _, name = path.rpartition("/")
    with open_folder(layout.root, folder, create=True) as (descriptor, _):
        os.rename(staged, name, src_dir_fd=staging_fd, dst_dir_fd=descriptor)


def make_durable(view: View, placings: Sequence[Placing], ledger_fd: int | None) -> None:
    """Make placed files, their names and their ledger lines survive a loss of power, as the settings ask.

    `full`: the files are synced before they get their names, then the folders and the ledger. `fast`: each file is
    synced once under its name, which on ext4 and XFS makes the name durable with it.
    """
    if ledger_fd is None:
        return
    try:
        if view.settings.durability == "fast":
            for placing in placings:
                _sync_file(str(view.layout.root / placing.path))
            return
        for folder in sorted({placing.path.rpartition("/")[0] for placing in placings}):
            sync_folder(view.layout.root / folder)
        os.fdatasync(ledger_fd)
    finally:
        os.close(ledger_fd)


def _sync_file(name: str, dir_fd: int | None = None) -> None:
    descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _commit_together(placings: Sequence[Placing], staging_fd: int) -> str:
    """Note durably that several staged files will be put in place, whatever happens from here on."""
    note = json.dumps([[p.staged, p.path, asdict(p.entry)] for p in placings]).encode()
    staged = write_staged(staging_fd, note)
    name = staged.removesuffix(".tmp") + COMMITTED
    os.rename(staged, name, src_dir_fd=staging_fd, dst_dir_fd=staging_fd)
    os.fsync(staging_fd)
    return name


def _finish_committed(layout: Layout) -> None:
    try:
        notes = sorted(name for name in os.listdir(layout.staging) if name.endswith(COMMITTED))
    except FileNotFoundError:
        return
    for note in notes:
        _finish(layout, note)


def _finish(layout: Layout, note: str) -> None:
    """Put in place what a killed writer had committed to, and tell the ledger what it did not yet hear."""
    with staging(layout) as descriptor:
        placings = [Placing(s, p, Entry(**e)) for s, p, e in json.loads((layout.staging / note).read_bytes())]
        for placing in placings:
            if (layout.staging / placing.staged).exists():
                put_in_place(layout, placing.staged, placing.path, descriptor)
        told = {(entry.action, entry.id) for entry in history(layout)}
        untold = [p.entry for p in placings if (p.entry.action, p.entry.id) not in told]
        for folder in sorted({placing.path.rpartition("/")[0] for placing in placings}):
            sync_folder(layout.root / folder)
        if untold:
            ledger = Ledger(layout)
            ledger.read()
            ledger_fd = ledger.append(untold, clone_name(layout))
            os.fdatasync(ledger_fd)
            os.close(ledger_fd)
        discard(descriptor, [note])


def leftovers(layout: Layout) -> list[Path]:
    """Staged files of writers that were killed long ago; no write that returned can be among them."""
    try:
        names = os.listdir(layout.staging)
    except FileNotFoundError:
        return []
    old = time.time() - LEFTOVER_AFTER_S
    return sorted(
        layout.staging / name
        for name in names
        if not name.endswith(COMMITTED) and (layout.staging / name).stat().st_mtime < old
    )
