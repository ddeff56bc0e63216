"""Which calls of a verb a crash is tried at, and how: before a call, half way through it, or by a disk that fails there.

The process server is in `crash_shim`; the fixtures that share one are in `conftest`. Knows nothing of the verbs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from grail_mem import GrailError

KILLS = ("before", "after", "half")
MODES = (*KILLS, "fail")
HALVED = frozenset(("write", "pwrite", "file.write", "call"))
"""Calls that can be done in part; `call` is any that libc saw."""
Case = tuple[str, int]
SHARE = 1 if os.environ.get("GRAIL_LAWS") == "thorough" else 4
"""One of so many cases is tried: all of them take half an hour."""


def every_case(calls: Sequence[str]) -> list[Case]:
    """Every call of a run: killed before it, half way through what can be done in part, and failing; or a share of these.

    Killed after a call leaves what killed before the next leaves, so that only the last is tried like that.
    """
    numbered = list(enumerate(calls, start=1))
    halves = [("half", n) for n, name in numbered if name in HALVED]
    every = [*(("before", n) for n, _ in numbered), ("after", len(calls)), *halves, *(("fail", n) for n, _ in numbered)]
    return every[::SHARE]


def some_cases(n_calls: int, *, turn: int, at_most: int) -> list[Case]:
    """Some of the calls, evenly spread, with the modes taking turns."""
    n_cases = min(n_calls, at_most)
    numbers = [1 + i * n_calls // n_cases for i in range(n_cases)]
    return [(MODES[(i + turn) % len(MODES)], n) for i, n in enumerate(numbers)]


def walk(run_case: Callable[[str, int], Any], calls: Sequence[str], cases: Iterable[Case], *, of: str) -> None:
    """Try all cases and say all that is wrong at once, not the first alone."""
    assert len(calls) >= 3
    failed: list[str] = []
    for mode, n in cases:
        try:
            run_case(mode, n)
        except (AssertionError, GrailError) as error:
            failed.append(f"{of}: {mode} call {n} of {len(calls)} ({calls[n - 1]}): {type(error).__name__} {error}")
    assert not failed, "\n".join(failed)
