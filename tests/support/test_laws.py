"""Laws of the support check: what is said word by word is supported, and no change of a fact in it ever is."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grail_mem.support.support import SUPPORTED, check_support

NAMES = st.sampled_from(["Anna", "Boris", "Celia", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ingrid", "Jonas"])
NUMBERS = st.integers(13, 9_999)
UNITS = st.sampled_from(["kg", "km", "hours", "days", "euros", "dollars", "GB", "minutes", "litres", "miles"])
DATES = st.dates(date(1950, 1, 1), date(2090, 12, 31))
VERBS = st.sampled_from(["bought", "called", "replaced", "trained", "visited", "praised"])
FIRST_PERSON = st.sampled_from(
    [
        ("I prefer {} tea", "prefers {} tea"), ("I carry {} kg", "carries {} kg"), ("I live with {} cats", "lives with {} cats"),
        ("I watch {} films a month", "watches {} films a month"), ("I have {} bikes", "has {} bikes"),
        ("I am {} years old", "is {} years old"), ("I don't eat {} eggs", "doesn't eat {} eggs"),
        ("I sold my {} books", "sold their {} books"),
    ]
)  # fmt: skip
BEFORE = st.sampled_from(["", "Thanks. ", "The weather was fine. ", "Who knows? ", "By the way, ", "We met at noon.\n"])
BEHIND = st.sampled_from(["", " See you.", " Is that fine?", " The rest can wait.\n\nBye"])
CHECK = settings(max_examples=80, deadline=None)


def verdict(claim: str, quote: str, **given_: str) -> str:
    return check_support(claim, quote, **given_).verdict


@st.composite
def facts(draw: st.DrawFn) -> dict[str, str]:
    """The parts of a sentence that states something."""
    one, other = draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
    return {
        "one": one, "verb": draw(VERBS), "other": other, "number": str(draw(NUMBERS)), "unit": draw(UNITS),
        "day": draw(DATES).isoformat(),
    }  # fmt: skip


def told(fact: dict[str, str]) -> str:
    return "{one} {verb} {other} after {number} {unit} on {day}.".format(**fact)


@CHECK
@given(facts(), BEFORE, BEHIND)
def test_a_sentence_of_the_quote_is_supported(fact: dict[str, str], before: str, behind: str) -> None:
    """The same words are the strongest support, whatever harmless sentences stand around them."""
    assert verdict(told(fact), before + told(fact) + behind) == "supported"


@pytest.mark.slow
@CHECK
@given(FIRST_PERSON, NUMBERS, NAMES, BEFORE, BEHIND)
def test_what_a_speaker_says_of_themselves_is_supported_by_name_and_role(
    forms: tuple[str, str], number: int, name: str, before: str, behind: str
) -> None:
    first, third = (form.format(number) for form in forms)
    quote = f"{before}{first}.{behind}"
    assert verdict(f"{name} {third}.", quote, speaker=name) == "supported"
    assert verdict(f"The user {third}.", quote, role="user") == "supported"
    assert verdict(f"{first}.", quote) == "supported"


@pytest.mark.slow
@CHECK
@given(FIRST_PERSON, NUMBERS, st.lists(NAMES, min_size=2, max_size=2, unique=True))
def test_what_a_speaker_says_of_themselves_is_supported_of_nobody_else(
    forms: tuple[str, str], number: int, names: list[str]
) -> None:
    first, third = (form.format(number) for form in forms)
    speaker, other = names
    for claim in (f"{other} {third}", f"The assistant {third}", f"{speaker}'s brother {third}", f"The tool {third}"):
        assert verdict(claim, f"{first}.", speaker=speaker) != "supported"
    for role in ("assistant", "tool", "system"):
        assert verdict(f"The user {third}", f"{first}.", role=role) != "supported"


@CHECK
@given(facts(), facts(), st.sampled_from(["one", "verb", "other", "number", "unit", "day"]), BEFORE, BEHIND)
def test_a_sentence_with_another_fact_is_never_supported(
    fact: dict[str, str], another: dict[str, str], part: str, before: str, behind: str
) -> None:
    """Another name, verb, number, unit or date is another statement, whatever else is equal."""
    if fact[part] == another[part] or another["one"] == fact["other"]:
        return
    changed = fact | {part: another[part]}
    assert verdict(told(changed), before + told(fact) + behind) != "supported"
    assert verdict(told(fact), before + told(changed) + behind) != "supported"


@pytest.mark.slow
@CHECK
@given(facts(), BEFORE, BEHIND)
def test_two_names_that_change_places_are_never_supported(fact: dict[str, str], before: str, behind: str) -> None:
    swapped = fact | {"one": fact["other"], "other": fact["one"]}
    assert verdict(told(swapped), before + told(fact) + behind) != "supported"


@CHECK
@given(FIRST_PERSON, NUMBERS, st.booleans())
def test_a_negation_on_one_side_is_a_contradiction(forms: tuple[str, str], number: int, in_claim: bool) -> None:
    first, third = (form.format(number) for form in forms)
    if "n't" in first or first.startswith("I sold"):
        return
    subject, rest = first.split(" ", 1)
    negated = f"{subject} am not {rest[3:]}" if rest.startswith("am ") else f"{subject} do not {rest}"
    quote, claim = (first, negated) if in_claim else (negated, f"The user {third}")
    assert verdict(claim, quote) == "contradicted"


OPERATORS = [
    "Maybe {}.", "I think {}.", "If it rains, {}.", "{} if it rains.", "Anna said {}.", "{}?", "{}, right?", "I doubt that {}.",
    "{} unless it rains.", "Suppose {}.", "It is not true that {}.", "Rumour has it {}.", "{}, I guess.", "{}, Anna says.",
    "I never said {}.", "Anna wrote: \"{}.\"", "Whether {} is open.", "{}. Just kidding.", "{}. Not.", "When it rains, {}.",
    "Nobody believes {}.", "{}, supposedly.", "I wish {}.", "Imagine {}.", "She asked if {}.", "{} until it rains.", "Not {}.",
    "I heard {}.", "According to Anna, {}.", "{}. No wait, that was someone else.", "I'd be glad if {}.", "{}, or so they say.",
]  # fmt: skip


@CHECK
@given(facts(), st.sampled_from(OPERATORS))
def test_what_is_asked_doubted_reported_or_bound_to_a_case_supports_nothing(
    fact: dict[str, str], operator: str
) -> None:
    said = told(fact).removesuffix(".")
    assert verdict(told(fact), operator.format(said)) == "unsupported"


TEXT = st.text(max_size=200) | st.lists(
    st.sampled_from(["I", "my", "user's", "not", "40", "kg", "$", "?", ".", ",", "\n", "-", "'", "’s", '"', "tomorrow", "3", "May", "2026", "a", "the", "Ann", "Bob", "if", "(", ")", "ʼs", "@me", "0", "٣", "二", "½", "²"]),
    max_size=30,
).map(" ".join)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT, st.text(max_size=10), st.sampled_from(["user", "assistant", "tool", "", "x"]), TEXT)
@example("9" * 5_000, "9" * 5_000, "", "user", "9999-12-31")
@example("in 999 days", "tomorrow", "", "user", "9999-12-31")
@example("1.2.3-4", "٣ ½", "", "user", "")
def test_no_text_breaks_the_check(claim: str, quote: str, speaker: str, role: str, context: str) -> None:
    """Any texts get a verdict whose score fits it, and the same one again."""
    found = check_support(claim, quote, speaker=speaker, role=role, context=context)
    assert found == check_support(claim, quote, speaker=speaker, role=role, context=context)
    assert 0 <= found.score <= 1
    assert (found.verdict == "supported") == (found.score >= SUPPORTED)
    assert found.verdict == "supported" or found.reasons
