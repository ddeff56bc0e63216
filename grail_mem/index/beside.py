"""Embedding beside the caller's work: what a process writes gets its vectors while the process goes on.

Knows nothing of observations and of who asks.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from grail_mem.errors import GrailError
from grail_mem.index.embedding import keep, make
from grail_mem.index.meaning import Meaning
from grail_mem.index.vectors import missing

_LOG = logging.getLogger("grail_mem")
_BATCH: Final = 16
"""Texts embedded at a time: how long a question, or `close`, may wait."""


class Beside:
    """A queue of texts and a thread that embeds them; nothing of it is lost that `grail index` would not find.

    Args:
        meaning: The model, and where vectors are kept.
        lock: Held while is looked which texts have none, and while the vectors are put where others read them.
        root: The store's root.
    """

    def __init__(self, meaning: Meaning, lock: AbstractContextManager[object], root: Path) -> None:
        self._meaning, self._lock, self._root = meaning, lock, root
        self._queue: list[tuple[str, str]] = []
        self._state = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = False

    def add(self, texts: Sequence[tuple[str, str]]) -> None:
        """Have texts embedded, each with the file that says it, as soon as may be; returns at once."""
        with self._state:
            self._queue += texts
            if self._queue and self._thread is None and not self._stop:
                self._thread = threading.Thread(target=self._run, name="grail-embedding", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Finish the texts under way and leave the others; returns at once."""
        self._stop = True

    def close(self) -> None:
        """Stop, and wait until that is so; the lock must not be held."""
        self.stop()
        with self._state:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        try:
            while some := self._next():
                with self._lock:  # others take in vectors meanwhile, and what they hold is not whole then
                    texts = missing(self._meaning.store, [text for _, text in some])
                if texts:
                    made = make(self._meaning, texts)
                    with self._lock:
                        keep(self._meaning, texts, made)
                        self._drop_erased(some)
        except (GrailError, OSError):
            _LOG.warning("Vectors were not made beside a write; `grail index` makes them.", exc_info=True)
        finally:
            with self._state:
                self._thread = None

    def _drop_erased(self, some: Sequence[tuple[str, str]]) -> None:
        """Take back what belongs to files that went meanwhile: another process may have erased them, and looked here before."""
        gone = [text for path, text in some if not os.path.lexists(self._root / path)]
        if gone:
            self._meaning.store.drop(gone)

    def _next(self) -> list[tuple[str, str]]:
        """The next texts; when there are none, the thread counts as gone before anybody can add some."""
        with self._state:
            some, self._queue = self._queue[:_BATCH], self._queue[_BATCH:]
            if self._stop or not some:
                self._thread, some = None, []
            return some
