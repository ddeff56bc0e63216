"""Putting staged files in place and telling the ledger: the one way by which any change becomes part of a store.

Order of a change: bytes staged → (lock) record in the journal → names given → ledger lines appended → (unlock) journal
synced. Knows nothing of what an observation is, and of what killed writers left only where to ask.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby

from grail_mem.errors import StoreError
from grail_mem.model.refusal import said_of
from grail_mem.query.view import View
from grail_mem.store.files import FOLDER_MODE, open_folder, second_name, sync_folder, translated, write_staged
from grail_mem.store.journal import File, Record
from grail_mem.store.layout import Layout
from grail_mem.store.ledger_line import REMOVES, Entry
from grail_mem.store.lock import exclusive
from grail_mem.write.init import make_store
from grail_mem.write.leftovers import clear_leftovers
from grail_mem.write.recovery import LOCK, checkpoint, recover
from grail_mem.write.screening import for_ledger
from grail_mem.write.swap import clear_ready
from grail_mem.write.sweep import sweep_if_due


@dataclass(frozen=True, slots=True)
class Placing:
    """One staged file and the name it gets.

    Attributes:
        staged: Its name in the staging folder.
        path: The path it gets, relative to the root.
        data: Its bytes; empty when the entry says `remove` or `discard`, and nothing comes in place of the file at that path.
        entry: What the ledger is told; `was` names the file that goes when this one comes.
        before: SHA-256 of the file that is replaced; empty for a new one.
    """

    staged: str
    path: str
    data: bytes
    entry: Entry
    before: str = ""


@contextmanager
def staging(layout: Layout) -> Iterator[int]:
    """The descriptor of the folder in which files are written before they get their names."""
    with translated("open the store for writing", layout.root):
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
def writing(view: View) -> Iterator[None]:
    """Hold the store's write lock; whatever a killed writer had committed is finished first, and what else it left goes."""
    with exclusive(f"{view.layout.local}/{LOCK}"):
        recover(view)
        sweep_if_due(view)
        clear_leftovers(view.layout)
        clear_ready(view.layout.root)
        yield


def discard(staging_fd: int, names: Sequence[str]) -> None:
    """Remove staged files that will not be used."""
    for name in filter(None, names):
        with suppress(OSError):
            os.unlink(name, dir_fd=staging_fd)


def stage(staging_fd: int, files: Sequence[bytes]) -> list[str]:
    """Write files under names of their own, not yet durable.

    Raises:
        OSError: One could not be written; none is left behind.
    """
    names: list[str] = []
    try:
        for data in files:
            names.append(write_staged(staging_fd, data, sync=False))  # noqa: PERF401  what was written must be known when the next fails
    except BaseException:
        discard(staging_fd, names)
        raise
    return names


def place(view: View, placings: Sequence[Placing], staging_fd: int, *, beside: Sequence[Entry] = ()) -> None:
    """Give staged files their names and append their entries, all or none; the write lock must be held.

    Args:
        view: The store.
        placings: The files.
        staging_fd: The staging folder.
        beside: Entries that change no file, appended behind those of the files.

    Raises:
        OSError: The disk did not take it; nothing was placed, and what was there is as before.
    """
    if not placings and not beside:
        return
    files = [File(placing.staged, placing.before, placing.data) for placing in placings]
    kept: list[tuple[Placing, str]] = []

    def undo() -> None:
        for placing, former in reversed(kept):
            _take_back(view.layout, placing, former, staging_fd)

    with _committed(view, [*(placing.entry for placing in placings), *beside], files, undo=undo):
        for (folder, goes), group in groupby(placings, key=_folder_of):
            with open_folder(view.layout.root, folder, create=not goes) as (folder_fd, _):
                for placing in group:
                    kept.append((placing, _keep(view.layout, placing, folder_fd, staging_fd)))
                    _put_in_place(view.layout, placing, folder_fd, staging_fd)
    discard(staging_fd, [former for _, former in kept])


def tell(view: View, entries: Sequence[Entry]) -> None:
    """Append entries that change no file, durably; the write lock must be held.

    Raises:
        OSError: The disk did not take it; nothing was appended.
        StoreError: It is appended, but the disk did not confirm it.
    """
    with _committed(view, entries):
        pass
    confirm(view)


@contextmanager
def _committed(
    view: View, entries: Sequence[Entry], files: Sequence[File] = (), *, undo: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Record a change in the journal, let the block put its files in place, and tell the ledger; all or none."""
    promised = not files or view.settings.durability == "full"
    clone = view.clone_name()
    entries = [for_ledger(entry, view.settings) for entry in entries]
    with view.appending(clone) as chain:
        drafted = chain.draft(entries)
        record = Record(clone, drafted.lines, files, promised)
        if not view.journal.has_room(record):
            checkpoint(view, larger=True)
        view.journal.append(record)
        try:
            if promised and any(file.before for file in files):
                view.journal.sync()  # before the only durable bytes of these files lose their name
            yield
            chain.write(drafted)
        except Exception:  # not an interrupt: what is committed by then is finished by the next writer
            undo()
            view.journal.take_back()
            raise
    with suppress(OSError):  # then the next writer looks whether it is
        view.journal.note_in_place()


def _folder_of(placing: Placing) -> tuple[str, bool]:
    """The folder of a file, relative to the root, and whether the file goes; files of one folder share its descriptor."""
    return placing.path.rpartition("/")[0], placing.entry.action in REMOVES


def _keep(layout: Layout, placing: Placing, folder_fd: int, staging_fd: int) -> str:
    """Give the file that is about to be replaced a second name in the staging folder; empty when there is none."""
    if not placing.before:
        return ""
    name = second_name(placing.staged)
    if placing.entry.action in REMOVES:  # its only name from now on
        os.rename(_name(placing.path), name, src_dir_fd=folder_fd, dst_dir_fd=staging_fd)
        return name
    with suppress(OSError):  # not every file system can; then a full disk may leave the change in place, unreported
        former = layout.root / (placing.entry.was or placing.path)
        os.link(former, name, dst_dir_fd=staging_fd, follow_symlinks=False)
        return name
    return ""


def _put_in_place(layout: Layout, placing: Placing, folder_fd: int, staging_fd: int) -> None:
    """Give a staged file its name; the file it replaces goes, or comes to the new place first when it is moved."""
    was, name = placing.entry.was, _name(placing.path)
    if placing.entry.action in REMOVES:
        discard(staging_fd, [placing.staged])
        return
    if was:
        with open_folder(layout.root, was.rpartition("/")[0]) as (source, _):
            os.rename(_name(was), name, src_dir_fd=source, dst_dir_fd=folder_fd)
    os.rename(placing.staged, name, src_dir_fd=staging_fd, dst_dir_fd=folder_fd)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _take_back(layout: Layout, placing: Placing, former: str, staging_fd: int) -> None:
    """Undo one placing: the former file gets its name back, or a new file goes back to the staging folder."""
    was, path = placing.entry.was, layout.root / placing.path
    if was and os.path.lexists(layout.root / was):  # it never left
        discard(staging_fd, [former])
        return
    with suppress(OSError):
        if former:
            os.rename(former, path, src_dir_fd=staging_fd)
        elif not placing.before and not os.access(placing.staged, os.F_OK, dir_fd=staging_fd):
            os.rename(path, placing.staged, dst_dir_fd=staging_fd)
    discard(staging_fd, [former])  # a second name of the very file that has the first stays where it is
    if was:
        with suppress(OSError):
            os.rename(path, layout.root / was)


def confirm(view: View) -> None:
    """Make everything that was committed so far survive a loss of power, other processes' changes too.

    Raises:
        StoreError: The disk did not confirm it; everybody sees the change all the same.
    """
    try:
        view.journal.sync()
    except OSError as error:
        raise StoreError(
            f"The change is stored and visible, but the disk did not confirm it: {said_of(error, view.layout.root)}.",
            hint="It may be lost with the power; look after the disk, then run `grail check`.",
        ) from error


def make_durable(view: View) -> None:
    """Confirm what was placed, as far as the settings ask: `fast` leaves that to the system."""
    if view.settings.durability == "full":
        confirm(view)
