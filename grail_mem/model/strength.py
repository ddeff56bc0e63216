"""How strong an observation stands in memory: it fades with time since it was last recalled, the slower the more often it was.

Strength halves with every half-life, and a half-life is as many times the base as there are days on which the observation was
recalled, and one more. Knows nothing of what observations say or of where recalls are kept.

Source: exponential forgetting with a half-life that grows with practice, as in half-life regression (Settles and Meeder, "A
Trainable Spaced Repetition Model for Language Learning", ACL 2016: p = 2^(-Δ/h)), after Ebbinghaus (1885). The linear growth
of the half-life and its base are chosen: there are no outcomes here to fit them to.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import Final

MOST_DAYS: Final = 16
"""Days of recall that are kept of an observation, the latest; chosen: with a base of 90 days that is a half-life of four years."""


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong an observation is on some day.

    Attributes:
        value: 1 on the day of the last recall, half of it a half-life later, and so on.
        last: The day of the last recall; that from which on recalls were counted when there was none.
        n_days: On how many days it was recalled, as far as they are kept.
        half_life_days: Days in which the value halves.
    """

    value: float
    last: date
    n_days: int
    half_life_days: float


def strength(days: Collection[int], since: int, today: int, *, base: float) -> Strength:
    """The strength of an observation.

    Args:
        days: Days on which it was recalled, as ordinals of `date`.
        since: The first day on which a recall of it would have been noted: what is not known is not held against it.
        today: The day for which it is asked.
        base: The half-life in days of what was never recalled.

    Example:
        >>> never = strength((), 1000, 1090, base=90)
        >>> often = strength((1000, 1010, 1020), 900, 1090, base=90)
        >>> round(never.value, 2), round(often.value, 2), often.half_life_days
        (0.5, 0.87, 360)
    """
    kept = sorted(set(days))[-MOST_DAYS:]
    last = max([since, *kept])
    half_life = base * (1 + len(kept))
    return Strength(2.0 ** (-max(0, today - last) / half_life), date.fromordinal(last), len(kept), half_life)
