"""Whatever a loss of power takes of files and ledger: what was acknowledged is there again on the next opening.

A process writes and dies without closing its store. Then files, names and ledger lines that were not synced are taken
away as a file system may take them: gone, empty, zeros, cut, an earlier state, each on its own. The journal stays, since
it was synced before each call returned.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grail_mem import Memory
from grail_mem.store.journal import Journal, Record
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import read_line, verify

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


def start_anew(root: Path) -> None:
    """Let the system have been started anew since the journal was written."""
    path = Layout(root).local / "journal"
    data = path.read_bytes()
    _, _, text = data[:4096].rstrip(b"\0\n").partition(b" ")
    said = json.dumps(json.loads(text) | {"boot": "another"}, separators=(",", ":")).encode()
    digest = blake2b(said, digest_size=16).hexdigest().encode()
    path.write_bytes((digest + b" " + said + b"\n").ljust(4096, b"\0") + data[4096:])


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
            states[entry.path] += [file.data] if file.before else [file.data, file.data[: len(file.data) // 2]]
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
        os.truncate(chain, choose([first, len(data), (first + len(data)) // 2, len(data) - 1]))
    start_anew(root)


def _is_last_said(root: Path, path: str, records: list[Record]) -> bool:
    there = (root / path).read_bytes() if (root / path).exists() else None
    return there is None or any(file.data == there for record in records for file in record.files)


def state_of(memory: Memory) -> dict[str, tuple[str, str, str]]:
    return {o.id: (o.title, o.content, o.path) for o in memory.recall(limit=1000).observations}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
            torn = verify(Layout(root))
            assert {broken.kind for broken in torn} <= {"torn"}
            lines = next(Layout(root).ledger.iterdir()).read_bytes().splitlines()
            for broken in torn:
                del lines[broken.line - 1]
            assert lines == chain.splitlines(), "the very lines that were acknowledged, and what was cut off of one"
            checked = memory.check()
            assert checked.ok, checked
            added = memory.add_observation(content="and on it goes")
            memory.rebuild()
            assert state_of(memory).keys() == {*before, added.id}
            assert verify(Layout(root)) == torn


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
