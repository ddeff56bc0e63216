"""Runs one verb of a store in a process that dies, or whose disk fails, at the n-th call that changes files.

As a script it is a server: it imports everything once and forks a child for each line of JSON it is given, so that a
case costs milliseconds. The calls are counted in Python (`os.*`, file objects), or in libc when the C part is preloaded:
what DuckDB and Arrow write passes through there alone.
"""

from __future__ import annotations

import ctypes
import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
MODES = ("count", "before", "after", "fail", "half")
CALLS = (
    "write", "pwrite", "fsync", "fdatasync", "rename", "replace", "mkdir", "rmdir", "unlink", "remove", "link", "ftruncate",
    "truncate", "sendfile", "chmod", "symlink",
)  # fmt: skip

# -- in the child: the calls ---------------------------------------------------------------------------------------------


class PythonShim:
    """Wraps the functions of `os` and the files opened for writing; does nothing until armed."""

    def __init__(self) -> None:
        self.mode, self.target, self.calls = "off", 0, []
        for name in CALLS:
            setattr(os, name, self._stepped(name, getattr(os, name)))
        self._os_open, self._io_open = os.open, io.open
        os.open, io.open = self._open, self._open_file  # type: ignore[assignment]

    def arm(self, mode: str, target: int) -> None:
        self.mode, self.target, self.calls = mode, target, []

    def step(self, name: str, call: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        if self.mode == "off":
            return call()
        self.calls.append(name)
        chosen = len(self.calls) == self.target
        if chosen and self.mode == "before":
            die()
        if chosen and self.mode == "fail":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        try:
            return (half or call)() if chosen and self.mode == "half" else call()
        finally:
            if chosen and self.mode in ("after", "half"):
                die()

    def _stepped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: Any, **kwargs: Any) -> Any:
            half = (
                (lambda: real(args[0], bytes(args[1])[: len(args[1]) // 2], *args[2:]))
                if name in ("write", "pwrite")
                else None
            )
            return self.step(name, lambda: real(*args, **kwargs), half)

        return stepped

    def _open(self, path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if flags & os.O_CREAT:
            return self.step("create", lambda: self._os_open(path, flags, *args, **kwargs))
        return self._os_open(path, flags, *args, **kwargs)

    def _open_file(self, path: Any, mode: str = "r", buffering: int = -1, *args: Any, **kwargs: Any) -> Any:
        if not set(mode) & set("wax+"):
            return self._io_open(path, mode, buffering, *args, **kwargs)
        held = {name: kwargs.pop(name) for name in ("closefd", "opener") if name in kwargs}

        def opened() -> _CountedFile:
            return _CountedFile(self, path, mode.replace("b", ""), **held)

        raw = opened() if isinstance(path, int) or "opener" in held else self.step("create", opened)
        if buffering == 0:
            return raw
        file = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw)
        return file if "b" in mode else io.TextIOWrapper(file, *args, write_through=True, **kwargs)


class _CountedFile(io.FileIO):
    """A file whose writes are steps once they leave the buffer: what a killed process kept in it nobody sees."""

    def __init__(self, shim: PythonShim, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._shim = shim

    def write(self, data: Any) -> int:
        whole, real = bytes(data), super().write
        return int(self._shim.step("file.write", lambda: real(whole), lambda: real(whole[: len(whole) // 2])))


class LibcShim:
    """The C part, which is in the process already; counts what any library writes."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None)

    def arm(self, mode: str, target: int) -> None:
        self._libc.crash_arm(MODES.index(mode) + 1 if mode in MODES else 0, target)

    @property
    def calls(self) -> list[str]:
        return ["call"] * self._libc.crash_calls()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


# -- in the child: the verbs ---------------------------------------------------------------------------------------------


def perform(memory: Any, verb: str) -> None:
    ids = {o.title: o.id for o in memory.recall(limit=1000).observations}
    if verb in ("add", "first_add"):
        memory.add_observation(title="New one", content="Said once.", category="work/new", tags=["new"])
    elif verb == "batch":
        drafts = [
            {"title": f"Batch {i}", "content": f"Part {i}.", "category": f"batch/{'ab'[i % 2]}"} for i in range(1, 4)
        ]
        memory.add_observations(drafts)
    elif verb == "update":
        memory.update(ids["Alpha"], append="And more.")
    elif verb == "move":
        memory.move(ids["Alpha"], "work/c/d")
    elif verb == "hide":
        memory.hide(ids["Delta"])
    elif verb == "erase":
        memory.erase(ids["Delta"], reason="asked for")
    elif verb in ("apply", "undo"):
        proposal = memory.proposals(status="all")[0].id
        outcome = getattr(memory, verb)(proposal)[0]
        if not outcome.done:
            raise ValueError(outcome)
    elif verb == "ingest":
        memory.ingest_chat(
            [{"role": "user", "id": f"n{n}", "text": f"New turn {n}."} for n in range(2)], session="talk"
        )
    elif verb == "document":
        memory.ingest_text("The bridge was closed in May.", title="Bridge")
    elif verb == "remember":
        memory.remember("I drink red wine", evidence="I drink red wine.", session="quoted")
    elif verb == "verify":
        memory.verify()
    elif verb == "stamp":
        memory.sync()
    elif verb == "compact":
        memory.compact()
    elif verb == "rebuild":
        memory.rebuild()
    elif verb == "restore_backup":
        memory.restore_backup(memory.root.parent / "before.tar.gz", force=True)
    elif verb == "import_file":
        memory.import_file(memory.root.parent / "other.jsonl")
    elif verb == "backup":
        memory.backup(memory.root.parent / f"{memory.root.name}.tar.gz")
    elif verb == "retain":
        memory.retain(days=30)
    elif verb == "fade":
        memory.fade(apply=True)
    elif verb == "migrate":
        memory.migrate()
    else:
        raise ValueError(verb)


def _child(request: dict[str, Any], outcome: int) -> None:
    from grail_mem import GrailError, Memory

    memory = Memory(request["root"])
    memory.recall(limit=1)
    write = os.write
    shim: PythonShim | LibcShim = LibcShim() if request["libc"] else PythonShim()
    said: dict[str, Any] = {"error": "", "message": "", "next": ""}
    shim.arm(request["mode"], request["n"])
    try:
        perform(memory, request["verb"])
    except GrailError as error:
        said |= {"error": type(error).__name__, "message": str(error)}
    except BaseException as error:
        said |= {"error": f"untranslated {type(error).__name__}", "message": str(error)}
    calls = list(shim.calls)
    shim.arm("off", 0)
    if request["mode"] == "fail":
        try:
            memory.add_observation(title="Next one", content="After the failure.", category="work/new")
        except BaseException as error:
            said["next"] = f"{type(error).__name__}: {error}"
    write(outcome, json.dumps(said | {"calls": calls}).encode())


# -- the server ----------------------------------------------------------------------------------------------------------


def serve() -> None:
    """Fork a child for each request on standard input; answer with how it ended."""
    sys.path.insert(0, str(REPOSITORY))
    import duckdb  # noqa: F401  all that a verb may import, once
    import frontmatter  # noqa: F401
    import numpy  # noqa: ICN001, F401
    import pandas  # noqa: ICN001, F401
    import pyarrow.parquet  # noqa: F401
    import ulid  # noqa: F401

    import grail_mem.memory  # noqa: F401

    for line in sys.stdin:
        request = json.loads(line)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            try:
                _child(request, writing)
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(pid, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        print(json.dumps({"killed": killed, **json.loads(said or b"{}")}), flush=True)


class Server:
    """A running server, asked one case at a time."""

    def __init__(self, *, preload: Path | None = None) -> None:
        environment = os.environ | ({"LD_PRELOAD": str(preload)} if preload else {})
        self._libc = preload is not None
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(self, root: Path, verb: str, mode: str = "count", n: int = 0) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        request = {"root": str(root), "verb": verb, "mode": mode, "n": n, "libc": self._libc}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def compiled(folder: Path) -> Path | None:
    """The C part as a library, or None where there is no compiler."""
    compiler = shutil.which("cc") if sys.platform == "linux" else None
    if compiler is None:
        return None
    library = folder / "crash_shim.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


if __name__ == "__main__":
    serve()
