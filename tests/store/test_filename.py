"""File names: portable slugs, names within bounds, dates in names and what is ignored."""

from __future__ import annotations

import doctest
import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.errors import InputError
from grail_mem.model.category import clean_category
from grail_mem.store import filename
from grail_mem.store.filename import date_in_name, file_name, is_ignored_dir, is_observation_file, slug

ID = "01JXYZ00000000000000ABCDEF"
TIME = datetime(2026, 6, 2, 14, 23, tzinfo=UTC)

ids = st.from_regex(r"[0-9A-HJKMNP-TV-Z]{26}", fullmatch=True)
titles = st.text(max_size=200) | st.text(
    alphabet="aÉ é-_/\u0301\u0316İßΣς한글\u1100\u1161क\u094dाが\u3099ё😀\ufe0f1\u20e3", max_size=150
)


def test_examples_in_docstrings_hold() -> None:
    """What the docs show is what the code does."""
    assert doctest.testmod(filename).failed == 0


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Acme picked Postgres over DynamoDB", "acme-picked-postgres-over-dynamodb"),
        ('1: 12/3/24 <why?> "a|b"', "1-12-3-24-why-a-b"),
        ("My Note", "my-note"),
        ("MY_NOTE", "my-note"),
        ("Café crème", "cafe-creme"),
        ("Cafe\u0301", "cafe"),
        ("İstanbul", "istanbul"),
        ("日本語のメモ", "日本語のメモ"),
        ("がぎぐ", "がぎぐ"),
        ("Йод и ёлка", "йод-и-ёлка"),
        ("हिन्दी", "हिन्दी"),
        ("한국어", "한국어"),
        ("Ελλάδα", "ελλάδα"),
        ("\uff24\uff27\uff38 \uff12", "dgx-2"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\nb\x00c", "a-b-c"),
        ("", "untitled"),
        ("   ", "untitled"),
        ("???", "untitled"),
        ("😀👍🏽", "untitled"),
        ("\u0301\u0301", "untitled"),
        ("\ud800", "untitled"),
        ("1\ufe0f\u20e3 first", "1-first"),
        ("--a--", "a"),
    ],
)
def test_a_slug_is_lower_case_words_in_any_script(title: str, expected: str) -> None:
    """Letters and digits stay, Latin accents go, other marks stay, all else is one hyphen; never empty."""
    assert slug(title) == expected


def test_a_long_slug_is_cut_between_words_where_one_ends_near() -> None:
    """A word that is cut goes, unless too much would go with it."""
    assert slug("one two three", max_chars=9) == "one-two"
    assert slug("one two three", max_chars=7) == "one-two"
    assert slug("one two three", max_chars=8) == "one-two"
    assert slug("x " + "y" * 100, max_chars=20) == "x-" + "y" * 18
    assert slug("a" * 100) == "a" * 60
    assert slug("日" * 100) == "日" * 40


def test_a_slug_is_never_cut_inside_a_letter() -> None:
    """A letter and its marks stay together."""
    assert slug("क्" * 10, max_chars=5) == "क्क्"
    assert slug("ab क" + "ा" * 100, max_chars=20) == "ab"
    assert slug("क" + "ा" * 100, max_chars=20) == "untitled"


@pytest.mark.parametrize(("max_chars", "max_bytes"), [(0, 120), (60, 7), (-1, -1)])
def test_a_slug_without_room_is_refused(max_chars: int, max_bytes: int) -> None:
    """Limits that leave no room are bad input."""
    with pytest.raises(InputError, match="such as 60 and 120"):
        slug("title", max_chars, max_bytes)


@given(titles, st.integers(1, 80), st.integers(8, 200))
def test_a_slug_is_a_portable_fixed_point_within_its_bounds(title: str, max_chars: int, max_bytes: int) -> None:
    """Whatever the title: within both limits, lower case, NFC, only letters, digits, marks and single hyphens."""
    result = slug(title, max_chars, max_bytes)
    assert 0 < len(result) <= max_chars
    assert len(result.encode()) <= max_bytes
    assert slug(result, max_chars, max_bytes) == result == unicodedata.normalize("NFC", result)
    assert result == result.lower()
    assert all(result.split("-"))
    assert all(char == "-" or char.isalnum() or unicodedata.category(char)[0] == "M" for char in result)
    assert not unicodedata.category(result[0]).startswith("M")


@given(titles, st.datetimes(timezones=st.just(UTC)), ids, st.integers(1, 64))
def test_a_file_name_is_read_back_and_fits_everywhere(title: str, time: datetime, id: str, tail: int) -> None:
    """Every name is at most 200 bytes, counts as an observation, holds its date, and is safe as one path segment."""
    name = file_name(time, title, id, tail)
    assert len(name.encode()) <= 200
    assert is_observation_file(name)
    assert date_in_name(name) == time.replace(hour=0, minute=0, second=0, microsecond=0)
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}_[^_/\\]+_[0-9a-z]+\.md", name)
    assert name.endswith(f"_{id[-tail:].lower()}.md")
    if len(name) <= 100:
        assert clean_category(name) == name


def test_titles_with_one_slug_get_different_names_by_id() -> None:
    """`My Note` and `my-note` never share a file."""
    assert file_name(TIME, "My Note", ID) == "2026-06-02_my-note_abcdef.md"
    assert file_name(TIME, "my-note", ID[:-1] + "G") != file_name(TIME, "My Note", ID)
    assert file_name(TIME, "My Note", ID, 8) == "2026-06-02_my-note_00abcdef.md"


@pytest.mark.parametrize("id", ["", "../../x", "a/b", "a b", "é", "a\n", "a.b"])
def test_an_id_that_is_no_safe_name_is_refused(id: str) -> None:
    """An id from a hand-written file cannot lead out of its folder."""
    with pytest.raises(InputError, match="01JXYZ"):
        file_name(TIME, "title", id)


def test_a_file_name_needs_a_zone_and_a_tail() -> None:
    """A naive time has no date in UTC; a tail of nothing tells no files apart."""
    with pytest.raises(InputError):
        file_name(datetime(2026, 6, 2), "title", ID)
    for tail in (0, -1, 65):
        with pytest.raises(InputError):
            file_name(TIME, "title", ID, tail)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2026-06-02.md", (2026, 6, 2)),
        ("2026-06-02 Meeting.md", (2026, 6, 2)),
        ("2026-06-02_meeting_abc123.md", (2026, 6, 2)),
        ("20260602-meeting.md", (2026, 6, 2)),
        ("20260602.md", (2026, 6, 2)),
        ("0044-03-15 ides.md", (44, 3, 15)),
        ("2024-02-29.md", (2024, 2, 29)),
        ("2026-02-30.md", None),
        ("2026-13-40.md", None),
        ("0000-01-01.md", None),
        ("2026-06-021.md", None),
        ("202606021.md", None),
        ("12345678.md", None),
        ("10101010.md", None),
        ("2026-0602.md", None),
        ("meeting 2026-06-02.md", None),
        ("٢٠٢٦-٠٦-٠٢.md", None),
        ("", None),
    ],
)
def test_a_leading_date_is_read_from_a_name(name: str, expected: tuple[int, int, int] | None) -> None:
    """A valid date at the start of a hand-written name gives midnight UTC; anything else nothing."""
    assert date_in_name(name) == (datetime(*expected, tzinfo=UTC) if expected else None)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("note.md", True),
        ("NOTE.MD", True),
        ("_index.md", True),
        ("note.sync-conflict-20260602-142300-ABCDEFG.md", True),
        ("note (conflicted copy).md", True),
        ("a~b.md", True),
        (".note.md", False),
        (".md", False),
        ("~note.md", False),
        ("~$note.md", False),
        ("#note.md", False),
        ("#note.md#", False),
        (".#note.md", False),
        ("note.md~", False),
        ("note.tmp.md", False),
        ("note.TMP.md", False),
        ("note.md.swp", False),
        ("note.txt", False),
        ("md", False),
        ("", False),
    ],
)
def test_one_rule_says_which_files_are_read(name: str, read: bool) -> None:
    """Markdown files are, editors' and writers' leftovers are not, conflict copies are."""
    assert is_observation_file(name) is read


@pytest.mark.parametrize(
    ("name", "ignored"),
    [
        (".git", True),
        (".obsidian", True),
        ("node_modules", True),
        ("__pycache__", True),
        ("work", False),
        ("_drafts", False),
    ],
)
def test_hidden_and_tool_folders_are_not_read(name: str, ignored: bool) -> None:
    """What is hidden or belongs to tools is skipped."""
    assert is_ignored_dir(name) is ignored


@given(st.text(alphabet="._nodempycaN", min_size=1, max_size=14) | st.sampled_from(["node_modules", "__pycache__"]))
def test_nothing_is_written_where_nothing_is_read(name: str) -> None:
    """Every category that may be written is also scanned."""
    try:
        category = clean_category(name)
    except InputError:
        return
    assert not is_ignored_dir(category)
