"""Keeping up with a store: a snapshot, the delta after it, and what the ledger said, brought up to date on request.

Reading never writes. Knows of writing only that others do it, and nothing of who asks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from grail_mem.errors import IndexUnusableError
from grail_mem.model.problem import Problem
from grail_mem.query.below import NO_SNAPSHOT, Below, NoRows
from grail_mem.query.delta import BaseRow, Change, Delta, adopted_as
from grail_mem.query.file_base import FileBase, base_of
from grail_mem.query.grants import Grants
from grail_mem.query.heard import Heard, Stones
from grail_mem.query.look import look
from grail_mem.query.snapshot_reader import SnapshotReader
from grail_mem.query.unsynced import Unsynced
from grail_mem.settings import Settings
from grail_mem.store.bulk import Reading, helpers_for
from grail_mem.store.clone import clone_name
from grail_mem.store.files import UNKNOWN_STATE, FileState, read_file
from grail_mem.store.journal import Journal
from grail_mem.store.layout import Layout, inside
from grail_mem.store.ledger import Chain, Ledger
from grail_mem.store.ledger_line import Entry
from grail_mem.store.observation_file import FileRow, read_observation
from grail_mem.store.receipt import Receipts
from grail_mem.store.scan import FolderState, Found, scan_all, scan_folders
from grail_mem.store.snapshot import Manifest

_TRIES: Final = 3  # files that change as fast as they are read must not keep an answer waiting


class Follower:
    """What one process knows of one store; `refresh` brings it up to date, `close` lets go of files.

    Args:
        layout: Where the store is.
        settings: Its settings.
        from_files: Look at no snapshot, only at files and ledger.

    Attributes:
        delta: What files say where that differs from the rows below.
        ledger: Up to where its chains were read.
        journal: Of this copy of the store.
    """

    def __init__(self, layout: Layout, settings: Settings, *, from_files: bool = False) -> None:
        self.layout, self.settings = layout, settings
        self.journal = Journal(layout)
        self._from_files = from_files
        self._start()

    def _start(self, *, ledger_from_start: bool = False) -> None:
        """Start from the newest snapshot."""
        self._below = Below(self.layout, from_files=self._from_files)
        before = NO_SNAPSHOT if ledger_from_start else self.manifest
        self.ledger = Ledger(self.layout, before.heads)
        self.delta = Delta(problems=dict(self.manifest.problems))
        self._unsynced = Unsynced()
        self._heard = Heard(before, self.layout, self.delta, self._unsynced, default_scope=self.settings.default_scope)
        self._clone = ""
        self._unheard = False  # whether lines of the ledger were read and perhaps not all of them heard
        self._lost: set[str] = set()
        self._folders = dict(self.manifest.folders)
        self._scan_problems: tuple[Problem, ...] = ()
        self._looked_at = float("-inf")
        self._known_by_folder: dict[str, dict[str, FileState | None]] = {}

    def _start_anew(self, *, ledger_from_start: bool = False) -> None:
        self._below.close()
        self._start(ledger_from_start=ledger_from_start)

    def close(self) -> None:
        """Let go of every file; they are opened again when asked for."""
        self._below.close()
        self.journal.close()

    def clone_name(self) -> str:
        """The chain that this copy of the store writes; the write lock must be held."""
        if not self._clone:
            self._clone = clone_name(self.layout, self.ledger, self.journal.tip)
        return self._clone

    # -- what the ledger said ------------------------------------------------------------------------------------------

    @property
    def tombstones(self) -> Stones:
        """By id, the latest hide or restore: its order in history and whether it hides."""
        return self._heard.tombstones

    @property
    def suspended(self) -> Stones:
        """By id, the same of the latest suspending for want of evidence or end of it."""
        return self._heard.suspended

    @property
    def hidden(self) -> set[str]:
        """Ids of what is hidden."""
        return self._heard.hidden

    @property
    def silent(self) -> set[str]:
        """Ids of what is hidden or suspended."""
        return self._heard.silent

    @property
    def grants(self) -> Grants:
        """Who may do what in which scope."""
        return self._heard.grants

    @property
    def receipts(self) -> Receipts:
        """Receipts of what was erased."""
        return self._heard.receipts

    def unsynced(self) -> list[Change]:
        """What others did that the ledger has not heard of, by path."""
        return self._unsynced.listed()

    def synced(self, changes: Sequence[Change]) -> None:
        """Forget changes that the ledger has now heard of."""
        self._unsynced.synced(changes)

    def note(self, change: Change) -> None:
        """Keep a change until the ledger has heard of it."""
        self._unsynced.note(change)

    # -- what is below the delta ---------------------------------------------------------------------------------------

    @property
    def manifest(self) -> Manifest:
        """What the snapshot holds and up to where."""
        return self._below.manifest

    @property
    def files(self) -> FileBase | None:
        """Files read in bulk, in the place of a snapshot."""
        return self._below.files

    @property
    def reader(self) -> SnapshotReader | None:
        """The opened snapshot, or None when there is none."""
        return self._below.reader

    def _open_reader(self) -> None:
        """Open the snapshot; one that was removed for a newer one since it was chosen is no error."""
        for _ in range(_TRIES):
            try:
                self.reader  # noqa: B018  opening is what is wanted
                return
            except IndexUnusableError:
                if not self._below.is_removed():
                    raise
            self._start_anew()
            self.catch_up()

    def base(self) -> SnapshotReader | FileBase | NoRows:
        """The opened snapshot, or the files read in its place, or nothing."""
        return self._below.rows()

    @property
    def n_loose(self) -> int:
        """Rows that differ from the snapshot; what compaction takes in."""
        return max(len(self.delta.rows), len(self.delta.dead), len(self._heard.touched))

    # -- keeping up ----------------------------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Hear what the ledger has to say, without looking at files yet."""
        if self._unheard:  # the last time was interrupted: what was read then is heard by nobody else
            self._start_anew()
        if self._below.is_replaced():
            self._start_anew()
        self._unheard = True
        entries, rewritten = self.ledger.read()
        if rewritten:
            self._start_anew(ledger_from_start=True)
            self._unheard = True
            entries, _ = self.ledger.read()
        self._hear_all(entries)

    @contextmanager
    def appending(self, clone: str) -> Iterator[Chain]:
        """The end of a chain of the ledger, for lines that this view hears at once; the write lock must be held."""
        self._unheard = True
        with self.ledger.appending(clone) as chain:
            yield chain
        self._hear_all(chain.written)

    def _hear_all(self, entries: Sequence[Entry]) -> None:
        for entry in sorted(entries, key=lambda e: e.order) if len(entries) > 1 else entries:
            self._heard.hear(entry)
        self._unheard = False

    def absorb(self, *, progress: Callable[[int], None] | None = None) -> None:
        """Hear the ledger and look at the files it names."""
        self.catch_up()
        self._open_reader()
        if self._heard.erased:
            self._heard.touched |= set(self.paths_of(self._heard.erased).values())
            self._heard.erased.clear()
        self._look_at_touched(progress)

    def _look_at_touched(self, progress: Callable[[int], None] | None) -> None:
        """Look at the files that the ledger names, and tell what differs from what it says."""
        if self._heard.touched:
            touched, self._heard.touched = self._heard.touched, set()
            self.look_at(touched, progress=progress)
            self._unsynced.drop(*touched)
            for change in self._untold(touched):
                self.note(change)
            gone = {path for path in touched if self.delta.states.get(path, UNKNOWN_STATE) is None}
            if gone:
                self._lost |= {id_ for id_, path in self._heard.owners.items() if path in gone}

    def _untold(self, paths: Collection[str]) -> list[Change]:
        """What the files that the ledger names say otherwise than it told last: somebody else changed them since."""
        told = {path: self._heard.told.pop(path) for path in paths if path in self._heard.told}
        unread = [path for path in told if path not in self.delta.rows]
        below = {path: row for path, row in self.base().by_path(unread).items() if row.rid not in self.delta.dead}
        changes: list[Change] = []
        for path, (id_, digest) in told.items():
            row = self.delta.rows.get(path)
            if row is None and path in below and below[path].sha256 != digest:
                row = self.read_row(path)
            if digest and self.delta.states.get(path, UNKNOWN_STATE) is None:
                changes.append(Change("vanish", id_, path))
            elif digest and row is not None and row.observation.sha256 != digest:
                changes.append(Change("edit", row.observation.id, path, row=row))
        return changes

    def refresh(self) -> None:
        """Bring the view up to date: the ledger, the files it names, and from time to time the folders."""
        self.absorb()
        if time.monotonic() - self._looked_at >= self.settings.look_after_s:
            first = self._looked_at == float("-inf")
            self.scan(whole=first and self.manifest.n_rows <= self.settings.scan_files)
        self._find_lost()

    def lose(self, ids: Iterable[str]) -> None:
        """Look where observations went whose files are gone: a scan of the folders sees both ends of a move at once."""
        self._lost |= set(ids)
        self.scan(whole=False)
        self._find_lost()

    def _find_lost(self) -> None:
        """Look where files went that are no longer where they were said to be: one is being moved, or was deleted.

        A move gives the file its new place before the ledger hears of it; an observation must not be missing meanwhile.
        """
        for _ in range(_TRIES):
            there = {row.observation.id for row in self.delta.rows.values()} if self._lost else set()
            self._lost -= there
            if not self._lost:
                return
            self.scan(whole=False)
        self._lost.clear()

    def look_at(self, paths: Iterable[str], *, progress: Callable[[int], None] | None = None) -> list[Change]:
        """Look at files and let what they say count; returns what differs from what was known."""
        wanted = set(paths)
        changes = look(
            self.delta, self.base(), self.layout, wanted, zone=self.settings.zone, adopted=self._heard.adopted,
            owners=self._heard.owners, told=self._heard.told, receipts=self.receipts, progress=progress,
        )  # fmt: skip
        for path in wanted | {change.path for change in changes} | {change.was for change in changes if change.was}:
            folder, _, name = path.rpartition("/")
            self._known_by_folder.setdefault(folder, {})[name] = self.delta.states.get(path, UNKNOWN_STATE)
        return changes

    def scan(self, *, whole: bool, progress: Callable[[int], None] | None = None) -> int:
        """Look for what others did: at every file's state, or only into folders whose own time moved.

        Returns:
            How many files were compared.
        """
        begins = self._from_files and whole and not self._folders and not self.delta.states
        found = self._read_all(progress) if begins else None
        self.absorb(progress=progress)
        if found is not None:
            found.changed = self._differing(found.changed)
        elif whole:
            found = scan_all(self.layout, self._folders, self._known_files, progress=progress)
        else:
            found = scan_folders(self.layout, self._folders, self._known_files)
        self._looked_at = time.monotonic()
        root = self.layout.root
        not_used = [
            path for path in self.delta.problems if not os.path.lexists(f"{root}/{path}")
        ]  # and no row tells of it
        differing = [*found.changed, *found.gone, *not_used]
        if differing:
            for change in self.look_at(differing, progress=progress):
                self.note(change)
                if change.kind == "vanish":
                    self._lost.add(change.id)
        self._folders = {k: v for k, v in self._folders.items() if k not in found.missing_folders} | found.folders
        self._scan_problems = tuple(found.problems)
        return found.n_files

    def _read_all(self, progress: Callable[[int], None] | None) -> Found:
        """Read every file that the ledger names while the ledger itself is read; returns what files there are."""
        with Reading(self.layout, zone=self.settings.zone, helpers=helpers_for(self.layout)) as reading:
            found = scan_all(self.layout, {}, lambda _: {})
            reading.begin(found.changed)
            self.catch_up()
            read_now = reading.finish(self._heard.touched, progress)
            self._below.files = base_of(read_now, self._heard.touched, self._heard.adopted, self.receipts)
        told = self._heard.told
        for path, digest in self._below.files.digests():
            if told[path][1] == digest:  # else others changed it since, perhaps
                del told[path]
                self._heard.touched.discard(path)
        self._look_at_touched(progress)
        return found

    def _differing(self, states: Mapping[str, FileState]) -> dict[str, FileState]:
        """Those of these files, all there are, whose states are not as known."""
        known: dict[str, FileState | None] = dict(self._below.files.states) if self._below.files else {}
        for folder, looked_at in self._known_by_folder.items():
            known |= {inside(folder, name): state for name, state in looked_at.items()}
        return {path: state for path, state in states.items() if known.get(path) != state}

    def _known_files(self, folder: str) -> dict[str, FileState]:
        """States of the files directly in a folder, as last seen."""
        known: dict[str, FileState | None] = {**self._below.files_in(folder), **self._known_by_folder.get(folder, {})}
        return {name: state for name, state in known.items() if state is not None}

    @property
    def folders(self) -> dict[str, FolderState]:
        """Every folder as it was when last looked at."""
        return dict(self._folders)

    # -- one observation -----------------------------------------------------------------------------------------------

    def paths_of(self, ids: Collection[str]) -> dict[str, str]:
        """Where the observations with these ids are; those that are gone are left out."""
        below = self.base().by_id(ids)
        paths = {id_: row.path for id_, row in below.items() if row.rid not in self.delta.dead}
        return paths | {o.id: path for path, row in self.delta.rows.items() if (o := row.observation).id in ids}

    def read_row(self, path: str) -> FileRow:
        """The row of a file, read from it now; it must be one that counts."""
        return self.read_rows([path])[path]

    def read_rows(self, paths: Collection[str]) -> dict[str, FileRow]:
        """The rows of files by path, read from them now; each must be one that counts."""
        loose = {path: self.delta.rows[path] for path in paths if path in self.delta.rows}
        below = [path for path in paths if path not in loose]
        before = self.base().by_path(below) if below else {}
        return loose | {path: self._read_row(path, before[path]) for path in below}

    def _read_row(self, path: str, before: BaseRow) -> FileRow:
        adopted = None if before.has_id else self._heard.adopted.get(path) or adopted_as(before)
        data, state = read_file(self.layout.root / path)
        category = self.layout.category_of(path.rpartition("/")[0])
        return read_observation(data, path, category, state, zone=self.settings.zone, adopted=adopted)
