"""Where the documents of segments stand in one snapshot, kept beside them so that no process has to find out again.

Derived and disposable: what is not there, or is of other segments or another snapshot, is worked out anew. Knows nothing of
the delta.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grail_mem.index.kept_arrays import keep_arrays, mapped_arrays
from grail_mem.index.rows import NOWHERE, matched, told_apart
from grail_mem.index.segment import Segment
from grail_mem.index.sessions import in_order, in_sessions, order_keys
from grail_mem.store.layout import Layout
from grail_mem.store.snapshot import Manifest

if TYPE_CHECKING:
    import numpy as np

VERSION: Final = 1
_PREFIX: Final = "placed-"


@dataclass(frozen=True, slots=True)
class Placed:
    """What the documents of segments are in a snapshot of which every row counts.

    Attributes:
        us: When each row was observed, microseconds since 1970, int64.
        row: The row of each document, int32, -1 for none.
        unindexed: Rows that no document is, ascending, int64.
        unindexed_key: Their keys, equal ones told apart, uint64.
        ordered: The documents that are in a session, in order, int64.
        at: The passage at each place in the order of sessions, turns and passages, int32.
        place: The place of each passage, int32, -1 for one that is of no row.
        session: Number of the session of each passage, int32.
    """

    us: np.ndarray
    row: np.ndarray
    unindexed: np.ndarray
    unindexed_key: np.ndarray
    ordered: np.ndarray
    at: np.ndarray
    place: np.ndarray
    session: np.ndarray


_TYPES: Final = {
    "us": "int64", "row": "int32", "unindexed": "int64", "unindexed_key": "uint64", "ordered": "int64", "at": "int32",
    "place": "int32", "session": "int32",
}  # fmt: skip


def placed(segments: Sequence[Segment], keys: np.ndarray, us: np.ndarray) -> Placed:
    """Find out where the documents of segments stand.

    Args:
        segments: The segments, in order.
        keys: Keys of the snapshot's rows.
        us: When each row was observed.
    """
    import numpy as np

    row, unindexed = matched([segment.said.key for segment in segments], keys)
    said = [segment.said for segment in segments]
    session, turn, key = order_keys(said)
    ordered = in_sessions(session, turn, key, np.append(us, 0)[row], np.zeros(0, np.int64), 0)
    lengths = np.concatenate([np.zeros(0, np.int32), *(np.diff(one.first_passage) for one in said)])
    first = np.append(0, np.cumsum(lengths)).astype(np.int32)
    at, place, number = in_order(row != NOWHERE, session, ordered, first)
    return Placed(us, row, unindexed, told_apart(keys)[unindexed], ordered, at, place, number)


def save_placed(layout: Layout, manifest: Manifest, segments: Mapping[str, Segment], found: Placed) -> None:
    """Write where the documents of segments stand, and remove what was written of others; the index lock must be held."""
    path = _path(layout, manifest, segments)
    keep_arrays(path, {item.name: getattr(found, item.name) for item in fields(Placed)})
    drop_placed(layout, kept=path.name)


def load_placed(layout: Layout, manifest: Manifest, segments: Mapping[str, Segment]) -> Placed | None:
    """Where the documents of segments stand, mapped; None when nobody wrote it or the file is damaged."""
    told = mapped_arrays(_path(layout, manifest, segments), _TYPES)
    if told is None:
        return None
    found = Placed(**told[0])
    n_documents, n_passages = (
        sum(getattr(s, name) for s in segments.values()) for name in ("n_documents", "n_passages")
    )
    fits = (len(found.us), len(found.row)) == (manifest.n_rows, n_documents)
    return found if fits and len(found.place) == len(found.session) == n_passages else None


def drop_placed(layout: Layout, *, kept: str = "") -> None:
    """Remove what was written but for one file; whoever has another mapped keeps it."""
    for path in layout.index.glob(f"{_PREFIX}*"):
        if path.name != kept:
            with suppress(FileNotFoundError):
                path.unlink()


def _path(layout: Layout, manifest: Manifest, segments: Mapping[str, Segment]) -> Path:
    """Where it is kept: the name says of which snapshot and segments it is, so that it is never taken for another's."""
    shapes = [(name, segment.n_documents, segment.n_passages) for name, segment in segments.items()]
    said = json.dumps([VERSION, manifest.name, manifest.n_rows, sorted(manifest.files.items()), shapes])
    return layout.index / f"{_PREFIX}{blake2b(said.encode(), digest_size=12).hexdigest()}"
