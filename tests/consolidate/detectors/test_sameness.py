"""Laws of wordings: what never changes them, and what always does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.support.difference import difference
from grail_mem.support.sameness import sameness
from grail_mem.support.wording import essence, statement_wording, wording

SOME = "the a Ann Bob customer custommer data base database on June in 2024 5 7 GB MB not keeps bought sold records warehouse"
WORDS = st.sampled_from(SOME.split())
TEXTS = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)


def once(_: str) -> int:
    """As if every word stood in one text only."""
    return 1


@given(TEXTS, TEXTS)
def test_sameness_and_difference_do_not_depend_on_the_side(one: str, other: str) -> None:
    """Two texts are as much one statement, and contradict each other in the same thing, from either side."""
    left, right = wording(one), wording(other)
    assert sameness(left, right, once) == sameness(right, left, once)
    there, back = difference(left, right), difference(right, left)
    assert (there is None) == (back is None)
    assert there is None or (there.what, there.left, there.right) == (back.what, back.right, back.left)


@given(TEXTS, st.data())
def test_decoration_changes_no_word(text: str, data: st.DataObject) -> None:
    """Bold, italics, code, lists, headings, quotes, spaces and full stops leave every word as it is."""
    decorated = [
        data.draw(st.sampled_from(["{}", "**{}**", "*{}*", "`{}`", "[{}]()", "{},", "“{}”"])).format(w)
        for w in text.split()
    ]
    start = data.draw(st.sampled_from(["", "- ", "# ", "> ", "  ", "\n\n", "> - "]))
    space = data.draw(st.sampled_from([" ", "  ", "\t"]))
    assert wording(f"{start}{space.join(decorated)}.").words == wording(text).words


@given(TEXTS, st.data())
def test_another_number_is_never_the_same_statement(text: str, data: st.DataObject) -> None:
    """Whatever else is equal, a text with one number changed, added or left out is another statement."""
    words = text.split()
    at = data.draw(st.integers(0, len(words)))
    added = [*words[:at], "31", *words[at:]]
    changed = [*words[:at], "13", *words[at:]]
    assert sameness(wording(" ".join(added)), wording(text), once) == 0
    assert sameness(wording(" ".join(added)), wording(" ".join(changed)), once) == 0


@given(TEXTS)
def test_a_statement_is_the_same_as_itself_and_not_as_its_negation(text: str) -> None:
    """Nothing is surer than equal words, and `not` turns a statement around."""
    assert sameness(wording(text), wording(text), once) > 0.9
    assert sameness(wording(text), wording(f"not {text}"), once) == 0


@given(TEXTS, st.data())
def test_a_careless_copy_is_no_contradiction(text: str, data: st.DataObject) -> None:
    """Trifles, other cuts of a word and typing errors are never taken for another value."""
    words = text.split()
    words.insert(data.draw(st.integers(0, len(words))), data.draw(st.sampled_from(["the", "really", "well,"])))
    copy = " ".join(words).replace("data base", "database").replace("warehouse", "warehhouse")
    assert difference(wording(text), wording(copy)) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("She can't, won't and doesn't.", "she can not will not and does not"),
        ("It’s Ann's; we'll see", "it ann we will see"),
        ("$1,200.50 is −5 % of 3.5.1", "$ 1200.50 is - 5 percent of 3.5.1"),
        ("5GB, .5 and v2", "5 gb 0.5 and v 2"),
        ("C++, C# and C", "c++ and c# and c".replace("and c#", "c#")),
        ("- [x] done\n- [ ] open", "☑ done ☐ open"),
        ("a <= b != c ~~d~~", "a <= b != c ~~ d ~~"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a b 1 2"),
        ("Title\n=====\n\n---\n```\ncode\n```", "title code"),
        ('<observation id="x" note="a &gt; b">in</observation> &lt;turn number="1"&gt;', "in"),
        ("日本語 text", "日 本 語 text"),
        ("Änn is not Ann", "änn is not ann"),
        ("seven is 7", "7 is 7"),
        ("\u200b\u2060", ""),
    ],
)
def test_words_of_a_text(text: str, words: str) -> None:
    """Everything that can change a meaning is a word of its own; decoration is none."""
    assert " ".join(wording(text).words) == words


def test_names_are_told_by_capitals_within_a_sentence() -> None:
    """A capital where a sentence begins may be none of a name; one within it, or several, are."""
    said = wording("Redis and PostgreSQL. Ann told **Bob**:\nyes")
    assert dict(zip(said.words, said.names, strict=True)) == {
        "redis": 1, "and": 0, "postgresql": 2, "ann": 1, "told": 0, "bob": 2, "yes": 0,
    }  # fmt: skip


def test_a_title_that_says_something_counts() -> None:
    """A title is left away only when the body says all of it in its order."""
    body = "Ann moved to Berlin in May."
    assert statement_wording("Ann moved", body) == wording(body)
    assert essence(statement_wording("Rejected", body).words)[0] == "rejected"
