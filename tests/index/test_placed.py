"""Where documents stand in a snapshot is kept beside the segments: told the same as worked out, and never of something else."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from search_stores import never_silent

from grail_mem import Memory
from grail_mem.index.catalog import load_catalog
from grail_mem.index.columns import Columns
from grail_mem.index.corpus import Corpus
from grail_mem.index.placed import Placed, drop_placed, load_placed, placed
from grail_mem.store.layout import Layout


def kept_files(root: Path) -> list[Path]:
    """The files that say where documents stand."""
    return sorted(Layout(root).index.glob("placed-*"))


def columns(memory: Memory) -> Columns:
    """What a search of the memory would know of every passage, by a process of its own."""
    view = memory._open()
    view.refresh()
    corpus = Corpus(view.layout)
    corpus.refresh(view)
    return corpus.columns


def same(one: Columns, other: Columns) -> bool:
    """Whether two processes know the same."""
    names = [item.name for item in fields(Columns)]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """An indexed store of sessions and single notes, two files of which have the same bytes."""
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        turns = [{"content": f"s{s} t{t}", "session": f"s{s}", "turn": t} for t in range(5) for s in range(3)]
        memory.add_observations([*turns, *({"content": f"alone {n}"} for n in range(4))])
        for folder in ("one", "two"):
            path = tmp_path / "memories" / folder / "note.md"
            path.parent.mkdir(parents=True)
            path.write_text("A pelican on the roof.\n")
        memory.sync(stamp=False)
        memory.compact()
        memory.index()
    return tmp_path


def test_what_is_kept_is_what_would_be_worked_out(store: Path) -> None:
    with Memory(store, embedder="none") as memory:
        view = memory._open()
        view.refresh()
        segments = load_catalog(view.layout)
        told = load_placed(view.layout, view.manifest, segments)
        made = placed(list(segments.values()), *view.reader.keys_and_times())
        assert told is not None
        for item in fields(Placed):
            one, other = getattr(told, item.name), getattr(made, item.name)
            assert one.dtype == other.dtype
            assert one.tolist() == other.tolist()
        assert len(told.us) == 21
        assert (told.at >= 0).all()


def test_it_makes_no_difference_whatever_came_and_went_since(store: Path) -> None:
    """New turns of old sessions, hidden and changed ones, and a snapshot that nobody indexed."""
    with Memory(store, embedder="none") as memory:
        added = memory.add_observations([{"content": f"late {n}", "session": "s1", "turn": n} for n in (2, 9)])
        memory.hide(memory.recall(limit=100).observations[-1].id)
        memory.update(added[0].id, append="more")
        for step in ("loose", "compacted", "indexed"):
            if step == "compacted":
                memory.compact()
            if step == "indexed":
                memory.index()
            with_file = columns(memory)
            away = [(path, path.read_bytes()) for path in kept_files(store)]
            drop_placed(Layout(store))
            assert same(with_file, columns(memory))
            for path, data in away:
                path.write_bytes(data)
        assert len(kept_files(store)) == 1


@pytest.mark.parametrize("harm", ["empty", "cut", "longer", "head", "length"])
def test_a_damaged_file_is_as_if_it_were_not_there(store: Path, harm: str) -> None:
    path = kept_files(store)[0]
    with Memory(store, embedder="none") as memory:
        before, data = columns(memory), path.read_bytes()
        harmed = {
            "empty": b"", "cut": data[:-64], "longer": data + bytes(64), "head": b"\xff" * 8 + data[8:],
            "length": data.replace(b'"row": 21', b'"row": 20'),
        }  # fmt: skip
        assert harmed[harm] != data
        path.unlink()  # as a writer does: `before` may have it mapped
        path.write_bytes(harmed[harm])
        segments = load_catalog(Layout(store))
        assert load_placed(Layout(store), memory._open().manifest, segments) is None
        assert same(before, columns(memory))


def test_nothing_is_left_of_what_was_erased(store: Path) -> None:
    """The file of the snapshot that had it goes, and one of the snapshot that has not takes its place."""
    before = kept_files(store)
    with Memory(store, embedder="none") as memory:
        memory.erase([memory.recall("pelican").observations[0].id], reason="wanted")
        view = memory._open()
        view.refresh()
        assert load_placed(view.layout, view.manifest, load_catalog(view.layout)) is not None
    assert len(kept_files(store)) == 1
    assert kept_files(store) != before
