"""Times: what people and files write, as aware UTC datetimes, as text and as integer microseconds.

Knows nothing of observations, files or settings, and never asks what time it is: `now` is handed in.
"""

from __future__ import annotations

import calendar
import operator
import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grail_mem.errors import InputError

__all__ = ["format_time", "from_us", "parse_time", "parse_when", "to_us"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_US = 86_400_000_000
_SECOND_US = 1_000_000
_MONTHS_IN_YEAR = 12
_CANONICAL_CHARS = 20

_INSTANT_HINT = "Write an ISO-8601 date or instant, such as 2026-06-02 or 2026-06-02T14:23:00Z."
_WHEN_HINT = "Write an ISO-8601 date or instant, such as 2026-06-02T14:23:00Z, or an age, such as 7d or 2 weeks ago."
_AWARE_HINT = "Pass an aware datetime, such as parse_time gives."
_ZONE_HINT = "Write an IANA time zone name, such as UTC or Europe/Berlin."

_ISO = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"([Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)?)?"
)
_OWN_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.(?:[0-9]{3}){1,2})?Z")
"""As `format_time` writes most times; Python's own reader takes a twentieth of the time of ours, which takes more forms."""
# re.ASCII also keeps IGNORECASE from taking the Kelvin sign for k and the long s for s.
_AGE = re.compile(r"(?:([0-9]{1,9})\s*|(an?)\s+)([a-z]+)(\s+ago)?", re.ASCII | re.IGNORECASE)
_UNITS = {
    name: unit
    for unit, names in {
        "second": "s sec secs second seconds",
        "minute": "min mins minute minutes",
        "hour": "h hr hrs hour hours",
        "day": "d day days",
        "week": "w wk wks week weeks",
        "month": "mo mos month months",
        "year": "y yr yrs year years",
    }.items()
    for name in names.split()
}
_FIXED = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}


def parse_time(text: str | datetime | date, *, zone: str = "UTC") -> datetime:
    """Take an ISO-8601 date or instant and return it as an aware datetime in UTC.

    Args:
        text: `2026-06-02`, `2026-06-02T14:23` with optional seconds, fraction (cut to microseconds) and `Z` or offset;
            a space may stand for the `T`. Spaces around it are ignored. A datetime or date object is taken too.
        zone: IANA name of the zone in which a date, or a time without offset, is read. A wall time that a clock change
            skips or repeats is read with the offset in force before the change (fold=0).

    Returns:
        The instant in UTC; for a date, its first instant in `zone`.

    Raises:
        InputError: `text` is no such time, lies outside the years 1 to 9999, or `zone` is unknown.

    Example:
        >>> parse_time("2026-06-02 14:23+02:00").isoformat()
        '2026-06-02T12:23:00+00:00'
        >>> parse_time("2026-06-02", zone="America/New_York").isoformat()
        '2026-06-02T04:00:00+00:00'
    """
    if isinstance(text, str) and _OWN_FORM.fullmatch(text):
        with suppress(ValueError):  # what is no date is refused below, in words
            return datetime.fromisoformat(text)
    return _parse(text, zone, _INSTANT_HINT)


def parse_when(text: str | datetime | date, *, now: datetime, zone: str = "UTC") -> datetime:
    """Take a date, an instant or an age such as `7d`, and return the instant it means, in UTC.

    Args:
        text: All that `parse_time` takes; `now`, `today`, `yesterday` (the first instant of that day in `zone`); or an
            age before `now`: `90s`, `30min`, `12h`, `7d`, `2w`, `3mo`, `1y`, `3 days ago`, `an hour ago`. A day is 24
            hours and a week 168; months and years follow the calendar of `zone`, and the day of the month is cut to the
            last one there is. `m` alone is refused, since it could be minutes or months. Case does not matter.
        now: The instant that ages count from; aware.
        zone: IANA name of the zone, as in `parse_time`.

    Raises:
        InputError: `text` is none of these, or the result lies outside the years 1 to 9999.

    Example:
        >>> parse_when("1 month ago", now=datetime(2026, 3, 31, 9, tzinfo=UTC)).isoformat()
        '2026-02-28T09:00:00+00:00'
    """
    now = _utc(now)
    if not isinstance(text, str):
        return _parse(text, zone, _WHEN_HINT)
    word = text.strip().lower()
    if word == "now":
        return now
    if word in ("today", "yesterday"):
        return _start_of_day(word, now, zone)
    age = _AGE.fullmatch(word)
    if age is None:
        return _parse(text, zone, _WHEN_HINT)
    number, article, unit_name, ago = age.groups()
    if unit_name == "m":
        raise InputError(f"{_shown(text)} could be minutes or months.", hint="Write min or mo, such as 30min or 3mo.")
    unit = _UNITS.get(unit_name)
    if unit is None or (article and not ago):
        raise InputError(f"{_shown(text)} is not a time.", hint=_WHEN_HINT)
    return _before(now, int(number or 1), unit, zone, text)


def format_time(time: datetime) -> str:
    """Take an aware datetime and return its text in UTC, as files hold it; a fraction only when there is one.

    Example:
        >>> format_time(datetime(2026, 6, 2, 14, 23, tzinfo=UTC))
        '2026-06-02T14:23:00Z'
        >>> format_time(datetime(2026, 6, 2, 14, 23, 0, 120_000, tzinfo=UTC))
        '2026-06-02T14:23:00.12Z'
    """
    time = _utc(time)
    seconds = time.isoformat("T", "seconds")[:19]
    return f"{seconds}.{time.microsecond:06d}".rstrip("0") + "Z" if time.microsecond else f"{seconds}Z"


def to_us(time: datetime) -> int:
    """Take an aware datetime and return the microseconds since 1970-01-01T00:00:00Z, exact, negative before it.

    Example:
        >>> to_us(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
        -1
    """
    try:
        since = time - EPOCH
    except TypeError as error:
        raise InputError(f"{_shown(time)} is not a time with a zone.", hint=_AWARE_HINT) from error
    return since.days * _DAY_US + since.seconds * _SECOND_US + since.microseconds


def from_us(us: int) -> datetime:
    """Take microseconds since 1970-01-01T00:00:00Z and return the aware datetime in UTC; the inverse of `to_us`.

    Example:
        >>> from_us(1_500_000).isoformat()
        '1970-01-01T00:00:01.500000+00:00'
    """
    try:
        return EPOCH + timedelta(0, 0, operator.index(us))
    except (TypeError, OverflowError) as error:
        hint = "Pass whole microseconds since 1970 within the years 1 to 9999, such as 1780410180000000."
        raise InputError(f"{_shown(us)} is not a time in microseconds.", hint=hint) from error


def _parse(text: object, zone: str, hint: str) -> datetime:
    """Take what `parse_time` takes and return the instant in UTC; `hint` is what a refusal tells to write instead."""
    try:
        if isinstance(text, str):
            return _plain_utc(_read_iso(text, zone, hint))
        if isinstance(text, datetime):
            return _plain_utc(text, text.tzinfo or _zone(zone))
        if isinstance(text, date):
            return _plain_utc(datetime(text.year, text.month, text.day, tzinfo=_zone(zone)))
    except OverflowError as error:
        raise InputError(f"{_shown(text)} is outside the years 1 to 9999 when read in UTC.", hint=hint) from error
    except (TypeError, AttributeError) as error:  # pandas.NaT: a datetime whose parts are no numbers
        raise InputError(f"{_shown(text)} is not a time.", hint=hint) from error
    raise InputError(f"{_shown(text)} is not a time.", hint=hint)


def _read_iso(text: str, zone: str, hint: str) -> datetime:
    """Take ISO-8601 text and return the aware datetime with the offset as written, or that of `zone`."""
    if _is_canonical(text):
        with suppress(ValueError):  # what is wrong with it is said below
            return datetime.fromisoformat(text)
    match = _ISO.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{_shown(text)} is not a time.", hint=hint)
    year, month, day, hour, minute, second, fraction, offset = match.groups()
    micro = int((fraction or "0").ljust(6, "0")[:6])
    clock = int(hour or 0), int(minute or 0), int(second or 0), micro
    try:
        return datetime(int(year), int(month), int(day), *clock, tzinfo=_offset(offset) if offset else _zone(zone))
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{_shown(text)} is not in the calendar or on the clock: {error}.", hint=hint) from error


def _is_canonical(text: str) -> bool:
    """Take text and return whether it looks like `2026-06-02T14:23:00Z`, the form in which our own files have times."""
    return (
        len(text) == _CANONICAL_CHARS
        and (text[4], text[7], text[10], text[13], text[16], text[19]) == ("-", "-", "T", ":", ":", "Z")
        and text[11:13] != "24"  # midnight at the end of a day, which later versions of Python take
    )


def _offset(text: str) -> tzinfo:
    """Take `Z`, `+02`, `+0200` or `+02:00` and return the fixed offset."""
    if text in "Zz":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-size if text[0] == "-" else size)


def _zone(name: str) -> tzinfo:
    """Take an IANA name and return its zone."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError, AttributeError) as error:
        raise InputError(f"{_shown(name)} is not a known time zone.", hint=_ZONE_HINT) from error


def _utc(time: datetime) -> datetime:
    """Take an aware datetime and return it in UTC; refuse one without a zone."""
    if not isinstance(time, datetime) or time.tzinfo is None:
        raise InputError(f"{_shown(time)} is not a time with a zone.", hint=_AWARE_HINT)
    return time if time.tzinfo is UTC else _parse(time, "UTC", _INSTANT_HINT)


def _plain_utc(time: datetime, zone: tzinfo | None = None) -> datetime:
    """Take a datetime, also of a subclass such as pandas.Timestamp, and its zone, and return a plain one in UTC."""
    if time.tzinfo is UTC and type(time) is datetime:
        return time
    day, clock = (time.year, time.month, time.day), (time.hour, time.minute, time.second, time.microsecond)
    return datetime(*day, *clock, tzinfo=zone or time.tzinfo, fold=time.fold).astimezone(UTC)


def _start_of_day(word: str, now: datetime, zone: str) -> datetime:
    """Take `today` or `yesterday` and return the first instant of that day in `zone`, in UTC."""
    try:
        day = now.astimezone(_zone(zone)).date() - timedelta(days=word == "yesterday")
    except OverflowError as error:
        raise InputError(f"{word!r} is outside the years 1 to 9999.", hint=_WHEN_HINT) from error
    return _parse(day, zone, _WHEN_HINT)


def _before(now: datetime, count: int, unit: str, zone: str, text: str) -> datetime:
    """Take an instant and an age and return the instant that long before, in UTC."""
    try:
        if unit in _FIXED:
            return now - count * _FIXED[unit]
        local = now.astimezone(_zone(zone))
        months = count * (_MONTHS_IN_YEAR if unit == "year" else 1)
        year, month = divmod(local.year * _MONTHS_IN_YEAR + local.month - 1 - months, _MONTHS_IN_YEAR)
        if year < 1:
            raise OverflowError(f"year {year}")
        day = min(local.day, calendar.monthrange(year, month + 1)[1])
        return _plain_utc(local.replace(year=year, month=month + 1, day=day, fold=0))
    except OverflowError as error:
        raise InputError(f"{_shown(text)} reaches back before the year 1.", hint=_WHEN_HINT) from error


def _shown(value: object) -> str:
    """Take any value and return how a message names it: quoted, at most about 80 characters."""
    return repr(value[:80]) if isinstance(value, str) else f"{str(value)[:80]} ({type(value).__name__})"
