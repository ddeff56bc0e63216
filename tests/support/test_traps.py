"""Quotes that have the words of a claim and do not say it: named, idiomatic, bound to a part, or undone. And plain ones beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grail_mem.support.lexical import LexicalChecker
from grail_mem.support.mention import with_quotes
from grail_mem.support.support import check_support

TRAPS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "benchmarks" / "support_traps.jsonl").read_text().splitlines()
]
SEEN_THROUGH_BY_NOBODY = {
    "I lost weight to the flu.", "I eat fish and chips.", "I have a boat in the bathtub.",
    "I gave up coffee. Then I met Ben and his espresso machine.", "I work at Acme. From June.",
    "The parrot keeps screaming. I have a dog.", "I have a dog. <- this is what the form needs", "# The build passed.",
    "I drink wine because I have to, at communion.", "I finished the thesis. Only the last five chapters are missing.",
    "I married Tom to Lisa, as the registrar.", "I married Tom on Facebook.",
    "I married Tom and Lisa last week as the registrar.", "I paid the bill. The payment was returned.",
}  # fmt: skip
"""What takes these back is no word of a closed class."""
LEAST_KEPT = 0.96


def is_supported(pair: dict[str, str]) -> bool:
    found = LexicalChecker().check(pair["claim"], pair["quote"], speaker=pair["speaker"], role=pair["role"])
    return found.verdict == "supported"


@pytest.mark.parametrize("kind", ["mention", "idiom", "narrower", "aspect"])
def test_a_quote_that_has_the_words_and_does_not_say_it_supports_nothing(kind: str) -> None:
    traps = [pair for pair in TRAPS if pair["kind"] == kind]
    assert len(traps) >= 90
    assert {pair["quote"] for pair in traps if is_supported(pair)} <= SEEN_THROUGH_BY_NOBODY


def test_what_is_plainly_said_is_still_supported() -> None:
    """Rules against traps must not cost what they guard."""
    plain = [pair for pair in TRAPS if pair["kind"] == "plain"]
    assert sum(map(is_supported, plain)) / len(plain) >= LEAST_KEPT


def test_words_that_are_missing_or_differ_are_named_as_they_stand_in_the_claim() -> None:
    """People read these messages: no stem, and no spelling that is only compared."""
    missing = check_support("Ann's mother goes diving in Lisbon.", "I like the sea in Lisbon.", speaker="Ann")
    assert missing.reasons == ("the quote does not say: mother, goes, diving",)
    differs = check_support("Ann's Mother lives in Bern.", "My mum lives in Graz.", speaker="Ann")
    assert differs.reasons == ("the claim names Bern, the quote Graz",)


QUOTED = [
    ("He wrote 'I am late.' to us", "He wrote “I am late.” to us"),
    ("It's the dogs' bowl", "It's the dogs' bowl"),
    ("> I am late.\nIs that you?", "“I am late.”\nIs that you?"),
    ("> I am late.", "> I am late."),
    ("I use `redis`", "I use `redis`"),
    ("`I am late` is a test", "“I am late” is a test"),
    ("```\nI am late.\n```", "\n“I am late.”\n"),
    ("```\nexited with code 2\n```", "```\nexited with code 2\n```"),
]


@pytest.mark.parametrize(("text", "found"), QUOTED)
def test_what_somebody_quotes_is_marked_and_apostrophes_are_not(text: str, found: str) -> None:
    assert with_quotes(text) == found


def test_a_quotation_is_the_speakers_word_only_between_other_marks_than_quotation_marks() -> None:
    """What stands between marks that were opened in another sentence is quoted, too."""
    for quote in ('Ben wrote: "Hi. I have a cat. Bye."', "“Hi. I have a cat. Bye.” That was Ben."):
        assert check_support("The user has a cat.", quote).verdict != "supported"
    assert check_support("The user has a cat.", 'I read "Emma". I have a cat.').verdict == "supported"
