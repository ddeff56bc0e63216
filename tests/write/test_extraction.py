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
    "I prefer concise answers in my reports.": "Lena prefers concise answers in their reports.",
    "I always try new tools.": "Lena always tries new tools.",
    "I'll send the report by Friday.": "Lena will send the report by Friday.",
    "No, the meeting is on Wednesday.": "The meeting is on Wednesday.",
    "We decided to drop Python 3.9.": "Lena's group decided to drop Python 3.9.",
    "I like to bake when I'm sad and my kids are out.": "Lena likes to bake when they are sad and their kids are out.",
    "I live in Bern and work at Acme.": "Lena lives in Bern and works at Acme.",
    "I don't eat meat since I was ill.": "Lena doesn't eat meat since they were ill.",
    "By the way, I just got back from a week in Oslo, any tips on jet lag?": "Lena just got back from a week in Oslo.",
    "Great! Also, I've been learning the lute since March – could you find me a teacher?": "Lena has been learning the lute since March.",
    "I'm allergic to walnuts.": "Lena is allergic to walnuts.",
    "I'm currently 32 years old.": "Lena is currently 32 years old.",
    "I'm planning a trip to Rome in May and was wondering if you could help.": "Lena is planning a trip to Rome in May.",
    "Last week, my grandma passed away.": "Last week, Lena's grandma passed away.",
    "Last Friday I made a cake - it was good.": "Last Friday, Lena made a cake - it was good.",
    "My sister Ann and I went to Lyon last weekend.": "Lena and Lena's sister Ann went to Lyon last weekend.",
    'I started reading "The Nightingale" today.': 'Lena started reading "The Nightingale" today.',
    "I bought a model of the Tiger I tank yesterday.": "Lena bought a model of the Tiger I tank yesterday.",
    "I moved to the US in 2019 and it changed us.": "Lena moved to the US in 2019 and it changed them.",
}


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_is_in_the_third_person(text: str) -> None:
    """It says who, so that it can be read without the conversation."""
    assert [one.claim for one in extract([Turn(0, "t", "user", text, "Lena")])] == [CLAIMS[text]]


@pytest.mark.parametrize(
    "text",
    [
        "I like the idea of a shared gift.",
        "I love the sound of that casserole!",
        "I like the suggestions, especially the neutral heels.",
        "I love his tech and that sarcastic humor.",
        "I never thought about that so deeply before.",
        "I'll definitely keep those tips in mind.",
        "I'm looking for some vegan recipes for my next dinner party.",
        "I have a question about my lease.",
        "I need help with my resume.",
        "I'm going to try that this way first.",
        "I've been thinking about adding some candles.",
        "Dana told me, I moved to Rome last year.",
        'She wrote: "I just sold the house."',
        "I think I bought the wrong one last week.",
        "I'm considering one of these brands.",
        "I hate pizza with cheese. Just kidding!",
        "I just sold the boat last week. Well, almost.",
        "If I finally sold the boat last year, I would know.",
        "Rewrite this letter for me.\nI live in Bern and I just bought a boat last week. " + "It was fun. " * 40,
    ],
)
def test_what_is_about_the_talk_or_said_by_others_is_passed_over(text: str) -> None:
    """It says nothing once the talk is over, or nobody said it of themselves."""
    assert not extract([Turn(0, "t", "user", text, "Lena")])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Bern with my dog.", "I live in Oslo now."),
        ("I love raw onions.", "I hate raw onions now."),
        ("I always eat meat at lunch.", "I never eat meat at lunch."),
        ("My birthday is in May.", "My birthday is not in May but in June."),
        ("The course starts on 2026-07-01.", "No, the course starts on 2026-08-01."),
        ("I'm 32 years old.", "I am 33 years old."),
    ],
)
def test_what_changes_has_one_name(one: str, other: str) -> None:
    """So that the later one takes the place of the earlier, once both are approved."""
    (first,), (second,) = (extract([Turn(0, "t", "user", text, "Ann")]) for text in (one, other))
    assert first.attribute == second.attribute != ""


def test_a_speaker_without_a_name_is_the_user() -> None:
    """Within a sentence as at its beginning."""
    (found,) = extract([Turn(0, "t", "user", "Yesterday, I moved to Bern, and my sister came, too.")])
    assert found.claim == "Yesterday, the user moved to Bern, and the user's sister came, too."


def test_a_speaker_whose_name_has_no_letters() -> None:
    """The fact is about the user then."""
    (found,) = extract([Turn(0, "t", "user", "I live in Bern with my dog.", "😀 {0}")])
    assert found.claim == "😀 {0} lives in Bern with 😀 {0}'s dog."
    (other,) = extract([Turn(0, "t", "user", "I live in Bern with my dog.", "😀")])
    assert other.attribute == "user/home"


def test_what_is_said_later_holds_though_it_was_extracted_first(tmp_path: Path) -> None:
    """An observation is of the time of its turn, not of the time at which somebody looked."""
    with Memory(tmp_path, embedder="none") as memory:
        said = {
            "new": ("I live in Oslo now.", "2026-03-01T00:00:00Z"),
            "old": ("I live in Bern with my dog.", "2025-01-01T00:00:00Z"),
        }
        for session, (text, at) in said.items():
            memory.ingest_chat([{"role": "user", "text": text, "at": at}], session=session)
            (made,) = memory.extract(session)
            assert memory.approve(made.id)[0].done
        (current,) = memory.recall(attribute="user/home").observations
        assert (current.content.strip(), current.observed_at.year) == ("The user lives in Oslo now.", 2026)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I have a dog named Rex.", "I have a dog-eared copy of Ulysses."),
        ("I just got back from Rome last week.", "I just got back from Oslo today."),
        ("My sister is a nurse.", "My sister is on a trip until Monday."),
        ("I'm interested in chess.", "I'm interested in pottery."),
        ("I love dark roast coffee.", "I love dark roast almonds."),
    ],
)
def test_what_stands_beside_has_no_name_or_another(one: str, other: str) -> None:
    """Nobody wants one to replace the other."""
    (first,), (second,) = (extract([Turn(0, "t", "user", text, "Ann")]) for text in (one, other))
    assert not first.attribute or first.attribute != second.attribute


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
    "piece",
    [
        "I prefer ",
        "the ",
        "I will by ",
        "a.b",
        "My my ",
        "no, the ",
        " ",
        "I decided to go by Friday ",
        "so I just got it, and I was ",
        "because I - ",
        "I've just recently also ",
        "my my sister Ann and I ",
        "last week, ",
        "by the way, ",
    ],
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
