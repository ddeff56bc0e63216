"""Faults of edits from outside and of index truth that other systems had."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_stores import Child, everything, titles, write

from grail_mem import GrailError, Memory, StoreError

NOTE = """---
title: {name}
tags: [{name}]
entities:
  - {{name: E {name}, type: T}}
relationships:
  - {{source: E {name}, target: Hub, relationship_type: KNOWS}}
---
text of {name}
"""


def _note(root: Path, path: str, name: str) -> Path:
    return write(root, path, NOTE.format(name=name))


def agreed(memory: Memory) -> list[str]:
    """The names of all notes, after making sure that every way of asking says the same."""
    names = titles(memory)
    assert sorted(title for name in set(names) for title in titles(memory, text=f"text of {name}")) == names
    assert sorted(title for name in set(names) for title in titles(memory, tags=[name])) == names
    assert sorted(title for name in set(names) for title in titles(memory, entity_names=[f"e {name}"])) == names
    assert sorted(memory.sql("SELECT title FROM observations").column(0).to_pylist()) == names
    assert sorted(i["tag"] for i in memory.list_tags(limit=1000).items for _ in range(i["n_observations"])) == names
    assert {i["name"] for i in memory.list_entities(limit=1000).items} - {"Hub"} == {f"E {name}" for name in names}
    by_category = {i["category"]: i["n_directly"] for i in memory.list_categories().items}
    for category, n in by_category.items():
        assert sum(o.category == category for o in memory.recall(limit=1000).observations) == n
    graph = memory.graph()
    assert sorted(graph.nodes[source]["name"] for source, _ in graph.edges()) == [f"E {name}" for name in names]
    assert sorted(memory.list_observations(limit=1000).observations, key=lambda o: o.id) == sorted(
        memory.recall(limit=1000).observations, key=lambda o: o.id
    )
    for o in memory.recall(limit=1000).observations:
        assert memory.get(o.id) == o
    return names


def _edit(root: Path) -> list[str]:
    _note(root, "alpha/a.md", "edited")
    return ["b", "c", "edited", "ours"]


def _edit_in_place(root: Path) -> list[str]:
    with (root / "memories/alpha/a.md").open("r+") as file:
        file.write(NOTE.format(name="z"))
    return ["b", "c", "ours", "z"]


def _replace_as_editors_do(root: Path) -> list[str]:
    aside = _note(root, "alpha/.a.md.swp", "swapped")
    os.replace(aside, root / "memories/alpha/a.md")
    return ["b", "c", "ours", "swapped"]


def _rename(root: Path) -> list[str]:
    os.rename(root / "memories/alpha/a.md", root / "memories/alpha/renamed.md")
    return ["a", "b", "c", "ours"]


def _rename_ours(root: Path) -> list[str]:
    (file,) = (root / "memories/ours").iterdir()
    os.rename(file, file.with_name("mine.md"))
    return ["a", "b", "c", "ours"]


def _move(root: Path) -> list[str]:
    (root / "memories/gamma/new").mkdir(parents=True)
    os.rename(root / "memories/alpha/a.md", root / "memories/gamma/new/a.md")
    return ["a", "b", "c", "ours"]


def _move_a_folder(root: Path) -> list[str]:
    os.rename(root / "memories/alpha", root / "memories/delta")
    return ["a", "b", "c", "ours"]


def _swap(root: Path) -> list[str]:
    folder = root / "memories/alpha"
    os.rename(folder / "a.md", folder / "x.md")
    os.rename(folder / "b.md", folder / "a.md")
    os.rename(folder / "x.md", folder / "b.md")
    return ["a", "b", "c", "ours"]


def _delete(root: Path) -> list[str]:
    (root / "memories/alpha/a.md").unlink()
    return ["b", "c", "ours"]


def _delete_a_folder(root: Path) -> list[str]:
    shutil.rmtree(root / "memories/alpha")
    return ["c", "ours"]


def _copy(root: Path) -> list[str]:
    _note(root, "beta/fresh.md", "fresh")
    shutil.copytree(root / "memories/beta", root / "memories/copy")
    return ["a", "b", "c", "c", "fresh", "fresh", "ours"]


def _break(root: Path) -> list[str]:
    write(root, "alpha/a.md", "---\n[\n---\nx\n")
    return ["b", "c", "ours"]


def _all_at_once(root: Path) -> list[str]:
    _rename(root)
    _note(root, "alpha/b.md", "edited")
    (root / "memories/beta/c.md").unlink()
    _note(root, "gamma/deep/er/new.md", "new")
    return ["a", "edited", "new", "ours"]


EDITS = [
    _edit, _edit_in_place, _replace_as_editors_do, _rename, _rename_ours, _move, _move_a_folder, _swap, _delete,
    _delete_a_folder, _copy, _break, _all_at_once,
]  # fmt: skip


def _store(root: Path, *, compacted: bool, settings: str = "stamp: never\n") -> None:
    for path, name in (("alpha/a.md", "a"), ("alpha/b.md", "b"), ("beta/c.md", "c")):
        _note(root, path, name)
    (root / "grail.yaml").write_text(settings)
    with Memory(root) as memory:
        memory.add_observation(
            title="ours", content="text of ours", category="ours", tags=["ours"],
            entities=[{"name": "E ours", "type": "T"}, {"name": "Hub"}],
            relationships=[{"source": "E ours", "target": "Hub", "relationship_type": "KNOWS"}],
        )  # fmt: skip
        memory.sync()
        if compacted:
            memory.compact()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "compacted"),
    [*((edit, True) for edit in EDITS), *((edit, False) for edit in (_rename, _copy, _all_at_once))],
)
def test_f21_after_a_sync_every_way_of_asking_agrees(
    tmp_path: Path, edit: Callable[[Path], list[str]], compacted: bool
) -> None:
    """What people did to files reaches filters, text, SQL, lists and graph alike: after sync, in a new process, rebuilt."""
    _store(tmp_path, compacted=compacted)
    with Memory(tmp_path) as memory:
        ids = {o.title: o.id for o in memory.recall().observations}
        expected = edit(tmp_path)
        memory.sync()
        assert agreed(memory) == expected
        if edit in (_rename, _rename_ours, _move, _move_a_folder):
            assert {o.title: o.id for o in memory.recall().observations} == ids
        with Memory(tmp_path) as other:
            assert agreed(other) == expected
            assert other.recall(limit=1000).observations == memory.recall(limit=1000).observations
            other.rebuild()
            assert other.recall(limit=1000).observations == memory.recall(limit=1000).observations


@pytest.mark.parametrize("edit", [_edit, _edit_in_place, _rename, _move_a_folder, _delete, _all_at_once])
def test_f21_without_a_sync_the_next_look_agrees(tmp_path: Path, edit: Callable[[Path], list[str]]) -> None:
    """An open store finds the edits by itself, at the latest `look_after_s` later, and then every way of asking agrees."""
    _store(tmp_path, compacted=True, settings="stamp: never\nlook_after_s: 0\n")
    with Memory(tmp_path) as memory:
        assert titles(memory) == ["a", "b", "c", "ours"]
        expected = edit(tmp_path)
        if edit is _edit_in_place:  # found when the file is about to be returned, or by a sync
            assert titles(memory) == expected
        assert agreed(memory) == expected


def test_f21_what_is_returned_is_never_older_than_its_file(tmp_path: Path) -> None:
    """A file edited a moment ago is returned as it is now, and not returned if it matches no longer, without any sync."""
    _store(tmp_path, compacted=True, settings="look_after_s: 3600\n")
    with Memory(tmp_path) as memory:
        assert titles(memory, tags=["a"]) == ["a"]
        file = tmp_path / "memories/alpha/a.md"
        file.write_text(file.read_text().replace("tags: [a]", "tags: [other]"))
        assert titles(memory, tags=["a"]) == []
        assert titles(memory, tags=["other"]) == ["a"]
        assert memory.sql("SELECT observation_id FROM tags WHERE tag = 'a'").num_rows == 0


def test_f21_git_brings_changes_to_every_index(tmp_path: Path) -> None:
    """Checking out another commit edits, removes and restores files; each time every way of asking follows."""
    _store(tmp_path, compacted=True)
    (tmp_path / ".gitignore").write_text("/output/\n/.grail/local/\n")

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    with Memory(tmp_path) as memory:
        _note(tmp_path, "alpha/a.md", "edited")
        (tmp_path / "memories/beta/c.md").unlink()
        _note(tmp_path, "gamma/d.md", "d")
        memory.sync()
        git("add", "-A")
        git("commit", "-qm", "two")
        assert agreed(memory) == ["b", "d", "edited", "ours"]
        git("checkout", "-q", "HEAD~1")
        memory.sync(dry_run=True)
        assert agreed(memory) == ["a", "b", "c", "ours"]
        git("checkout", "-q", "-")
        memory.sync(dry_run=True)
        assert agreed(memory) == ["b", "d", "edited", "ours"]


@pytest.mark.slow
def test_f21_a_folder_that_cannot_be_read_keeps_its_rows_and_says_so(tmp_path: Path) -> None:
    """Rights taken away make no memory vanish: the rows stay, every answer is flagged, and nothing is recorded as gone."""
    if os.geteuid():
        pytest.skip("only root can become somebody else")
    script = """
with Memory(root) as memory:
    memory.recall(), memory.sql("SELECT 1")
os.setgid(65534), os.setuid(65534)
with Memory(root) as memory:
    for path in ("memories/alpha", "memories/beta/c.md"):
        mode = os.stat(f"{root}/{path}").st_mode
        os.chmod(f"{root}/{path}", 0)
        with Memory(root) as other:
            for one in (memory, other):
                synced = one.sync()
                answer = one.recall()
                print(sorted(o.title for o in answer.observations), list(synced.vanished), any(path in w for w in answer.warnings))
        os.chmod(f"{root}/{path}", mode)
        print(len(memory.sync().vanished), memory.recall().warnings)
"""
    for folder in tmp_path.parents[:-1]:
        folder.chmod(folder.stat().st_mode | 0o011)
    _store(tmp_path, compacted=True)
    subprocess.run(["chown", "-R", "65534:65534", tmp_path], check=True)
    flagged = "['a', 'b', 'c', 'ours'] [] True"
    assert Child(script, tmp_path).done() == [flagged, flagged, "0 ()"] * 2


def test_f21_a_file_that_cannot_be_read_is_an_error_to_get(tmp_path: Path) -> None:
    """Asking for the one whose file cannot be read says so; it is neither 'not found' nor an old text taken for new."""
    _store(tmp_path, compacted=True)
    with Memory(tmp_path) as memory:
        (found,) = memory.recall(tags=["a"]).observations
        (tmp_path / found.path).unlink()
        (tmp_path / found.path).symlink_to(tmp_path / "memories/alpha/b.md")
        for call in (lambda: memory.get(found.id), lambda: memory.update(found.id, title="x")):
            with pytest.raises(StoreError, match=r"alpha/a\.md"):
                call()
        (tmp_path / found.path).unlink()
        (tmp_path / found.path).write_bytes(b"")
        with pytest.raises(StoreError, match=r"alpha/a\.md"):
            memory.get(found.id)


IGNORED = [
    "alpha/x.tmp",
    "alpha/x.tmp.md",
    "alpha/.x.md.swp",
    "alpha/x.md~",
    "alpha/~x.md",
    "alpha/#x.md#",
    "alpha/#x.md",
    "alpha/x.md.bak",
    "alpha/x.txt",
    "alpha/x.markdown.orig",
    "alpha/.hidden.md",
    ".obsidian/x.md",
    ".git/x.md",
    ".trash/x.md",
    "alpha/.git/refs/x.md",
    "alpha/node_modules/p/README.md",
    "alpha/__pycache__/x.md",
    ".grail/x.md",
]


def test_f22_temporary_hidden_and_generated_files_are_no_memory(tmp_path: Path) -> None:
    """One rule decides what is read; backups, editors' files, hidden folders and our own index are not, and not altered."""
    for path in IGNORED:
        _note(tmp_path, path, "bad")
    _note(tmp_path, "alpha/good.md", "good")
    for outside in ("output/memories/x.md", "README.md", "sources/x.md", ".grail/x.md"):
        (tmp_path / outside).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / outside).write_text(NOTE.format(name="bad"))
    before = {path: (tmp_path / "memories" / path).read_bytes() for path in IGNORED}
    with Memory(tmp_path) as memory:
        for step in (memory.sync, memory.compact, memory.rebuild):
            step()
            assert agreed(memory) == ["good"]
        assert memory.check().problems == ()
        assert {item["category"] for item in memory.list_categories().items} == {"alpha"}
    assert {path: (tmp_path / "memories" / path).read_bytes() for path in IGNORED} == before


def test_f22_odd_things_in_the_folder_are_not_fatal(tmp_path: Path) -> None:
    """Pipes, sockets, loops of links, names that are no text, folders named like notes: named or skipped, never a hang."""
    _note(tmp_path, "alpha/good.md", "good")
    folder = tmp_path / "memories/alpha"
    os.mkfifo(folder / "pipe.md")
    (folder / "loop.md").symlink_to(folder / "loop.md")
    (folder / "gone.md").symlink_to(tmp_path / "nowhere.md")
    (folder / "self").symlink_to(folder, target_is_directory=True)
    (folder / "folder.md").mkdir()
    _note(tmp_path, "alpha/folder.md/inside.md", "inside")
    with open(os.fsencode(folder) + b"/\xff\xfe.md", "wb") as file:
        file.write(NOTE.format(name="latin").encode())
    with Memory(tmp_path) as memory:
        for step in (memory.sync, memory.compact, memory.rebuild):
            step()
            assert agreed(memory) == ["good", "inside"]
        named = {os.path.basename(p.where) for p in memory.check().problems}
        assert named >= {"pipe.md", "loop.md", "gone.md", "self"}


@pytest.fixture(params=["open", "new", "synced"])
def look(request: pytest.FixtureRequest) -> Callable[[Memory], Memory]:
    """How the change is found: by the store that is open, by a newly opened one, or by a sync."""

    def found(memory: Memory) -> Memory:
        if request.param == "synced":
            memory.sync(stamp=False)
        return Memory(memory.root) if request.param == "new" else memory

    return found


def _wait_until_settled() -> None:
    time.sleep(0.05)  # longer than the kernel's tick


@pytest.mark.parametrize("whole_seconds", [False, True])
def test_f23_same_size_and_time_but_other_content_is_seen(
    tmp_path: Path, look: Callable[[Memory], Memory], whole_seconds: bool
) -> None:
    """A file whose size and time are as before but whose bytes differ is read anew, on file systems of whole seconds too."""
    _store(tmp_path, compacted=True)
    file = tmp_path / "memories/alpha/a.md"
    if whole_seconds:
        os.utime(file, (1_700_000_000, 1_700_000_000))
    _wait_until_settled()
    with Memory(tmp_path) as memory:
        memory.compact()
        assert titles(memory, category="alpha") == ["a", "b"]
        before = file.stat()
        file.write_text(NOTE.format(name="z"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        with look(memory) as after:
            assert titles(after, category="alpha") == ["b", "z"]
            assert agreed(after) == ["b", "c", "ours", "z"]


def test_f23_changes_as_fast_as_they_can_be_made_are_all_seen(tmp_path: Path) -> None:
    """Many edits of equal size within one tick of the clock: each recall returns what the file says then."""
    _store(tmp_path, compacted=True)
    file = tmp_path / "memories/alpha/a.md"
    with Memory(tmp_path) as memory:
        for number in range(50):
            text = NOTE.format(name="a").replace("text of a", f"text of a {number:03d}")
            file.write_text(text)
            assert [o.content for o in memory.recall(tags=["a"]).observations] == [f"text of a {number:03d}"]


def test_f23_a_touch_is_no_edit(tmp_path: Path, look: Callable[[Memory], Memory]) -> None:
    """New times over the same bytes change no row, are recorded nowhere, and do not come back at every look."""
    _store(tmp_path, compacted=True)
    with Memory(tmp_path) as memory:
        before = memory.recall().observations
        for file in (tmp_path / "memories").rglob("*.md"):
            os.utime(file)
        _wait_until_settled()
        ledger = {p.name: p.read_bytes() for p in (tmp_path / ".grail/ledger").iterdir()}
        with look(memory) as after:
            assert after.recall().observations == before
            for _ in range(2):
                synced = after.sync()
                assert not synced.changed
            assert not after.compact().written
        assert {p.name: p.read_bytes() for p in (tmp_path / ".grail/ledger").iterdir()} == ledger


@pytest.mark.parametrize("stamp", [0, 1_000_000_000, 4_000_000_000])
def test_f23_a_clock_set_back_or_ahead_hides_no_change(
    tmp_path: Path, look: Callable[[Memory], Memory], stamp: int
) -> None:
    """A changed file with a time long before or after the one known is read; a time in the future is not re-read for ever."""
    _store(tmp_path, compacted=True)
    with Memory(tmp_path) as memory:
        assert titles(memory, category="alpha") == ["a", "b"]
        file = _note(tmp_path, "alpha/a.md", "z")
        os.utime(file, (stamp, stamp))
        _wait_until_settled()
        with look(memory) as after:
            assert titles(after, category="alpha") == ["b", "z"]
            after.compact()
            assert not after.sync().changed
            assert not after.compact().written


N_MANY = 40_000


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A store of forty thousand observations in its snapshot, made by hand and taken in at once."""
    root = tmp_path_factory.mktemp("many")
    _fill(root)
    with Memory(root) as memory:
        yield memory


def _fill(root: Path) -> None:
    for folder in range(40):
        place = root / f"memories/c{folder:02d}"
        place.mkdir(parents=True)
        text = f"---\ntitle: t{folder}\ntags: [all, odd{folder % 2}]\n---\nbody {folder}\n"
        for number in range(N_MANY // 40):
            (place / f"{number}.md").write_text(text)
    (root / "grail.yaml").write_text("stamp: never\n")
    with Memory(root) as memory:
        memory.rebuild()


def _ids(memory: Memory) -> list[str]:
    return [str(id_) for id_ in memory.sql("SELECT id FROM observations").column(0).to_pylist()]


@pytest.mark.slow
def test_f24_an_answer_of_ten_thousand_and_of_all(many: Memory) -> None:
    """Large limits work up to a stated cap; pages over everything give each observation once."""
    assert len(many.recall(limit=10_000).observations) == 10_000
    assert len({o.id for o in many.recall(limit=100_000, tags=["all"]).observations}) == N_MANY
    with pytest.raises(GrailError, match="100000"):
        many.recall(limit=100_001)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = many.recall(limit=15_000, cursor=cursor, tags=["odd1"])
        seen += [o.id for o in page.observations]
        cursor = page.cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == N_MANY // 2


@pytest.mark.slow
def test_f24_more_values_than_a_database_takes_variables(many: Memory) -> None:
    """More than 32 thousand values in one statement work, as one list or one by one."""
    ids = _ids(many)
    assert len(ids) == N_MANY
    text = "SELECT count(*) FROM observations WHERE id IN (SELECT unnest(?))"
    assert many.sql(text, [ids]).column(0)[0].as_py() == N_MANY
    marks = ", ".join("?" * 33_000)
    text = f"SELECT count(*) FROM observations WHERE id IN ({marks})"
    assert many.sql(text, ids[:33_000]).column(0)[0].as_py() == 33_000


@pytest.mark.parametrize(
    "condition", ["tags", "tags_all", "entity_names", "entity_types", "relationship_type", "category", "kind", "status"]
)
def test_f24_a_filter_of_many_values_works_or_states_its_cap(tmp_path: Path, condition: str) -> None:
    """A condition with forty thousand values is refused with the cap; one at the cap is answered."""
    _note(tmp_path, "alpha/a.md", "a")
    with Memory(tmp_path) as memory:
        memory.compact()
        values = ["semantic"] if condition in ("kind", "status") else []
        values += [f"v{n}" for n in range(40_000)]
        with pytest.raises(GrailError, match=f"{condition}.*at most 1000|{condition} must be one of"):
            memory.recall(**{condition: values})
        if condition not in ("kind", "status"):
            at_cap: dict[str, Any] = {condition: values[:1000]}
            assert memory.recall(**at_cap).observations == ()


def test_f24_thousands_of_hidden_and_changed_rows(tmp_path: Path) -> None:
    """Many rows that count no longer are left out of every answer, whatever their number."""
    for number in range(1000):
        write(tmp_path, f"alpha/{number}.md", f"---\ntitle: t{number}\ntags: [x]\n---\nbody\n")
    (tmp_path / "grail.yaml").write_text("stamp: never\ncompact_after: 100000\n")
    with Memory(tmp_path) as memory:
        memory.compact()
        for number in range(990):
            (tmp_path / f"memories/alpha/{number}.md").unlink()
        memory.sync()
        expected = [f"t{number}" for number in range(990, 1000)]
        assert titles(memory) == titles(memory, tags=["x"]) == titles(memory, text="body") == expected
        assert len(memory.recall(limit=5, order="oldest").observations) == 5
        assert memory.sql("SELECT count(*) FROM observations").column(0)[0].as_py() == 10
    assert everything(tmp_path)
