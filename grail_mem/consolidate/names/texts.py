"""Texts of observations, read a batch at a time.

Knows nothing of what is looked for in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from grail_mem.consolidate.reading import Reading

BATCH: Final = 4096
"""Observations whose text is in memory at once; chosen: some megabytes, and few enough questions to the store."""

_TEXTS: Final = """
SELECT id, title, content FROM rows
WHERE id BETWEEN $first AND $last AND id IN (SELECT unnest($ids::VARCHAR[])) ORDER BY id
"""


class Said(NamedTuple):
    """What an observation says."""

    title: str
    content: str


def texts(reading: Reading, ids: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Id, title and content of observations, in order of id; those that are not there are left out."""
    wanted = sorted(set(ids))
    for begin in range(0, len(wanted), BATCH):
        part = wanted[begin : begin + BATCH]
        answer = reading.ask(_TEXTS, {"first": part[0], "last": part[-1], "ids": part})
        yield from zip(*(column.to_pylist() for column in answer.columns), strict=True)


def window(text: str, name: str, chars: int) -> str:
    """The part of a text around a name, on one line and at most so long; its beginning when the name is not in it."""
    line = " ".join(text.split())
    at = max(0, line.casefold().find(name.casefold()))
    begin = max(0, min(at - chars // 3, len(line) - chars))
    return line[begin : begin + chars]
