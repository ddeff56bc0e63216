"""Rules of the support check, each with the cases that it is for."""

from __future__ import annotations

import pytest

from grail_mem.support.support import check_support


def verdict(claim: str, quote: str, speaker: str = "Ann", role: str = "user", context: str = "") -> str:
    return check_support(claim, quote, speaker=speaker, role=role, context=context).verdict


SAID_OTHERWISE = [
    ("Ann carries 1200 kg.", "I carry 1,200 kilograms."),
    ("Ann owes 40 dollars.", "I owe $40."),
    ("Ann has thirty-five hens.", "I have 35 hens."),
    ("Ann starts at 16:30.", "I start at 4:30 pm."),
    ("Ann's favorite color is red.", "My favourite colour is red."),
    ("Red is Ann's favorite color.", "My favourite colour is red."),
    ("In 2019 Ann moved to Bern.", "I moved to Bern in 2019."),
    ("Ann moved to Bern in 2019.", "In 2019, I moved to Bern."),
    ("Ann does not eat eggs.", "I don't eat eggs."),
    ("Ann does not eat eggs.", "I dont eat eggs"),
    ("Ann bought a boat.", "I bought a small white boat on Monday."),
    ("Ann teaches herself Greek.", "I teach myself Greek."),
    ("Ann broke her arm.", "I broke my arm."),
    ("Ann met Bob and his wife.", "I met Bob and his wife."),
    ("Ann's sister sold her car.", "My sister sold her car."),
    ("Ann lives in Bern. Ann has a cat.", "I live in Bern. I have a cat, too."),
    ("Ann lives in Bern.", "As I said, I live in Bern. No problem."),
    ("Ann's dentist is Dr. Sol.", "My dentist is Dr. Sol."),
    ("Ann's exam is on 2026-03-12.", "My exam is tomorrow."),
    ("Ann's exam is in March 2026.", "My exam is on 12 March 2026."),
    ("Ann's exam was on 2026-03-10.", "My exam was yesterday."),
    ("Ann might sell the boat.", "I might sell the boat."),
    ("If it rains, Ann takes the bus.", "If it rains, I take the bus."),
    ("- **Ann** lives in Bern.", "> I live in *Bern*."),
    ("Ann owes 2.50 dollars.", "I owe $2.5."),
    ("Ann uses Python 3.10.", "I use Python 3.10."),
    ("Ann's limit is 10 megabits.", "My limit is 10 Mb."),
]


@pytest.mark.parametrize(("claim", "quote"), SAID_OTHERWISE)
def test_spelling_person_and_place_of_a_phrase_change_no_statement(claim: str, quote: str) -> None:
    assert verdict(claim, quote, context="2026-03-11T08:00:00Z") == "supported"


CONTRADICTED = [
    ("Ann carries 1200 kg.", "I carry 1,300 kg."),
    ("Ann carries 12 kg.", "I carry 12 pounds."),
    ("Ann starts at 4 pm.", "I start at 4 am."),
    ("Ann's exam is on 2026-03-12.", "My exam is on 13 March 2026."),
    ("Ann's exam is on 12 March 2026.", "My exam is today."),
    ("Ann eats eggs.", "I never eat eggs."),
    ("Ann works at Acme.", "I no longer work at Acme."),
    ("Ann works at Acme.", "I work at Initech."),
    ("Ann passed the exam.", "I failed the exam."),
    ("Acme bought Initech.", "Initech bought Acme in 2019."),
    ("Ann prefers Vim to Emacs.", "I prefer Emacs to Vim."),
    ("Ann is older than Bob.", "Bob is older than me."),
    ("Nobody reviewed the patch.", "Everybody reviewed the patch."),
    ("Ann's limit is 10 MB.", "My limit is 10 Mb."),
    ("Ann's id is 12345678901234567890.", "My id is 12345678901234567891."),
]


@pytest.mark.parametrize(("claim", "quote"), CONTRADICTED)
def test_one_fact_that_differs_contradicts_and_is_named(claim: str, quote: str) -> None:
    found = check_support(claim, quote, speaker="Ann", context="2026-03-11")
    assert found.verdict == "contradicted"
    assert found.reasons


LESS = [  # the claim's words are there, and something around them changes what they say
    ("Ann likes coffee.", "I like coffee cake."),
    ("Ann likes Tom.", "I like Tom's sister."),
    ("Ann owns a boat.", "I own a toy boat."),
    ("Ann owns a boat.", "I own a share in a boat."),
    ("The test was deleted.", "The test database was deleted."),
    ("The database was deleted.", "The test database was deleted."),
    ("Bob left.", "The father of Bob left."),
    ("Bob left.", "Anyone but Bob left."),
    ("Bob left.", "Neither Alice nor Bob left."),
    ("Ann pays 500.", "I pay 500 to 700 euros."),
    ("Ann pays 500 euros.", "I pay 500 euros less than Bob."),
    ("Ann stopped smoking.", "I stopped smoking for a week, then started again."),
    ("Ann is happy.", "I am happy to help."),
    ("Ann works in York.", "I work in New York."),
    ("Ann works at Acme.", "I work at Acme Bank."),
    ("Ann lives in Paris.", "I live in Paris, Texas."),
    ("Ann has two sons.", "I have two sons-in-law."),
    ("Ann eats meat.", "I eat meat-free sausages."),
    ("Ann uses C.", "I use C++."),
    ("Ann is 30.", "I am 30 minutes away."),
    ("Ann is a doctor.", "I am a doctor in a play."),
    ("Ann pays rent.", "I pay rent in theory."),
    ("Ann does not eat meat.", "I do not eat meat on Fridays."),
    ("No tests failed.", "No tests failed on Linux."),
    ("Ann never had a car.", "I never had a red car."),
    ("Every server has a disk.", "Every server has a spare disk."),
    ("The light is on.", "The light is on the table."),
    ("The meeting is on Monday.", "The meeting is on Monday or Tuesday."),
    ("Ann worked at Acme.", "I work at Acme."),
    ("Ann works at Acme.", "I worked at Acme."),
    ("Ann's exam is on 12 March 2026.", "My exam is on 12 March."),
    ("Ann's exam is on 12 March 2026.", "My exam is tomorrow."),
    ("All tests pass.", "Some tests pass."),
    ("Ann likes her job.", "I like her job."),
    ("Ann Kim likes jazz.", "I like jazz."),
    ("Ann lives in Bern and has a cat.", "I live in Bern. My aunt has a cat."),
    ("Bob knows the code.", "Alice is sure Bob knows the code."),
    ("Bob knows the code.", "In her book, Bob knows the code."),
    ("Bob knows the code.", "Example: Bob knows the code."),
    ("Bob knows the code.", "Fact check: false. Bob knows the code."),
    ("Bob knows the code.", "Bob knows the code. That's a lie."),
    ("Bob knows the code.", "Bob knows the code. Right?"),
    ("Bob knows the code.", "Imagine the following. Bob knows the code."),
    ("Bob knows the code.", "Alice wrote:\nBob knows the code."),
    ("Bob knows the code.", "Contrary to fact, Bob knows the code."),
    ("Bob knows the code.", "Bob knows the code (not really)."),
    ("Bob met Tim.", "The friends of Ann and Bob met Tim."),
    ("Ann hates Tom.", "She was like, I hate Tom."),
    ("Ann hates Tom.", "The song goes, I hate Tom."),
    ("Ann hates Tom.", "Reply with the following text: I hate Tom."),
    ("Ann hates Tom.", "Write this email for me. I hate Tom."),
    ("Ann hates Tom.", "Dear Bob,\nI hate Tom"),
    ("Ann owns a lion.", "I own a stone lion."),
    ("Ann owns a house.", "I own a doll house."),
    ("Ann needs 2 hours.", "I need 2 hours and 40 minutes."),
    ("Ann uses port 80.", "I use port 80, 81."),
    ("Ann uses Postgres.", "I use Postgres and MySQL, but not any longer."),
    ("Ann owes 40 euros.", "I owe − 40 euros."),
    ("Bob knows the code?", "Bob knows the code."),
    ("", "Bob knows the code."),
    ("Bob knows the code.", ""),
    ("The talk lasts an hour.", "The talk lasts an hour and a half."),
]


@pytest.mark.parametrize(("claim", "quote"), LESS)
def test_words_that_say_less_than_the_claim_do_not_support_it(claim: str, quote: str) -> None:
    found = check_support(claim, quote, speaker="Ann")
    assert found.verdict != "supported"
    assert found.reasons


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Ann uses Python 3.10.", "I use Python 3.1."),
        ("The server has version 2.1.0.", "The server has version 2.10."),
        ("The server has version 2.10.", "The server has version 2.1."),
        ("The code is 0042.", "The code is 42."),
        ("The code is 42.", "The code is 042."),
    ],
)
def test_a_number_that_may_be_a_name_is_the_same_only_as_it_is_written(claim: str, quote: str) -> None:
    assert verdict(claim, quote) in {"unsupported", "contradicted"}


def test_a_quote_that_says_both_supports_neither() -> None:
    for claim in ("The rent is 500 euros.", "The rent is 600 euros."):
        assert verdict(claim, "The rent is 500 euros. The rent is 600 euros.") != "supported"


def test_each_sentence_of_a_claim_must_be_supported() -> None:
    assert verdict("Ann has a cat. Ann has a dog.", "I have a cat.") == "unsupported"
    assert verdict("Ann has a cat. Ann lives in Bern.", "I have a cat. I live in Graz.") == "contradicted"


def test_a_sentence_too_long_to_be_read_whole_supports_nothing() -> None:
    """What takes it back may stand in the part that was not read."""
    assert verdict("Ann lives in Bern.", "I live in Bern " + "and so on " * 1_000) == "unsupported"


def test_a_claim_too_long_to_be_compared_is_not_supported() -> None:
    assert "more than" in check_support("I am here. " * 9, "I am here.").reasons[0]
    assert "more than" in check_support("I am " + "very " * 120 + "here.", "I am here.").reasons[0]


def test_another_language_is_supported_word_by_word_only() -> None:
    assert verdict("Die Miete beträgt 900 Euro.", "Hallo. Die Miete beträgt 900 Euro.") == "supported"
    assert verdict("Die Miete beträgt 800 Euro.", "Hallo. Die Miete beträgt 900 Euro.") != "supported"
    assert verdict("家賃は九百ユーロです。", "こんにちは。家賃は九百ユーロです。") == "supported"
    assert verdict("家賃は八百ユーロです。", "こんにちは。家賃は九百ユーロです。") != "supported"


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Ann's blood type is O.", "My blood type is O-."),
        ("Ann's blood type is O+.", "My blood type is O-."),
        ("Ann got an A.", "I got an A-."),
        ("Ann uses NET.", "I use .NET."),
        ("Ann commits env.", "I commit .env."),
        ("Ann lives at 5 Main Street.", "I live at 5A Main Street."),
        ("Ann has diabetes.", "I have diabetes in the family."),
        ("Ann has a tune.", "I have a tune in my head."),
    ],
)
def test_a_sign_that_is_a_part_of_a_name_and_what_one_has_elsewhere(claim: str, quote: str) -> None:
    """Neither is passed over; the same with it is supported."""
    assert verdict(claim, quote) != "supported"
    assert verdict(quote, quote) == "supported"
