"""Terms: every script, identifiers whole and in parts, and the same for what is stored and what is asked."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.index.tokens import MAX_TERM_CHARS, STOP_WORDS, content_words, fold, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Why did we choose ORCHID-77?", ["choos", "orchid-77", "orchid", "77"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("getUserName HTTPServer", ["getusername", "get", "user", "name", "httpserver", "http", "server"]),
        ("src/app/main.py", ["src/app/main.py", "src", "app", "main", "py"]),
        ("v1.20.3 v1.2", ["v1.20.3", "1.20.3", "v1.2", "1.2"]),
        ("1,234.5 and 14:30", ["1234.5", "14:30"]),
        ("on 2026-06-02", ["2026-06-02", "2026"]),
        ("C++ C# R&D", ["c++", "c#", "r&d"]),
        ("Acme's decision, isn't it? They'll decide", ["acm", "decis", "decid"]),
        ("Café Ångström ΣΊΣΥΦΟΣ Москва", ["cafe", "angstrom", "σισυφοσ", "москва"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("木", ["木"]),
        ("the of and", ["the", "of", "and"]),
        ("", []),
        ("!!! …", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("we were running late", "run"), ("the memories", "memory"), ("Änderung", "anderung"), ("ＤＧＸ H100", "dgx h100"),
        ("see orchid-77 there", "ORCHID"), ("in src/app/main.py", "main.py"), ("released v1.20.3", "1.20.3"),
        ("in 2026-06-02", "2026"), ("東京タワーに行きました", "タワー"), ("cafe\u0301", "café"),
    ],
)  # fmt: skip
def test_what_is_asked_meets_what_is_stored(stored: str, asked: str) -> None:
    assert set(terms(asked)) & set(terms(stored))


@pytest.mark.parametrize(
    ("one", "other"), [("v1.2", "v1.20"), ("java", "javascript"), ("Topic1", "Topic10"), ("77", "777")]
)
def test_what_differs_has_no_term_in_common(one: str, other: str) -> None:
    assert not set(terms(one)) & set(terms(other))


@given(st.text(max_size=300))
def test_any_text_has_terms_of_bounded_length(text: str) -> None:
    """And spaces or case around a text change none."""
    found = terms(text)
    assert all(0 < len(term) <= 4 * MAX_TERM_CHARS for term in found)
    assert terms(f"  {text}  ") == found
    assert set(found) >= set(terms(text, stop_words=True)) - STOP_WORDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Why didn't Ann's ORCHID-77 start?", ["Ann", "ORCHID", "77", "start"]),
        ("WE'LL see, they’ve gone; I'm O'Brien", ["see", "gone", "O", "Brien"]),
        ("up-to-date snake_case 5$", ["date", "snake", "case", "5"]),
        ("don't needn't rock'n'roll", ["need", "rock", "n", "roll"]),
        ("Cafe\u0301 हिन्दी", ["Cafe\u0301", "हिन्दी"]),
        ("who is it?!", []),
    ],
)
def test_content_words(text: str, expected: list[str]) -> None:
    assert [text[begin:end] for begin, end in content_words(text)] == expected


@given(st.text(max_size=100))
def test_content_words_are_in_order_and_no_stop_words(text: str) -> None:
    spans = list(content_words(text))
    assert all(begin < end for begin, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert not {fold(text[begin:end]) for begin, end in spans} & STOP_WORDS


@given(st.text(max_size=60))
def test_folding_a_folded_text_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_a_long_run_is_cut(tmp_path: object) -> None:
    assert [len(term) for term in terms("x" * 200)] == [64, 64, 64, 8]
    assert terms("word " * 3) == ["word"] * 3
