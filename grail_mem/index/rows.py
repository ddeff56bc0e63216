"""Rows of a snapshot and the documents that are made of them.

Knows nothing of segments and of the delta.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from grail_mem.index.document import Document, document
from grail_mem.query.view import View

if TYPE_CHECKING:
    import numpy as np

NOWHERE: Final = -1
_AT_ONCE: Final = 500
"""Observations that are held as objects at a time; chosen."""


def matched(held: Sequence[np.ndarray], keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the row that each document is.

    Args:
        held: Keys of documents, a group each.
        keys: Keys of rows.

    Returns:
        The row of each document, int32, -1 for none, and the rows that no document is, ascending. Rows with the same key,
        files with the same bytes, are taken in order.
    """
    import numpy as np

    documents = told_apart(np.concatenate([np.zeros(0, np.uint64), *held]))
    rows = told_apart(keys)
    row = np.full(len(documents), NOWHERE, np.int32)
    if not len(documents) or not len(rows):
        return row, np.arange(len(rows))
    order = np.argsort(documents, kind="stable")
    at = np.minimum(np.searchsorted(documents[order], rows), len(order) - 1)
    found = documents[order[at]] == rows
    row[order[at[found]]] = np.flatnonzero(found)
    return row, np.flatnonzero(~found)


def told_apart(keys: np.ndarray) -> np.ndarray:
    """Keys of which the second, third, … equal one is made another, by its order."""
    import numpy as np

    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.ones(len(keys), bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    if begins.all():
        return keys
    place = np.arange(len(keys))
    nth = np.empty(len(keys), np.uint64)
    nth[order] = (place - np.maximum.accumulate(np.where(begins, place, 0))).astype(np.uint64)
    made: np.ndarray = keys + nth * np.uint64(0xD6E8FEB86659FD93)
    return made


def documents_of_rows(view: View, rids: Sequence[int]) -> Iterator[Document]:
    """The documents of rows of the snapshot, in the order asked for."""
    reader = view.live_base()
    if reader is None:
        return
    for start in range(0, len(rids), _AT_ONCE):
        yield from map(document, reader.observations(rids[start : start + _AT_ONCE]))


def distinct(numbers: np.ndarray) -> np.ndarray:
    """The numbers, each once, ascending; many times faster than `np.unique`, which hashes integers first."""
    import numpy as np

    ordered = np.sort(numbers, axis=None)
    begins = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return ordered[begins]


def among(numbers: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Which of the numbers are among some that ascend, bool."""
    import numpy as np

    if not len(known):
        return np.zeros(numbers.shape, bool)
    found: np.ndarray = known[np.minimum(np.searchsorted(known, numbers), len(known) - 1)] == numbers
    return found


def expanded(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The numbers of several ranges behind one another, int64."""
    import numpy as np

    lengths = (end - begin).astype(np.int64)
    skipped = np.cumsum(lengths) - lengths
    made: np.ndarray = np.repeat(begin - skipped, lengths) + np.arange(int(lengths.sum()))
    return made
