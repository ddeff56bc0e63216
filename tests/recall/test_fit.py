"""Fit: weights move towards labelled questions as far as helps others, and a few questions cannot wreck them."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from labelled_store import ANIMALS, answered, filled, unanswered

from grail_mem import Memory
from grail_mem.errors import InputError, MissingDependencyError
from grail_mem.recall.fitting import Fitted, Labelled, Prior, crossed, fit, losses_of
from grail_mem.recall.ranking import shipped_weights

pytest.importorskip("scipy")


def made_questions(n: int, truth: np.ndarray, seed: int = 0, noise: float = 0.5) -> list[Labelled]:
    """Questions whose gold is the candidate that scores best by some weights and a bit of chance."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        columns = chance.normal(size=(30, len(truth)))
        gold = np.argmax(columns @ truth + chance.normal(size=30) * noise)
        made.append(Labelled(columns, np.arange(30), np.arange(30) == gold))
    return made


@pytest.mark.slow
def test_a_strong_prior_is_kept_and_a_weak_one_left() -> None:
    truth, prior = np.array([2.0, 0.0, -1.0]), np.array([0.0, 2.0, 1.0])
    questions = made_questions(60, truth)
    kept = fit(questions, Prior(prior, 0.0, 1e6))
    assert kept.weights == pytest.approx(prior, abs=1e-3)
    left = fit(questions, Prior(prior, 0.0, 1e-3))
    assert left.weights[0] > 1 > abs(left.weights[1])
    losses = [losses_of(questions, fit(questions, Prior(prior, 0.0, s)).weights).mean() for s in (1e6, 1.0, 0.1, 1e-3)]
    assert losses == sorted(losses, reverse=True)


def test_the_mean_candidate_keeps_its_score() -> None:
    """So that scores stay comparable with those of other recipes."""
    prior = np.array([0.5, 1.0, 0.0])
    questions = made_questions(40, np.array([2.0, 0.0, -1.0]))
    fitted = fit(questions, Prior(prior, 0.7, 0.1))
    mean = np.mean([q.columns.mean(axis=0) for q in questions], axis=0)
    assert mean @ fitted.weights + fitted.bias == pytest.approx(mean @ prior + 0.7)


def test_a_feature_that_hardly_varies_cannot_get_a_large_weight() -> None:
    """One passage in a hundred has it, and is the gold, by chance."""
    questions = made_questions(30, np.array([1.0, 0.0]))
    for q in questions:
        q.columns[:, 1] = q.is_gold * 0.01
    free = fit(questions)
    near = fit(questions, Prior(np.array([1.0, 0.0]), 0.0, 0.1))
    assert abs(near.weights[1]) < 10 < abs(free.weights[1])


def test_the_slope_of_the_loss_is_its_slope() -> None:
    """Several golds, several passages of one gold, questions of different size."""
    from grail_mem.recall.fitting import _Trained

    chance = np.random.default_rng(1)
    parts = [(chance.normal(size=(g, 4)), chance.normal(size=(o, 4))) for g, o in ((1, 3), (2, 7), (3, 1))]
    trained = _Trained(parts, np.array([0.5, 0.2, 0.3]))
    at = chance.normal(size=4)
    _, slope = trained.loss(at)
    for i in range(4):
        step = np.eye(4)[i] * 1e-6
        assert slope[i] == pytest.approx((trained.loss(at + step)[0] - trained.loss(at - step)[0]) / 2e-6, abs=1e-6)


def test_no_question_is_scored_by_weights_that_saw_it() -> None:
    questions = made_questions(12, np.array([1.0, 0.0]))
    folds = [n % 3 for n in range(12)]
    seen: list[set[int]] = []

    def learn(some: list[Labelled]) -> Fitted:
        seen.append({id(q) for q in some})
        return Fitted(np.full(2, float(len(seen))), 0.0, 0.0)

    scores = crossed(questions, folds, learn)  # type: ignore[arg-type]  # a list is what is passed
    for q, fold, score in zip(questions, folds, scores, strict=True):
        assert id(q) not in seen[fold]
        assert len(seen[fold]) == 8
        assert score == pytest.approx(q.columns.sum(axis=1) * (fold + 1))


@pytest.mark.slow
def test_a_store_where_other_things_count_gets_weights_of_its_own(tmp_path: Path) -> None:
    """Here what asks is wanted and not what says; the fit learns it, and gates for other weights do not count any more."""
    with filled(tmp_path) as memory, filled_again(tmp_path) as other:
        memory.calibrate([*answered(memory, "asks"), *unanswered()])
        assert memory.search("Where does the otter sleep?").observations[0].title == "otter says"
        tried = memory.fit(answered(memory, "asks"), dry_run=True)
        assert (tried.path, tried.is_better) == (None, True)
        assert not (tmp_path / "weights.json").exists()
        seen: list[tuple[str, int, int]] = []
        done = memory.fit([*answered(memory, "asks"), *unanswered()], progress=lambda *said: seen.append(said))
        assert {name for name, _, _ in seen} == {"asking", "fitting"}
        assert all(done_ <= total for _, done_, total in seen)
        assert seen[-1][1] == seen[-1][2]
        assert (done.recipe, done.n_questions, done.n_not_found) == ("vectors", len(ANIMALS), 0)
        assert done.before["MRR"] == pytest.approx(0.5)
        assert done.after["MRR"] > 0.9
        assert done.weights.of["is_question"] > shipped_weights()["vectors"].of["is_question"]
        assert done.path == str(tmp_path / "weights.json")
        assert json.loads(json.dumps(done.to_dict()))["is_better"] is True
        for opened in (memory, other):
            answer = opened.search("Where does the otter sleep?")
            assert answer.observations[0].title == "otter asks"
            assert [text for text in answer.warnings if "other weights" in text]
        memory.calibrate([*answered(memory, "asks"), *unanswered()])
        assert not other.search("Where does the otter sleep?").warnings
        memory.reset_weights()
        answer = other.search("Where does the otter sleep?")
        assert answer.observations[0].title == "otter says"
        assert [text for text in answer.warnings if "other weights" in text]


def filled_again(root: Path) -> Memory:
    from search_stores import hashed_words

    return Memory(root, embedder=hashed_words())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_questions_with_answers_by_chance_wreck_nothing(tmp_path: Path, seed: int) -> None:
    """Which of two is the answer is thrown by a coin: nothing is to be learnt, and what was found before still is."""
    with filled(tmp_path, embedder="none", silence="never") as memory:
        chance = random.Random(seed)
        coin = [chance.choice(pair) for pair in zip(answered(memory, "says"), answered(memory, "asks"), strict=True)]
        done = memory.fit(coin, force=True)
        assert done.after["any@5"] == 1
        for animal in ANIMALS:
            best = memory.search(f"Where does the {animal} sleep?").observations[:2]
            assert {o.title for o in best} == {f"{animal} says", f"{animal} asks"}


@pytest.mark.slow
def test_perfect_weights_are_left_as_they_are(tmp_path: Path) -> None:
    with filled(tmp_path, embedder="none") as memory:
        done = memory.fit(answered(memory))
        assert done.before["MRR"] == 1
        assert (done.is_better, done.path) == (False, None)


@pytest.mark.slow
def test_a_recipe_can_be_named(tmp_path: Path) -> None:
    """Its weights are written beside those of others."""
    with filled(tmp_path) as memory:
        for recipe in ("lexical", "vectors"):
            assert memory.fit(answered(memory, "asks"), recipe=recipe).recipe == recipe
        assert set(json.loads((tmp_path / "weights.json").read_text())) == {"version", "vectors", "lexical"}
        with pytest.raises(InputError, match="the recipes are words, vectors, lexical"):
            memory.fit(answered(memory), recipe="weighted")
        with pytest.raises(InputError, match="needs vectors of words"):
            memory.fit(answered(memory), recipe="words")


def test_too_few_questions_are_refused(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        with pytest.raises(InputError, match="19 of 19 questions with an answer can teach something; at least 20"):
            memory.fit([*answered(memory)[:19], *unanswered()])
        with pytest.raises(InputError, match="0 of 0 questions"):
            memory.fit(unanswered())


@pytest.mark.slow
def test_reciprocal_ranks_have_no_weights(tmp_path: Path) -> None:
    with filled(tmp_path, ranking="reciprocal_rank") as memory:
        with pytest.raises(InputError, match="has no weights"):
            memory.fit(answered(memory))
        assert memory.fit(answered(memory), recipe="lexical", dry_run=True).recipe == "lexical"


def test_without_scipy_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with filled(tmp_path, embedder="none") as memory, pytest.raises(MissingDependencyError, match=r"grail-mem\[fit\]"):
        memory.fit(answered(memory, "asks"))
