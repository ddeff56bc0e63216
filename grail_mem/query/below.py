"""What lies below the delta: the rows of one snapshot, of files read in bulk in its place, or none at all.

Knows nothing of the ledger, and not which of its rows still count.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import Final

from grail_mem.query.delta import BaseRow
from grail_mem.query.file_base import FileBase
from grail_mem.query.snapshot_reader import SnapshotReader
from grail_mem.store.files import FileState
from grail_mem.store.layout import Layout
from grail_mem.store.snapshot import INDEX, PAYLOADS, Fingerprints, Manifest, newest, require_whole

NO_SNAPSHOT: Final = Manifest("")


class NoRows:
    """The rows below the delta of a store that has neither snapshot nor files read in bulk."""

    came_first = True

    def by_path(self, _paths: Collection[str]) -> dict[str, BaseRow]:
        """No row."""
        return {}

    def by_id(self, _ids: Collection[str]) -> dict[str, BaseRow]:
        """No row."""
        return {}


class Below:
    """The newest snapshot at the time of making, opened when it is first asked for.

    Args:
        layout: Where the store is.
        from_files: Look at no snapshot.

    Attributes:
        manifest: What the snapshot holds; one without a name when there is none.
        files: Files read in bulk, where there is no snapshot.
    """

    def __init__(self, layout: Layout, *, from_files: bool) -> None:
        self._layout, self._from_files = layout, from_files
        self._mtime_ns = _mtime_ns(layout)  # before looking, so that a snapshot published meanwhile is found next
        self.manifest = (None if from_files else newest(layout)) or NO_SNAPSHOT
        self.files: FileBase | None = None
        self._reader: SnapshotReader | None = None
        self._prints: Fingerprints | None = None

    def close(self) -> None:
        """Let go of every file; they are opened again when asked for."""
        if self._reader is not None:
            self._reader.close()
        if self._prints is not None:
            self._prints.close()
        self._reader = self._prints = None

    def is_replaced(self) -> bool:
        """Whether another snapshot counts now; anything else that moved in that folder is no matter."""
        if self._from_files:
            return False
        now = _mtime_ns(self._layout)
        if now == self._mtime_ns:
            return False
        if (newest(self._layout) or NO_SNAPSHOT).name != self.manifest.name:
            return True
        self._mtime_ns = now
        return False

    def is_removed(self) -> bool:
        """Whether the folder of the snapshot is no longer there, as after a newer one took its place."""
        return not (self._layout.snapshots / self.manifest.name).is_dir()

    @property
    def reader(self) -> SnapshotReader | None:
        """The opened snapshot, or None when there is none.

        Raises:
            IndexUnusableError: It is damaged, or no longer there.
        """
        if self._reader is None and self.manifest.name:
            folder = self._layout.snapshots / self.manifest.name
            require_whole(folder, self.manifest)
            self._reader = SnapshotReader(folder / INDEX, folder / PAYLOADS)
        return self._reader

    def rows(self) -> SnapshotReader | FileBase | NoRows:
        """The rows, whichever they are of."""
        return self.reader or self.files or NoRows()

    def files_in(self, folder: str) -> dict[str, FileState]:
        """States of the files directly in a folder, by name, as they were when their rows were read."""
        if self.files is not None:
            return self.files.files_in(folder)
        return self.reader.files_in(self._layout.category_of(folder)) if self.reader else {}

    def ids_saying(self, prints: Collection[int]) -> Iterator[tuple[int, str]]:
        """Fingerprints that somebody has in the snapshot, each with an id."""
        if self._prints is None and self.manifest.name:
            self._prints = Fingerprints(self._layout.snapshots / self.manifest.name, self.manifest.n_rows)
        held = [print_ for print_ in prints if self._prints is not None and print_ in self._prints]
        if held and self.reader:
            yield from self.reader.by_fingerprint(held)


def _mtime_ns(layout: Layout) -> int:
    try:
        return os.stat(layout.snapshots).st_mtime_ns
    except FileNotFoundError:
        return -1
