"""Files of sources: their bytes, and what was made of them, kept as long as the file stays the same.

Knows nothing of what stands in one.
"""

from __future__ import annotations

import errno
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

from grail_mem.errors import InputError, StoreError
from grail_mem.model.refusal import refused
from grail_mem.store.files import FileState, open_folder, read_file, state_of
from grail_mem.store.layout import Layout, is_source_path

VERSION: Final = 1
"""Of the form of transcripts, and of files that say what is known of a document."""
_KEPT: Final = 48
"""Files of sources kept as they were read; chosen, some ten megabytes of transcript."""
_SETTLED_S: Final = 0.05
"""A file changed just now may change again without its state telling; it is read anew until this has passed."""
_cache: OrderedDict[tuple[str, FileState], Any] = OrderedDict()
_guard: Final = Lock()


def read_source(layout: Layout, path: str) -> tuple[bytes, FileState] | None:
    """The bytes of a file of sources and its state; None when it is not there.

    Raises:
        StoreError: It is there and cannot be read, or is a link.
    """
    folder, _, name = path.rpartition("/")
    with _refusing(path):
        try:
            with open_folder(layout.root, folder) as (descriptor, _):
                return read_file(name, dir_fd=descriptor)
        except FileNotFoundError:
            return None


def kept_as_read(layout: Layout, path: str, read: Callable[[bytes], Any]) -> Any:
    """What `read` makes of the bytes of a file of sources, read anew only when its state changed; None when it is not there.

    Raises:
        StoreError: It is there and cannot be read, or is a link.
    """
    if not is_source_path(path):
        return None
    full = f"{layout.root}/{path}"
    try:
        key = (full, state_of(os.lstat(full)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refused(error, "read the source", full) from error
    with _guard:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    found = read_source(layout, path)
    if found is None:
        return None
    data, state = found
    made = read(data)
    if state.ctime_ns < time.time_ns() - int(_SETTLED_S * 1e9):
        with _guard:
            _cache[full, state] = made
            while len(_cache) > _KEPT:
                _cache.popitem(last=False)
    return made


def listed(layout: Layout, folder: str) -> list[str]:
    """The files of sources in a folder, in order."""
    try:
        names = os.listdir(layout.root / folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(path for path in (f"{folder}/{name}" for name in names) if is_source_path(path))


def forget_files() -> None:
    """Let go of everything that was kept of what was read."""
    with _guard:
        _cache.clear()


@contextmanager
def _refusing(path: str) -> Iterator[None]:
    """Turn what the system or the path refuses into one error that names the source."""
    try:
        yield
    except (OSError, InputError) as error:
        reason = "is a link" if getattr(error, "errno", 0) == errno.ELOOP else "cannot be read"
        raise StoreError(f"The source {path} {reason}.", hint="Put the file itself there, in a real folder.") from error
