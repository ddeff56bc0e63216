"""Traits of passages: what counts, where counting stops, and which phrases are names."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.index import traits as module
from grail_mem.index.traits import MOST, Traits, capitalised, traits


def test_the_examples() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Traits(False, False, 0, 0, 0, 0)),
        ("Is it? ", Traits(True, True, 0, 0, 0, 0)),
        ("そうですか？", Traits(True, True, 0, 0, 0, 0)),
        ("Is it? Yes.", Traits(False, True, 0, 0, 0, 0)),
        ("I'm sure we’re in my house", Traits(False, False, 3, 0, 0, 0)),
        ("in 2023 and yesterday, last May", Traits(False, False, 0, 3, 1, 1)),
        ("12345 and 1.234 say no time", Traits(False, False, 0, 0, 2, 0)),
        ("two dozen at 10:30, 3rd", Traits(False, False, 0, 0, 3, 0)),
        ("The first. Second: with Ann\nBerlin", Traits(False, False, 0, 0, 2, 1)),
        ("The end. Then\n Paris, New York", Traits(False, False, 0, 0, 0, 2)),
        ("I I I I I I", Traits(False, False, MOST, 0, 0, 0)),
        ("Ärger mit Ämtern über Jahre", Traits(False, False, 0, 0, 0, 1)),
    ],
)
def test_traits(text: str, expected: Traits) -> None:
    assert traits(text) == expected


@pytest.mark.parametrize("word", ["i", "yesterday", "days", "two", "hundred"])
def test_a_part_of_a_word_is_no_cue(word: str) -> None:
    assert traits(f"x{word} {word}x {word}_")[2:] == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "everywhere", "within"),
    [
        ("The Battle of Hastings was in 1066.", ["Battle of Hastings"], ["Battle of Hastings"]),
        ("New York is big.", ["New York"], ["York"]),
        ("Paris. London calls", ["Paris", "London"], []),
        ("We saw Paris and Rome; Berlin too", ["Paris and Rome", "Berlin"], ["Paris and Rome"]),
        ('He said: "Ask Ann\'s mother"', ["Ask Ann"], ["Ann"]),
        (
            "I met Ann, then Ann and I left for Area 51",
            ["Ann", "Ann and I", "Area 51"],
            ["Ann", "Ann and I", "Area 51"],
        ),
        ("Hey Caroline! I'm here. Don't go. Wow", ["Caroline"], ["Caroline"]),
        ("It is Al and so DC, with Jean-Luc & Marie", ["Jean-Luc", "Marie"], ["Jean-Luc", "Marie"]),
        ("list\n- Rome\n- Oslo", ["Rome", "Oslo"], []),
        ("see AT&T or mcDonald", ["AT&T"], ["AT&T"]),
        ("東京タワー", [], []),
        ("", [], []),
    ],
)
def test_capitalised(text: str, everywhere: list[str], within: list[str]) -> None:
    assert capitalised(text, at_start=True) == everywhere
    assert capitalised(text, at_start=False) == within


@given(st.text(max_size=300), st.booleans())
def test_any_text_has_traits_and_phrases_that_stand_in_it(text: str, at_start: bool) -> None:
    assert all(0 <= count <= MOST for count in traits(text)[2:])
    phrases = capitalised(text, at_start=at_start)
    assert len(phrases) == len(set(phrases))
    squeezed = " ".join(text.split())
    assert all(phrase in squeezed for phrase in phrases)


@given(st.text(st.characters(max_codepoint=127), max_size=200))
def test_ascii_text_has_the_words_any_text_has(text: str) -> None:
    """The faster way to words finds the same: a letter beyond ASCII takes the other one."""
    assert module._words(text) == module._words(f"{text} é")[:-1]


@pytest.mark.parametrize("unit", ["a ", "1", "1,", "A", "A ", "A of ", "A  ", "'", "A.", "\n", "?", "Aa's "])
def test_a_long_monotonous_text_is_read(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    for variant in (text, f"{text}x", f"x{text}_"):
        traits(variant)
        capitalised(variant, at_start=True)
        capitalised(variant, at_start=False)
