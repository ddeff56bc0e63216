"""Dates of a statement in one spelling, so that two texts that name one day name it alike. Knows nothing of questions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from typing import Final

from grail_mem.support.dates import DateAsked, relative_dates, written_dates

_ANY_YEAR: Final = "0000"
"""Stands where a date has no year."""
_RANGE: Final = re.compile(r"[0-9a-z]\s?[-–]\s?[0-9]")
_ISO: Final = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}")
_TOMORROW: Final = re.compile(r"\b(?:the day after )?tomorrow\b", re.IGNORECASE)
_IN_DAYS: Final = re.compile(r"\bin ([0-9]{1,3}) days?\b", re.IGNORECASE)
_CANONICAL: Final = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")
_HAS_CUE: Final = re.compile(
    r"[0-9]|yesterday|today|tonight|tomorrow|ago|back|last|past|previous|this|in|jan|feb|mar|apr|may|jun|jul|aug|sep"
    r"|oct|nov|dec",
    re.IGNORECASE,
)


def said_on(context: str) -> date | None:
    """The day on which something was said, from a text that begins with or names one; None when it names none.

    Example:
        >>> said_on("2026-03-11T09:00:00Z"), said_on("by the river")
        (datetime.date(2026, 3, 11), None)
    """
    with suppress(ValueError):
        return date.fromisoformat(context.strip()[:10])
    days = (found.begin for _, _, found in written_dates(context[:200]) if found and found.grain == "day")
    return next((day for day in days if day), None)


def with_dates(text: str, today: date | None) -> str:
    """A text with each date in one spelling: `2026-03-11`, `2026-03`, or with the year `0000` where it says none.

    Args:
        text: One sentence.
        today: The day from which `tomorrow` and `two days ago` are counted; None leaves them as they are.

    Example:
        >>> with_dates("due May 3rd, seen yesterday", date(2026, 5, 2))
        'due 0000-05-03, seen 2026-05-01'
    """
    if not _HAS_CUE.search(text):
        return text
    made: list[str] = []
    at = 0
    for begin, end, name in sorted({*_written(text), *(_relative(text, today) if today else ())}):
        if begin >= at:
            made += [text[at:begin], name]
            at = end
    return "".join([*made, text[at:]])


def is_date(word: str) -> bool:
    """Whether a word is a date as `with_dates` writes it."""
    return _CANONICAL.fullmatch(word) is not None


def is_within(narrow: str, wide: str) -> bool:
    """Whether a date lies in another one: `2025-05-12` in `2025-05`, and in `0000-05-12`."""
    return narrow.startswith(wide) or (wide.startswith(_ANY_YEAR) and narrow[4:].startswith(wide[4:]))


def may_be_one(left: str, right: str) -> bool:
    """Whether two dates can be the same day, one of them saying less."""
    years = {left[:4], right[:4]} - {_ANY_YEAR}
    return len(years) <= 1 and (left[4:].startswith(right[4:]) or right[4:].startswith(left[4:]))


def _written(text: str) -> Iterator[tuple[int, int, str]]:
    for begin, end, found in written_dates(text):
        said = text[begin:end]
        if found is not None and (_ISO.fullmatch(said) or not _RANGE.search(said.lower())):
            gap = " " if said[-1:].isspace() else ""
            if name := _name(found):
                yield begin, end, name + gap


def _relative(text: str, today: date) -> Iterator[tuple[int, int, str]]:
    for found in relative_dates(text, today):
        begin = text.find(found.text)
        if begin >= 0 and found.grain in {"day", "month"} and (name := _name(found)):
            yield begin, begin + len(found.text), name
    with suppress(OverflowError):
        for match in _TOMORROW.finditer(text):
            yield match.start(), match.end(), (today + timedelta(2 if " " in match[0] else 1)).isoformat()
        for match in _IN_DAYS.finditer(text):
            yield match.start(), match.end(), (today + timedelta(int(match[1]))).isoformat()


def _name(found: DateAsked) -> str:
    if found.month is not None:
        return f"{_ANY_YEAR}-{found.month:02}" + (f"-{found.day:02}" if found.day else "")
    if found.begin is None or found.grain not in {"day", "month"}:
        return ""
    return found.begin.isoformat()[: 10 if found.grain == "day" else 7]
