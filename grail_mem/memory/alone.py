"""How the verbs of an opened store take turns, and what becomes of an error of the operating system in one of them.

Knows nothing of the verbs.
"""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType

from grail_mem.store.files import translated


class Alone:
    """A lock that lets one thread of the process after the other into a store, the same one again within itself.

    An error of the operating system leaves it as a `StoreError` with the path: no verb raises one that has none.

    Args:
        root: The store's root.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
        if isinstance(error, OSError):
            with translated("use the store", self._root):
                raise error
