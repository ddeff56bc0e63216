"""The examples run as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs(path: Path) -> None:
    """With nothing but the package."""
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "PATH": "/bin:/usr/bin"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
