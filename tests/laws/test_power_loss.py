"""Whatever a loss of power takes of files and ledger: what was acknowledged is there again on the next opening.

A process writes and dies without closing its store. Then files, names and ledger lines that were not synced are taken
away as a file system may take them: gone, empty, zeros, cut, an earlier state, each on its own. The journal stays, since
it was synced before each call returned.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from restarts import start_anew

from grail_mem import Memory
from grail_mem.store.journal import Journal, Record
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import Ledger, history, verify
from grail_mem.store.ledger_line import Entry, read_line
from grail_mem.write.recovery import LATER_S

STEPS = ("add", "batch", "update", "move", "hide", "restore", "big", "edit", "sync")


def perform(root: Path, steps: list[str]) -> None:
    """Write as a process that is cut off: nothing is closed."""
    pid = os.fork()
    if pid == 0:
        try:
            _steps(Memory(root), steps)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def _steps(memory: Memory, steps: list[str]) -> None:
    for number, step in enumerate(steps):
        ids = [o.id for o in memory.recall(limit=1000, order="oldest").observations]
        chosen = ids[number % len(ids)] if ids else ""
        if step == "add":
            memory.add_observation(title=f"T{number}", content=f"said {number}", category=f"c/{number % 3}")
        elif step == "big":
            memory.add_observation(title=f"B{number}", content=f"{number} " * 8000, category="c/1")
        elif step == "batch":
            memory.add_observations([{"content": f"b {number} {i}", "category": f"c/{i}"} for i in range(4)])
        elif step == "sync":
            memory.sync()
        elif step == "restore":
            for id_, (*_, hides) in list(memory._view.tombstones.items()):
                if hides:
                    memory.restore(id_)
        elif chosen and step == "update":
            memory.update(chosen, append=f"more {number}")
        elif chosen and step == "move":
            memory.move(chosen, f"moved/{number}")
        elif chosen and step == "hide":
            memory.hide(chosen)
        elif chosen and step == "edit":
            path = memory.root / memory.get(chosen).path
            path.write_text(path.read_text() + f"\nby hand {number}\n")
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)


def records_of(root: Path) -> list[Record]:
    journal = Journal(Layout(root))
    journal.open()
    try:
        return list(journal.records())
    finally:
        journal.close()


def lose_power(root: Path, choose: Callable[[list[Any]], Any]) -> None:
    """Take away what the journal alone holds."""
    layout = Layout(root)
    records = records_of(root)
    states: dict[str, list[bytes | None]] = {}
    for record in records:
        for line, file in zip(record.lines, record.files, strict=False):
            entry = read_line(line, record.clone)
            assert entry is not None
            if entry.was:
                before = [data for data in states.get(entry.was, ()) if data]
                states[entry.was] = [None, *before]  # perhaps the name was not yet taken away
                states[entry.path] = [None, *before, b""]
            else:
                states.setdefault(entry.path, [] if file.before else [None, b"", b"\0" * len(file.data)])
            holed = file.data[:512] + bytes(len(file.data[512:1024])) + file.data[1024:]
            states[entry.path] += [file.data] if file.before else [file.data, file.data[: len(file.data) // 2], holed]
    by_hand = {path for path in states if not _is_last_said(root, path, records)}
    for path, possible in states.items():
        if path in by_hand:  # a person's own save was synced
            continue
        chosen = choose(possible)
        if chosen is None:
            (root / path).unlink(missing_ok=True)
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(chosen)
    if records:
        chain = layout.ledger / f"{records[0].clone}.jsonl"
        data = chain.read_bytes()
        first = data.index(records[0].lines[0])
        block = -(-first // 512) * 512
        holed = data[:block] + bytes(len(data[block : block + 512])) + data[block + 512 :]
        middle = (first + len(data)) // 2
        chain.write_bytes(choose([data[:first], data, data[:middle], data[:-1], holed, data[:middle] + bytes(300)]))
    start_anew(root)


def _is_last_said(root: Path, path: str, records: list[Record]) -> bool:
    there = (root / path).read_bytes() if (root / path).exists() else None
    return there is None or any(file.data == there for record in records for file in record.files)


def state_of(memory: Memory) -> dict[str, tuple[str, str, str]]:
    return {o.id: (o.title, o.content, o.path) for o in memory.recall(limit=1000).observations}


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=12), st.data())
def test_what_was_acknowledged_is_there_again(steps: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        perform(root, ["add", *steps])
        looking = Memory(root)  # not closed, which might make everything durable
        before, hidden = state_of(looking), set(looking._view.hidden)
        looking._view.close()
        chain = next(Layout(root).ledger.iterdir()).read_bytes()

        lose_power(root, lambda values: data.draw(st.sampled_from(values)))

        with Memory(root) as memory:
            assert state_of(memory) == before
            assert memory._view.hidden == hidden
            assert next(Layout(root).ledger.iterdir()).read_bytes() == chain, "the very lines that were acknowledged"
            assert not verify(Layout(root))
            checked = memory.check()
            assert checked.ok, checked
            added = memory.add_observation(content="and on it goes")
            memory.rebuild()
            assert state_of(memory).keys() == {*before, added.id}
            assert not verify(Layout(root))


def test_what_somebody_wrote_since_is_not_put_back(tmp_path: Path) -> None:
    """A file that says something else than any record is somebody else's."""
    perform(tmp_path, ["add", "add"])
    one, two = sorted((tmp_path / "memories").rglob("*.md"))
    one.write_text("---\ntitle: Mine\n---\nwritten by hand\n")
    two.unlink()
    start_anew(tmp_path)
    with Memory(tmp_path) as memory:
        assert sorted(o.title for o in memory.recall().observations) == ["Mine", "T1"]
        assert one.read_text().endswith("written by hand\n")
        assert two.exists()


def test_opening_for_reading_recovers_too(tmp_path: Path) -> None:
    """The first look at a store after the loss sees everything."""
    perform(tmp_path, ["add"])
    (path,) = (tmp_path / "memories").rglob("*.md")
    path.unlink()
    start_anew(tmp_path)
    with Memory(tmp_path) as memory:
        assert [o.title for o in memory.recall().observations] == ["T0"]
    assert path.exists()


@pytest.mark.parametrize("step", ["add", "update", "move"])
def test_a_closed_store_needs_no_journal(tmp_path: Path, step: str) -> None:
    """Closing makes everything durable in its place; a deletion afterwards is a deletion."""
    with Memory(tmp_path) as memory:
        _steps(memory, ["add", step])
        n_files = len(memory.recall().observations)
    assert not records_of(tmp_path)
    for path in (tmp_path / "memories").rglob("*.md"):
        path.unlink()
    start_anew(tmp_path)
    with Memory(tmp_path) as memory:
        assert n_files
        assert not memory.recall().observations


def test_closing_a_store_that_was_deleted_makes_no_folder(tmp_path: Path) -> None:
    root = tmp_path / "store"
    with Memory(root) as memory:
        memory.add_observation(content="soon gone")
        shutil.rmtree(root)
    assert not root.exists()


def test_what_somebody_deleted_later_stays_deleted(tmp_path: Path) -> None:
    """A folder that was changed well after the record reached the disk with all that it held then."""
    perform(tmp_path, ["add", "add"])
    one, two = sorted((tmp_path / "memories").rglob("*.md"))
    one.unlink()
    later = time.time() + 3600
    os.utime(one.parent, (later, later))
    shutil.rmtree(two.parent)
    os.utime(two.parent.parent, (later, later))
    start_anew(tmp_path)
    with Memory(tmp_path) as memory:
        assert not memory.recall().observations
        assert memory.check().ok


@pytest.mark.slow
def test_what_somebody_changed_back_later_stays_so(tmp_path: Path) -> None:
    """An earlier text, a shorter one: a file changed well after the record is somebody else's, whatever it says."""
    perform(tmp_path, ["add", "update", "add"])
    by_name = {path.name.split("_")[1]: path for path in (tmp_path / "memories").rglob("*.md")}
    time.sleep(LATER_S + 1)
    first = next(file.data for record in records_of(tmp_path) for file in record.files)
    by_name["t0"].write_bytes(first)
    by_name["t2"].write_bytes(by_name["t2"].read_bytes()[:-4])
    said = {path: path.read_bytes() for path in by_name.values()}
    start_anew(tmp_path)
    with Memory(tmp_path) as memory:
        assert len(memory.recall().observations) == 2
    assert {path: path.read_bytes() for path in by_name.values()} == said


def test_a_chain_that_git_put_back_later_is_left(tmp_path: Path) -> None:
    perform(tmp_path, ["add", "add"])
    (chain,) = Layout(tmp_path).ledger.iterdir()
    data = chain.read_bytes()
    chain.write_bytes(data[: data.index(b"\n") + 1])
    later = time.time() + 3600
    os.utime(chain, (later, later))
    start_anew(tmp_path)
    with Memory(tmp_path):
        assert chain.read_bytes() == data[: data.index(b"\n") + 1]


@pytest.mark.parametrize("odd", ["link", "file", "pipe"])
def test_what_stands_in_the_way_stops_nobody(tmp_path: Path, odd: str) -> None:
    """A link, a file or a pipe where a folder or a file was: the rest is put back, nothing outside is touched."""
    root, outside = tmp_path / "store", tmp_path / "outside"
    perform(root, ["add", "move", "add"])
    moved = next((root / "memories/moved").rglob("*.md"))
    shutil.copytree(root / "memories/moved", outside)
    if odd == "pipe":
        moved.unlink()
        os.mkfifo(moved)
    else:
        shutil.rmtree(root / "memories/moved")
        if odd == "link":
            (root / "memories/moved").symlink_to(outside)
        else:
            (root / "memories/moved").write_text("not a folder")
    other = next((root / "memories/c").rglob("*t2*.md"))
    other.unlink()
    start_anew(root)
    before = {path: path.read_bytes() for path in outside.rglob("*.md")}
    with Memory(root) as memory:
        assert "T2" in {o.title for o in memory.recall().observations}
        assert memory.add_observation(content="and on it goes").created
    assert {path: path.read_bytes() for path in outside.rglob("*.md")} == before


def test_another_store_put_in_the_place_of_an_open_one_has_its_own_journal(tmp_path: Path) -> None:
    """A process goes on in the store that its path names now; what it wrote before stays with the one it wrote to."""
    root, moved = tmp_path / "store", tmp_path / "moved"
    memory = Memory(root)
    memory.add_observation(content="before", category="c")
    root.rename(moved)
    shutil.copytree(moved, root)
    memory.add_observation(content="after", category="c")
    assert len(records_of(moved)) == 1
    memory._view.close()
    for path in (root, moved):
        for file in (path / "memories").rglob("*.md"):
            if path == moved or "after" in file.name:
                file.unlink()
        start_anew(path)
    with Memory(root) as here, Memory(moved) as there:
        assert {o.content for o in here.recall().observations} == {"before", "after"}
        assert {o.content for o in there.recall().observations} == {"before"}


def test_a_descriptor_that_somebody_closed_is_not_used_again(tmp_path: Path) -> None:
    """Nor what took its number."""
    other = tmp_path / "precious"
    other.write_bytes(b"p" * 100_000)
    memory = Memory(tmp_path / "store")
    memory.add_observation(content="one", category="c")
    number = memory._view.journal._fd
    taken = os.open(other, os.O_RDWR)
    os.dup2(taken, number)
    try:
        assert memory.add_observation(content="two", category="c").created
        memory.close()
        os.fstat(number)
    finally:
        os.close(number)
        os.close(taken)
    assert other.read_bytes() == b"p" * 100_000
    with Memory(tmp_path / "store") as again:
        assert len(again.recall().observations) == 2


def test_what_a_killed_writer_began_does_not_undo_what_people_did(tmp_path: Path) -> None:
    """A file that was in place and was deleted since stays deleted, though its record was never marked."""
    perform(tmp_path, ["add", "add"])
    journal = Journal(Layout(tmp_path))
    journal.open()
    os.pwrite(journal._fd, b"\0", journal._start + 32)
    assert journal.unfinished is not None
    journal.close()
    gone = next((tmp_path / "memories").rglob("*t1*.md"))
    gone.unlink()
    with Memory(tmp_path) as memory:
        memory.add_observation(content="the next write")
        assert "T1" not in {o.title for o in memory.recall().observations}
    assert not gone.exists()


def test_lines_that_fit_their_chain_no_longer_go_to_the_present_one_once(tmp_path: Path) -> None:
    """Also when the recovery that appended them was cut off before it emptied the journal."""
    perform(tmp_path, ["add", "add"])
    layout = Layout(tmp_path)
    journal = (layout.local / "journal").read_bytes()
    (chain,) = layout.ledger.iterdir()
    clone = chain.stem
    chain.unlink()
    ledger = Ledger(layout)
    ledger.read()
    with ledger.appending(clone) as other:
        other.write(other.draft([Entry("hide", "01JXYZ00000000000000000000", at="2026-01-01T00:00:00Z")]))
    for _ in range(2):
        (layout.local / "journal").write_bytes(journal)
        start_anew(tmp_path)
        with Memory(tmp_path) as memory:
            assert {o.title for o in memory.recall().observations} == {"T0", "T1"}
        added = [entry for entry in history(layout) if entry.action == "add"]
        assert len(added) == 2
        assert clone not in {entry.clone for entry in added}
        assert not verify(layout)
