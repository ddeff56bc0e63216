"""Locks between processes and threads: short exclusive sections on one file, released when the holder dies.

Knows nothing of what it guards.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path | str) -> Iterator[None]:
    """Hold the lock named by a file, waiting for it as long as needed.

    Every call opens the file anew, so two threads of one process exclude each other as two processes do. The kernel
    queues the waiters and frees the lock when a holder is killed.
    """
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        _release(descriptor)


@contextmanager
def exclusive_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock if nobody else does; yields whether it is held."""
    descriptor = _open(path)
    try:
        yield _take(descriptor)
    finally:
        _release(descriptor)


def _take(descriptor: int) -> bool:
    """Take the lock unless somebody holds it; whether it is taken."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _release(descriptor: int) -> None:
    """Let go of a lock also where a process forked meanwhile has the descriptor, too."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _open(path: Path | str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock now; a lock that nobody made is free, and none is made."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _take(descriptor)
    finally:
        _release(descriptor)
