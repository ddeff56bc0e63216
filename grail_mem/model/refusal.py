"""What an operating system refused, as an error of ours: what was being done, where, why, and what to do about it.

Knows nothing of which files a store has.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from grail_mem.errors import GrailError, StoreError

_RIGHTS: Final = (
    "Look at the rights of the folder and of what is in it; `grail doctor DIR` lists what may not be read or written."
)
_ROOM: Final = "Free some space there and repeat it."
_HINTS: Final = {
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: "The file system is mounted for reading only: recall and search work there, writing does not.",
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.ENOENT: "Look at the spelling of the path.",
    errno.EISDIR: "It is a folder: name a file.",
    errno.ENOTDIR: "A file stands where a folder must be: name another path, or move the file.",
    errno.ENAMETOOLONG: "Name a shorter path.",
    errno.ELOOP: "Follow the links by hand: they lead in a circle, or where none may stand.",
    errno.EMFILE: "Close what holds files open, or raise `ulimit -n`.",
    errno.EIO: "Look after the disk, then run `grail check`.",
}


def refused(error: OSError, doing: str, place: str | Path = "") -> StoreError:
    """The error to raise from one of the operating system.

    Args:
        error: What the system raised.
        doing: What was being done, as it follows "Could not".
        place: The file or folder in which it was done, for errors that name no path, or one without its folder.

    Example:
        >>> print(refused(OSError(errno.ENOSPC, "No space left on device"), "store the note", "/data/notes").message)
        Could not store the note: No space left on device: '/data/notes'.
    """
    return StoreError(f"Could not {doing}: {said_of(error, place)}.", hint=_HINTS.get(error.errno or 0, ""))


def said_of(error: OSError, place: str | Path = "") -> str:
    """What the system said, with the path that it concerns, or the place in which that lies."""
    said = error.strerror or str(error).rstrip(".") or type(error).__name__
    named = error.filename
    path = os.fsdecode(named) if isinstance(named, str | bytes) else ""  # a descriptor's number tells nobody anything
    if not path or path in {str(place), os.path.basename(place)}:
        path, place = str(place), ""
    if os.path.isabs(path) or not os.path.isabs(place):
        return f"{said}: {path!r}" if path else said
    return f"{said}: {path!r} in {str(place)!r}"


def without_place(error: GrailError) -> tuple[str, str]:
    """The message and hint of an error for a model, which learns nothing of where the store lies."""
    cause = error.__cause__
    if not isinstance(cause, OSError) or isinstance(cause, GrailError):
        return error.message, error.hint
    reason = cause.strerror or type(cause).__name__
    return f"The store cannot be read or written: {reason}.", "Only people can mend that."
