"""The examples run as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = {"crewai_agent": "crewai", "langgraph_agent": "langchain", "mcp_client": "mcp.client.client"}
"""The frameworks of examples, which CI runs where they are installed."""


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs(path: Path) -> None:
    """With nothing but the package, and its framework if it is about one."""
    if path.stem in NEEDED:
        pytest.importorskip(NEEDED[path.stem], reason=f"{NEEDED[path.stem]} is not installed")
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "PATH": "/bin:/usr/bin"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
