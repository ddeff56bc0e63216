"""The verb of Memory that looks for secrets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from grail_mem.memory.opened import Opened

if TYPE_CHECKING:
    from grail_mem.write.secret_scan import Scanned


class Screening(Opened):
    """Looking for secrets in what is stored already."""

    def scan(self, *, progress: Callable[[int], None] | None = None) -> Scanned:
        """Where the store holds secrets, and text that gives orders or claims a right; changes nothing and quotes no secret.

        Args:
            progress: Called with the number of files looked at so far.

        Returns:
            Findings by place; `ok` is False when there is a secret among them. A session hears of what it may read alone.
        """
        from grail_mem.write.secret_scan import scan

        with self._lock:
            return scan(self._open(), progress=progress)
