"""The catalog keeps up with snapshots at the cost of what is new, and changes no answer."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_stores import never_silent

from grail_mem import Memory
from grail_mem.errors import IndexUnusableError
from grail_mem.index import catalog
from grail_mem.index.placed import load_placed
from grail_mem.query import compaction
from grail_mem.store.layout import Layout

WORDS = ["pear", "plum", "fig", "olive", "Oslo", "Rome", "budget", "meeting", "river"]
QUESTIONS = ["pear and olive", "Who met in Oslo?", "budget meeting note 17", "river"]


def drafts(begin: int, end: int) -> list[dict[str, object]]:
    """Notes that differ, dated in no order."""
    made = []
    for n in range(begin, end):
        said = random.Random(n)
        content = f"note {n}: {' '.join(said.choices(WORDS, k=12))} item{n}"
        made.append({"content": content, "observed_at": f"20{said.randrange(10, 26)}-0{said.randrange(1, 10)}-11"})
    return made


def answers(root: Path) -> list[list[tuple[str, float, tuple[str, ...], tuple[str, ...]]]]:
    """What a process that opens the store now answers."""
    with Memory(never_silent(root), embedder="none") as memory:
        return [[(o.id, o.score, o.via, o.reasons) for o in memory.search(q, limit=20).observations] for q in QUESTIONS]


def compacted(memory: Memory) -> catalog.Indexed:
    """What the index took in of a snapshot that is newer than it, as `compact` and `index` each do it."""
    compaction.compact(memory._view)
    memory._view.absorb()
    return catalog.update_catalog(memory._view)


@pytest.mark.slow
def test_the_catalog_adds_what_is_new_and_answers_as_one_made_anew(tmp_path: Path) -> None:
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observations(drafts(0, 600))
        memory.compact()
        first = memory.index()
        assert (first.n_documents, first.n_added, first.n_segments) == (600, 600, 1)
        added = memory.add_observations(drafts(600, 700))
        second = compacted(memory)
        assert (second.n_documents, second.n_added, second.n_segments) == (700, 100, 2)
        assert memory.index().n_added == 0
        for one in added[:7]:
            memory.hide(one.id)
        memory.update(added[8].id, append="olive grove")
        third = compacted(memory)
        assert third.n_added == 1
        assert third.to_dict()["n_segments"] == third.n_segments
    before = answers(tmp_path)
    assert all(before)
    layout = Layout(tmp_path)
    for path in sorted(layout.index.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert answers(tmp_path) == before
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        anew = memory.index()
        assert anew.n_added == anew.n_documents == third.n_documents
    assert answers(tmp_path) == before


@pytest.mark.slow
def test_segments_stay_few_and_old_ones_are_removed(tmp_path: Path) -> None:
    """After each of many small compactions each segment is at least four times the next, and no other folder stays."""
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        for step in range(12):
            memory.add_observations(drafts(step * 3, step * 3 + 3))
            done = compacted(memory)
            assert done.n_added == 3
            assert done.n_documents == step * 3 + 3
            sizes = [segment.n_documents for segment in catalog.load_catalog(Layout(tmp_path)).values()]
            assert sum(sizes) == done.n_documents
            assert all(a >= 4 * b for a, b in pairwise(sizes))
            folders = {path.name for path in Layout(tmp_path).index.iterdir() if path.is_dir()}
            assert folders == set(catalog._names(Layout(tmp_path)))


def test_a_segment_of_which_much_is_gone_is_made_anew(tmp_path: Path) -> None:
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        added = memory.add_observations(drafts(0, 20))
        memory.compact()
        memory.index()
        for one in added[:12]:
            memory.update(one.id, append="more")
        memory.compact()
        memory.index()
        held = catalog.load_catalog(Layout(tmp_path))
        assert sum(segment.n_documents for segment in held.values()) == 20


def test_a_catalog_of_another_version_is_made_anew(tmp_path: Path) -> None:
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observations(drafts(0, 20))
        memory.compact()
        memory.index()
    before = answers(tmp_path)
    file = Layout(tmp_path).index / "catalog.json"
    said = json.loads(file.read_bytes())
    said["identity"]["tokens"] += 1
    file.write_text(json.dumps(said))
    assert catalog.load_catalog(Layout(tmp_path)) == {}
    assert answers(tmp_path) == before
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        assert memory.index().n_added == 20
    assert answers(tmp_path) == before


@pytest.mark.parametrize("content", [b"", b"junk", b"[]", b'{"segments": 5}', None])
def test_a_catalog_that_cannot_be_read_is_none(tmp_path: Path, content: bytes | None) -> None:
    """The file that names the segments may be lost: answers are complete without it, and it is made again."""
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observations(drafts(0, 8))
        memory.compact()
        memory.index()
    before = answers(tmp_path)
    file = Layout(tmp_path).index / "catalog.json"
    file.unlink() if content is None else file.write_bytes(content)
    assert answers(tmp_path) == before
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        assert memory.index().n_added == 8
    assert answers(tmp_path) == before


@pytest.mark.parametrize("name", ["terms.npy", "about.json", "by_term.row.npy"])
@pytest.mark.parametrize("content", [b"", b"junk", None])
def test_a_damaged_segment_is_an_error_until_the_index_is_made_again(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    """A search says that it cannot search; it finds nothing silently never. `index` mends it."""
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observations(drafts(0, 8))
        memory.compact()
        memory.index()
    before = answers(tmp_path)
    (file,) = Layout(tmp_path).index.glob(f"*/{name}")
    file.unlink() if content is None else file.write_bytes(content)
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        for _ in range(2):
            with pytest.raises(IndexUnusableError, match="damaged"):
                memory.search("pear")
        assert len(memory.recall().observations) == 8
        assert memory.index().n_added == 8
        assert memory.search("pear").observations
    assert answers(tmp_path) == before


@pytest.mark.slow
def test_a_compaction_beside_writes_and_a_rebuild_keep_up_an_index_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "grail.yaml").write_text("compact_after: 50\nsilence: never\n", encoding="utf-8")
    with Memory(tmp_path, embedder="none") as memory:
        memory.add_observations({"content": f"alpha note {i} about thing{i}"} for i in range(60))
        memory.compact()
        memory.rebuild()
        assert not catalog.has_catalog(Layout(tmp_path))  # nobody searched yet
        memory.index()
        for batch in range(3):
            memory.add_observations({"content": f"beta {batch} note {i} on item{batch}x{i}"} for i in range(60))
            assert memory.search(f"item{batch}x7").observations[0].content == f"beta {batch} note 7 on item{batch}x7"
            assert memory.search("thing7").observations[0].content == "alpha note 7 about thing7"
    assert sum(segment.n_documents for segment in catalog.load_catalog(Layout(tmp_path)).values()) > 60
    with Memory(tmp_path, embedder="none") as memory:
        assert memory.search("item2x9").observations[0].content == "beta 2 note 9 on item2x9"
        memory.rebuild()
        assert sum(segment.n_documents for segment in catalog.load_catalog(Layout(tmp_path)).values()) == 240
        assert memory.search("item2x9").observations[0].content == "beta 2 note 9 on item2x9"


def test_a_compaction_takes_an_index_that_is_there_with_it(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observations(drafts(0, 8))
        memory.compact()
        assert not catalog.has_catalog(layout)  # nobody searched yet
        memory.index()
        memory.add_observations(drafts(8, 12))
        memory.compact()
        segments = catalog.load_catalog(layout)
        assert sum(segment.n_documents for segment in segments.values()) == 12
        assert load_placed(layout, memory._view.manifest, segments) is not None
    assert answers(tmp_path)


@given(st.lists(st.integers(1, 300), max_size=12))
def test_what_is_merged_is_told_at_once_as_if_pair_after_pair(sizes: list[int]) -> None:
    plain = [[size] for size in sizes]
    while True:
        totals = [sum(group) for group in plain]
        places = [i for i in range(len(totals) - 1) if totals[i] < catalog._GROWTH * totals[i + 1]]
        if not places:
            break
        plain[places[-1] : places[-1] + 2] = [plain[places[-1]] + plain[places[-1] + 1]]
    groups = [SimpleNamespace(n_kept=size) for size in sizes]
    assert [[group.n_kept for group in run] for run in catalog._together(groups)] == plain  # type: ignore[arg-type]
