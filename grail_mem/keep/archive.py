"""The file of a backup: a gzipped tar that any tar can read, its totals first and the digests of all members last.

The same members give the same bytes. Reading is bounded: nothing is taken that was not announced, and what a member may
be called is decided elsewhere. Knows nothing of stores.
"""

from __future__ import annotations

import gzip
import json
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast

from grail_mem.errors import GrailError, StoreError
from grail_mem.model.refusal import refused
from grail_mem.store.files import FILE_MODE

FORMAT: Final = 1
HEADER: Final = ".grail-backup/header.json"
MANIFEST: Final = ".grail-backup/manifest.json"
_SLACK: Final = 1 << 20
"""Bytes that may be read before it is known how many were announced, and what may stand around a member."""
_CHUNK: Final = 1 << 18
_BLOCK: Final = 1 << 14
_A_MEMBER: Final = 512
"""Bytes of the manifest a member, besides its name."""


class Source(NamedTuple):
    """One member to be written: its path, its size, and a function that opens its bytes."""

    path: str
    n_bytes: int
    open: Callable[[], IO[bytes]]


def write_archive(
    file: IO[bytes],
    header: Mapping[str, Any],
    members: Iterable[Source],
    finish: Callable[[list[list[Any]]], Mapping[str, Any]],
    *,
    progress: Callable[[int], None] | None = None,
) -> str:
    """Write an archive; returns the SHA-256 of its manifest.

    Args:
        file: Where to.
        header: What is announced; `n_files` and `n_bytes` among it.
        members: In the order in which they are to stand.
        finish: Makes the manifest from path, size and SHA-256 of every member.
        progress: Called with how many members are written.
    """
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT, encoding="utf-8") as tar,
    ):
        _add(tar, HEADER, _json(header))
        listed: list[list[Any]] = []
        for number, member in enumerate(members, start=1):
            with member.open() as data:
                hashed = _Hashed(data)
                tar.addfile(_info(member.path, member.n_bytes), cast("IO[bytes]", hashed))
            listed.append([member.path, member.n_bytes, hashed.digest.hexdigest()])
            if progress:
                progress(number)
        manifest = _json(finish(listed))
        _add(tar, MANIFEST, manifest)
    return sha256(manifest).hexdigest()


class _Hashed:
    """A file that is hashed as it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.digest.update(data)
        return data


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    tar.addfile(_info(name, len(data)), BytesIO(data))


def _info(name: str, n_bytes: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = n_bytes, FILE_MODE, 0
    return info


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode() + b"\n"


class Item(NamedTuple):
    """One member as read: its path, the size that its header says, whether it is a plain file, and its bytes in parts."""

    path: str
    n_bytes: int
    is_file: bool
    parts: Iterator[bytes]


class Reading:
    """An archive being read from front to back.

    Attributes:
        header: What it announces.
        manifest: What it says of its members; known once all items were taken.
        manifest_digest: SHA-256 of the manifest.
    """

    def __init__(self, tar: tarfile.TarFile, meter: _Meter) -> None:
        self._tar, self._meter = tar, meter
        self.manifest: dict[str, Any] = {}
        self.manifest_digest = ""
        first = self._next()
        if first is None or first.name != HEADER or not _is_file(first) or first.size > _SLACK:
            raise StoreError("It is no backup that grail_mem wrote.", hint="`grail backup create` writes one.")
        self.header = _read_json(b"".join(self._parts(first)), HEADER)
        announced = [self.header.get(name) for name in ("n_files", "n_bytes")]
        if not all(isinstance(n, int) and n >= 0 for n in announced):
            raise StoreError(f"{HEADER} does not announce what follows.")

    def items(self) -> Iterator[Item]:
        """The members in order, the manifest last and kept apart.

        Raises:
            StoreError: More stands there than was announced, or something stands behind the manifest, or it is missing.
        """
        n_files, n_bytes, n_named = 0, 0, 0
        while (info := self._next()) is not None:
            if info.name == MANIFEST:
                if info.size > _SLACK + n_files * _A_MEMBER + 6 * n_named or not _is_file(info):
                    raise StoreError("The manifest is larger than what it tells of.")
                data = b"".join(self._parts(info))
                self.manifest, self.manifest_digest = _read_json(data, MANIFEST), sha256(data).hexdigest()
                if self._next() is not None or not self._meter.is_at_end():
                    raise StoreError("Something stands behind the manifest.")
                return
            n_files, n_bytes, n_named = (
                n_files + 1,
                n_bytes + info.size,
                n_named + len(info.name.encode(errors="replace")),
            )
            if n_files > self.header["n_files"] or n_bytes > self.header["n_bytes"] or info.size < 0:
                raise StoreError(
                    "It holds more than it announces.",
                    hint="Do not use it: it was not made, or was changed, by others.",
                )
            yield Item(info.name, info.size, _is_file(info), self._parts(info))
        raise StoreError("It ends before its manifest: it was cut off.")

    def _next(self) -> tarfile.TarInfo | None:
        self._meter.allow(0)
        return self._tar.next()

    def _parts(self, info: tarfile.TarInfo) -> Iterator[bytes]:
        self._meter.allow(info.size)
        file = self._tar.extractfile(info) if _is_file(info) else None
        while file is not None and (part := file.read(_CHUNK)):
            yield part


def _is_file(info: tarfile.TarInfo) -> bool:
    return info.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and info.sparse is None


class _Meter:
    """A stream of which only so much can be read as is allowed at a time."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left = stream, _SLACK

    def allow(self, n_bytes: int) -> None:
        self._left = n_bytes + _SLACK

    def is_at_end(self) -> bool:
        """Whether nothing but padding is left; reads to the end, where the digest of the whole stands."""
        self.allow(0)
        while part := self.read(_BLOCK):
            if part.strip(b"\0"):
                return False
        return True

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise StoreError("A member is larger than its header says, or has a header without end.")
        return data


def is_whole(path: Path) -> bool:
    """Whether the bytes of an archive are those that were written, by the checksum at its end."""
    try:
        with gzip.open(path, "rb") as packed:
            while packed.read(_CHUNK):
                pass
    except (OSError, EOFError, zlib.error):
        return False
    return True


@contextmanager
def reading(path: Path) -> Iterator[Reading]:
    """Open an archive to read it from front to back.

    Raises:
        StoreError: It cannot be read, is none, or is damaged, at whatever point that is met.
    """
    try:
        with gzip.open(path, "rb") as packed:
            meter = _Meter(cast("IO[bytes]", packed))
            with tarfile.open(
                fileobj=cast("IO[bytes]", meter), mode="r|", bufsize=_BLOCK, encoding="utf-8", errors="surrogateescape"
            ) as tar:
                yield Reading(tar, meter)
    except StoreError as error:
        raise StoreError(f"{path.name}: {error.message}", hint=error.hint) from error
    except GrailError:
        raise
    except (EOFError, zlib.error, tarfile.TarError, gzip.BadGzipFile, ValueError, RecursionError) as error:
        raise StoreError(f"{path.name} is damaged or no backup: {error}.", hint="Take another copy of it.") from error
    except OSError as error:
        raise refused(error, "read the backup", path) from error


def _read_json(data: bytes, name: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{name} cannot be read.") from error
    if not isinstance(value, dict):
        raise StoreError(f"{name} cannot be read.")
    return value
