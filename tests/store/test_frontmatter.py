"""Files as people and as we write them: what is read, what is written, and what an edit leaves alone."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest
import yaml

from grail_mem.errors import InputError, StoreError
from grail_mem.store import frontmatter_yaml
from grail_mem.store.frontmatter import Document, FrontmatterError, edit, key_line, parse, render

OURS = b"""---
id: 01JXYZABCDEFGHJKMNPQRSTVWX
title: Acme picked Postgres over DynamoDB
observed_at: 2026-06-02T14:23:00Z
category: work/clients/acme
tags: [decision, architecture]
confidence: 0.95
source: "meeting: architecture"
entities:
  - {name: Acme, type: ORGANIZATION}
  - {name: "Postgres, the database", type: TECHNOLOGY}
evidence:
  - {quote: "we go with \\"Postgres\\"", source: "sources/chats/2026-06-02.jsonl#turn=14", span: [120, 139]}
---

Acme picked Postgres.
"""

OBSIDIAN = """---
# written by hand
title: Roadmap   # keep me
aliases:
- one
- two # second

# about tags
tags: # header
  - a   # why
  - "b"
  # between
  - c
due: 2026-06-02
quoted: 'it''s'   # q
long: [a,
  b] # fl
description: >-
  folded
  text
literal: |
  line: 1

  # no comment

empty:
nested:
  x: 1
  y: {z: no}
last: 0123
---
Body
"""


def _fields(block: str) -> dict[str, object]:
    return parse(f"---\n{block}\n---\n".encode()).fields


def _error(block: str) -> FrontmatterError:
    with pytest.raises(FrontmatterError) as caught:
        parse(f"---\n{block}\n---\nbody\n".encode())
    return caught.value


def _codes(document: Document) -> list[tuple[str, int]]:
    assert all(problem.severity == "warning" for problem in document.problems)
    return [(problem.code, problem.line) for problem in document.problems]


# --- fences and content ---


@pytest.mark.parametrize(
    ("data", "fields", "content"),
    [
        (b"---\na: 1\n---\n\nbody\n", {"a": 1}, "body"),
        (b"---\na: 1\n---\nbody", {"a": 1}, "body"),
        (b"---  \na: 1\n...\nbody\n", {"a": 1}, "body"),
        (b"---\na: 1\n---", {"a": 1}, ""),
        (b"---\n---\n", {}, ""),
        (b"---\n\n# only a comment\n---\nx", {}, "x"),
        (b"---\na: 1\n---\n\n\n\nbody\n\n", {"a": 1}, "\n\nbody\n"),
        (b"---\na: 1\n---\nbody\n---\nb: 2\n---\n", {"a": 1}, "body\n---\nb: 2\n---"),
        (b"\xef\xbb\xbf---\r\na: 1\r\n---\r\n\r\none\r\ntwo\r\n", {"a": 1}, "one\ntwo"),
    ],
)
def test_the_block_ends_at_the_first_closing_fence(data: bytes, fields: dict[str, object], content: str) -> None:
    """One empty line below the fence and one last newline are no content; everything else is."""
    assert parse(data) == Document(fields, content, True)


@pytest.mark.parametrize(
    "data", [b"text\n---\na: 1\n---\n", b" ---\na: 1\n---\n", b"----\na: 1\n----\n", b"\n---\na: 1\n---\n"]
)
def test_only_a_fence_at_the_very_start_opens_frontmatter(data: bytes) -> None:
    """Anything before the fence, or more than three dashes, makes the whole file content."""
    assert parse(data) == Document({}, data.decode()[:-1], False)


@pytest.mark.parametrize("data", [b"---\na: 1\nbody\n", b"---\n", b"---", b"---\na: 1\n --- \n"])
def test_an_unclosed_fence_is_content_with_a_warning(data: bytes) -> None:
    """Without a closing fence nothing is taken for fields."""
    document = parse(data)
    assert (document.fields, document.has_frontmatter) == ({}, False)
    assert document.content == data.decode().removesuffix("\n")
    assert _codes(document) == [("unclosed_frontmatter", 1)]


@pytest.mark.parametrize("data", [b"", b"\0", b"\0" * 4096, b"\xef\xbb\xbf"])
def test_an_empty_file_is_a_torn_write(data: bytes) -> None:
    """Callers can tell a write that never finished from a file that a person got wrong."""
    with pytest.raises(FrontmatterError) as caught:
        parse(data)
    assert caught.value.torn
    assert caught.value.remedy
    assert not _error("- a").torn


def test_what_is_no_text_is_replaced_with_a_warning() -> None:
    """F05: NUL, broken UTF-8 and encoded surrogates are read as U+FFFD, and the line is named."""
    document = parse(b"---\ntitle: a\n---\nb\0c\xffd\xed\xa0\xbd <|endoftext|>\n")
    assert document.content == "b\ufffdc\ufffdd\ufffd\ufffd\ufffd <|endoftext|>"
    assert _codes(document) == [("replaced_characters", 4)]
    assert _codes(parse(b"---\ntitle: \x07a\n---\n")) == [("replaced_characters", 2)]
    assert parse(b'---\ntitle: "\\0a"\n---\n').fields == {"title": "\ufffda"}


# --- values ---


@pytest.mark.parametrize(
    "written",
    ["no", "Yes", "on", "off", "y", "0123", "0o17", "0x1F", "1_000", "12:30:00", "2026-06-02",
     "2026-06-02T14:23:00Z", "=", "<<",
     "2026-06-02 14:23:00 +02:00", "1e5", "12345E67", "+5", "-0", ".", "1.2.3", pytest.param("9" * 5000, id="long")],
)  # fmt: skip
def test_a_plain_value_that_readers_disagree_about_stays_text(written: str) -> None:
    """Only true, false, null and JSON-like numbers are more than text."""
    assert _fields(f"x: {written} # slow") == {"x": written}
    assert _fields(f"x: [{written}]") == {"x": [written]}


def test_plain_numbers_booleans_and_nothing_are_values() -> None:
    """The values on which YAML 1.1, YAML 1.2 and a person agree."""
    assert _fields("a: 5 #\nb: -5\nc: .5\nd: 1.50\ne: 1.0e+3\nf: True\ng: false\nh:\ni: ~\nj: .inf") == {
        "a": 5, "b": -5, "c": 0.5, "d": 1.5, "e": 1000.0, "f": True, "g": False, "h": None, "i": None,
        "j": float("inf"),
    }  # fmt: skip


def test_the_styles_of_yaml_are_read() -> None:
    """A file as an editor and a person write it gives plain values."""
    assert parse(OBSIDIAN.encode()).fields == {
        "title": "Roadmap", "aliases": ["one", "two"], "tags": ["a", "b", "c"], "due": "2026-06-02", "quoted": "it's",
        "long": ["a", "b"], "description": "folded text", "literal": "line: 1\n\n# no comment\n", "empty": None,
        "nested": {"x": 1, "y": {"z": "no"}}, "last": "0123",
    }  # fmt: skip


def test_keys_are_text_and_never_shadow_ours() -> None:
    """F04: a key may be called anything."""
    assert _fields("1: a\ntrue: b\n2026-06-02: c\nnull: d\n<<: {e: f}\n? [g]\n: h") == {
        "1": "a", "true": "b", "2026-06-02": "c", "null": "d", "<<": {"e": "f"}, "[g]": "h",
    }  # fmt: skip
    fields: dict[str, object] = {key: key for key in ("content", "handler", "metadata", "self", "id", "fields", "tags")}
    assert parse(render(fields, "body")).fields == fields


def test_tags_and_aliases_are_read_as_what_they_stand_for() -> None:
    """An unknown tag is ignored, an alias is its anchor's value."""
    assert _fields("a: !thing x\nb: &b [1]\nc: *b\nd: !!int x\ne: !!str 5\nf: !!float 5") == {
        "a": "x", "b": [1], "c": [1], "d": "x", "e": "5", "f": 5.0,
    }  # fmt: skip


def test_of_duplicate_keys_the_last_counts_with_a_warning() -> None:
    """Nothing is dropped silently."""
    document = parse(b"---\na: 1\nb: 2\na: 3\n---\n")
    assert document.fields == {"a": 3, "b": 2}
    assert _codes(document) == [("duplicate_key", 4)]


# --- what cannot be read ---


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("title: Roadmap: stage 2 (note: draft)", "Roadmap: stage 2 (note: draft)"),
        ("title: @home", "@home"),
        ("title: `code`", "`code`"),
        ("title: %done", "%done"),
        ("title: *bold* text", "*bold* text"),
        ("title: & more", "& more"),
        ("title: > 5 people", "> 5 people"),
        ("title: | or", "| or"),
        ("title: , or", ", or"),
        ("title: [draft", "[draft"),
        ("title: [draft] Plan", "[draft] Plan"),
        ("title: {a", "{a"),
        ('title: "Foo" bar', '"Foo" bar'),
        ("title: 'tis the season", "'tis the season"),
        ('title: a: "b" # c', 'a: "b" # c'),
    ],
)
def test_f01_a_value_that_breaks_yaml_is_read_in_full(line: str, value: str) -> None:
    """F01: the note is never dropped: the text after the colon is the value, and a warning names the line."""
    document = parse(f"---\nid: x\n{line}\ntags: [a, b]\nother: 'y'\n---\nbody\n".encode())
    assert document.fields == {"id": "x", "title": value, "tags": ["a", "b"], "other": "y"}
    assert document.content == "body"
    assert _codes(document) == [("repaired_frontmatter", 3)]
    assert document.problems[0].where == "title"


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> branch", "<<<<<<<<< HEAD:a.md"])
def test_a_merge_conflict_is_named(marker: str) -> None:
    """Conflict markers in the frontmatter are an error with their line; in the body they are text."""
    error = _error(f"title: a\n{marker}\ntags: b")
    assert "merge conflict" in error.message
    assert error.line == 3
    assert parse(f"---\na: 1\n---\n{marker}\n".encode()).content == marker


_BOMB = "a: &a [x" + ", x" * 99 + "]\n"
_BOMB += "".join(f"{b}: &{b} [*{a}{f', *{a}' * 99}]\n" for a, b in ("ab", "bc", "cd"))


@pytest.mark.parametrize(
    ("block", "line", "word"),
    [
        ("title: a\n\ttags: b", 3, "tab"),
        ("- a\n- b", 2, "list"),
        ("just text", 2, "text"),
        ("a: 1\nb:\n  - {c: d: e}\n", 4, ""),
        ("a: 1\nb\nc: 2", 4, ""),
        ("a: 1\n--- b: 2", 3, ""),
        pytest.param("a: " + "[" * 60 + "]" * 60, 2, "deeper", id="deep"),
        pytest.param("a: " + "[" * 100_000 + "]" * 100_000, 2, "deeper", id="very deep"),
        pytest.param("a:\n" + "- " * 5000 + "x", 3, "deeper", id="deep block"),
        pytest.param("a: &a [*a]", 2, "", id="recursive"),
        pytest.param("x: " + "y" * (1 << 20), 1, "longer", id="long"),
        pytest.param(_BOMB, 2, "alias", id="bomb"),
    ],
)
def test_frontmatter_that_cannot_be_used_is_refused_with_its_line(block: str, line: int, word: str) -> None:
    """Lists, nonsense, bombs and depth raise FrontmatterError, never RecursionError, and say where and what to do."""
    error = _error(block)
    assert word in error.message
    assert error.remedy
    assert isinstance(error, InputError)
    assert error.line == line


def test_reading_works_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML has no C parser, its Python parser gives the same fields and the same edits."""
    expected = parse(OBSIDIAN.encode())
    edited = edit(OBSIDIAN.encode(), {"tags": ["c"], "literal": "x", "quoted": None})
    monkeypatch.delattr(yaml, "CSafeLoader")
    frontmatter_yaml._loader.cache_clear()
    try:
        assert parse(OBSIDIAN.encode()) == expected
        assert edit(OBSIDIAN.encode(), {"tags": ["c"], "literal": "x", "quoted": None}) == edited
    finally:
        frontmatter_yaml._loader.cache_clear()


def test_key_line_finds_a_field() -> None:
    """The line of a field, for messages; the last when it is repeated."""
    assert key_line(OBSIDIAN.encode(), "tags") == 9
    assert key_line(b"\xef\xbb\xbf---\r\na: 1\r\n\"b c\": 2\r\n'd''e': x\r\na: 2\r\n---\r\nz: 1", "b c") == 3
    assert key_line(b"---\na: 1\n'd''e': x\na: 2\n---\nz: 1", "d'e") == 3
    assert key_line(b"---\na: 1\nb: x\na: 2\n---\nz: 1", "a") == 4
    assert key_line(b"---\na: 1\n---\nz: 1", "z") == 0
    assert key_line(b"no", "z") == 0


# --- writing ---


def test_our_own_file_is_read_without_yaml_and_written_alike() -> None:
    """Reading and writing a canonical file needs no YAML, not even its import, and changes no byte."""
    assert render(parse(OURS).fields, parse(OURS).content) == OURS
    code = (
        "import sys; from grail_mem.store import frontmatter as f\n"
        "data = sys.stdin.buffer.read(); d = f.parse(data)\n"
        "assert f.render(d.fields, d.content) == data\n"
        "assert not {'yaml', 'frontmatter'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], input=OURS, check=True, timeout=60)


def test_canonical_values_look_like_this() -> None:
    """The form of our own files, line by line."""
    fields: dict[str, object] = {
        "title": "What now, Acme?", "scope": "project:grail", "url": "https://x.y/z", "colon": "a: b", "hash": "a #b",
        "reserved": "No", "number": "0123", "time": "2026-06-02T14:23:00.5Z", "date": "2026-06-02", "digits": "1" * 26,
        "power": "1234567890123E456789012345", "id": "01JXYZABCDEFGHJKMNPQRSTVWX", "city": "Zürich",
        "odd": "\x85\u2028😀",
        "empty": "", "none": [], "list": ["a b", "c, d", "no", 1, True], "map": {"a": [1, "x"], "y": None}, "big": 1e16,
        "items": [{"name": "Acme"}, {"name": "a:b"}], "mixed": [{"a": 1}, "b"], "Due date": 0.5, "lines": "a\nb",
        "nul": "a\0",
    }  # fmt: skip
    assert render(fields, "body").decode() == (
        "---\ntitle: What now, Acme?\nscope: project:grail\nurl: https://x.y/z\ncolon: \"a: b\"\nhash: \"a #b\"\n"
        "reserved: \"No\"\nnumber: \"0123\"\ntime: 2026-06-02T14:23:00.5Z\ndate: \"2026-06-02\"\n"
        f"digits: \"{'1' * 26}\"\npower: \"1234567890123E456789012345\"\nid: 01JXYZABCDEFGHJKMNPQRSTVWX\n"
        "city: \"Zürich\"\nodd: \"\\u0085\\u2028😀\"\nempty: \"\"\nnone: []\nlist: [a b, \"c, d\", \"no\", 1, true]\n"
        "map: {a: [1, x], \"y\": null}\nbig: 1.0e+16\nitems:\n  - {name: Acme}\n  - {name: \"a:b\"}\n"
        "mixed: [{a: 1}, b]\n\"Due date\": 0.5\nlines: \"a\\nb\"\nnul: \"a\ufffd\"\n---\n\nbody\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [datetime(2026, 6, 2, tzinfo=UTC), b"x", {1: "a"}, {"a": {"b": {1}}}, 10**5000],
    ids=["time", "bytes", "key", "set", "long"],
)
def test_a_value_that_frontmatter_cannot_hold_is_refused(value: object) -> None:
    """Nothing is written by its repr; the field is named."""
    with pytest.raises(InputError, match="when"):
        render({"when": value}, "")
    with pytest.raises(InputError, match="when"):
        edit(OURS, {"when": value})


def test_lone_surrogates_and_carriage_returns_are_written_as_text() -> None:
    """F05: what UTF-8 cannot hold becomes U+FFFD, and newlines are ours."""
    assert render({"a": "\ud83d"}, "x\r\ny\rz\ud83d\0") == '---\na: "\ufffd"\n---\n\nx\ny\nz\ufffd\ufffd\n'.encode()


# --- editing ---


def _edited(old: str, new: str) -> str:
    assert OBSIDIAN.count(old) == 1
    return OBSIDIAN.replace(old, new)


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"title": "New: plan"}, "title: Roadmap   # keep me", 'title: "New: plan"   # keep me'),
        ({"quoted": 5}, "'it''s'   # q", "5   # q"),
        ({"due": "2026-06-02T00:00:00Z"}, "due: 2026-06-02\n", "due: 2026-06-02T00:00:00Z\n"),
        ({"empty": True}, "empty:\n", "empty: true\n"),
        ({"tags": ["a", "c"]}, '  - "b"\n', ""),
        ({"tags": ["a", "b", "d: e", "c"]}, "  # between\n  - c\n", '  # between\n  - "d: e"\n  - c\n'),
        ({"tags": ["a", "b", "c", "d"]}, "  - c\n", "  - c\n  - d\n"),
        ({"tags": ["c", "b", "c"]}, "  - a   # why\n", "  - c\n"),
        ({"tags": []}, 'tags: # header\n  - a   # why\n  - "b"\n  # between\n  - c\n', "tags: [] # header\n"),
        ({"aliases": ["two"]}, "- one\n", ""),
        ({"aliases": ["one", "two", {"a": "b"}]}, "- two # second\n", "- two # second\n- {a: b}\n"),
        ({"aliases": "one"}, "aliases:\n- one\n- two # second\n", "aliases: one\n"),
        ({"aliases": None}, "aliases:\n- one\n- two # second\n", ""),
        ({"long": ["b"]}, "[a,\n  b] # fl", "[b] # fl"),
        ({"long": None}, "long: [a,\n  b] # fl\n", ""),
        ({"long": [{"a": 1}]}, "[a,\n  b] # fl", "[{a: 1}] # fl"),
        ({"description": "x"}, ">-\n  folded\n  text", "x"),
        ({"literal": "x"}, "|\n  line: 1\n\n  # no comment\n", "x\n"),
        ({"literal": None}, "literal: |\n  line: 1\n\n  # no comment\n", ""),
        ({"nested": {"x": 2}}, "nested:\n  x: 1\n  y: {z: no}\n", "nested: {x: 2}\n"),
        ({"last": None}, "last: 0123\n", ""),
        ({"last": 123}, "last: 0123\n", "last: 123\n"),
        ({"last": [{"a": 1}, {"a": 2}]}, "last: 0123\n", "last:\n  - {a: 1}\n  - {a: 2}\n"),
        ({"due": [{"a": 1}]}, "due: 2026-06-02\n", "due:\n  - {a: 1}\n"),
        ({"quoted": [{"a": 1}]}, "quoted: 'it''s'   # q\n", "quoted:   # q\n  - {a: 1}\n"),
        ({"new": "x", "newer": ["z"]}, "last: 0123\n", "last: 0123\nnew: x\nnewer: [z]\n"),
        ({"new": "x", "last": [{"a": 1}]}, "last: 0123\n", "last:\n  - {a: 1}\nnew: x\n"),
        ({"absent": None}, "last: 0123\n", "last: 0123\n"),
    ],
)
def test_an_edit_touches_only_its_own_text(changes: dict[str, object], old: str, new: str) -> None:
    """Comments, order, quoting and block styles of everything else survive, with both newline styles and a BOM."""
    expected = _edited(old, new)
    assert edit(OBSIDIAN.encode(), changes).decode() == expected
    crlf = ("\ufeff" + OBSIDIAN.replace("\n", "\r\n")).encode()
    assert edit(crlf, changes).decode() == "\ufeff" + expected.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("data", "content", "expected"),
    [
        (b"---\na: 1\n---\n\nold\n", "new", b"---\na: 1\n---\n\nnew\n"),
        (b"---\na: 1\n---\nold", "new\nx", b"---\na: 1\n---\nnew\nx"),
        (b"---\r\na: 1\r\n---\r\nold\r\n", "new\nx", b"---\r\na: 1\r\n---\r\nnew\r\nx\r\n"),
        (b"---\na: 1\n---", "new", b"---\na: 1\n---\n\nnew\n"),
        (b"---\na: 1\n---\nold", "\nnew\n", b"---\na: 1\n---\n\n\nnew\n\n"),
        (b"old", "new", b"new"),
        (b"old\n", "---\na: 1\n---\n", b"---\n---\n\n---\na: 1\n---\n\n"),
        (b"---\na: 1\n---\n\nsame\xff\n", "same\ufffd", b"---\na: 1\n---\n\nsame\xff\n"),
    ],
)
def test_new_content_keeps_the_shape_of_the_file(data: bytes, content: str, expected: bytes) -> None:
    """The empty line below the fence, the newline style and the last newline, or their lack, stay."""
    assert edit(data, {}, content=content) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"# Hello\r\nworld", b"---\r\nid: x\r\n---\r\n\r\n# Hello\r\nworld"),
        (b"\xef\xbb\xbfHello\n", b"\xef\xbb\xbf---\nid: x\n---\n\nHello\n"),
        (b"\nHello\n\n", b"---\nid: x\n---\n\n\nHello\n\n"),
        (b"---\nno end\n", b"---\nid: x\n---\n\n---\nno end\n"),
        (b"---\n---\nHello", b"---\nid: x\n---\nHello"),
        (b"---\n# note\n---\nHello", b"---\n# note\nid: x\n---\nHello"),
        (b"---\n{a: 1, 'b c': [2]}\n---\nHello", b'---\na: 1\n"b c": [2]\nid: x\n---\nHello'),
        (b"---\n? a\n: 1\n---\nHello", b"---\na: 1\nid: x\n---\nHello"),
        (b"---\n  a: 1\n  b: 2\n---\n", b"---\n  a: 1\n  b: 2\n  id: x\n---\n"),
        ("---\n\ufeffa: 1\n---\n".encode(), "---\n\ufeffa: 1\nid: x\n---\n".encode()),
        (b"---\na: x\xff\0 # \xfe\n---\n\xfd", b"---\na: x\xff\0 # \xfe\nid: x\n---\n\xfd"),
    ],
)
def test_a_new_field_goes_before_the_closing_fence(data: bytes, expected: bytes) -> None:
    """Or into a block of its own in front; the bytes of the body stay, even those that are no text."""
    assert edit(data, {"id": "x"}) == expected


def test_a_repaired_file_is_edited_in_place() -> None:
    """F01: the line that YAML does not take stays as it is unless it is the one to change."""
    data = b"---\ntitle: Roadmap: stage 2 # x\ntags:\n  - a # why\nn: 1 # c\n---\nbody"
    assert edit(data, {"n": 2, "tags": ["a", "b"]}) == data.replace(b"n: 1", b"n: 2").replace(b"why\n", b"why\n  - b\n")
    assert edit(data, {"title": "Plan"}) == data.replace(b"Roadmap: stage 2 # x", b"Plan")
    assert edit(data, {"title": None}) == data.replace(b"title: Roadmap: stage 2 # x\n", b"")


def test_duplicates_are_edited_as_they_are_read() -> None:
    """The last one is the value, so it changes; removing removes all."""
    data = b"---\na: 1\nb: 2\na: 3\n---\n"
    assert edit(data, {"a": 4}) == b"---\na: 1\nb: 2\na: 4\n---\n"
    assert edit(data, {"a": None}) == b"---\nb: 2\n---\n"


def test_aliases_are_left_alone_and_never_broken() -> None:
    """A field with an alias can change; one that others refer to is refused rather than written wrong."""
    data = b"---\na: &x [1]\nb: *x # c\nl:\n  - *x # d\n  - e\n---\n"
    assert edit(data, {"b": 2}) == data.replace(b"*x # c", b"2 # c")
    assert edit(data, {"l": [[1], "f"]}) == data.replace(b"- e", b"- f")
    assert edit(data, {"l": ["e"]}) == data.replace(b"  - *x # d\n", b"")
    with pytest.raises(StoreError, match="alias"):
        edit(data, {"a": 2})


def test_true_one_and_one_point_nought_are_different_values() -> None:
    """An edit that changes only the type is a change."""
    assert edit(b"---\na: true\nb: 1\n---\n", {"a": 1, "b": 1.0}) == b"---\na: 1\nb: 1.0\n---\n"


def test_a_new_field_goes_behind_items_added_to_the_last_list() -> None:
    """Two insertions at the end of the block do not mix, whichever comes first."""
    assert edit(b"---\na:\n  - b\n---\n", {"m": 1, "a": ["b", "c"]}) == b"---\na:\n  - b\n  - c\nm: 1\n---\n"


def test_f02_saving_again_and_again_changes_nothing() -> None:
    """F02: the same change five times is one change."""
    data = OBSIDIAN.encode()
    for _ in range(5):
        data = edit(data, {"tags": ["a", "#x", "[y]"], "title": "a: b"})
    assert data == edit(OBSIDIAN.encode(), {"tags": ["a", "#x", "[y]"], "title": "a: b"})
    assert parse(data).fields["tags"] == ["a", "#x", "[y]"]
