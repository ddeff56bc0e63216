"""Laws of the file format: what is written is read back, both readers agree, and an edit changes only what it says."""

from __future__ import annotations

import frontmatter_strategies as own
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from grail_mem.store import frontmatter_canonical as canonical
from grail_mem.store.frontmatter import Document, FrontmatterError, edit, parse, render
from grail_mem.store.frontmatter_read import parse_any
from grail_mem.store.frontmatter_text import decode
from grail_mem.store.frontmatter_yaml import read_fields, read_tree


@pytest.mark.slow
@given(own.fields, own.contents)
def test_what_is_rendered_is_parsed_back(fields: dict[str, object], content: str) -> None:
    """Every JSON-like field, with its type, and every content without CR survives, without a warning."""
    document = parse(render(fields, content))
    assert repr(document.fields) == repr(fields)
    assert document.content == content
    assert document.has_frontmatter
    assert document.problems == ()


@given(own.fields, own.contents)
def test_our_own_files_are_a_fixed_point(fields: dict[str, object], content: str) -> None:
    """Saving what was read changes no byte of a file that we wrote."""
    data = render(fields, content)
    document = parse(data)
    assert render(document.fields, document.content) == data


@given(own.fields, own.contents)
def test_yaml_reads_canonical_files_as_the_fast_reader_does(fields: dict[str, object], content: str) -> None:
    """The YAML reader alone gives the same document for our own files."""
    text, problems = decode(render(fields, content))
    assert repr(parse_any(text, problems).fields) == repr(fields)


@given(own.blocks | own.fields.map(lambda fields: render(fields, "").decode()[4:-7]))
def test_the_fast_reader_agrees_with_yaml_whenever_it_accepts(block: str) -> None:
    """A block is read by `re` and `json` only when YAML would give the very same fields."""
    fast = canonical.read_block(block)
    if fast is not None:
        tree = read_tree(block + "\n")
        assert repr(fast) == repr(read_fields(tree)[0])
        assert tree.repaired == frozenset()


@given(own.texts)
def test_a_plain_text_is_the_same_text_for_any_yaml_reader(text: str) -> None:
    """What we write, quoted or not, is that text for stock PyYAML too; only our timestamps are more to it."""
    written = canonical.block_value(text)
    if not canonical._PLAIN_VALUE.fullmatch(text) or not text[:4].isdigit() or "T" not in text:
        assert yaml.safe_load(f"k: {written}\n") == {"k": text}
        assert yaml.safe_load(f"k: [{canonical.flow(text)}, {{x: {canonical.flow(text)}}}]\n") == {
            "k": [text, {"x": text}]
        }


def _parsed_or_refused(data: bytes) -> Document | None:
    try:
        return parse(data)
    except FrontmatterError as error:
        refusal = error
    assert refusal.message
    assert refusal.remedy
    return None


@given(st.binary(max_size=80) | own.files)
def test_any_bytes_are_read_or_refused_with_a_remedy(data: bytes) -> None:
    """Parsing raises only FrontmatterError, which says what to do; what it reads can be written and read again."""
    document = _parsed_or_refused(data)
    if document is None:
        return
    assert "\0" not in document.content
    again = parse(render(document.fields, document.content))
    assert repr(again.fields) == repr(document.fields)
    assert again.content == document.content


def _expected(before: dict[str, object], wanted: dict[str, object]) -> dict[str, object]:
    merged = {**before, **wanted}
    return {key: value for key, value in merged.items() if value is not None or key not in wanted}


@pytest.mark.slow
@given(own.handwritten(), own.changes, st.none() | own.contents)
def test_an_edit_changes_the_fields_it_names_and_no_other(
    data: bytes, wanted: dict[str, object], content: str | None
) -> None:
    """After an edit the file reads as before, but for the changes; also with comments, block styles, CRLF and a BOM."""
    before = parse(data)
    after = parse(edit(data, wanted, content=content))
    expected = _expected(before.fields, wanted)
    assert {key: repr(value) for key, value in after.fields.items()} == {key: repr(expected[key]) for key in expected}
    assert after.content == (before.content if content is None else content)


@given(own.handwritten(), own.changes)
def test_an_edit_keeps_newline_style_bom_and_body_bytes(data: bytes, wanted: dict[str, object]) -> None:
    """The bytes before the first and after the last fence stay, and no newline of another style comes in."""
    edited = edit(data, wanted)
    assert edited.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")
    if b"\r\n" in data:
        assert edited.count(b"\n") == edited.count(b"\r\n")
    else:
        assert b"\r" not in edited
    assert edited.endswith(data[data.index(b"---", data.index(b"---") + 3) :])


@given(own.handwritten(), own.changes)
def test_an_edit_keeps_the_lines_of_untouched_fields(data: bytes, wanted: dict[str, object]) -> None:
    """The key line of each field that was not named, and each comment above, is still there, in the same order."""
    text = decode(data)[0]
    edited = decode(edit(data, wanted))[0].split("\n")
    named = {line for line in text.split("\n") if any(line.lstrip(' "').startswith(f"{key}") for key in wanted)}
    position = 0
    for line in text.split("\n")[1:]:
        is_key = line.lstrip(" ")[:1] not in ("", "-", "k", "l", "f", "n", "#") and ":" in line and line not in named
        if line.strip() == "# above" or (is_key and line.lstrip(' "').split(":")[0].strip('"') in _NAMES):
            position = edited.index(line, position) + 1


_NAMES = ("title", "tags", "aliases", "id", "q k", "1", "self")


@given(own.handwritten() | own.files)
def test_an_edit_to_what_is_there_changes_no_byte(data: bytes) -> None:
    """Values equal to the present ones, and content equal to the present one, are no change."""
    try:
        document = parse(data)
    except FrontmatterError:
        return
    same = {key: value for key, value in document.fields.items() if value is not None}
    assert edit(data, same, content=document.content) == data


@pytest.mark.slow
@given(own.handwritten(), own.changes)
def test_an_edit_twice_is_an_edit_once(data: bytes, wanted: dict[str, object]) -> None:
    """The same edit again changes nothing."""
    once = edit(data, wanted)
    assert edit(once, wanted) == once


@given(own.files, own.changes, st.none() | own.contents)
def test_an_edit_of_a_strange_file_is_right_or_refused(
    data: bytes, wanted: dict[str, object], content: str | None
) -> None:
    """On any file an edit gives exactly the fields asked for, or raises; it never returns something else."""
    try:
        before = parse(data)
        after = parse(edit(data, wanted, content=content))
    except (FrontmatterError, OSError):
        return
    expected = _expected(before.fields, wanted)
    assert {key: repr(value) for key, value in after.fields.items()} == {key: repr(expected[key]) for key in expected}
