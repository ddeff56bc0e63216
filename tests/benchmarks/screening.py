"""How well screening tells secrets from what only looks like one, and what it costs: `python tests/benchmarks/screening.py`."""

from __future__ import annotations

import sys
import timeit
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from screening_lines import WITH, WITHOUT, lines

from grail_mem.model.secret import secrets_in
from grail_mem.model.untrusted import flags_of


def measured() -> tuple[list[str], list[str], int, int]:
    """Lines with a secret that were missed, lines without one that were taken for one, and how many there are of each."""
    positive, negative = [x.replace("\\n", "\n") for x in lines(WITH)], lines(WITHOUT)
    missed = [line for line in positive if not secrets_in(line)]
    alarms = [line for line in negative if secrets_in(line)]
    return missed, alarms, len(positive), len(negative)


def main() -> None:
    """Print what was missed and taken wrongly, recall and precision, and microseconds a kilobyte."""
    missed, alarms, n_with, n_without = measured()
    for line in missed:
        print("missed ", line[:120])
    for line in alarms:
        print("alarm  ", line[:120], [(s.kind, line[s.start : s.end]) for s in secrets_in(line)])
    found = n_with - len(missed)
    print(
        f"{n_with} lines with a secret, {n_without} without: recall {found / n_with:.3f}, precision {found / (found + len(alarms)):.3f}"
    )
    plain = "\n".join(line for line in lines(WITHOUT) if not secrets_in(line))
    for name, look in (("secrets", lambda: secrets_in(plain)), ("orders", lambda: flags_of([plain]))):
        took = min(timeit.repeat(look, number=5, repeat=5)) / 5
        print(f"{name}: {took * 1e6 / len(plain) * 1000:.0f} µs a kilobyte of text full of near misses")


if __name__ == "__main__":
    main()
