"""Snapshots on disk: one folder each, complete when its manifest is there.

A snapshot folder holds `observations.parquet`, the index and payload files made from it, `fingerprints.u64` (sorted, for telling
repeated observations without opening a database) and `manifest.json`, written last. Knows nothing of how the rows were
gathered.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from io import BufferedReader
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import IndexUnusableError
from grail_mem.model.problem import Problem
from grail_mem.store.arrays import numpy_of
from grail_mem.store.files import FOLDER_MODE, replace_file, sync_folder
from grail_mem.store.layout import Layout
from grail_mem.store.ledger_line import Head
from grail_mem.store.receipt import Receipt, Receipts, read_receipts
from grail_mem.store.scan import FolderState
from grail_mem.store.schema import VERSION

if TYPE_CHECKING:  # a tenth of a second; only writing needs it
    import pyarrow as pa

MANIFEST: Final = "manifest.json"
ROWS: Final = "observations.parquet"
INDEX: Final = "index.duckdb"
PAYLOADS: Final = "payloads.json"
FINGERPRINTS: Final = "fingerprints.u64"
ROW_GROUP: Final = 10_000
"""Rows a Parquet row group; measured: three times faster to filter than the default, equal in size."""
_REMOVED: Final = "removed"
KEPT_S: Final = 600.0
"""How long a replaced snapshot stays, besides the one before the newest, for readers that are opening it."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a snapshot holds and up to where.

    Attributes:
        name: Its folder.
        n_rows: Observations in it.
        heads: How far each chain of the ledger is in it.
        tombstones: By id, the latest hide or restore: its order in history and whether it hides.
        grants: By id, what was granted to whom.
        revoked: Ids of grants that were revoked.
        suspended: By id, the same of the latest suspending for want of evidence or end of it.
        folders: Every folder as it was when its files were read.
        problems: What could not be used when it was made, by path.
        files: Size in bytes and BLAKE2b digest of every other file in its folder, by name.
        receipts: Of what was erased before.
    """

    name: str
    n_rows: int = 0
    heads: Mapping[str, Head] = field(default_factory=dict)
    tombstones: Mapping[str, tuple[str, str, int, bool]] = field(default_factory=dict)
    grants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    revoked: Sequence[str] = ()
    folders: Mapping[str, FolderState] = field(default_factory=dict)
    problems: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    suspended: Mapping[str, tuple[str, str, int, bool]] = field(default_factory=dict)
    receipts: tuple[Receipt, ...] = ()

    def to_json(self) -> bytes:
        """The manifest as the bytes of its file."""
        return json.dumps(
            {
                "version": VERSION, "name": self.name, "n_rows": self.n_rows, "heads": self.heads,
                "tombstones": self.tombstones, "grants": self.grants, "revoked": self.revoked, "folders": self.folders,
                "problems": {path: [p.to_dict() for p in found] for path, found in self.problems.items()},
                "files": self.files, "suspended": self.suspended, "receipts": Receipts(self.receipts).to_json(),
            },
            separators=(",", ":"),
        ).encode()  # fmt: skip


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a snapshot folder; None when it is not complete, damaged, or of another version.

    Without it the same answers come from an older snapshot, or from the files themselves, only slower.
    """
    try:
        values = json.loads((folder / MANIFEST).read_bytes())
        if values["version"] != VERSION:
            return None
        return Manifest(
            values["name"],
            values["n_rows"],
            {clone: Head(*head) for clone, head in values["heads"].items()},
            {id_: (at, clone, seq, hides) for id_, (at, clone, seq, hides) in values["tombstones"].items()},
            dict(values["grants"]),
            tuple(values["revoked"]),
            {path: FolderState(*state) for path, state in values["folders"].items()},
            {path: tuple(Problem(**p) for p in found) for path, found in values["problems"].items()},
            {name: (size, digest) for name, (size, digest) in values["files"].items()},
            {id_: (at, clone, seq, stands) for id_, (at, clone, seq, stands) in values.get("suspended", {}).items()},
            read_receipts(values.get("receipts", ())),
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def is_of_another_version(folder: Path) -> bool:
    """Whether an earlier or later program wrote a snapshot, so that this one passes it over."""
    try:
        version = json.loads((folder / MANIFEST).read_bytes())["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return type(version) is int and version != VERSION


def require_whole(folder: Path, manifest: Manifest) -> None:
    """Check that every file of a snapshot has the size it was written with; its bytes are checked by `grail check`.

    Raises:
        IndexUnusableError: A file is missing, cut off or grown; DuckDB itself would not notice all of that.
    """
    for name, (size, _) in manifest.files.items():
        try:
            found = os.stat(folder / name).st_size
        except OSError:
            found = -1
        if found != size:
            raise IndexUnusableError(
                f"The snapshot file {folder / name} is damaged: {found} bytes instead of {size}.",
                hint="`grail rebuild` makes it anew from the files.",
            )


def newest(layout: Layout) -> Manifest | None:
    """The newest complete snapshot; None when there is none."""
    for name in reversed(names(layout)):
        manifest = read_manifest(layout.snapshots / name)
        if manifest is not None:
            return manifest
    return None


def names(layout: Layout) -> list[str]:
    """Names of all snapshot folders, oldest first."""
    try:
        return sorted(name for name in os.listdir(layout.snapshots) if name.isdigit())
    except (FileNotFoundError, NotADirectoryError):
        return []


def next_name(layout: Layout) -> str:
    """A name that sorts after all there are; the compaction lock must be held."""
    return f"{int((names(layout) or ['0'])[-1]) + 1:08d}"


def write_rows(folder: Path, table: pa.Table) -> None:
    """Write the Parquet file and the fingerprints of a snapshot, durably."""
    import numpy as np
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    with (folder / ROWS).open("wb") as file:
        pq.write_table(table, file, compression="zstd", row_group_size=ROW_GROUP)
        file.flush()
        os.fsync(file.fileno())
    prints = np.sort(numpy_of(table["fingerprint"])).astype("<u8")
    replace_file(folder / FINGERPRINTS, prints.tobytes())


def publish(layout: Layout, folder: Path, manifest: Manifest) -> None:
    """Let a written snapshot count: its files are durable, then its manifest, then its name."""
    names = sorted(os.listdir(folder))
    with ThreadPoolExecutor() as pool:
        files = dict(zip(names, pool.map(_sealed, [folder / name for name in names]), strict=True))
    replace_file(folder / MANIFEST, replace(manifest, files=files).to_json())
    os.rename(folder, layout.snapshots / manifest.name)
    sync_folder(layout.snapshots)


def _sealed(path: Path) -> tuple[int, str]:
    """Make a file durable; returns its size and digest."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        return os.fstat(file.fileno()).st_size, _digest(file)


def _digest(file: BufferedReader) -> str:
    return file_digest(file, "blake2b").hexdigest()


def is_as_written(folder: Path, manifest: Manifest, name: str) -> bool:
    """Whether a file of a snapshot has the bytes it was written with."""
    try:
        with (folder / name).open("rb") as file:
            return name in manifest.files and _digest(file) == manifest.files[name][1]
    except OSError:
        return False


def draft_folder(layout: Layout) -> Path:
    """An empty folder to write a snapshot in; the compaction lock must be held, so what is there is a killed one's."""
    folder = layout.snapshots / "draft"
    for left in (folder, layout.snapshots / _REMOVED):
        with suppress(FileNotFoundError):
            shutil.rmtree(left)
    folder.mkdir(parents=True, mode=FOLDER_MODE)
    return folder


def remove_old(layout: Layout) -> None:
    """Remove snapshots that no reader can be about to open: all but the newest two, when replaced long enough ago.

    A reader that has one open keeps it: its files stay readable until it closes them.
    """
    there = names(layout)
    for name, successor in pairwise(there[:-1]):
        with suppress(OSError):
            if time.time() - (layout.snapshots / successor / MANIFEST).stat().st_mtime > KEPT_S:
                remove(layout, name)


def remove(layout: Layout, name: str) -> None:
    """Remove a snapshot, which first loses its name: one that is removed by half is not a damaged one.

    The compaction lock must be held.
    """
    gone = layout.snapshots / _REMOVED
    with suppress(FileNotFoundError):  # what a killed process left
        shutil.rmtree(gone)
    os.rename(layout.snapshots / name, gone)
    shutil.rmtree(gone)


class Fingerprints:
    """The sorted fingerprints of a snapshot, mapped from its file.

    A file that is not as long as it was written answers that everything may be there, so that the index is asked.
    """

    def __init__(self, folder: Path, n_rows: int) -> None:
        self._map: mmap | None = None
        self._values: memoryview = memoryview(b"").cast("Q")
        self._is_whole = False
        with suppress(FileNotFoundError), (folder / FINGERPRINTS).open("rb") as file:
            self._is_whole = os.fstat(file.fileno()).st_size == n_rows * self._values.itemsize
            if n_rows and self._is_whole:
                self._map = mmap(file.fileno(), 0, access=ACCESS_READ)
                self._values = memoryview(self._map).cast("Q")

    def __contains__(self, fingerprint: object) -> bool:
        if not self._is_whole:
            return True
        values: Any = self._values
        place = bisect_left(values, fingerprint)
        return place < len(values) and bool(values[place] == fingerprint)

    def close(self) -> None:
        """Let go of the file."""
        self._values.release()
        if self._map is not None:
            self._map.close()
