"""Faults of concurrency, durability and locks that other systems had: real processes, real signals, real full disks."""

from __future__ import annotations

import fcntl
import os
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_stores import Child, check_whole, everything, titles, write

from grail_mem import InputError, Memory, StoreError

ADD = """
with Memory(root) as memory:
    for number in range(arg["n"]):
        print(memory.add_observation(title=f"{arg['who']}-{number}", content=f"by {arg['who']} {number}",
                                     category=arg["category"], entities=["Shared"]).id, flush=True)
"""


def _child(script: str, root: Path, **arg: object) -> Child:
    return Child(script, root, arg)


@pytest.mark.slow
@pytest.mark.parametrize(("n_writers", "n_each"), [(2, 50), (8, 8)])
def test_f13_writers_at_once_lose_nothing(tmp_path: Path, n_writers: int, n_each: int) -> None:
    """Processes that write into one category all succeed, and everything they were told is there, once."""
    writers = [_child(ADD, tmp_path, who=f"w{i}", n=n_each, category="alpha") for i in range(n_writers)]
    acknowledged = [id_ for writer in writers for id_ in writer.done()]
    assert len(set(acknowledged)) == n_writers * n_each
    check_whole(tmp_path, acknowledged)
    with Memory(tmp_path) as memory:
        assert len(memory.recall(limit=1000).observations) == n_writers * n_each
        assert memory.list_entities().items[0]["n_observations"] == n_writers * n_each


@pytest.mark.slow
def test_f13_eight_writers_of_fifty_lose_nothing(tmp_path: Path) -> None:
    """The same at the size at which other systems lost half."""
    writers = [_child(ADD, tmp_path, who=f"w{i}", n=50, category="alpha") for i in range(8)]
    acknowledged = [id_ for writer in writers for id_ in writer.done()]
    assert len(set(acknowledged)) == 400
    check_whole(tmp_path, acknowledged)


@pytest.mark.slow
def test_f13_the_same_statement_by_many_at_once_is_one(tmp_path: Path) -> None:
    """Eight processes that store one and the same observation at once make one file, and exactly one made it."""
    script = """
with Memory(root) as memory:
    print(memory.add_observation(title="same", content="same", category="alpha").created)
"""
    answers = [line for child in [Child(script, tmp_path) for _ in range(8)] for line in child.done()]
    assert sorted(answers) == ["False"] * 7 + ["True"]
    assert len(list((tmp_path / "memories/alpha").iterdir())) == 1


@pytest.mark.slow
def test_f14_appends_at_once_are_all_kept(tmp_path: Path) -> None:
    """Twenty appends to one observation by four processes: all twenty are in it."""
    script = """
with Memory(root) as memory:
    for number in range(5):
        memory.update(arg["id"], append=f"line {arg['who']}-{number}")
"""
    with Memory(tmp_path) as memory:
        id_ = memory.add_observation(title="log", content="begin", category="alpha").id
        for child in [_child(script, tmp_path, id=id_, who=who) for who in range(4)]:
            child.done()
        lines = memory.get(id_).content.split("\n\n")
        assert lines[0] == "begin"
        assert sorted(lines[1:]) == sorted(f"line {who}-{n}" for who in range(4) for n in range(5))
        assert memory.recall().observations[0].content == memory.get(id_).content


@pytest.mark.slow
def test_f14_different_fields_changed_at_once_are_both_kept(tmp_path: Path) -> None:
    """Two processes that change different fields of one observation do not undo each other."""
    script = """
with Memory(root) as memory:
    for number in range(10):
        memory.update(arg["id"], **{arg["field"]: f"{arg['field']} {number}"})
"""
    with Memory(tmp_path) as memory:
        id_ = memory.add_observation(title="t", content="c", category="alpha").id
        for child in [_child(script, tmp_path, id=id_, field=field) for field in ("title", "source", "attribute")]:
            child.done()
        found = memory.get(id_)
        assert (found.title, found.source, found.attribute) == ("title 9", "source 9", "attribute 9")


@pytest.mark.slow
def test_f15_writers_killed_at_any_moment_leave_whole_files_only(tmp_path: Path) -> None:
    """Kill -9 again and again during adds, updates, batches: every file is old or new, every acknowledged write there."""
    script = """
with Memory(root) as memory:
    one = memory.add_observation(title="one", content="0" * 5000, category="alpha").id
    print(one, flush=True)
    for number in range(10_000):
        memory.update(one, content=f"{number % 10}" * 5000)
        for written in memory.add_observations([{"title": f"{arg}-{number}-{i}", "content": "x" * 3000} for i in range(5)]):
            print(written.id, flush=True)
"""
    acknowledged: list[str] = []
    rng = random.Random(15)
    for round_ in range(4):
        child = Child(script, tmp_path, round_)
        acknowledged.append(child.line())
        time.sleep(rng.uniform(0.0, 0.15))
        acknowledged += [line for line in child.kill() if len(line) == 26]
    for file in (tmp_path / "memories").rglob("*"):
        assert file.is_dir() or (file.suffix == ".md" and file.read_bytes().startswith(b"---\nid: "))
    with Memory(tmp_path) as memory:
        memory.sync()  # a batch that was promised and not yet placed is finished by whoever writes next
        for found in memory.recall(category="alpha", limit=1000).observations:
            assert len(set(found.content)) == 1
            assert len(found.content) == 5000
        per_batch: dict[str, int] = {}
        for title in titles(memory, category="inbox"):
            per_batch[title.rpartition("-")[0]] = per_batch.get(title.rpartition("-")[0], 0) + 1
        assert set(per_batch.values()) <= {5}
    check_whole(tmp_path, acknowledged)


@pytest.mark.slow
def test_f15_settings_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """A process killed while it makes a store leaves a settings file that is whole or absent, and the next one finishes."""
    script = "while True:\n    for name in ('grail.yaml', '.gitignore'):\n        os.path.exists(f'{root}/{name}') and os.unlink(f'{root}/{name}')\n    Memory(root).init()\n    print('made', flush=True)"
    for _ in range(3):
        child = Child(script, tmp_path)
        child.line()
        time.sleep(0.05)
        child.kill()
        settings = tmp_path / "grail.yaml"
        assert not settings.exists() or settings.read_text().startswith("# Settings of this grail_mem store")
        with Memory(tmp_path) as memory:
            memory.init()
            assert not [p for p in memory.check().problems if p.severity == "error"]
            assert memory.recall().observations == ()
    assert settings.stat().st_size > 0


def test_f15_leftovers_of_a_killed_writer_are_no_memory(tmp_path: Path) -> None:
    """Files being written, wherever a killed process left them, are never taken for observations."""
    with Memory(tmp_path) as memory:
        memory.add_observation(title="real", content="c", category="alpha")
        whole = next((tmp_path / "memories/alpha").iterdir()).read_bytes()
        for path in (
            ".grail/local/staging/1-ab.tmp",
            "memories/alpha/x.md.tmp",
            "memories/alpha/x.tmp.md",
            "output/x.md",
        ):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(whole.replace(b"real", b"half"))
        memory.sync()
        assert titles(memory) == ["real"]
        memory.rebuild()
        assert titles(memory) == ["real"]


def test_f15_a_file_cut_to_nothing_is_named_and_not_an_empty_memory(tmp_path: Path) -> None:
    """An empty file, or one of NUL bytes as a crash leaves it, is named by check and is no observation."""
    write(tmp_path, "alpha/empty.md", b"")
    write(tmp_path, "alpha/nul.md", b"\0" * 512)
    write(tmp_path, "alpha/whole.md", "---\ntitle: whole\n---\nbody\n")
    with Memory(tmp_path) as memory:
        assert titles(memory) == ["whole"]
        assert [(p.where, p.severity) for p in memory.check().problems] == [
            ("memories/alpha/empty.md", "error"), ("memories/alpha/nul.md", "error"),
        ]  # fmt: skip
        memory.rebuild()
        assert titles(memory) == ["whole"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte; skipped where none can be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    if (
        os.geteuid()
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=False).returncode
    ):
        pytest.skip("a file system can be mounted by root only")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def _fill_up(memory: Memory, size: int, acknowledged: list[str]) -> None:
    for number in range(100_000):
        made = memory.add_observation(title=f"{size}-{number}", content="x" * size, category="alpha")
        acknowledged.append(made.id)


def test_f15_a_full_disk_is_an_error_and_loses_nothing(small_disk: Path) -> None:
    """When the disk is full a write fails and says so; what was acknowledged stays; with space again writing goes on."""
    acknowledged: list[str] = []
    with Memory(small_disk) as memory:
        for size in (60_000, 6_000, 600, 60):  # down to the last block
            with pytest.raises(StoreError, match="No space left"):
                _fill_up(memory, size, acknowledged)
        for refused in (
            lambda: memory.add_observations([{"content": f"{n}" * 5000} for n in range(5)]),
            lambda: memory.update(acknowledged[0], content="y" * 60_000),
            memory.compact,
        ):
            with pytest.raises(StoreError, match="No space left"):
                refused()
        assert sorted(o.id for o in memory.recall(limit=100_000).observations) == sorted(acknowledged)
        assert memory.get(acknowledged[0]).content == "x" * 60_000
    assert all(p.read_bytes().startswith(b"---") for p in (small_disk / "memories/alpha").iterdir())
    with Memory(small_disk) as memory:
        assert sorted(o.id for o in memory.recall(limit=100_000).observations) == sorted(acknowledged)
        assert memory.check().ok
        subprocess.run(["mount", "-o", "remount,size=20m", small_disk], check=True)
        acknowledged.append(memory.add_observation(title="after", content="there is space again", category="alpha").id)
        memory.update(acknowledged[0], content="y" * 60_000)
    check_whole(small_disk, acknowledged)


def test_f15_a_write_cut_off_by_a_limit_stores_nothing(tmp_path: Path) -> None:
    """A write that the system cuts off in the middle is an error, leaves no half file, and the next one works."""
    script = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
with Memory(root) as memory:
    print(memory.add_observation(content="small", category="alpha").id)
    for call in (
        lambda: memory.add_observation(content="x" * 50_000, category="alpha"),
        lambda: memory.add_observations([{"content": "fits", "category": "alpha"}, {"content": "x" * 50_000}]),
    ):
        try:
            call()
        except GrailError as error:
            print(error.code)
    print(memory.add_observation(content="small again", category="alpha").id)
"""
    first, *codes, second = Child(script, tmp_path).done()
    assert codes == ["store", "store"]
    with Memory(tmp_path) as memory:
        assert titles(memory) == ["small", "small again"]
    assert not list((tmp_path / ".grail/local/staging").iterdir())
    check_whole(tmp_path, [first, second])


@pytest.mark.parametrize("n_old", [800, pytest.param(5000, marks=pytest.mark.slow)])
def test_f16_notes_made_while_a_snapshot_is_written_are_kept(tmp_path: Path, n_old: int) -> None:
    """Notes that people and programs make while a snapshot of thousands is written are recalled at once and after the next one."""
    folder = tmp_path / "memories/alpha"
    folder.mkdir(parents=True)
    for number in range(n_old):
        (folder / f"{number:04d}.md").write_text(f"---\ntitle: old {number}\n---\nbody\n")
    script = "with Memory(root) as memory:\n    print('begun', flush=True)\n    memory.compact()\n"
    made: list[str] = []
    with Memory(tmp_path) as memory:
        child = Child(script, tmp_path)
        assert child.line() == "begun"
        number = 0
        while child._process.poll() is None:
            memory.add_observation(title=f"ours {number}", content="c", category="alpha")
            write(tmp_path, f"alpha/hand-{number}.md", f"---\ntitle: hand {number}\n---\nbody\n")
            write(tmp_path, f"new{number}/hand.md", f"---\ntitle: deep {number}\n---\nbody\n")
            made += [f"ours {number}", f"hand {number}", f"deep {number}"]
            number += 1
            time.sleep(0.05)
        child.done()
        memory.sync(stamp=False)
        expected = sorted([*(f"old {n}" for n in range(n_old)), *made])
        assert titles(memory) == expected
        memory.compact()
        assert titles(memory) == expected
    with Memory(tmp_path) as other:
        assert titles(other) == expected


@pytest.mark.slow
def test_f17_readers_writers_compaction_and_sql_at_once_all_succeed(tmp_path: Path) -> None:
    """Open stores, SQL, graph, writers and compactions in several processes at once: none is locked out or ended."""
    read = """
with Memory(root) as memory:
    least = 0
    for _ in range(3):
        found = len(memory.recall(limit=1000).observations)
        counted = memory.sql("SELECT count(*) FROM observations").column(0)[0].as_py()
        assert least <= found <= counted, (least, found, counted)
        least = found
        memory.graph(), memory.list_categories()
    print("read")
"""
    compacting = (
        "with Memory(root) as memory:\n    for _ in range(3):\n        memory.compact()\n    print('compacted')"
    )
    with Memory(tmp_path) as memory:
        memory.add_observation(title="first", content="c", category="alpha")
        memory.compact()
        assert titles(memory) == ["first"]
        children = [Child(read, tmp_path), Child(read, tmp_path), Child(compacting, tmp_path)]
        writer = _child(ADD, tmp_path, who="w", n=25, category="alpha")
        assert [child.done() for child in children] == [["read"], ["read"], ["compacted"]]
        acknowledged = writer.done()
        assert len(memory.recall(limit=1000).observations) == 26
        assert memory.sql("SELECT count(*) FROM observations").column(0)[0].as_py() == 26
    check_whole(tmp_path, acknowledged)


def _read_everything(memory: Memory) -> None:
    memory.recall()
    memory.recall(text="body", tags=["x"], category="alpha")
    memory.recall(text="nothing of the kind")
    memory.get(memory.recall(limit=1).observations[0].id)
    memory.sql("SELECT * FROM observations")
    memory.list_categories(), memory.list_entities(), memory.list_communities(), memory.list_tags()
    memory.list_observations(), memory.graph()
    memory.check()
    memory.sync(dry_run=True)


@pytest.mark.parametrize("compacted", [False, True])
def test_f18_reading_writes_nothing_and_needs_no_lock(tmp_path: Path, compacted: bool) -> None:
    """Opening, every kind of reading and closing leave every file and folder as it was, even while a writer is stuck."""
    write(tmp_path, "alpha/hand.md", "---\ntitle: hand\ntags: [x]\n---\nbody\n")
    with Memory(tmp_path) as memory:
        memory.add_observation(title="ours", content="body", category="alpha", entities=["A"])
        if compacted:
            memory.compact()
            memory.add_observation(title="later", content="body", category="beta")
    write(tmp_path, "beta/not-synced.md", "---\ntitle: not synced\n---\nbody\n")
    write(tmp_path, "beta/broken.md", "---\n[\n---\nbody\n")
    lock = os.open(tmp_path / ".grail/local/write.lock", os.O_RDWR)
    other = os.open(tmp_path / ".grail/local/compact.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fcntl.flock(other, fcntl.LOCK_EX)
        before = everything(tmp_path)
        for _ in range(2):
            with Memory(tmp_path) as memory:
                assert "not synced" in titles(memory)
                _read_everything(memory)
        assert everything(tmp_path) == before
    finally:
        os.close(lock)
        os.close(other)


def test_f18_reading_a_folder_that_is_no_store_makes_none(tmp_path: Path) -> None:
    """An empty or missing folder stays so, whatever is asked of it."""
    for root in (tmp_path / "missing", tmp_path / "empty"):
        if root.name == "empty":
            root.mkdir()
        before = everything(tmp_path)
        with Memory(root) as memory:
            assert memory.recall().abstention is not None
            assert memory.sql("SELECT * FROM observations").num_rows == 0
            assert memory.list_categories().items == ()
            memory.graph()
            memory.check()
        assert everything(tmp_path) == before


@pytest.mark.slow
def test_f18_a_store_that_may_only_be_read_is_read(tmp_path: Path) -> None:
    """A process without the right to write recalls everything, and is told so when it writes."""
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents[:-1]:
        folder.chmod(folder.stat().st_mode | 0o011)
    with Memory(tmp_path) as memory:
        memory.add_observation(title="one", content="body", category="alpha")
        memory.compact()
        memory.add_observation(title="two", content="body", category="alpha")
    subprocess.run(["chmod", "-R", "a+rX,a-w", tmp_path], check=True)
    script = """
with Memory(root) as memory:  # loads every module while it may read them
    memory.recall(), memory.sql("SELECT 1")
os.setgid(65534), os.setuid(65534)
with Memory(root) as memory:
    print(sorted(o.title for o in memory.recall().observations))
    print(memory.sql("SELECT count(*) FROM observations").column(0)[0].as_py())
    for call in (lambda: memory.add_observation(content="x", category="alpha"), memory.compact,
                 lambda: memory.hide(memory.recall().observations[0].id)):
        try:
            call()
        except GrailError as error:
            print(error.code, "Permission denied" in str(error))
"""
    if os.geteuid():
        pytest.skip("only root can become somebody else")
    assert Child(script, tmp_path).done() == ["['one', 'two']", "2", *["store True"] * 3]


@pytest.mark.slow
def test_f19_two_compactions_at_once_take_turns(tmp_path: Path) -> None:
    """Compactions and rebuilds from several processes never mix: no row twice, none lost, the last snapshot is whole."""
    with Memory(tmp_path) as memory:
        ids = [w.id for w in memory.add_observations([{"content": f"n {i}", "category": "alpha"} for i in range(200)])]
    script = """
with Memory(root) as memory:
    for number in range(2):
        memory.add_observation(content=f"{arg} {number}", category="beta")
        (memory.rebuild if arg == "rebuild" else memory.compact)()
        rows = memory.sql("SELECT count(*), count(DISTINCT id) FROM observations").to_pydict()
        assert len({tuple(column) for column in rows.values()}) == 1, rows
    print("done")
"""
    for child in [Child(script, tmp_path, who) for who in ("one", "two", "rebuild")]:
        assert child.done() == ["done"]
    with Memory(tmp_path) as memory:
        assert memory.sql("SELECT count(*), count(DISTINCT id) FROM observations").to_pydict() == {
            "count_star()": [206], "count(DISTINCT id)": [206],
        }  # fmt: skip
    check_whole(tmp_path, ids)


def test_f20_create_never_replaces(tmp_path: Path) -> None:
    """Writing a title again, with a shorter text too, makes a second file; the first keeps every byte."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(
            title="2026-06-02", content="long " * 500, category="alpha", observed_at="2026-06-02"
        )
        bytes_before = (tmp_path / first.path).read_bytes()
        second = memory.add_observation(title="2026-06-02", content="short", category="alpha", observed_at="2026-06-02")
        assert second.created
        assert second.path != first.path
        assert (tmp_path / first.path).read_bytes() == bytes_before
        assert len(memory.recall().observations) == 2
        with pytest.raises(InputError):
            memory.update(first.id, content="")
        with pytest.raises(InputError):
            memory.update(first.id, content=None)
        assert (tmp_path / first.path).read_bytes() == bytes_before


def test_f20_a_file_made_by_hand_under_our_name_is_not_replaced(tmp_path: Path) -> None:
    """A name that is taken, by whatever, is left to its file; a move onto it is refused."""
    with Memory(tmp_path) as memory:
        made = memory.add_observation(title="t", content="ours", category="alpha")
        name = os.path.basename(made.path)
        theirs = write(tmp_path, f"beta/{name}", "---\ntitle: theirs\n---\ntheirs\n")
        with pytest.raises(RuntimeError, match="there already"):
            memory.move(made.id, "beta")
        assert theirs.read_text() == "---\ntitle: theirs\n---\ntheirs\n"
        assert titles(memory) == ["t", "theirs"]
