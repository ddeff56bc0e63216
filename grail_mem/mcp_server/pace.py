"""How many requests one caller may send: a bucket that fills at an even pace, one for each. Knows nothing of HTTP."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Final

from grail_mem.errors import InputError

RATE: Final = 600
"""Requests a minute that one token may send; chosen far above what an agent needs, so that it only stops what ran wild."""
MOST_RATE: Final = 1_000_000
_MINUTE_S: Final = 60.0
_MOST_CALLERS: Final = 10_000
"""Callers that are remembered; one that is forgotten begins with a full bucket."""


class Pace:
    """Who may go on and who has to wait.

    Args:
        rate: Requests a minute for each caller, which may also come all at once; 0 for no limit.

    Raises:
        InputError: The rate is no whole number, or out of range.
    """

    def __init__(self, rate: int = RATE) -> None:
        if isinstance(rate, bool) or not isinstance(rate, int) or not 0 <= rate <= MOST_RATE:
            raise InputError(f"--rate must be a whole number of requests a minute, 0 to {MOST_RATE}, not {rate!r}.")
        self._rate = rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, caller: str, now: float) -> int:
        """Seconds that a caller has to wait before the next request; 0 when this one may pass, and it is counted then.

        Args:
            caller: Who sends it.
            now: Seconds of a clock that never goes back.
        """
        if not self._rate:
            return 0
        left, at = self._left.pop(caller, (float(self._rate), now))
        left = min(left + (now - at) * self._rate / _MINUTE_S, float(self._rate))
        passes = left >= 1
        self._left[caller] = (left - 1 if passes else left, now)
        if len(self._left) > _MOST_CALLERS:
            self._left.popitem(last=False)
        return 0 if passes else math.ceil((1 - left) * _MINUTE_S / self._rate)
