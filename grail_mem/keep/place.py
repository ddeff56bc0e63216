"""Where a file for people goes: outside the store, never over another one unless that is said, whole or not at all.

Knows nothing of what is in it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from grail_mem.errors import ConflictError, InputError
from grail_mem.keep.members import OWN, unit_of
from grail_mem.store.files import sync_folder, translated
from grail_mem.store.layout import Layout


def target_of(layout: Layout, out: Path, *, suffix: str, force: bool) -> Path:
    """The file to be written, in a folder that is there.

    Args:
        layout: The store.
        out: The file, or a folder in which it gets a name with the time.
        suffix: How that name ends.
        force: Whether one that is there may be replaced.

    Raises:
        InputError: It would lie inside the store.
        ConflictError: It is there already.
        StoreError: Its folder is not there.
    """
    out = out.expanduser()
    with translated("find the folder of the file", out):
        if out.is_dir():
            out /= f"{layout.root.name or 'store'}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}{suffix}"
        target = out.parent.resolve(strict=True) / out.name
    if target.is_relative_to(layout.root):  # what is erased later must be in no file under the root
        raise InputError(f"{target} lies inside the store.", hint="Name a file outside, such as `--out ..`.")
    if target.is_dir() or (os.path.lexists(target) and not force):
        raise ConflictError(f"{target} is there already.", hint="Name another file, or replace it with --force.")
    return target


def is_part(layout: Layout, path: Path) -> bool:
    """Whether an absolute path is that of a part of a store, this copy's own files included."""
    if not path.is_relative_to(layout.root):
        return False
    inner = path.relative_to(layout.root).as_posix()
    return inner.startswith(f"{OWN}/") or bool(unit_of(inner, layout.notes))


@contextmanager
def written_whole(target: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """A file to write to that gets its name, durably, when the block ends well; otherwise nothing is left of it.

    Raises:
        ConflictError: Another file of that name came meanwhile.
    """
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".grail-", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield cast("IO[bytes]", file)
            file.flush()
            os.fsync(file.fileno())
        _name(name, target, force=force)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    sync_folder(target.parent)


def _name(name: str, target: Path, *, force: bool) -> None:
    """Give a finished file its name; without force, no file that came meanwhile is replaced."""
    if not force:
        try:
            os.link(name, target)
        except FileExistsError as error:
            raise ConflictError(f"{target} is there already.", hint="Name another file.") from error
        except OSError:  # not every file system can
            if os.path.lexists(target):
                raise
        else:
            os.unlink(name)
            return
    os.rename(name, target)
