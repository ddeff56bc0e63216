"""Faults of frontmatter and parsing that other systems had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fault_stores import titles, write

from grail_mem import InputError, Memory

ODD_TITLES = [
    "Roadmap: stage 2 (note: draft)",
    "a: b: c",
    "ends with a colon:",
    "# not a comment",
    "- not a list",
    "[not, a, list]",
    "{not: a mapping}",
    "'single' and \"double\"",
    'back\\slash "and" quote',
    "*star &anchor !tag %percent @at `tick`",
    "yes",
    "null",
    "2026-06-02",
    "007",
    "0x1f",
    "1e3",
    "~",
    "---",
    "a #b",
    "🤖 日本語 ภาษาไทย",
]


def test_f01_a_title_of_any_form_comes_back_exactly(tmp_path: Path) -> None:
    """Our writer quotes what YAML would misread; the title is the same in the delta, the snapshot and after an edit."""
    with Memory(tmp_path) as memory:
        made = memory.add_observations([{"title": t, "content": "body", "category": "alpha"} for t in ODD_TITLES])
        ids = dict(zip(ODD_TITLES, [written.id for written in made], strict=True))
        for title, id_ in ids.items():
            assert memory.get(id_).title == title
            memory.update(id_, tags=["x"])
        memory.compact()
        assert titles(memory, tags=["x"]) == sorted(ODD_TITLES)
        assert memory.check().problems == ()


@pytest.mark.parametrize(
    "line",
    [
        "title: Roadmap: stage 2 (note: draft)",
        "title: a: b: c",
        "title: see http://example.org/x: it works",
        'title: "half quoted',
        "title: [half a list",
        "title: @someone said",
        "title: `tick`",
        "title: %percent",
        "title: {half: a mapping",
    ],
)
def test_f01_colon_in_an_unquoted_title_keeps_the_note(tmp_path: Path, line: str) -> None:
    """A file that is no YAML as it stands is taken with its full title and a warning, and no byte of it changes."""
    file = write(tmp_path, "alpha/note.md", f"---\n{line}\ntags: [kept]\n---\nThe body stays.\n")
    before = file.read_bytes()
    with Memory(tmp_path) as memory:
        (found,) = memory.recall(tags=["kept"]).observations
        assert found.title.strip('"') == line.removeprefix("title: ").strip('"')
        assert found.content == "The body stays."
        problems = memory.check().problems
        assert [(p.where, p.line, p.severity) for p in problems] == [("memories/alpha/note.md", 2, "warning")]
        assert problems[0].remedy
        memory.compact()
        assert [o.title for o in memory.recall().observations] == [found.title]
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\ntitle: a\n\tx: 1\n---\nbody\n", 3),
        ("---\n[1, 2\n---\nbody\n", 0),
        ("---\ntitle: &x [*x]\n---\nbody\n", 0),
    ],
)
def test_f01_a_file_that_cannot_be_read_is_named_and_left_alone(tmp_path: Path, text: str, line: int) -> None:
    """What cannot be parsed is reported with path, line and remedy; the file and its neighbours stay as they are."""
    bad = write(tmp_path, "alpha/bad.md", text)
    write(tmp_path, "alpha/good.md", "---\ntitle: good\n---\nbody\n")
    with Memory(tmp_path) as memory:
        assert titles(memory) == ["good"]
        (problem,) = memory.sync().problems
        assert (problem.where, problem.severity) == ("memories/alpha/bad.md", "error")
        assert problem.line == line or (line == 0 and problem.line > 0)
        assert problem.remedy
        assert not memory.check().ok
    assert bad.read_text() == text


@pytest.mark.parametrize("tags", [["x"], ["#x"], "#x", "x", ["##x", "x", " #x "], ["#x", "#Y y"]])
def test_f02_tags_are_a_fixed_point_after_the_first_save(tmp_path: Path, tags: Any) -> None:
    """`#x` and `x` are one tag; saving a note again and again changes neither tags nor file."""
    with Memory(tmp_path) as memory:
        id_ = memory.add_observation(title="t", content="c", category="alpha", tags=tags).id
        first = memory.get(id_).tags
        assert first[0] == "x"
        file = tmp_path / memory.get(id_).path
        memory.update(id_, tags=list(first))
        saved = file.read_bytes()
        for _ in range(5):
            memory.update(id_, tags=list(memory.get(id_).tags))
            memory.update(id_, tags=[f"#{tag}" for tag in first])
        assert file.read_bytes() == saved
        assert memory.get(id_).tags == first
        assert titles(memory, tags=["#X"]) == titles(memory, tags=["x"]) == ["t"]


@pytest.mark.parametrize("line", ['tags: "#x"', "tags: x", "tags: ['#x']", "tags:\n- x\n- '#X'", "tags: 'x, #X'"])
def test_f02_hand_written_tags_meet_ours(tmp_path: Path, line: str) -> None:
    """However a person wrote the tag, it is one tag, found by either spelling, also after ids were stamped in."""
    write(tmp_path, "alpha/note.md", f"---\ntitle: t\n{line}\n---\nbody\n")
    with Memory(tmp_path) as memory:
        memory.sync()
        memory.sync()
        assert titles(memory, tags="#x") == ["t"]
        assert [(item["tag"], item["n_observations"]) for item in memory.list_tags().items] == [("x", 1)]


TAG_FORMS: list[tuple[Any, tuple[str, ...]]] = [
    ('["security","api"]', ("security", "api")),
    ("security, api", ("security", "api")),
    ("security", ("security",)),
    (["security", "api"], ("security", "api")),
    ('["one, two", "three"]', ("one, two", "three")),
]


def test_f03_tags_as_text_become_whole_tags(tmp_path: Path) -> None:
    """A JSON list, a comma list and one word are understood alike on write, update and filter; never cut into letters."""
    with Memory(tmp_path) as memory:
        for number, (tags, expected) in enumerate(TAG_FORMS):
            id_ = memory.add_observation(title=f"t{number}", content="c", category="alpha", tags=tags).id
            assert memory.get(id_).tags == expected
            memory.update(id_, tags=["other"])
            memory.update(id_, tags=tags)
            assert memory.get(id_).tags == expected
            assert f"t{number}" in titles(memory, tags_all=tags)
        assert {item["tag"] for item in memory.list_tags().items} == {"security", "api", "one, two", "three"}


@pytest.mark.parametrize(
    "tags", ['["half', '{"a": 1}', 5, {"a": 1}, [["a"]], [1], [None], ["a\nb"], True, b"x", ["x" * 201]]
)
def test_f03_tags_of_another_form_are_refused(tmp_path: Path, tags: Any) -> None:
    """Anything else is a typed error that names the field, and nothing is stored."""
    with Memory(tmp_path) as memory:
        with pytest.raises(InputError, match="tags"):
            memory.add_observation(content="c", tags=tags)
        with pytest.raises(InputError, match="tags"):
            memory.recall(tags=tags)
        assert memory.recall().abstention.reason == "nothing_stored"  # type: ignore[union-attr]  # nothing was stored


RESERVED = "content: fm\nhandler: h\nmetadata: {a: 1}\nself: me\ntype: note\npath: elsewhere.md\nsha256: x\nextra: y\n"


def test_f04_reserved_frontmatter_keys_shadow_nothing(tmp_path: Path) -> None:
    """Keys that are names of our own arguments and attributes are kept as custom fields; ours keep their values."""
    write(tmp_path, "alpha/note.md", f"---\ntitle: t\n{RESERVED}---\nThe body.\n")
    with Memory(tmp_path) as memory:
        memory.sync()
        memory.compact()
        (found,) = memory.recall().observations
        assert (found.content, found.path, found.category) == ("The body.", "memories/alpha/note.md", "alpha")
        assert found.extra == {
            "content": "fm", "handler": "h", "metadata": {"a": 1}, "self": "me", "type": "note",
            "path": "elsewhere.md", "sha256": "x", "extra": "y",
        }  # fmt: skip
        memory.update(found.id, content="New body.", title="t2")
        again = memory.get(found.id)
        assert (again.title, again.content, again.extra) == ("t2", "New body.", found.extra)
        assert RESERVED in (tmp_path / found.path).read_text()


def test_f04_fields_that_are_not_ours_are_refused_by_name(tmp_path: Path) -> None:
    """A draft or patch with a field that no observation takes is refused with its name; nothing is dropped silently."""
    with Memory(tmp_path) as memory:
        id_ = memory.add_observation(content="c").id
        for name in ("handler", "metadata", "self", "id", "type", "path", "recorded_at", "sha256"):
            with pytest.raises(InputError, match=f"'{name}'"):
                memory.add_observations([{"content": "d", name: "x"}])
            with pytest.raises((InputError, TypeError), match=name):
                memory.update(id_, **{name: "x"})
        assert titles(memory) == ["c"]


@pytest.mark.parametrize("line", ["id: my-own-id", "id: 5", "id: ''", "id: [1]", "id: 8ZZZZZZZZZZZZZZZZZZZZZZZZZ"])
def test_f04_an_id_that_is_none_is_not_taken(tmp_path: Path, line: str) -> None:
    """A foreign `id` does not become ours: the note gets a ULID and is found by it, in every view."""
    write(tmp_path, "alpha/note.md", f"---\n{line}\ntitle: t\n---\nbody\n")
    with Memory(tmp_path) as memory:
        (found,) = memory.recall().observations
        assert len(found.id) == 26
        assert memory.get(found.id).title == "t"
        memory.compact()
        assert memory.get(found.id) == memory.recall().observations[0]


HOSTILE = "before \x00 \ud83d <|endoftext|> <|im_start|>system ﷽ \ufeff after"


def test_f05_hostile_characters_through_the_api_are_stored_and_found(tmp_path: Path) -> None:
    """NUL and lone surrogates become U+FFFD with a warning; all else stays; Parquet is written; text is found."""
    with Memory(tmp_path) as memory:
        made = memory.add_observation(
            title=f"t {HOSTILE}", content=HOSTILE, category="alpha", tags=["x"],
            entities=[{"name": "A\x00B", "type": "T\ud83d"}], source="s\x00",
        )  # fmt: skip
        assert any("U+FFFD" in warning for warning in made.warnings)
        for _ in range(2):
            (found,) = memory.recall(text="<|ENDOFTEXT|> <|im_start|>").observations
            assert "\x00" not in found.content
            assert "\ud83d" not in found.content
            assert found.content == HOSTILE.replace("\x00", "\ufffd").replace("\ud83d", "\ufffd")
            assert memory.sql("SELECT content FROM observations").column("content")[0].as_py() == found.content
            memory.compact()
        memory.rebuild()
        assert memory.recall(text="after").observations[0] == found


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_f05_bom_and_line_endings_are_read_and_kept(tmp_path: Path, bom: bytes, ending: str) -> None:
    """A BOM or foreign line endings neither hide the frontmatter nor get into title and text, and survive an edit."""
    text = "---\ntitle: Tïtle\ntags: [x]\n---\nfirst\nsecond\n".replace("\n", ending)
    file = write(tmp_path, "alpha/note.md", bom + text.encode())
    with Memory(tmp_path) as memory:
        (found,) = memory.recall(text="first\nsecond").observations
        assert (found.title, found.tags, found.content) == ("Tïtle", ("x",), "first\nsecond")
        memory.compact()
        assert memory.recall(text="SECOND").observations == (found,)
        memory.sync(stamp=True)
        stamped = file.read_bytes()
        assert stamped.startswith(bom + b"---")
        assert b"\n" not in stamped.replace(ending.encode(), b"")
        assert memory.recall(text="second").observations[0].id == found.id


@pytest.mark.parametrize(
    "body",
    [
        b"a \x00 b needle",
        b"a \xed\xa0\xbd b needle",
        b"a \xff\xfe b needle",
        b"<|endoftext|> needle",
        b"\x1b[31m needle",
    ],
)
def test_f05_bytes_that_are_no_text_are_reported_and_searchable(tmp_path: Path, body: bytes) -> None:
    """A file with NUL, half surrogates or no UTF-8 is taken with a warning; its bytes stay; it is found by its text."""
    file = write(tmp_path, "alpha/note.md", b"---\ntitle: t\n---\n" + body + b"\n")
    before = file.read_bytes()
    with Memory(tmp_path) as memory:
        (found,) = memory.recall(text="NEEDLE").observations
        problems = memory.check().problems
        expected = [] if body.startswith((b"<", b"\x1b")) else ["replaced_characters"]
        assert [p.code for p in problems] == expected
        memory.compact()
        assert memory.recall(text="needle").observations == (found,)
        memory.sync(stamp=False)
    assert file.read_bytes() == before


LOOKALIKES = """\
- [00:12:31] text
- [x] done
- [ ] open
- [?] maybe
- [text](url)
- [[wikilink]] and [[Note|alias]]
- [decision] not an observation of its own
> [!warning] callout
- relates_to [[Other]]
#hashtag in the text
"""


def test_f06_list_items_and_callouts_are_text_and_nothing_else(tmp_path: Path) -> None:
    """Markdown in a body adds no observation, tag, entity or relationship, by hand or through us, and stays as it is."""
    write(tmp_path, "alpha/note.md", f"---\ntitle: by hand\n---\n{LOOKALIKES}")
    with Memory(tmp_path) as memory:
        memory.add_observation(title="ours", content=LOOKALIKES, category="alpha")
        for _ in range(2):
            answer = memory.recall()
            assert [o.content.rstrip("\n") for o in answer.observations] == [LOOKALIKES.rstrip("\n")] * 2
            assert (answer.entities, answer.relationships) == ((), ())
            assert all(o.tags == () for o in answer.observations)
            counts = "SELECT (SELECT count(*) FROM observations), (SELECT count(*) FROM tags), (SELECT count(*) FROM mentions)"
            assert memory.sql(counts).to_pydict() == dict(
                zip(memory.sql(counts).column_names, ([2], [0], [0]), strict=True)
            )
            assert len(memory.graph()) == 0
            memory.compact()
