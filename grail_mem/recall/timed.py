"""How long the stages of an answer take, for its trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def timed(trace: dict[str, Any], name: str, work: Callable[[], T]) -> T:
    """Do a stage and note how long it took."""
    begin = time.perf_counter()
    done = work()
    trace[name] = {"ms": round((time.perf_counter() - begin) * 1000, 3)}
    return done
