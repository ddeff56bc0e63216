"""The verbs of Memory that keep a store in order."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from grail_mem.memory.migrating import steps
from grail_mem.memory.opened import Opened, opened
from grail_mem.query.view import View
from grail_mem.store.access import fold

if TYPE_CHECKING:
    from grail_mem.query.compaction import Compacted
    from grail_mem.write.check import Checked
    from grail_mem.write.sync import Synced


class Keeping(Opened):
    """Making a store, syncing, compacting, rebuilding and checking it."""

    def init(self, *, notes: str | None = None) -> list[str]:
        """Make the folder a store; files that are there already become observations without a byte being changed.

        Args:
            notes: Folder of the observation files, `.` for the store's own; None takes `memories`, or `.` when notes lie
                in the folder already but not under `memories/`.

        Returns:
            Paths that were made, relative to the root.

        Raises:
            InputError: The folder cannot be used, or is a store with another one.
        """
        from grail_mem.write.init import make_store
        from grail_mem.write.recovery import settle

        with self._lock:
            self._open()
            made = make_store(self._layout, notes=notes)
            settle(self._view)
            self._layout, self._settings = opened(self._layout.root)
            self._view.close()
            self._view = View(self._layout, self._settings)
            return made

    def sync(
        self, *, stamp: bool | None = None, dry_run: bool = False, progress: Callable[[int], None] | None = None
    ) -> Synced:
        """Look at every file and record what people, git and other tools did.

        Args:
            stamp: Write id and times into files without an id; None does as the setting `stamp` says.
            dry_run: Only report.
            progress: Called with the number of files looked at so far.
        """
        from grail_mem.write.sync import sync

        with self._lock:
            done = sync(self._open(), actor=self._actor, stamp=stamp, dry_run=dry_run, progress=progress)
        self._compact_if_due()
        return done

    def compact(self) -> Compacted:
        """Take everything that changed since the snapshot into a new one, after a sync that changes no file.

        A search index that `grail index` made once follows.
        """
        from grail_mem.index.catalog import follow_snapshot
        from grail_mem.query import compaction
        from grail_mem.write.sync import sync

        with self._lock:
            sync(self._open(), actor=self._actor, stamp=False)
            done = compaction.compact(self._view)
            if done.written:
                follow_snapshot(self._view)
            with suppress(OSError):  # it is folded another time
                fold(self._layout, self._view.paths_of)
            return done

    def rebuild(self, *, progress: Callable[[int], None] | None = None) -> Compacted:
        """Make everything derived anew from files and ledger; every answer is as before.

        Args:
            progress: Called with the number of files read so far.
        """
        from grail_mem.index.catalog import has_catalog, remake_catalog
        from grail_mem.query import compaction
        from grail_mem.write.recovery import settle
        from grail_mem.write.sync import sync

        with self._lock:
            self._open()
            view = View(self._layout, self._settings, from_files=True)
            with closing(view), compaction.collection_paused():
                sync(view, actor=self._actor, stamp=False, progress=progress)
                done = compaction.rebuild(view)
            settle(self._view)
            self._view.close()
            self._view = View(self._layout, self._settings)
            if has_catalog(self._layout):
                self._view.absorb()
                remake_catalog(self._view)
            return done

    def check(self, *, progress: Callable[[int], None] | None = None) -> Checked:
        """Everything wrong with files, ledger and snapshot, each with place and remedy; changes nothing.

        Args:
            progress: Called with the number of files looked at so far.
        """
        from grail_mem.keep.migrate import problems_of_form
        from grail_mem.write.check import check

        with self._lock:
            done = check(self._open(), progress=progress)
            return replace(done, problems=(*done.problems, *problems_of_form(self._view, steps())))
