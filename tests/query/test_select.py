"""Rows of the snapshot by filter: each once, whatever way the index is read."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from grail_mem import Memory
from grail_mem.model.filter import Order

TAGS = ["a", "b", "c", "d", "e", "f"]


@pytest.mark.parametrize("order", get_args(Order))
def test_a_row_with_several_of_the_rare_terms_comes_once(tmp_path: Path, order: str) -> None:
    """Rows lie in the postings of each of their tags, all of which are asked for; pages end between copies of a row."""
    with Memory(tmp_path) as memory:
        memory.add_observations(
            [
                {
                    "content": f"note {i}",
                    "tags": TAGS[: i % 7],
                    "observed_at": f"2026-06-{1 + i:02}",
                    "confidence": i / 20,
                }
                for i in range(20)
            ]
        )
        memory.compact()
        memory.hide(memory.recall(tags=["f"]).observations[0].id)
        tagged = [o.id for o in memory.recall(order=order).observations if o.tags]
        assert [o.id for o in memory.recall(tags=TAGS, order=order).observations] == tagged

        paged: list[str] = []
        cursor = None
        while True:
            part = memory.recall(tags=TAGS, order=order, limit=2, cursor=cursor)
            paged += [o.id for o in part.observations]
            cursor = part.cursor
            if cursor is None:
                break
        assert paged == tagged

        nothing = memory.recall(tags=TAGS, since="2026-06-15", before="2026-06-16", order=order)
        assert nothing.abstention is not None
        assert f"tags alone {len(tagged)}" in nothing.abstention.detail
