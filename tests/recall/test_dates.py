"""Dates of questions: what is read, what is not, and how days fit."""

from __future__ import annotations

import doctest
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.recall.date_fit import date_match, local_days, within
from grail_mem.support import dates as module
from grail_mem.support.dates import DateAsked, read_dates

WEDNESDAY = datetime(2023, 10, 18, 12, tzinfo=UTC)


def read(text: str, asked_at: datetime = WEDNESDAY) -> tuple[DateAsked, ...]:
    return read_dates(text, asked_at=asked_at, zone=UTC)


def fit(text: str, *days: str) -> list[float]:
    numbers = np.array(days, "datetime64[D]").astype(np.int32)
    return [round(float(value), 3) for value in date_match(read(text), numbers)]


def test_the_examples() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("text", "begin", "end", "grain"),
    [
        ("on 8 May 2023", "2023-05-08", "2023-05-09", "day"),
        ("on May 8, 2023?", "2023-05-08", "2023-05-09", "day"),
        ("the 8th of may, 2023", "2023-05-08", "2023-05-09", "day"),
        ("on May 8th 2023", "2023-05-08", "2023-05-09", "day"),
        ("on May 8-10, 2023", "2023-05-08", "2023-05-09", "day"),
        ("on 8 Sept. 2023", "2023-09-08", "2023-09-09", "day"),
        ("on 2023-05-08", "2023-05-08", "2023-05-09", "day"),
        ("on 2023/5/8?", "2023-05-08", "2023-05-09", "day"),
        ("in May 2023", "2023-05-01", "2023-06-01", "month"),
        ("in December of 2023", "2023-12-01", "2024-01-01", "month"),
        ("in Feb, 2024", "2024-02-01", "2024-03-01", "month"),
        ("in 2023", "2023-01-01", "2024-01-01", "year"),
        ("in summer 2022", "2022-06-01", "2022-09-01", "season"),
        ("the winter of 2022", "2022-12-01", "2023-03-01", "season"),
        ("yesterday", "2023-10-17", "2023-10-18", "day"),
        ("the day before yesterday", "2023-10-16", "2023-10-17", "day"),
        ("today", "2023-10-18", "2023-10-19", "day"),
        ("last night", "2023-10-17", "2023-10-18", "day"),
        ("this morning", "2023-10-18", "2023-10-19", "day"),
        ("last Tuesday", "2023-10-17", "2023-10-18", "day"),
        ("last Wednesday", "2023-10-11", "2023-10-12", "day"),
        ("last Thursday", "2023-10-12", "2023-10-13", "day"),
        ("this Monday", "2023-10-16", "2023-10-17", "day"),
        ("last week", "2023-10-09", "2023-10-16", "week"),
        ("this week", "2023-10-16", "2023-10-23", "week"),
        ("last weekend", "2023-10-14", "2023-10-16", "range"),
        ("this weekend", "2023-10-21", "2023-10-23", "range"),
        ("last month", "2023-09-01", "2023-10-01", "month"),
        ("this month", "2023-10-01", "2023-11-01", "month"),
        ("last year", "2022-01-01", "2023-01-01", "year"),
        ("last summer", "2023-06-01", "2023-09-01", "season"),
        ("last fall", "2022-09-01", "2022-12-01", "season"),
        ("last winter", "2022-12-01", "2023-03-01", "season"),
        ("this winter", "2023-12-01", "2024-03-01", "season"),
        ("last May", "2023-05-01", "2023-06-01", "month"),
        ("last November", "2022-11-01", "2022-12-01", "month"),
        ("between June 2023 and May 2022", "2022-05-01", "2023-07-01", "range"),
        ("since 3 May 2031", "2031-05-03", "2031-05-04", "day"),
        ("3 days ago", "2023-10-15", "2023-10-16", "day"),
        ("two weeks ago", "2023-10-01", "2023-10-08", "week"),
        ("a couple of weeks ago", "2023-10-01", "2023-10-08", "week"),
        ("ten months ago", "2022-12-01", "2023-01-01", "month"),
        ("a year ago", "2022-01-01", "2023-01-01", "year"),
        ("in the last 10 days", "2023-10-08", "2023-10-19", "range"),
        ("over the past two months", "2023-08-18", "2023-10-19", "range"),
        ("in the last two years", "2021-10-18", "2023-10-19", "range"),
        ("since March", "2023-03-01", "2023-10-19", "range"),
        ("since November", "2022-11-01", "2023-10-19", "range"),
        ("since 3 May 2022", "2022-05-03", "2023-10-19", "range"),
        ("since 2021", "2021-01-01", "2023-10-19", "range"),
        ("between March and May", "2023-03-01", "2023-06-01", "range"),
        ("from November to March", "2022-11-01", "2023-04-01", "range"),
        ("between 3 May 2022 and 2022-06-01", "2022-05-03", "2022-06-02", "range"),
        ("before 3 May 2023", None, "2023-05-03", "range"),
        ("after 3 May 2023", "2023-05-04", None, "range"),
        ("before March", None, "2023-03-01", "range"),
        ("the week before 3 May 2023", "2023-05-03", "2023-05-04", "day"),
        ("last Friday on 20 January, 2022", "2022-01-20", "2022-01-21", "day"),
    ],
)
def test_dates(text: str, begin: str | None, end: str | None, grain: str) -> None:
    (found,) = read(f"What happened {text}?")
    assert (found.begin, found.end, found.grain) == (
        begin and date.fromisoformat(begin),
        end and date.fromisoformat(end),
        grain,
    )


@pytest.mark.parametrize(
    ("text", "month", "day"),
    [
        ("in May", 5, None),
        ("in early march", 3, None),
        ("on 8 May", 5, 8),
        ("on Aug 12", 8, 12),
        ("during June", 6, None),
    ],
)
def test_a_date_without_a_year_is_of_any(text: str, month: int, day: int | None) -> None:
    (found,) = read(f"What happened {text}?")
    assert (found.begin, found.end, found.month, found.day) == (None, None, month, day)


@pytest.mark.parametrize(
    "text",
    [
        "May I ask?", "what may she do", "did they march", "the march on the city", "in the rain, may I", "sun and sat",
        "eighty thousand years ago", "80,000 years ago", "9999 years ago", "5 thousand days ago", "900 years ago",
        "on 2026-13-40", "on 31 February 2023", "on 31 February", "on 0000-01-01", "on 9999-12-30", "in year 0", "in 9999", "in 1850",
        "room 12023", "v2023.1", "$2000", "2000%", "tomorrow", "next week", "days ago", "many years ago", "decades",
        "since the party", "before lunch", "between us", "", "last", "this", "a mar on jan",
    ],
)  # fmt: skip
def test_no_dates(text: str) -> None:
    assert read(text) == ()


@pytest.mark.parametrize("year", [1, 1899, 2100, 9999])
@pytest.mark.parametrize(
    "text", ["since December", "since 29 February", "last winter", "12 years ago", "after January"]
)
def test_asking_at_the_ends_of_the_calendar_does_no_harm(text: str, year: int) -> None:
    for month, day in ((1, 1), (12, 31)):
        read(text, datetime(year, month, day, tzinfo=UTC))


def test_the_calendar_of_the_zone_counts() -> None:
    late = datetime(2023, 10, 18, 23, 30, tzinfo=UTC)
    (found,) = read_dates("yesterday", asked_at=late, zone=ZoneInfo("Asia/Tokyo"))
    assert found.begin == date(2023, 10, 18)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("on 8 May 2023", {
            "2023-04-27": 0, "2023-04-28": .3, "2023-05-07": .3, "2023-05-08": 1, "2023-05-09": 1, "2023-05-10": .8,
            "2023-05-18": .8, "2023-05-19": .5, "2023-06-12": .5, "2023-06-13": 0, "2022-05-08": 0,
        }),
        ("on 8 May", {"2023-05-08": 1, "2022-05-09": 1, "2021-05-18": .8, "1969-05-07": .3, "2023-08-01": 0}),
        ("on 29 February", {"2024-02-29": 1, "2023-03-01": 0, "2024-03-05": .8}),
        ("in May 2023", {"2023-04-30": 0, "2023-05-01": 1, "2023-05-31": 1, "2023-06-30": .6, "2023-07-01": 0, "2022-05-05": 0}),
        ("in May", {"2023-05-01": 1, "2021-06-30": .6, "1960-05-31": 1, "2023-04-30": 0}),
        ("in December", {"2022-12-31": 1, "2023-01-01": 0}),
        ("in December 2022", {"2022-12-31": 1, "2023-01-31": .6, "2023-02-01": 0}),
        ("in 2023", {"2022-12-31": 0, "2023-01-01": .3, "2023-12-31": .3, "2024-01-01": 0}),
        ("in May 2023 or on 3 June 2023", {"2023-05-31": 1, "2023-06-03": 1, "2023-06-14": .6, "2023-07-05": .5}),
        ("last week", {"2023-10-08": 0, "2023-10-09": 1, "2023-10-15": 1, "2023-10-16": .6, "2023-10-22": .6, "2023-10-23": 0}),
        ("last summer", {"2023-05-31": 0, "2023-06-01": 1, "2023-09-07": .6, "2023-09-08": 0}),
        ("before 3 May 2023", {"1900-01-01": 1, "2023-05-02": 1, "2023-05-03": .6, "2023-05-10": 0}),
        ("after 3 May 2023", {"2023-05-03": 0, "2023-05-04": 1, "2200-01-01": 1}),
        ("what?", {"2023-05-03": 0}),
    ],
)  # fmt: skip
def test_days_fit(text: str, values: dict[str, float]) -> None:
    assert fit(text, *values) == list(values.values())


def test_no_passages_have_no_values() -> None:
    values = date_match(read("after May 2023 or on 8 May or in June"), np.zeros(0, np.int32))
    assert (values.dtype, values.shape) == (np.float32, (0,))


_PIECES = "in since before after between and from to last past this the 31 8th 0 99 2023 9999 1900 May march December Feb. summer winter week days years ago two a couple of weekend Tuesday 2023-05-08 0000-00-00 , - yesterday"


@given(
    st.lists(st.sampled_from(_PIECES.split())).map(" ".join) | st.text(max_size=100),
    st.datetimes(timezones=st.just(UTC)),
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5),
)
def test_any_text_at_any_time_is_read(text: str, asked_at: datetime, days: list[int]) -> None:
    """And its dates give each day a value from 0 to 1."""
    found = read_dates(text, asked_at=asked_at, zone=ZoneInfo("America/New_York"))
    values = date_match(found, np.array(days, np.int32))
    assert ((values >= 0) & (values <= 1)).all()
    assert all(d.begin < d.end for d in found if d.begin and d.end)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("on 3 May 2023", ["2023-05-03"], ["2023-05-02", "2023-05-04", "2022-05-03"]),
        ("in May 2023", ["2023-05-01", "2023-05-31"], ["2023-04-30", "2023-06-01"]),
        ("on 3 May", ["2021-05-03", "2023-05-03"], ["2023-05-04", "2023-06-03"]),
        ("in 2022", ["2022-01-01", "2022-12-31"], ["2021-12-31", "2023-01-01"]),
        ("since 3 May 2023", ["2023-05-03", "2023-10-18"], ["2023-05-02"]),
        ("what is it", ["1970-01-01", "2050-01-01"], []),
    ],
)
def test_days_within_are_exactly_those_named(text: str, inside: list[str], outside: list[str]) -> None:
    asked = read(text)
    days = np.array([*inside, *outside], "datetime64[D]").astype(np.int32)
    assert within(asked, days).tolist() == [True] * len(inside) + [False] * len(outside)


@given(
    st.datetimes(datetime(1972, 1, 1), datetime(2060, 1, 1)),
    st.sampled_from(["UTC", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu"]),
)
def test_the_day_of_an_instant_is_that_of_its_zone(when: datetime, name: str) -> None:
    zone = ZoneInfo(name)
    us = int((when.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))
    day = when.replace(tzinfo=UTC).astimezone(zone).date()
    assert local_days(np.array([us]), zone).tolist() == [day.toordinal() - date(1970, 1, 1).toordinal()]
