"""The verbs of Memory that keep a store safe: backup and restoring, export and import, its history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from grail_mem.memory.opened import Opened, opened
from grail_mem.model.filter import Texts, Time, make_filter
from grail_mem.query.view import View

if TYPE_CHECKING:  # of no use to most who open a store; the verbs load it when they are called
    from grail_mem.keep.backup import Backup
    from grail_mem.keep.exported import Exported
    from grail_mem.keep.imported import Imported
    from grail_mem.keep.log import LedgerChecked, Logged
    from grail_mem.keep.restore import Restored
    from grail_mem.keep.verify import BackupChecked


class Handing(Opened):
    """What there is, handed out: observations in several formats, and the history."""

    def export(
        self,
        out: str | Path | IO[bytes],
        *,
        since: Time | None = None,
        before: Time | None = None,
        category: Texts | None = None,
        tags: Texts | None = None,
        tags_all: Texts | None = None,
        entity_names: Texts | None = None,
        entity_types: Texts | None = None,
        relationship_type: Texts | None = None,
        min_confidence: float | None = None,
        kind: Texts | None = None,
        status: Texts | None = None,
        source_kind: Texts | None = None,
        session: Texts | None = None,
        speaker: Texts | None = None,
        scope: Texts | None = None,
        attribute: Texts | None = None,
        text: str | None = None,
        as_of: Time | None = None,
        believed_at: Time | None = None,
        include_history: bool = True,
        format: str = "jsonl",  # noqa: A002  the word of the design
        force: bool = False,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Exported:
        """Write observations as lines of JSON, a folder in a zip, a graph or a table; the conditions are those of `recall`.

        Lines hold the very bytes of the files, and without a condition everything: what is hidden, tombstones, sources and
        grants, too. With one, and in the other formats, it is the observations that meet it.

        Args:
            out: The file, outside the store, a folder in which it gets a name with the time, or a stream of bytes.
            since: See `recall`, and so on for every condition.
            before: The same.
            category: The same.
            tags: The same.
            tags_all: The same.
            entity_names: The same.
            entity_types: The same.
            relationship_type: The same.
            min_confidence: The same.
            kind: The same.
            status: The same.
            source_kind: The same.
            session: The same.
            speaker: The same.
            scope: The same.
            attribute: The same.
            text: The same.
            as_of: The same. Without it and `believed_at`, history is exported, too.
            believed_at: The same.
            include_history: Also what is superseded, archived or over.
            format: `jsonl` (lines of JSON), `markdown` (the files as they are, in a zip), `graphml` (entities and
                relationships), or `parquet` (a row for each observation, as `recall` has them).
            force: Replace a file that is there.
            dry_run: Only count.
            progress: Called with how many observations are written.

        Raises:
            InputError: A condition or the format cannot be used, or the file would lie inside the store.
            ConflictError: The file is there already.
            StoreError: The disk did not take it; then there is no file.
        """
        from grail_mem.keep.export import export

        f = make_filter(
            since=since, before=before, category=category, tags=tags, tags_all=tags_all, entity_names=entity_names,
            entity_types=entity_types, relationship_type=relationship_type, min_confidence=min_confidence, kind=kind,
            status=status, source_kind=source_kind, session=session, speaker=speaker, scope=scope, attribute=attribute,
            text=text, as_of=as_of, believed_at=believed_at,
            include_history=include_history and as_of is None and believed_at is None,
            default_scope=self._settings.default_scope, now=datetime.now(UTC), zone=self._settings.zone,
        )  # fmt: skip
        target = Path(out) if isinstance(out, str | Path) else out
        with self._lock:
            return export(self._open(), target, f, form=format, force=force, dry_run=dry_run, progress=progress)

    def log(
        self,
        *,
        id: str | None = None,  # noqa: A002  the word of the design
        actor: str | Collection[str] | None = None,
        action: str | Collection[str] | None = None,
        since: Time | None = None,
        before: Time | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Logged:
        """Who did what to which observation, when and why; newest first.

        Args:
            id: Of this observation or proposal.
            actor: By any of these.
            action: Any of these, such as `update` or `hide`.
            since: At or after: instant, date, or relative (`7d`).
            before: Before; the same forms.
            limit: At most so many, 1 to 100000.
            cursor: Continues an earlier page.

        Raises:
            InputError: A value cannot be used; `problems` lists every reason.
        """
        from grail_mem.keep.log import log

        with self._lock:
            return log(
                self._open(), id_=id, actor=actor, action=action, since=since, before=before, limit=limit, cursor=cursor,
                now=datetime.now(UTC),
            )  # fmt: skip


class Safekeeping(Opened):
    """Backup, restoring and importing; for the owner alone."""

    def backup(
        self,
        out: str | Path,
        *,
        include_derived: bool = False,
        force: bool = False,
        dry_run: bool = False,
        progress: Callable[[str, int, int | None], None] | None = None,
    ) -> Backup:
        """Write everything that is truth into one file, as it is at one moment; others may go on writing.

        Args:
            out: The file, outside the store, or a folder in which it gets a name with the time.
            include_derived: Take what is under `output/` along, too.
            force: Replace a file that is there.
            dry_run: Only say what would be in it.
            progress: Called with what is being done, how many files are done, and how many there are.

        Raises:
            NotFoundError: There is no store.
            ConflictError: The file is there already.
            InputError: The file would lie inside the store.
            StoreError: The disk did not take it; then there is no file.
        """
        from grail_mem.keep.backup import backup

        with self._lock:
            return backup(
                self._open(), Path(out), derived=include_derived, force=force, dry_run=dry_run, progress=progress
            )

    def verify_backup(self, path: str | Path, *, progress: Callable[[int], None] | None = None) -> BackupChecked:
        """Read a backup from front to back: digests, names, totals and chains; everything wrong at once, nothing written.

        Args:
            path: The backup, of this store or any other.
            progress: Called with how many files are read.

        Raises:
            NotFoundError: There is no such file.
            StoreError: It is of a version that this program does not know.
        """
        from grail_mem.keep.verify import verify

        with self._lock:
            self._open()
        return verify(Path(path), progress=progress)

    def restore_backup(
        self,
        path: str | Path,
        *,
        force: bool = False,
        dry_run: bool = False,
        reason: str = "",
        actor: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Restored:
        """Make the store what a backup says; what was hidden or erased since stays so.

        It is verified wholly beside the store and then put in its place. When the process is killed on the way, the store is
        the old or the new one: the next opening finishes what was begun.

        Args:
            path: The backup.
            force: Replace a store that holds anything.
            dry_run: Verify, and say what would change.
            reason: Why, for the ledger.
            actor: Who does it, for the ledger.
            progress: Called with how many files are unpacked.

        Raises:
            NotFoundError: There is no such file.
            InputError: It cannot be restored; `problems` lists everything that is wrong with it.
            ConflictError: The folder holds something and `force` is not given.
            StoreError: The disk did not take it; the store is as before.
        """
        from grail_mem.keep.restore import restore_backup

        with self._lock:
            done = restore_backup(
                self._open(), Path(path), actor=self._acting(actor), reason=reason, force=force,
                dry_run=dry_run, progress=progress,
            )  # fmt: skip
            if not dry_run:
                self._view.close()
                self._layout, self._settings = opened(self._layout.root)
                self._view = View(self._layout, self._settings)
            return done

    def import_file(
        self,
        path: str | Path,
        *,
        kind: str | None = None,
        partial: bool = False,
        with_grants: bool = False,
        dry_run: bool = False,
        table: str = "",
        columns: Mapping[str, str] | None = None,
        reason: str = "",
        actor: str | None = None,
        index: bool = True,
        progress: Callable[[int], None] | None = None,
        indexing: Callable[[str, int, int | None], None] | None = None,
    ) -> Imported:
        """Take the records of a file, a folder or a zip into the store; a second run changes nothing.

        It is an export, lines of JSON with title and content, or what another program keeps or exports: ChatGPT, Claude, the
        MCP memory server, mem0, basic-memory, Obsidian, graphgrail or Citefold; or any SQLite database of memories. A record that cannot be taken stops no other.
        What is here already stays as it is: a record with the same id that says something else gets a new id, and so does
        every reference to it in the file.

        Args:
            path: The file, folder or zip.
            kind: What it is: `grail`, `markdown`, `drafts`, `chatgpt`, `claude`, `mcp`, `mem0`, `basic-memory`, `obsidian`,
                `graphgrail`, `citefold`, `sqlite` or `retold`; None to tell it from what is in it.
            partial: Take what is whole of an export that was cut off or changed.
            with_grants: Take grants, too.
            dry_run: Only say what would be done.
            table: The table of a database that is read; empty for those that are recognised.
            columns: Columns of it by what they are, such as `{"content": "body"}`, for those that are not recognised.
            reason: Why, for the ledger.
            actor: Who does it, for the ledger.
            index: After much came in, make the snapshot and the index of its words, so that the first search is quick.
            progress: Called with how many records are done.
            indexing: Called meanwhile with what is being done, how much of it is done, and how much there is.

        Returns:
            What was added, what was there, what got a new id, and every skip with its reason.

        Raises:
            NotFoundError: There is no such file.
            InputError: Its form is not known, or it was cut off or changed and `partial` is not given.
            StoreError: It is of a later version, or the disk did not take it; what was taken by then stays.
        """
        from grail_mem.keep.bring import import_file
        from grail_mem.keep.foreign.columns import Choice
        from grail_mem.keep.searchable import make_searchable

        with self._lock:
            done = import_file(
                self._open(), Path(path), actor=self._acting(actor), form=kind or "", reason=reason, partial=partial,
                with_grants=with_grants, dry_run=dry_run, choice=Choice(table, columns or {}), progress=progress,
            )  # fmt: skip
            if index and not dry_run and done.n_added + done.n_unchanged:
                done.n_indexed = make_searchable(self._view, indexing)
        if done.changed and not dry_run:
            self._compact_if_due()
        return done

    def verify_ledger(self) -> LedgerChecked:
        """Whether every line of the ledger is what was written and follows the one before; changes nothing."""
        from grail_mem.keep.log import verify_ledger

        with self._lock:
            return verify_ledger(self._open())
