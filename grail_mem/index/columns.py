"""What is known of every passage and document of a corpus, as columns: one array for each thing that is known.

Knows nothing of where segments come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from grail_mem.index.placed import Placed
from grail_mem.index.rows import NOWHERE
from grail_mem.index.segment import Segment
from grail_mem.index.sessions import in_order, in_sessions, order_keys

if TYPE_CHECKING:
    import numpy as np


class Part(NamedTuple):
    """A segment and the numbers of its first passage and document among all."""

    segment: Segment
    first_passage: int
    first_document: int


@dataclass(frozen=True, slots=True)
class Columns:
    """What is known of every passage and document, by number.

    Attributes:
        doc: Document of each passage, int32.
        n_terms: Terms of each passage, int32.
        digest: Digest of its embedded text, uint64.
        traits: What its text is like, uint8, passages x `segment.TRAITS`.
        first_passage: Where the passages of each document begin, int32, documents + 1.
        key: Key of each document, uint64.
        row: What each document is: a row of the snapshot, -1 for nothing that counts, -2 - i for row i of `Corpus.delta`.
        us: When each was observed, microseconds since 1970, int64.
        speaker: Who said it, a number in `speakers`, int32, -1 for nobody.
        live: Which passages count, bool.
        at: The passage at each place in the order of sessions, turns and passages, int32.
        place: The place of each passage, int32, -1 for one that does not count.
        session: Number of the session of each passage, int32; a document that is in none is one by itself.
        speakers: Keys of all who say something, in order.
    """

    doc: np.ndarray
    n_terms: np.ndarray
    digest: np.ndarray
    traits: np.ndarray
    first_passage: np.ndarray
    key: np.ndarray
    row: np.ndarray
    us: np.ndarray
    speaker: np.ndarray
    live: np.ndarray
    at: np.ndarray
    place: np.ndarray
    session: np.ndarray
    speakers: tuple[str, ...]


def parts_of(segments: Iterable[Segment]) -> Iterator[Part]:
    """Segments, numbered one behind the other."""
    passages = documents = 0
    for segment in segments:
        yield Part(segment, passages, documents)
        passages, documents = passages + segment.n_passages, documents + segment.n_documents


def columns_of(segments: Sequence[Segment], row: np.ndarray, us: np.ndarray, known: Placed) -> Columns:
    """The columns of all segments behind one another.

    Args:
        segments: The segments.
        row: What each document is, as `Columns.row` says it.
        us: When each document was observed.
        known: Where the documents of the first segments stand in the snapshot.
    """
    import numpy as np

    speakers = tuple(sorted({name for segment in segments for name in segment.said.speakers}))
    number = {name: i for i, name in enumerate(speakers)}

    def joined(dtype: type, arrays: Iterable[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype, copy=False)

    parts = list(parts_of(segments))
    doc = joined(np.int32, (part.segment.doc + np.int32(part.first_document) for part in parts))
    first = joined(np.int32, (part.segment.said.first_passage[:-1] + np.int32(part.first_passage) for part in parts))
    first = np.append(first, np.int32(len(doc)))
    said = [segment.said for segment in segments]
    speaker = joined(
        np.int32, (np.array([*(number[name] for name in one.speakers), -1], np.int32)[one.speaker] for one in said)
    )
    session, turn, key = order_keys(said)
    live = (row != NOWHERE)[doc] if len(doc) else np.zeros(0, bool)
    if np.array_equal(row, known.row):  # nothing came and nothing went
        at, place, number_of_session = known.at, known.place, known.session
    else:
        ordered = in_sessions(session, turn, key, us, known.ordered, len(known.row))
        at, place, number_of_session = in_order(row != NOWHERE, session, ordered, first)
    traits = np.concatenate([np.zeros((0, 6), np.uint8), *(one.traits for one in said)])
    return Columns(
        doc, joined(np.int32, (s.n_terms for s in segments)), joined(np.uint64, (one.digest for one in said)), traits,
        first, key, row, us, speaker, live, at, place, number_of_session, speakers,
    )  # fmt: skip
