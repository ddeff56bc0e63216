"""Writing: one, a hundred, fast, seen by another process, and eight processes at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from speed_store import QUIET, Stores, interleaved

from grail_mem import Memory

Lines = Iterator[tuple[str, float, float, str, bool]]
CONTENT = "after a long review the team agreed that the managed service costs less than its own servers would " * 6
HERE = str(Path(__file__).parents[2])


def draft(number: int, who: int = 0) -> dict[str, Any]:
    """An ordinary observation of about 900 bytes, each another."""
    return {
        "title": f"Acme picked Postgres, take {number} of writer {who}", "content": CONTENT,
        "category": "work/clients/acme", "tags": ["decision", "architecture"], "confidence": 0.9,
        "entities": [{"name": "Acme", "type": "ORGANIZATION"}, {"name": "Postgres", "type": "TECHNOLOGY"}],
        "relationships": [{"source": "Acme", "target": "Postgres", "relationship_type": "CHOSE"}],
        "source": "architecture review",
    }  # fmt: skip


def classic(folder: Path, data: bytes) -> Callable[[], None]:
    """The reference: a temporary file, fsync, rename, fsync of the folder."""
    count = iter(range(1 << 40))

    def write() -> None:
        number = next(count)
        part, whole = f"{folder}/.raw{number}.tmp", f"{folder}/.raw{number}"
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(descriptor, data)
        os.fsync(descriptor)
        os.close(descriptor)
        os.rename(part, whole)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(descriptor)
        os.close(descriptor)

    return write


def add(stores: Stores, _: int, repeat: int) -> Lines:
    """Durable writes against raw writes of the same bytes into the same folder."""
    for durability in ("full", "fast"):
        root = stores.fresh(f"add-{durability}")
        (root / "grail.yaml").write_text(f"{QUIET}durability: {durability}\n")
        with Memory(root) as memory:
            count = iter(range(1 << 40))
            first = root / memory.add_observation(**draft(next(count))).path
            raw = classic(first.parent, first.read_bytes())

            def one(memory: Memory = memory, count: Iterator[int] = count) -> None:
                memory.add_observation(**draft(next(count)))

            def hundred(memory: Memory = memory, count: Iterator[int] = count) -> None:
                memory.add_observations([draft(next(count)) for _ in range(100)])

            def raw_hundred(raw: Callable[[], None] = raw) -> None:
                for _ in range(100):
                    raw()

            ours, reference = interleaved(40 * repeat, one, raw, warm=20)
            if durability == "full":
                yield "add one / raw classic write", ours, reference, "<=1.8", False
            else:
                yield 'add one, durability="fast" / raw classic write', ours, reference, "<=0.9", False
            ours, reference = interleaved(max(repeat, 9), hundred, raw_hundred)
            goal = "<=1.5" if durability == "full" else "<=0.9"
            label = "add 100 at once" if durability == "full" else 'add 100 at once, durability="fast"'
            yield f"{label} / 100 raw classic writes", ours, reference, goal, False


_READER = """
import sys
from grail_mem import Memory
with Memory(sys.argv[1]) as memory:
    for line in sys.stdin:
        print(sum(o.id == line.strip() for o in memory.recall(limit=3).observations), flush=True)
"""


def visible(stores: Stores, _: int, __: int) -> Lines:
    """Thirty adds, each asked for by another process at once: how many its first recall returns."""
    root = stores.fresh("visible")
    seen = 0
    environment = os.environ | {"PYTHONPATH": HERE}
    command = [sys.executable, "-c", _READER, str(root)]
    with (
        Memory(root) as memory,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as other,
    ):
        assert other.stdin is not None
        assert other.stdout is not None
        for number in range(30):
            written = memory.add_observation(**draft(number))
            other.stdin.write(f"{written.id}\n")
            other.stdin.flush()
            seen += int(other.stdout.readline())
        other.stdin.close()
    yield "seen by another process on its first recall, of 30", float(seen), 30.0, ">=1", False


_WRITER = """
import json, os, sys, time
sys.path.insert(0, os.path.dirname(sys.argv[1]))
from speed_write import draft
from grail_mem import Memory
root, who, count = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with Memory(root) as memory:
    memory.add_observation(**draft(-1, who))
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.time()
    ids = [memory.add_observation(**draft(number, who)).id for number in range(count)]
    print(json.dumps([begin, time.time(), ids]), flush=True)
"""


def writers(stores: Stores, _: int, __: int) -> Lines:
    """Writes a second of eight processes against one, as time for one write; nothing is lost."""
    one: list[float] = []
    eight: list[float] = []
    for _ in range(5):
        one.append(_together(stores, 1, 400))
        eight.append(_together(stores, 8, 100))
    yield "8 writing processes: writes a second / 1 process", sorted(eight)[2], sorted(one)[2], ">=1", True


def _together(stores: Stores, n: int, count: int) -> float:
    root = stores.fresh(f"writers-{n}")
    environment = os.environ | {"PYTHONPATH": HERE}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, __file__, str(root), str(who), str(count)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )
        for who in range(n)
    ]  # fmt: skip
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")  # type: ignore[union-attr]  # both are pipes
        process.stdin.flush()  # type: ignore[union-attr]
    said = [json.loads(process.stdout.readline()) for process in started]  # type: ignore[union-attr]
    for process in started:
        process.communicate()
    written = {id_ for *_, ids in said for id_ in ids}
    assert len(written) == n * count
    with Memory(root) as memory:
        assert written <= {o.id for o in memory.recall(limit=10_000).observations}
    return (max(end for _, end, _ in said) - min(begin for begin, *_ in said)) * 1000 / (n * count)
