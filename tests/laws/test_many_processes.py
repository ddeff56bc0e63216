"""Many processes write, change, compact and read one store at once; nothing acknowledged is lost or there twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("many_processes.py")


def outcome(tmp_path: Path, *options: str) -> dict[str, Any]:
    memory_backed = Path("/dev/shm")
    folder = memory_backed if memory_backed.is_dir() else tmp_path
    done = subprocess.run(
        [sys.executable, SCRIPT, "--json", "--folder", folder, *options], capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert not found["problems"], "\n".join(found["problems"])
    return found


@pytest.mark.slow
def test_processes_that_write_compact_and_read_agree(tmp_path: Path) -> None:
    found = outcome(tmp_path, "--writers", "3", "--writes", "20", "--readers", "1", "--kill-every", "0", "--changing")
    assert found["n_noted"] == 60
    assert found["n_recalls"] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("changing", [(), ("--changing",)], ids=["adding", "changing"])
def test_writers_that_are_killed_lose_nothing_acknowledged(tmp_path: Path, changing: tuple[str, ...]) -> None:
    found = outcome(tmp_path, "--seconds", "30", "--writers", "8", "--writes", "250", *changing)
    assert found["n_noted"] == 2000 or found["seconds"] >= 30
    assert found["n_killed"] >= 1
