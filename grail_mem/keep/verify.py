"""Verification of a backup: every digest, every name, every chain; everything that is wrong at once.

Nothing is written unless the caller gives a place for each member. Knows nothing of the store that is backed up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from grail_mem.errors import GrailError, InputError, NotFoundError, StoreError
from grail_mem.keep.archive import FORMAT, Item, Reading, is_whole, reading
from grail_mem.keep.members import clashes, is_chain, unit_of
from grail_mem.model.category import clean_category
from grail_mem.model.problem import Problem
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import read_lines
from grail_mem.store.version import require

Sink = Callable[[str], Callable[[bytes], object]]
"""Told a member's path, gives what takes its bytes in parts."""
_MOST: Final = 1000
"""Problems after which no further ones are listed."""
_MAX_CHAIN: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class BackupChecked:
    """What a look at a backup found.

    Attributes:
        path: The file.
        digest: SHA-256 of its manifest; compare it with what was printed when it was made.
        n_files: Files in it.
        n_observations: Observation files among them.
        n_bytes: Bytes of all files.
        heads: Number and digest of the last line of every chain of the ledger, by chain.
        notes: The folder of the observation files.
        derived: Whether derived files are in it.
        problems: What is wrong with it, by place.
        files: SHA-256 of every file in it, by path.
    """

    path: str
    digest: str = ""
    n_files: int = 0
    n_observations: int = 0
    n_bytes: int = 0
    heads: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    notes: str = ""
    derived: bool = False
    problems: tuple[Problem, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def ok(self) -> bool:
        """Whether it can be restored."""
        return all(problem.severity != "error" for problem in self.problems)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "path": self.path, "ok": self.ok, "digest": self.digest, "n_files": self.n_files,
            "n_observations": self.n_observations, "n_bytes": self.n_bytes,
            "heads": {clone: list(head) for clone, head in self.heads.items()}, "derived": self.derived,
            "problems": [p.to_dict() for p in self.problems],
        }  # fmt: skip


def verify(path: Path, *, sink: Sink | None = None, progress: Callable[[int], None] | None = None) -> BackupChecked:
    """Read a backup from front to back and say everything that is wrong with it.

    Args:
        path: The archive.
        sink: Where the members go; those with a name that no store has go nowhere.
        progress: Called with how many members are read.

    Raises:
        NotFoundError: There is no such file.
        StoreError: It is of a later version, and nothing was read of it.
    """
    path = path.expanduser()
    if not path.is_file():
        raise NotFoundError(f"There is no file {str(path)!r}.")
    look = _Look(path)
    try:
        with reading(path) as archive:
            look.take_header(archive)
            for number, item in enumerate(archive.items(), start=1):
                look.take(item, sink)
                if progress:
                    progress(number)
            look.take_manifest(archive)
    except _LaterError as error:
        if is_whole(path):
            raise StoreError(error.message, hint=error.hint) from error
        look.note("damaged_backup", "its bytes are not those that were written", "", "take another copy of it")
    except StoreError as error:
        look.note("damaged_backup", error.message, "", error.hint or "take another copy of it")
    return look.result()


class _LaterError(GrailError):
    """The backup is of a version that this program does not know."""


class _Look:
    """What was seen of an archive so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, Any] = {}
        self.digest = ""
        self.found: dict[str, tuple[int, str]] = {}
        self.heads: dict[str, tuple[int, str]] = {}
        self.problems: list[Problem] = []

    def note(self, code: str, message: str, where: str, remedy: str, line: int = 0) -> None:
        if len(self.problems) < _MOST:
            self.problems.append(Problem(code, message, where or self.path.name, line, remedy, "error"))

    def take_header(self, archive: Reading) -> None:
        header = archive.header
        if isinstance(header.get("format"), int) and header["format"] > FORMAT:
            raise _LaterError(
                f"{self.path.name} is a backup of format {header['format']}; this grail_mem reads up to {FORMAT}.",
                hint="Use a newer grail_mem; nothing was touched.",
            )
        try:
            require(header.get("store_version"), self.path.name)
        except StoreError as error:
            raise _LaterError(error.message, hint=error.hint) from error
        notes = header.get("notes")
        try:
            if not isinstance(notes, str) or (notes and clean_category(notes) != notes):
                raise StoreError("Its header names no folder of observations.")
        except InputError as error:
            raise StoreError(f"Its header names a folder that none can have: {error.message}") from error
        self.header = header

    def take(self, item: Item, sink: Sink | None) -> None:
        """Hash a member and hand it on, or say why it is none."""
        reason = self._refusal(item)
        if reason:
            self.note("bad_member", reason, item.path, "do not use this backup: it was changed by others")
        write = sink(item.path) if sink is not None and not reason else None
        digest, chain, n_bytes = sha256(), bytearray(), 0
        keeps = not reason and is_chain(item.path)
        for part in item.parts:
            digest.update(part)
            n_bytes += len(part)
            if write is not None:
                write(part)
            if keeps and n_bytes <= _MAX_CHAIN:
                chain += part
        if write is not None:
            write(b"")
        if reason:
            return
        self.found[item.path] = (n_bytes, digest.hexdigest())
        if keeps:
            self._take_chain(item.path, bytes(chain))

    def _refusal(self, item: Item) -> str:
        if not item.is_file:
            return "it is no plain file"
        if item.path in self.found:
            return "it is there twice"
        if not unit_of(item.path, self.header["notes"], derived=bool(self.header.get("derived"))):
            return "a store has no such file"
        return ""

    def _take_chain(self, path: str, data: bytes) -> None:
        clone = path.rpartition("/")[2].removesuffix(".jsonl")
        _, head, broken = read_lines(data, clone, thorough=True)
        self.heads[clone] = (head.seq, head.digest)
        for item in broken:
            if item.kind == "changed":
                self.note(
                    "broken_chain", f"the chain does not verify: {item.detail}", path,
                    "compare it with git or another backup", item.line,
                )  # fmt: skip

    def take_manifest(self, archive: Reading) -> None:
        """Compare what was read with what the manifest tells of."""
        manifest, self.digest = archive.manifest, archive.manifest_digest
        told = _told(manifest)
        if told is None or manifest.get("header") != self.header:
            self.note("damaged_backup", "the manifest is not what grail_mem writes", "", "take another copy of it")
            return
        totals = (self.header.get("n_files"), self.header.get("n_bytes"))
        if totals != (len(told), sum(size for size, _ in told.values())):
            self.note("damaged_backup", "its totals are not those of its members", "", "take another copy of it")
        for path in sorted(told.keys() | self.found.keys()):
            if path not in self.found:
                self.note("wrong_member", "the manifest names it, and it is not there", path, "take another copy")
            elif path not in told:
                self.note("wrong_member", "it is there, and the manifest does not name it", path, "take another copy")
            elif told[path] != self.found[path]:
                self.note("wrong_member", "its bytes are not those that were backed up", path, "take another copy")
        for path, other in clashes(sorted(self.found)):
            if path.startswith(f"{other}/"):
                self.note("bad_member", f"{other} is a file, so nothing lies below it", path, "do not use this backup")
                continue
            self.problems.append(
                Problem(
                    "same_file", f"differs from {other} only in spelling; on other systems they are one file", path,
                    remedy="restore it on a system that tells them apart", severity="warning",
                )
            )  # fmt: skip
        heads = {clone: tuple(head[:2]) for clone, head in manifest["heads"].items()}
        if heads != self.heads:
            self.note(
                "broken_chain", "the chains do not end where the manifest says", ".grail/ledger", "take another copy"
            )

    def result(self) -> BackupChecked:
        notes = self.header.get("notes", "")
        below = f"{notes}/" if notes else ""
        layout = Layout(self.path.parent, notes)
        n_observations = sum(layout.holds(path) for path in self.found if path.startswith(below))
        return BackupChecked(
            str(self.path), self.digest, len(self.found), n_observations, sum(size for size, _ in self.found.values()),
            self.heads, notes, bool(self.header.get("derived")), tuple(self.problems),
            {path: digest for path, (_, digest) in self.found.items()},
        )  # fmt: skip


def _told(manifest: Mapping[str, Any]) -> dict[str, tuple[int, str]] | None:
    """Size and digest by path as a manifest tells them; None when it has not that form."""
    try:
        told = {str(path): (int(size), str(digest)) for path, size, digest in manifest["files"]}
        heads = manifest["heads"]
        right = len(told) == len(manifest["files"]) and all(len(head) == 3 for head in heads.values())  # noqa: PLR2004  number, digest, time
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return told if right else None
