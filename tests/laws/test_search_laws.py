"""Ranked recall: conditions hold, and neither the order of writing nor where the rows lie changes an answer."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws_oracle import Row, meets
from laws_strategies import drafts, examples, filters
from search_stores import hashed_words, never_silent
from test_filter_laws import add_all, change_some

from grail_mem import Memory
from grail_mem.errors import InputError
from grail_mem.recall.hit import Hit
from grail_mem.recall.ranking import Weights
from grail_mem.store.layout import Layout

ASKED = datetime(2026, 7, 1, tzinfo=UTC)
WORDS = ["pear", "plum", "fig", "Acme", "Ann Lee", "Oslo", "moved to", "in June", "when", "who", "42", "日本"]
questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


@st.composite
def notes(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Notes that share words, names and sessions, each with a time of its own."""
    made: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 10))):
        said = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)))
        note: dict[str, Any] = {
            "content": f"{said} n{number}",
            "title": draw(st.sampled_from(["Ann Lee", "Oslo", f"title {number}"])),
            "observed_at": datetime(2026, 6, 1, tzinfo=UTC)
            + timedelta(days=draw(st.integers(-400, 20)), seconds=number),
        }
        if draw(st.booleans()):
            note |= {"session": draw(st.sampled_from(["s", "t"])), "turn": number}
        if draw(st.booleans()):
            note |= {"speaker": draw(st.sampled_from(["Ann Lee", "Bob"])), "kind": "episodic"}
        made.append(note)
    return made


@contextmanager
def store() -> Iterator[Path]:
    """A store of its own, never silent."""
    root = never_silent(Path(tempfile.mkdtemp()))
    try:
        yield root
    finally:
        shutil.rmtree(root)


def answer(memory: Memory, asked: list[str]) -> list[Any]:
    """What is answered, told by contents since ids differ between stores; without who else said it, told by id."""
    return [
        [
            (o.content, o.score, o.via, o.passage, [c.content for c in o.context],
             [r for r in o.reasons if not r.startswith("also said in")])
            for o in memory.search(question, limit=50, asked_at=ASKED, context=1).observations
            if isinstance(o, Hit)
        ]
        for question in asked
    ]  # fmt: skip


some_questions = st.lists(questions, min_size=1, max_size=3)
with_vectors = st.booleans()


@pytest.mark.slow
@examples(15)
@given(made=st.lists(drafts(), min_size=1, max_size=8), later=st.lists(drafts(), max_size=3), data=st.data())
def test_everything_returned_meets_the_filter(
    made: list[dict[str, Any]], later: list[dict[str, Any]], data: st.DataObject
) -> None:
    """In the delta, in the snapshot, in both; with turns around the hits held to the same conditions."""
    rows: dict[str, Row] = {}
    with store() as root, Memory(root, embedder=hashed_words()) as memory:

        def holds() -> None:
            for _ in range(4):
                conditions = data.draw(filters(list(rows.values()) or None))
                words = data.draw(st.sampled_from([*rows.values()]))["content"] if rows else "x"
                question = f"Acme Postgres {words}"
                found = memory.search(question, limit=100, context=2, **conditions)
                for o in found.observations:
                    assert meets(rows[o.id], conditions)
                    assert all(meets(rows[turn.id], conditions) for turn in getattr(o, "context", ()))
                if not any(meets(row, conditions) for row in rows.values()):
                    assert found.abstention is not None

        add_all(memory, made, rows)
        holds()
        memory.compact()
        memory.index()
        holds()
        if rows:
            change_some(memory, later, rows, data)
        holds()


@examples(15)
@given(made=notes(), asked=some_questions, vectors=with_vectors, data=st.data())
def test_the_order_of_writing_changes_no_answer(
    made: list[dict[str, Any]], asked: list[str], vectors: bool, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(made))
    compacted_at = data.draw(st.integers(0, len(made)))
    answers = []
    for listed in (made, order):
        with store() as root, Memory(root, embedder=hashed_words() if vectors else "none") as memory:
            for number, note in enumerate(listed):
                memory.add_observation(**note)
                if listed is order and number == compacted_at:
                    memory.compact()
            memory.index()
            answers.append(answer(memory, asked))
    assert answers[0] == answers[1]


@pytest.mark.slow
@examples(15)
@given(made=notes(), asked=some_questions, vectors=with_vectors, split=st.integers(0, 10))
def test_where_the_rows_lie_changes_no_answer(
    made: list[dict[str, Any]], asked: list[str], vectors: bool, split: int
) -> None:
    """Delta, snapshot, catalog, all of them, none of what is derived: the same answers in an open and a new process."""
    embedder = hashed_words() if vectors else "none"
    with store() as root:
        with Memory(root, embedder=embedder) as memory:
            memory.add_observations(made[:split])
            memory.compact()
            memory.index()
            memory.add_observations(made[split:])
            memory.index()
            expected = answer(memory, asked)
            memory.compact()
            assert answer(memory, asked) == expected
            memory.index()
            assert answer(memory, asked) == expected
        with Memory(root, embedder=embedder) as memory:
            assert answer(memory, asked) == expected
        shutil.rmtree(Layout(root).index)
        with Memory(root, embedder=embedder) as memory:
            assert answer(memory, asked) == expected
            memory.rebuild()
            assert answer(memory, asked) == expected
        shutil.rmtree(root / "output")
        with Memory(root, embedder=embedder) as memory:
            memory.rebuild()
            memory.index()
            assert answer(memory, asked) == expected


@examples(10)
@given(made=notes(), question=questions, vectors=with_vectors)
def test_without_weights_the_latest_comes_first(made: list[dict[str, Any]], question: str, vectors: bool) -> None:
    with store() as root, Memory(root, embedder=hashed_words() if vectors else "none") as memory:
        memory.add_observations(made)
        memory.index()
        searcher = memory._search_state()
        searcher.view.refresh()
        searcher.refresh()
        nothing = {name: Weights(name, 0.0, {"bm25": 0.0, "cosine": 0.0}) for name in ("words", "vectors", "lexical")}
        ranked = searcher.rank(searcher.read(question, ASKED), searcher.corpus.columns.live, nothing)
        columns = searcher.corpus.columns
        times = columns.us[columns.doc[ranked.found.passages[ranked.order]]].tolist()
        assert times == sorted(times, reverse=True)
        assert sorted(ranked.order.tolist()) == list(range(len(ranked.found.passages)))


@examples(15)
@given(made=notes(), question=questions, budget=st.integers(1, 1500), limit=st.integers(1, 12))
def test_the_text_of_a_search_is_never_longer_than_its_budget(
    made: list[dict[str, Any]], question: str, budget: int, limit: int
) -> None:
    with store() as root, Memory(root, embedder="none") as memory:
        memory.add_observations(made)
        found = memory.search(question, budget=budget, counter=len, limit=limit)
        assert len(found.observations) <= limit
        if found.abstention is not None:
            return
        try:
            packs = [found.pack().text, found.pack(form="json").text]
        except InputError:
            with pytest.raises(InputError):
                memory.search(question, budget=1, counter=len, limit=limit).pack()
            assert budget < 400
            return
        assert all(len(text) <= budget for text in packs)
