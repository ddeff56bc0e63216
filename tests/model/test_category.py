"""Categories: what may be written, how they compare, and which ones a glob picks."""

from __future__ import annotations

import doctest
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.errors import InputError
from grail_mem.model import category as module
from grail_mem.model.category import category_key, clean_category, communities, compile_glob

odd_texts = st.text(max_size=40) | st.text(alphabet="aB.~/\\ :%2eE\u0301é\u200b\n", max_size=20)
folders = st.lists(st.text(alphabet="ab", min_size=1, max_size=3), max_size=4).map("/".join)
glob_segments = st.sampled_from(["*", "**", "?"]) | st.text(alphabet="ab*?", min_size=1, max_size=4)
globs = st.lists(glob_segments, min_size=1, max_size=5).map("/".join)


def oracle(pattern: str, category: str) -> bool:
    """Whether the glob picks the category, by plain recursion over levels and characters."""
    parts = pattern.split("/")
    deep = [part for part in parts if len(part) > 1 and set(part) == {"*"}]
    parts = ["**" if part in deep else part for part in parts]
    if parts[-1] not in ("*", "**"):
        parts.append("**")
    return levels_match(parts, category.split("/") if category else [])


def levels_match(parts: list[str], segments: list[str]) -> bool:
    if not parts:
        return not segments
    if parts[0] == "**":
        return any(levels_match(parts[1:], segments[at:]) for at in range(len(segments) + 1))
    return bool(segments) and chars_match(parts[0], segments[0]) and levels_match(parts[1:], segments[1:])


def chars_match(part: str, segment: str) -> bool:
    if not part:
        return not segment
    if part[0] == "*":
        return any(chars_match(part[1:], segment[at:]) for at in range(len(segment) + 1))
    return bool(segment) and part[0] in ("?", segment[0]) and chars_match(part[1:], segment[1:])


def test_examples_in_docstrings_hold() -> None:
    """What the docs show is what the code does."""
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("work", "work"),
        ("work/clients/acme", "work/clients/acme"),
        (" work/clients/ ", "work/clients"),
        ("work//", "work"),
        ("Work/R&D (2026)", "Work/R&D (2026)"),
        ("cafe\u0301/日本語", "café/日本語"),
        ("a.b/v1.2", "a.b/v1.2"),
        ("100%/console/com10/nullable", "100%/console/com10/nullable"),
        ("[brackets]/it's", "[brackets]/it's"),
        ("a" * 100, "a" * 100),
        ("/".join("a" * 20), "/".join("a" * 20)),
    ],
)
def test_a_portable_path_is_kept(text: str, expected: str) -> None:
    """Case, script and inner spaces stay; spaces and slashes at the end go; letters are composed."""
    assert clean_category(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("/", "empty"),
        ("../../etc", "'..'"),
        ("alpha/../../x", "'..'"),
        ("alpha/./x", "'.'"),
        ("/etc/passwd", "starts with '/'"),
        (" /etc", "starts with '/'"),
        ("~/.ssh", "'~'"),
        ("~root", "'~'"),
        ("%2e%2e%2f", "percent"),
        ("alpha/%2E%2E/x", "percent"),
        ("alpha%2fbeta", "percent"),
        ("alpha%5Cbeta", "percent"),
        ("alpha/%252e%252e", "percent"),
        ("C:\\x", "drive letter"),
        ("c:/x", "drive letter"),
        ("alpha\\beta", "backslash"),
        ("alpha:beta", ":"),
        ("alpha/b*", r"\*"),
        ('a<b>|"?', "<"),
        ("alpha\nbeta", "control"),
        ("alpha\n", "control"),
        ("alpha\x00", "control"),
        ("alpha\x7f", "control"),
        ("alpha\u2028beta", "control"),
        ("alpha\ud800", "control"),
        ("alpha//beta", "empty folder name"),
        ("CON", "device"),
        ("alpha/nul.txt", "device"),
        ("alpha/Com1/x", "device"),
        ("lpt9.tar.gz", "device"),
        ("COM¹", "device"),
        (".git/hooks", "hidden"),
        ("alpha/.obsidian", "hidden"),
        ("alpha./beta", "ends in a dot"),
        ("alpha /beta", "space"),
        ("alpha/ beta", "space"),
        ("alpha/beta\u00a0", "space"),
        ("alpha/node_modules", "other tools"),
        ("a" * 101, "100 characters"),
        ("é" * 99 + "日", "200 bytes"),
        ("日" * 67, "200 bytes"),
        ("/".join("a" * 21), "21 levels"),
        ("/".join(["a" * 99] * 5), "400 characters"),
        ("a" * 100_000, "400 characters"),
        ("alpha\u202egpj", "invisible"),
        ("alpha\u200b", "invisible"),
        ("\ufeffalpha", "invisible"),
    ],
)
def test_an_unsafe_path_is_refused_by_name_of_the_rule(text: str, reason: str) -> None:
    """What could leave the root, hide, or not exist on another system is refused, naming the rule and a right value."""
    with pytest.raises(InputError, match=reason) as refused:
        clean_category(text)
    assert "work/clients/acme" in refused.value.hint


def test_every_broken_rule_is_reported_at_once() -> None:
    """The caller gets all reasons, not the first one."""
    with pytest.raises(InputError) as refused:
        clean_category("/~x/../CON./a:b\\c\n/%2e")
    reasons = " ".join(refused.value.problems)
    assert len(refused.value.problems) >= 7
    for rule in ("starts with '/'", "'..'", "device", "dot", ":", "backslash", "control", "percent"):
        assert rule in reasons


@pytest.mark.parametrize("value", [None, 5, ["a"], b"a"])
def test_a_category_that_is_not_text_is_refused(value: object) -> None:
    """Other types are bad input."""
    with pytest.raises(InputError):
        clean_category(value)  # type: ignore[arg-type]  # the wrong type is what is tested
    with pytest.raises(InputError):
        compile_glob(value)  # type: ignore[arg-type]  # the wrong type is what is tested


@given(odd_texts)
def test_a_clean_category_is_a_fixed_point(text: str) -> None:
    """Any text is refused, or cleaned to a path that stays as it is and is safe to join."""
    try:
        path = clean_category(text)
    except InputError:
        return
    assert clean_category(path) == path == unicodedata.normalize("NFC", path)
    assert not path.startswith(("/", "~", ".", " "))
    assert all(part.strip(". ") for part in path.split("/"))
    assert compile_glob(path.replace("?", "")).matches(path)


@given(st.text(max_size=30) | st.text(alphabet="aA\u017fßİ\u0131Σςǰᾳᾼ\u0345\u0301\u0130\u030c\u0307Ω", max_size=8))
def test_a_category_key_is_a_fixed_point_of_case_and_form(text: str) -> None:
    """Composed or not, upper or lower: one key, whose key is itself."""
    key = category_key(text)
    assert category_key(key) == key
    assert category_key(unicodedata.normalize("NFD", text)) == key
    assert category_key(unicodedata.normalize("NFC", text)) == key
    assert category_key(unicodedata.normalize("NFD", text).casefold()) == key


def test_the_key_of_every_character_is_a_fixed_point() -> None:
    """Over all of Unicode, alone and under a mark."""
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.normalize("NFD", char).casefold() == char:
            continue  # neither rule touches it
        for text in (char, char + "\u0301", "\u0345" + char):
            key = category_key(text)
            assert category_key(key) == key, hex(code)


def test_communities_are_all_folders_on_the_path() -> None:
    """Outermost first; the root has none."""
    assert communities("work/clients/acme") == ("work", "work/clients", "work/clients/acme")
    assert communities("work") == ("work",)
    assert communities("") == ()


@pytest.mark.parametrize(
    ("pattern", "picked", "left"),
    [
        ("work/clients/acme", ["work/clients/acme", "work/clients/acme/q1"], ["work/clients", "work/clients/acmeco"]),
        ("work/clients/acme/**", ["work/clients/acme", "work/clients/acme/2026/q1"], ["work/clients", "work"]),
        ("work/clients/acme/", ["work/clients/acme", "work/clients/acme/x"], ["work/clients/acmeco"]),
        ("work/*", ["work/clients"], ["work", "work/clients/acme", "home"]),
        ("*", ["work", "home"], ["", "work/clients"]),
        ("work/*/**", ["work/clients", "work/clients/acme"], ["work"]),
        ("*/acme", ["work/acme", "home/acme/x"], ["acme", "work/clients/acme"]),
        ("work/cli*", ["work/clients", "work/cli", "work/clients/acme"], ["work", "work/acli"]),
        ("work/cli*/acme", ["work/clients/acme/x"], ["work/clients", "work/clients/x/acme"]),
        ("**", ["", "work", "work/clients/acme"], []),
        ("**/**", ["", "work"], []),
        ("**/*", ["work", "work/clients"], [""]),
        ("**/acme", ["acme", "work/clients/acme", "work/acme/2026"], ["", "work", "acmeco"]),
        ("work/**/acme", ["work/acme", "work/a/b/acme/c"], ["acme", "work/a"]),
        ("work/**/*", ["work/a", "work/a/b"], ["work"]),
        ("q?", ["q1", "q2/x"], ["q", "q10"]),
        ("[ab]", ["[ab]", "[AB]/x"], ["a", "b"]),
        ("Work/CAF\u00c9", ["work/cafe\u0301", "WORK/café/x"], ["work/cafe"]),
        ("straße", ["STRASSE"], []),
        ("a.c", ["a.c"], ["abc"]),
        ("a**c", ["ac", "abbc"], ["a/c"]),
    ],
)
def test_a_glob_picks_folders(pattern: str, picked: list[str], left: list[str]) -> None:
    """The plain form and `/**` take everything below, `*` one level, `**` any number."""
    glob = compile_glob(pattern)
    assert [category for category in picked if not glob.matches(category)] == []
    assert [category for category in left if glob.matches(category)] == []


@pytest.mark.parametrize(
    ("pattern", "prefix", "is_subtree"),
    [
        ("Work/Clients/acme", "work/clients/acme", True),
        ("work/clients/acme/**", "work/clients/acme", True),
        ("work/**/**", "work", True),
        ("work/*", "work", False),
        ("work/cli*", "work", False),
        ("work/**/acme", "work", False),
        ("*/acme", "", False),
        ("**", "", False),
        ("q?", "", False),
    ],
)
def test_a_glob_tells_its_literal_prefix(pattern: str, prefix: str, is_subtree: bool) -> None:
    """SQL can use a range for a subtree, and narrow every other glob by its prefix."""
    glob = compile_glob(pattern)
    assert (glob.prefix, glob.is_subtree) == (prefix, is_subtree)


@pytest.mark.parametrize(
    "pattern", ["", " ", "/", "/work", "../x", "work/../x", "work/./x", "a//b", "a\\b", "a\nb", "a\x00", "a" * 401]
)
def test_an_unusable_glob_is_refused_with_an_example(pattern: str) -> None:
    """A pattern that cannot name folders below the root is bad input, not an empty answer."""
    with pytest.raises(InputError, match="work/clients/acme"):
        compile_glob(pattern)


@given(globs, folders)
def test_a_glob_equals_the_slow_oracle(pattern: str, category: str) -> None:
    """The fast matcher and plain recursion agree."""
    assert compile_glob(pattern).matches(category) == oracle(pattern, category)


@given(globs, folders)
def test_every_match_lies_at_or_below_the_prefix(pattern: str, category: str) -> None:
    """Narrowing by the prefix loses nothing, and a subtree is exactly its prefix's folder and below."""
    glob = compile_glob(pattern)
    below = not glob.prefix or category == glob.prefix or category.startswith(glob.prefix + "/")
    assert not glob.matches(category) or below
    if glob.is_subtree:
        assert glob.matches(category) == below


@given(odd_texts, odd_texts)
def test_any_pattern_is_compiled_or_refused(pattern: str, category: str) -> None:
    """No pattern causes anything but an answer or an InputError."""
    try:
        glob = compile_glob(pattern)
    except InputError:
        return
    assert glob.matches(category) in (True, False)
    assert compile_glob(pattern) == glob
    assert hash(compile_glob(pattern)) == hash(glob)


@pytest.mark.parametrize(
    ("pattern", "category"),
    [
        ("*a" * 190 + "*b", "a" * 20_000),
        ("**/a/" * 79 + "b", "/".join("a" * 5_000)),
        ("**/*a*a*a*a*b/" * 25 + "c", "/".join(["a" * 100] * 200)),
        ("?*" * 199, "a" * 20_000),
    ],
)
def test_hostile_globs_stay_fast(pattern: str, category: str) -> None:
    """Many stars cost about their number times the text, never a power of it."""
    glob = compile_glob(pattern)
    assert glob.matches(category) in (True, False)  # a power of the stars would not end within a day
