"""Sync: what people, git and other tools did to the files."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from grail_mem import Memory
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import history


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path)
    memory.init()
    return memory


def write(memory: Memory, name: str, text: str) -> Path:
    path = memory.root / "memories" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_title_and_a_body_are_enough(memory: Memory) -> None:
    """Sync gives the file an id and times, and touches nothing else."""
    path = write(memory, "a/note.md", "---\n# mine\ntitle: By hand   # ok\n---\nHello.\n")
    done = memory.sync()
    assert done.adopted == done.stamped == ("memories/a/note.md",)
    found = memory.recall().observations[0]
    assert path.read_text() == (
        f"---\n# mine\ntitle: By hand   # ok\nid: {found.id}\nrecorded_at: {found.to_dict()['recorded_at']}\n"
        f"observed_at: {found.to_dict()['observed_at']}\n---\nHello.\n"
    )
    assert (found.title, found.content, found.category) == ("By hand", "Hello.", "a")


def test_a_body_alone_is_an_observation(memory: Memory) -> None:
    """Its heading is the title; the date in the file's name is when it was observed."""
    write(memory, "diary/2024-03-05.md", "# A long day\n\nIt rained.\n")
    memory.sync(stamp=False)
    found = memory.recall().observations[0]
    assert (found.title, f"{found.observed_at:%Y-%m-%d}") == ("A long day", "2024-03-05")
    assert (memory.root / "memories/diary/2024-03-05.md").read_text() == "# A long day\n\nIt rained.\n"


def test_a_second_sync_finds_nothing(memory: Memory) -> None:
    """Adopting, stamping and editing are over after one."""
    write(memory, "a/note.md", "Hello.\n")
    assert memory.sync().changed
    ledger = next((memory.root / ".grail/ledger").iterdir()).read_bytes()
    assert not memory.sync().changed
    assert next((memory.root / ".grail/ledger").iterdir()).read_bytes() == ledger


def test_a_dry_run_changes_nothing(memory: Memory) -> None:
    """It only says what it would do."""
    path = write(memory, "a/note.md", "Hello.\n")
    done = memory.sync(dry_run=True)
    assert (done.adopted, done.stamped) == (("memories/a/note.md",),) * 2
    assert path.read_text() == "Hello.\n"
    assert memory.sync().adopted == ("memories/a/note.md",)


def test_what_a_stamp_takes_the_place_of_is_kept(memory: Memory) -> None:
    """A person's words for a time are not ours to delete; a file whose id is none is left as it is."""
    left = "---\ntitle: B\nid: 42\nobserved_at: lately\n---\nHello, too.\n"
    other = write(memory, "b/note.md", left)
    said = "title: A\nobserved_at: lately\nrecorded_at: 2026-06-02\nstated_recorded_at: mine\n"
    path = write(memory, "a/note.md", f"---\n{said}---\nHello.\n")
    assert memory.sync().stamped == ("memories/a/note.md",)
    assert other.read_text() == left
    (found,) = memory.recall(category="a").observations
    assert found.extra == {"stated_recorded_at": "mine", "stated_observed_at": "lately"}
    assert path.read_text().count("stated_") == 2
    assert f"\nid: {found.id}\n" in path.read_text()
    done = memory.sync()
    assert not done.changed
    assert memory.check().ok
    memory.rebuild()
    assert memory.recall(category="a").observations == (found,)


@pytest.mark.parametrize("stamped", [True, False])
def test_edits_moves_and_removals_are_found(memory: Memory, stamped: bool) -> None:
    """The content hash decides; an id outlives edits and moves, whether the file carries it or not."""
    for name in ("edit", "rename", "remove", "move", "touch"):
        write(memory, f"a/{name}.md", f"# {name}\n\ntext {name}\n")
    memory.sync(stamp=stamped)
    ids = {o.title: o.id for o in memory.recall().observations}
    memory.compact()
    folder = memory.root / "memories/a"
    (folder / "edit.md").write_text((folder / "edit.md").read_text() + "more\n")
    (folder / "rename.md").rename(folder / "renamed.md")
    (folder / "remove.md").unlink()
    (memory.root / "memories/b").mkdir()
    (folder / "move.md").rename(memory.root / "memories/b/move.md")
    os.utime(folder / "touch.md", (1, 1))
    done = memory.sync(stamp=stamped)
    assert done.edited == ("memories/a/edit.md",)
    assert done.moved == (
        ("memories/a/move.md", "memories/b/move.md"),
        ("memories/a/rename.md", "memories/a/renamed.md"),
    )
    assert done.vanished == ("memories/a/remove.md",)
    assert done.adopted == ()
    after = {o.title: o.id for o in memory.recall().observations}
    assert after == {k: v for k, v in ids.items() if k != "remove"}
    memory.rebuild()
    assert {o.title: o.id for o in memory.recall().observations} == after


def test_a_copy_of_a_file_gets_an_id_of_its_own(memory: Memory) -> None:
    """The original keeps its id; check names the copy."""
    w = memory.add_observation(title="T", content="C", category="b")
    write(memory, "a/copy.md", (memory.root / w.path).read_text() + "changed\n")
    memory.sync()
    found = {o.path: o.id for o in memory.recall().observations}
    assert found[w.path] == w.id
    assert found["memories/a/copy.md"] != w.id
    assert [(p.code, p.where) for p in memory.check().problems] == [
        ("category_differs", "memories/a/copy.md"),
        ("duplicate_id", "memories/a/copy.md"),
    ]
    memory.rebuild()
    assert {o.path: o.id for o in memory.recall().observations} == found
    (memory.root / w.path).unlink()
    memory.sync()
    assert [o.id for o in memory.recall().observations] == [w.id]


def test_a_file_that_cannot_be_parsed_is_named_and_left_alone(memory: Memory) -> None:
    """With path, line and remedy; everything else goes on; mending it is enough."""
    bad = write(memory, "a/bad.md", "---\ntitle: x\n- a\n- b\n---\nbody\n")
    write(memory, "a/good.md", "Hello.\n")
    before = bad.read_bytes()
    done = memory.sync()
    problem = next(p for p in done.problems if p.where == "memories/a/bad.md")
    assert problem.severity == "error"
    assert problem.line >= 2
    assert problem.remedy
    assert bad.read_bytes() == before
    assert len(memory.recall().observations) == 1
    assert not memory.check().ok
    bad.write_text("---\ntitle: x\n---\nbody\n")
    memory.sync()
    assert memory.check().ok
    assert len(memory.recall().observations) == 2


def test_a_folder_of_notes_becomes_a_store_without_a_byte_being_changed(tmp_path: Path) -> None:
    """By reference: ids live in the ledger until somebody asks for stamps."""
    vault = tmp_path / "vault"
    notes = {
        "memories/Projects/Alpha.md": "Links to [[Beta]] and #tag\n",
        "memories/Projects/Beta.md": "---\naliases: [B]\ncreated: 2023-05-06\ntags: [x, y]\n---\n# Beta\n\ntext ![[pic.png]]\n",
        "memories/daily/2024-01-02.md": "- [x] done\n- [ ] open\n",
        "memories/.obsidian/app.md": "not a note\n",
        "memories/Projects/note.md~": "backup\n",
    }
    for name, text in notes.items():
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text(text)
    with Memory(vault) as memory:
        memory.init()
        memory.sync()
        found = {o.path: o for o in memory.recall().observations}
        assert sorted(found) == sorted(notes)[1:2] + sorted(notes)[2:3] + ["memories/daily/2024-01-02.md"]
        assert found["memories/Projects/Beta.md"].tags == ("x", "y")
        assert f"{found['memories/Projects/Beta.md'].observed_at:%Y-%m-%d}" == "2023-05-06"
        assert "[[Beta]]" in found["memories/Projects/Alpha.md"].content
        assert {name: (vault / name).read_text() for name in notes} == notes
        ids = {path: o.id for path, o in found.items()}
        (vault / "memories/Projects/Alpha.md").write_text("Links to [[Beta]] and #tag\nand more\n")
        memory.rebuild()
        assert {o.path: o.id for o in memory.recall().observations} == ids
        memory.sync(stamp=True)
        memory.rebuild()
        assert {o.path: o.id for o in memory.recall().observations} == ids
        assert f"id: {ids['memories/Projects/Alpha.md']}" in (vault / "memories/Projects/Alpha.md").read_text()


def test_notes_may_lie_in_the_folder_itself(tmp_path: Path) -> None:
    """`init` in a vault whose notes are not under `memories/`: they stay where they are, and new ones go beside them."""
    notes = {"Projects/Alpha.md": "see [[Beta]]\n", "Beta.md": "# Beta\n", ".obsidian/x.md": "no\n", "pic.png": "no\n"}
    for name, text in notes.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with Memory(tmp_path) as memory:
        memory.init()
        assert "notes: .\nstamp: never\n" in "".join(
            line for line in (tmp_path / "grail.yaml").read_text().splitlines(keepends=True) if line[0] != "#"
        )
        memory.sync()
        assert {o.path: o.category for o in memory.recall().observations} == {
            "Projects/Alpha.md": "Projects",
            "Beta.md": "",
        }
        written = memory.add_observation(content="new", category="Projects/sub")
        assert written.path.startswith("Projects/sub/")
        memory.compact()
        (tmp_path / "Beta.md").rename(tmp_path / "Projects/Beta.md")
        assert memory.sync().moved == (("Beta.md", "Projects/Beta.md"),)
        before = [o.id for o in memory.recall().observations]
        memory.rebuild()
        assert [o.id for o in memory.recall(category="projects").observations] == before
        assert memory.check().ok
    assert {name: (tmp_path / name).read_text() for name in notes if name != "Beta.md"} == {
        name: text for name, text in notes.items() if name != "Beta.md"
    }


def test_a_readme_alone_is_no_folder_of_notes(tmp_path: Path) -> None:
    """Most folders have one."""
    (tmp_path / "README.md").write_text("# About\n")
    with Memory(tmp_path) as memory:
        memory.init()
        assert memory.recall().abstention is not None
    assert (tmp_path / "memories").is_dir()


def test_an_id_of_somebody_else_is_never_overwritten(memory: Memory) -> None:
    """It is named by check, and the observation goes by a derived one."""
    path = write(memory, "a/zettel.md", "---\nid: zettel-1\n---\nbody\n")
    memory.sync(stamp=True)
    assert path.read_text() == "---\nid: zettel-1\n---\nbody\n"
    assert [p.code for p in memory.check().problems] == ["bad_id"]
    assert len(memory.recall().observations) == 1


@pytest.mark.parametrize("compacted", [False, True])
def test_a_change_made_before_the_write_was_looked_at_is_told(tmp_path: Path, compacted: bool) -> None:
    """Edit, removal and rename of what was just added, by a process that starts afresh."""
    with Memory(tmp_path) as memory:
        ids = [memory.add_observation(title=t, content=t, category="a") for t in ("edit", "remove", "rename")]
        if compacted:
            memory.compact()
    paths = [tmp_path / w.path for w in ids]
    paths[0].write_text(paths[0].read_text() + "more\n")
    paths[1].unlink()
    paths[2].rename(tmp_path / "memories/a/renamed.md")
    with Memory(tmp_path) as memory:
        done = memory.sync()
    assert (done.edited, done.vanished, done.adopted) == ((ids[0].path,), (ids[1].path,), ())
    assert done.moved == ((ids[2].path, "memories/a/renamed.md"),)
    with Memory(tmp_path) as memory:
        assert not memory.sync().changed


def test_a_first_write_makes_a_store_that_is_found_from_below(tmp_path: Path) -> None:
    """With settings and what git should leave out."""
    with Memory(tmp_path) as memory:
        memory.add_observation(content="x")
    assert (tmp_path / "grail.yaml").exists()
    assert "/output/" in (tmp_path / ".gitignore").read_text()


def test_many_repetitions_are_recognised_at_once(tmp_path: Path) -> None:
    """A batch that is there already, before and after compaction, and one of it hidden."""
    drafts = [{"content": f"note {i}", "category": f"c{i % 3}"} for i in range(60)]
    with Memory(tmp_path) as memory:
        first = memory.add_observations(drafts)
        memory.compact()
        memory.hide(first[7].id)
        again = memory.add_observations(drafts)
        assert [r.id == f.id for r, f in zip(again, first, strict=True)].count(False) == 1
        assert [r.created for r in again].count(True) == 1
        assert "hidden" in again[7].warnings[0]
        assert len(memory.recall(limit=100).observations) == 60


@pytest.mark.parametrize("stamped", [True, False])
def test_a_rebuild_tells_the_ledger_what_it_found(memory: Memory, stamped: bool) -> None:
    """Else nobody would ever hear of a rename that was taken into the snapshot."""
    path = write(memory, "a/note.md", "Hello.\n")
    memory.sync(stamp=stamped)
    id_ = memory.recall().observations[0].id
    path.rename(path.with_name("renamed.md"))
    write(memory, "a/other.md", "Other.\n")
    memory.rebuild()
    actions = [entry.action for entry in history(Layout(memory.root))]
    assert sorted(actions[-2:]) == ["adopt", "relocate"]
    assert id_ in {o.id for o in memory.recall().observations}
    assert not memory.sync(stamp=False).changed


@pytest.mark.parametrize("version", [1, 999])
def test_a_snapshot_of_another_version_is_no_damage(tmp_path: Path, version: int) -> None:
    """A program of another version wrote it; it is passed over, and the next compaction writes one that is read."""
    with Memory(tmp_path) as memory:
        made = memory.add_observation(title="Alpha", content="The first.", category="work")
        memory.compact()
        (manifest,) = (tmp_path / "output/snapshots").glob("*/manifest.json")
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": version}))
    with Memory(tmp_path) as memory:
        assert [o.id for o in memory.recall().observations] == [made.id]
        assert not memory.check().problems
        manifest.write_text("{")
        assert [problem.code for problem in memory.check().problems] == ["damaged_snapshot"]


@pytest.mark.parametrize("is_compacted", [False, True], ids=["loose", "compacted"])
def test_a_file_whose_frontmatter_has_no_end_is_left_as_it_is(tmp_path: Path, is_compacted: bool) -> None:
    """An id above it would make text of what it says for good; closed again, it is the observation that it was."""
    with Memory(tmp_path, embedder="none") as memory:
        made = memory.add_observation(title="Tea", content="Ann likes it.", category="people", tags=["taste"])
        file = tmp_path / memory.get(made.id).path
        right = file.read_bytes()
        at = right.rindex(b"\n---")
        torn = right[:at] + right[at + 4 :]
        file.write_bytes(torn)
        for _ in range(2):
            done = memory.sync()
            assert done.stamped == ()
            assert file.read_bytes() == torn
            assert [p.code for p in memory.check().problems] == ["unclosed_frontmatter"]
            if is_compacted:
                memory.compact()
    with Memory(tmp_path, embedder="none") as memory:
        assert memory.sync(dry_run=True).stamped == ()
        memory.sync()
        assert file.read_bytes() == torn
        file.write_bytes(right)
        memory.sync()
        assert memory.get(made.id).tags == ("taste",)
        assert [o.id for o in memory.recall().observations] == [made.id]


def test_a_note_that_begins_with_a_rule_below_its_frontmatter_gets_its_id(tmp_path: Path) -> None:
    """A line --- in the text is no frontmatter without an end."""
    file = tmp_path / "memories" / "a.md"
    file.parent.mkdir()
    file.write_text("---\ntitle: A\n---\n\n---\n\nBelow the rule.\n")
    with Memory(tmp_path, embedder="none") as memory:
        assert memory.sync().stamped == ("memories/a.md",)


@pytest.mark.parametrize("folder", ["a", "z"])
@pytest.mark.parametrize("compacted", [0, 1, 2])
@pytest.mark.parametrize("reopened", [False, True])
def test_an_edit_does_not_hand_the_id_to_a_copy(tmp_path: Path, folder: str, compacted: int, *, reopened: bool) -> None:
    """Whatever the copy's folder is called, and whether a process that is open sees the edit or a new one."""
    memory = Memory(tmp_path)
    made = memory.add_observation(content="alpha", category="c", title="one")
    path = tmp_path / made.path
    copy = tmp_path / "memories" / folder / path.name
    copy.parent.mkdir(parents=True)
    shutil.copyfile(path, copy)
    memory.sync()
    for _ in range(compacted):
        memory.compact()
    if reopened:
        memory.close()
    path.write_text(path.read_text().replace("alpha", "alpha 2"))
    if reopened:
        memory = Memory(tmp_path)
    with memory:
        assert memory.get(made.id).path == made.path
        copy.rename(copy.with_name("1-other.md"))
        memory.sync()
        assert memory.get(made.id).path == made.path
        memory.rebuild()
        assert memory.get(made.id).content.strip() == "alpha 2"
        assert len(memory.recall().observations) == 2
