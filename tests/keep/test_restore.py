"""Restoring: the state of the backup, the record of all that came after it, and nothing of what was forgotten."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grail_mem import ConflictError, InputError, Memory, StoreError
from grail_mem.keep.chains import new_chain
from grail_mem.store.ledger_line import Entry
from grail_mem.store.version import STORE_VERSION


def said(memory: Memory) -> dict[str, tuple[str, str, str]]:
    return {o.id: (o.title, o.content, o.category) for o in memory.recall(limit=1000).observations}


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in (root / "memories").rglob("*") if p.is_file()}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    with Memory(root) as memory:
        memory.add_observation(title="Alpha", content="The first.", category="work/a")
        memory.add_observation(title="Beta", content="The second.", category="work/a")
    notes = root / "memories/notes"
    notes.mkdir()
    (notes / "hand.md").write_text("By hand, without an id.\n")
    with Memory(root) as memory:
        memory.sync(stamp=False)
    return root


def test_a_backup_in_an_empty_folder_is_the_same_store(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz")
        before = said(memory)
    with Memory(tmp_path / "new") as new:
        done = new.restore_backup(tmp_path / "b.tar.gz", reason="a new machine", actor="ann")
        assert done.n_observations == 3
        assert said(new) == before
        assert new.check().ok
        assert new.verify_ledger().ok
        entry = new.log(action="restore_backup").entries[0]
        assert (entry.actor, entry.reason, entry.id) == ("ann", "a new machine", done.digest)
    assert files(tmp_path / "new") == files(store)


def test_what_came_after_is_gone_and_stays_on_record(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz")
        before, bytes_before = said(memory), files(store)
        ids = {title: id_ for id_, (title, _, _) in before.items()}
        memory.update(ids["Alpha"], content="Changed.")
        memory.move(ids["Beta"], "home")
        hand = next(o for o in memory.recall(category="notes").observations)
        memory.update(hand.id, append="More.")
        memory.move(hand.id, "elsewhere")
        later = memory.add_observation(title="Later", content="New.", category="work/a")
        memory.compact()
        done = memory.restore_backup(tmp_path / "b.tar.gz", force=True)
        assert done.n_gone >= 1
        assert said(memory) == before
        assert files(store) == bytes_before
        assert memory.check().ok
        assert not memory.sync(stamp=False, dry_run=True).changed
        assert {"add", "vanish"} <= {entry.action for entry in memory.log(id=later.id).entries}
    with Memory(store) as memory:
        memory.rebuild()
        assert said(memory) == before
        memory.add_observation(title="Goes on", content="After all.", category="work/a")
        assert memory.check().ok


def test_what_was_hidden_after_the_backup_stays_hidden(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz")
        gone = next(id_ for id_, (title, _, _) in said(memory).items() if title == "Alpha")
        memory.hide(gone, reason="asked to")
        done = memory.restore_backup(tmp_path / "b.tar.gz", force=True)
        assert done.hidden == (gone,)
        assert gone not in said(memory)
        assert memory.restore(gone).changed


@pytest.mark.parametrize("damage", ["changed", "lost", "other"])
def test_tombstones_outlive_a_damaged_ledger(store: Path, tmp_path: Path, damage: str) -> None:
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz")
        gone = next(id_ for id_, (title, _, _) in said(memory).items() if title == "Alpha")
        memory.hide(gone)
    chain = next(path for path in (store / ".grail/ledger").iterdir() if gone.encode() in path.read_bytes())
    lines = chain.read_bytes().splitlines(keepends=True)
    if damage == "changed":
        lines[0] = lines[0].replace(b'"actor":"owner"', b'"actor":"other"')
    elif damage == "lost":
        del lines[0]
    else:
        lines = [*lines[:1], *lines[2:]]
    chain.write_bytes(b"".join(lines))
    with Memory(store) as memory:
        memory.restore_backup(tmp_path / "b.tar.gz", force=True)
        assert gone not in said(memory)
        assert memory.verify_ledger().ok
        assert memory.check().ok


def erase(store: Path, id_: str) -> None:
    """What an erasure leaves: a line that says so, and no file."""
    entry = Entry("erase", id_, at="2090-01-01T00:00:00Z", actor="owner", detail='{"digests":[]}')
    name, data = new_chain([entry])
    (store / f".grail/ledger/{name}.jsonl").write_bytes(data)
    for path in (store / "memories").rglob("*.md"):
        if id_ in path.read_text():
            path.unlink()


def test_what_was_erased_is_left_out_and_named(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz", include_derived=True)
        gone, path = next((o.id, o.path) for o in memory.recall().observations if o.title == "Alpha")
    erase(store, gone)
    with Memory(store) as memory:
        done = memory.restore_backup(tmp_path / "b.tar.gz", force=True)
        assert done.left_out == (path,)
        assert gone not in said(memory)
        assert len(said(memory)) == 2
    everywhere = [p for p in store.rglob("*") if p.is_file() and p.name != "journal"]  # which an erasure wipes
    assert not [p for p in everywhere if b"The first." in p.read_bytes()]


def test_erased_candidates_and_the_names_of_emptied_folders_do_not_come_back(tmp_path: Path) -> None:
    """What was suggested is left out as what was remembered is; a category that nothing lies in any more is a word, too."""
    root, archive = tmp_path / "store", tmp_path / "b.tar.gz"
    with Memory(root) as memory:
        memory.add_observation(content="This stays.", category="work/plain")
        made = memory.add_observation(content="She lives near the zebrawood.", category="work/zebrawood/deep")
        (suggested,) = memory.submit({"content": "The zebrawood chest is hers.", "scope": "user:ann"})
        memory.submit({"content": "This waits on.", "scope": "user:bob"})
        memory.backup(archive)
        memory.erase(made.id, reason="asked")
        memory.erase(scope="user:ann", reason="asked")
        done = memory.restore_backup(archive, force=True)
        assert set(done.left_out) == {made.path, f".grail/candidates/{suggested.id}.md"}
    with Memory(root) as memory:
        assert [one.observation.content for one in memory.candidates() if one.observation] == ["This waits on."]
        assert [path for path in root.rglob("*") if "zebrawood" in path.name] == []
        assert [p for p in root.rglob("*") if p.is_file() and b"zebrawood" in p.read_bytes()] == []
        assert (root / "memories/work/plain").is_dir()
        assert memory.check().problems == ()


def test_erased_words_do_not_come_back_in_the_ledger(store: Path, tmp_path: Path) -> None:
    """File names are made of titles, and the chain of the backup tells of them."""
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz")
        gone = next(o.id for o in memory.recall().observations if o.title == "Alpha")
    for path in (store / ".grail/ledger").iterdir():
        path.unlink()
    erase(store, gone)
    with Memory(store) as memory:
        memory.restore_backup(tmp_path / "b.tar.gz", force=True)
        assert memory.verify_ledger().ok
    assert not [p for p in (store / ".grail/ledger").iterdir() if b"alpha" in p.read_bytes()]


def test_what_is_there_is_replaced_only_when_told(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz")
        memory.add_observation(title="Later", content="New.")
        before = said(memory)
        with pytest.raises(ConflictError):
            memory.restore_backup(tmp_path / "b.tar.gz")
        planned = memory.restore_backup(tmp_path / "b.tar.gz", dry_run=True)
        assert planned.n_gone == 1
        assert said(memory) == before


def test_files_of_others_are_not_replaced_unless_told(tmp_path: Path) -> None:
    """A store whose notes lie in its own folder comes into a folder where something of that name lies."""
    root = tmp_path / "vault"
    root.mkdir()
    (root / "plans").mkdir()
    (root / "plans/one.md").write_text("# One\n\nA plan.\n")
    with Memory(root) as memory:
        memory.init(notes=".")
        memory.sync()
        memory.backup(tmp_path / "b.tar.gz")
    (tmp_path / "other/plans").mkdir(parents=True)
    (tmp_path / "other/plans/mine.txt").write_text("precious")
    (tmp_path / "other/.git").mkdir()
    with Memory(tmp_path / "other") as memory:
        with pytest.raises(ConflictError):
            memory.restore_backup(tmp_path / "b.tar.gz")
        assert (tmp_path / "other/plans/mine.txt").read_text() == "precious"
    (tmp_path / "fresh/.git").mkdir(parents=True)
    (tmp_path / "fresh/unrelated.txt").write_text("stays")
    with Memory(tmp_path / "fresh") as memory:
        memory.restore_backup(tmp_path / "b.tar.gz")
        assert [o.title for o in memory.recall().observations] == ["One"]
        assert (tmp_path / "fresh/.git").is_dir()
        assert (tmp_path / "fresh/unrelated.txt").read_text() == "stays"


def test_a_damaged_backup_changes_nothing(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz")
        memory.add_observation(title="Later", content="New.")
        before, bytes_before = said(memory), files(store)
        data = (tmp_path / "b.tar.gz").read_bytes()
        (tmp_path / "b.tar.gz").write_bytes(data[: len(data) // 2])
        with pytest.raises(InputError) as refused:
            memory.restore_backup(tmp_path / "b.tar.gz", force=True)
        assert refused.value.problems
        assert (said(memory), files(store)) == (before, bytes_before)
    assert not [p for p in (store / ".grail/local").iterdir() if p.name.startswith("swap")]


def test_a_process_that_has_the_store_open_sees_the_restored_one(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory, Memory(store) as neighbour:
        memory.backup(tmp_path / "b.tar.gz")
        before = said(memory)
        memory.add_observation(title="Later", content="New.")
        neighbour.compact()
        assert len(said(neighbour)) == len(before) + 1
        memory.restore_backup(tmp_path / "b.tar.gz", force=True)
        neighbour._view._looked_at = float("-inf")
        assert said(neighbour) == before
        neighbour.add_observation(title="From the neighbour", content="It goes on.")
        assert len(said(memory)) == len(before) + 1
        assert memory.check().ok


def test_a_copy_of_a_store_can_be_restored_over_by_the_backup_of_another(store: Path, tmp_path: Path) -> None:
    with Memory(tmp_path / "second") as second:
        second.add_observation(title="Other", content="Of another store.")
        second.backup(tmp_path / "other.tar.gz")
        other = said(second)
    with Memory(store) as memory:
        memory.restore_backup(tmp_path / "other.tar.gz", force=True)
        assert said(memory) == other
        assert memory.check().ok
        assert memory.log(limit=1000).entries[-1].action == "add"


def test_the_archive_may_not_lie_where_it_goes(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz")
        shutil.copy(tmp_path / "b.tar.gz", store / "memories/b.tar.gz")
        with pytest.raises(InputError):
            memory.restore_backup(store / "memories/b.tar.gz", force=True)
        assert (store / "memories/b.tar.gz").exists()


def test_a_plan_that_others_wrote_touches_nothing_outside(store: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    folder = store / ".grail/local/swap-0123456789abcdef/new"
    folder.mkdir(parents=True)
    for unit in ("../victim", "/etc/x", "memories/../../victim", ""):
        (store / ".grail/local/swap.json").write_text(
            json.dumps({"v": 1, "folder": "swap-0123456789abcdef", "units": {unit: False}})
        )
        with pytest.raises(StoreError):
            Memory(store)
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_store_of_a_later_version_is_refused_untouched(store: Path) -> None:
    (store / ".grail/store.json").write_text(f'{{"version": {STORE_VERSION + 1}}}')
    before = sorted((str(p), p.stat().st_mtime_ns) for p in store.rglob("*"))
    with pytest.raises(StoreError, match=f"version {STORE_VERSION + 1}"):
        Memory(store)
    assert sorted((str(p), p.stat().st_mtime_ns) for p in store.rglob("*")) == before
    (store / ".grail/store.json").write_text('{"version": 1}')
    with Memory(store) as memory:
        assert len(said(memory)) == 3
    for text in ("", "[]", '{"version": true}', '{"version": 0}'):
        (store / ".grail/store.json").write_text(text)
        with pytest.raises(StoreError):
            Memory(store)


def test_an_entry_can_be_told_again_without_its_place() -> None:
    """What is restated in a new chain reads back as it was."""
    from grail_mem.store.ledger import read_lines

    entries = [Entry("hide", "01JXYZ00000000000000ABCDEF", at="2026-01-01T00:00:00Z", actor="a", reason="b")]
    name, data = new_chain(entries)
    read, _, broken = read_lines(data, name, thorough=True)
    assert not broken
    assert [replace(entry, clone="", seq=0) for entry in read] == entries
