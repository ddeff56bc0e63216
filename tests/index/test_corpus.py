"""The corpus shows what the view shows, in the order of sessions, wherever the documents lie."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_stores import never_silent

from grail_mem import Memory
from grail_mem.index.corpus import REACH, Corpus, observations_at
from grail_mem.index.rows import matched
from grail_mem.index.sessions import in_sessions
from grail_mem.recall.ranked import Searcher


def shown(memory: Memory) -> Searcher:
    """What a search of the memory would look at now."""
    searcher = memory._search_state()
    searcher.view.refresh()
    searcher.refresh()
    return searcher


def contents(memory: Memory) -> list[str]:
    """The contents of all documents that count, sorted; each is read where its row says."""
    searcher = shown(memory)
    live = np.flatnonzero(searcher.corpus.columns.row != -1).tolist()
    found, _ = observations_at(searcher.view, searcher.corpus, live)
    return sorted(o.content for o in found)


def said_by_terms(memory: Memory, word: str) -> list[str]:
    """The contents of the documents that a word leads to, sorted."""
    return sorted(o.content for o in memory.search(word, limit=100).observations)


@pytest.mark.parametrize("with_catalog", [False, True])
def test_every_compaction_gives_rows_other_numbers_and_documents_their_own(tmp_path: Path, with_catalog: bool) -> None:
    """Newer rows come first in a snapshot: after each compaction a process that stays open still reads the right rows."""
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        for round_ in range(4):
            drafts = [
                {"content": f"word{round_}x{n} banana", "observed_at": f"202{round_}-01-0{n + 1}"} for n in range(4)
            ]
            added = memory.add_observations(drafts)
            memory.hide(added[0].id)
            memory.update(added[1].id, append=f"more{round_}")
            memory.compact()
            if with_catalog:
                memory.index()
            assert contents(memory) == sorted(o.content for o in memory.recall(limit=1000).observations)
            for seen in range(round_ + 1):
                assert said_by_terms(memory, f"word{seen}x0") == []
                assert said_by_terms(memory, f"word{seen}x1") == [f"word{seen}x1 banana\n\nmore{seen}"]
                assert said_by_terms(memory, f"word{seen}x3") == [f"word{seen}x3 banana"]


def neighbours(memory: Memory) -> dict[str, list[str]]:
    """Around each document's passage, what is said there, `-` where there is nothing."""
    searcher = shown(memory)
    corpus = searcher.corpus
    passages = np.flatnonzero(corpus.columns.live)
    near = corpus.around(passages)
    wanted = sorted({int(p) for p in near.ravel() if p >= 0})
    read, _ = observations_at(searcher.view, searcher.corpus, corpus.columns.doc[wanted].tolist())
    said = dict(zip(wanted, (o.content for o in read), strict=True)) | {-1: "-"}
    return {said[int(p)]: [said[int(q)] for q in row] for p, row in zip(passages, near, strict=True)}


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_stand_in_the_order_of_turns_whichever_order_they_were_written_in(tmp_path: Path, seed: int) -> None:
    """Across snapshot, catalog and delta; a session knows nothing of another, and what is in none has no neighbours."""
    turns = [(s, t) for s in ("a", "b") for t in range(7)]
    random.Random(seed).shuffle(turns)
    parts = [turns[:5], turns[5:10], turns[10:]]
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        for number, part in enumerate(parts):
            memory.add_observations([{"content": f"{s}{t}", "session": s, "turn": t} for s, t in part])
            memory.add_observation(content=f"alone{number}")
            if number == 0:
                memory.compact()
                memory.index()
            if number == 1:
                memory.compact()
        found = neighbours(memory)
        for s, t in turns:
            expected = [f"{s}{n}" if 0 <= n < 7 else "-" for n in range(t - REACH, t + REACH + 1)]
            assert found[f"{s}{t}"] == expected
        for number in range(3):
            assert found[f"alone{number}"] == ["-"] * REACH + [f"alone{number}"] + ["-"] * REACH


def test_a_hidden_turn_is_nobodys_neighbour(tmp_path: Path) -> None:
    """What does not count is skipped: those beside it become neighbours."""
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        added = memory.add_observations([{"content": f"t{n}", "session": "s", "turn": n} for n in range(3)])
        for _ in range(2):
            memory.hide(added[1].id)
            assert neighbours(memory)["t0"][REACH : REACH + 2] == ["t0", "t2"]
            memory.restore(added[1].id)
            assert neighbours(memory)["t0"][REACH : REACH + 2] == ["t0", "t1"]
            memory.compact()
            memory.index()


def test_two_files_with_the_same_bytes_are_two_documents(tmp_path: Path) -> None:
    """Files without an id may be copies of each other; both are found, in the delta, the snapshot and the catalog."""
    for folder in ("one", "two"):
        path = tmp_path / "memories" / folder / "note.md"
        path.parent.mkdir(parents=True)
        path.write_text("A pelican on the roof.\n")
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.sync(stamp=False)
        for step in range(3):
            searcher = shown(memory)
            live = np.flatnonzero(searcher.corpus.columns.row != -1)
            read, _ = observations_at(searcher.view, searcher.corpus, live.tolist())
            assert sorted(o.category for o in read) == ["one", "two"], step
            only = memory.search("pelican", category="two").observations
            assert [o.category for o in only] == ["two"]
            memory.compact()
            if step == 1:
                memory.index()


def test_matched_gives_every_row_one_document_and_takes_equal_ones_in_order() -> None:
    held = [np.array([7, 5, 7], np.uint64), np.array([9, 7], np.uint64)]
    row, missing = matched(held, np.array([7, 8, 7, 9], np.uint64))
    assert row.tolist() == [0, -1, 2, 3, -1]
    assert missing.tolist() == [1]
    row, missing = matched([], np.array([3, 3], np.uint64))
    assert row.tolist() == []
    assert missing.tolist() == [0, 1]


def test_refresh_says_whether_anything_changed(tmp_path: Path) -> None:
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observation(content="one")
        view = shown(memory).view
        corpus = Corpus(view.layout)
        assert corpus.refresh(view)
        assert not corpus.refresh(view)
        memory.add_observation(content="two")
        view.refresh()
        assert corpus.refresh(view)
        assert corpus.n_live == 2


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3), st.integers(0, 2), st.integers(0, 5)), max_size=30),
    st.data(),
)
def test_new_documents_take_their_places_in_sessions_as_if_all_were_sorted(
    said: list[tuple[int, int, int, int]], data: st.DataObject
) -> None:
    session, turn, us, key = (
        np.array([row[i] for row in said], kind) for i, kind in enumerate((np.uint64, np.int32, np.int64, np.uint64))
    )
    n = data.draw(st.integers(0, len(said)))
    nothing = np.zeros(0, np.int64)
    known = in_sessions(session[:n], turn[:n], key[:n], us[:n], nothing, 0)
    inside = np.flatnonzero(session)
    plain = inside[np.lexsort((key[inside], us[inside], turn[inside], session[inside]))]
    assert in_sessions(session, turn, key, us, known, n).tolist() == plain.tolist()
