"""Times: what is read, what is refused, and the laws between text, datetime and microseconds."""

from __future__ import annotations

import doctest
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.errors import InputError
from grail_mem.model import times
from grail_mem.model.times import format_time, from_us, parse_time, parse_when, to_us

NOW = datetime(2026, 6, 9, 12, 30, 15, 250_000, tzinfo=UTC)

instants = st.datetimes(timezones=st.just(UTC))
offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
odd_texts = st.text() | st.text(alphabet="0123456789-:TZtz+. ,agoдmdwy٣", max_size=40)


def test_examples_in_docstrings_hold() -> None:
    """What the docs show is what the code does."""
    assert doctest.testmod(times).failed == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-06-02", "2026-06-02T00:00:00Z"),
        ("2026-06-02T14:23", "2026-06-02T14:23:00Z"),
        ("2026-06-02 14:23", "2026-06-02T14:23:00Z"),
        ("2026-06-02t14:23:05z", "2026-06-02T14:23:05Z"),
        ("2026-06-02T14:23:05.5Z", "2026-06-02T14:23:05.5Z"),
        ("2026-06-02T14:23:05.123456789Z", "2026-06-02T14:23:05.123456Z"),
        ("2026-06-02T14:23:05,25Z", "2026-06-02T14:23:05.25Z"),
        ("2026-06-02T14:23+02:00", "2026-06-02T12:23:00Z"),
        ("2026-06-02T14:23-0230", "2026-06-02T16:53:00Z"),
        ("2026-06-02T14:23+02", "2026-06-02T12:23:00Z"),
        (" 2026-06-02 ", "2026-06-02T00:00:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z"),
    ],
)
def test_iso_dates_and_instants_are_read_to_utc(text: str, expected: str) -> None:
    """Dates, and instants with `T` or a space, seconds, fraction and offset or without, become UTC."""
    assert format_time(parse_time(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "2026-13-40",
        "2026-02-30",
        "2025-02-29",
        "0000-01-01",
        "10000-01-01",
        "-44",
        "-0044-03-15",
        "last spring",
        "eighty thousand years ago",
        "2026",
        "2026-06",
        "20260602",
        "06/02/2026",
        "2026-6-2",
        "2026-06-02Z",
        "2026-06-02T14",
        "2026-06-02T24:00",
        "2026-06-02T14:60",
        "2026-06-02T23:59:60Z",
        "2026-06-02T14:23:05.",
        "2026-06-02T14:23:05.1234567890Z",
        "2026-06-02T14:23+24:00",
        "2026-06-02T14:23+02:60",
        "2026-06-02T14:23 +02:00",
        "2026-06-02\n2026-06-03",
        "\uff12026-06-02",
        "٢٠٢٦-٠٦-٠٢",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59-01:00",
        "7d",
        "now",
    ],
)
def test_other_text_is_refused_with_an_example(text: str) -> None:
    """Bad days, free words, ages and instants outside the years 1 to 9999 are refused; the message says so."""
    with pytest.raises(InputError, match="2026-06-02") as refused:
        parse_time(text)
    assert repr(text) in refused.value.message


@pytest.mark.parametrize("value", [None, 5, 5.0, True, b"2026-06-02", ["2026-06-02"], timedelta(1)])
def test_other_types_are_refused(value: object) -> None:
    """Only text, datetime and date are times."""
    with pytest.raises(InputError, match="2026-06-02"):
        parse_time(value)  # type: ignore[arg-type]  # the wrong type is what is tested


def test_a_pandas_time_is_read_and_an_empty_one_refused() -> None:
    """A pandas.Timestamp becomes a plain datetime; NaT, which calls itself a datetime, is refused."""
    pandas = pytest.importorskip("pandas")
    time = parse_time(pandas.Timestamp("2026-06-02T14:23:00.123456789", tz="Europe/Berlin"))
    assert type(time) is datetime
    assert format_time(time) == "2026-06-02T12:23:00.123456Z"
    with pytest.raises(InputError):
        parse_time(pandas.NaT)


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2026-06-02T14:23", "Europe/Berlin", "2026-06-02T12:23:00Z"),
        ("2026-06-02", "America/New_York", "2026-06-02T04:00:00Z"),
        ("2026-06-02T14:23Z", "Europe/Berlin", "2026-06-02T14:23:00Z"),
        ("2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30:00Z"),
        ("2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00Z"),
        ("2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z"),
        ("2011-12-30", "Pacific/Apia", "2011-12-30T10:00:00Z"),
    ],
)
def test_a_naive_time_is_read_in_the_zone(text: str, zone: str, expected: str) -> None:
    """A date is its first instant there; a wall time skipped or repeated has the offset before the change."""
    assert format_time(parse_time(text, zone=zone)) == expected


def test_datetime_and_date_values_are_read_like_their_text() -> None:
    """Naive ones in the zone, aware ones by their own."""
    assert format_time(parse_time(date(2026, 6, 2), zone="Europe/Berlin")) == "2026-06-01T22:00:00Z"
    assert format_time(parse_time(datetime(2026, 6, 2), zone="Europe/Berlin")) == "2026-06-01T22:00:00Z"
    assert parse_time(NOW, zone="Europe/Berlin") == NOW
    with pytest.raises(InputError):
        parse_time(datetime.min, zone="Asia/Tokyo")
    with pytest.raises(InputError):
        parse_time(datetime.max, zone="Pacific/Midway")


@pytest.mark.parametrize(
    "zone", ["", "Mars/Olympus", "../etc/passwd", "/etc/passwd", "Europe", "a\x00b", "x" * 999, "\ud800"]
)
def test_an_unknown_zone_is_refused_with_an_example(zone: str) -> None:
    """A zone that is no IANA name is bad input, not a crash."""
    with pytest.raises(InputError, match="Europe/Berlin"):
        parse_time("2026-06-02", zone=zone)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", "2026-06-09T12:30:15.25Z"),
        (" Today ", "2026-06-09T00:00:00Z"),
        ("YESTERDAY", "2026-06-08T00:00:00Z"),
        ("90s", "2026-06-09T12:28:45.25Z"),
        ("30min", "2026-06-09T12:00:15.25Z"),
        ("5 minutes ago", "2026-06-09T12:25:15.25Z"),
        ("12h", "2026-06-09T00:30:15.25Z"),
        ("an hour ago", "2026-06-09T11:30:15.25Z"),
        ("7d", "2026-06-02T12:30:15.25Z"),
        ("7D", "2026-06-02T12:30:15.25Z"),
        ("3 days ago", "2026-06-06T12:30:15.25Z"),
        ("0d", "2026-06-09T12:30:15.25Z"),
        ("2w", "2026-05-26T12:30:15.25Z"),
        ("2 weeks ago", "2026-05-26T12:30:15.25Z"),
        ("A Week Ago", "2026-06-02T12:30:15.25Z"),
        ("3mo", "2026-03-09T12:30:15.25Z"),
        ("1 month ago", "2026-05-09T12:30:15.25Z"),
        ("18mo", "2024-12-09T12:30:15.25Z"),
        ("1y", "2025-06-09T12:30:15.25Z"),
        ("2025y", "0001-06-09T12:30:15.25Z"),
        ("2026-06-02", "2026-06-02T00:00:00Z"),
        ("2026-06-02t14:23z", "2026-06-02T14:23:00Z"),
    ],
)
def test_ages_count_back_from_now(text: str, expected: str) -> None:
    """Words and ages mean that long before now, whatever their case; dates and instants are read as ever."""
    assert format_time(parse_when(text, now=NOW)) == expected


@pytest.mark.parametrize(
    ("now", "text", "expected"),
    [
        ("2026-03-31", "1mo", "2026-02-28"),
        ("2024-03-31", "1mo", "2024-02-29"),
        ("2024-02-29", "1y", "2023-02-28"),
        ("2024-02-29", "4y", "2020-02-29"),
        ("2026-01-31", "2mo", "2025-11-30"),
        ("2026-12-15", "12mo", "2025-12-15"),
    ],
)
def test_months_and_years_follow_the_calendar(now: str, text: str, expected: str) -> None:
    """The same day of the earlier month, or its last one."""
    assert parse_when(text, now=parse_time(now)) == parse_time(expected)


def test_days_and_months_are_those_of_the_zone() -> None:
    """`today` and the calendar of months are read where the store is, over clock changes too."""
    late = parse_time("2026-03-31T23:30Z")
    assert format_time(parse_when("today", now=late, zone="Europe/Berlin")) == "2026-03-31T22:00:00Z"
    assert format_time(parse_when("yesterday", now=late, zone="Europe/Berlin")) == "2026-03-30T22:00:00Z"
    assert format_time(parse_when("1mo", now=late, zone="Europe/Berlin")) == "2026-03-01T00:30:00Z"
    assert format_time(parse_when("3d", now=late, zone="Europe/Berlin")) == "2026-03-28T23:30:00Z"


@pytest.mark.parametrize("text", ["30m", "1M", "5 m ago"])
def test_a_bare_m_is_refused_with_both_readings(text: str) -> None:
    """Minutes or months: the caller has to say."""
    with pytest.raises(InputError, match=r"min or mo"):
        parse_when(text, now=NOW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "last spring",
        "eighty thousand years ago",
        "80000 years ago",
        "999999999d",
        "9999999999999999999999d",
        "2026y",
        "24400mo",
        "-7d",
        "7",
        "d",
        "ad",
        "a day",
        "7 d ago please",
        "tomorrow",
        "in 3 days",
        "1.5h",
        "7\u017f",
        "٣d",
        "2026-02-30",
    ],
)
def test_other_ages_are_refused_with_an_example(text: str) -> None:
    """What is no age, or reaches back before the year 1, is refused and the message shows a right one."""
    with pytest.raises(InputError, match=r"7d"):
        parse_when(text, now=NOW)


def test_a_time_without_zone_is_refused_where_an_instant_is_needed() -> None:
    """`now` and what is formatted or counted must be aware."""
    naive = datetime(2026, 6, 2)
    for call in (format_time, to_us, lambda time: parse_when("now", now=time)):
        with pytest.raises(InputError, match="zone"):
            call(naive)


@pytest.mark.parametrize("us", [2**63, -(2**63), 10**30, 1.5, "0", None])
def test_microseconds_outside_the_calendar_are_refused(us: object) -> None:
    """Too large, too small and not whole are bad input, never OverflowError."""
    with pytest.raises(InputError, match="microseconds"):
        from_us(us)  # type: ignore[arg-type]  # the wrong type is part of what is tested


@given(instants)
def test_text_and_time_are_inverse(time: datetime) -> None:
    """parse_time(format_time(t)) == t for every instant."""
    assert parse_time(format_time(time)) == time
    assert parse_when(format_time(time), now=NOW) == time


@given(instants)
def test_microseconds_and_time_are_inverse(time: datetime) -> None:
    """from_us(to_us(t)) == t, and the count is exact."""
    assert from_us(to_us(time)) == time
    assert from_us(to_us(time)).tzinfo is UTC
    assert timedelta(microseconds=to_us(time)) == time - datetime(1970, 1, 1, tzinfo=UTC)


@given(instants, instants)
def test_microseconds_keep_the_order(one: datetime, other: datetime) -> None:
    """Earlier times have smaller counts."""
    assert (to_us(one) < to_us(other)) == (one < other)


@given(st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31)), offsets)
def test_an_offset_never_changes_the_instant(local: datetime, offset: timezone) -> None:
    """Text, count and value agree whatever zone the instant is written in."""
    time = local.replace(tzinfo=offset)
    assert parse_time(time.isoformat()) == time
    assert parse_time(format_time(time)) == time
    assert from_us(to_us(time)) == time


@given(odd_texts, st.sampled_from(["UTC", "Asia/Tokyo", "America/New_York"]))
def test_any_text_is_read_or_refused(text: str, zone: str) -> None:
    """No text causes anything but a UTC time or an InputError."""
    for now in (NOW, datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        try:
            time = parse_when(text, now=now, zone=zone)
        except InputError:
            continue
        assert time.tzinfo is UTC


@given(st.sampled_from(["now", "today", "yesterday", "1s", "1mo", "9999y", "400000w"]), instants, st.integers(0, 10**9))
def test_ages_at_the_edges_are_read_or_refused(text: str, now: datetime, count: int) -> None:
    """Near the years 1 and 9999 ages give a time or an InputError, never OverflowError."""
    for age in (text, f"{count}{text.lstrip('0123456789')}"):
        for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Midway"):
            for at in (now, datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
                try:
                    assert parse_when(age, now=at, zone=zone).tzinfo is UTC
                except InputError:
                    continue
