"""Names: which spellings are one name, which stay apart, and what tags and text become."""

from __future__ import annotations

import doctest
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.errors import InputError
from grail_mem.model import names
from grail_mem.model.names import clean_tags, clean_text, entity_key, tag_key, tag_text, type_key

odd_names = st.text(max_size=30) | st.text(
    alphabet="aA \t#\uff03\ufe5f\u017fßİ\u0131Σςǰᾳ\u0345\u0301\u0316\u200b\ufeffﬁ½\u00b4\u3000ﾊﾟ한\u1100", max_size=10
)
raw_chars = st.characters(exclude_categories=[]) | st.sampled_from("\r\n\x00\ud83d\ude00")
raw_texts = st.text(alphabet=raw_chars, max_size=30)
tag_values = st.lists(odd_names, max_size=6)


def test_examples_in_docstrings_hold() -> None:
    """What the docs show is what the code does."""
    assert doctest.testmod(names).failed == 0


@pytest.mark.parametrize(
    "group",
    [
        ["DGX", "dgx ", " Dgx", "\uff24\uff27\uff38", "D\u200bGX", "\ufeffDGX", "DG\u2060X"],
        ["café", "cafe\u0301", "CAFÉ", "CAFE\u0301", "cafe\u200b\u0301"],
        ["Acme  Corp", "acme corp", "ACME\tCorp\n", "Acme\u00a0Corp", "Acme\u3000Corp"],
        ["Straße", "STRASSE", "strasse"],
        ["ΟΔΟΣ", "οδος", "οδοσ"],
    ],
)
def test_spellings_of_one_name_have_one_key(group: list[str]) -> None:
    """Case, width, form, spacing and zero-width characters do not make another name."""
    assert len({entity_key(name) for name in group}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ann", "Anna"), ("v1.2", "v1.20"), ("C", "C++"), ("cafe", "café"), ("Java", "JavaScript"), ("A_B", "A B")],
)
def test_different_names_keep_different_keys(one: str, other: str) -> None:
    """Accents, punctuation and digits make another name."""
    assert entity_key(one) != entity_key(other)
    assert type_key(one) != type_key(other)


def test_a_name_that_is_not_text_is_refused() -> None:
    """Other types are bad input."""
    with pytest.raises(InputError, match="text"):
        entity_key(5)  # type: ignore[arg-type]  # the wrong type is what is tested


@given(odd_names)
def test_keys_are_fixed_points_of_case_and_form(name: str) -> None:
    """The key of a key is itself, and every normal form and case of a name has the same key."""
    for key_of in (entity_key, type_key, tag_key):
        key = key_of(name)
        assert key_of(key) == key
        assert unicodedata.normalize("NFKC", key) == key
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert entity_key(unicodedata.normalize(form, name)) == entity_key(name)
    bare = "".join(char for char in name if char not in "\u200b\u2060\ufeff")  # between marks they hold up reordering
    assert entity_key(unicodedata.normalize("NFKD", bare).casefold()) == entity_key(name)


def test_the_key_of_every_character_is_a_fixed_point() -> None:
    """Over all of Unicode, alone and under a mark."""
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.normalize("NFKD", char).casefold() == char:
            continue  # neither rule touches it
        for text in (char, char + "\u0301", "\u0345" + char):
            key = entity_key(text)
            assert entity_key(key) == key, hex(code)


@given(odd_names)
def test_saving_a_tag_again_changes_nothing(tag: str) -> None:
    """The shown form is a fixed point, and `#x` and `x` are one tag."""
    shown = tag_text(tag)
    assert tag_text(shown) == shown
    assert tag_text("#" + shown) == shown
    assert tag_key(shown) == tag_key(tag) == tag_key("# " + tag)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('["security","api"]', ("security", "api")),
        ("security, api", ("security", "api")),
        ("security", ("security",)),
        ("#x", ("x",)),
        ("", ()),
        (None, ()),
        ("[]", ()),
        (" , ,", ()),
        (["security", "api"], ("security", "api")),
        (("b", "a"), ("b", "a")),
        ({"b", "a", "c"}, ("a", "b", "c")),
        (["Security", "#security", " SECURITY "], ("Security",)),
        (["", " ", "#", "x"], ("x",)),
        (["a, b"], ("a, b",)),
        ('["a, b"]', ("a, b",)),
        (["two  words", "a\tb"], ("two words", "a b")),
        ("api\n", ("api",)),
        (["[x]"], ("[x]",)),
        (["café", "cafe\u0301"], ("café",)),
        (["x" * 200], ("x" * 200,)),
    ],
)
def test_tags_are_read_from_every_form_they_come_in(value: object, expected: tuple[str, ...]) -> None:
    """A list, JSON text, text with commas or one tag give the same clean tags, each once, the first spelling kept."""
    assert clean_tags(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        5,
        1.5,
        True,
        b"x",
        {"a": 1},
        iter(["a"]),
        [1],
        ["a", None],
        [["a"]],
        [{"a": 1}],
        '{"a": 1}',
        "[a, b]",
        '["a"',
        "[1, 2]",
        "[" * 100_000,
        ["x" * 201],
        ["a\x00b"],
        ["a\nb"],
        ["a\u2028b"],
        ["a\ud800"],
        {1, "a"},
    ],
)
def test_anything_else_is_refused_naming_tags(value: object) -> None:
    """Numbers, mappings, nested lists and unreadable JSON are a typed error with an example, never cut to letters."""
    with pytest.raises(InputError, match=r"^tags: .*security"):
        clean_tags(value)


def test_every_bad_tag_is_reported_at_once() -> None:
    """The caller gets all problems, not the first one."""
    with pytest.raises(InputError) as refused:
        clean_tags(["ok", 1, None, "a\x00"])
    assert len(refused.value.problems) == 3


@given(tag_values)
def test_clean_tags_are_a_fixed_point(tags: list[str]) -> None:
    """Clean tags stay as they are however often they are saved."""
    try:
        clean = clean_tags(tags)
    except InputError:
        return
    assert clean_tags(clean) == clean == clean_tags(list(clean))
    assert len({tag_key(tag) for tag in clean}) == len(clean)
    assert all(clean)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("clean", ("clean", False)),
        ("", ("", False)),
        ("é 日本 😀 <|endoftext|>", ("é 日本 😀 <|endoftext|>", False)),
        ("a\r\nb\rc\n\rd", ("a\nb\nc\n\nd", False)),
        ("a\x00b", ("a\ufffdb", True)),
        ("a\ud83d", ("a\ufffd", True)),
        ("\ude00\ud83d", ("\ufffd\ufffd", True)),
        ("\ud83d\ude00", ("😀", False)),
        ("\x00\r\n\ud83d\ude00\ud83d", ("\ufffd\n😀\ufffd", True)),
    ],
)
def test_text_is_made_fit_to_store(text: str, expected: tuple[str, bool]) -> None:
    """NUL and lone surrogates are replaced and reported; line ends become one kind; a pair becomes its character."""
    assert clean_text(text) == expected


@given(raw_texts)
def test_clean_text_is_a_fixed_point_that_encodes(text: str) -> None:
    """What was cleaned is valid UTF-8, has no NUL and no carriage return, and cleaning again changes nothing."""
    clean, _ = clean_text(text)
    clean.encode()
    assert not set(clean) & {"\x00", "\r"}
    assert clean_text(clean) == (clean, False)
