"""The corpus: every passage that a view shows, numbered, with its document, session, speaker and neighbours.

It consists of segments on disk for what a snapshot holds and of segments in memory for what came after it; nothing is
ever missing from it. Knows nothing of questions and scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from grail_mem.index.catalog import load_catalog
from grail_mem.index.columns import Part, columns_of, parts_of
from grail_mem.index.document import Document, document, key_of, name_hash
from grail_mem.index.placed import load_placed, placed
from grail_mem.index.rows import NOWHERE, distinct, documents_of_rows, expanded
from grail_mem.index.segment import Segment, indexed, merged, segment_of
from grail_mem.model.filter import Filter
from grail_mem.model.observation import Observation
from grail_mem.query.view import View
from grail_mem.store.files import FileState
from grail_mem.store.layout import Layout
from grail_mem.store.schema import observation_of, state_in

if TYPE_CHECKING:
    import numpy as np

REACH: Final = 3
"""Turns before and after one that count as its surroundings. Measured on conversations; more gain nothing."""
_MOST_SEGMENTS: Final = 8
"""Segments in memory from which on they are made one; chosen."""


Progress = Callable[[str, int, int], None]
_TOLD_EACH: Final = 200
"""Documents after which is told how many are done; chosen."""


class Corpus:
    """Every passage of a view; `refresh` brings it up to date with the view."""

    def __init__(self, layout: Layout) -> None:
        import numpy as np

        self._layout = layout
        self._state: object = None
        self._snapshot: object = None
        self._base: tuple[Segment, ...] = ()
        self._placed = placed((), np.zeros(0, np.uint64), np.zeros(0, np.int64))
        self._unindexed = self._placed.unindexed
        self._unindexed_names: list[_Name] = []
        self._recent: list[tuple[Segment, list[_Name]]] = []
        self.delta: list[Observation] = []
        self.parts: tuple[Part, ...] = ()
        self.columns = columns_of([], np.zeros(0, np.int32), np.zeros(0, np.int64), self._placed)
        self.is_all_live: tuple[bool, ...] = ()
        self.speakers: tuple[str, ...] = ()
        self.n_live = self.n_sessions = 0
        self.mean_terms = 1.0
        self._norms: dict[tuple[float, float], np.ndarray] = {}

    def refresh(self, view: View, *, progress: Progress | None = None) -> bool:
        """Take in what the view, which must be up to date, shows now; returns whether anything changed.

        Args:
            view: The view.
            progress: Called with what is being done, how much of it is done, and how much there is, while what no index
                holds is read.
        """
        state = view.state
        if state == self._state:
            return False
        if (view.manifest.name, view.scopes) != self._snapshot:
            self._open_base(view)
        self._number(view, self._take_recent(view, progress))
        self._state = state
        return True

    def _open_base(self, view: View) -> None:
        """Load the segments on disk, and where their documents stand in the snapshot; work that out when nobody wrote it."""
        import numpy as np

        segments = load_catalog(self._layout)
        self._base = tuple(segments.values())
        reader = view.live_base()
        found = load_placed(self._layout, view.manifest, segments)
        if found is None:
            keys, us = reader.keys_and_times() if reader else (np.zeros(0, np.uint64), np.zeros(0, np.int64))
            found = placed(self._base, keys, us)
        self._placed = found
        unindexed, key = found.unindexed, found.unindexed_key
        if reader is not None and reader.scopes is not None:
            mine = np.isin(unindexed, reader.rids(Filter()))
            unindexed, key = unindexed[mine], key[mine]
        self._unindexed = unindexed
        self._unindexed_names = [("", value) for value in key.tolist()]
        self._snapshot = view.manifest.name, view.scopes

    def _take_recent(self, view: View, progress: Progress | None) -> dict[_Name, Observation | int]:
        """Make segments in memory of what no segment holds yet; returns all that has to be in them."""
        wanted: dict[_Name, Observation | int] = dict(
            zip(self._unindexed_names, map(int, self._unindexed), strict=True)
        )
        for found in view.loose().matching(Filter()):
            o = found.row.observation
            wanted[o.id, key_of(o.sha256)] = o
        held = {name for _, names in self._recent for name in names}
        new = [name for name in wanted if name not in held]
        if new:
            rids = [rid for name in new if isinstance(rid := wanted[name], int)]
            rows = documents_of_rows(view, rids)
            made = (next(rows) if isinstance(said := wanted[name], int) else document(said) for name in new)
            self._recent.append((segment_of(_told(made, len(new), progress)), new))
        if len(self._recent) > _MOST_SEGMENTS:
            self._recent = [_together(self._recent, wanted)]
        return wanted

    def _number(self, view: View, wanted: dict[_Name, Observation | int]) -> None:
        import numpy as np

        reader = view.live_base()
        n_rows = reader.n_rows if reader else 0
        counts = np.append(reader.counting() if reader else np.zeros(0, bool), False)
        known = self._placed
        row = np.where(counts[known.row], known.row, NOWHERE)
        self.delta = []
        rows = [row.astype(np.int32)]
        for _, names in self._recent:
            rows.append(np.array([self._row_of(wanted.get(name), counts) for name in names], np.int32))
        segments = [*self._base, *(segment for segment, _ in self._recent)]
        times = np.array([*map(_us, self.delta), 0], np.int64)
        row = np.concatenate(rows)
        base_us = np.append(known.us, 0)
        us = np.where(
            row >= 0, base_us[np.maximum(row, 0)] if n_rows else 0, times[np.clip(-2 - row, 0, len(times) - 1)]
        )
        self.parts = tuple(parts_of(segments))
        self.columns = columns_of(segments, row, us, known)
        heard = np.bincount(self.columns.speaker[row != NOWHERE] + 1, minlength=len(self.columns.speakers) + 1)[1:]
        self.speakers = tuple(name for name, n in zip(self.columns.speakers, heard.tolist(), strict=True) if n)
        live = self.columns.live
        ends = (part.first_passage + part.segment.n_passages for part in self.parts)
        self.is_all_live = tuple(
            bool(live[part.first_passage : end].all()) for part, end in zip(self.parts, ends, strict=True)
        )
        self._norms = {}
        for name in ("speaker_names", "document_of_row", "document_of_delta"):
            self.__dict__.pop(name, None)
        self.n_live = int(live.sum())
        self.n_sessions = int(self.columns.session.max(initial=-1)) + 1
        self.mean_terms = max(float(self.columns.n_terms[live].mean()), 1.0) if self.n_live else 1.0

    def _row_of(self, said: Observation | int | None, counts: np.ndarray) -> int:
        if said is None:
            return NOWHERE
        if isinstance(said, int):
            return said if counts[said] else NOWHERE
        self.delta.append(said)
        return -1 - len(self.delta)

    @property
    def n_unindexed(self) -> int:
        """Observations of the snapshot that are in no segment on disk, so that every process that searches reads them."""
        return len(self._unindexed)

    @property
    def n_passages(self) -> int:
        """Passages, those that do not count included."""
        return len(self.columns.doc)

    @cached_property
    def speaker_names(self) -> np.ndarray:
        """Hashes of the names of all who say something, and of their first names, uint64, ascending."""
        import numpy as np

        keys = self.speakers
        return distinct(np.array([name_hash(name) for key in keys for name in {key, key.split(" ")[0]}], np.uint64))

    @cached_property
    def document_of_row(self) -> np.ndarray:
        """The document that each row of the snapshot is, int64; -1 for a row that does not count."""
        import numpy as np

        of_row = np.full(len(self._placed.us), -1, np.int64)
        documents = np.flatnonzero(self.columns.row >= 0)
        of_row[self.columns.row[documents]] = documents
        return of_row

    @cached_property
    def document_of_delta(self) -> np.ndarray:
        """The document that each observation of `delta` is, int64."""
        import numpy as np

        documents = np.flatnonzero(self.columns.row < NOWHERE)
        return documents[np.argsort(-self.columns.row[documents])]

    def length_norm(self, k1: float, b: float) -> np.ndarray:
        """What BM25 adds to the count of a term in each passage for its length, float32; kept while nothing changes."""
        import numpy as np

        if (k1, b) not in self._norms:
            share = b * self.columns.n_terms / np.float32(self.mean_terms)
            self._norms[k1, b] = k1 * (1 - b + share).astype(np.float32)
        return self._norms[k1, b]

    def terms_of(self, passages: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Term hashes of passages behind one another, whether each may begin a name, and whose each is (its place among them)."""
        return self._gathered(passages, "first_term", "terms", "marks")

    def names_of(self, passages: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Name hashes of passages behind one another, what is known of each, and whose each is."""
        return self._gathered(passages, "first_name", "names", "flags")

    def _gathered(self, passages: np.ndarray, first: str, *wanted: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        import numpy as np

        found: list[tuple[np.ndarray, ...]] = []
        for part in self.parts:
            mine = np.flatnonzero(
                (passages >= part.first_passage) & (passages < part.first_passage + part.segment.n_passages)
            )
            local, said = passages[mine] - part.first_passage, part.segment.said
            ends = getattr(said, first)
            at = expanded(ends[local], ends[local + 1])
            owner = np.repeat(mine, ends[local + 1] - ends[local])
            found.append((*(getattr(said, name)[at] for name in wanted), owner))
        if not found:
            return np.zeros(0, np.uint64), np.zeros(0, np.uint8), np.zeros(0, np.int64)
        values, marks, owners = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        if np.any(owners[1:] < owners[:-1]):
            order = np.argsort(owners, kind="stable")
            values, marks, owners = values[order], marks[order], owners[order]
        return values, marks, owners

    def passages_of(self, documents: np.ndarray) -> np.ndarray:
        """The passages of documents, in order."""
        columns = self.columns
        return expanded(columns.first_passage[documents], columns.first_passage[documents + 1])

    def other_names(self, names: np.ndarray) -> dict[tuple[int, int], int]:
        """What else things are called: pairs of a name and another one of the same thing, both ways, as hashes.

        Args:
            names: Hashes of names, uint64.

        Returns:
            The pairs, each with the number of a document that gives it.
        """
        import numpy as np

        found: dict[tuple[int, int], int] = {}
        for part in self.parts:
            said = part.segment.said
            for mine, theirs in ((said.others, said.other_of), (said.other_of, said.others)):
                at = np.flatnonzero(np.isin(mine, names)) if len(mine) else np.zeros(0, np.int64)
                document = np.searchsorted(said.first_other, at, side="right") - 1 + part.first_document
                counts = self.columns.row[document] != NOWHERE
                pairs = zip(mine[at[counts]].tolist(), theirs[at[counts]].tolist(), strict=True)
                found |= dict(zip(pairs, document[counts].tolist(), strict=True))
        return found

    def span_of(self, passage: int) -> tuple[int, int]:
        """Where a passage begins and ends in its observation's content, in characters."""
        part = next(p for p in reversed(self.parts) if p.first_passage <= passage)
        said, local = part.segment.said, passage - part.first_passage
        return int(said.start[local]), int(said.start[local] + said.length[local])

    def n_characters_of(self, passages: np.ndarray) -> int:
        """How many characters passages have together."""
        total = 0
        for part in self.parts:
            local = passages - part.first_passage
            mine = local[(local >= 0) & (local < part.segment.n_passages)]
            total += int(part.segment.said.length[mine].sum())
        return total

    def around(self, passages: np.ndarray) -> np.ndarray:
        """The passages around some in their session, int32, passages x (2 `REACH` + 1); -1 where there is none."""
        import numpy as np

        columns = self.columns
        if not len(columns.at):
            return np.full((len(passages), 2 * REACH + 1), -1, np.int32)
        own = columns.place[passages][:, None]
        place = own + np.arange(-REACH, REACH + 1, dtype=np.int32)
        near: np.ndarray = columns.at.take(place, mode="clip")
        there = columns.session.take(near) == columns.session[passages][:, None]
        there &= (place >= 0) & (place < len(columns.at)) & (own >= 0)
        near[~there] = -1
        return near


def observations_at(
    view: View, corpus: Corpus, documents: Sequence[int]
) -> tuple[list[Observation], dict[str, FileState]]:
    """The observations that documents are, and the states of the files of the snapshot's rows, by path."""
    rows = [int(corpus.columns.row[d]) for d in documents]
    reader = view.live_base()
    below = [row for row in rows if row >= 0]
    payloads = dict(zip(below, reader.payloads(below), strict=True)) if reader is not None and below else {}
    read = {row: observation_of(payload) for row, payload in payloads.items()}
    states = {read[row].path: state_in(payload) for row, payload in payloads.items()}
    return [read[row] if row >= 0 else corpus.delta[-2 - row] for row in rows], states


_Name = tuple[str, int]
"""What a document in memory is told by: id and key; or, for a row of a snapshot, an empty text and the key, told apart from
equal ones. A row's number would not do: the next snapshot gives it to another."""


def _us(o: Observation) -> int:
    from grail_mem.model.times import to_us

    return to_us(o.observed_at)


def _together(recent: Sequence[tuple[Segment, list[_Name]]], wanted: Iterable[_Name]) -> tuple[Segment, list[_Name]]:
    import numpy as np

    counts = set(wanted)
    kept = [np.array([name in counts for name in names], bool) for _, names in recent]
    said = merged([segment.said for segment, _ in recent], kept)
    return indexed(said), [name for _, names in recent for name in names if name in counts]


def _told(documents: Iterable[Document], n: int, progress: Progress | None) -> Iterator[Document]:
    """The documents, while is told how many of them are made."""
    for number, made in enumerate(documents, start=1):
        yield made
        if progress and (number % _TOLD_EACH == 0 or number == n):
            progress("reading what is not indexed", number, n)
