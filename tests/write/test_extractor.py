"""Extractors and reviewers of somebody's own: what they return is checked, and what goes wrong changes nothing."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem import InputError, Memory, MemoryProject, ServiceError
from grail_mem.memory.session import Session
from grail_mem.store.sources import Turn
from grail_mem.write.extraction import Extracted
from grail_mem.write.extractor import RuleExtractor
from grail_mem.write.reviewer import Review, Reviewable, reviews_of

TURNS = [
    {"role": "user", "text": "I prefer concise answers. We decided to drop Python 3.9."},
    {"role": "user", "text": "My sister's home is Oslo."},
]
SECRET = "sk-test-Zr8Kq2Vn5Tb9Xw3Lm7Hd1Pf6"


class Own:
    """An extractor and a reviewer made of a function."""

    def __init__(self, answer: Callable[[Any], Any], name: Any = "own") -> None:
        self.name, self.answer = name, answer

    def extract(self, turns: Sequence[Turn]) -> Any:
        return self.answer(turns)

    def review(self, candidates: Sequence[Reviewable]) -> Any:
        return self.answer(candidates)


def sister(turns: Sequence[Turn], **other: Any) -> Extracted:
    said = {"claim": "The user's sister's home is Oslo.", "quote": "My sister's home is Oslo.", "turn": turns[1]}
    return Extracted(**{**said, "rule": "fact", "kind": "semantic", "attribute": "user/sister", **other})


def same(shown: Sequence[Reviewable]) -> list[Review]:
    return [Review(one.id, "keep", one.confidence) for one in shown]


def fail(_: Any) -> Any:
    raise RuntimeError(f"the key {SECRET} and My sister's home is Oslo.")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder="none") as opened:
        yield opened


@pytest.fixture
def session(memory: Memory) -> Iterator[Session]:
    with memory.session(user_id="u", agent_id="a") as opened:
        opened.ingest_chat(TURNS)
        yield opened


def _claims(session: Session) -> set[str]:
    return {one.observation.content for one in session.candidates() if one.observation}


def test_several_extractors_add_up_and_the_first_has_the_words(session: Session) -> None:
    """What the rules find stays theirs, whatever a later one makes of the same words."""

    def answer(turns: Sequence[Turn]) -> list[Extracted]:
        rules = RuleExtractor().extract(turns)
        return [sister(turns, quote=rules[0].quote, turn=rules[0].turn), sister(turns), sister(turns)]

    assert len(session.finish(extractor=[RuleExtractor(), Own(answer)])) == 3
    assert _claims(session) == {
        "The user prefers concise answers.", "The user's group decided to drop Python 3.9.", "The user's sister's home is Oslo.",
    }  # fmt: skip


def test_another_extractor_is_instead_of_the_rules(session: Session) -> None:
    session.finish(extractor=Own(lambda turns: [sister(turns)]))
    assert _claims(session) == {"The user's sister's home is Oslo."}


def test_several_reviewers_narrow_one_after_the_other(session: Session) -> None:
    """The second one sees what the first one left."""
    seen: list[list[float]] = []

    def halve(shown: Sequence[Reviewable]) -> list[Review]:
        seen.append([one.confidence for one in shown])
        return [Review(one.id, "drop" if "Python" in one.quote else "keep", one.confidence / 2) for one in shown]

    done = session.finish(reviewer=[Own(halve, "first"), Own(halve, "second")])
    assert seen == [[0.95, 0.95], [0.475]]
    assert [one.observation.confidence for one in session.candidates() if one.observation] == [0.2375]
    assert done.warnings == ("rules: turn 0: dropped by first.",)
    assert done.to_dict() == {"submitted": [done[0].to_dict()], "warnings": list(done.warnings)}


def test_a_reviewer_is_not_asked_about_nothing(session: Session) -> None:
    assert not session.finish(extractor=Own(lambda _: []), reviewer=Own(fail))


@pytest.mark.parametrize("who", ["extractor", "reviewer"])
@pytest.mark.parametrize(
    "answer", [fail, lambda _: None, lambda _: "text", lambda _: [1], lambda given: iter(given), lambda _: {}]
)
def test_whatever_one_returns_or_raises_nothing_is_submitted(who: str, answer: Any, session: Session) -> None:
    """The error names it, and holds neither its words nor its cause."""
    with pytest.raises(ServiceError, match=rf"The {who} own .*Nothing was submitted") as caught:
        session.finish(**{who: [RuleExtractor(), Own(answer)] if who == "extractor" else [Own(same), Own(answer)]})
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert "lives in Oslo" not in shown
    assert caught.value.__context__ is None
    assert not session.candidates()


def test_an_interrupt_is_not_swallowed(session: Session) -> None:
    def stop(_: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.finish(extractor=Own(stop))
    assert not session.candidates()


@pytest.mark.parametrize("other", [
    {"turn": Turn(0, "x", "user", "My sister's home is Oslo.", path="sources/chats/other.jsonl")},
    {"turn": "../../secret"}, {"turn": None}, {"quote": None}, {"claim": 3}, {"rule": "order"}, {"kind": "x"},
    {"attribute": "a" * 2_000}, {"quote": "My sister lives in Rome."}, {"quote": "Oslo"}, {"claim": "a\nb"},
    {"claim": "The user's brother lives in Oslo."}, {"claim": "x" * 100_000}, {"claim": ""}, {"quote": "y" * 100_000},
])  # fmt: skip
def test_what_does_not_hold_is_left_out(other: dict[str, Any], session: Session) -> None:
    """With a warning; the draft beside it stays."""
    done = session.finish(extractor=Own(lambda turns: [sister(turns, **other), *RuleExtractor().extract(turns)[:1]]))
    assert _claims(session) == {"The user prefers concise answers."}
    assert len(done.warnings) == 1
    assert done.warnings[0].startswith("own: ")
    assert len(done.warnings[0]) < 600


def test_a_turn_of_somebody_else_cannot_be_quoted(memory: Memory, session: Session) -> None:
    """Even when an extractor knows it."""
    with memory.session(user_id="v", agent_id="a") as other:
        other.ingest_chat([{"role": "user", "text": "My sister's home is Oslo."}])
        turns: list[Turn] = []
        other.finish(extractor=Own(lambda given: turns.extend(given) or []))
    done = session.finish(extractor=Own(lambda given: [sister(given, turn=turns[0])]))
    assert (len(done), len(done.warnings)) == (0, 1)


def test_what_is_deleted_while_somebody_is_asked_is_not_submitted(session: Session) -> None:
    """The quote is looked for again, and the whole is refused."""

    def delete(shown: Sequence[Reviewable]) -> list[Review]:
        for path in (session.root / "sources" / "chats").rglob("*.jsonl"):
            path.unlink()
        return same(shown)

    with pytest.raises(InputError, match="Nothing was submitted"):
        session.finish(reviewer=Own(delete))
    assert not session.candidates()


def test_the_store_can_be_used_while_somebody_is_asked(session: Session) -> None:
    """By other threads too: an answer can take a minute."""
    done: list[str] = []

    def answer(turns: Sequence[Turn]) -> list[Extracted]:
        thread = Thread(target=lambda: done.append(session.add_observation(content="Meanwhile.").id))
        thread.start()
        thread.join(30)
        assert not thread.is_alive()
        return [sister(turns)]

    assert len(session.finish(extractor=Own(answer))) == 1
    assert len(done) == 1


def test_without_extraction_nobody_is_asked(session: Session) -> None:
    assert not session.finish(extract=False, extractor=Own(fail), reviewer=Own(fail))


@pytest.mark.parametrize("who", ["extractor", "reviewer"])
@pytest.mark.parametrize("value", [
    "rules", 3, object(), Own, Own(fail, ""), Own(fail, " x"), Own(fail, None), Own(fail, "a\nb"), Own(fail, "x" * 101),
])  # fmt: skip
def test_what_is_none_is_refused_with_all_problems(who: str, value: Any, session: Session) -> None:
    """Before anything is read."""
    with pytest.raises(InputError) as caught:
        session.finish(**{who: [value, Own(same), value]})
    assert len(caught.value.problems) == 2


def test_coroutines_take_them_too(tmp_path: Path) -> None:
    async def run() -> int:
        async with (
            MemoryProject(tmp_path, embedder="none") as memory,
            memory.session(user_id="u", agent_id="a") as session,
        ):
            await session.ingest_chat(TURNS)
            return len(await session.finish(extractor=Own(lambda turns: [sister(turns)]), reviewer=Own(same)))

    assert asyncio.run(run()) == 1


SHOWN = tuple(Reviewable(str(n), "claim", "quote", "", "a", 0.5) for n in range(3))
ANSWERS = st.lists(
    st.builds(
        Review,
        st.sampled_from(["0", "1", "2", "3", ""]) | st.integers(),  # type: ignore[arg-type]
        st.sampled_from(["keep", "drop"]) | st.text(max_size=3),  # type: ignore[arg-type]
        st.floats() | st.sampled_from([0.0, 0.2, 0.5, True]),
    ),
    max_size=5,
)


@given(ANSWERS | st.permutations([Review(one.id, "keep", 0.5) for one in SHOWN]))
def test_an_answer_that_is_used_names_each_once_and_raises_nothing(answer: list[Any]) -> None:
    """And only such a one is."""
    holds = (
        sorted(map(str, (one.id for one in answer))) == ["0", "1", "2"]
        and all(isinstance(one.id, str) for one in answer)
        and all(one.verdict in ("keep", "drop") for one in answer)
        and all(one.confidence is not True and 0 <= one.confidence <= 0.5 for one in answer)
    )
    try:
        used = reviews_of(Own(lambda _: answer), SHOWN)
    except ServiceError:
        assert not holds
    else:
        assert holds
        assert set(used) == {"0", "1", "2"}
