"""The view: what a store says now, as one process sees it: a snapshot, the delta after it, and tombstones.

Reading never writes. Knows nothing of ranking, and of writing only that others do it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from grail_mem.errors import IndexUnusableError
from grail_mem.model.observation import Observation
from grail_mem.model.problem import Problem
from grail_mem.model.scope import Access, Principal
from grail_mem.model.ulid import is_id
from grail_mem.query.delta import DUPLICATE, UNREADABLE, BaseRow, Change, Delta, adopted_as, look
from grail_mem.query.file_base import FileBase, base_of
from grail_mem.query.grants import Grants
from grail_mem.query.loose import Loose
from grail_mem.query.snapshot_reader import SnapshotReader
from grail_mem.settings import Settings
from grail_mem.store.bulk import Reading, helpers_for
from grail_mem.store.clone import clone_name
from grail_mem.store.files import UNKNOWN_STATE, FileState, read_file
from grail_mem.store.journal import Journal
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import TOMBSTONES, Chain, Ledger
from grail_mem.store.ledger_line import AGAIN, CANDIDATE, DECISIONS, DISCARD, ERASE, GONE, INGEST, Entry
from grail_mem.store.observation_file import Adopted, FileRow, read_observation
from grail_mem.store.receipt import Receipts
from grail_mem.store.scan import FolderState, Found, scan_all, scan_folders
from grail_mem.store.snapshot import INDEX, PAYLOADS, Fingerprints, Manifest, newest, require_whole

_NO_SNAPSHOT: Final = Manifest("")
_NO_STONE: Final = ("", "", 0, False)
_OWN_ID: Final = frozenset({DUPLICATE, "bad_id"})
_TRIES: Final = 3  # files that change as fast as they are read must not keep an answer waiting


class _NoBase:
    """The snapshot of a store that has none."""

    came_first = True

    def by_path(self, _paths: Collection[str]) -> dict[str, BaseRow]:
        return {}

    def by_id(self, _ids: Collection[str]) -> dict[str, BaseRow]:
        return {}


class View:
    """One process's view of one store; `refresh` brings it up to date, `close` lets go of files.

    Args:
        layout: Where the store is.
        settings: Its settings.
        from_files: Look at no snapshot, only at files and ledger.
        principal: Who asks; what may not be read is then as if it were not there. None is the owner, who sees all.
        right: What the principal must be allowed in a scope for its observations to be there.
    """

    def __init__(
        self,
        layout: Layout,
        settings: Settings,
        *,
        from_files: bool = False,
        principal: Principal | None = None,
        right: str = "read",
    ) -> None:
        self.layout, self.settings = layout, settings
        self.principal, self._right = principal, right
        self.journal = Journal(layout)
        self._reader: SnapshotReader | None = None
        self.files: FileBase | None = None
        self._prints: Fingerprints | None = None
        self._from_files = from_files
        self._start()

    def _start(self, *, ledger_from_start: bool = False) -> None:
        """Start anew from the newest snapshot."""
        self._close_snapshot()
        self._snapshots_mtime = _mtime(self.layout)  # before looking, so that one published meanwhile is found next
        self.manifest = (None if self._from_files else newest(self.layout)) or _NO_SNAPSHOT
        self.files = None
        self.ledger = Ledger(self.layout, {} if ledger_from_start else self.manifest.heads)
        self.delta = Delta(problems=dict(self.manifest.problems))
        self.tombstones = {} if ledger_from_start else dict(self.manifest.tombstones)
        self.suspended = {} if ledger_from_start else dict(self.manifest.suspended)
        self.hidden = {id_ for id_, (*_, hides) in self.tombstones.items() if hides}
        self.silent = self.hidden | {id_ for id_, (*_, stands) in self.suspended.items() if stands}
        self.grants = Grants() if ledger_from_start else Grants(self.manifest.grants, self.manifest.revoked)
        self.receipts = Receipts(
            () if ledger_from_start else self.manifest.receipts, default_scope=self.settings.default_scope
        )
        self._forgotten: set[str] = set()  # erased ids whose files were not looked at since
        self._clone = ""
        self._unheard = False  # whether lines of the ledger were read and perhaps not all of them heard
        self._touched: set[str] = set()
        self._recent_prints: dict[int, set[str]] = {}
        self._owners: dict[str, str] = {}
        self._adopted: dict[str, Adopted] = {}
        self._unsynced: dict[str, Change] = {}
        self._gone: dict[str, str] = {}
        self._told: dict[str, tuple[str, str]] = {}
        self._lost: set[str] = set()
        self._folders = dict(self.manifest.folders)
        self._scan_problems: tuple[Problem, ...] = ()
        self._looked_at = float("-inf")
        self._loose = Loose()
        self._loose_state: object = None
        self._dead_state: object = None
        self._known_by_folder: dict[str, dict[str, FileState | None]] = {}

    def close(self) -> None:
        """Let go of every file; the view opens them again when asked."""
        self._close_snapshot()
        self.journal.close()

    def _close_snapshot(self) -> None:
        if self._reader is not None:
            self._reader.close()
        if self._prints is not None:
            self._prints.close()
        self._reader = self._prints = None

    def clone_name(self) -> str:
        """The chain that this copy of the store writes; the write lock must be held."""
        if not self._clone:
            self._clone = clone_name(self.layout, self.ledger, self.journal.tip)
        return self._clone

    # -- keeping up --------------------------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Hear what the ledger has to say, without looking at files yet."""
        if self._unheard:  # the last time was interrupted: what was read then is heard by nobody else
            self._start()
        if not self._from_files and _mtime(self.layout) != self._snapshots_mtime:
            self._reload_if_newer()
        self._unheard = True
        entries, rewritten = self.ledger.read()
        if rewritten:
            self._start(ledger_from_start=True)
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
            self._hear(entry)
        self._unheard = False

    def _reload_if_newer(self) -> None:
        """Start anew when another snapshot counts now; anything else that moved in that folder is no matter."""
        mtime = _mtime(self.layout)
        manifest = newest(self.layout) or _NO_SNAPSHOT
        if manifest.name != self.manifest.name:
            self._start()
        else:
            self._snapshots_mtime = mtime

    def _hear(self, entry: Entry) -> None:
        if self.grants.hear(entry) or entry.action in DECISIONS or entry.action in CANDIDATE:
            return
        if entry.action in (INGEST, DISCARD):
            return
        if not is_id(entry.id):  # somebody changed the line; its file is found by the next scan
            return
        if entry.action in ("suspend", "reinstate"):
            self._bury(entry, self.suspended)
        elif entry.action in TOMBSTONES:
            self._bury(entry, self.tombstones)
        elif entry.action in (ERASE, AGAIN):
            self._forget(entry)
        elif entry.path:  # else what the line said was taken out of it
            self._hear_of_file(entry)

    def _hear_of_file(self, entry: Entry) -> None:
        """Take in what an entry says of a file, which is looked at later."""
        if self._is_seen(entry):  # a scan came before the line: it is nobody else's change after all
            self._unsynced.pop(entry.path, None)
            self._unsynced.pop(entry.was, None)
        else:
            self._touched |= {path for path in (entry.path, entry.was) if path and self.layout.holds(path)}
            self._told[entry.was] = ("", "")
            self._told[entry.path] = (entry.id, "" if entry.action in GONE else entry.digest)
        if (print_ := _print_in(entry)) is not None:
            self._recent_prints.setdefault(print_, set()).add(entry.id)
        if entry.was:
            self._adopted.pop(entry.was, None)
        if entry.action in GONE:
            self._adopted.pop(entry.path, None)
            if self._owners.get(entry.id) == entry.path:
                del self._owners[entry.id]
            return
        self._owners[entry.id] = entry.path
        if entry.observed_at:
            self._adopted[entry.path] = Adopted(
                entry.id, entry.observed_at, entry.recorded_at or entry.at, entry.digest
            )

    def _is_seen(self, entry: Entry) -> bool:
        """Whether a look at the files said already what an entry tells, as after a sync of this very process."""
        row = self.delta.rows.get(entry.path)
        if row is None or entry.action in GONE or (entry.was and self.delta.states.get(entry.was, ()) is not None):
            return False
        return (row.observation.id, row.observation.sha256) == (entry.id, entry.digest)

    def _bury(self, entry: Entry, stones: dict[str, tuple[str, str, int, bool]]) -> None:
        known = stones.get(entry.id)
        if known is None or entry.order > known[:3]:
            stones[entry.id] = (*entry.order, entry.action in ("hide", "suspend"))
            hides = self.tombstones.get(entry.id, _NO_STONE)[-1]
            (self.hidden.add if hides else self.hidden.discard)(entry.id)
            silences = hides or self.suspended.get(entry.id, _NO_STONE)[-1]
            (self.silent.add if silences else self.silent.discard)(entry.id)
            self.delta.version += 1

    def _forget(self, entry: Entry) -> None:
        """Hear that an observation was erased; nobody shall hear of its former files as of something that vanished."""
        self.receipts.hear(entry)
        if entry.action == ERASE:
            self._forgotten.add(entry.id)
            self._told |= {path: ("", "") for path, (id_, _) in self._told.items() if id_ == entry.id}
            self._touched |= {path for path, word in self._adopted.items() if word.id == entry.id}
            self._adopted = {path: word for path, word in self._adopted.items() if word.id != entry.id}
            self._unsynced = {path: change for path, change in self._unsynced.items() if change.id != entry.id}
            self._gone.pop(entry.id, None)
            self._touched.add(self._owners.pop(entry.id, ""))
            self._touched.discard("")

    def absorb(self, *, progress: Callable[[int], None] | None = None) -> None:
        """Hear the ledger and look at the files it names."""
        self.catch_up()
        self._open_reader()
        if self._forgotten:
            self._touched |= set(self.paths_of(self._forgotten).values())
            self._forgotten.clear()
        self._look_at_touched(progress)

    def _look_at_touched(self, progress: Callable[[int], None] | None, read: Collection[str] = ()) -> None:
        """Look at the files that the ledger names but for those just read, and tell what differs from what it says."""
        if self._touched:
            touched, self._touched = self._touched, set()
            self.look_at(touched.difference(read), progress=progress)
            for path in touched:
                self._unsynced.pop(path, None)
            for change in self._untold(touched):
                self.note(change)
            gone = {path for path in touched if self.delta.states.get(path, UNKNOWN_STATE) is None}
            if gone:
                self._lost |= {id_ for id_, path in self._owners.items() if path in gone}

    def _untold(self, paths: Collection[str]) -> list[Change]:
        """What the files that the ledger names say otherwise than it told last: somebody else changed them since."""
        told = {path: self._told.pop(path) for path in paths if path in self._told}
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
            self.delta, self.base(), self.layout, wanted, zone=self.settings.zone, adopted=self._adopted,
            owners=self._owners, told=self._told, receipts=self.receipts, progress=progress,
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
            read_now = reading.finish(self._touched, progress)
            self.files = base_of(read_now, self._touched, self._adopted, self.receipts)
        read = self.files.by_path(self._touched)
        as_told = {
            path for path, row in read.items() if self._told[path][1] == row.sha256
        }  # others changed since, perhaps
        self._look_at_touched(progress, read=as_told)
        return found

    def _differing(self, states: Mapping[str, FileState]) -> dict[str, FileState]:
        """Those of these files, all there are, whose states are not as known."""
        known = {folder: self._known_files(folder) for folder in {path.rpartition("/")[0] for path in states}}
        parts = {path: path.rpartition("/") for path in states}
        return {path: state for path, state in states.items() if known[parts[path][0]].get(parts[path][2]) != state}

    def note(self, change: Change) -> None:
        """Keep a change until the ledger has heard of it; a later change of the same file takes its place."""
        if change.kind == "adopt":
            was = self._gone.pop(change.id, "")
            if was in self._unsynced and self._unsynced[was].kind == "vanish":
                del self._unsynced[was]
                change = Change("relocate", change.id, change.path, was=was, row=change.row)
        earlier = self._unsynced.pop(change.was, None) if change.was else self._unsynced.get(change.path)
        if earlier is not None and earlier.kind == "adopt":
            if change.kind == "vanish":
                self._unsynced.pop(change.path, None)
                return
            change = Change("adopt", change.id, change.path, row=change.row)
        if change.kind == "vanish":
            self._gone[change.id] = change.path
        self._unsynced[change.path] = change

    def _known_files(self, folder: str) -> dict[str, FileState]:
        """States of the files directly in a folder, as last seen."""
        known: dict[str, FileState | None] = {**self._reader_files(folder), **self._known_by_folder.get(folder, {})}
        return {name: state for name, state in known.items() if state is not None}

    def _reader_files(self, folder: str) -> dict[str, FileState]:
        if self.files is not None:
            return self.files.files_in(folder)
        reader = self.reader
        return reader.files_in(self.layout.category_of(folder)) if reader else {}

    # -- what is there -----------------------------------------------------------------------------------------------

    @property
    def reader(self) -> SnapshotReader | None:
        """The opened snapshot, or None when there is none."""
        if self._reader is None and self.manifest.name:
            folder = self.layout.snapshots / self.manifest.name
            require_whole(folder, self.manifest)
            self._reader = SnapshotReader(folder / INDEX, folder / PAYLOADS)
            self._dead_state = None
        return self._reader

    def _open_reader(self) -> None:
        """Open the snapshot; one that was removed for a newer one since it was chosen is no error."""
        for _ in range(_TRIES):
            folder = self.layout.snapshots / self.manifest.name
            try:
                self.reader  # noqa: B018  opening is what is wanted
                return
            except IndexUnusableError:
                if folder.is_dir():
                    raise
            self._start()
            self.catch_up()

    def base(self) -> SnapshotReader | FileBase | _NoBase:
        """The opened snapshot, or the files read in its place, or nothing."""
        return self.reader or self.files or _NoBase()

    @property
    def n_rows(self) -> int:
        """Observations that an unfiltered recall would return."""
        base = self.live_base()
        n_live = base.n_live if base else 0
        if self.files is not None:  # which is nobody's but the owner's
            hidden = {row.rid for row in self.files.by_id(self.silent).values()}
            n_live = self.files.table.num_rows - len(self.delta.dead | hidden)
        return n_live + len(self.loose())

    @property
    def n_loose(self) -> int:
        """Rows that differ from the snapshot; what compaction takes in."""
        return max(len(self.delta.rows), len(self.delta.dead), len(self._touched))

    @property
    def access(self) -> Access:
        """What the caller may do at this moment."""
        return self.grants.access(self.principal, self.settings.default_scope)

    @property
    def scopes(self) -> frozenset[str] | None:
        """The scopes that the caller may read, as rows have them; empty text for one that no file names; None for all."""
        readable = self.access.scopes(self._right)
        if readable is None:
            return None
        return frozenset((*readable, "") if self.settings.default_scope in readable else readable)

    @property
    def state(self) -> tuple[object, ...]:
        """What answers depend on; while it is equal, nothing that counts changed."""
        return self.manifest.name, self.delta.version, len(self.tombstones), self.scopes

    def sees(self, o: Observation) -> bool:
        """Whether the caller may read an observation."""
        return self.access.may(self._right, o.scope)

    def live_base(self) -> SnapshotReader | None:
        """The snapshot with its dead, hidden and suspended rows set, and those that the caller may not read."""
        reader = self.reader
        if reader is not None and self._dead_state != self.state:
            hidden = [row.rid for row in reader.by_id(self.silent).values()] if self.silent else []
            reader.set_dead(self.delta.dead.union(hidden))
            reader.restrict(self.scopes)
            self._dead_state = self.state
        return reader

    def loose(self) -> Loose:
        """The delta's rows that are neither hidden nor suspended and that the caller may read."""
        if self._loose_state != (self.delta.version, self.scopes):
            self._loose.update(self.delta.rows, self.silent, self.sees)
            self._loose_state = (self.delta.version, self.scopes)
        return self._loose

    # -- one observation --------------------------------------------------------------------------------------------------

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
        adopted = None if before.has_id else self._adopted.get(path) or adopted_as(before)
        data, state = read_file(self.layout.root / path)
        category = self.layout.category_of(path.rpartition("/")[0])
        return read_observation(data, path, category, state, zone=self.settings.zone, adopted=adopted)

    def ids_saying(self, prints: Iterable[int]) -> dict[int, set[str]]:
        """Ids of observations, hidden ones included, by fingerprint; only those that somebody has."""
        ids = {print_: set(found) for print_ in prints if (found := self._recent_prints.get(print_))}
        if self._prints is None and self.manifest.name:
            self._prints = Fingerprints(self.layout.snapshots / self.manifest.name, self.manifest.n_rows)
        below = [print_ for print_ in prints if self._prints is not None and print_ in self._prints]
        for print_, id_ in self.reader.by_fingerprint(below) if below and self.reader else ():
            ids.setdefault(print_, set()).add(id_)
        return ids

    # -- for sync and check ------------------------------------------------------------------------------------------

    def unsynced(self) -> list[Change]:
        """What others did that the ledger has not heard of, by path."""
        return [self._unsynced[path] for path in sorted(self._unsynced)]

    def synced(self, changes: Sequence[Change]) -> None:
        """Forget changes that the ledger has now heard of."""
        for change in changes:
            self._unsynced.pop(change.path, None)

    def rows_without_id(self) -> list[FileRow]:
        """Rows whose file carries no id, by path; files with an id that cannot be used are left out."""
        loose = [row for row in self.delta.rows.values() if not row.has_id]
        reader = self.reader
        below = [r for r in (reader.without_id() if reader else ()) if r.rid not in self.delta.dead]
        rows = loose + [self.read_row(row.path) for row in below]
        kept = {p for p, found in self.delta.problems.items() if any(item.code in _OWN_ID for item in found)}
        return sorted((r for r in rows if r.observation.path not in kept), key=lambda r: r.observation.path)

    def problems(self) -> tuple[Problem, ...]:
        """Everything known to be wrong with files and folders, by place."""
        found = [problem for listed in self.delta.problems.values() for problem in listed]
        return tuple(sorted([*found, *self._scan_problems], key=lambda p: (p.where, p.line, p.code)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What an answer may be missing; for the owner alone, since nobody knows whose those files are."""
        if self.principal is not None:
            return ()
        return tuple(f"{p.where}: {p.message}" for p in self.problems() if p.code in ("unreadable_folder", UNREADABLE))

    @property
    def folders(self) -> dict[str, FolderState]:
        """Every folder as it was when last looked at."""
        return dict(self._folders)


def _print_in(entry: Entry) -> int | None:
    """The fingerprint in an entry; None when there is none, or somebody changed it."""
    try:
        return int(entry.fingerprint, 16) if entry.fingerprint else None
    except ValueError:
        return None


def _mtime(layout: Layout) -> int:
    try:
        return os.stat(layout.snapshots).st_mtime_ns
    except FileNotFoundError:
        return -1
