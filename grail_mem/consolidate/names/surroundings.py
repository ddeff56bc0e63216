"""Surroundings: whether the same is said where one name stands and where another does, by the vectors of the search index.

Nothing is embedded here: what has no vector yet says nothing. Knows nothing of how names are alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from grail_mem.consolidate.names.entity_table import EntityTable
from grail_mem.consolidate.names.texts import Said, texts
from grail_mem.consolidate.reading import Reading
from grail_mem.index.document import embedded_texts
from grail_mem.index.vectors import text_digest

if TYPE_CHECKING:
    import numpy as np

MAX_OBSERVATIONS: Final = 20
"""Observations of one name that are looked at; chosen: their mean hardly moves beyond."""
SAMPLE: Final = 500
"""Observations of which the mean is what the whole store is about; chosen: more move it by less than .01."""
LEAST_OBSERVATIONS: Final = 2
"""Observations that each name needs of its own; as in tests/benchmarks/alias_vectors.py, by which the bounds were set."""


def nearness(reading: Reading, table: EntityTable, pairs: Iterable[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """The cosine of the mean vectors of what names the one and of what names the other, by pair; -1 to 1.

    The mean of the store is taken off first: where all is about one subject, being about it says nothing. Observations that name both are left out. Pairs of which one has too few with a vector are left out, too.
    """
    if reading.vectors is None or not len(reading.vectors):
        return {}
    sides = {places: sides for places in pairs if (sides := _apart(table, *places))}
    wanted: dict[int, set[str]] = defaultdict(set)
    for places, two in sides.items():
        for number, observations in zip(places, two, strict=True):
            for observation in observations:
                wanted[observation].add(table.entities[number].name.casefold())
    every = range(0, len(table.ids), max(1, len(table.ids) // SAMPLE))
    vectors = _vectors(
        reading, table, {observation: wanted.get(observation, set()) for observation in {*every, *wanted}}
    )
    sample = [vectors[observation] for observation in every if observation in vectors]
    middle = sum(sample) / max(1, len(sample))
    found: dict[tuple[int, int], float] = {}
    for places, two in sides.items():
        means = [_mean([vectors[o] - middle for o in observations if o in vectors]) for observations in two]
        if means[0] is not None and means[1] is not None:
            found[places] = round(float(means[0] @ means[1]), 3)
    return found


def _apart(table: EntityTable, left: int, right: int) -> tuple[list[int], list[int]] | None:
    """The observations that name the one and not the other, as places in the table; None when they are too few."""
    ours, theirs = table.entities[left].seen, table.entities[right].seen
    both = set(ours) & set(theirs)
    two = [o for o in ours if o not in both][:MAX_OBSERVATIONS], [o for o in theirs if o not in both][:MAX_OBSERVATIONS]
    return two if min(map(len, two)) >= LEAST_OBSERVATIONS else None


def _vectors(reading: Reading, table: EntityTable, wanted: dict[int, set[str]]) -> dict[int, np.ndarray]:
    """One vector for each observation, of the passages that hold a name which is asked for, or else of its first."""
    import numpy as np

    store = reading.vectors
    assert store is not None  # noqa: S101  asked by the only caller
    at = {table.ids[observation]: observation for observation in wanted}
    found: dict[int, np.ndarray] = {}
    for id_, title, content in texts(reading, list(at)):
        said = list(embedded_texts(Said(title, content)))
        names = wanted[at[id_]]
        chosen = [text for text in said if any(name in text.casefold() for name in names)] or said[:1]
        rows = store.rows(np.array([text_digest(text) for text in chosen], np.uint64))
        if (rows >= 0).any():
            found[at[id_]] = store.vectors(rows[rows >= 0]).mean(axis=0)
    return found


def _mean(vectors: list[np.ndarray]) -> np.ndarray | None:
    """The mean, of length one; None of too few, or when they cancel each other out."""
    import numpy as np

    if len(vectors) < LEAST_OBSERVATIONS:
        return None
    mean = np.mean(vectors, axis=0)
    length = float(np.linalg.norm(mean))
    return mean / length if length else None
