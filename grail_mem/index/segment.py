"""Segments: immutable groups of documents with postings from terms and names to passages, as arrays.

A segment is made once from documents, kept as a folder of array files that are mapped rather than read, and merged with
others. Knows nothing of which of its documents still count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import IndexUnusableError
from grail_mem.index.document import GAP, Document
from grail_mem.index.rows import among
from grail_mem.store.files import FOLDER_MODE

if TYPE_CHECKING:
    import numpy as np

TRAITS: Final = ("ends_in_question", "asks", "first_person", "times", "numbers", "capitals")
"""The columns of `traits`, in order."""
_ABOUT: Final = "about.json"
_AT_ONCE: Final = 500
"""Documents that are objects at a time while a segment is made, in which they take ten times the room; chosen."""


@dataclass(frozen=True, slots=True)
class Said:
    """Documents as flat arrays, in order: what a segment is made of and can be merged from.

    Attributes:
        key: Key of each document, uint64.
        session: Hash of its session, uint64, 0 for none.
        turn: Its place in the session, int32, -1 for none.
        speaker: Number of who said it in `speakers`, int32, -1 for nobody.
        title: Hash of its own title as a name, uint64, 0 for none.
        first_passage: Where its passages begin, int32, documents + 1.
        start: Where each passage begins in the content, int32.
        length: Its characters, int32.
        digest: Digest of the text that is embedded, uint64.
        traits: uint8, passages x `TRAITS`.
        first_term: Where the terms of each passage begin, int64, passages + 1.
        terms: Term hashes in order, uint64, `GAP` between parts.
        marks: Whether a term may begin a name, bool.
        first_name: Where the names of each passage begin, int64, passages + 1.
        names: Name hashes, uint64.
        flags: `DECLARED` and `RELATED` of each, uint8.
        first_other: Where the other names of each document begin, int32, documents + 1.
        others: Hashes of other names, uint64.
        other_of: Hash of the name that each is another one of, uint64.
        speakers: Keys of who says something.
    """

    key: np.ndarray
    session: np.ndarray
    turn: np.ndarray
    speaker: np.ndarray
    title: np.ndarray
    first_passage: np.ndarray
    start: np.ndarray
    length: np.ndarray
    digest: np.ndarray
    traits: np.ndarray
    first_term: np.ndarray
    terms: np.ndarray
    marks: np.ndarray
    first_name: np.ndarray
    names: np.ndarray
    flags: np.ndarray
    first_other: np.ndarray
    others: np.ndarray
    other_of: np.ndarray
    speakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Postings:
    """From hashes to the rows that have them.

    Attributes:
        hash: Sorted, uint64.
        first: Where the rows of each begin, int64, hashes + 1.
        row: Ascending for each hash, int32.
        count: How often, uint8, at most 255; empty where it does not matter.
    """

    hash: np.ndarray
    first: np.ndarray
    row: np.ndarray
    count: np.ndarray

    def rows(self, value: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows that have a hash, and how often."""
        import numpy as np

        at = int(np.searchsorted(self.hash, np.uint64(value)))
        if at == len(self.hash) or int(self.hash[at]) != value:
            return self.row[:0], self.count[:0]
        begin, end = int(self.first[at]), int(self.first[at + 1])
        return self.row[begin:end], self.count[begin:end]

    def having(self, values: np.ndarray) -> np.ndarray:
        """Which of the values anything has, bool."""
        return among(values, self.hash)


@dataclass(frozen=True, slots=True)
class Segment:
    """Documents with their postings.

    Attributes:
        said: The documents.
        doc: The document of each passage, int32.
        n_terms: Terms of each passage, int32.
        by_term: From terms to passages.
        by_name: From names to passages.
        by_title: From titles to documents.
    """

    said: Said
    doc: np.ndarray
    n_terms: np.ndarray
    by_term: Postings
    by_name: Postings
    by_title: Postings

    @property
    def n_documents(self) -> int:
        """Documents in it."""
        return len(self.said.key)

    @property
    def n_passages(self) -> int:
        """Passages in it."""
        return len(self.doc)


def segment_of(documents: Iterable[Document]) -> Segment:
    """The segment made of documents, in order; no more than some of them are held as objects at a time."""
    import numpy as np

    waiting = iter(documents)
    parts = [said_by(some) for some in iter(lambda: list(islice(waiting, _AT_ONCE)), [])] or [said_by(())]
    return indexed(merged(parts, [np.ones(len(part.key), bool) for part in parts]) if len(parts) > 1 else parts[0])


def said_by(documents: Iterable[Document]) -> Said:
    """Documents as flat arrays."""
    import numpy as np

    listed = list(documents)
    flat = [passage for document in listed for passage in document.passages]
    known = {name: i for i, name in enumerate(sorted({d.speaker for d in listed if d.speaker}))}
    return Said(
        key=np.array([d.key for d in listed], np.uint64),
        session=np.array([d.session for d in listed], np.uint64),
        turn=np.array([d.turn for d in listed], np.int32),
        speaker=np.array([known.get(d.speaker, -1) for d in listed], np.int32),
        title=np.array([d.titles[0] if d.titles else 0 for d in listed], np.uint64),
        first_passage=_ends([len(d.passages) for d in listed]).astype(np.int32),
        start=np.array([p.start for p in flat], np.int32),
        length=np.array([p.length for p in flat], np.int32),
        digest=np.array([p.digest for p in flat], np.uint64),
        traits=np.array([p.traits for p in flat], np.uint8).reshape(-1, len(TRAITS)),
        first_term=_ends([len(p.terms) for p in flat]),
        terms=np.array([value for p in flat for value in p.terms], np.uint64),
        marks=np.array([mark for p in flat for mark in p.marks], bool),
        first_name=_ends([len(p.names) for p in flat]),
        names=np.array([value for p in flat for value in p.names], np.uint64),
        flags=np.array([flag for p in flat for flag in p.names.values()], np.uint8),
        first_other=_ends([len(d.others) for d in listed]).astype(np.int32),
        others=np.array([other for d in listed for other, _ in d.others], np.uint64),
        other_of=np.array([own for d in listed for _, own in d.others], np.uint64),
        speakers=tuple(known),
    )


def merged(parts: Sequence[Said], kept: Sequence[np.ndarray]) -> Said:
    """Documents of several groups as one, those that are kept.

    Args:
        parts: The groups, in order.
        kept: For each, which of its documents are kept, bool.
    """
    import numpy as np

    spoken = [np.unique(part.speaker[keep]) for part, keep in zip(parts, kept, strict=True)]
    names = sorted(
        {part.speakers[i] for part, some in zip(parts, spoken, strict=True) for i in some.tolist() if i >= 0}
    )
    chosen = [_chosen(part, keep, names) for part, keep in zip(parts, kept, strict=True)]
    whole: dict[str, Any] = {"speakers": tuple(names)}
    for item in fields(Said):
        if item.name.startswith("first_"):
            counts = [np.diff(getattr(part, item.name)) for part in chosen]
            whole[item.name] = _ends(np.concatenate(counts)).astype(getattr(chosen[0], item.name).dtype)
        elif item.name != "speakers":
            whole[item.name] = np.concatenate([getattr(part, item.name) for part in chosen])
    return Said(**whole)


def _chosen(said: Said, keep: np.ndarray, names: Sequence[str]) -> Said:
    """Some of the documents of a group, their speakers numbered by a longer list."""
    import numpy as np

    place = {name: number for number, name in enumerate(names)}
    number = np.array([*(place.get(name, -1) for name in said.speakers), -1], np.int32)
    passages = spread(said.first_passage, keep)
    terms, held = spread(said.first_term, passages), spread(said.first_name, passages)
    others = spread(said.first_other, keep)
    return Said(
        said.key[keep], said.session[keep], said.turn[keep], number[said.speaker[keep]], said.title[keep],
        _ends(np.diff(said.first_passage)[keep]).astype(np.int32),
        said.start[passages], said.length[passages], said.digest[passages], said.traits[passages],
        _ends(np.diff(said.first_term)[passages]), said.terms[terms], said.marks[terms],
        _ends(np.diff(said.first_name)[passages]), said.names[held], said.flags[held],
        _ends(np.diff(said.first_other)[keep]).astype(np.int32), said.others[others], said.other_of[others], tuple(names),
    )  # fmt: skip


def spread(first: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Which parts are kept when each whole that is kept keeps all of its parts, bool."""
    import numpy as np

    return np.repeat(keep, np.diff(first))


def indexed(said: Said) -> Segment:
    """The segment of documents: their postings made."""
    import numpy as np

    n_passages = len(said.start)
    doc = np.repeat(np.arange(len(said.key), dtype=np.int32), np.diff(said.first_passage))
    passage = np.repeat(np.arange(n_passages, dtype=np.int32), np.diff(said.first_term))
    is_term = said.terms != GAP
    n_terms = np.bincount(passage[is_term], minlength=n_passages).astype(np.int32)
    named = np.repeat(np.arange(n_passages, dtype=np.int32), np.diff(said.first_name))
    titled = np.flatnonzero(said.title).astype(np.int32)
    return Segment(
        said, doc, n_terms,
        _postings(said.terms[is_term], passage[is_term]),
        _postings(said.names, named),
        _postings(said.title[titled], titled),
    )  # fmt: skip


def _postings(hashes: np.ndarray, rows: np.ndarray) -> Postings:
    """Where each hash stands and how often; the rows must ascend, so that a stable order by hash orders them, too."""
    import numpy as np

    order = np.argsort(hashes, kind="stable")
    hashes, rows = hashes[order], rows[order]
    del order  # a store of a million passages has as many numbers as it has words
    is_new = np.ones(len(hashes), bool)
    np.not_equal(hashes[1:], hashes[:-1], out=is_new[1:])
    values = hashes[is_new]
    begins = is_new.copy()
    begins[1:] |= rows[1:] != rows[:-1]
    at = np.flatnonzero(begins)
    first = np.append(np.flatnonzero(is_new[at]), len(at)).astype(np.int64)
    times = np.minimum(np.diff(at, append=len(hashes)), 255).astype(np.uint8)
    return Postings(values, first, rows[at].astype(np.int32), times)


def _ends(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    """Where parts of these lengths begin, and where the last ends, int64."""
    import numpy as np

    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(np.asarray(lengths, np.int64), out=ends[1:])
    return ends


# -- on disk ---------------------------------------------------------------------------------------------------------------

_POSTINGS: Final = ("by_term", "by_name", "by_title")


def save_segment(segment: Segment, folder: Path) -> None:
    """Write a segment into a folder of its own, onto the disk."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    arrays = {item.name: getattr(segment.said, item.name) for item in fields(Said) if item.name != "speakers"}
    arrays |= {"doc": segment.doc, "n_terms": segment.n_terms}
    for name in _POSTINGS:
        arrays |= {f"{name}.{item.name}": getattr(getattr(segment, name), item.name) for item in fields(Postings)}
    for name, array in arrays.items():
        with (folder / f"{name}.npy").open("wb") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())  # a file of zeros after a loss of power would look whole
    about = {"speakers": segment.said.speakers, "sizes": {name: len(array) for name, array in arrays.items()}}
    (folder / _ABOUT).write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")


def load_segment(folder: Path) -> Segment:
    """A segment from its folder, mapped.

    Raises:
        IndexUnusableError: A file of it is missing or damaged.
    """
    import numpy as np

    try:
        about = json.loads((folder / _ABOUT).read_bytes())
        arrays = {
            name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r" if size else None, allow_pickle=False))
            for name, size in about["sizes"].items()
        }
        if any(len(arrays[name]) != size for name, size in about["sizes"].items()):
            raise ValueError("an array of it has another length")
        postings = {
            name: Postings(*(arrays.pop(f"{name}.{item.name}") for item in fields(Postings))) for name in _POSTINGS
        }
        doc, n_terms = arrays.pop("doc"), arrays.pop("n_terms")
        said = Said(**arrays, speakers=tuple(about["speakers"]))
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexUnusableError(
            f"The search index in {folder} is damaged: {error}.", hint="`grail index` makes it again."
        ) from error
    return Segment(said, doc, n_terms, **postings)
