"""Speed and memory of a large import, and what the first search after it costs: `python tests/benchmarks/import_speed.py`.

The file is an export of ChatGPT in its public form, `conversations.json` in a zip, with messages of Zipf words in trees that
have branches. Each step runs in a process of its own, as the command would: a dry run, the import, the same import again,
an import that is killed half way and finished by another, and the first search. Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

_FIRST = 1_690_000_000.0
_TURNS = 50
"""Messages of a conversation that were shown."""
_WORDS = 20_000
_MESSAGE_WORDS = 215
"""Mean words of a message: an export of 49,500 messages comes to about a hundred megabytes."""


def conversations(n_messages: int, seed: int) -> Iterator[dict[str, Any]]:
    """Conversations with so many messages of users and assistants on the branches that were shown."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(_WORDS)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(_WORDS)))
    made = 0
    while made < n_messages:
        n = min(_TURNS, n_messages - made)
        made += n
        yield _conversation(draw, words, weights, made, n)


def _conversation(draw: random.Random, words: list[str], weights: list[float], number: int, n: int) -> dict[str, Any]:
    begin = _FIRST + number * 600.0
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for turn in range(n):
        told = [_node(draw, words, weights, f"m-{number}-{turn}", parent, turn, begin + turn * 30)]
        if turn % 10 == 5:  # asked anew; the first answer is on a branch that was left
            told.append(_node(draw, words, weights, f"m-{number}-{turn}-left", parent, turn, begin + turn * 30 - 5))
        for node in told:
            mapping[node["id"]] = node
            mapping[parent]["children"].append(node["id"])
        parent = told[0]["id"]
    title = " ".join(draw.choices(words, cum_weights=weights, k=4)).capitalize()
    return {
        "title": title, "create_time": begin, "update_time": begin + n * 30, "mapping": mapping, "current_node": parent,
        "conversation_id": f"conversation-{number}", "id": f"conversation-{number}",
    }  # fmt: skip


def _node(
    draw: random.Random, words: list[str], weights: list[float], id_: str, parent: str, turn: int, at: float
) -> dict[str, Any]:
    said = draw.choices(words, cum_weights=weights, k=max(3, round(draw.gammavariate(1.5, _MESSAGE_WORDS / 1.5))))
    lines = [" ".join(said[first : first + 14]).capitalize() + "." for first in range(0, len(said), 14)]
    role = "assistant" if turn % 2 else "user"
    return {
        "id": id_, "parent": parent, "children": [],
        "message": {
            "id": id_, "author": {"role": role, "name": None, "metadata": {}}, "create_time": at, "status": "finished_successfully",
            "content": {"content_type": "text", "parts": ["\n".join(lines)]}, "recipient": "all", "weight": 1.0,
            "metadata": {"model_slug": "gpt-4o", "timestamp_": "absolute", "parent_id": parent},
        },
    }  # fmt: skip


def make_export(path: Path, n_messages: int, seed: int = 7) -> int:
    """Write an export as a zip; returns the bytes of its `conversations.json`."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as file,
    ):
        n = file.write(b"[")
        for number, chat in enumerate(conversations(n_messages, seed)):
            n += file.write((b",\n" if number else b"") + json.dumps(chat).encode())
        return n + file.write(b"]")


def step(name: str, file: Path, root: Path) -> dict[str, Any]:
    """One step in this process: what it came to, seconds, seconds of the processor, and the peak of memory."""
    begin = time.perf_counter()
    told = _search(root) if name == "search" else _import(file, root, dry_run=name == "dry")
    used = resource.getrusage(resource.RUSAGE_SELF)
    return told | {
        "seconds": time.perf_counter() - begin, "cpu_seconds": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024,
    }  # fmt: skip


def _import(file: Path, root: Path, *, dry_run: bool) -> dict[str, Any]:
    from grail_mem import Memory

    indexing: list[float] = []
    with Memory(root) as memory:
        done = memory.import_file(file, dry_run=dry_run, indexing=lambda *_: indexing.append(time.perf_counter()))
        end = time.perf_counter()
    return {
        "added": done.n_added, "there": done.n_unchanged, "skipped": len(done.skipped), "indexed": done.n_indexed,
        "indexing_seconds": end - indexing[0] if indexing else 0.0,
    }  # fmt: skip


def _search(root: Path) -> dict[str, Any]:
    from grail_mem import Memory

    with Memory(root, embedder="none") as memory:
        return {"found": len(memory.recall("what was said about the plan?").observations)}


def in_process(name: str, file: Path, root: Path) -> dict[str, Any]:
    """A step in a process of its own."""
    told = subprocess.run(_command(name, file, root), check=True, capture_output=True, text=True)
    made: dict[str, Any] = json.loads(told.stdout.splitlines()[-1])
    return {"step": name} | made


def _command(name: str, file: Path, root: Path) -> list[str]:
    return [sys.executable, __file__, "--step", name, "--file", str(file), "--root", str(root)]


def killed(file: Path, root: Path, n_files: int) -> dict[str, Any]:
    """An import that is killed as soon as so many observations are there, and what it had done by then."""
    begin = time.perf_counter()
    with subprocess.Popen(_command("import", file, root), stdout=subprocess.DEVNULL) as running:
        while running.poll() is None and _n_files(root) < n_files:
            time.sleep(0.5)
        running.send_signal(signal.SIGKILL)
    return {"step": "killed", "added": _n_files(root), "seconds": time.perf_counter() - begin}


def _n_files(root: Path) -> int:
    return sum(1 for _ in (root / "memories").rglob("*.md"))


def run(n_messages: int, folder: Path) -> Iterator[dict[str, Any]]:
    """All steps over one export of so many messages, each when it is done."""
    file, root = folder / f"chatgpt-{n_messages}.zip", folder / f"store-{n_messages}"
    cut = folder / f"cut-{n_messages}"
    if not file.exists():
        make_export(file, n_messages)
    for old in (root, cut):
        shutil.rmtree(old, ignore_errors=True)
    yield in_process("dry", file, root)
    yield in_process("import", file, root)
    yield in_process("import", file, root) | {"step": "import again"}
    yield in_process("search", file, root)
    shutil.rmtree(root / "output" / "index")
    yield in_process("search", file, root) | {"step": "search without an index"}
    yield killed(file, cut, n_messages // 2)
    yield in_process("import", file, cut) | {"step": "finished"}


def main() -> None:
    """The command line: a table of steps, or one step for the process that measures it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--messages", type=int, nargs="+", default=[5_000, 49_500])
    asked.add_argument("--keep", type=Path, help="a folder for exports and stores, kept for later runs")
    asked.add_argument("--json", type=Path)
    asked.add_argument("--step", choices=("dry", "import", "search"))
    asked.add_argument("--file", type=Path)
    asked.add_argument("--root", type=Path)
    given = asked.parse_args()
    if given.step:
        print(json.dumps(step(given.step, given.file, given.root)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        lines: list[dict[str, Any]] = []
        for n_messages in given.messages:
            for told in run(n_messages, folder):
                lines.append({"messages": n_messages} | told)
                print(n_messages, " ".join(f"{name}={_shown(value)}" for name, value in told.items()), flush=True)
    if given.json:
        given.json.write_text(json.dumps(lines, indent=1))


def _shown(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
