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

from grail_mem.errors import StoreError
from grail_mem.query.view import View
from grail_mem.store.clone import clone_name
from grail_mem.store.files import FOLDER_MODE, open_folder, sync_folder, translated, write_staged
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import Entry, Ledger, history
from grail_mem.store.lock import exclusive
from grail_mem.write.init import make_store

COMMITTED: Final = ".commit"
REPLACED: Final = ".old"
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
            if not layout.is_store():
                make_store(layout, notes=layout.notes or ".")
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
        OSError: The disk did not take it; nothing was placed, and what was there is as before.
    """
    if not placings:
        return None
    layout = view.layout
    note = _commit(placings, staging_fd)
    kept: dict[Placing, str] = {}
    try:
        for placing in placings:
            kept[placing] = _keep(layout, placing, staging_fd)
            put_in_place(layout, placing.staged, placing.path, staging_fd)
        ledger_fd = view.ledger.append([placing.entry for placing in placings], view.clone_name())
    except Exception:  # not an interrupt: what is committed by then is finished by the next writer
        for placing, former in reversed(kept.items()):
            _take_back(layout, placing, former, staging_fd)
        discard(staging_fd, [note])
        raise
    discard(staging_fd, [note, *filter(None, kept.values())])
    return ledger_fd


def _keep(layout: Layout, placing: Placing, staging_fd: int) -> str:
    """Give the file that is about to be replaced a second name in the staging folder; empty when there is none."""
    if placing.entry.action == "add":
        return ""
    name = placing.staged.removesuffix(".tmp") + REPLACED
    with suppress(OSError):  # not every file system can; then a full disk may leave the change in place, unreported
        os.link(layout.root / placing.path, name, dst_dir_fd=staging_fd, follow_symlinks=False)
        return name
    return ""


def _take_back(layout: Layout, placing: Placing, former: str, staging_fd: int) -> None:
    """Undo one placing: the former file gets its name back, or a new file goes back to the staging folder."""
    with suppress(OSError):
        if former:
            os.rename(former, layout.root / placing.path, src_dir_fd=staging_fd)
        elif placing.entry.action == "add" and not _is_staged(placing, staging_fd):
            os.rename(layout.root / placing.path, placing.staged, dst_dir_fd=staging_fd)


def _is_staged(placing: Placing, staging_fd: int) -> bool:
    return os.access(placing.staged, os.F_OK, dir_fd=staging_fd)


def put_in_place(layout: Layout, staged: str, path: str, staging_fd: int) -> None:
    """Give a staged file its name, replacing what has that name."""
    folder, _, name = path.rpartition("/")
    with open_folder(layout.root, folder, create=True) as (descriptor, _):
        os.rename(staged, name, src_dir_fd=staging_fd, dst_dir_fd=descriptor)


def make_durable(view: View, placings: Sequence[Placing], ledger_fd: int | None) -> None:
    """Make placed files, their names and their ledger lines survive a loss of power, as the settings ask.

    `full`: the files are synced before they get their names, then the folders and the ledger. `fast`: each file is
    synced once under its name, which on ext4 and XFS makes the name durable with it.

    Raises:
        StoreError: The disk did not confirm it; everybody sees the change all the same.
    """
    if ledger_fd is None:
        return
    if view.settings.durability == "fast":
        with confirmed(ledger_fd, sync=False):
            for placing in placings:
                _sync_file(str(view.layout.root / placing.path))
        return
    with confirmed(ledger_fd):
        for folder in sorted({path.rpartition("/")[0] for p in placings for path in (p.path, p.entry.was or p.path)}):
            sync_folder(view.layout.root / folder)


def confirm(view: View, paths: Sequence[str]) -> None:
    """Make files durable that somebody else wrote, whose own call may not have returned yet."""
    if view.settings.durability == "fast":
        return
    for path in dict.fromkeys(paths):
        with suppress(FileNotFoundError):
            _sync_file(str(view.layout.root / path))
            sync_folder((view.layout.root / path).parent)


@contextmanager
def confirmed(ledger_fd: int, *, sync: bool = True) -> Iterator[None]:
    """Sync and close the ledger after the block; a failure in here comes too late to say that nothing was stored."""
    try:
        yield
        if sync:
            os.fdatasync(ledger_fd)
    except OSError as error:
        raise StoreError(
            f"The change is stored and visible, but the disk did not confirm it: {error.strerror or error}.",
            hint="It may be lost with the power; look after the disk, then run `grail check`.",
        ) from error
    finally:
        os.close(ledger_fd)


def _sync_file(name: str, dir_fd: int | None = None) -> None:
    descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _commit(placings: Sequence[Placing], staging_fd: int) -> str:
    """Note what will be put in place, so that the next writer can finish it; durable when it must be all or none."""
    note = json.dumps([[p.staged, p.path, asdict(p.entry)] for p in placings]).encode()
    together = len(placings) > 1
    staged = write_staged(staging_fd, note, sync=together)
    name = staged.removesuffix(".tmp") + COMMITTED
    try:
        os.rename(staged, name, src_dir_fd=staging_fd, dst_dir_fd=staging_fd)
        if together:
            os.fsync(staging_fd)
    except OSError:
        discard(staging_fd, [staged, name])
        raise
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
        placings = _noted(layout, note)
        for placing in list(placings):
            if not _is_staged(placing, descriptor):
                continue
            if len(placings) > 1 and placing.entry.action == "add":
                put_in_place(layout, placing.staged, placing.path, descriptor)
            else:  # it changed nothing yet; done now, it could undo what somebody wrote meanwhile
                discard(descriptor, [placing.staged])
                placings.remove(placing)
        told = {(entry.action, entry.id, entry.digest) for entry in history(layout)}
        untold = [p.entry for p in placings if (p.entry.action, p.entry.id, p.entry.digest) not in told]
        for folder in sorted({placing.path.rpartition("/")[0] for placing in placings}):
            with suppress(FileNotFoundError):  # somebody removed it since
                sync_folder(layout.root / folder)
        if untold:
            ledger = Ledger(layout)
            ledger.read()
            with confirmed(ledger.append(untold, clone_name(layout, ledger))):
                pass
        discard(descriptor, [note])


def _noted(layout: Layout, note: str) -> list[Placing]:
    """What a note says; nothing when the power went before it was whole: a scan finds what was put in place."""
    try:
        return [Placing(s, p, Entry(**e)) for s, p, e in json.loads((layout.staging / note).read_bytes())]
    except ValueError:
        return []


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
