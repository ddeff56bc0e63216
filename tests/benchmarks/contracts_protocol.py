"""What the drivers of `contracts.py` share: cases in, results out, and looking into the files of a root.

It runs in the interpreters of other systems, so it imports nothing but the standard library.
"""

from __future__ import annotations

import functools
import gzip
import json
import operator
import shutil
import subprocess
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol


class NotOffered(Exception):
    """The system has no such thing; the text says why."""


class System(Protocol):
    """One memory system with an empty root of its own.

    A verb is a method `do_<op>` that takes the fields of a step and returns what came of it as JSON values. `text` is what an agent is
    given, `items` the statements that stand in it as current.
    """

    root: Path

    def close(self) -> None: ...


def run(make: Callable[[Path], System], burst: Callable[[Path, list[str]], None], versions: Mapping[str, str]) -> None:
    """Read cases on stdin, do their steps, and print what came of each; with `--burst ROOT TEXT …`, only write these.

    Args:
        make: Opens the system at a root.
        burst: Opens it at a root and stores texts, one at a time, printing each when it is acknowledged.
        versions: Name and version of the system.
    """
    if sys.argv[1:2] == ["--burst"]:
        burst(Path(sys.argv[2]), sys.argv[3:])
        return
    done = {case["id"]: results_of(make, case) for case in json.load(sys.stdin)}
    print("\n" + json.dumps({"versions": dict(versions), "cases": done}, ensure_ascii=True))


def results_of(make: Callable[[Path], System], case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What came of each step of a case, in an empty root."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        copy = Path(folder) / "copy"
        system = make(root)
        results: list[dict[str, Any]] = []
        for step in case["steps"]:
            fields = {name: value for name, value in step.items() if name not in ("op", "right")}
            try:
                match step["op"]:
                    case "copy":
                        shutil.copytree(root, copy)
                        result: dict[str, Any] = {}
                    case "put_back":
                        result = {"files": _put_back(copy, root)}
                    case "files":
                        result = {"files": list(holding(root, fields["text"]))}
                    case "burst":
                        result = _burst(root, fields["texts"])
                    case "reopen":
                        system.close()
                        system = make(root)
                        result = {}
                    case op:
                        verb = getattr(system, f"do_{op}", None)
                        if verb is None:
                            raise NotOffered("no such verb")
                        result = verb(**fields)
            except NotOffered as said:
                result = {"not_offered": str(said)}
            except Exception as error:
                result = {"error": f"{type(error).__name__}: {error}"[:600], "where": traceback.format_exc()[-400:]}
            results.append(result)
        system.close()
        return results


def _put_back(copy: Path, root: Path) -> list[str]:
    """Put files that are gone back, as a tool that syncs folders does; what is there is left alone."""
    back = []
    for file in sorted(copy.rglob("*")):
        place = root / file.relative_to(copy)
        if file.is_file() and not place.exists() and not file.name.endswith(".lock"):
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, place)
            back.append(str(file.relative_to(copy)))
    return back


def _burst(root: Path, texts: list[list[str]]) -> dict[str, Any]:
    """Several processes of the same driver write at the same time, each its own texts."""
    command = [sys.executable, sys.argv[0], "--burst", str(root)]
    started = [
        subprocess.Popen([*command, *own], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for own in texts
    ]
    out = [process.communicate() for process in started]
    return {
        "acknowledged": [
            line for said, _ in out for line in said.splitlines() if line in functools.reduce(operator.iadd, texts, [])
        ],
        "failed": [said[-300:] for process, (_, said) in zip(started, out, strict=True) if process.returncode],
    }


def holding(root: Path, text: str) -> Iterator[str]:
    """The files below a root that hold a text, Parquet and archives unpacked."""
    for file in sorted(root.rglob("*")):
        if file.is_file() and any(text in part for part in _texts(file)):
            yield str(file.relative_to(root))


def _texts(file: Path) -> Iterator[str]:
    raw = file.read_bytes()
    yield raw.decode("utf-8", "replace")
    if raw[:4] == b"PAR1":
        try:
            from pyarrow import parquet
        except ImportError:
            return
        yield json.dumps(parquet.read_table(file).to_pylist(), default=str, ensure_ascii=False)
    elif raw[:2] == b"\x1f\x8b":
        yield gzip.decompress(raw).decode("utf-8", "replace")
    elif zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                yield archive.read(name).decode("utf-8", "replace")
