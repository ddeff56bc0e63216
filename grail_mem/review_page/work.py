"""Work that takes longer than a page may: one piece at a time beside the pages, with how far it is.

Knows nothing of what the work is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from grail_mem.errors import GrailError

Told = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a piece of work is.

    Attributes:
        name: What it is.
        stage: What is being done.
        done: How much of that is done.
        total: How much there is; 0 when it is not known.
        result: What came of it; None until it is done.
        failed: Why it failed; empty when it did not.
        ended_at: When it ended; None while it runs.
    """

    name: str
    stage: str = ""
    done: int = 0
    total: int = 0
    result: Any = None
    failed: str = ""
    ended_at: datetime | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is under way."""
        return self.ended_at is None


class Work:
    """What runs beside the pages, and what came of each piece that ran last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._last: dict[str, Progress] = {}
        self._running = ""

    def start(self, name: str, work: Callable[[Told], Any]) -> bool:
        """Begin a piece of work, unless one is under way; returns whether it began.

        Args:
            name: What it is.
            work: Does it; is given a function to tell how far it is.
        """
        with self._lock:
            if self._running:
                return False
            self._running = name
            self._last[name] = Progress(name)
            self._thread = threading.Thread(target=self._do, args=(name, work), name=f"grail-{name}", daemon=True)
            self._thread.start()
            return True

    def of(self, name: str) -> Progress | None:
        """How far a piece of work is or how it ended; None when there was none."""
        with self._lock:
            return self._last.get(name)

    @property
    def running(self) -> Progress | None:
        """What is under way."""
        with self._lock:
            return self._last.get(self._running)

    def wait(self) -> None:
        """Return when nothing is under way."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _do(self, name: str, work: Callable[[Told], Any]) -> None:
        try:
            result, failed = work(lambda stage, done, total: self._tell(name, stage, done, total)), ""
        except GrailError as error:
            result, failed = None, str(error)
        except Exception as error:  # noqa: BLE001  a thread has nobody above it to tell
            result, failed = None, f"Something unexpected happened ({type(error).__name__})."
        with self._lock:
            self._last[name] = replace(
                self._last[name], result=result, failed=failed, ended_at=datetime.now(UTC)
            )  # fmt: skip
            self._running = ""

    def _tell(self, name: str, stage: str, done: int, total: int) -> None:
        with self._lock:
            self._last[name] = replace(self._last[name], stage=stage, done=done, total=total or 0)
