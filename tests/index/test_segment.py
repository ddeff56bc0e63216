"""Segments: postings say what the documents say, merging is the same as making at once, and disk keeps all of it."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_slow import as_dict, documents, plain_postings

from grail_mem.errors import IndexUnusableError
from grail_mem.index.document import Document
from grail_mem.index.segment import Postings, Said, Segment, indexed, load_segment, merged, save_segment, segment_of


def are_equal(one: Segment, other: Segment) -> None:
    """Two segments hold the same in every array."""
    for item in fields(Said):
        assert np.array_equal(getattr(one.said, item.name), getattr(other.said, item.name)), item.name
    assert np.array_equal(one.doc, other.doc)
    assert np.array_equal(one.n_terms, other.n_terms)
    for name in ("by_term", "by_name", "by_title"):
        for part in fields(Postings):
            mine, theirs = getattr(getattr(one, name), part.name), getattr(getattr(other, name), part.name)
            assert np.array_equal(mine, theirs), (name, part.name)


@pytest.mark.slow
@given(st.lists(documents(), max_size=8))
def test_postings_equal_a_slow_dictionary(made: list[Document]) -> None:
    segment = segment_of(made)
    assert segment.n_documents == len(made)
    assert segment.n_passages == sum(len(d.passages) for d in made)
    assert as_dict(segment.by_term) == plain_postings(made, "term")
    assert as_dict(segment.by_name) == plain_postings(made, "name")
    assert as_dict(segment.by_title) == plain_postings(made, "title")
    rows, _ = segment.by_term.rows(12345)
    assert not len(rows)


@pytest.mark.slow
@given(st.lists(st.lists(st.tuples(documents(), st.booleans()), max_size=4), min_size=1, max_size=4))
def test_a_merge_is_the_same_as_making_one_of_those_that_are_kept(
    groups: list[list[tuple[Document, bool]]],
) -> None:
    parts = [segment_of(d for d, _ in group).said for group in groups]
    kept = [np.array([keep for _, keep in group], bool) for group in groups]
    whole = indexed(merged(parts, kept))
    expected = segment_of(d for group in groups for d, keep in group if keep)
    spoken = {d.speaker for group in groups for d, keep in group if keep and d.speaker}
    # speakers of which nothing is kept may stay in the list; who says what must be the same
    names, others = np.array([*whole.said.speakers, ""]), np.array([*expected.said.speakers, ""])
    assert names[whole.said.speaker].tolist() == others[expected.said.speaker].tolist()
    assert spoken <= set(whole.said.speakers)
    for item in fields(Said):
        if item.name not in {"speaker", "speakers"}:
            mine, theirs = getattr(whole.said, item.name), getattr(expected.said, item.name)
            assert np.array_equal(mine, theirs), item.name
            assert mine.dtype == theirs.dtype, item.name
    for name in ("by_term", "by_name", "by_title"):
        assert as_dict(getattr(whole, name)) == as_dict(getattr(expected, name))


@pytest.mark.slow
@given(st.lists(documents(), max_size=6))
def test_a_segment_is_on_disk_as_it_was(made: list[Document]) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        segment = segment_of(made)
        save_segment(segment, folder / "one")
        are_equal(load_segment(folder / "one"), segment)
    finally:
        shutil.rmtree(folder)


ARRAYS = ["terms", "by_term.row", "by_name.hash", "doc", "traits", "first_passage", "by_title.first"]


@pytest.mark.parametrize("name", [*(f"{name}.npy" for name in ARRAYS), "about.json"])
@pytest.mark.parametrize("damage", ["missing", "empty", "short", "junk"])
def test_a_damaged_file_of_a_segment_is_an_error(tmp_path: Path, name: str, damage: str) -> None:
    """Whichever file is missing, empty, cut or something else, loading says so."""
    save_segment(segment_of(documents_of_test()), tmp_path / "one")
    load_segment(tmp_path / "one")
    file = tmp_path / "one" / name
    content = file.read_bytes()
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes({"empty": b"", "short": content[:-3], "junk": b"[junk]"}[damage])
    with pytest.raises(IndexUnusableError, match="damaged"):
        load_segment(tmp_path / "one")


def documents_of_test() -> list[Document]:
    """A few documents with titles, names and speakers."""
    from datetime import UTC, datetime

    from grail_mem.index.document import document
    from grail_mem.model.observation import Entity, Observation

    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        document(Observation(
            id=f"{n:026d}", title=f"Title {n}", content=f"Ann met Bob {n} times.", category="", path="x.md", observed_at=at,
            recorded_at=at, sha256=f"{n + 1:064x}"[::-1], entities=(Entity("Ann"),), speaker="Ann",
        ))
        for n in range(3)
    ]  # fmt: skip
