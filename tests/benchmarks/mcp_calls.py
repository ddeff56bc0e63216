"""How long a client of `grail mcp` waits: `python tests/benchmarks/mcp_calls.py --notes 1000 20000`.

The handshake is from the start of the process to the answer to `initialize`, over stdio, by wall clock and by the processor's own
time of the server; a call is from the line sent to the line received, in a server that has been called before. `reference` is an
empty program that imports the SDK's server and nothing else. A first search after a pause is timed from its own line, not from the
start. Tokens are those of an answer's text, and of the values that `--structured` adds, as estimated. Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[2])  # not this folder, where this file has the name of the SDK

from grail_mem import Memory
from grail_mem.recall.budget import Estimate
from tests.mcp_clients import Raw, command, environment

CALLS = {
    "ping": None,
    "tools/list": None,
    "memory_search": {"query": "What is note 77 about?"},
    "memory_get": {"id": "{id}"},
    "recall": {"category": "c7", "limit": 20},
    "list": {"what": "categories"},
    "status": {},
    "add_observation": {"content": "Written by the benchmark, number {n}."},
}


def main() -> None:
    """Measure and print a table for each size."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--notes", type=int, nargs="+", default=[1000, 20_000])
    asked.add_argument("--starts", type=int, default=20)
    asked.add_argument("--calls", type=int, default=100)
    asked.add_argument(
        "--pause", type=float, nargs="+", default=[0, 10], help="seconds between greeting and first search"
    )
    given = asked.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print("| what | notes | median ms | p95 ms | processor ms |\n|---|---:|---:|---:|---:|")
    _show("import of the SDK's server alone", 0, list(_imports(given.starts)))
    for notes in given.notes:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "store"
            id_ = _made(root, notes)
            _show("handshake", notes, list(_starts(root, given.starts)))
            _show("handshake and the first search", notes, list(_starts(root, max(given.starts // 4, 3), first=True)))
            for pause in given.pause:
                waits = list(_first_searches(root, max(given.starts // 4, 3), pause))
                _show(f"first search, {pause:g} s after the greeting", notes, waits)
            _calls(root, notes, given.calls, id_)
            _tokens(root, notes, id_)


def _made(root: Path, notes: int) -> str:
    root.mkdir()
    (root / "grail.yaml").write_text("embedder: none\n", encoding="utf-8")
    with Memory(root) as memory:
        drafts = (
            {"content": f"Note {n} is about topic {n % 97}.", "category": f"c{n % 50}", "tags": [f"t{n % 30}"]}
            for n in range(notes)
        )
        return memory.add_observations(drafts)[0].id


def _imports(times: int) -> Iterator[tuple[float, float]]:
    for _ in range(times):
        begun, before = time.perf_counter(), os.times()
        subprocess.run(
            [sys.executable, "-c", "import mcp.server.lowlevel, mcp.server.stdio"], env=environment(), check=True
        )
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        yield (time.perf_counter() - begun) * 1000, used * 1000


def _starts(root: Path, times: int, *, first: bool = False) -> Iterator[tuple[float, float]]:
    for _ in range(times):
        begun = time.perf_counter()
        with Raw(command(root)) as server:
            server.greet()
            if first:
                server.ask(1, "tools/call", name="memory_search", arguments={"query": "What is note 77 about?"})
            waited = time.perf_counter() - begun
            yield waited * 1000, _used(server.process.pid) * 1000


def _first_searches(root: Path, times: int, pause: float) -> Iterator[tuple[float, float]]:
    for _ in range(times):
        with Raw(command(root)) as server:
            server.greet()
            time.sleep(pause)
            begun, before = time.perf_counter(), _used(server.process.pid)
            server.ask(1, "tools/call", name="memory_search", arguments={"query": "What is note 77 about?"})
            yield (time.perf_counter() - begun) * 1000, (_used(server.process.pid) - before) * 1000


def _tokens(root: Path, notes: int, id_: str) -> None:
    """Print what an answer takes of a model's context: as text, and as the values that hold the same text."""
    count = Estimate().count
    print("| tool | notes | tokens of the text | of the values | of both |\n|---|---:|---:|---:|---:|")
    with Raw(command(root, "--structured")) as server:
        server.greet()
        for number, (name, arguments) in enumerate(CALLS.items(), start=1):
            if arguments is None:
                continue
            sent = json.loads(json.dumps(arguments).replace("{id}", id_).replace("{n}", "tokens"))
            answer = server.ask(number, "tools/call", name=name, arguments=sent)["result"]
            text = count(answer["content"][0]["text"])
            values = count(json.dumps(answer["structuredContent"], ensure_ascii=False))
            print(f"| {name} | {notes} | {text} | {values} | {text + values} |", flush=True)


def _used(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _calls(root: Path, notes: int, times: int, id_: str) -> None:
    with Raw(command(root)) as server:
        server.greet()
        number = 0
        for name, arguments in CALLS.items():
            took = []
            for n in range(times + 1):
                number += 1
                sent = json.loads(json.dumps(arguments).replace("{id}", id_).replace("{n}", str(n)))
                begun, before = time.perf_counter(), _used(server.process.pid)
                if arguments is None:
                    server.ask(number, name)
                else:
                    answer = server.ask(number, "tools/call", name=name, arguments=sent)["result"]
                    assert not answer["isError"], answer
                took.append(((time.perf_counter() - begun) * 1000, (_used(server.process.pid) - before) * 1000))
            _show(name, notes, took[1:])


def _show(what: str, notes: int, took: Sequence[tuple[float, float]]) -> None:
    walls = sorted(wall for wall, _ in took)
    p95 = walls[min(len(walls) - 1, round(0.95 * len(walls)))]
    print(
        f"| {what} | {notes or ''} | {statistics.median(walls):.1f} | {p95:.1f} | {statistics.mean(used for _, used in took):.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
