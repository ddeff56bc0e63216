"""Rankings by name: each is what its name says, reciprocal ranks are those of the paper, and other names are refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_store import filled, ids
from search_stores import hashed_words

from grail_mem import Memory
from grail_mem.errors import InputError
from grail_mem.recall.hit import Hit
from grail_mem.recall.ranking import reciprocal_ranks, shipped_weights, weights_in, weights_text
from grail_mem.recall.result import Recall
from grail_mem.settings import RANKINGS

VALUES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20)


def scored(answer: Recall) -> list[tuple[str, float]]:
    return [(o.id, o.score) for o in answer.observations if isinstance(o, Hit)]


@given(VALUES)
def test_reciprocal_ranks_are_sums_over_places(values: list[tuple[int, int]]) -> None:
    """As a slow count of who is better says; equal ones share the mean of their places."""
    expected = []
    for row in values:
        total = 0.0
        for order in (0, 1):
            better = sum(other[order] > row[order] for other in values)
            equal = sum(other[order] == row[order] for other in values)
            total += 1 / (60 + better + (equal - 1) / 2)
        expected.append(math.log(total))
    assert reciprocal_ranks(np.array(values, float)).tolist() == pytest.approx(expected, abs=1e-4)


@given(VALUES)
def test_only_places_count(values: list[tuple[int, int]]) -> None:
    """Whatever keeps the order of values keeps the scores."""
    columns = np.array(values, float)
    assert (reciprocal_ranks(columns) == reciprocal_ranks(np.exp(columns) * [3, 0.1])).all()


def test_the_lexical_ranking_is_a_search_without_an_embedder(tmp_path: Path) -> None:
    """Same hits, same scores, same coverage, and no word of vectors."""
    with filled(tmp_path) as memory, Memory(tmp_path, embedder="none") as bare:
        memory.add_observation(content="The newt sleeps beside the otter.")
        for question in ("Where does the otter sleep?", "Who sleeps beside a glacier?", "Where does the comet burn?"):
            named, expected = memory.search(question, ranking="lexical"), bare.search(question)
            assert scored(named) == scored(expected)
            assert (named.coverage, named.warnings) == (expected.coverage, expected.warnings)
        assert memory.search("otter").warnings != bare.search("otter").warnings


def test_the_ranking_in_use_can_be_named(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        question = "Where does the otter sleep?"
        weighted, named = memory.search(question, ranking="weighted"), memory.search(question, ranking="vectors")
        assert scored(weighted) == scored(named) == scored(memory.search(question))
        assert weighted.trace["rank"]["recipe"] == "vectors"


def test_reciprocal_ranks_order_by_words_and_vectors_and_are_never_silent(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        answer = memory.search("Where does the otter sleep?", ranking="reciprocal_rank")
        assert {o.title for o in answer.observations[:2]} == {"otter says", "otter asks"}
        scores = [score for _, score in scored(answer)]
        assert scores == sorted(scores, reverse=True)
        assert answer.trace["rank"]["recipe"] == "reciprocal_rank"
        assert (answer.coverage, answer.warnings) == ("partial", ())
        assert memory.search("Does a comet sleep?", ranking="reciprocal_rank").observations
        nothing = memory.search("Quetzalcoatl", ranking="reciprocal_rank", category="nowhere")
        assert nothing.abstention is not None


def test_reciprocal_ranks_do_without_vectors(tmp_path: Path) -> None:
    with filled(tmp_path, embedder="none") as memory:
        answer = memory.search("Where does the otter sleep?", ranking="reciprocal_rank")
        assert {o.title for o in answer.observations[:2]} == {"otter says", "otter asks"}


def test_an_argument_counts_before_the_setting(tmp_path: Path) -> None:
    with filled(tmp_path, ranking="lexical") as memory:
        assert memory.search("otter").trace["rank"]["recipe"] == "lexical"
        assert memory.search("otter", ranking="vectors").trace["rank"]["recipe"] == "vectors"


def test_a_ranking_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with filled(tmp_path) as memory, Memory(tmp_path, embedder="none") as bare:
        for wrong in ("bm25", "", 3):
            with pytest.raises(InputError, match=f"ranking must be one of {', '.join(RANKINGS)}"):
                memory.search("otter", ranking=wrong)
        with pytest.raises(InputError, match="needs vectors of words"):
            memory.search("otter", ranking="words")
        for name in ("words", "vectors"):
            with pytest.raises(InputError, match="needs an embedder"):
                bare.search("otter", ranking=name)
        with pytest.raises(InputError, match="ranking"):
            memory.recall(tags=["x"], ranking="lexical")
    (tmp_path / "grail.yaml").write_text("ranking: bm25\n")
    with pytest.raises(InputError, match="ranking must be one of weighted, words"):
        Memory(tmp_path)


def test_before_there_is_a_vector_words_decide(tmp_path: Path) -> None:
    """A ranking by vectors that are still to be made is no error."""
    with Memory(tmp_path, embedder=hashed_words()) as memory:
        memory.add_observation(title="Otter", content="It sleeps.")
        answer = memory.search("otter", ranking="vectors")
        assert answer.trace["rank"]["recipe"] == "lexical"
        assert "grail index" in answer.warnings[0]


def test_a_stores_own_weights_count_before_those_shipped(tmp_path: Path) -> None:
    """For the recipe they are of; other recipes keep the shipped ones."""
    own = {**shipped_weights()["vectors"].of, "is_question": 50.0}
    with filled(tmp_path, silence="never") as memory:
        first = memory.search("Where does the otter sleep?").observations[0].title
        assert first == "otter says"
        (tmp_path / "weights.json").write_text(json.dumps({"version": 1, "vectors": {"bias": 0.0, "weights": own}}))
        assert memory.search("Where does the otter sleep?").observations[0].title == "otter asks"
        assert memory.search("Where does the otter sleep?", ranking="lexical").observations[0].title == "otter says"
        assert memory.reset_weights()
        assert memory.search("Where does the otter sleep?").observations[0].title == "otter says"
        assert len(ids(memory)) == len(memory.recall(limit=1000).observations)  # no observation of it


def test_weights_survive_being_written() -> None:
    assert weights_in(weights_text(shipped_weights())) == shipped_weights()


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[]", '{"version": 2}', '{"version": 1, "bm25": {}}', '{"version": 1, "lexical": []}',
        '{"version": 1, "lexical": {"bias": 0, "weights": {"magic": 1}}}', '{"version": 1, "lexical": {"weights": {}}}',
        '{"version": 1, "lexical": {"bias": 0, "weights": {"bm25": Infinity}}}',
        '{"version": 1, "lexical": {"bias": 0, "weights": {"bm25": "1"}}}', "[" * 100_000,
    ],
)  # fmt: skip
def test_weights_that_cannot_be_read_are_an_error(tmp_path: Path, text: str) -> None:
    with filled(tmp_path, embedder="none") as memory:
        (tmp_path / "weights.json").write_text(text)
        with pytest.raises(InputError, match=r"weights\.json in the root .* --reset"):
            memory.search("otter")
