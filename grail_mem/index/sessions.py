"""The order of documents and passages: session by session, turn by turn.

Knows nothing of questions, and of where documents are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grail_mem.index.rows import distinct, expanded
from grail_mem.index.segment import Said

if TYPE_CHECKING:
    import numpy as np


def order_keys(said: Sequence[Said]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Session, turn and key of every document."""
    import numpy as np

    session = np.concatenate([np.zeros(0, np.uint64), *(one.session for one in said)])
    turn = np.concatenate([np.zeros(0, np.int32), *(one.turn for one in said)])
    return session, turn, np.concatenate([np.zeros(0, np.uint64), *(one.key for one in said)])


def in_sessions(
    session: np.ndarray, turn: np.ndarray, key: np.ndarray, us: np.ndarray, known: np.ndarray, n_known: int
) -> np.ndarray:
    """Documents that are in a session, by session, turn, time and key; only sessions with new documents are sorted.

    Args:
        session: Session of each document.
        turn: Its turn.
        key: Its key.
        us: Its time.
        known: The first documents in this order.
        n_known: How many these are, with those that are in no session.
    """
    import numpy as np

    new = n_known + np.flatnonzero(session[n_known:])
    if not len(new):
        return known
    of_known = session[known]
    grown = distinct(session[new])
    begin, end = np.searchsorted(of_known, grown), np.searchsorted(of_known, grown, side="right")
    again = expanded(begin, end)
    some = np.concatenate([known[again], new])
    some = some[np.lexsort((key[some], us[some], turn[some], session[some]))]
    gone = np.cumsum(end - begin) - (end - begin)
    at = (begin - gone)[np.searchsorted(grown, session[some])]
    ordered: np.ndarray = np.insert(np.delete(known, again), at, some)
    return ordered


def in_order(
    live: np.ndarray, session: np.ndarray, ordered: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Passages in the order of sessions: the passage at each place, the place of each, and its session's number."""
    import numpy as np

    ordered = ordered[live[ordered]]
    alone = np.flatnonzero(live & (session == 0))
    documents = np.concatenate([ordered, alone])
    new = np.ones(len(documents), bool)
    new[1:] = session[documents[1:]] != session[documents[:-1]]
    new[len(ordered) :] = True
    number = np.cumsum(new, dtype=np.int32) - 1
    at = expanded(first[documents], first[documents + 1])
    place = np.full(int(first[-1]), -1, np.int32)
    place[at] = np.arange(len(at), dtype=np.int32)
    of_session = np.full(int(first[-1]), -1, np.int32)
    of_session[at] = np.repeat(number, first[documents + 1] - first[documents])
    return at.astype(np.int32), place, of_session
