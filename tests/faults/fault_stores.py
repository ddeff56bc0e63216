"""What the fault tests share: hand-written files, all the ways to ask a store, and real processes on one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import grail_mem
from grail_mem import Memory

REPO = Path(grail_mem.__file__).resolve().parents[1]


def write(root: Path, path: str, text: str | bytes) -> Path:
    """Write a file below `memories/` as a person or another tool does."""
    file = root / "memories" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def titles(memory: Memory, **conditions: Any) -> list[str]:
    """The titles that a recall returns, sorted."""
    return sorted(o.title for o in memory.recall(limit=100_000, **conditions).observations)


def everything(root: Path) -> dict[str, tuple[int, int, int]]:
    """Inode, size and times of every file and folder below the root."""
    found = {}
    for path in [root, *root.rglob("*")]:
        status = path.lstat()
        found[str(path)] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found


def check_whole(root: Path, acknowledged: list[str]) -> None:
    """Every acknowledged id is recalled once, by this and by a rebuilt view, and nothing is broken."""
    with Memory(root) as memory:
        seen = [o.id for o in memory.recall(limit=100_000).observations]
        assert len(seen) == len(set(seen))
        assert set(acknowledged) <= set(seen)
        checked = memory.check()
        assert checked.ok, checked.problems
        memory.rebuild()
        assert [o.id for o in memory.recall(limit=100_000).observations] == seen


class Child:
    """A Python process that runs a script with `root` and `arg` set; what it prints is a list of lines."""

    def __init__(self, script: str, root: Path, arg: Any = None, *, cwd: Path | None = None) -> None:
        begin = f"import json, os, sys\nroot, arg = {str(root)!r}, json.loads({json.dumps(arg)!r})\n"
        begin += "from grail_mem import GrailError, Memory\n"
        self._process = subprocess.Popen(
            [sys.executable, "-c", begin + script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(REPO)},
        )
        self.pid = self._process.pid

    def line(self) -> str:
        """The next line it prints."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")

    def kill(self) -> list[str]:
        """End it at once with SIGKILL; returns what it had printed."""
        self._process.kill()
        out, _ = self._process.communicate()
        return out.splitlines()

    def done(self, *, code: int = 0) -> list[str]:
        """Wait until it ends by itself; returns what it printed."""
        out, err = self._process.communicate(input="\n", timeout=60)
        assert self._process.returncode == code, err
        return out.splitlines()
