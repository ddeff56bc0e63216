"""Counting tokens: the estimate, and counters of the caller."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem import InputError
from grail_mem.recall.budget import CallableCounter, Counter, Estimate, counter_of

# Tokens by o200k, llama3 and qwen3, fewest and most.
MEASURED = {
    "The database will be Postgres.": (7, 7),
    "We looked at three databases for two weeks.": (9, 9),
    "Die Datenbank wird Postgres, nicht MongoDB.": (10, 11),
    "Базой данных будет Postgres.": (8, 8),
    "数据库将使用 Postgres，因为连接很便宜。": (11, 11),
    "データベースはPostgresになります。": (7, 9),
}


@pytest.mark.parametrize("text", MEASURED)
def test_the_estimate_is_near_tokenizers_and_rather_above(text: str) -> None:
    """Not below the fewest of three tokenizers, nor twice the most."""
    fewest, most = MEASURED[text]
    assert fewest <= Estimate().count(text) <= 2 * most


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_estimate_of_parts_is_about_that_of_the_whole(a: str, b: str) -> None:
    """Joining two texts neither hides tokens nor makes many; no text but the empty one and single spaces is free."""
    count = Estimate().count
    assert count(a + b) <= count(a) + count(b) + 2 + len(a + b) // 4
    assert count(a + b) >= max(count(a), count(b)) - 2
    assert count(a) > 0 or not a.strip()


def test_long_runs_are_not_one_word() -> None:
    """A key, a hash or text without spaces costs by its length."""
    for char in "aZ7京\u0e01😀-":
        assert Estimate().count(char * 4000) >= 1000


def test_any_function_counts() -> None:
    """It is named, and it is no estimate."""
    counter = counter_of(len)
    assert (counter.name, counter.is_estimate, counter.count("abc")) == ("len", False, 3)
    assert counter_of(None).is_estimate
    assert counter_of(counter) is counter
    assert isinstance(CallableCounter(len, name="o200k"), Counter)
    assert CallableCounter(len, name="o200k").name == "o200k"


@pytest.mark.parametrize("made", [-1, 1.5, None, True, "3"])
def test_a_counter_that_does_not_count_is_named(made: Any) -> None:
    """Instead of a pack over its budget."""
    with pytest.raises(InputError, match="returned"):
        counter_of(lambda text: made).count("x")
