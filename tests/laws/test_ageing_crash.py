"""Whatever call a fading, a retention or a migration dies at: done again, it comes to what it comes to when nothing dies."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from crash_cases import SHARE
from crash_shim import MODES, Server
from every_byte import places_with

from grail_mem import Memory
from grail_mem.consolidate.decisions import read_decisions
from grail_mem.store.access import AccessLog
from grail_mem.store.layout import Layout
from grail_mem.store.sources import current_turns, read_session
from grail_mem.store.version import version_of

OLD = Path(__file__).parents[1] / "keep/store_of_version_1.json"
VERBS = ("retain", "fade", "migrate")
WORDS = ["Zorblattine", "quuxvilleish"]
Said = dict[str, Any]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="grail-ageing-", dir=shared if shared.is_dir() else None) as path:
        yield Path(path)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture(scope="module")
def template(folder: Path) -> Path:
    """A store of the first version with an old transcript, two observations that nobody recalls, and one that quotes a turn."""
    root = folder / "template"
    for path, text in json.loads(OLD.read_text()).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "grail.yaml").write_text("access_log: on\n")
    weak = "---\nid: 01J00000000000000000000000\ntitle: Weak\nrecorded_at: 2020-01-01T00:00:00Z\n---\n\nNobody asks.\n"
    (root / "memories/weak.md").write_text(weak)
    (root / "memories/other.md").write_text(weak.replace("0000\n", "0001\n").replace("Weak", "Other"))
    AccessLog(Layout(root)).note(["01J00000000000000000000009"], day=date(2020, 1, 1).toordinal())
    old = "2020-03-01T10:00:00Z"
    with Memory(root) as memory:
        memory.sync()
        said = [f"The {WORDS[0]} key is here.", "My name is Ann and I like it.", f"Nobody needs {WORDS[1]} any more."]
        turns = [{"role": "user", "id": f"t{n}", "text": text, "at": old} for n, text in enumerate(said)]
        memory.ingest_chat(turns[:1], session="gone")
        memory.ingest_chat(turns[1:], session="kept")
        memory.remember(said[1], evidence=said[1], session="kept")
        memory.compact()
    return root


def said(root: Path) -> Said:
    """What the store says, in which every verb changes something."""
    with Memory(root) as memory:  # opening finishes what was begun
        layout = Layout(root)
        told = read_decisions(layout)
        return {
            "version": version_of(layout),
            "turns": [[t.text for t in current_turns(read_session(layout, name, None))] for name in ("gone", "kept")],
            "statuses": {o.title: o.status for o in memory.recall(include_history=True, limit=100).observations if o.title != "Next one"},
            "bare": sorted(pair for one in told.latest.values() for pair in one.pairs if "." not in pair),
            "decided": {id_: (told.statuses[id_], "." in one.fingerprint, one.reason) for id_, one in told.latest.items()},  # whose salt is drawn
            "gates": (root / "gates.json").exists(),
        }  # fmt: skip


AGAIN: dict[str, Callable[[Memory], Any]] = {
    "retain": lambda memory: memory.retain(days=30),
    "fade": lambda memory: memory.fade(apply=True),
    "migrate": lambda memory: memory.migrate(),
}


def run_cases(server: Server, folder: Path, template: Path, verb: str, *, at_most: int | None) -> None:
    root = folder / f"case-{verb}"
    shutil.copytree(template, root)
    before = said(root)
    whole = server.run(root, verb)
    assert not whole["error"], whole
    after = said(root)
    assert after != before
    shutil.rmtree(root)
    n_calls = len(whole["calls"])
    modes = [mode for mode in MODES if mode != "count"]
    every = [(mode, n) for n in range(1, n_calls + 1) for mode in modes]
    step = 1 if at_most is None else len(every) // at_most | 1  # odd, so that every mode has its turn
    for mode, n in every[::step]:
        shutil.copytree(template, root)
        outcome = server.run(root, verb, mode, n)
        case = (verb, mode, n, whole["calls"][n - 1], outcome)
        assert outcome["killed"] == (mode != "fail"), case
        if mode == "fail":
            assert outcome["error"] in ("", "StoreError"), case
            assert not outcome["next"], case
        found = said(root)
        if verb != "migrate":  # each of whose steps comes to be on its own
            assert found in (before, after), (case, found)
        with Memory(root) as memory:
            AGAIN[verb](memory)
            assert memory.verify_ledger().ok, case
            assert {p.code for p in memory.check().problems} <= {"torn_entry", "leftover", "older_form"}, case
            assert verb != "migrate" or memory.migrate(dry_run=True).n_changes == 0, case
        assert said(root) == after, case
        if verb == "retain":
            assert places_with(root, WORDS) == [], case
        assert not (root / ".grail/local/migrating.json").exists(), case
        shutil.rmtree(root)
        for left in folder.glob("case-*.tar.gz"):
            left.unlink()


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "at_most"), [("retain", 24), ("fade", 24), ("migrate", None if SHARE == 1 else 24)])
def test_a_crash_anywhere_is_finished_by_the_next_call(
    server: Server, folder: Path, template: Path, verb: str, at_most: int | None
) -> None:
    """Spread over the whole of each; a migration is killed before, after and amid each of its writes."""
    run_cases(server, folder, template, verb, at_most=at_most)


@pytest.mark.slow
def test_a_migration_that_was_cut_off_keeps_its_first_backup(server: Server, folder: Path, template: Path) -> None:
    """Else the backup would hold a store that is half migrated."""
    root = folder / "case-backup"
    shutil.copytree(template, root)
    calls = server.run(root, "migrate")["calls"]
    shutil.rmtree(root)
    shutil.copytree(template, root)
    for left in folder.glob("case-*.tar.gz"):
        left.unlink()
    assert server.run(root, "migrate", "before", len(calls) - 4)["killed"]
    (first,) = folder.glob("case-backup*.tar.gz")
    with Memory(root) as memory:
        done = memory.migrate()
        assert (done.backup, done.was, done.went_on) == (str(first), 1, True)
        assert list(folder.glob("case-backup*.tar.gz")) == [first]
        assert memory.verify_backup(first).ok
    shutil.rmtree(root)
