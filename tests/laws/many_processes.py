"""Many processes on one store: writers, one of them killed every second, a compactor, and readers that check.

A writer notes each id in a file of its own once the write returned; a reader takes the notes, recalls, and insists on
every id it had taken, each once. As a script: `python many_processes.py --seconds 60 --writers 8 --writes 250`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

import duckdb  # noqa: E402, F401  all that a child may import, before the first fork
import numpy  # noqa: E402, F401, ICN001
import pyarrow.parquet  # noqa: E402, F401
import ulid  # noqa: E402, F401

from grail_mem import Memory  # noqa: E402
from grail_mem.store.layout import Layout  # noqa: E402
from grail_mem.store.ledger import history  # noqa: E402

DAY = "2026-06-{:02d}T09:00:00Z"


def write(root: Path, notes: Path, writer: int, n_writes: int, *, changing: bool) -> None:
    """Write what this writer has not noted yet; half of it into a category that all share."""
    note = notes / f"{writer}.txt"
    done = len(taken(note))
    descriptor = os.open(note, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    mine: list[str] = []
    with Memory(root, actor=f"writer {writer}") as memory:
        for number in range(done, n_writes):
            shared = number % 2 == 0
            added = memory.add_observation(
                title=f"Writer {writer} says {number}", content=f"Number {number}.", tags=[f"w{writer}"],
                category=f"shared/{number % 5}" if shared else f"own/{writer}", entities=[f"Entity {number % 7}"],
                observed_at=DAY.format(1 + number % 28),
            )  # fmt: skip
            os.write(descriptor, f"{added.id} {number}\n".encode())
            mine.append(added.id)
            if changing and number % 10 == 9:
                memory.update(mine[number % len(mine)], append=f"Seen again at {number}.")
                memory.move(mine[number // 2 % len(mine)], f"moved/{number % 3}")


def taken(note: Path) -> list[str]:
    """The ids noted so far; the last line may be half there."""
    try:
        whole = note.read_bytes().rpartition(b"\n")[0]
    except FileNotFoundError:
        return []
    return [line.split()[0].decode() for line in whole.splitlines()]


def compact(root: Path, until: Path) -> None:
    with Memory(root) as memory:
        while not until.exists():
            memory.compact()
            time.sleep(0.05)


def read(root: Path, notes: Path, until: Path, counts: Path) -> None:
    """Recall until told to stop; every id noted before a recall began must be in it, and none twice."""
    n_recalls = 0
    last = False
    while not last:
        with Memory(root) as memory:
            for _ in range(20):
                last = until.exists()
                wanted = [id_ for note in notes.glob("*.txt") for id_ in taken(note)]
                found = [o.id for o in memory.recall(limit=100_000).observations]
                n_recalls += 1
                missing = set(wanted) - set(found)
                assert not missing, (
                    f"{len(missing)} of {len(wanted)} noted ids are not recalled, such as {min(missing)}"
                )
                assert len(found) == len(set(found)), "an id is recalled twice"
                if last:
                    break
    counts.write_text(str(n_recalls))


def child(work: Callable[[], None], failures: Path) -> int:
    """Fork a process that does the work; a failure leaves its traceback in the folder."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            (failures / f"{os.getpid()}.txt").write_text(traceback.format_exc())
        finally:
            os._exit(code)
    return pid


def run(
    root: Path, notes: Path, *, writers: int, writes: int, readers: int, seconds: float, kill_every_s: float = 0,
    changing: bool = False, compactors: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """Let them all loose; returns what happened. Writers end when all is written, or are stopped after `seconds`."""
    until, failures = notes / "stop", notes / "failures"
    failures.mkdir(parents=True)
    beside = [child(lambda: compact(root, until), failures) for _ in range(compactors)]
    beside += [
        child(lambda i=i: read(root, notes, until, notes / f"reader-{i}.count"), failures) for i in range(readers)
    ]

    def start(writer: int) -> int:
        return child(lambda: write(root, notes, writer, writes, changing=changing), failures)

    begin = time.monotonic()
    running = {start(writer): writer for writer in range(writers)}
    n_killed, next_kill = 0, begin + kill_every_s
    while running and not any(failures.iterdir()):
        time.sleep(0.01)
        now = time.monotonic()
        while running and (ended := os.waitpid(-1, os.WNOHANG)[0]):
            running.pop(ended, None)
            if ended in beside:
                beside.remove(ended)
        if now - begin > seconds:
            break
        if kill_every_s and now >= next_kill and running:
            victim, next_kill = random.choice(list(running)), now + kill_every_s
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
            n_killed += 1
            writer = running.pop(victim)
            running[start(writer)] = writer
    took = time.monotonic() - begin
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    until.touch()
    for pid in beside:
        os.waitpid(pid, 0)
    n_noted = sum(len(taken(note)) for note in notes.glob("*.txt"))
    return {
        "failures": [path.read_text() for path in failures.iterdir()],
        "n_noted": n_noted, "n_killed": n_killed, "seconds": round(took, 2), "per_second": round(n_noted / took, 1),
        "n_recalls": sum(int(path.read_text()) for path in notes.glob("*.count")),
    }  # fmt: skip


def problems(root: Path, notes: Path) -> list[str]:
    """What is wrong with the store at the end; nothing, if every promise was kept."""
    noted = [id_ for note in sorted(notes.glob("*.txt")) for id_ in taken(note)]
    found: list[str] = []
    with Memory(root) as memory:
        memory.sync()
        rows = memory.recall(limit=100_000).observations
        checked = memory.check()
        found += [str(p) for p in checked.problems if p.code not in ("torn_entry", "leftover", "category_differs")]
        ids = [o.id for o in rows]
        memory.rebuild()
        if [o.id for o in memory.recall(limit=100_000).observations] != ids:
            found.append("a rebuild answers otherwise")
    in_files = Counter(path.read_text().split("id: ", 1)[1][:26] for path in (root / "memories").rglob("*.md"))
    in_ledger = Counter(entry.id for entry in history(Layout(root)) if entry.action in ("add", "adopt"))
    titles = Counter(o.title for o in rows)
    for place, counted in (("files", in_files), ("ledger", in_ledger), ("recall", Counter(ids))):
        lost = set(noted) - counted.keys()
        found += [f"{len(lost)} acknowledged writes are not in the {place}, such as {min(lost)}"] if lost else []
        twice = [id_ for id_, n in counted.items() if n > 1]
        found += [f"{len(twice)} ids are in the {place} twice, such as {twice[0]}"] if twice else []
    twice = [title for title, n in titles.items() if n > 1]
    return found + ([f"{len(twice)} statements are there twice, such as '{twice[0]}'"] if twice else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="stop the writers after so long")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--writes", type=int, default=250, help="by each writer")
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--kill-every", type=float, default=1, metavar="SECONDS", help="0 kills nobody")
    parser.add_argument("--changing", action="store_true", help="writers update and move what they wrote as well")
    parser.add_argument("--folder", help="where to make the stores")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        root, notes = Path(folder) / "store", Path(folder) / "notes"
        done = run(
            root, notes, writers=options.writers, writes=options.writes, readers=options.readers,
            seconds=options.seconds, kill_every_s=options.kill_every, changing=options.changing,
        )  # fmt: skip
        wrong = [*done.pop("failures"), *problems(root, notes)]
        if not options.json:
            for writers in (1, options.writers):
                alone = run(
                    Path(folder) / f"store-{writers}", Path(folder) / f"notes-{writers}", writers=writers,
                    writes=options.writes, readers=0, compactors=0, seconds=options.seconds / 4,
                )  # fmt: skip
                done[f"per_second_{writers}_writers_alone"] = alone["per_second"]
    if options.json:
        print(json.dumps({"problems": wrong, **done}))
    else:
        print(*[f"{name}: {value}" for name, value in done.items()], *(wrong or ["no problem"]), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
