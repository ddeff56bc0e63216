"""Reranking: the order is the reranker's, silence is judged before it, and what it does wrong is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from labelled_store import filled
from search_stores import hashed_words, never_silent

from grail_mem import Memory
from grail_mem.errors import InputError
from grail_mem.recall.hit import Hit
from grail_mem.recall.reranking import N_RERANKED

QUESTION = "Where does the otter sleep?"


def opened(root: Path, reranker: Any, embedder: Any = None) -> Memory:
    return Memory(root, embedder=embedder or hashed_words(), reranker=reranker)


def test_the_order_is_the_rerankers_and_scores_are_told(tmp_path: Path) -> None:
    asked: list[tuple[str, list[str]]] = []

    def shortest_last(question: str, texts: list[str]) -> list[float]:
        asked.append((question, texts))
        return [float(len(text)) for text in texts]

    filled(tmp_path, silence="never").close()
    with opened(tmp_path, None) as plain, opened(tmp_path, shortest_last) as memory:
        before, after = plain.search(QUESTION, limit=40), memory.search(QUESTION, limit=40)
        ((question, texts),) = asked
        assert question == QUESTION
        assert "otter says\nThe otter sleeps beside the harbour." in texts
        assert {o.id for o in before.observations} <= set(after.trace["rerank"]["scores"])
        scores = [after.trace["rerank"]["scores"][o.id] for o in after.observations]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == max(map(len, texts))
        own = {o.id: o.score for o in before.observations if isinstance(o, Hit)}
        for hit in after.observations:
            assert isinstance(hit, Hit)
            assert hit.reasons[-1].startswith("reranked by ")
            assert hit.score == own.get(hit.id, hit.score)
        stages = list(after.trace)
        assert stages.index("silence") < stages.index("duplicates") < stages.index("rerank")
        assert "rerank" not in before.trace


def test_a_reranker_brings_up_what_the_limit_would_have_cut(tmp_path: Path) -> None:
    filled(tmp_path, silence="never").close()

    def likes_badgers(_: str, texts: list[str]) -> list[float]:
        return ["badger asks" in text for text in texts]

    with opened(tmp_path, likes_badgers) as memory:
        (only,) = memory.search(QUESTION, limit=1).observations
        assert only.title == "badger asks"


def test_only_the_best_are_reranked_and_the_rest_follows(tmp_path: Path) -> None:
    n_asked: list[int] = []

    def backwards(_: str, texts: list[str]) -> list[float]:
        n_asked.append(len(texts))
        return list(range(len(texts)))

    with Memory(never_silent(tmp_path), embedder="none") as memory:
        memory.add_observations({"title": f"t{n}", "content": f"otter {'word ' * n}{n}"} for n in range(70))
        before = [o.id for o in memory.search("otter", limit=70).observations]
    assert len(before) > N_RERANKED
    with opened(tmp_path, backwards, "none") as memory:
        after = [o.id for o in memory.search("otter", limit=70).observations]
    assert n_asked == [N_RERANKED]
    assert after == before[:N_RERANKED][::-1] + before[N_RERANKED:]


def test_silence_is_judged_without_the_reranker(tmp_path: Path) -> None:
    """It is not asked about what is not returned."""

    def never(_: str, __: list[str]) -> list[float]:
        raise AssertionError("asked")

    filled(tmp_path, embedder="none").close()
    with opened(tmp_path, never, "none") as memory:
        assert memory.search("zzxq unrelated marsupial tariff").abstention is not None
        assert memory.search("otter", category="nowhere").abstention is not None
        with pytest.raises(AssertionError, match="asked"):
            memory.search(QUESTION)


@pytest.mark.parametrize(
    "returned", [[], [1.0], [float("nan")] * 44, None, "scores", [None] * 44, [[1.0, 2.0]] * 44, 3]
)
def test_what_is_no_score_for_each_text_is_refused(tmp_path: Path, returned: Any) -> None:
    filled(tmp_path, silence="never").close()
    memory = opened(tmp_path, lambda _, texts: returned)
    with memory, pytest.raises(InputError, match=r"reranker returned .*one finite number for each text"):
        memory.search(QUESTION)


def test_an_error_of_the_reranker_is_the_callers(tmp_path: Path) -> None:
    """It is never an empty answer."""

    def broken(_: str, __: list[str]) -> list[float]:
        raise RuntimeError("the model is gone")

    filled(tmp_path, silence="never").close()
    with opened(tmp_path, broken) as memory, pytest.raises(RuntimeError, match="the model is gone"):
        memory.search(QUESTION)


def test_a_reranker_must_be_a_function(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be a function"):
        Memory(tmp_path, reranker="cross-encoder")  # type: ignore[arg-type]  # on purpose
