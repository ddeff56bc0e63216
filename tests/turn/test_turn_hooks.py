"""Turns: what a model is given before one, what is kept of it once, and what matters at the start."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory, MemoryProject
from grail_mem.errors import ConflictError, InputError
from grail_mem.memory.session import Session
from grail_mem.tools import Toolbox
from grail_mem.turn.context import VERSION

SAID = "I prefer green tea over coffee. We decided to use Postgres for the orders."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder="none") as opened:
        yield opened


def opened(memory: Memory) -> Session:
    return memory.session(user_id="u1", agent_id="a", session="chat/1")


@pytest.fixture
def session(memory: Memory) -> Iterator[Session]:
    with opened(memory) as made:
        yield made


def turns(root: Path) -> list[dict[str, Any]]:
    lines = [line for path in root.glob("sources/chats/*.jsonl") for line in path.read_text().splitlines()[1:]]
    return [json.loads(line) for line in lines]


def test_preparing_stores_nothing_and_says_what_is_remembered(session: Session) -> None:
    """The envelope has the version, the turn, fenced text within the budget, and what it rests on."""
    assert session.prepare_turn_context("Where is the office?").abstention.reason == "nothing_stored"  # type: ignore[union-attr]
    id_ = session.add_observation(content="The office is in Bonn.").id
    before = sorted(session.root.rglob("*"))
    context = session.prepare_turn_context("Where is the office?", turn_id="m-1", budget=200)
    assert (context.version, context.turn_id, context.session) == (VERSION, "m-1", "chat/1")
    assert context.included == (id_,)
    assert context.text.startswith("<memories note=")
    assert 0 < context.tokens <= context.budget == 200
    assert not turns(session.root)
    assert [path for path in sorted(session.root.rglob("*")) if "output" not in path.parts] == [
        path for path in before if "output" not in path.parts
    ]
    assert json.loads(json.dumps(context.to_dict()))["observations"][0]["id"] == id_


@pytest.mark.parametrize("message", ["", "👍", "?!", "the", "Where is the office? " * 5_000])
def test_any_message_can_be_prepared_for(session: Session, message: str) -> None:
    """A sign, nothing at all or a whole book is answered, if with silence."""
    session.add_observation(content="The office is in Bonn.")
    context = session.prepare_turn_context(message)
    assert bool(context.observations) != bool(context.abstention)
    assert session.prepare_turn_context(message, budget=40).tokens <= 40 or context.abstention
    assert context.text


def test_a_context_is_a_tool_call_with_its_result(session: Session) -> None:
    """It stands behind what was said, with the same bytes every time, so the beginning of the prompt stays as it is."""
    session.add_observation(content="The office is in Bonn.")
    context = session.prepare_turn_context("Where is the office?", turn_id="m-1")
    call, result = context.as_messages("anthropic")
    assert (call["role"], result["role"]) == ("assistant", "user")
    assert call["content"][0]["id"] == result["content"][0]["tool_use_id"]
    assert result["content"][0]["content"] == context.text
    call, result = context.as_messages("openai")
    assert (call["type"], result["type"], call["call_id"]) == (
        "function_call",
        "function_call_output",
        result["call_id"],
    )
    assert json.loads(call["arguments"]) == {"query": "Where is the office?"}
    call, result = context.as_messages("openai-chat")
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]
    assert len(result["tool_call_id"]) <= 40
    again = session.prepare_turn_context("Where is the office?", turn_id="m-1")
    assert again.as_messages("openai") == context.as_messages("openai")
    assert session.prepare_turn_context("Where?", turn_id="m-2").as_messages()[0] != context.as_messages()[0]
    arguments = call["tool_calls"][0]["function"]["arguments"]
    assert not Toolbox(session).call("memory_search", arguments).is_error
    with pytest.raises(InputError, match="formats are"):
        context.as_messages("yaml")  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["anthropic", "openai", "openai-chat"])
def test_messages_can_be_sent_whatever_the_user_said(session: Session, format: Any) -> None:
    """Half a surrogate pair is no UTF-8, which every client of a model sends."""
    made = session.prepare_turn_context("Where is \ud800 the \0 office?").as_messages(format)
    assert json.dumps(made, ensure_ascii=False).encode()


def test_a_turn_is_kept_once(session: Session, memory: Memory) -> None:
    """Completed again, here, by its id, or by another process, it gives the same receipt and stores nothing more."""
    context = session.prepare_turn_context(SAID)
    receipt = session.complete_turn(context, assistant="Noted.", extract=True)
    assert [turn["text"] for turn in turns(session.root)] == [SAID, "Noted."]
    assert len(receipt.candidates) == 2
    with opened(memory) as other:
        later = other.complete_turn("m-2", user="I prefer trains over planes.", assistant="Yes.", extract=True)
        assert len(later.candidates) == 1
        for again in (
            session.complete_turn(context, assistant="Noted.", extract=True),
            other.complete_turn(context.turn_id, user=SAID, assistant="Noted.", extract=True),
        ):
            assert again == receipt
    assert len(turns(session.root)) == 4
    assert len(memory.candidates()) == 3
    quote = {"quote": "I prefer green tea over coffee", "source": receipt.turns[0]}
    assert session.remember("The user prefers green tea over coffee.", evidence=quote).created


def test_other_words_under_the_same_id_are_a_conflict(session: Session) -> None:
    """Neither side of a turn can be changed by completing it otherwise."""
    session.complete_turn("m-1", user=SAID, assistant="Noted.")
    for user, assistant in ((SAID, "No."), ("Something else.", "Noted."), ("Something else.", None)):
        with pytest.raises(ConflictError, match="m-1"):
            session.complete_turn("m-1", user=user, assistant=assistant)
    assert [turn["text"] for turn in turns(session.root)] == [SAID, "Noted."]
    assert len(session.complete_turn("m-1", user=SAID).turns) == 1


def test_a_secret_is_taken_out_and_the_turn_is_known_again(tmp_path: Path) -> None:
    """What screening takes out makes no other words of a turn."""
    (tmp_path / "grail.yaml").write_text("screening: redact\n")
    with Memory(tmp_path, embedder="none") as memory, opened(memory) as session:
        said = "The key is AKIAIOSFODNN7EXAMPLE, keep it."
        receipt = session.complete_turn("m-1", user=said, assistant="Done.")
        assert session.complete_turn("m-1", user=said, assistant="Done.") == receipt
        assert "AKIAIOSFODNN7EXAMPLE" not in "".join(turn["text"] for turn in turns(tmp_path))


def test_an_erased_turn_does_not_come_back(session: Session) -> None:
    """Completing it again keeps out what was erased, and says so."""
    session.complete_turn("m-1", user=SAID, assistant="Noted.")
    session.erase(session="chat/1", reason="asked")
    receipt = session.complete_turn("m-1", user=SAID, assistant="Noted.")
    assert (receipt.turns, bool(receipt.warnings)) == ((), True)
    assert not [turn for turn in turns(session.root) if turn.get("text")]


def test_what_was_just_said_can_be_quoted_before_the_turn_is_over(session: Session) -> None:
    """A quote of the message under way is found in it; words that it does not hold are not."""
    context = session.prepare_turn_context(SAID)
    box = Toolbox(session)
    written = {"content": "The user prefers green tea over coffee.", "quote": "I prefer green tea over coffee"}
    assert box.call("memory_write", written | {"quote": "I cannot stand coffee"}).is_error
    made = box.call("memory_write", written)
    assert made.structured["source_kind"] == "user_statement"
    receipt = session.complete_turn(context, assistant="Noted.")
    assert [turn["text"] for turn in turns(session.root)] == [SAID, "Noted."]
    evidence = session.get(made.structured["id"]).evidence[0]
    assert evidence.source == receipt.turns[0]


def test_the_opening_has_what_matters(session: Session) -> None:
    """Preferences, open tasks and late decisions, each once, within the budget; silent when there are none."""
    assert session.opening().abstention.reason == "nothing_stored"  # type: ignore[union-attr]
    session.add_observation(content="The office is in Bonn.")
    assert session.opening().abstention.reason == "no_match"  # type: ignore[union-attr]
    tea = session.add_observation(content="Prefers tea.", tags=["preference"]).id
    task = session.add_observation(content="Send the report.", kind="prospective", tags=["preference"]).id
    late = session.add_observation(content="Chose Postgres.", tags=["decision"]).id
    session.add_observation(content="Chose MySQL.", tags=["decision"], observed_at="2020-01-01")
    made = session.opening()
    assert set(made.included) == {tea, task, late}
    assert made.as_messages()[0]["content"][0]["input"] == {}
    assert len(session.opening(budget=90).included) < len(made.included)


@pytest.mark.parametrize(
    "wrong", [{"turn": ""}, {"turn": "x" * 151}, {"turn": "a\nb"}, {"user": ""}, {"user": 5, "assistant": " "}, {"at": "soon"}, {"user": None}]
)  # fmt: skip
def test_what_cannot_be_completed_is_refused_whole(session: Session, wrong: dict[str, Any]) -> None:
    """Ids, words and times are checked before anything is stored, all problems at once."""
    sent = {"turn": "m-1", "user": SAID} | wrong
    with pytest.raises(InputError) as caught:
        session.complete_turn(sent.pop("turn"), **sent)
    assert len(caught.value.problems) == len([name for name in wrong if name != "turn"] or [1])
    assert not turns(session.root)
    context = replace(session.prepare_turn_context(SAID), session="chat/other")
    with pytest.raises(InputError, match="chat/other"):
        session.complete_turn(context)
    for budget in (0, True, "many"):
        with pytest.raises(InputError):
            session.prepare_turn_context("Hello there", budget=budget)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 12, 13, 25, 60])
def test_silence_keeps_to_its_budget(session: Session, n: int) -> None:
    """That nothing is remembered is said with as much of the reason as fits; what takes not a word of it is refused."""
    for ask in (
        lambda: session.opening(budget=n),
        lambda: session.prepare_turn_context("Where is the office?", budget=n),
    ):
        if n < 3:
            with pytest.raises(InputError, match=f"budget of {n} tokens"):
                ask()
        else:
            assert ask().text.startswith("Nothing")
            assert ask().tokens <= n


DYING = """
import os, signal, sys
from grail_mem import Memory
from grail_mem.write import {module} as dying
with Memory({root!r}, embedder="none") as memory, memory.session(user_id="u1", agent_id="a", session="chat/1") as session:
    dying.{name} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
    session.complete_turn("m-1", user={said!r}, assistant="Noted.", extract=True)
"""


@pytest.mark.parametrize(
    ("module", "name", "kept"),
    [
        ("placed_sources", "place", 0),
        pytest.param("ingest", "make_durable", 2, marks=pytest.mark.slow),
        pytest.param("finishing", "submit", 2, marks=pytest.mark.slow),
    ],
)
def test_a_turn_killed_at_any_point_is_completed_later(tmp_path: Path, module: str, name: str, kept: int) -> None:
    """Both sides are there or none; completing it again ends where it would have ended."""
    with Memory(tmp_path, embedder="none") as memory:
        memory.init()
    script = DYING.format(module=module, name=name, root=str(tmp_path), said=SAID)
    died = subprocess.run([sys.executable, "-c", script], env=os.environ, check=False, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    with Memory(tmp_path, embedder="none") as memory, opened(memory) as session:
        assert len(turns(tmp_path)) == kept
        receipt = session.complete_turn("m-1", user=SAID, assistant="Noted.", extract=True)
        assert receipt == session.complete_turn("m-1", user=SAID, assistant="Noted.", extract=True)
        assert [turn["text"] for turn in turns(tmp_path)] == [SAID, "Noted."]
        assert len(memory.candidates()) == 2


def test_two_processes_that_complete_one_turn_differently_keep_one(memory: Memory) -> None:
    """The first one counts, whole; the other is told."""
    with opened(memory) as first, opened(memory) as second:
        first.complete_turn("m-1", user="Hello there.", assistant="Good morning.")
        with pytest.raises(ConflictError):
            second.complete_turn("m-1", user="Hello there.", assistant="Good evening.")
    assert [turn["text"] for turn in turns(memory.root)] == ["Hello there.", "Good morning."]


def test_the_twin_has_the_turn_too(tmp_path: Path) -> None:
    """The verbs of a session are coroutines of its asynchronous twin."""

    async def talk() -> tuple[str, ...]:
        async with (
            MemoryProject(tmp_path, embedder="none") as memory,
            memory.session(user_id="u1", agent_id="a", session="chat/1") as session,
        ):
            await session.opening()
            context = await session.prepare_turn_context("Hello there, friend.")
            return (await session.complete_turn(context, assistant="Good morning.")).turns

    assert len(asyncio.run(talk())) == 2
