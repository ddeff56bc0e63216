"""What killed writers left in the staging folder: told from what living ones write there, and removed.

Knows nothing of what the files hold; no write that returned can be among them.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from grail_mem.store.layout import Layout

INTENT: Final = "erasing.json"
"""Of the files of this machine, the one that says what an erasure still has to sweep; the last one to go."""
STAGED: Final = re.compile(r"(\d+)-[0-9a-f]{16}\.(?:tmp|old)")
OLD_S: Final = 3600.0
"""After so many seconds a staged file is a leftover, whoever has the number of its process now."""
GONE_S: Final = 600.0
"""The same where no such process is to be seen: another container's is seen by nobody here. Chosen: far longer than a
write takes."""


def is_sweep_left(layout: Layout) -> bool:
    """Whether an erasure was cut off before everything was swept."""
    return (layout.local / INTENT).exists()


def clear_leftovers(layout: Layout) -> None:
    """Remove what killed writers left; the write lock must be held, and what was committed be in place."""
    for path in leftovers(layout):
        if STAGED.fullmatch(path.name):
            with suppress(OSError):  # the next writer tries again
                path.unlink()


def leftovers(layout: Layout) -> list[Path]:
    """Files in the staging folder whose writers are gone, by name; with them old ones that have no name of ours."""
    return sorted(
        layout.staging / name
        for name, pid, age_s in _staged(layout)
        if age_s > OLD_S or (age_s > GONE_S and pid is not None and not is_alive(pid))
    )


def _staged(layout: Layout) -> Iterator[tuple[str, int | None, float]]:
    """Every file there by name with the process that wrote it, as its name says, and how many seconds ago that was."""
    try:
        names = os.listdir(layout.staging)
    except FileNotFoundError:
        return
    now = time.time()
    for name in names:
        named = STAGED.fullmatch(name)
        with suppress(OSError):  # it has its name by now
            age_s = now - os.lstat(f"{layout.staging}/{name}").st_mtime
            yield name, int(named[1]) if named else None, age_s


def is_alive(pid: int) -> bool:
    """Whether there is a process of that number here."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
