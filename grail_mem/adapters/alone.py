"""One change at a time among all programs that change values or files of a store by these adapters.

Such a change reads what is there and writes what follows from it, which the store's own lock does not span. Knows nothing of
what is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.store.files import translated
from grail_mem.store.layout import Layout
from grail_mem.store.lock import exclusive

LOCK: Final = "adapters.lock"


@contextmanager
def alone(caller: Memory | Session) -> Iterator[None]:
    """Hold the others out, in this process and in every other one; a folder that is no store yet is left as it is.

    Raises:
        StoreError: The disk did not take the lock.
    """
    layout = Layout(caller.root)
    with (
        translated("wait for other changes", layout.root),
        exclusive(layout.local / LOCK) if layout.is_store() else nullcontext(),
    ):
        yield
