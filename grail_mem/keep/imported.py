"""What comes with the observations of an import: sources, tombstones and grants; and what the import comes to.

Knows nothing of observations beyond their ids.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from grail_mem.errors import InputError
from grail_mem.keep.export import GRANTS
from grail_mem.keep.forgotten import receipts_in
from grail_mem.keep.members import SOURCES, unit_of
from grail_mem.keep.record import Incoming, Skipped
from grail_mem.model.refusal import said_of
from grail_mem.model.times import format_time
from grail_mem.model.ulid import is_id
from grail_mem.query.view import View
from grail_mem.store.documents import is_as_named
from grail_mem.store.filename import fits_everywhere
from grail_mem.store.files import open_folder, read_file, translated, write_staged
from grail_mem.store.ledger import history
from grail_mem.store.ledger_line import Entry
from grail_mem.store.receipt import Receipts
from grail_mem.write.said_left import source_left
from grail_mem.write.staged import discard, staging, tell, writing


@dataclass(slots=True)
class Imported:
    """What an import did.

    Attributes:
        form: The form of the file.
        n_records: Records that were read: as many as were added, there already, taken beside observations, or skipped.
        n_added: Observations that are new.
        n_unchanged: Observations that were there already.
        n_beside: Sources, grants and tombstones that were taken or there already.
        n_hidden: Observations that are hidden now since the file says so.
        n_sources: Files under `sources/` that are new.
        n_grants: Grants and revocations that are new.
        remapped: New ids by the ids that were taken.
        skipped: What was not taken, each with the reason.
        dry_run: Whether nothing was changed.
        n_indexed: Observations of the store whose words were indexed then, so that the first search is quick.
        mapping: Of a database: each table that is read, its rows, what its columns are, and the first rows.
    """

    form: str = ""
    n_records: int = 0
    n_added: int = 0
    n_unchanged: int = 0
    n_beside: int = 0
    n_hidden: int = 0
    n_sources: int = 0
    n_grants: int = 0
    remapped: dict[str, str] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    dry_run: bool = False
    n_indexed: int = 0
    mapping: list[dict[str, Any]] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether anything is otherwise than before."""
        return bool(self.n_added or self.n_hidden or self.n_sources or self.n_grants)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "form": self.form, "n_records": self.n_records, "n_added": self.n_added, "n_unchanged": self.n_unchanged,
            "n_beside": self.n_beside, "n_hidden": self.n_hidden, "n_sources": self.n_sources, "n_grants": self.n_grants, "remapped": dict(self.remapped),
            "skipped": [item.to_dict() for item in self.skipped], "dry_run": self.dry_run,
            "n_indexed": self.n_indexed, "mapping": self.mapping,
        }  # fmt: skip

    def skip(self, record: Incoming, reason: str) -> None:
        """Note that a record was not taken."""
        name = record.id or record.path or str(record.draft.get("title", ""))[:200]
        self.skipped.append(Skipped(record.line, name, reason, record.where))


def is_news(view: View, id_: str, said: Mapping[str, Any]) -> bool:
    """Whether a tombstone says more than what was decided here on this observation; a session takes none."""
    decided, at = view.tombstones.get(id_), said.get("at")
    later = decided is None or (isinstance(at, str) and decided[0] < at)
    return view.access.principal is None and id_ not in view.hidden and later


def tombstone(id_: str, path: str, said: Mapping[str, Any], actor: str) -> Entry:
    """The entry that hides an observation here as it was hidden there."""
    reason, who = said.get("reason"), said.get("actor")
    return Entry(
        "hide", id_, path, reason=reason if isinstance(reason, str) else "", at=format_time(datetime.now(UTC)),
        actor=who if isinstance(who, str) and who else actor,
    )  # fmt: skip


class Beside:
    """Takes what is no observation, and counts it.

    Args:
        view: The store.
        done: What the import came to so far.
        with_grants: Whether grants are taken.
        actor: Who imports.
    """

    def __init__(self, view: View, done: Imported, *, with_grants: bool, actor: str) -> None:
        self._view, self._done = view, done
        self._with_grants, self._actor = with_grants, actor
        self._owns = view.access.principal is None
        self._receipts: Receipts | None = None

    def take_tombstones(self, wanted: Mapping[str, Mapping[str, Any]]) -> None:
        """Tell the tombstones of observations that the file does not hold, or that were there and visible."""
        if not wanted:
            return
        if not self._owns:
            self._done.skipped += [Skipped(0, id_, "a session takes no tombstones") for id_ in wanted]
            return
        if self._done.dry_run:
            return
        with staging(self._view.layout), translated("import tombstones", self._view.layout.root), writing(self._view):
            self._view.catch_up()
            paths = self._view.paths_of(wanted)
            entries = [
                tombstone(id_, paths.get(id_, ""), said, self._actor)
                for id_, said in wanted.items()
                if is_news(self._view, id_, said)
            ]
            if entries:
                tell(self._view, entries)
        self._done.n_hidden += len(entries)

    def take_sources(self, records: Sequence[Incoming]) -> None:
        """Put sources in their places; one whose name another source has is skipped."""
        for record in records:
            if not self._owns:
                self._done.skip(record, "a session takes no sources")
                continue
            is_source = (
                record.path.startswith(f"{SOURCES}/") and unit_of(record.path, self._view.layout.notes) == SOURCES
            )
            if not is_source or not fits_everywhere(record.path):
                self._done.skip(record, f"{record.path!r} is no path of a source")
                continue
            if not is_as_named(record.path, record.data or b""):
                self._done.skip(record, "its bytes are not those that its name is the digest of")
                continue
            try:
                self._done.n_sources += self._take_source(record, self._data(record))
            except InputError as error:
                self._done.skip(record, error.message)

    def _data(self, record: Incoming) -> bytes:
        """The bytes of a source, without what was erased here.

        Raises:
            InputError: All of it was.
        """
        if self._receipts is None:
            self._receipts = receipts_in(history(self._view.layout), default_scope=self._view.access.default_scope)
        left = source_left(self._receipts, record.path, record.data or b"")
        if left is None:
            raise InputError("it was erased here")
        return left

    def _take_source(self, record: Incoming, data: bytes) -> bool:
        """Put a source in its place unless it is there; returns whether it was not."""
        layout = self._view.layout
        folder, _, name = record.path.rpartition("/")
        there = self._there(record.path)
        if there is not None and there != data and is_as_named(record.path, there):
            raise InputError("another source of that name is there")
        if there == data or self._done.dry_run:
            return there != data
        with staging(layout) as staging_fd, translated("import a source", self._view.layout.root), writing(self._view):
            staged = write_staged(staging_fd, data)
            try:
                with open_folder(layout.root, folder, create=True) as (descriptor, _):
                    if there is not None and self._there(record.path) == there:  # a changed document is mended
                        os.rename(staged, name, src_dir_fd=staging_fd, dst_dir_fd=descriptor)
                    else:
                        os.link(staged, name, src_dir_fd=staging_fd, dst_dir_fd=descriptor)
                    os.fsync(descriptor)
            except FileExistsError as error:
                raise InputError("another source of that name came meanwhile") from error
            finally:
                discard(staging_fd, [staged])
        return True

    def _there(self, path: str) -> bytes | None:
        """The bytes of the source that is there; None when there is none.

        Raises:
            InputError: They cannot be read.
        """
        root = self._view.layout.root
        folder, _, name = path.rpartition("/")
        try:
            with open_folder(root, folder) as (descriptor, _):
                return read_file(name, dir_fd=descriptor)[0]
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"what is there cannot be read: {said_of(error, root / path)}") from error

    def take_grants(self, records: Sequence[Incoming]) -> None:
        """Tell what was granted and revoked, when the owner asks for that."""
        if not records:
            return
        if not (self._owns and self._with_grants):
            why = "a session takes no grants" if not self._owns else "grants are taken only when asked for"
            for record in records:
                self._done.skip(record, why)
            return
        heard = {(e.action, e.id) for e in history(self._view.layout) if e.action in GRANTS}
        entries = []
        for record in records:
            said = record.said
            texts = {name: said.get(name) for name in ("action", "at", "actor", "reason", "detail")}
            right = all(isinstance(text, str) for text in texts.values()) and texts["action"] in GRANTS
            if not is_id(record.id) or not right:
                self._done.skip(record, "it is no grant that can be read")
            elif (texts["action"], record.id) not in heard:
                action, at, actor, reason, detail = map(str, texts.values())
                entries.append(Entry(action, record.id, reason=reason, detail=detail, at=at, actor=actor))
        if entries and not self._done.dry_run:
            with staging(self._view.layout), translated("import grants", self._view.layout.root), writing(self._view):
                self._view.catch_up()
                tell(self._view, entries)
        self._done.n_grants += len(entries)
