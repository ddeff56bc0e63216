"""How well the days of passages fit the dates that a question names. Knows nothing of texts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, tzinfo
from typing import TYPE_CHECKING, Final

from grail_mem.support.dates import MONTHS_IN_YEAR, DateAsked

if TYPE_CHECKING:
    import numpy as np

_DAY_US: Final = 86_400_000_000


def date_match(dates: Sequence[DateAsked], days: np.ndarray) -> np.ndarray:
    """How well days fit the dates of a question, float32 from 0 to 1: the best over the dates; zeros when there are none.

    A day: 1 on it and the day after (people tell things then or the next day), to 10 days later .8, to 35 .5, up to 10 days
    earlier .3. A month: 1, the next .6. A year: .3. Other stretches: 1 within, up to 7 days later .6.

    Args:
        dates: What the question names.
        days: Days since 1970, int32.

    Source: chosen on the development questions of LoCoMo.
    """
    import numpy as np

    best = np.zeros(len(days), np.float32)
    for asked in dates:
        np.maximum(best, _fit(asked, np.asarray(days, np.int64)), out=best)
    return best


def local_days(us: np.ndarray, zone: tzinfo) -> np.ndarray:
    """The day of each instant in a zone, in days since 1970.

    Args:
        us: Microseconds since 1970.
        zone: Where the day is looked up.
    """
    import numpy as np

    if str(zone) == "UTC":
        return np.asarray(us, np.int64) // _DAY_US
    import pandas as pd  # its table of offsets takes many instants at a time

    local = pd.DatetimeIndex(np.asarray(us, "datetime64[us]"), tz="UTC").tz_convert(zone).tz_localize(None)
    return np.asarray(local.values.astype("datetime64[D]").astype(np.int64))


def within(dates: Sequence[DateAsked], days: np.ndarray) -> np.ndarray:
    """Which days are among those that a question names, bool; all of them when it names none.

    Args:
        dates: What the question names.
        days: Days since 1970, int32.
    """
    import numpy as np

    chosen = np.asarray(days, np.int64)
    made = [_within(asked, chosen) for asked in dates] or [np.ones(len(days), bool)]
    together: np.ndarray = np.logical_or.reduce(made)
    return together


def _within(asked: DateAsked, days: np.ndarray) -> np.ndarray:
    import numpy as np

    if asked.month is not None:  # of any year
        when = days.astype("datetime64[D]")
        month = when.astype("datetime64[M]")
        same = month.astype(np.int64) % MONTHS_IN_YEAR == asked.month - 1
        made: np.ndarray = same if asked.day is None else same & ((when - month).astype(np.int64) == asked.day - 1)
        return made
    begin = _number(asked.begin) if asked.begin else np.iinfo(np.int64).min
    end = _number(asked.end) if asked.end else np.iinfo(np.int64).max
    inside: np.ndarray = (days >= begin) & (days < end)
    return inside


def _fit(asked: DateAsked, days: np.ndarray) -> np.ndarray:
    import numpy as np

    if asked.grain == "day":
        return _day_fit(days - _day_numbers(asked, days))
    if asked.grain == "month":
        months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        year_0 = asked.begin.year - 1970 if asked.begin else months // MONTHS_IN_YEAR
        month = asked.begin.month if asked.begin else asked.month or 1
        late = months - (year_0 * MONTHS_IN_YEAR + month - 1)
        return np.select([late == 0, late == 1], [1.0, 0.6], 0.0).astype(np.float32)
    begin = _number(asked.begin) if asked.begin else days.min(initial=0)
    end = _number(asked.end) if asked.end else days.max(initial=0) + 1
    inside = (days >= begin) & (days < end)
    if asked.grain == "year":
        return np.where(inside, 0.3, 0.0).astype(np.float32)
    return np.select([inside, (days >= end) & (days < end + 7)], [1.0, 0.6], 0.0).astype(np.float32)


def _day_fit(late: np.ndarray) -> np.ndarray:
    """The value of passages so many days after the day asked for."""
    import numpy as np

    step = np.searchsorted([-10, 0, 2, 11, 36], late, side="right")
    return np.array([0.0, 0.3, 1.0, 0.8, 0.5, 0.0], np.float32)[step]


def _day_numbers(asked: DateAsked, days: np.ndarray) -> np.ndarray:
    """The day asked for, since 1970; a date without a year is the one in each passage's year, far away where there is none."""
    import numpy as np

    if asked.begin is not None:
        return np.full(len(days), _number(asked.begin))
    month_number = days.astype("datetime64[D]").astype("datetime64[Y]").astype("datetime64[M]") + (
        (asked.month or 1) - 1
    )
    day = month_number.astype("datetime64[D]") + ((asked.day or 1) - 1)
    there = day.astype("datetime64[M]") == month_number
    return np.where(there, day.astype(np.int64), days + 1_000)


def _number(day: date) -> int:
    return day.toordinal() - date(1970, 1, 1).toordinal()
