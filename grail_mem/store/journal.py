"""The journal: what this copy of a store committed lately, whole, until it is known to be durable in its places.

One file outside git. A record holds the ledger lines and the bytes of the files of one change, and is synced in one step
before the change is acknowledged; the files and the ledger need not be. After a kill the last record says what to finish,
after a loss of power the records say what to put back. All but the last functions need the store's write lock. Knows
nothing of how files are put in place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from typing import Any, Final, NamedTuple

from grail_mem.store.files import FILE_MODE, sync_folder
from grail_mem.store.layout import Layout
from grail_mem.store.ledger_line import link_of

NAME: Final = "journal"
VERSION: Final = 1
_HEADER: Final = 4096
_FRAME: Final = Struct("<QQ16sB7x")  # generation, length of the payload, its digest, whether it is in place
_IN_PLACE_AT: Final = 32
# Syncing bytes that a file has already is one write to the disk; bytes that make it longer cost the file system a commit.
# A record is kept until the journal is full, so a larger one spreads the cost of emptying it over more writes.
_SMALLEST: Final = 64 * 1024
_LARGEST: Final = 1024 * 1024


class File(NamedTuple):
    """One file of a change.

    Attributes:
        staged: Name under which the bytes lie in the staging folder until they are put in place.
        before: SHA-256 of the file that is replaced; empty for a new one.
        data: Its bytes after the change.
    """

    staged: str
    before: str
    data: bytes


class Record(NamedTuple):
    """One committed change.

    Attributes:
        clone: The chain its ledger lines belong to.
        lines: Whole ledger lines, newline included.
        files: The files of the first lines, one each; the other lines have none.
        promised: Whether the change is durable once its call has returned.
    """

    clone: str
    lines: Sequence[bytes]
    files: Sequence[File] = ()
    promised: bool = True


class Tip(NamedTuple):
    """Where a chain of the ledger ended after the last change of this copy: its name, last number and digest."""

    clone: str = ""
    seq: int = 0
    digest: str = ""


class Journal:
    """The journal of one store as one process sees it; holds the file open between calls.

    Attributes:
        failed: Whether a sync failed: what lies behind may be missing on the disk, so nothing may be appended there.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._fd = -1
        self._id = (0, 0)
        self._header = b""
        self._generation = 0
        self.failed = False
        self._capacity = _SMALLEST
        self._size = 0  # of the file, as far as it was asked for; while the generation is one, the file only grows
        self._tip = Tip()
        self._boot = ""
        self._start = self._end = _HEADER
        self._last = b""  # the last record's payload

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; the next `open` opens it again."""
        descriptor, self._fd = self._fd, -1
        if descriptor >= 0 and self._id_of(descriptor) == self._id:  # else it is somebody else's number by now
            os.close(descriptor)

    @property
    def is_open(self) -> bool:
        """Whether this process used the journal."""
        return self._fd >= 0

    def open(self) -> None:
        """Open or make the file and read what others appended."""
        path = f"{self._layout.local}/{NAME}"
        if self._fd < 0 or not self._id_of(self._fd) == self._id == self._id_of(path):
            self.close()  # the folder was deleted, or moved and another put in its place; or the number was closed
            self._header = b""
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
            self._id = self._id_of(descriptor)
            self._fd = descriptor
        header = os.pread(self._fd, _HEADER, 0)
        if not self._header or header != self._header:
            self._load(header)
        self._catch_up()

    @staticmethod
    def _id_of(file: int | str) -> tuple[int, int]:
        try:
            status = os.stat(file)
        except OSError:
            return (0, 0)
        return (status.st_dev, status.st_ino)

    def _catch_up(self) -> None:
        """Go on to the end. All but the last record are whole: its writer, or the next one, saw to that under the lock."""
        starts: list[int] = []
        at = self._end
        while (frame := self._frame_at(at)) is not None:
            starts.append(at)
            at += _FRAME.size + frame[0]
        for start in reversed(starts):
            payload = self._payload_at(start)
            if payload is not None:
                self._start, self._end, self._last = start, start + _FRAME.size + len(payload), payload
                return

    def _load(self, header: bytes) -> None:
        self._header = b""  # set again when all the rest is
        self._size = 0
        said = _read_header(header)
        self._start = self._end = _HEADER
        self._last = b""
        if said is None or not said.items() >= _binding(self._layout, self._fd).items():
            if said is not None:  # a copy, or files put back: whatever it says may not be on the disk yet
                os.sync()
            self._generation = int.from_bytes(os.urandom(6), "little")
            self._capacity = 0
            self._tip = Tip()
            self.empty()
            sync_folder(self._layout.local)
            return
        self._generation, self._capacity, self._boot = said["generation"], said["capacity"], said["boot"]
        self._tip = Tip(*said["tip"])
        self._header = header

    @property
    def is_left_behind(self) -> bool:
        """Whether the system was started anew since the records were written, so that their files may be missing."""
        return self._boot != boot_id()

    @property
    def tip(self) -> Tip:
        """Where the chain ended after the last change."""
        if not self._last:
            return self._tip
        last = _record(self._last)
        return Tip(last.clone, *link_of(last.lines[-1]))

    @property
    def unfinished(self) -> Record | None:
        """The last record when its writer was killed before all of it was in place."""
        if not self._last or os.pread(self._fd, 1, self._start + _IN_PLACE_AT) == b"\1":
            return None
        return _record(self._last)

    def records(self) -> Iterator[Record]:
        """Every record, oldest first."""
        at = _HEADER
        while at < self._end and (payload := self._payload_at(at)) is not None:
            yield _record(payload)
            at += _FRAME.size + len(payload)

    @property
    def is_empty(self) -> bool:
        """Whether there is no record."""
        return self._end == _HEADER

    def has_room(self, record: Record) -> bool:
        """Whether a record may be appended without emptying the journal first."""
        if self.failed:
            return False
        size = sum(map(len, record.lines)) + sum(len(file.data) for file in record.files)
        return self.is_empty or self._end + size <= self._capacity

    def append(self, record: Record) -> None:
        """Write a record at the end, not yet durable.

        Raises:
            OSError: It could not be written; the journal is as before.
        """
        payload = _payload(record)
        frame = _FRAME.pack(self._generation, len(payload), _digest(payload), 0)
        _write_at(self._fd, frame + payload, self._end)
        self._start, self._end = self._end, self._end + len(frame) + len(payload)
        self._last = payload

    def note_in_place(self) -> None:
        """Note that the last record is in place: files and ledger lines."""
        os.pwrite(self._fd, b"\1", self._start + _IN_PLACE_AT)

    def take_back(self) -> None:
        """Void the last record: nothing of it may be in place."""
        os.pwrite(self._fd, bytes(_FRAME.size), self._start)
        self._start = self._end = _HEADER
        self._last = b""
        self._catch_up()

    def sync(self) -> None:
        """Make every record durable.

        Raises:
            OSError: The disk did not confirm it.
        """
        try:
            os.fdatasync(self._fd)
        except OSError:
            self.failed = True
            raise

    def empty(self, *, larger: bool = False) -> None:
        """Begin anew, durably; everything that was promised must be durable in its place.

        Args:
            larger: Make room for twice as much, up to a limit.
        """
        tip = self.tip
        capacity = min(max((1 + larger) * self._capacity, _SMALLEST), _LARGEST)
        if capacity > self._capacity:
            with suppress(OSError):  # no room to have it ready: then it grows as it is written
                _write_at(self._fd, bytes(capacity - _HEADER), _HEADER)
        if os.fstat(self._fd).st_size > capacity:  # a large record made it longer
            os.ftruncate(self._fd, capacity)
        said = _binding(self._layout, self._fd) | {
            "v": VERSION, "generation": self._generation + 1, "capacity": capacity, "boot": boot_id(), "tip": tip,
        }  # fmt: skip
        header = _header_of(said)
        _write_at(self._fd, header, 0)
        os.fsync(self._fd)
        self.failed = False
        self._load(header)

    def wipe(self) -> None:
        """Overwrite, durably, what emptied records left in the file; it must be empty.

        Raises:
            OSError: The disk did not take it.
        """
        _write_at(self._fd, bytes(os.fstat(self._fd).st_size - _HEADER), _HEADER)
        os.fsync(self._fd)

    def _payload_at(self, offset: int) -> bytes | None:
        """The payload of a record of this generation; None when it is not whole."""
        frame = self._frame_at(offset)
        if frame is None:
            return None
        length, digest = frame
        payload = os.pread(self._fd, length, offset + _FRAME.size)
        return payload if _digest(payload) == digest else None

    def _frame_at(self, offset: int) -> tuple[int, bytes] | None:
        """Length and digest of a record of this generation, as its frame says."""
        frame = os.pread(self._fd, _FRAME.size, offset)
        if len(frame) < _FRAME.size:
            return None
        generation, length, digest, _ = _FRAME.unpack(frame)
        if generation != self._generation:
            return None
        if length > self._size:
            self._size = os.fstat(self._fd).st_size
        return (length, digest) if length <= self._size else None


def left_behind(layout: Layout) -> bool:
    """Whether a journal with records is there from before the system was started anew. Needs no lock, changes nothing."""
    with _looking_at(layout) as (descriptor, said):
        if said is None or said["boot"] == boot_id():
            return False
        generation: int = said["generation"]
        return os.pread(descriptor, 8, _HEADER) == generation.to_bytes(8, "little")


def left_unfinished(layout: Layout) -> bool:
    """Whether the last record is not in place: its writer was killed, or is at work. Needs no lock, changes nothing."""
    with _looking_at(layout) as (descriptor, said):
        return said is not None and _ends_unfinished(descriptor, said["generation"])


@contextmanager
def _looking_at(layout: Layout) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """The journal's descriptor and what its header says, if it is there and belongs here."""
    try:
        descriptor = os.open(layout.local / NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield -1, None
        return
    try:
        said = _read_header(os.pread(descriptor, _HEADER, 0))
        yield descriptor, said if said is not None and said.items() >= _binding(layout, descriptor).items() else None
    finally:
        os.close(descriptor)


def _ends_unfinished(descriptor: int, generation: int) -> bool:
    """Whether the last record that is whole is not in place."""
    at, size, unfinished = _HEADER, os.fstat(descriptor).st_size, False
    while len(frame := os.pread(descriptor, _FRAME.size, at)) == _FRAME.size:
        theirs, length, digest, in_place = _FRAME.unpack(frame)
        if theirs != generation or length > size:
            break
        unfinished = in_place != 1 and _digest(os.pread(descriptor, length, at + _FRAME.size)) == digest
        at += _FRAME.size + length
    return unfinished


@cache
def boot_id() -> str:
    """What tells one start of the system from another."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _binding(layout: Layout, descriptor: int) -> dict[str, Any]:
    """What a journal belongs to: its own file in its own folder, wherever that is moved or mounted; a copy has others."""
    return {"folder": os.stat(layout.local).st_ino, "file": os.fstat(descriptor).st_ino}


def _header_of(said: dict[str, Any]) -> bytes:
    text = json.dumps(said, separators=(",", ":")).encode()
    return (_digest(text).hex().encode() + b" " + text + b"\n").ljust(_HEADER, b"\0")


def _read_header(header: bytes) -> dict[str, Any] | None:
    digest, _, text = header.rstrip(b"\0").rstrip(b"\n").partition(b" ")
    if not text or digest != _digest(text).hex().encode():
        return None
    said: dict[str, Any] = json.loads(text)
    return said if said["v"] == VERSION else None


def _payload(record: Record) -> bytes:
    files = ",".join([f'["{file.staged}","{file.before}",{len(file.data)}]' for file in record.files])
    promised = "true" if record.promised else "false"
    head = f'["{record.clone}",{promised},{len(record.lines)},[{files}]]'.encode()  # no text here has to be escaped
    return b"".join([head, b"\n", *record.lines, *(file.data for file in record.files)])


def _record(payload: bytes) -> Record:
    head, _, rest = payload.partition(b"\n")
    clone, promised, n_lines, files = json.loads(head)
    lines, at = [], 0
    for _ in range(n_lines):
        end = rest.index(b"\n", at) + 1
        lines.append(rest[at:end])
        at = end
    made = []
    for staged, before, size in files:
        made.append(File(staged, before, rest[at : at + size]))
        at += size
    return Record(clone, lines, tuple(made), promised)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _write_at(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        n = os.pwrite(descriptor, view, offset)
        view, offset = view[n:], offset + n
