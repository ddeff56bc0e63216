"""Faults of time that other systems had."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fault_stores import titles, write

from grail_mem import InputError, Memory

OUT_OF_REACH = [
    "eighty thousand years ago",
    "80000 years ago",
    "80000y",
    "999999999 days ago",
    "0000-01-01",
    "-0044-03-15",
    "44 BC",
    "10000-01-01",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-12:00",
    "99999999999999999999",
]


@pytest.mark.parametrize("text", OUT_OF_REACH)
def test_f32_a_time_out_of_reach_crashes_nothing(tmp_path: Path, text: str) -> None:
    """Far times in a text are text; as a filter or field they are refused; in a file they are reported and left out."""
    write(
        tmp_path,
        "alpha/hand.md",
        f"---\ntitle: hand {text}\nobserved_at: {text}\nexpires_at: '{text}'\n---\nSince {text}.\n",
    )
    with Memory(tmp_path) as memory:
        memory.add_observation(title=f"ours {text}", content=f"Painted {text}.", category="beta")
        for name in ("since", "before", "as_of"):
            with pytest.raises(InputError, match=name):
                memory.recall(**{name: text})
        for name in ("observed_at", "valid_from", "valid_until", "expires_at", "review_at"):
            with pytest.raises(InputError, match=name):
                memory.add_observation(content="x", **{name: text})
        memory.compact()
        assert titles(memory, text=text) == sorted([f"hand {text}", f"ours {text}"])
        assert titles(memory, since="2000-01-01") == sorted([f"hand {text}", f"ours {text}"])
        hand = memory.recall(category="alpha").observations[0]
        assert hand.expires_at is None
        assert {p.code for p in memory.check().problems} == {"bad_time"}
        assert memory.recall().df().shape[0] == 2


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "1969-12-31T23:59:59Z", "1582-10-10"]
)
def test_f32_the_ends_of_time_are_exact(tmp_path: Path, text: str) -> None:
    """The first and the last instant there are come back exactly from file, delta, snapshot, SQL and data frame."""
    with Memory(tmp_path) as memory:
        id_ = memory.add_observation(title="t", content="c", category="alpha", observed_at=text, valid_from=text).id
        for _ in range(2):
            found = memory.get(id_)
            assert (
                found.observed_at == found.valid_from == memory.recall(include_history=True).observations[0].observed_at
            )
            assert found.observed_at.isoformat().startswith(text.rstrip("Z")[:19])
            assert titles(memory, since=text, include_history=True) == ["t"]
            assert titles(memory, before=text) == []
            assert titles(memory, as_of=text) == ["t"]
            year = memory.sql("SELECT year(observed_at) AS y FROM observations").column(0)[0].as_py()
            assert year == int(text[:4])
            assert len(memory.recall(include_history=True).df()) == 1
            memory.compact()


@pytest.mark.parametrize(
    "text",
    ["last spring", "2026-13-40", "2026-02-30", "2026-06-02T25:00", "soon", "next week", "02/06/2026", "June 2", "7", "-7d",
     "7x", "5m", "2026", "2026-06", "1e3", "", "  ", "tomorrow", "٢٠٢٦-٠٦-٠٢", "2026-06-02; DROP", "\x00"],
)  # fmt: skip
def test_f33_words_that_are_no_time_are_refused_with_an_example(tmp_path: Path, text: str) -> None:
    """A time that cannot be read is an error that shows a right one, never a filter that matches nothing."""
    write(tmp_path, "alpha/x.md", "---\ntitle: t\n---\nbody\n")
    with Memory(tmp_path) as memory:
        for name in ("since", "before", "as_of"):
            with pytest.raises(InputError, match=name) as caught:
                memory.recall(**{name: text})
            assert "Write" in str(caught.value) or "such as" in str(caught.value)
        with pytest.raises(InputError):
            memory.add_observation(content="c", observed_at=text)


@pytest.mark.parametrize("value", [7, 1.5, True, b"2026-06-02", ["2026-06-02"], {"$gt": "2026"}, object()])
def test_f33_values_that_are_no_time_are_refused(tmp_path: Path, value: Any) -> None:
    """A number or a structure in place of a time is a typed error."""
    with Memory(tmp_path) as memory:
        for name in ("since", "before", "as_of"):
            with pytest.raises(InputError, match=name):
                memory.recall(**{name: value})


def test_f33_a_period_that_holds_no_time_is_refused(tmp_path: Path) -> None:
    """`since` at or after `before` can match nothing and is an error."""
    with Memory(tmp_path) as memory:
        for since, before in (("2026-06-02", "2026-06-01"), ("2026-06-02", "2026-06-02"), ("1d", "2d")):
            with pytest.raises(InputError, match="not earlier"):
                memory.recall(since=since, before=before)


@pytest.mark.parametrize(
    ("begin", "end"),
    [("2026-06-02", "2026-06-01"), ("2026-06-02", "2026-06-02"), ("2026-06-02T10:00:00+02:00", "2026-06-02T08:00:00Z")],
)
def test_f34_an_interval_that_ends_before_it_begins_is_refused(tmp_path: Path, begin: str, end: str) -> None:
    """No way of writing stores an interval that holds at no time, equal bounds included; made by hand it is named."""
    write(tmp_path, "alpha/hand.md", f"---\ntitle: hand\nvalid_from: {begin}\nvalid_until: {end}\n---\nbody\n")
    with Memory(tmp_path) as memory:
        with pytest.raises(InputError, match="valid_until"):
            memory.add_observation(content="c", valid_from=begin, valid_until=end)
        id_ = memory.add_observation(title="ours", content="c", valid_from=begin).id
        with pytest.raises(InputError, match="valid_until"):
            memory.update(id_, valid_until=end)
        other = memory.add_observation(title="other", content="d", valid_until=end).id
        with pytest.raises(InputError, match="valid_until"):
            memory.update(other, valid_from=begin)
        assert memory.get(id_).valid_until is None
        (problem,) = memory.check().problems
        assert (problem.code, problem.where) == ("inverted_interval", "memories/alpha/hand.md")
        memory.compact()
        assert "hand" in titles(memory)
        assert titles(memory, category="alpha", as_of="2100-01-01") == ["hand"]


def test_f35_event_time_and_record_time_are_two_times(tmp_path: Path) -> None:
    """Old events keep their time, whatever the time of writing, reading, editing, moving, syncing and compacting."""
    begin = datetime.now(UTC)
    write(tmp_path, "alpha/old.md", "---\ntitle: by hand\nobserved_at: 2001-02-03T04:05:06Z\n---\nbody\n")
    write(tmp_path, "alpha/created.md", "---\ntitle: created\ncreated: 2002-02-03\n---\nbody\n")
    write(tmp_path, "alpha/2003-02-03 named.md", "---\ntitle: named\n---\nbody\n")
    with Memory(tmp_path) as memory:
        id_ = memory.add_observation(title="ours", content="c", category="alpha", observed_at="2000-02-03").id
        now = memory.add_observation(title="now", content="c", category="alpha").id
        expected = {"ours": 2000, "by hand": 2001, "created": 2002, "named": 2003, "now": begin.year}

        def years() -> dict[str, int]:
            return {o.title: o.observed_at.year for o in memory.recall().observations}

        assert years() == expected
        memory.sync(stamp=True)
        memory.update(id_, content="changed")
        memory.move(id_, "beta")
        memory.compact()
        assert years() == expected
        memory.rebuild()
        assert years() == expected
        assert memory.get(id_).observed_at == datetime(2000, 2, 3, tzinfo=UTC)
        assert memory.get(id_).recorded_at >= begin.replace(microsecond=0)
        assert memory.get(now).observed_at == memory.get(now).recorded_at
        assert titles(memory, before="2002-01-01") == ["by hand", "ours"]
        assert [o.title for o in memory.recall(order="oldest", limit=2).observations] == ["ours", "by hand"]
        found = memory.recall(order="recorded", limit=1).observations[0]
        assert found.recorded_at == max(o.recorded_at for o in memory.recall().observations)


def test_f35_two_dated_facts_of_one_text_stay_two(tmp_path: Path) -> None:
    """The same statement seen at two times is two observations; neither date is lost to the other."""
    with Memory(tmp_path) as memory:
        for day in ("2020-01-01", "2026-01-01"):
            assert memory.add_observation(title="t", content="c", category="alpha", observed_at=day).created
        memory.compact()
        assert not memory.add_observation(title="t", content="c", category="alpha", observed_at="2020-01-01").created
        row = memory.sql("SELECT min(observed_at) AS a, max(observed_at) AS b FROM observations").to_pylist()[0]
        assert (row["a"].year, row["b"].year) == (2020, 2026)
