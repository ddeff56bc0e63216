"""What a conversation says becomes candidates with its exact words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem import Memory
from grail_mem.store.sources import Turn
from grail_mem.write.extraction import extract

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from extraction_lines import turns


@pytest.mark.parametrize(("rule", "text"), turns())
def test_a_turn_says_this_and_nothing_else(rule: str, text: str) -> None:
    """Every turn of the labelled list; the quote stands in it."""
    found = extract([Turn(0, "t", "user", text)])
    assert [one.rule for one in found] == ([] if rule == "-" else [rule])
    assert all(one.quote in text for one in found)


CLAIMS = {
    "I prefer concise answers in my reports.": "Lena prefers concise answers in Lena's reports.",
    "I always try new tools.": "Lena always tries new tools.",
    "I'll send the report by Friday.": "Lena will send the report by Friday.",
    "No, the meeting is on Wednesday.": "The meeting is on Wednesday.",
    "We decided to drop Python 3.9.": "Lena's group decided to drop Python 3.9.",
}


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_is_in_the_third_person(text: str) -> None:
    """It says who, so that it can be read without the conversation."""
    assert [one.claim for one in extract([Turn(0, "t", "user", text, "Lena")])] == [CLAIMS[text]]


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_only_the_user_speaks_for_the_user(role: str) -> None:
    """What a model or a tool says is no preference of anybody."""
    assert not extract([Turn(0, "t", role, "I prefer concise answers in reports.")])


@given(st.text(max_size=400), st.sampled_from([text for _, text in turns()]))
def test_every_quote_is_exact(before: str, text: str) -> None:
    """Whatever stands around it."""
    said = f"{before}\n{text}"
    assert all(one.quote in said for one in extract([Turn(0, "t", "user", said)]))


@pytest.mark.parametrize(
    "piece", ["I prefer ", "the ", "I will by ", "a.b", "My my ", "no, the ", " ", "I decided to go by Friday "]
)
def test_hostile_turns_are_read_in_one_go(piece: str) -> None:
    """A rule whose time grows with the square of the turn would not come to an end."""
    assert isinstance(extract([Turn(0, "t", "user", piece * (20_000 // len(piece)))]), tuple)
    assert not extract([Turn(0, "t", "user", piece * 100_000)])


def test_a_session_that_ends_submits_what_was_said(tmp_path: Path) -> None:
    """Once; it counts when it is approved, with its quote as evidence and the session's scope."""
    with Memory(tmp_path, embedder="none") as memory, memory.session(user_id="u1", agent_id="a") as session:
        session.ingest_chat([
            {"role": "user", "text": "I prefer concise answers. Do you like tea?", "at": "2026-06-02T10:00:00Z"},
            {"role": "assistant", "text": "I prefer long answers.", "at": "2026-06-02T10:01:00Z"},
        ])  # fmt: skip
        (made,) = session.finish()
        assert not session.finish()[0].created
        assert not session.finish(extract=False)
        assert not memory.recall().observations
        (waiting,) = memory.candidates(origin="extraction")
        assert waiting.observation is not None
        assert waiting.observation.evidence[0].quote == "I prefer concise answers."
        assert memory.approve(made.id)[0].done
        (found,) = session.recall().observations
        assert (found.content, found.scope, found.tags) == (
            "The user prefers concise answers.",
            "agent:a/u1",
            ("preference",),
        )
