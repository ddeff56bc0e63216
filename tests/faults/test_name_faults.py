"""Faults of titles, names and paths that other systems had."""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fault_stores import titles, write

from grail_mem import ConflictError, GrailError, InputError, Memory

CAFES = [unicodedata.normalize(form, "Café") for form in ("NFC", "NFD")]


def test_f07_titles_that_normalise_alike_are_files_of_their_own(tmp_path: Path) -> None:
    """Titles that share a slug never overwrite each other; only the same statement again is one, and says so."""
    names = ["My Note", "my-note", "MY_NOTE", "My  Note", "My Note!", "My Note", *CAFES]
    with Memory(tmp_path) as memory:
        made = [memory.add_observation(title=t, content=f"body {n}", category="alpha") for n, t in enumerate(names)]
        assert (
            len({written.path for written in made}) == len({written.path.casefold() for written in made}) == len(names)
        )
        assert all(written.created for written in made)
        again = memory.add_observation(title="My Note", content="body 0", category="alpha")
        assert (again.created, again.id, bool(again.warnings)) == (False, made[0].id, True)
        memory.compact()
        assert titles(memory) == sorted(names)
        assert [memory.get(written.id).content for written in made] == [f"body {n}" for n in range(len(names))]


def test_f07_one_batch_of_equal_titles_loses_none(tmp_path: Path) -> None:
    """Two hundred notes of one title, time and category in one call are two hundred files."""
    drafts = [
        {"title": "Plan", "content": str(n), "category": "alpha", "observed_at": "2026-06-02"} for n in range(200)
    ]
    with Memory(tmp_path) as memory:
        assert len({written.path for written in memory.add_observations(drafts)}) == 200
        assert sorted(int(o.content) for o in memory.recall(limit=1000).observations) == list(range(200))
    assert len(list((tmp_path / "memories/alpha").iterdir())) == 200


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Alpha/Plan", "alpha/plan"),
        ("alpha/Straße", "alpha/STRASSE"),
        (f"{CAFES[0]}/x", f"{CAFES[1]}/X"),
        ("ΣΑΣ", "σας"),
    ],
)
def test_f08_folders_that_differ_in_case_only_are_one(tmp_path: Path, first: str, second: str) -> None:
    """A category in another spelling goes to the folder that is there, with a notice, so a store can move anywhere."""
    with Memory(tmp_path) as memory:
        one = memory.add_observation(title="one", content="1", category=first)
        two = memory.add_observation(title="two", content="2", category=second)
        assert os.path.dirname(one.path) == os.path.dirname(two.path)
        if unicodedata.normalize("NFC", first) != unicodedata.normalize("NFC", second):
            assert "spelled" in two.warnings[0]
        for _ in range(2):
            assert titles(memory, category=first) == titles(memory, category=second) == ["one", "two"]
            memory.compact()
        moved = memory.add_observation(title="three", content="3", category="beta")
        assert os.path.dirname(memory.move(moved.id, second).path) == os.path.dirname(one.path)


def test_f08_a_move_onto_a_name_that_differs_in_case_is_refused(tmp_path: Path) -> None:
    """Two files whose names differ in case only cannot meet in one folder: on many systems one would overwrite the other."""
    write(tmp_path, "alpha/Plan.md", "---\ntitle: big\n---\nupper\n")
    small = write(tmp_path, "beta/plan.md", "---\ntitle: small\n---\nlower\n")
    with Memory(tmp_path) as memory:
        (found,) = memory.recall(category="beta").observations
        with pytest.raises(ConflictError, match=r"plan\.md"):
            memory.move(found.id, "alpha")
        assert small.exists()
        assert titles(memory) == ["big", "small"]
        assert memory.get(found.id).category == "beta"


def test_f08_spellings_made_by_hand_are_named(tmp_path: Path) -> None:
    """Folders and files that some systems cannot tell apart are all read here, and `check` names them."""
    for path in (
        "Alpha/x.md",
        "alpha/y.md",
        "beta/Plan.md",
        "beta/plan.md",
        f"gamma/{CAFES[0]}.md",
        f"gamma/{CAFES[1]}.md",
    ):
        write(tmp_path, path, f"---\ntitle: '{path}'\n---\nbody of {path}\n")
    with Memory(tmp_path) as memory:
        assert len(memory.recall().observations) == 6
        found = {(p.code, p.where) for p in memory.check().problems}
        assert found >= {
            ("same_folder", "memories/alpha"),
            ("same_file", "memories/beta/plan.md"),
            ("same_file", f"memories/gamma/{CAFES[0]}.md"),
        }


HARD_TITLES = [
    '1: 12/3/24 <why?> "a|b"',
    "../../etc/passwd",
    'a/b\\c:d*e?f"g<h>i|j',
    "CON",
    "nul.txt",
    "com1",
    "trailing dot.",
    "trailing space. ",
    "...",
    ".hidden",
    "-rf",
    "~",
    "$HOME `id` $(id) ; rm -rf",
    "%2e%2e%2f",
    "🤖🤖",
    "x" * 300,
    "日本語" * 100,
    "a\u0301" * 200,
    "\u202egnp.exe",
]


def test_f09_any_title_gives_one_portable_file_in_its_folder(tmp_path: Path) -> None:
    """Whatever a title holds, one file arises, in the folder asked for, under a name every system takes; title intact."""
    with Memory(tmp_path) as memory:
        for number, title in enumerate(HARD_TITLES):
            made = memory.add_observation(title=title, content="c", category=f"alpha/n{number}")
            (file,) = (tmp_path / f"memories/alpha/n{number}").iterdir()
            assert str(file.relative_to(tmp_path)) == made.path
            assert not set('<>:"|?*\\/\0') & set(file.name)
            assert not file.name.startswith((".", "-", "~"))
            assert len(file.name.encode()) <= 200
            assert file.name.isprintable()
            assert memory.get(made.id).title == title.strip()
        memory.compact()
        assert titles(memory) == sorted(title.strip() for title in HARD_TITLES)
        assert memory.check().problems == ()


def test_f10_observations_with_a_long_common_beginning_are_two(tmp_path: Path) -> None:
    """Texts that differ only far behind are stored, found and kept apart, in delta and snapshot, by one call or two."""
    start = "The same long beginning. " * 400
    with Memory(tmp_path) as memory:
        memory.add_observation(title=start[:250], content=f"{start} red", category="alpha")
        made = memory.add_observations(
            [
                {"title": start[:250], "content": f"{start} {end}", "category": "alpha"}
                for end in ("blue", "red", "green")
            ]
        )
        assert [written.created for written in made] == [True, False, True]
        for _ in range(2):
            for end in ("red", "blue", "green"):
                (found,) = memory.recall(text=f"beginning.  {end}").observations
                assert found.content.endswith(end)
            memory.compact()
        later = memory.add_observation(title=start[:250], content=f"{start} black", category="alpha")
        assert later.created
        assert len(memory.recall().observations) == 4


ESCAPES = [
    "../../etc",
    "alpha/../../x",
    "alpha/..",
    "..",
    ".",
    "%2e%2e%2f",
    "alpha/%2e%2e/x",
    "%252e%252e%252f",
    "~/.ssh",
    "~root",
    "C:\\x",
    "C:/x",
    "\\\\server\\share",
    "/etc/passwd",
    "//x",
    "alpha\nbeta",
    "alpha\x00beta",
    "alpha//beta",
    ".git",
    "alpha/.hidden",
    "\u2025/x",
    "alpha/\u202e",
    "\ud800",
    "",
    "   ",
    "con",
    "node_modules/x",
]
"""Names that leave the root, or would be read differently somewhere."""


def _listing(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() if p.is_file() else b"" for p in folder.rglob("*")}


def _add(memory: Memory, id_: str, category: str) -> Any:
    return memory.add_observation(content="x", category=category)


def _add_many(memory: Memory, id_: str, category: str) -> Any:
    return memory.add_observations([{"content": "fine", "category": "beta"}, {"content": "x", "category": category}])


def _move(memory: Memory, id_: str, category: str) -> Any:
    return memory.move(id_, category)


@pytest.mark.parametrize("verb", [_add, _add_many, _move])
def test_f11_a_category_cannot_leave_the_root(tmp_path: Path, verb: Callable[..., Any]) -> None:
    """Every way out is refused before anything is written, with a message that says what is wrong with the name."""
    root = tmp_path / "deep" / "store"
    with Memory(root) as memory:
        id_ = memory.add_observation(content="c", category="alpha").id
        before = _listing(tmp_path)
        for category in ESCAPES:
            if category == "\u2025/x":
                continue
            with pytest.raises(InputError) as caught:
                verb(memory, id_, category)
            assert "category" in str(caught.value)
            assert caught.value.problems
        assert _listing(tmp_path) == before


@pytest.mark.parametrize(
    "category", ["../../etc", "alpha/../x", "/etc", "..", "a\\b", "a\nb", "a\x00b", "a//b", "", " "]
)
def test_f11_a_category_to_read_cannot_leave_the_root(tmp_path: Path, category: str) -> None:
    """A glob that points outside is refused, not answered with nothing."""
    write(tmp_path, "alpha/x.md", "---\ntitle: t\n---\nbody\n")
    with Memory(tmp_path) as memory, pytest.raises(InputError, match="category"):
        memory.recall(category=category)


@pytest.mark.parametrize(
    "bad", ["../../x", "/etc/passwd", "memories/alpha/x.md", "..", "*", "%", "' OR 1=1 --", "", "\x00", "\ud800"]
)
def test_f11_an_id_is_never_a_path(tmp_path: Path, bad: str) -> None:
    """What is no id is not found, whatever is asked of it."""
    write(tmp_path, "alpha/x.md", "---\ntitle: t\n---\nbody\n")
    with Memory(tmp_path) as memory:
        calls: list[Callable[[], Any]] = [
            lambda: memory.get(bad), lambda: memory.update(bad, title="x"), lambda: memory.move(bad, "beta"),
            lambda: memory.hide(bad), lambda: memory.restore(bad),
        ]  # fmt: skip
        for call in calls:
            with pytest.raises(GrailError, match="no observation"):
                call()


def test_f11_a_category_that_links_outside_is_refused(tmp_path: Path) -> None:
    """A link in place of a folder is followed neither for writing nor for moving nor for reading."""
    root, outside = tmp_path / "store", tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    (outside / "secret.md").write_text("---\ntitle: secret\n---\nsecret\n")
    with Memory(root) as memory:
        id_ = memory.add_observation(content="c", category="beta").id
        (root / "memories/alpha").symlink_to(outside, target_is_directory=True)
        (root / "memories/beta/link.md").symlink_to(outside / "secret.md")
        before = _listing(outside)
        for category in ("alpha", "alpha/sub", "alpha/new"):
            with pytest.raises(InputError, match="link"):
                memory.add_observation(content="x", category=category)
            with pytest.raises(InputError, match="link"):
                memory.move(id_, category)
        assert _listing(outside) == before
        memory.sync(stamp=True)
        memory.compact()
        assert titles(memory) == ["c"]
        assert {p.where for p in memory.check().problems} >= {"memories/alpha", "memories/beta/link.md"}
        assert _listing(outside) == before


def test_f11_a_folder_that_becomes_a_link_is_neither_read_nor_written_through(tmp_path: Path) -> None:
    """When a known folder is replaced by a link, what lies behind it is never returned, and no change goes there."""
    root, outside = tmp_path / "store", tmp_path / "outside"
    with Memory(root) as memory:
        made = memory.add_observation(title="ours", content="ours", category="alpha/deep")
        memory.compact()
        name = os.path.basename(made.path)
        shutil.copytree(root / "memories/alpha", outside)
        (outside / "deep" / name).write_bytes((root / made.path).read_bytes().replace(b"ours", b"theirs"))
        shutil.rmtree(root / "memories/alpha")
        (root / "memories/alpha").symlink_to(outside, target_is_directory=True)
        before = _listing(outside)
        for changed in (
            lambda: memory.update(made.id, title="x"),
            lambda: memory.move(made.id, "beta"),
            lambda: memory.add_observation(content="new", category="alpha/deep"),
        ):
            with pytest.raises(GrailError):
                changed()
        assert _listing(outside) == before
        assert "theirs" not in [o.title for o in memory.recall().observations]
        with Memory(root) as other:
            assert "theirs" not in [o.title for o in other.recall().observations]
            other.sync()
            assert "theirs" not in [o.title for o in other.recall().observations]
            other.rebuild()
            assert "theirs" not in [o.title for o in other.recall().observations]
        assert _listing(outside) == before


@pytest.mark.parametrize(
    "slug", ["../../x", "/etc/passwd", "a/b", "..", ".hidden", "a\x00b", "a\nb", "C:\\x", "CON", "", "x" * 500]
)
def test_f12_a_slug_names_a_file_in_its_folder_only(tmp_path: Path, slug: str) -> None:
    """The one argument that shapes a file name can neither leave the folder nor take the name of a file that is there."""
    with Memory(tmp_path / "store") as memory:
        one = memory.add_observation(content="1", category="alpha", slug=slug)
        two = memory.add_observation(content="2", category="alpha", slug=slug)
        assert one.path != two.path
        assert {p.name for p in tmp_path.iterdir()} == {"store"}
        assert len(list((tmp_path / "store/memories/alpha").iterdir())) == 2


@pytest.mark.parametrize(
    "text",
    [
        "COPY observations TO '{out}'",
        "COPY (SELECT 1) TO '{out}' (FORMAT parquet)",
        "EXPORT DATABASE '{out}'",
        "ATTACH '{out}' AS o",
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM read_csv('{secret}')",
        "SELECT * FROM '{secret}'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_parquet('{folder}/*.parquet')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "CREATE TABLE t AS SELECT 1",
        "DROP VIEW observations",
        "SELECT 1; COPY observations TO '{out}'",
        "PRAGMA database_list",
        "CALL pragma_version()",
    ],
)
def test_f12_sql_writes_and_reads_no_file(tmp_path: Path, text: str) -> None:
    """No statement makes, overwrites or reads a file that the caller names, with and without a snapshot."""
    secret = tmp_path / "secret.csv"
    secret.write_text("canary\n1\n")
    out = tmp_path / "out.csv"
    write(tmp_path / "store", "alpha/x.md", "---\ntitle: t\n---\nbody\n")
    with Memory(tmp_path / "store") as memory:
        for _ in range(2):
            with pytest.raises(InputError):
                memory.sql(text.format(out=out, secret=secret, folder=tmp_path))
            assert not out.exists()
            assert memory.sql("SELECT count(*) AS n FROM observations").to_pydict() == {"n": [1]}
            memory.compact()
        assert secret.read_text() == "canary\n1\n"
