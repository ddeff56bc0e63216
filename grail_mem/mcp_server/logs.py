"""What the server says of itself on stderr: what went wrong and where, never words of the memory.

Knows nothing of the protocol.
"""

from __future__ import annotations

import logging
import sys


class Plain(logging.Formatter):
    """One line a record, without the text of exceptions: what they quote may be the memory's own words."""

    def format(self, record: logging.LogRecord) -> str:
        """The record on one line."""
        said = f"grail mcp: {record.levelname.lower()}: {record.getMessage()}"
        kind = record.exc_info[0] if record.exc_info else None
        return " ".join((f"{said} ({kind.__name__})" if kind is not None else said).split())


def to_stderr() -> None:
    """Send what every part of this process logs to stderr, warnings and worse."""
    told = logging.StreamHandler(sys.stderr)
    told.setFormatter(Plain())
    logging.basicConfig(level=logging.WARNING, handlers=[told], force=True)
    logging.captureWarnings(capture=True)
