"""What to do about an error that does not say it: rights, a full disk, a word too many.

Knows nothing of what the commands do.
"""

from __future__ import annotations

import errno
from typing import Final

_HINTS: Final = {
    errno.EACCES: "Look at the rights of the folder and of what is in it; `grail doctor DIR` lists what may not be read or written.",
    errno.EROFS: "The file system is mounted for reading only: recall and search work there, writing does not.",
    errno.ENOSPC: "Free some space and repeat the command.",
    errno.ENOENT: "Look at the spelling of the path.",
}
_SAME: Final = {errno.EPERM: errno.EACCES, errno.EDQUOT: errno.ENOSPC}


def said_of(error: OSError) -> str:
    """What the operating system said, with the path when it named one."""
    said = error.strerror or str(error) or type(error).__name__
    return said if error.filename is None else f"{said}: {error.filename!r}"


def hint_of(error: BaseException | None) -> str:
    """What to do about an error of the operating system; empty when there is nothing to say."""
    if not isinstance(error, OSError) or error.errno is None:
        return ""
    return _HINTS.get(_SAME.get(error.errno, error.errno), "")


def usage_hint(error: Exception) -> str:
    """A line before the usage of a command: words too many are mostly a text without its quotes."""
    if "unexpected extra argument" in str(error):
        return "There are words too many. Put a text of several words in quotes, and a value behind its option.\n"
    return ""
