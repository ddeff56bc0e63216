"""Restoring a backup: verified wholly beside the store, then in its place at once, or not at all.

unpack and verify → (lock) join the ledgers, leave out what was forgotten → swap → (unlock). Knows nothing of how an
archive is written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from grail_mem.errors import ConflictError, GrailError, InputError, StoreError
from grail_mem.keep import chains
from grail_mem.keep.chains import Chained
from grail_mem.keep.forgotten import is_forgotten, mentions_forgotten, receipts_in
from grail_mem.keep.members import SINGLE, SOURCES, is_chain, members, unit_of
from grail_mem.keep.owner import require_owner
from grail_mem.keep.place import is_part
from grail_mem.keep.verify import BackupChecked, verify
from grail_mem.model.refusal import said_of
from grail_mem.model.times import format_time
from grail_mem.query.view import View
from grail_mem.settings import read_settings
from grail_mem.store.files import FILE_MODE, FOLDER_MODE, read_file, replace_file, translated, write_all
from grail_mem.store.layout import OUTPUT, SETTINGS_FILE, UNDO, Layout, is_candidate_path
from grail_mem.store.ledger import chains as chain_files
from grail_mem.store.ledger_line import Entry
from grail_mem.store.lock import exclusive_if_free
from grail_mem.store.receipt import Receipts
from grail_mem.write.recovery import checkpoint
from grail_mem.write.said_left import observation_left, source_left
from grail_mem.write.staged import writing
from grail_mem.write.swap import RESTORING, is_left, ready_folder, swap

_ROOM: Final = 1.1
"""How much free space there has to be for what is unpacked; chosen: names and blocks take some."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What restoring a backup did.

    Attributes:
        digest: SHA-256 of the backup's manifest.
        n_files: Files that the backup holds.
        n_observations: Observation files that are there now.
        n_new: Files that were not there before.
        n_changed: Files that were there with other bytes.
        n_gone: Files that were there and that the backup does not hold.
        left_out: Paths in the backup that stay out because what they say was erased since.
        hidden: Ids that were hidden after the backup and stay so.
        dry_run: Whether nothing was changed.
    """

    digest: str
    n_files: int
    n_observations: int
    n_new: int
    n_changed: int
    n_gone: int
    left_out: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    dry_run: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "digest": self.digest, "n_files": self.n_files, "n_observations": self.n_observations, "n_new": self.n_new,
            "n_changed": self.n_changed, "n_gone": self.n_gone, "left_out": list(self.left_out), "hidden": list(self.hidden),
            "dry_run": self.dry_run,
        }  # fmt: skip


def restore_backup(
    view: View,
    archive: Path,
    *,
    actor: str,
    reason: str = "",
    force: bool = False,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Restored:
    """Make a store what a backup says, in an empty folder or in place of what is there.

    What was hidden or erased after the backup stays so, and the record of all that was done after it stays. A process
    that is killed on the way leaves the old store or the new one: the next opening finishes what was begun.

    Args:
        view: The store, or the folder that becomes one.
        archive: The backup.
        actor: Who does it.
        reason: Why, for the ledger.
        force: Replace a store that holds anything.
        dry_run: Verify, and say what would change.
        progress: Called with how many files are unpacked.

    Raises:
        AccessError: The caller is not the owner.
        NotFoundError: There is no such backup.
        InputError: It cannot be restored; `problems` lists everything that is wrong with it.
        ConflictError: The folder holds something already and `force` is not given, or another one is being restored.
        StoreError: The disk did not take it; the store is as before.
    """
    require_owner(view.access, "restore a backup")
    layout = view.layout
    archive = archive.expanduser().resolve()
    _refuse_place(layout, archive)
    if dry_run:
        found = verify(archive, progress=progress)
        _refuse_bad(found)
        return _planned(layout, found)
    _refuse_full(layout, force=force)
    with translated("restore the backup", layout.root):
        layout.local.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        with exclusive_if_free(layout.root / RESTORING) as free:
            if not free:
                raise ConflictError("Another backup is being restored here.", hint="Wait for it.")
            ready = ready_folder(layout.root)
            try:
                found = _unpack(archive, ready, progress)
                _refuse_taken(layout, found, force=force)
                planned = _planned(layout, found)
                with writing(view):
                    return _replace(view, ready, found, planned, actor=actor, reason=reason)
            except Exception:
                _give_up(layout, ready)
                raise


def _give_up(layout: Layout, ready: Path) -> None:
    """Remove what was made ready, unless it is on its way already: then the next opening goes on."""
    if not is_left(layout.root):
        with suppress(OSError):
            shutil.rmtree(ready.parent)


def _refuse_place(layout: Layout, archive: Path) -> None:
    if is_part(layout, archive):
        raise InputError(f"{archive} lies where the backup is to be restored.", hint="Move it out of the store first.")


def _refuse_full(layout: Layout, *, force: bool) -> None:
    """Refuse to replace what is there unless that is said."""
    there = members(layout).files if layout.root.is_dir() else ()
    if there and not force:
        n_notes = sum(layout.holds(member.path) for member in there)
        raise ConflictError(
            f"{layout.root} holds {len(there)} files already, {n_notes} of them observations.",
            hint="Restore into an empty folder, or replace what is there with --force; `--dry-run` says what would change.",
        )
    if layout.notes and os.path.lexists(layout.memories / ".git"):
        raise ConflictError(
            f"{layout.notes}/ is a git repository of its own, which would be lost.",
            hint="Restore into an empty folder.",
        )


def _refuse_taken(layout: Layout, found: BackupChecked, *, force: bool) -> None:
    """Refuse to replace files and folders that are there and no part of the store as it is now."""
    units = sorted({unit_of(path, found.notes) for path in found.files})
    taken = [unit for unit in units if os.path.lexists(layout.root / unit) and not _is_empty(layout.root / unit)]
    if taken and not force:
        raise ConflictError(
            f"{layout.root} holds {', '.join(taken[:9])} already.",
            hint="Restore into an empty folder, or replace what is there with --force.",
        )


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


def _refuse_bad(found: BackupChecked) -> None:
    wrong = [str(problem) for problem in found.problems if problem.severity == "error"]
    if wrong:
        raise InputError(
            f"The backup cannot be restored. {' '.join(wrong)}", hint="Nothing was changed.", problems=wrong
        )


def _planned(layout: Layout, found: BackupChecked) -> Restored:
    """What would be done, as far as it can be told without unpacking."""
    old = {member.path for member in members(layout, derived=found.derived).files} if layout.root.is_dir() else set()
    changed = [path for path, digest in found.files.items() if path in old and not _is_same(layout, path, digest)]
    return Restored(
        found.digest, found.n_files, found.n_observations, len(found.files.keys() - old), len(changed),
        len(old - found.files.keys()), dry_run=True,
    )  # fmt: skip


def _is_same(layout: Layout, path: str, digest: str) -> bool:
    try:
        return sha256(read_file(layout.root / path)[0]).hexdigest() == digest
    except OSError:
        return False


def _unpack(archive: Path, ready: Path, progress: Callable[[int], None] | None) -> BackupChecked:
    """Unpack a backup into a folder while it is verified.

    Raises:
        InputError: Anything is wrong with it.
    """
    room = shutil.disk_usage(ready).free
    unpacking = _Unpacking(ready, room / _ROOM)
    try:
        found = verify(archive, sink=unpacking.begin, progress=progress)
    except _UnwritableError as error:
        raise StoreError(error.message, hint="Nothing was changed.") from error
    finally:
        unpacking.end()
    _refuse_bad(found)
    if (ready / SETTINGS_FILE).exists():
        notes = read_settings(ready / SETTINGS_FILE).notes
        if notes != (found.notes or "."):
            raise InputError(f"The backup has its notes in '{found.notes or '.'}', and its grail.yaml says '{notes}'.")
    for folder in (found.notes, ".grail/ledger"):
        (ready / folder).mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    return found


class _UnwritableError(GrailError):
    """The disk does not take what is unpacked; nothing is wrong with the backup."""


class _Unpacking:
    """Writes members one after the other into a folder, never over one that is there, never through a link."""

    def __init__(self, folder: Path, room: float) -> None:
        self._folder, self._room, self._descriptor = folder, room, -1

    def begin(self, path: str) -> Callable[[bytes], object]:
        """A new file for a member; the folder is new and ours, so nothing in it is a link."""
        place = self._folder / path
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
            self._descriptor = os.open(place, flags, FILE_MODE)
        except (FileExistsError, NotADirectoryError) as error:
            raise StoreError(f"{path} cannot lie beside what else it holds.") from error
        except OSError as error:
            raise _UnwritableError(f"Could not unpack {path}: {said_of(error, place)}.") from error
        return self._write

    def _write(self, part: bytes) -> None:
        if not part:
            self.end()
            return
        self._room -= len(part)
        if self._room < 0:
            raise InputError("There is not enough free space for what the backup holds.", hint="Nothing was changed.")
        try:
            write_all(self._descriptor, part)
        except OSError as error:
            raise _UnwritableError(f"Could not unpack the backup: {said_of(error, self._folder)}.") from error

    def end(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _replace(view: View, ready: Path, found: BackupChecked, planned: Restored, *, actor: str, reason: str) -> Restored:
    """Join the ledgers, leave out what was forgotten, and swap; the write lock is held."""
    layout = view.layout
    if view.journal.is_open:
        checkpoint(view)  # nothing of the old store may be put back into the new one
    ours = chains.read_all({path.stem: path.read_bytes() for path in chain_files(layout)})
    theirs = chains.read_all({path.stem: path.read_bytes() for path in chain_files(Layout(ready))})
    joined, lost = chains.merged(ours, theirs)
    now, then = chains.history(chains.read_all(joined)), chains.history(theirs)
    default = view.settings.default_scope
    erased = receipts_in(sorted([*now, *lost], key=lambda e: e.order), default_scope=default)
    left_out = _leave_out(ready, found, then, erased, default)
    new = Layout(ready, found.notes)
    files = {
        path: _digest(ready / path)  # it may have lost a quote
        for path in found.files
        if new.holds(path) and path not in left_out
    }
    at = format_time(datetime.now(UTC))
    entries = [
        *lost,
        chains.restored_entry(found.digest, {"n_files": found.n_files, "n_left_out": len(left_out)}, at=at, actor=actor, reason=reason),
        *chains.restated(chains.standing(now), chains.standing(then), files, holds=new.holds, at=at, actor=actor, reason=reason),
    ]  # fmt: skip
    clone, data = chains.new_chain(entries)
    _write_ledger(ready, {**joined, clone: data})
    _keep_undo(layout, ready)
    swap(layout.root, ready, _units(layout, ready, found))
    before = _hidden(theirs)
    hidden = tuple(sorted(_hidden({**chains.read_all({**joined, clone: data})}) - before))
    return Restored(
        found.digest, found.n_files, len(files), planned.n_new, planned.n_changed, planned.n_gone, tuple(sorted(left_out)),
        hidden,
    )  # fmt: skip


def _hidden(read: Mapping[str, Chained]) -> set[str]:
    """Ids that the latest tombstone says are hidden."""
    latest = {entry.id: entry.action for entry in chains.history(read) if entry.action in ("hide", "restore")}
    return {id_ for id_, action in latest.items() if action == "hide"}


def _leave_out(
    ready: Path, found: BackupChecked, then: list[Entry], receipts: Receipts, default_scope: str
) -> set[str]:
    """Remove from what is ready what was erased since; returns the paths of files that go wholly."""
    if not len(receipts):
        return set()
    ids = {path: entry.id for path, entry in chains.standing(then).items()}
    layout = Layout(ready, found.notes)
    left_out: set[str] = set()
    for path in found.files:
        if is_chain(path) or path in SINGLE:
            continue
        data, _ = read_file(ready / path)
        left = _left(layout, receipts, path, data, id_=ids.get(path, ""), default_scope=default_scope)
        if left is None:
            os.unlink(ready / path)
            _drop_empty(layout, path)
            left_out.add(path)
        elif left != data:
            replace_file(ready / path, left)
    if any(path.startswith(f"{OUTPUT}/") for path in found.files):  # a snapshot holds what files said
        shutil.rmtree(ready / OUTPUT, ignore_errors=True)
    return left_out


def _left(layout: Layout, receipts: Receipts, path: str, data: bytes, *, id_: str, default_scope: str) -> bytes | None:
    """What is left of a file without what was erased since; None when it goes wholly."""
    if layout.holds(path):
        return None if is_forgotten(receipts, id_, data) else observation_left(receipts, data, default_scope)
    if path.startswith(f"{SOURCES}/"):
        return source_left(receipts, path, data)
    is_gone = (is_candidate_path(path) and is_forgotten(receipts, "", data)) or (
        path.startswith(f"{UNDO}/") and mentions_forgotten(receipts, data)
    )
    return None if is_gone else data


def _drop_empty(layout: Layout, path: str) -> None:
    """Remove the folders of categories that an observation was alone in: their names say what it was about."""
    folder = path.rpartition("/")[0] if layout.holds(path) else ""
    with suppress(OSError):  # something is left in it
        while folder and folder != layout.notes:
            os.rmdir(layout.root / folder)
            folder = folder.rpartition("/")[0]


def _digest(path: Path) -> str:
    return sha256(read_file(path)[0]).hexdigest()


def _write_ledger(ready: Path, joined: Mapping[str, bytes]) -> None:
    folder = Layout(ready).ledger
    shutil.rmtree(folder)
    folder.mkdir(mode=FOLDER_MODE)
    for clone, data in joined.items():
        descriptor = os.open(folder / f"{clone}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        try:
            write_all(descriptor, data)
        finally:
            os.close(descriptor)


def _keep_undo(layout: Layout, ready: Path) -> None:
    """What the store keeps to undo proposals counts where it has it: it may hold less than the backup's, never more."""
    if not layout.undo.is_dir():
        return
    new = Layout(ready).undo
    new.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    for path in sorted(layout.undo.iterdir()):
        if path.is_file() and not path.is_symlink():
            shutil.copyfile(path, new / path.name)


def _units(layout: Layout, ready: Path, found: BackupChecked) -> dict[str, bool]:
    """What is replaced as a whole, derived files first, so that no snapshot of the old store meets files of the new one."""
    names = {unit_of(path, found.notes) for path in found.files}
    old = {unit_of(member.path, layout.notes) for member in members(layout, derived=True).files}
    names |= {unit for unit in old if unit} | {OUTPUT, ".grail/ledger", *filter(None, (found.notes, layout.notes))}
    order = sorted(names, key=lambda unit: (unit != OUTPUT, unit))
    return {unit: os.path.lexists(ready / unit) for unit in order}
