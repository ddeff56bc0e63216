"""Calibration: labelled questions are checked whole, gates are judged by what they did not see, and count in their store alone."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_store import ANIMALS, answered, filled, ids, unanswered
from search_stores import hashed_words

from grail_mem import Memory
from grail_mem.errors import InputError, NotFoundError, StoreError
from grail_mem.recall.labelled import read_questions
from grail_mem.recall.ranking import shipped_weights
from grail_mem.recall.silence import auroc, crossed, fit_gate, shipped_gates

UNKNOWN = "01JXYZ00000000000000000000"


def problems(memory: Memory, path: Path, text: str | bytes) -> tuple[str, ...]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InputError) as refused:
        memory.calibrate(path)
    return refused.value.problems


def test_every_problem_of_every_line_is_said_at_once(tmp_path: Path) -> None:
    """By the number of the line, empty lines counted, and nothing is written."""
    with filled(tmp_path / "store") as memory:
        known = ids(memory)["otter says"]
        hidden = ids(memory)["heron says"]
        memory.hide(hidden)
        found = problems(
            memory,
            tmp_path / "asked.jsonl",
            "\n".join(
                [
                    f'{{"question": "Where?", "answers": ["{known.lower()}"], "asked_at": "2026-05-01"}}',
                    "",
                    '{"question": "a", "answers": ["X"], "gold": 1}',
                    "nothing",
                    "[1]",
                    '{"question": "b"}',
                    '{"question": "??", "answers": 3, "asked_at": "someday"}',
                    f'{{"question": "c", "answers": ["{UNKNOWN}", "{hidden}"]}}',
                    f'{{"question": "d", "answers": ["{known}", "{known}"]}}',
                    '{"question": "where?  ", "answers": [], "asked_at": "2026-05-01"}',
                    '{"question": "e", "question": "f", "answers": []}',
                    "[" * 100_000,
                    '{"question": "g", "answers": [1' + "0" * 5000 + "]}",
                ]
            ),
        )
        assert not (tmp_path / "store/gates.json").exists()
    said = "\n".join(found)
    for text in (
        "line 3: there is no key 'gold'", "line 3: answers: 'X' is no id.", "line 4: not JSON: ", "line 5: must be an object",
        "line 6: answers is missing.", "line 7: question: must be a question in words", "line 7: answers: must be a list of ids",
        "line 7: asked_at", f"line 8: there is no observation {UNKNOWN}", f"line 8: there is no observation {hidden}",
        f"line 9: answers: holds {known} 2 times.", "line 10: asks the same as line 1.", "line 11: a key stands there twice.",
        "line 12: not JSON", "line 13: ",
    ):  # fmt: skip
        assert text in said, text
    assert "line 1:" not in said
    assert "line 2:" not in said


def test_files_that_hold_no_questions_are_refused(tmp_path: Path) -> None:
    with filled(tmp_path / "store") as memory:
        path = tmp_path / "asked.jsonl"
        assert problems(memory, path, "\n \n") == ("There is no question.",)
        assert problems(memory, path, b"\xff\xfe")[0].startswith("line 1: not UTF-8 text")
        assert "at most 10000" in problems(memory, path, '{"question": "a"}\n' * 10_001)[-1]
        with pytest.raises(NotFoundError):
            memory.calibrate(tmp_path / "nowhere.jsonl")
        with pytest.raises(InputError, match="no path"):
            memory.calibrate("a\0b")
        with pytest.raises(StoreError):
            memory.calibrate(tmp_path)
        for wrong in (3, {"question": "a"}, b"a", [3], [None]):
            with pytest.raises(InputError):
                memory.calibrate(wrong)  # type: ignore[arg-type]  # on purpose


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["question", "answers", "asked_at", "x"]), inner),
    max_leaves=8,
)  # fmt: skip


@given(st.lists(JSON, max_size=4), st.binary(max_size=30))
def test_no_input_does_more_than_be_refused(
    tmp_path_factory: pytest.TempPathFactory, values: list[object], tail: bytes
) -> None:
    """Whatever a file holds, it is questions or an `InputError` with reasons."""
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(b"\n".join([json.dumps(value).encode() for value in values] + [tail]))
    for source in (path, values):
        with contextlib.suppress(InputError):
            read = read_questions(source, known=lambda ids: ids, now=datetime(2026, 6, 1, tzinfo=UTC), zone="UTC")  # type: ignore[arg-type]  # any
            assert all(q.text for q in read)


def test_too_few_questions_of_a_kind_are_refused(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        with pytest.raises(InputError, match="1 question without one; at least 20 of each kind"):
            memory.calibrate([*answered(memory), *unanswered()[:1]])
        with pytest.raises(InputError, match="19 questions with an answer; at least 20"):
            memory.calibrate([*answered(memory)[:19], *unanswered()])


def test_a_calibration_makes_the_store_silent_where_it_has_no_answer(tmp_path: Path) -> None:
    """Without gates nothing is withheld; with them what is unanswerable is, here, in an open memory and in a new one."""
    with filled(tmp_path) as memory, Memory(tmp_path, embedder=hashed_words()) as other:
        before = other.search("Where does the sky burn?")
        assert any("No gates are calibrated for hashed-words" in text for text in before.warnings)
        assert before.observations
        questions = [*answered(memory), *unanswered()]
        seen: list[tuple[str, int, int]] = []
        tried = memory.calibrate(questions, dry_run=True, progress=lambda *said: seen.append(said))
        assert seen[-1] == ("asking", len(questions), len(questions))
        assert tried.path is None
        assert not (tmp_path / "gates.json").exists()
        done = memory.calibrate(questions)
        assert done.path == str(tmp_path / "gates.json")
        assert done.topic == tried.topic
        assert (done.embedder, done.recipe, done.topic.before) == ("hashed-words", "vectors", None)
        assert (done.topic.n_answered, done.topic.n_unanswered) == (len(ANIMALS), len(unanswered()))
        assert done.topic.after.auroc > 0.95
        assert min(done.topic.after.answered, done.topic.after.silent) > 0.8
        assert json.loads(json.dumps(done.to_dict()))["gates"]["weights"] == shipped_weights()["vectors"].mark
        for opened in (memory, other):
            nothing = opened.search("Where does the comet burn tonight?")
            assert nothing.abstention is not None
            assert nothing.abstention.reason == "below_floor"
            assert not nothing.warnings
            found = opened.search("Where does the otter sleep?")
            assert found.observations[0].title.startswith("otter")
        again = memory.calibrate(questions, dry_run=True)
        assert again.topic.before is not None
        assert again.topic.before.auroc >= done.topic.after.auroc  # it saw these very questions
        assert memory.reset_gates()
        assert not memory.reset_gates()
        assert any("No gates" in text for text in other.search("Where does the sky burn?").warnings)


def test_gates_of_one_embedder_leave_those_of_others(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        questions = [*answered(memory), *unanswered()]
        memory.calibrate(questions)
    with Memory(tmp_path, embedder="none") as bare:
        done = bare.calibrate(questions)
        assert done.topic.before is not None  # those shipped
    assert set(json.loads((tmp_path / "gates.json").read_text())["gates"]) == {"hashed-words", "none"}


def test_a_speaker_gate_needs_questions_that_ask_for_somebody(tmp_path: Path) -> None:
    """With 20 of each kind that do there is one; with fewer, the one in force stays."""
    with Memory(tmp_path, embedder="none") as memory:
        memory.add_observations(
            {"content": f"I keep the {animal} in my garden.", "speaker": who, "session": f"s{n}", "turn": turn}
            for n, animal in enumerate(ANIMALS)
            for turn, who in enumerate(("Ann", "Bob") if n % 2 else ("Bob", "Ann"))
            if turn == 0
        )
        found = {o.content: o for o in memory.recall(limit=1000).observations}
        asked = []
        for animal in ANIMALS:
            o = found[f"I keep the {animal} in my garden."]
            for who in ("Ann", "Bob"):
                asked.append(
                    {"question": f"Where does {who} keep the {animal}?", "answers": [o.id] if o.speaker == who else []}
                )
        done = memory.calibrate(asked, dry_run=True)
        assert done.speaker is not None
        assert done.speaker.after.auroc > 0.9
        assert (done.speaker.n_answered, done.speaker.n_unanswered) == (len(ANIMALS), len(ANIMALS))
        assert done.gates.speaker != shipped_gates()["none"].speaker
        few = [*(q for q in asked if q["answers"]), *unanswered()]
        done = memory.calibrate(few, dry_run=True)
        assert done.speaker is None
        assert done.gates.speaker == shipped_gates()["none"].speaker


def test_figures_are_of_answers_that_the_gate_did_not_see() -> None:
    """Where signals tell nothing, a gate tells its own answers apart and no others."""
    chance = np.random.default_rng(3)
    signals, is_yes = chance.normal(size=(40, 12)), [n % 2 == 0 for n in range(40)]
    gate = fit_gate([s for s, y in zip(signals, is_yes, strict=True) if y], signals[1::2])
    own = [gate.score(s) for s in signals]
    held = crossed([tuple(s) for s in signals], is_yes, [n // 2 % 4 for n in range(40)])
    assert auroc(own[0::2], own[1::2]) > 0.8
    assert auroc([h.score for h in held][0::2], [h.score for h in held][1::2]) < 0.65


def test_gates_for_other_weights_do_not_count_and_a_warning_says_so(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        memory.calibrate([*answered(memory), *unanswered()])
        path = tmp_path / "gates.json"
        path.write_text(path.read_text().replace(shipped_weights()["vectors"].mark, "0" * 16))
        answer = memory.search("Where does the comet burn tonight?")
        assert answer.observations
        assert answer.coverage == "partial"
        assert [text for text in answer.warnings if "other weights" in text and "grail calibrate" in text]


def test_shipped_gates_are_for_shipped_weights() -> None:
    """Whoever fits the weights anew has to calibrate the gates anew."""
    marks = {name: gates.weights for name, gates in shipped_gates().items()}
    assert marks == {
        "all-MiniLM-L6-v2-int8": shipped_weights()["words"].mark,
        "none": shipped_weights()["lexical"].mark,
    }


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", '{"version": 99, "gates": {}}', '{"version": 2, "gates": []}', '{"version": 2, "gates": {"none": {}}}',
        '{"version": 2, "gates": {"none": {"weights": "x", "topic": {"bias": 0, "weights": [1, 2, 3], "floor": 0, "sure": 1}}}}',
        '{"version": 2, "gates": {"none": {"weights": "x", "topic": {"bias": NaN, "weights": [1, 2, 3, 4, 5, 6], "floor": 0, "sure": 1}}}}',
        '{"version": 2, "gates": {"none": {"weights": "x", "topic": {"bias": 0, "weights": [1, 2, 3, 4, 5, 6], "floor": 2, "sure": 1}}}}',
        '{"version": 2, "gates": {"none": {"weights": "x", "topic": {"bias": true, "weights": [1, 2, 3, 4, 5, 6], "floor": 0, "sure": 1}}}}',
    ],
)  # fmt: skip
def test_gates_that_cannot_be_read_are_an_error_and_no_silence(tmp_path: Path, text: str) -> None:
    with filled(tmp_path, embedder="none") as memory:
        (tmp_path / "gates.json").write_text(text)
        with pytest.raises(InputError, match=r"gates\.json in the root .* --reset"):
            memory.search("Where does the otter sleep?")
        memory.reset_gates()
        assert memory.search("Where does the otter sleep?").observations


def test_what_has_no_vector_yet_is_not_calibrated_with(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        with Memory(tmp_path) as other:  # which does not search, and so embeds nothing
            other.add_observation(content="The newt sleeps late.")
        with pytest.raises(InputError, match="1 passages have no vector yet"):
            memory.calibrate([*answered(memory), *unanswered()])
    with filled_again(tmp_path, "lexical") as memory:  # which no vector counts for
        assert memory.calibrate([*answered(memory), *unanswered()]).embedder == "none"


def filled_again(root: Path, ranking: str) -> Memory:
    (root / "grail.yaml").write_text(f"ranking: {ranking}\n")
    return Memory(root, embedder=hashed_words())


def test_reciprocal_ranks_are_not_calibrated(tmp_path: Path) -> None:
    with filled(tmp_path, ranking="reciprocal_rank") as memory, pytest.raises(InputError, match="never silent"):
        memory.calibrate([*answered(memory), *unanswered()])
