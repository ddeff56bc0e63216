"""Reading questions: terms, speakers, kinds of answers."""

from __future__ import annotations

import doctest
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.index.tokens import terms
from grail_mem.recall import question as module
from grail_mem.recall.question import Question, read_question, wordings

ASKED_AT = datetime(2023, 10, 18, 12, tzinfo=UTC)
PEOPLE = {"caroline": ["Caroline Smith", "Caz"], "melanie": ["Melanie"], "will": ["Will"], "jean-luc": ["Jean-Luc"]}
CHAT = {"user": ["user"], "assistant": ["assistant"]}


def read(text: str, speakers: dict[str, list[str]] | None = None) -> Question:
    return read_question(text, speakers=PEOPLE if speakers is None else speakers, asked_at=ASKED_AT, zone=UTC)


def test_the_examples() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How long ago was the birthday?", "birthday"),
        ("How many days ago did I buy a smoker?", "buy smoker"),
        ("How many agonies were there?", "agoni"),
        ("How many times has it rained?", "rained"),
        ("How many books did we buy?", "books buy"),
        ("What kind of pottery is it?", "pottery"),
        ("What are the names of the dogs?", "dogs"),
        ("Can you remind me of the pasta?", "pasta"),
        ("In what year was the parade?", "parade"),
        ("What did Caroline's dog eat?", "dog eat"),
        ("How long ago?", "long ago"),
        ("How long ago, Caroline?", "long ago"),
        ("Caroline Smith?", "Caroline Smith"),
        ("what is it", "what is it"),
        ("東京タワーはどこ", "東京タワーはどこ"),
    ],
)
def test_terms_are_of_what_is_asked_about(text: str, expected: str) -> None:
    """A question of nothing but frames keeps them; one of nothing but names keeps those."""
    assert list(read(text).terms) == terms(expected)


@pytest.mark.parametrize(
    ("text", "asked", "left"),
    [
        ("What did Caroline paint?", ("caroline",), "What did paint?"),
        ("what did caroline paint", ("caroline",), "what did paint"),
        ("What did Caroline  Smith's\tdog eat?", ("caroline",), "What did dog eat?"),
        ("What is caroline’s dog?", ("caroline",), "What is dog?"),
        ("Did Caz call?", ("caroline",), "Did call?"),
        ("Did Mel call?", ("melanie",), "Did call?"),
        ("did mel call?", ("melanie",), "did call?"),
        ("Did Me call?", (), "Did Me call?"),
        ("Did Caro or Mel, Carol call?", ("caroline", "melanie"), "Did or , call?"),
        ("Did the Mela, and a mela, fall?", ("melanie",), "Did the , and a mela, fall?"),
        ("What will Will do?", ("will",), "What will do?"),
        ("Will it rain?", (), "Will it rain?"),
        ("Did Jean-Luc or Jean call?", ("jean-luc",), "Did or call?"),
        ("mail mel@example.org or x.mel?", (), "mail mel@example.org or x.mel?"),
        ("Melanie?", ("melanie",), "Melanie?"),
        ("What did Smith say?", (), "What did Smith say?"),
    ],
)
def test_speakers_are_named_and_taken_out(text: str, asked: tuple[str, ...], left: str) -> None:
    q = read(text)
    assert (q.asked, q.search_text) == (asked, left)


def test_a_short_word_that_says_nothing_names_nobody() -> None:
    assert read("What did the boss say there?", {"theresa": ["Theresa"]}).asked == ()


@pytest.mark.parametrize(
    ("text", "subject", "is_sure"),
    [
        ("Who called?", None, False),
        ("What did Mel paint for Mel?", "melanie", True),
        ("What did Caroline buy for Melanie?", "caroline", False),
        ("What did Caroline's dog do to Melanie?", "melanie", False),
        ("What does Caroline think of Melanie's dog?", "caroline", False),
        ("What did Caroline's dog do to Melanie's?", "caroline", False),
        ("What do Caroline and Melanie like?", None, False),
        ("What do Caroline & Melanie like?", None, False),
        ("Do Caroline, Melanie and Jean-Luc swim?", None, False),
        ("Did Caroline or Melanie swim?", None, False),
    ],
)
def test_the_subject_is_whom_the_grammar_says(text: str, subject: str | None, is_sure: bool) -> None:
    q = read(text)
    assert (q.subject, q.subject_is_sure) == (subject, is_sure)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("What did I buy?", ("user",)),
        ("Where is my bike?", ("user",)),
        ("What have I'm not said", ("user",)),
        ("What had you recommended to me?", ("assistant",)),
        ("What dish did you recommend to me?", ("assistant",)),
        ("Remind me of my bike", ("assistant",)),
        ("In our previous conversation, what did I say?", ("assistant",)),
        ("What does the user or the assistant want?", ()),
        ("Which island?", ()),
    ],
)
def test_grammar_names_user_and_assistant(text: str, asked: tuple[str, ...]) -> None:
    q = read(text, CHAT)
    assert (q.asked, q.search_text) == (asked, text)


def test_roles_are_named_only_where_they_speak() -> None:
    assert read("What did I tell Caroline?").asked == ("caroline",)
    q = read("What did I tell Caroline?", {**CHAT, **PEOPLE})
    assert (q.asked, q.subject, q.search_text) == (("user", "caroline"), "user", "What did I tell ?")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When was it?", "time"),
        ("In what year was it?", "time"),
        ("How long ago did it rain?", "time"),
        ("How many weeks passed?", "time"),
        ("How many dogs?", "number"),
        ("What percentage is it?", "number"),
        ("the total?", "number"),
        ("Who was it?", "name"),
        ("Which city?", "name"),
        ("What is the dog called?", "name"),
        ("What does whoever say?", "other"),
        ("Why?", "other"),
    ],
)
def test_kind(text: str, kind: str) -> None:
    assert read(text).kind == kind


def test_names_are_capitalised_words_that_are_no_speakers() -> None:
    q = read("Does Caroline's dog Rex, or I, like New York's parks, or Rex?")
    assert q.names == ("Rex", "New", "York")


_PIECES = "Mel Caroline Smith 's and May 31 2023 ago I you said Will - . how long"


@given(st.text(max_size=200) | st.lists(st.sampled_from(_PIECES.split())).map(" ".join))
def test_any_text_is_read(text: str) -> None:
    """And the same each time; terms are empty only where the text has none."""
    speakers = {**CHAT, **PEOPLE}
    q = read(text, speakers)
    assert q == read(text, speakers)
    assert bool(q.terms) == bool(terms(text))
    assert set(q.asked) <= set(speakers)
    assert (q.subject is None) or q.subject in q.asked


def test_a_name_of_several_goes_to_the_first_of_them() -> None:
    assert read("Did Rob or Robert call?", {"robert": ["Robert"], "robertson": ["Robertson"]}).asked == ("robert",)


@pytest.mark.parametrize("name", ["Caroline", "Mel", "Maximilian"])
def test_one_of_very_many_speakers_is_found(name: str) -> None:
    crowd = {f"x{number} smith": [f"X{number} Smith"] for number in range(10_000)}
    found = read(f"What did {name} paint?", {**crowd, name.lower(): [name]})
    assert (found.subject, found.search_text) == (name.lower(), "What did paint?")


@pytest.mark.parametrize(
    ("word", "is_named"), [("Max", False), ("Maximi", True), ("Maximilian", True), ("Maximilians", False)]
)
def test_a_beginning_names_when_it_leaves_out_four_letters_at_most(word: str, is_named: bool) -> None:
    assert read(f"Did {word} call?", {"maximilian": ["Maximilian"]}).asked == (("maximilian",) if is_named else ())


@given(
    st.dictionaries(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=3), max_size=4), st.text(max_size=60)
)
def test_speakers_of_any_name_are_taken(speakers: dict[str, list[str]], text: str) -> None:
    q = read(f"{text} {' '.join(speakers)}", speakers)
    assert set(q.asked) <= set(speakers)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["a ", "1", "1 ", "A", "Mel ", "Mel's", "May ", "may 1 ", "how many ", ",", "\n", "-1", "1-"]
)
def test_a_long_monotonous_question_is_read(unit: str) -> None:
    read(unit * (100_000 // len(unit)))


def test_words_of_a_date_are_no_names() -> None:
    found = read("Which rehearsal in Bergen was on Monday, or in April 2023?")
    assert found.names == ("Bergen",)
    assert "april" in found.date_terms


@pytest.mark.parametrize(
    ("text", "asking"),
    [
        ("It rains. When did Mel paint?", "When did Mel paint?"),
        ("When did Mel paint? It rains.", "When did Mel paint?"),
        ("It rains. So did Mel paint?\nWho ate the pie?", "So did Mel paint? Who ate the pie?"),
        ("It rains. Any tips for painting?", None),  # which lives on what stands before
        ("It rains. How are you?", None),  # which is about nothing
        ("How is your day? When did Mel paint?", None),  # all of it asks
        ("Who saw Dr. Smith?", None),
        ("It rains. I wonder when Mel painted.", None),
    ],
)
def test_what_asks_in_a_message_is_a_wording_of_its_own(text: str, asking: str | None) -> None:
    assert wordings([text], 3) == ((text,) if asking is None else (text, asking))


def test_wordings_that_were_given_go_first() -> None:
    given = ["It rains. Who paints?", "It snows. Who sings?"]
    assert wordings(given, 3) == (*given, "Who paints?")
    assert wordings(given, 2) == wordings(given, 1) == tuple(given)
