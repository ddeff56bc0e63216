"""Snapshots: whole or not there, damage never shown as silence, everything derived can go."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from grail_mem import IndexUnusableError, Memory
from grail_mem.query.compaction import _rows
from grail_mem.query.delta import Delta
from grail_mem.query.index_file import build_index
from grail_mem.query.view import View
from grail_mem.settings import read_settings
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import Ledger, chains
from grail_mem.store.ledger_line import Entry


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path) as memory:
        memory.add_observations([{"content": f"note {i}", "category": f"c/{i % 3}", "tags": ["x"]} for i in range(40)])
        memory.compact()
        memory.add_observation(content="later", tags=["x"])
        memory.hide(memory.recall(limit=1, order="oldest").observations[0].id)
    return tmp_path


def answer(root: Path) -> list[str]:
    with Memory(root) as memory:
        return [o.id for o in memory.recall(tags="x", limit=100).observations]


def snapshot(root: Path) -> Path:
    return max((root / "output/snapshots").iterdir())


def test_everything_derived_can_be_deleted(root: Path) -> None:
    """Without it, after a rebuild, and in a copy elsewhere, the answers are the same."""
    before = answer(root)
    assert len(before) == 40
    shutil.rmtree(root / "output")
    assert answer(root) == before
    with Memory(root) as memory:
        memory.rebuild()
    assert answer(root) == before
    copy = root.parent / f"{root.name}-copy"
    shutil.copytree(root, copy)
    assert answer(copy) == before
    shutil.rmtree(copy / ".grail/local")
    assert answer(copy) == before


@pytest.mark.parametrize("name", ["index.duckdb", "payloads.json", "observations.parquet", "fingerprints.u64"])
@pytest.mark.parametrize("damage", ["missing", "cut", "empty"])
def test_a_damaged_file_is_an_error_and_never_an_empty_answer(root: Path, name: str, damage: str) -> None:
    """Check names it, rebuild mends it."""
    before = answer(root)
    path = snapshot(root) / name
    data = path.read_bytes()
    path.unlink() if damage == "missing" else path.write_bytes(b"" if damage == "empty" else data[:-10])
    with pytest.raises(IndexUnusableError, match="grail rebuild"):
        answer(root)
    with Memory(root) as memory:
        found = memory.check()
        assert [(p.code, p.where.rpartition("/")[2]) for p in found.problems] == [("damaged_snapshot", name)]
        assert found.n_observations == 40
        memory.rebuild()
        assert memory.check().ok
    assert answer(root) == before


def test_flipped_bytes_are_found_by_check(root: Path) -> None:
    """Even where a reader would not notice."""
    path = snapshot(root) / "observations.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with Memory(root) as memory:
        assert [p.code for p in memory.check().problems] == ["damaged_snapshot"]


@pytest.mark.parametrize("text", ["", "{", '{"version": 2}', '{"version": 99}', "[]"])
def test_a_snapshot_without_a_whole_manifest_does_not_count(root: Path, text: str) -> None:
    """The answers come from the files then."""
    before = answer(root)
    (snapshot(root) / "manifest.json").write_text(text)
    assert answer(root) == before


def test_old_snapshots_stay_for_those_who_read_them(root: Path) -> None:
    """A reader goes on while others compact and even remove what it has open."""
    with Memory(root) as reader, Memory(root) as other:
        before = [o.id for o in reader.recall(tags="x", limit=100).observations]
        for n in range(4):
            other.add_observation(content=f"more {n}")
            other.compact()
        assert len(list((root / "output/snapshots").iterdir())) >= 2
        other.rebuild()
        assert [o.id for o in reader.recall(tags="x", limit=100).observations] == before
        assert len(reader.recall(limit=100).observations) == 44


def test_a_compaction_with_nothing_new_writes_nothing(root: Path) -> None:
    """And says so."""
    with Memory(root) as memory:
        assert memory.compact().written
        assert not memory.compact().written


def test_compaction_starts_by_itself(tmp_path: Path) -> None:
    """When so much lies outside the snapshot that reading it costs more."""
    (tmp_path / "grail.yaml").write_text("compact_after: 10\n")
    with Memory(tmp_path) as memory:
        for i in range(25):
            memory.add_observation(content=f"{i}")
    assert snapshot(tmp_path).is_dir()
    with Memory(tmp_path) as memory:
        assert len(memory.recall(limit=100).observations) == 25


def test_those_who_only_read_are_told_that_nobody_compacts(root: Path) -> None:
    """A word beside a right answer."""
    (root / "grail.yaml").write_text("compact_after: 2\n")
    shutil.rmtree(root / "output")
    with Memory(root) as memory:
        assert "grail compact" in memory.recall().warnings[0]


@pytest.mark.parametrize("gone", [[], [0], [0, 1, 5], [1, 39], list(range(40))])
def test_payloads_of_a_snapshot_without_some_rows_are_copied_right(root: Path, gone: list[int]) -> None:
    """The newest, others, the oldest, all."""
    with Memory(root) as memory:
        memory.compact()
        memory.restore(next(iter(memory._view.hidden)))
        found = memory.recall(limit=100).observations
        for place in gone:
            (root / found[place].path).unlink()
        memory.compact()
        copied = (snapshot(root) / "payloads.json").read_bytes()
        table = pq.read_table(snapshot(root) / "observations.parquet")
        assert [o.id for o in memory.recall(limit=100).observations] == table["id"].to_pylist()
    build_index(table, root / "made.duckdb", root / "made.json")
    assert (root / "made.json").read_bytes() == copied


def test_payloads_that_are_copied_are_those_that_would_be_made(root: Path) -> None:
    """After rows were added, changed, moved, hidden and deleted, and files touched."""
    with Memory(root) as memory:
        found = memory.recall(limit=20).observations
        memory.update(found[3].id, title="changed")
        memory.move(found[4].id, "elsewhere")
        (root / found[5].path).unlink()
        os.utime(root / found[6].path)
        memory.add_observations([{"content": f"more {i}", "category": "c"} for i in range(3)])
        memory.compact()
        copied = (snapshot(root) / "payloads.json").read_bytes()
        table = pq.read_table(snapshot(root) / "observations.parquet")
    build_index(table, root / "made.duckdb", root / "made.json")
    assert (root / "made.json").read_bytes() == copied


def test_damaged_payloads_are_not_copied(root: Path) -> None:
    """A compaction makes them anew from the rows."""
    path = snapshot(root) / "payloads.json"
    path.write_bytes(path.read_bytes().replace(b"note", b"nose"))
    with Memory(root) as memory:
        memory.compact()
        assert len(memory.recall(text="note", limit=100).observations) == len(
            [o for o in memory.recall(limit=100).observations if "note" in o.content]
        )
    assert b"nose" not in (snapshot(root) / "payloads.json").read_bytes()


def test_a_file_that_changes_between_being_read_and_its_ledger_line_being_heard_is_read_again(root: Path) -> None:
    """A rebuild reads files by other processes while it reads the ledger."""
    layout = Layout(root)
    (chain,) = chains(layout)
    with chain.open("ab") as file:
        file.write(b" " * 3_000_000 + b"\n")  # as long as one for which other processes help
    view = View(layout, read_settings(layout.settings), from_files=True)

    class LateLedger(Ledger):
        def read(self) -> tuple[list[Entry], bool]:
            if not self.heads:
                time.sleep(1)  # the other process reads what there is
                with Memory(root) as memory:
                    memory.update(memory.recall(limit=1).observations[0].id, title="changed meanwhile")
            return super().read()

    view.ledger = LateLedger(layout)
    view.scan(whole=True)
    titles = [row["title"] for row in _rows(view)[0].to_pylist()]
    assert titles.count("changed meanwhile") == 1
    assert not view.unsynced()


def test_no_two_deltas_of_a_process_have_one_version() -> None:
    """What was made from a view that has begun anew since would else be taken for current."""
    one, other = Delta(), Delta()
    versions = [one.version, other.version]
    for delta in (one, other, one):
        delta.moved()
        versions.append(delta.version)
    assert len(set(versions)) == len(versions)
