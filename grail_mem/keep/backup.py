"""Backup: everything that is truth in one file, as it was at one moment, while others go on writing.

look → copy aside → (lock) copy what changed meanwhile → (unlock) write the archive. The lock is held for a look at every
file's state and for what changed since it was copied. Knows nothing of how an archive is read.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Self, cast

from grail_mem.errors import InputError, NotFoundError, StoreError
from grail_mem.keep.archive import FORMAT, Source, write_archive
from grail_mem.keep.members import Member, Members, is_chain, members
from grail_mem.keep.owner import require_owner
from grail_mem.keep.place import target_of, written_whole
from grail_mem.model.problem import Problem
from grail_mem.query.view import View
from grail_mem.store.files import FileState, open_folder, read_file, translated
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import read_lines
from grail_mem.store.scan import settled
from grail_mem.store.version import FILE, FIRST, version_in
from grail_mem.write.staged import staging, writing

SUFFIX: Final = ".tar.gz"


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds.

    Attributes:
        path: The file.
        n_files: Files of the store in it.
        n_observations: Observation files among them.
        n_bytes: Bytes of all files before packing.
        size_bytes: Bytes of the archive; 0 for a dry run.
        digest: SHA-256 of the manifest, by which the backup is told from every other one; empty for a dry run.
        heads: Number and digest of the last line of every chain of the ledger, by chain.
        problems: What was left out, and why.
        dry_run: Whether nothing was written.
    """

    path: str
    n_files: int
    n_observations: int
    n_bytes: int
    size_bytes: int = 0
    digest: str = ""
    heads: Mapping[str, tuple[int, str]] | None = None
    problems: tuple[Problem, ...] = ()
    dry_run: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "path": self.path, "n_files": self.n_files, "n_observations": self.n_observations, "n_bytes": self.n_bytes,
            "size_bytes": self.size_bytes, "digest": self.digest,
            "heads": {clone: list(head) for clone, head in (self.heads or {}).items()},
            "problems": [p.to_dict() for p in self.problems], "dry_run": self.dry_run,
        }  # fmt: skip


class _Copy(NamedTuple):
    """Where the bytes of a file lie in the spool, and its state while they were read."""

    at: int
    n_bytes: int
    state: FileState


def backup(
    view: View,
    out: Path,
    *,
    derived: bool = False,
    force: bool = False,
    dry_run: bool = False,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Backup:
    """Write everything that is truth into one file.

    Args:
        view: The store.
        out: The file, or a folder in which it gets a name of its own.
        derived: Take what is under `output/` along, too.
        force: Replace a file that is there.
        dry_run: Only say what would be in it.
        progress: Called with what is being done, how many files are done, and how many there are.

    Raises:
        NotFoundError: There is no store.
        AccessError: The caller may not see everything.
        ConflictError: The file is there already.
        InputError: The file would lie inside the store.
        StoreError: A file could not be read, or the disk did not take the archive; then there is no file.
    """
    require_owner(view.access, "back up the store")
    layout = view.layout
    if not layout.is_store():
        raise NotFoundError(f"There is no store in {layout.root}.", hint="`grail init DIR` makes one.")
    target = target_of(layout, out, suffix=SUFFIX, force=force)
    if dry_run:
        found = members(layout, derived=derived)
        n_bytes = sum(member.state.size for member in found.files)
        return Backup(
            str(target), len(found.files), _count(layout, found.files), n_bytes, problems=found.problems, dry_run=True
        )
    show = progress or (lambda _label, _n, _of: None)
    with translated(f"write the backup {target.name}", target), _spool(target.parent) as spool:
        copies = _copy(layout, members(layout, derived=derived).files, {}, spool, show)
        with staging(layout), writing(view):
            found = members(layout, derived=derived)
            copies = _copy(layout, found.files, copies, spool, lambda *_: None)
        return _write(layout, target, spool, copies, found, derived=derived, force=force, show=show)


@contextmanager
def _spool(folder: Path) -> Iterator[IO[bytes]]:
    """A file without a name beside the archive: what lies there vanishes with the process."""
    with tempfile.TemporaryFile(dir=folder, prefix=".grail-backup-") as file:
        yield cast("IO[bytes]", file)


def _copy(
    layout: Layout,
    files: Sequence[Member],
    known: Mapping[str, _Copy],
    spool: IO[bytes],
    show: Callable[[str, int, int | None], None],
) -> dict[str, _Copy]:
    """Copy the files that are not there in their present state; those that are gone meanwhile are left out."""
    copies: dict[str, _Copy] = {}
    for number, member in enumerate(files, start=1):
        copy = known.get(member.path)
        if copy is None or copy.state != member.state:
            copy = _copy_one(layout, member.path, spool)
        if copy is not None:
            copies[member.path] = copy
        show("copying", number, len(files))
    return copies


def _copy_one(layout: Layout, path: str, spool: IO[bytes]) -> _Copy | None:
    folder, _, name = path.rpartition("/")
    began_ns = time.time_ns()
    try:
        with open_folder(layout.root, folder) as (descriptor, _):
            data, state = read_file(name, dir_fd=descriptor)
    except FileNotFoundError:
        return None
    except InputError:  # a link took the place of a folder
        return None
    at = spool.seek(0, os.SEEK_END)
    spool.write(data)
    return _Copy(at, len(data), settled(state, began_ns))


def _write(
    layout: Layout,
    target: Path,
    spool: IO[bytes],
    copies: Mapping[str, _Copy],
    found: Members,
    *,
    derived: bool,
    force: bool,
    show: Callable[[str, int, int | None], None],
) -> Backup:
    """Write the archive beside its place and give it its name when it is whole."""
    heads = _heads(spool, copies)
    n_bytes = sum(copy.n_bytes for copy in copies.values())
    n_observations = _count(layout, [Member(path, copy.state) for path, copy in copies.items()])
    version = version_in(_bytes(spool, copies[FILE])) if FILE in copies else FIRST
    header = {
        "format": FORMAT, "store_version": version, "notes": layout.notes, "derived": derived, "n_files": len(copies),
        "n_bytes": n_bytes, "n_observations": n_observations,
    }  # fmt: skip
    sources = [Source(path, copies[path].n_bytes, _opener(spool, copies[path])) for path in sorted(copies)]

    def manifest(listed: list[list[Any]]) -> dict[str, Any]:
        return {
            "header": header,
            "files": listed,
            "heads": {clone: [h.seq, h.digest, h.at] for clone, h in heads.items()},
        }

    with written_whole(target, force=force) as file:
        digest = write_archive(file, header, sources, manifest, progress=lambda n: show("packing", n, len(sources)))
        size = file.tell()
    return Backup(
        str(target), len(copies), n_observations, n_bytes, size, digest,
        {clone: (head.seq, head.digest) for clone, head in heads.items()}, found.problems,
    )  # fmt: skip


def _opener(spool: IO[bytes], copy: _Copy) -> Callable[[], IO[bytes]]:
    return lambda: cast("IO[bytes]", _Part(spool, copy))


class _Part:
    """One file in the spool, to be read from front to back."""

    def __init__(self, spool: IO[bytes], copy: _Copy) -> None:
        self._spool, self._at, self._left = spool, copy.at, copy.n_bytes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, size: int = -1) -> bytes:
        n = self._left if size < 0 else min(size, self._left)
        self._spool.seek(self._at)
        data = self._spool.read(n)
        if len(data) < n:
            raise StoreError("What was copied aside for the backup is gone.")
        self._at, self._left = self._at + n, self._left - n
        return data


def _bytes(spool: IO[bytes], copy: _Copy) -> bytes:
    return _Part(spool, copy).read()


def _heads(spool: IO[bytes], copies: Mapping[str, _Copy]) -> dict[str, Any]:
    """Where every chain ends in the backup."""
    chains = {path.rpartition("/")[2].removesuffix(".jsonl"): copy for path, copy in copies.items() if is_chain(path)}
    return {clone: read_lines(_bytes(spool, copy), clone)[1] for clone, copy in sorted(chains.items())}


def _count(layout: Layout, files: Sequence[Member]) -> int:
    return sum(layout.holds(member.path) for member in files)
