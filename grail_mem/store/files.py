"""Durable, path-safe file operations: folders opened step by step without following links, whole files or none.

Every path that comes from outside goes through `open_folder`, which cannot leave the root. Knows nothing of frontmatter
or of the ledger.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from grail_mem.errors import GrailError, InputError
from grail_mem.model.category import category_key
from grail_mem.model.refusal import refused

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


class FileState(NamedTuple):
    """What tells cheaply that a file may have changed; equal states mean unchanged bytes.

    The change time is part of it because it moves when bytes are replaced under a restored modification time.
    """

    size: int
    mtime_ns: int
    ctime_ns: int


UNKNOWN_STATE: Final = FileState(-1, -1, -1)


def state_of(status: os.stat_result) -> FileState:
    """The state in a stat result."""
    return FileState(status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@contextmanager
def translated(doing: str, place: str | Path) -> Iterator[None]:
    """Turn an error of the operating system into a `StoreError` that says what was being done, where, and what to do.

    Args:
        doing: What is being done, as it follows "Could not".
        place: The file, or the folder below which it is done, for errors that name no path of their own.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, GrailError | BrokenPipeError):  # ours already, or a reader that went away
            raise
        raise refused(error, doing, place) from error


@contextmanager
def open_folder(root: Path, folder: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """Open a folder below the root without following links: at once where that can be checked, else level by level.

    Args:
        root: The store's root.
        folder: Path relative to the root, already cleaned.
        create: Make missing levels durably; a level that exists in another spelling of upper and lower case or of
            Unicode form is used as it is.

    Yields:
        The folder's descriptor and its path as spelled on disk.

    Raises:
        InputError: A level is a link or a file.
        FileNotFoundError: A level is missing and `create` is False.
    """
    descriptor = _open_at_once(f"{root}/{folder}" if folder else str(root))
    if descriptor < 0:
        descriptor, folder = _open_by_level(root, folder, create=create)
    try:
        yield descriptor, folder
    finally:
        os.close(descriptor)


def _open_at_once(path: str) -> int:
    """A folder's descriptor when the system says that it lies where its path says, so no link was followed; else -1."""
    try:
        descriptor = os.open(path, _DIRECTORY)
    except OSError:
        return -1
    try:
        if os.readlink(f"/proc/self/fd/{descriptor}") == path:
            return descriptor
    except OSError:  # no /proc here
        pass
    os.close(descriptor)
    return -1


def _open_by_level(root: Path, folder: str, *, create: bool) -> tuple[int, str]:
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    spelled: list[str] = []
    for name in folder.split("/") if folder else []:
        try:
            child, actual = _open_level(descriptor, name, create=create)
        finally:
            os.close(descriptor)
        descriptor = child
        spelled.append(actual)
    return descriptor, "/".join(spelled)


def _open_level(parent: int, name: str, *, create: bool) -> tuple[int, str]:
    try:
        return os.open(name, _DIRECTORY, dir_fd=parent), name
    except FileNotFoundError:
        if not create:
            raise
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise InputError(
            f"'{name}' on the way to this category is a link or a file, not a folder.",
            hint="A category must be a real folder inside the store; rename the link or choose another category.",
        ) from error
    actual = _other_spelling(parent, name)
    if actual is None:
        with suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=parent)
        os.fsync(parent)
        actual = name
    return os.open(actual, _DIRECTORY, dir_fd=parent), actual


def _other_spelling(parent: int, name: str) -> str | None:
    key = category_key(name)
    return next((entry for entry in sorted(os.listdir(parent)) if category_key(entry) == key), None)


def write_staged(staging: int, data: bytes, *, sync: bool = True) -> str:
    """Write a whole file into the staging folder and return its name; durable unless `sync` is False.

    Raises:
        OSError: The bytes could not be written; no file is left behind.
    """
    name = f"{os.getpid()}-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE, dir_fd=staging)
    try:
        write_all(descriptor, data)
        if sync:
            os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=staging)
        raise
    finally:
        os.close(descriptor)
    return name


def second_name(staged: str) -> str:
    """The name in the staging folder of the file that a staged one replaces, until the change is complete."""
    return staged.removesuffix(".tmp") + ".old"


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write every byte, however many calls it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def read_file(path: str | Path, *, dir_fd: int | None = None) -> tuple[bytes, FileState]:
    """The bytes of a regular file and its state while they were read; links are refused.

    Raises:
        FileNotFoundError: There is no such file.
        OSError: It is a link, no regular file, or cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=dir_fd)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return read_all(descriptor, status.st_size), state_of(status)
    finally:
        os.close(descriptor)


def read_all(descriptor: int, expected: int) -> bytes:
    """Every byte from the current position on; `expected` is only a hint of how many."""
    first = os.read(descriptor, expected + 1)
    if len(first) == expected:
        return first
    parts = [first]
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file of ours whole and durably in place of the old one, or leave the old one.

    For files with one writer at a time, such as settings; observations go through `write/`.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    folder = os.open(path.parent, _DIRECTORY & ~os.O_NOFOLLOW)
    try:
        name = write_staged(folder, data)
        os.rename(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    finally:
        os.close(folder)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
