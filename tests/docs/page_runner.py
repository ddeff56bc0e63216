"""Runs the code blocks of a documentation page in order, in one folder and one namespace.

* A `python` block is executed; a `text` block below `<!-- output -->` is what it must print.
* A `console` block's `$ ` lines are run by bash; below `<!-- output checked -->` what stands under each must be its output,
  and `, exit 1` in that comment is the exit code that the last one must have.
* `<!-- not run -->` leaves a block out; `<!-- needs langgraph -->` does where that package is not installed, with its output. `…` in an output is any text; runs of spaces count as one.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

FENCE = re.compile(
    r"^(?:<!--\s*(?P<note>[^\n]*?)\s*-->\n)?```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    kind: str
    note: str
    body: str
    line: int


def blocks(text: str) -> list[Block]:
    return [
        Block(found["kind"], found["note"] or "", found["body"], text.count("\n", 0, found.start()) + 1)
        for found in FENCE.finditer(text)
    ]


def run_page(path: Path, folder: Path) -> int:
    """Run a page's blocks with `folder` as the working directory; returns how many were run."""
    shell = _Shell(folder)
    namespace: dict[str, object] = {"__name__": path.stem.replace("-", "_")}
    printed: str | None = None
    n_run = 0
    left_out = False
    for block in blocks(path.read_text(encoding="utf-8")):
        place = f"{path.name}:{block.line}"
        if block.note == "output" and left_out:
            continue
        if block.note == "output":
            assert printed is not None, f"{place}: no python block stands before this output"
            _compare(block.body, printed, place)
        left_out = block.note == "not run" or not all(map(find_spec, needed(block.note)))
        if left_out or block.note == "output":
            continue
        if block.kind == "python":
            printed = _run_python(block, namespace, path)
            n_run += 1
        elif block.kind == "console":
            shell.run(block, place)
            n_run += 1
    return n_run


def needed(note: str) -> list[str]:
    """The packages that a block needs."""
    return note.removeprefix("needs ").split() if note.startswith("needs ") else []


def _run_python(block: Block, namespace: dict[str, object], path: Path) -> str:
    out = io.StringIO()
    code = compile("\n" * block.line + block.body, str(path), "exec")
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        if needed(block.note):  # what is wrong inside a framework is none of ours
            for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning):
                warnings.simplefilter("ignore", kind)
        exec(code, namespace)
    return out.getvalue()


class _Shell:
    """Runs command lines one by one with bash, and remembers the folder that `cd` went to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder.parent / f"{folder.name}-home"
        tools = self.home / "bin"
        tools.mkdir(parents=True)
        grail = tools / "grail"
        grail.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m grail_mem "$@"\n')
        grail.chmod(0o755)
        (self.home / ".gitconfig").write_text("[user]\n  name = Mara\n  email = mara@example.org\n")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("GRAIL_", "GIT_"))} | {
            "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(self.home), "PYTHONPATH": str(Path(__file__).parents[2]),
            "COLUMNS": "120", "NO_COLOR": "1",
        }  # fmt: skip

    def run(self, block: Block, place: str) -> None:
        checked = block.note.startswith("output checked")
        steps = re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]
        for number, step in enumerate(steps, start=1):
            command, _, expected = step.partition("\n")
            if command.startswith("cd "):
                self.folder = (self.folder / command[3:]).resolve()
                continue
            done = subprocess.run(
                ["bash", "-c", command], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=60,
                check=False,
            )  # fmt: skip
            wanted = re.search(r"exit (\d+)", block.note) if number == len(steps) else None
            code = int(wanted[1]) if wanted else 0
            assert done.returncode == code, (
                f"{place}: `{command}` left with {done.returncode}\n{done.stdout}{done.stderr}"
            )
            if checked:
                _compare(expected, done.stdout, f"{place}: `{command}`")


def _compare(expected: str, found: str, place: str) -> None:
    pattern = ".*".join(map(re.escape, _plain(expected).split("…")))
    assert re.fullmatch(pattern, _plain(found), re.DOTALL), f"{place} says\n{expected}\nbut it is\n{found}"


def _plain(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.strip().split("\n"))
