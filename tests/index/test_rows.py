"""Numbers, each once, and which are among others: as numpy's slower functions say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.index.rows import among, distinct

numbers = st.lists(st.integers(0, 20), max_size=40)


@given(numbers, numbers, st.sampled_from([np.int32, np.int64, np.uint64]))
def test_distinct_and_among_say_what_numpy_says(some: list[int], others: list[int], kind: type[np.generic]) -> None:
    one, other = np.array(some, kind), np.array(others, kind)
    assert distinct(one).tolist() == np.unique(one).tolist()
    assert distinct(one).dtype == kind
    assert among(one, distinct(other)).tolist() == np.isin(one, other).tolist()


@pytest.mark.parametrize("shape", [(0, 7), (3, 2)])
def test_among_keeps_the_shape_and_distinct_flattens(shape: tuple[int, int]) -> None:
    table = np.arange(shape[0] * shape[1]).reshape(shape)
    assert among(table, np.array([1])).shape == among(table, np.zeros(0, np.int64)).shape == shape
    assert distinct(table).tolist() == table.ravel().tolist()
