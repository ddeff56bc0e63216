"""Conflict companions: whoever gets a disputed observation gets what says otherwise beside it, if it may be returned.

Knows nothing of how hits were found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from grail_mem.index.corpus import observations_at
from grail_mem.model.authority import authority_of
from grail_mem.model.observation import Observation
from grail_mem.query.view import View
from grail_mem.recall.hit import Hit, hit_of
from grail_mem.recall.ranked import Searcher
from grail_mem.store.files import FileState

if TYPE_CHECKING:
    import numpy as np

MOST: Final = 5
"""Companions of one hit: those of the most authority; chosen, so that a dispute of many does not fill an answer."""
VIA: Final = "conflict"


def with_companions(
    view: View, searcher: Searcher, hits: Sequence[Hit], allowed: np.ndarray
) -> tuple[list[Hit], dict[str, FileState]]:
    """Hits, each disputed one followed by what says otherwise and is not a hit itself.

    Args:
        view: The store.
        searcher: Its corpus.
        hits: In order.
        allowed: The passages that may be returned, bool, by number; the conditions hold on companions too.

    Returns:
        The hits, and the states of the files of those that were added, by path.
    """
    there = {hit.id for hit in hits}
    wanted = {id_ for hit in hits for id_ in hit.conflicts_with} - there
    if not wanted:
        return list(hits), {}
    found, states = _read(view, searcher, wanted, allowed)
    made: list[Hit] = []
    for hit in hits:
        made.append(hit)
        beside = sorted((found[id_] for id_ in hit.conflicts_with if id_ in found and id_ not in there), key=_weight)[
            :MOST
        ]
        there |= {o.id for o in beside}
        made += [hit_of(o, reasons=(_why(o, hit),), via=(VIA,)) for o in beside]
    return made, states


def _weight(o: Observation) -> tuple[int, float, str]:
    return (-authority_of(o.source_kind), -o.confidence, o.id)


def _why(o: Observation, hit: Hit) -> str:
    mine, other = authority_of(o.source_kind), authority_of(hit.source_kind)
    than = "on more authority" if mine > other else "on less authority" if mine < other else "on equal authority"
    return f"says otherwise than {hit.id}, {than}"


def _read(
    view: View, searcher: Searcher, ids: Iterable[str], allowed: np.ndarray
) -> tuple[dict[str, Observation], dict[str, FileState]]:
    """The observations with these ids of which a passage may be returned."""
    corpus, reader, wanted = searcher.corpus, view.live_base(), set(ids)
    below = (
        [row.rid for row in reader.by_id(wanted).values() if row.rid not in reader.dead] if reader is not None else []
    )
    documents = [int(corpus.document_of_row[rid]) for rid in below]
    documents += [int(corpus.document_of_delta[i]) for i, o in enumerate(corpus.delta) if o.id in wanted]
    may = [d for d in documents if d >= 0 and allowed[corpus.columns.first_passage[d]]]
    read, states = observations_at(view, corpus, may)
    return {o.id: o for o in read}, states
