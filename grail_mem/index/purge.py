"""Purge: take out of everything that is derived for ranked recall what no observation says any more.

Knows nothing of why it went.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from grail_mem.index.catalog import Held, held, purge_catalog
from grail_mem.index.document import embedded_texts
from grail_mem.index.vector_files import drop_stale_texts, stale_texts
from grail_mem.index.vectors import text_digest
from grail_mem.model.observation import Observation
from grail_mem.query.view import View

if TYPE_CHECKING:
    import numpy as np

_BATCH: Final = 1_000


@dataclass(frozen=True, slots=True)
class Stale:
    """What a purge takes out.

    Attributes:
        segments: Names of the segments that are made anew.
        n_vectors: Vectors, over all models.
    """

    segments: tuple[str, ...]
    n_vectors: int


def stale(view: View, without: Collection[str] = ()) -> Stale:
    """What a purge would take out if the observations with these ids were not there."""
    if not view.layout.index.is_dir() and not view.layout.vectors.is_dir():
        return Stale((), 0)
    there = held(view, without)
    n_vectors = stale_texts(view.layout.vectors, _live_texts(view, there, without)) if _has_vectors(view) else 0
    return Stale(tuple(there.stale), n_vectors)


def purge(view: View) -> None:
    """Take out what no observation says any more; nothing may be written meanwhile.

    Args:
        view: The store, brought up to date.
    """
    purge_catalog(view)
    if _has_vectors(view):
        drop_stale_texts(view.layout.vectors, _live_texts(view, held(view), ()))


def purge_if_erased(view: View, n_erased: int) -> None:
    """Purge when more was erased than that, so that what was made from it meanwhile goes, too.

    Args:
        view: The store.
        n_erased: Receipts that were known before something was derived.
    """
    view.refresh()
    if len(view.receipts) > n_erased:
        purge(view)


def _has_vectors(view: View) -> bool:
    return view.layout.vectors.is_dir()


def _live_texts(view: View, there: Held, without: Collection[str]) -> np.ndarray:
    """Digests of the texts that observations have, uint64."""
    import numpy as np

    parts = [
        segment.said.digest[np.repeat(kept, np.diff(segment.said.first_passage))]
        for segment, kept in zip(there.segments.values(), there.kept, strict=True)
    ]
    said = [text_digest(text) for o in _others(view, there, without) for text in embedded_texts(o)]
    return np.unique(np.concatenate([*parts, np.array(said, np.uint64)]))


def _others(view: View, there: Held, without: Collection[str]) -> Iterator[Observation]:
    """The observations that no segment holds."""
    reader = view.reader
    for start in range(0, len(there.missing), _BATCH):
        yield from reader.observations(there.missing[start : start + _BATCH]) if reader else ()
    yield from (row.observation for row in view.delta.rows.values() if row.observation.id not in without)
