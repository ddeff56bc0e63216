"""What is imported as files with names: one file, a folder, or a zip, which is read where it lies and never unpacked.

Links are not followed and no name leads out; what is left out for that is told. Knows nothing of what is in the files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final
from zipfile import BadZipFile, ZipFile, ZipInfo, is_zipfile

from grail_mem.errors import InputError, NotFoundError
from grail_mem.keep.foreign.said import Said, skip
from grail_mem.model.times import format_time
from grail_mem.store.files import translated

MAX_NOTE: Final = 16 << 20
"""Largest file that is read as a whole, in bytes; chosen: far more than a note has."""
_MOST_FILES: Final = 1_000_000
_NO_YEAR: Final = 1980
"""The year of members of which no time is known."""
_LINK_FLAG: Final = 0o120000


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is imported from.

    Attributes:
        path: The file or folder.
        shape: `file`, `folder` or `zip`.
        files: The sizes of its files by their names, `/` between levels, without the folder that holds all of a zip.
        times: When they were changed last, as text.
        hidden: Folders whose name begins with a dot; what is in them is not read.
        left: What is left out, and why.
        under: The folder that holds all of a zip, with `/`; empty for none.
    """

    path: Path
    shape: str
    files: Mapping[str, int] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    left: tuple[Said, ...] = ()
    under: str = ""

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """One of the files, to be read from its beginning.

        Raises:
            OSError: It cannot be read.
        """
        if self.shape == "zip":
            with ZipFile(self.path) as archive, archive.open(self.under + name) as file:
                yield file
        else:
            path = self.path / name if self.shape == "folder" else self.path
            flags = os.O_RDONLY | os.O_CLOEXEC | (os.O_NOFOLLOW if self.shape == "folder" else 0)
            with os.fdopen(os.open(path, flags), "rb") as file:
                yield file

    def read(self, name: str) -> bytes:
        """One of the files as a whole.

        Raises:
            InputError: It is too large.
            OSError: It cannot be read.
        """
        with self.open(name) as file:
            data = file.read(MAX_NOTE + 1)
        if len(data) > MAX_NOTE:
            raise InputError(f"it is larger than {MAX_NOTE} bytes")
        return data


def place_at(path: Path) -> Place:
    """What lies at a path.

    Raises:
        NotFoundError: Nothing does.
        InputError: It is a zip that cannot be read, or holds too many files.
    """
    path = path.expanduser()
    if path.is_dir():
        with translated(f"read {path.name}", path):
            return _folder(path)
    if not path.is_file():
        raise NotFoundError(f"There is no file {str(path)!r}.")
    with translated(f"read {path.name}", path):
        if is_zipfile(path):
            return _zip(path)
        size = path.stat()
        return Place(path, "file", {path.name: size.st_size}, {path.name: _time(size.st_mtime)})


def _folder(path: Path) -> Place:
    files: dict[str, int] = {}
    times: dict[str, str] = {}
    hidden, left = [], []
    for top, folders, names in os.walk(path, onerror=lambda error: left.append(_unreadable(path, error))):
        inner = os.path.relpath(top, path).replace(os.sep, "/")
        begin = "" if inner == "." else f"{inner}/"
        for name in sorted(folders):
            if os.path.islink(os.path.join(top, name)):
                left.append(skip(begin + name, name, "a link, which is not followed"))
            elif name.startswith("."):
                hidden.append(begin + name)
        folders[:] = sorted(n for n in folders if not n.startswith(".") and not os.path.islink(os.path.join(top, n)))
        for name in sorted(names):
            told = os.lstat(os.path.join(top, name))
            if stat.S_ISREG(told.st_mode) and _is_text(begin + name):
                files[begin + name], times[begin + name] = told.st_size, _time(told.st_mtime)
            else:
                reason = "a link, which is not followed" if stat.S_ISLNK(told.st_mode) else "it is no file"
                left.append(skip(begin + ascii(name)[1:-1], name, reason))
        _bounded(path, len(files))
    return Place(path, "folder", files, times, tuple(hidden), tuple(left))


def _unreadable(path: Path, error: OSError) -> Said:
    name = os.path.relpath(error.filename or path, path)
    return skip(ascii(name)[1:-1], "", f"it cannot be read: {error.strerror or error}")


def _zip(path: Path) -> Place:
    try:
        with ZipFile(path) as archive:
            infos = archive.infolist()
    except (BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise InputError(f"{path.name} is no zip that can be read: {error}.") from error
    _bounded(path, len(infos))
    named = {info.filename: info for info in infos if not info.is_dir()}
    left = [skip(info.filename, "", reason) for info in named.values() if (reason := _refused(info))]
    n_twice = sum(not info.is_dir() for info in infos) - len(named)
    if n_twice:
        left.append(skip(path.name, "", f"{n_twice} names come twice; the last of each is read"))
    good = {name: info for name, info in named.items() if not _refused(info)}
    tops = {name.partition("/")[0] if "/" in name else "" for name in good}
    under = f"{tops.pop()}/" if len(tops) == 1 and "" not in tops else ""
    if under in ("memories/", "sources/", ".obsidian/"):
        under = ""
    files, times, hidden = {}, {}, dict[str, None]()
    for name, info in sorted(good.items()):
        inner = name[len(under) :]
        dot = next((part for part in inner.split("/")[:-1] if part.startswith(".")), "")
        if dot:
            hidden[inner[: inner.index(dot) + len(dot)]] = None
        else:
            files[inner], times[inner] = info.file_size, _zip_time(info)
    return Place(path, "zip", files, times, tuple(hidden), tuple(left), under)


def _refused(info: ZipInfo) -> str:
    """Why a member is not read; empty for no reason."""
    name = info.filename
    if name.startswith(("/", "\\")) or ":" in name[:2] or "\\" in name or "\0" in info.orig_filename:
        return "its name leads out of the zip"
    if any(part in ("..", ".", "") for part in name.split("/")):
        return "its name leads out of the zip"
    if info.external_attr >> 16 & 0o170000 == _LINK_FLAG:
        return "a link, which is not followed"
    if not _is_text(name):
        return "its name is no text"
    return "it is encrypted" if info.flag_bits & 1 else ""


def _bounded(path: Path, n_files: int) -> None:
    if n_files > _MOST_FILES:
        raise InputError(f"{path.name} holds more than {_MOST_FILES} files.", hint="Name a smaller folder.")


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _time(seconds: float) -> str:
    try:
        return format_time(datetime.fromtimestamp(int(seconds), UTC))
    except (ValueError, OverflowError, OSError):
        return ""


def _zip_time(info: ZipInfo) -> str:
    """The time of a member, which has no zone."""
    try:
        return datetime(*info.date_time, tzinfo=UTC).isoformat()[:19] if info.date_time[0] > _NO_YEAR else ""
    except ValueError:
        return ""


def names_ending(place: Place, ending: str) -> list[str]:
    """The names of files that end so, whatever the case, in order."""
    return sorted(name for name in place.files if name.lower().endswith(ending))
