"""Dates a text names, absolute or relative to when it is said.

The grammar is English and small: what it does not read is no date. Knows nothing of speakers or terms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from itertools import chain
from typing import Final, Literal, NamedTuple

__all__ = ["MONTHS_IN_YEAR", "WEEKDAYS", "DateAsked", "Grain", "read_dates", "relative_dates", "written_dates"]

Grain = Literal["day", "week", "month", "season", "year", "range"]

_LEAP_YEAR: Final = 2000  # any
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)
MONTHS_IN_YEAR: Final = 12
_FIRST_YEAR, _LAST_YEAR = 1900, 2099
"""Passages are of these years: a question that goes further back or ahead names no day of one."""

_MONTH_NAMES: Final = "january february march april may june july august september october november december"
_MONTHS: Final = tuple(_MONTH_NAMES.split())
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS: Final = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
"""Month in which a season begins, in the northern hemisphere; each has three months."""
_COUNT_WORDS: Final = "one two three four five six seven eight nine ten eleven twelve"
_COUNTS: Final = {word: count for count, word in enumerate(_COUNT_WORDS.split(), 1)} | {
    "a": 1, "an": 1, "couple": 2, "couple of": 2, "a couple": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 3,
}  # fmt: skip

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_NTH: Final = r"[0-9]{1,2}(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:19|20)[0-9]{2}\b"
_NAMED: Final = re.compile(
    rf"(?:(?<![0-9.,:/-])\b(?P<day>{_NTH})\s{{1,3}}(?:of\s{{1,3}})?)?\b(?P<month>{_MONTH})"
    rf"(?:\s{{0,3}}(?P<day_after>{_NTH})(?![\w:])(?:\s?[-–]\s?{_NTH}(?!\w))?)?"
    rf"(?:[,\s]{{1,3}}(?:(?:of|in)\s{{1,3}})?(?P<year>{_YEAR}))?",
    re.IGNORECASE,
)
_ISO: Final = re.compile(r"(?<![\w.-])([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?![\w-])")
_BARE_YEAR: Final = re.compile(r"(?<![\w.,$€£#])(?<!\w-)20[0-9]{2}(?![\w%]|[.,:/]\w)")
_SEASON_OF_YEAR: Final = re.compile(rf"\b({'|'.join(_SEASONS)})\s(?:of\s)?({_YEAR})", re.IGNORECASE)

# May and March are words too: they are months after these, or beside a number.
_BEFORE_MONTH: Final = re.compile(r"(?:\b(?:in|of|early|late|mid|since|by|until)|\d|,)\s*\Z", re.IGNORECASE)
_BEFORE_CAPITAL: Final = re.compile(r"\b(?:before|after|during|between|from|till|to|through|and|or)\s\Z", re.IGNORECASE)
_BEFORE_SAID: Final = re.compile(r"\b(?:last|past|previous|this)\s\Z", re.IGNORECASE)
_LOOK_BACK: Final = 16

_SINCE: Final = re.compile(r"\b(?:ever\s)?since\s(?:the\s)?\Z", re.IGNORECASE)
_AFTER: Final = re.compile(r"\bafter\s(?:the\s)?\Z", re.IGNORECASE)
_BEFORE: Final = re.compile(r"\bbefore\s(?:the\s)?\Z", re.IGNORECASE)
# "Two weeks before 3 May" tells the day by another one; it does not ask for all that came before.
_COUNTED: Final = re.compile(
    rf"\b(?:days?|weeks?|weekends?|months?|years?|nights?|evening|morning|{'|'.join(WEEKDAYS)})\s(?:before|after)\s"
    r"(?:the\s)?\Z",
    re.IGNORECASE,
)
_FROM: Final = re.compile(r"\b(?P<word>between|from)\s(?:the\s)?\Z", re.IGNORECASE)
_TO: Final = re.compile(r"\s(?P<word>and|to|until|till|through)\s(?:the\s)?", re.IGNORECASE)

_COUNT: Final = rf"(?:[0-9]{{1,4}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_AGO: Final = re.compile(rf"(?<![\w.,-])(?P<n>{_COUNT}) (?P<unit>day|week|month|year)s? (?:ago|back)\b", re.IGNORECASE)
_PAST: Final = re.compile(rf"\b(?:last|past|previous) (?P<n>{_COUNT}) (?P<unit>day|week|month|year)s?\b", re.IGNORECASE)
_LAST: Final = re.compile(
    r"\b(?P<which>last|past|previous|this) (?P<what>weekend|week|month|year|night|morning|evening|"
    rf"{'|'.join((*_SEASONS, *WEEKDAYS, *_MONTHS))})\b",
    re.IGNORECASE,
)
_NEAR: Final = re.compile(r"\b(?P<day>the day before yesterday|yesterday|today|tonight)\b", re.IGNORECASE)
_SINCE_YEAR: Final = re.compile(rf"\bsince ({_YEAR})(?!\w)", re.IGNORECASE)


class DateAsked(NamedTuple):
    """A day or a stretch of days that a question names.

    A month or a day without a year is of any year: it has neither begin nor end, but `month` and perhaps `day`.

    Attributes:
        begin: The first day; None for no bound.
        end: The day after the last; None for no bound.
        grain: What was named.
        text: The words.
        month: Of a date without a year, from 1 to 12; else None.
        day: Of a date without a year, from 1 to 31; else None.
    """

    begin: date | None
    end: date | None
    grain: Grain
    text: str
    month: int | None = None
    day: int | None = None


def read_dates(text: str, *, asked_at: datetime, zone: tzinfo) -> tuple[DateAsked, ...]:
    """Take a question and return the dates it names, in order.

    A date written out decides alone: "last Friday on 23 January 2022" is not counted from today, and a year is a date
    only where no month stands.

    Args:
        text: The question.
        asked_at: When it was asked, aware.
        zone: The zone whose calendar counts.

    Example:
        >>> from datetime import UTC
        >>> read_dates("What happened on 8 May 2023?", asked_at=datetime(2023, 6, 1, tzinfo=UTC), zone=UTC)[0][:3]
        (datetime.date(2023, 5, 8), datetime.date(2023, 5, 9), 'day')
    """
    today = _local_day(asked_at, zone)
    written = list(written_dates(text))
    found = list(_bounded(text, written, today)) or list(relative_dates(text, today))
    if not found:
        spans = [(begin, end) for begin, end, _ in written]
        found = [
            _year(int(match[0]), match[0])
            for match in _BARE_YEAR.finditer(text)
            if not any(begin <= match.start() < end for begin, end in spans)
        ]
    return tuple(dict.fromkeys(found))


def _local_day(asked_at: datetime, zone: tzinfo) -> date:
    """The day of asking, within the years that dates are read for: so counting from it stays in the calendar."""
    with suppress(OverflowError):
        asked_at = asked_at.astimezone(zone)
    return min(max(asked_at.date(), date(_FIRST_YEAR, 1, 1)), date(_LAST_YEAR, 12, 31))


def written_dates(text: str) -> Iterator[tuple[int, int, DateAsked | None]]:
    """Dates written out, with their spans; nonsense such as 31 February has a span and no date."""
    matches = chain(
        ((m, _iso) for m in _ISO.finditer(text)),
        ((m, _season_of_year) for m in _SEASON_OF_YEAR.finditer(text)),
        ((m, _named) for m in _NAMED.finditer(text) if _is_month(text, m)),
    )
    for match, read in sorted(matches, key=lambda pair: pair[0].start()):
        yield match.start(), match.end(), read(match)


def _is_month(text: str, match: re.Match[str]) -> bool:
    name = match["month"].rstrip(".")
    if match["day"] or match["day_after"] or match["year"]:
        return True
    if name.lower() not in _MONTHS:
        return False  # an abbreviation needs a number beside it
    before = text[max(match.start() - _LOOK_BACK, 0) : match.start()]
    if _BEFORE_SAID.search(before):
        return False  # counted from today
    if name.lower() not in {"may", "march"}:
        return True
    if _BEFORE_MONTH.search(before):
        return name[0].isupper() or not before.rstrip().endswith(",")
    return name[0].isupper() and _BEFORE_CAPITAL.search(before) is not None


def _iso(match: re.Match[str]) -> DateAsked | None:
    year, month, day = map(int, match.groups())
    return _day(year, month, day, match[0])


def _season_of_year(match: re.Match[str]) -> DateAsked | None:
    return _season(int(match[2]), match[1].lower(), match[0])


def _named(match: re.Match[str]) -> DateAsked | None:
    month = _month_number(match["month"])
    written = match["day_after"] or match["day"]
    day = int(re.sub(r"\D", "", written)) if written else 0
    if not 1 <= day <= 31:  # noqa: PLR2004  days of a month
        day = 0
    if match["year"] is None:
        if day and _day(_LEAP_YEAR, month, day, match[0]) is None:
            return None
        return DateAsked(None, None, "day" if day else "month", match[0], month, day or None)
    year = int(match["year"])
    return _day(year, month, day, match[0]) if day else _month(year, month, match[0])


def _bounded(text: str, written: Sequence[tuple[int, int, DateAsked | None]], today: date) -> Iterator[DateAsked]:
    """Written dates, each alone or with the word that makes it the bound of a range."""
    at = 0
    while at < len(written):
        begin, end, found = written[at]
        at += 1
        if found is None:
            continue
        before = text[max(begin - _LOOK_BACK, 0) : begin]
        if at < len(written) and _FROM.search(before) and _TO.fullmatch(text, end, written[at][0]):
            until = written[at][2]
            if until is not None:
                yield _between(found, until, today, text[begin : written[at][1]])
                at += 1
                continue
        yield _bound(before, found, today)


def _bound(before: str, found: DateAsked, today: date) -> DateAsked:
    if _COUNTED.search(before):
        return found
    dated = _latest(found, today)
    if _SINCE.search(before):
        return _since(dated, today)
    if _AFTER.search(before):
        return DateAsked(dated.end, None, "range", found.text)
    if _BEFORE.search(before):
        return DateAsked(None, dated.begin, "range", found.text)
    return found


def _between(one: DateAsked, other: DateAsked, today: date, text: str) -> DateAsked:
    last = _latest(other, today)
    first = _latest(one, last.begin or today)
    days = [day for dated in (first, last) for day in (dated.begin, dated.end) if day]
    return DateAsked(min(days), max(days), "range", text) if days else one


def _since(dated: DateAsked, today: date) -> DateAsked:
    """From that date to today; a date to come stays what it is."""
    if dated.begin is None or dated.begin > today:
        return dated
    return DateAsked(dated.begin, today + _DAY, "range", dated.text)


def _latest(found: DateAsked, today: date) -> DateAsked:
    """A date without a year as the latest one that has begun."""
    if found.month is None:
        return found
    for year in range(today.year, today.year - 9, -1):  # 29 February may be eight years back
        dated = _day(year, found.month, found.day, found.text) if found.day else _month(year, found.month, found.text)
        if dated is not None and dated.begin is not None and dated.begin <= today:
            return dated
    return found


def relative_dates(text: str, today: date) -> Iterator[DateAsked]:
    """Dates counted back from a day, such as `yesterday` and `last month`, kind by kind."""
    readers: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], DateAsked | None]], ...] = (
        (_SINCE_YEAR, _since_year), (_AGO, _ago), (_PAST, _past), (_LAST, _last), (_NEAR, _near),
    )  # fmt: skip
    for pattern, read in readers:
        for match in pattern.finditer(text):
            with suppress(ValueError, OverflowError):  # further back than the calendar goes
                found = read(match, today)
                if found is not None and (found.begin is None or found.begin.year >= _FIRST_YEAR):
                    yield found


def _since_year(match: re.Match[str], today: date) -> DateAsked:
    return _since(_year(int(match[1]), match[0]), today)


def _ago(match: re.Match[str], today: date) -> DateAsked | None:
    count, unit = _count(match["n"]), match["unit"].lower()
    if unit == "day":
        return _one_day(today - count * _DAY, match[0])
    if unit == "week":  # about then
        middle = today - count * _WEEK
        return DateAsked(middle - 3 * _DAY, middle + 4 * _DAY, "week", match[0])
    if unit == "month":
        return _month(*_months_before(today, count), match[0])
    return _year(today.year - count, match[0])


def _past(match: re.Match[str], today: date) -> DateAsked:
    count, unit = _count(match["n"]), match["unit"].lower()
    if unit in {"day", "week"}:
        begin = today - count * (_DAY if unit == "day" else _WEEK)
    else:
        year, month = _months_before(today, count * (1 if unit == "month" else MONTHS_IN_YEAR))
        begin = date(year, month, min(today.day, 28))
    return DateAsked(begin, today + _DAY, "range", match[0])


def _last(match: re.Match[str], today: date) -> DateAsked | None:
    what, back = match["what"].lower(), 0 if match["which"].lower() == "this" else 1
    monday = today - today.weekday() * _DAY
    if what in {"night", "morning", "evening"}:
        return _one_day(today - back * _DAY, match[0])
    if what == "week":
        return DateAsked(monday - back * _WEEK, monday + (1 - back) * _WEEK, "week", match[0])
    if what == "weekend":
        saturday = monday + 5 * _DAY - back * _WEEK
        return DateAsked(saturday, saturday + 2 * _DAY, "range", match[0])
    if what == "month":
        return _month(*_months_before(today, back), match[0])
    if what == "year":
        return _year(today.year - back, match[0])
    if what in WEEKDAYS:
        return _one_day(_weekday(today, WEEKDAYS.index(what), back), match[0])
    if what in _MONTHS:
        return _month_said(match, what, today, back)
    return _season_said(what, today, back, match[0])


def _weekday(today: date, weekday: int, back: int) -> date:
    """The last such day before today, or the one of this week."""
    if not back:
        return today + (weekday - today.weekday()) * _DAY
    return today - ((today.weekday() - weekday - 1) % 7 + 1) * _DAY


def _month_said(match: re.Match[str], what: str, today: date, back: int) -> DateAsked | None:
    if what in {"may", "march"} and not match["what"][0].isupper():
        return None
    month = _MONTHS.index(what) + 1
    return _month(today.year - (back if month >= today.month else 0), month, match[0])


def _season_said(name: str, today: date, back: int, text: str) -> DateAsked | None:
    """The last one that has ended, or the one of this year."""
    if not back:
        in_winter_begun_last_year = name == "winter" and today.month <= 2  # noqa: PLR2004  February
        return _season(today.year - in_winter_begun_last_year, name, text)
    for year in (today.year, today.year - 1):
        season = _season(year, name, text)
        if season is not None and season.end is not None and season.end <= today:
            return season
    return _season(today.year - 2, name, text)


def _near(match: re.Match[str], today: date) -> DateAsked | None:
    word = match["day"].lower()
    back = 2 if " " in word else 1 if word == "yesterday" else 0
    return _one_day(today - back * _DAY, match[0])


def _count(written: str) -> int:
    return int(written) if written.isdigit() else _COUNTS[" ".join(written.lower().split())]


def _month_number(written: str) -> int:
    return next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(written[:3].lower()))


def _months_before(today: date, count: int) -> tuple[int, int]:
    year, month = divmod(today.year * MONTHS_IN_YEAR + today.month - 1 - count, MONTHS_IN_YEAR)
    return year, month + 1


def _one_day(day: date, text: str) -> DateAsked:
    return DateAsked(day, day + _DAY, "day", text)


def _day(year: int, month: int, day: int, text: str) -> DateAsked | None:
    with suppress(ValueError, OverflowError):
        if _FIRST_YEAR <= year <= _LAST_YEAR:
            return _one_day(date(year, month, day), text)
    return None


def _month(year: int, month: int, text: str) -> DateAsked:
    following = year * MONTHS_IN_YEAR + month
    end = date(following // MONTHS_IN_YEAR, following % MONTHS_IN_YEAR + 1, 1)
    return DateAsked(date(year, month, 1), end, "month", text)


def _season(year: int, name: str, text: str) -> DateAsked:
    begin = date(year, _SEASONS[name], 1)
    after = year * MONTHS_IN_YEAR + begin.month + 2
    return DateAsked(begin, date(after // MONTHS_IN_YEAR, after % MONTHS_IN_YEAR + 1, 1), "season", text)


def _year(year: int, text: str) -> DateAsked:
    return DateAsked(date(year, 1, 1), date(year + 1, 1, 1), "year", text)
