"""What holds for all tests: no time limit on an example, since a machine may be busy, and files in memory where there is room."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

settings.register_profile("grail", deadline=None)
settings.load_profile("grail")
MEMORY_BACKED: Final = Path("/dev/shm")
ROOM: Final = 6 * 2**30
"""Bytes that must be free; a whole run leaves some hundred megabytes."""


def pytest_configure(config: pytest.Config) -> None:
    """Temporary files lie in memory, unless somebody says where: every write of a store waits for the disk."""
    if "TMPDIR" in os.environ or config.option.basetemp or not os.access(MEMORY_BACKED, os.W_OK):
        return
    if shutil.disk_usage(MEMORY_BACKED).free >= ROOM:
        os.environ["TMPDIR"] = str(MEMORY_BACKED)  # workers and processes that tests start inherit it
        tempfile.tempdir = None
