"""A look at one value or file by its name as the recall that it is, so that what is used does not fade.

Knows nothing of how recalls are counted.
"""

from __future__ import annotations

from contextlib import suppress

from grail_mem.errors import NotFoundError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session


def recalled(caller: Memory | Session, id_: str) -> None:
    """Have it counted that somebody looked at an observation, where the settings ask for that."""
    if caller.settings.access_log == "on":
        with suppress(NotFoundError):  # it went since
            caller.get(id_)
