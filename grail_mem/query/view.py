"""The view: what a store says now to one caller, as one process sees it: snapshot and delta, less what may not be read.

Reading never writes. Knows nothing of ranking, and of keeping up only that `Follower` does it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from grail_mem.model.observation import Observation
from grail_mem.model.problem import Problem
from grail_mem.model.scope import Access, Principal
from grail_mem.query.claims import DUPLICATE
from grail_mem.query.follower import Follower
from grail_mem.query.look import UNREADABLE
from grail_mem.query.loose import Loose
from grail_mem.query.snapshot_reader import SnapshotReader
from grail_mem.settings import Settings
from grail_mem.store.layout import Layout
from grail_mem.store.observation_file import FileRow

_OWN_ID: Final = frozenset({DUPLICATE, "bad_id"})


class View(Follower):
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
        super().__init__(layout, settings, from_files=from_files)
        self.principal, self._right = principal, right

    def _start(self, *, ledger_from_start: bool = False) -> None:
        """Start from the newest snapshot."""
        super()._start(ledger_from_start=ledger_from_start)
        self._loose = Loose()
        self._loose_state: object = None
        self._dead_state: object = None

    def close(self) -> None:
        """Let go of every file; the view opens them again when asked."""
        super().close()
        self._dead_state = None

    # -- who asks ------------------------------------------------------------------------------------------------------

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

    def sees(self, o: Observation) -> bool:
        """Whether the caller may read an observation."""
        return self.access.may(self._right, o.scope)

    # -- what is there -------------------------------------------------------------------------------------------------

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
    def state(self) -> tuple[object, ...]:
        """What answers depend on; while it is equal, nothing that counts changed."""
        return self.manifest.name, self.delta.version, len(self.tombstones), self.scopes

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

    def ids_saying(self, prints: Collection[int]) -> dict[int, set[str]]:
        """Ids of observations, hidden ones included, by fingerprint; only those that somebody has."""
        ids = {print_: set(found) for print_ in prints if (found := self._heard.prints.get(print_))}
        for print_, id_ in self._below.ids_saying(prints):
            ids.setdefault(print_, set()).add(id_)
        return ids

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
