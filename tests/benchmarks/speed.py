"""Speed as ratios to references measured in the same run: `python tests/benchmarks/speed.py --rows 10000 100000 1000000`.

Every figure is the median of interleaved runs after a warm-up: ours, reference, ours, reference … Ours ends when Python
observations exist; a reference ends when it has made Python rows of everything, content included. Nothing is asserted
about time; answers are compared where both sides give one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

import speed_read
import speed_store
import speed_work
import speed_write
from speed_store import Stores

MAKERS: dict[str, Callable[[Stores, int, int], Iterator[tuple[str, float, float, str, bool]]]] = {
    "recall": speed_read.recall,
    "shapes": speed_read.shapes,
    "delta": speed_read.delta,
    "cold": speed_read.cold,
    "add": speed_write.add,
    "visible": speed_write.visible,
    "writers": speed_write.writers,
    "rebuild": speed_work.rebuild,
    "sync": speed_work.sync,
    "compact": speed_work.compaction,
}
ONCE = ("add", "visible", "writers")  # the number of rows makes no difference to them


@dataclass(frozen=True, slots=True)
class Line:
    """One measured line."""

    name: str
    rows: int
    ours_ms: float
    reference_ms: float
    ratio: float
    goal: str
    met: bool


def measured(only: list[str], rows: list[int], stores: Stores, repeat: int) -> Iterator[Line]:
    """Every line, as soon as it is measured."""
    for name in only:
        for n in rows[:1] if name in ONCE else rows:
            for label, ours, reference, goal, higher in MAKERS[name](stores, n, repeat):
                bound = float(goal.strip("<>=×x "))
                ratio = (reference / ours if higher else ours / reference) if reference else ours
                met = ratio >= bound if goal.startswith(">=") else ratio <= bound
                yield Line(label, n, round(ours, 3), round(reference, 3), round(ratio, 3), goal, met)


def main() -> None:
    """Measure, print a table, and keep it as JSON when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--only", nargs="+", choices=MAKERS, default=list(MAKERS), metavar="NAME")
    parser.add_argument("--repeat", type=int, default=11, help="runs of each side, at least 5")
    parser.add_argument("--json", type=Path, help="where to keep the lines")
    parser.add_argument("--keep", type=Path, help="folder for the stores, used again by later runs")
    parser.add_argument(
        "--processor", action="store_true", help="processor time, where other work makes time itself useless"
    )
    chosen = parser.parse_args()
    if chosen.processor:
        speed_store.clock = speed_store.processor_s
    folder = chosen.keep or Path(tempfile.mkdtemp(prefix="grail-speed-"))
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[Line] = []
    print(f"{'what':62} {'rows':>9} {'ours ms':>10} {'ref. ms':>10} {'ratio':>8}  goal      met", flush=True)
    try:
        for line in measured(chosen.only, chosen.rows, Stores(folder), max(chosen.repeat, 5)):
            lines.append(line)
            print(
                f"{line.name:62} {line.rows:9,} {line.ours_ms:10.2f} {line.reference_ms:10.2f} {line.ratio:8.3f}"
                f"  {line.goal:9} {'yes' if line.met else 'NO'}",
                flush=True,
            )
    finally:
        if chosen.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    if chosen.json:
        head: dict[str, Any] = {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "cpus": os.cpu_count()}
        head |= {"python": sys.version.split()[0], "load": os.getloadavg()[0]}
        chosen.json.write_text(json.dumps(head | {"lines": [asdict(line) for line in lines]}, indent=1))


if __name__ == "__main__":
    main()
