"""Stdin and stdout as the wire of the protocol: one message a line, and nothing else on it.

While a wire is held, whatever the process prints goes to stderr, C libraries and child processes included, and whatever reads
stdin finds it empty. Knows nothing of what the messages mean.
"""

from __future__ import annotations

import fcntl
import os
import sys
import threading
from typing import IO, Final, Self

LONGEST_BYTES: Final = 32 * 1024 * 1024
"""A line longer than this is no message; it is passed over, so that a client cannot fill the memory."""
_ABOVE_STANDARD: Final = 3


class Wire:
    """The two ends of a connection over stdio."""

    def __init__(self, incoming: IO[bytes], outgoing: int) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._sending = threading.Lock()

    @classmethod
    def take(cls) -> Self:
        """Take this process's stdin and stdout for messages alone."""
        sys.stdout.flush()
        incoming = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, _ABOVE_STANDARD)
        outgoing = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _ABOVE_STANDARD)
        empty = os.open(os.devnull, os.O_RDWR)
        os.dup2(empty, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # a client may have closed stderr
            os.dup2(empty, 1)
        os.close(empty)
        return cls(os.fdopen(incoming, "rb"), outgoing)

    def receive(self) -> bytes | None:
        """The next line that is not empty, with its end; None once the client has closed its side."""
        while True:
            try:
                line = self._incoming.readline(LONGEST_BYTES)
            except OSError:
                return None
            if not line:
                return None
            if len(line) == LONGEST_BYTES and not line.endswith(b"\n"):
                self._skip_line()
                return b"\n"
            if line.strip():
                return line

    def _skip_line(self) -> None:
        while (rest := self._incoming.readline(LONGEST_BYTES)) and not rest.endswith(b"\n"):
            pass

    def send(self, line: bytes) -> None:
        """Write one line wholly, whichever thread it comes from.

        Raises:
            OSError: The client is gone.
        """
        with self._sending:
            left = memoryview(line)
            while left:
                left = left[os.write(self._outgoing, left) :]
