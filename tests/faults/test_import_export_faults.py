"""Faults that other memories had when they exported, imported, backed up and restored."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from grail_mem import GrailError, InputError, Memory, StoreError

ID = "01JXYZ00000000000000ABCD{:02}"


def note(n: int, body: str = "Said.", **values: Any) -> dict[str, Any]:
    id_ = ID.format(n)
    file = f"---\nid: {id_}\ntitle: Note {n}\n---\n\n{body}\n"
    return {
        "type": "observation", "id": id_, "path": f"memories/n/note-{n}.md", "file": file,
        "sha256": sha256(file.encode()).hexdigest(),
    } | values  # fmt: skip


def written(path: Path, records: list[Any], *, ends: bool = True) -> Path:
    lines = [json.dumps({"type": "grail_export", "version": 1, "notes": "memories"})]
    lines += [record if isinstance(record, str) else json.dumps(record) for record in records]
    body = "".join(f"{line}\n" for line in lines).encode()
    end = json.dumps({"type": "end", "sha256": sha256(body).hexdigest()}).encode() + b"\n" if ends else b""
    path.write_bytes(body + end)
    return path


def test_f12_an_output_path_goes_nowhere_but_where_it_may(tmp_path: Path) -> None:
    """A parameter for an output path wrote anywhere, and over what was there."""
    with Memory(tmp_path / "store") as memory:
        memory.add_observation(title="One", content="a")
        (tmp_path / "there").write_text("precious")
        before = {p: p.read_bytes() for p in memory.root.rglob("*") if p.is_file() and "local" not in p.parts}
        for verb in (memory.export, memory.backup):
            for place in (
                "memories/x",
                ".grail/x",
                ".grail/ledger/x.jsonl",
                "grail.yaml",
                "../there",
                "memories/../grail.yaml",
            ):
                with pytest.raises(GrailError):
                    verb(memory.root / place)
        assert {p: p.read_bytes() for p in memory.root.rglob("*") if p.is_file() and "local" not in p.parts} == before
    assert (tmp_path / "there").read_text() == "precious"


@pytest.mark.parametrize(
    "path",
    [
        "memories/../../out.md", "/etc/out.md", "../out.md", "memories/../.grail/out.md", "memories/.git/out.md", "output/out.md",
        "memories/n/\0.md", "memories/n/out.txt", "memories//out.md", "memories/a/../../../out.md", "C:\\out.md", "",
    ],
)  # fmt: skip
def test_f12_a_record_cannot_lie_elsewhere(tmp_path: Path, path: str) -> None:
    file = written(tmp_path / "e.jsonl", [note(1, path=path), note(2)])
    with Memory(tmp_path / "store") as memory:
        done = memory.import_file(file)
        assert done.n_added + len(done.skipped) == 2
        assert ID.format(2) in {o.id for o in memory.recall().observations}
        assert memory.check().ok
    notes = tmp_path / "store/memories"
    assert [p for p in tmp_path.rglob("*.md") if not p.is_relative_to(notes)] == []
    assert list(tmp_path.rglob("out.txt")) == []


@pytest.mark.parametrize(
    "path", ["sources/../out.txt", "/etc/out.txt", "memories/out.txt", "grail.yaml", "sources", ".grail/x"]
)
def test_f12_a_source_cannot_lie_elsewhere(tmp_path: Path, path: str) -> None:
    source = {"type": "source", "path": path, "file": "x: 1", "sha256": sha256(b"x: 1").hexdigest()}
    with Memory(tmp_path / "store") as memory:
        done = memory.import_file(written(tmp_path / "e.jsonl", [source, note(1)]))
        assert (done.n_added, done.n_sources, len(done.skipped)) == (1, 0, 1)
    assert [p for p in tmp_path.rglob("*") if p.name in ("out.txt", "x")] == []


def test_f12_a_link_in_the_store_is_no_way_out(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    with Memory(tmp_path / "store") as memory:
        memory.init()
        (memory.root / "memories/n").symlink_to(tmp_path / "outside")
        (memory.root / "sources").symlink_to(tmp_path / "outside")
        source = {"type": "source", "path": "sources/a.txt", "file": "x", "sha256": sha256(b"x").hexdigest()}
        done = memory.import_file(written(tmp_path / "e.jsonl", [source, note(1)]))
        assert len(done.skipped) == 2
    assert list((tmp_path / "outside").iterdir()) == []


def test_f56_one_odd_record_aborts_nothing(tmp_path: Path) -> None:
    """A null title, a missing time, a null text or an id that comes twice aborted the import of all the rest."""
    odd: list[Any] = [
        {"type": "observation", "title": None, "content": None},
        {"type": "observation", "title": "No text", "content": None, "observed_at": None},
        {"type": "observation", "title": None, "content": "No title", "tags": None},
        {"type": "observation", "title": "Bad time", "content": "x", "observed_at": "never"},
        {"type": "observation", "title": ["a"], "content": {"b": 1}},
        {"type": "observation", "title": "Bad tags", "content": "x", "tags": {"a": 1}, "confidence": "high"},
        note(1, file=None), note(1, file=7), note(1, sha256="0" * 64), note(1, id="no id"), note(1, id=None), note(1, path=None, id=ID.format(9)),
        {"type": "source", "path": None, "file": None}, {"type": "tombstone", "id": None}, {"type": "grant", "id": 7},
        {"type": "unknown"}, {}, "[]", "null", "not json", '{"type": "observation"', '{"a": NaN', "7", '"text"',
        note(3), note(3), note(3, body="Other words."),
    ]  # fmt: skip
    right = [note(n) for n in range(10, 20)]
    records = [item for pair in zip(odd, [*right, *[""] * len(odd)], strict=False) for item in pair if item != ""]
    with Memory(tmp_path / "store") as memory:
        done = memory.import_file(written(tmp_path / "e.jsonl", records))
        there = {o.id for o in memory.recall(limit=1000).observations}
        assert {ID.format(n) for n in range(10, 20)} <= there
        assert {o.content for o in memory.recall(limit=1000).observations} >= {"No title", "No text"}
        assert all(item.reason and item.line for item in done.skipped)
        assert (
            len(done.skipped) == len(odd) - 3 - 1
        )  # two drafts that say something, one note; the tombstone of nothing
        assert memory.check().ok
        again = memory.import_file(tmp_path / "e.jsonl")
        assert not again.changed
        assert len(again.skipped) == len(done.skipped)


def test_an_export_that_was_cut_off_is_refused_and_can_be_taken_in_part(tmp_path: Path) -> None:
    whole = written(tmp_path / "e.jsonl", [note(n) for n in range(5)]).read_bytes()
    (tmp_path / "cut.jsonl").write_bytes(whole[: len(whole) * 2 // 3])
    (tmp_path / "changed.jsonl").write_bytes(whole.replace(b"Note 3", b"Note X"))
    with Memory(tmp_path / "store") as memory:
        for name in ("cut.jsonl", "changed.jsonl"):
            with pytest.raises(InputError, match="--partial"):
                memory.import_file(tmp_path / name)
        assert memory.recall().observations == ()
        done = memory.import_file(tmp_path / "cut.jsonl", partial=True)
        assert 1 <= done.n_added < 5
        assert memory.import_file(tmp_path / "e.jsonl").n_added == 5 - done.n_added


def test_an_export_of_a_later_version_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text('{"type":"grail_export","version":2}\n')
    with Memory(tmp_path / "store") as memory, pytest.raises(StoreError, match="newer"):
        memory.import_file(tmp_path / "e.jsonl")
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
def test_a_line_without_end_is_skipped_without_being_taken_into_memory(tmp_path: Path) -> None:
    path = written(tmp_path / "e.jsonl", [note(1), '{"x": "' + "y" * 70_000_000 + '"}', note(2)])
    with Memory(tmp_path / "store") as memory:
        done = memory.import_file(path)
        assert done.n_added == 2
        assert [item.line for item in done.skipped] == [3]


def test_f20_an_import_never_replaces_what_is_there(tmp_path: Path) -> None:
    """A shorter version of the same note replaced the longer one."""
    with Memory(tmp_path / "store") as memory:
        memory.import_file(written(tmp_path / "long.jsonl", [note(1, body="A long story. " * 50)]))
        long = memory.get(ID.format(1))
        done = memory.import_file(written(tmp_path / "short.jsonl", [note(1, body="Short.")]))
        assert memory.get(ID.format(1)) == long
        assert memory.get(done.remapped[ID.format(1)]).content == "Short."


@pytest.mark.slow
def test_two_imports_at_once_are_one_import(tmp_path: Path) -> None:
    """Whether in one process or in several, of the same file or of two that use the same ids for different things."""
    one = written(tmp_path / "one.jsonl", [note(n) for n in range(40)])
    other = written(tmp_path / "other.jsonl", [note(n, body="Other words.") for n in range(20, 60)])
    code = "import sys\nfrom grail_mem import Memory\nwith Memory(sys.argv[1]) as m: m.import_file(sys.argv[2])\n"
    root = tmp_path / "store"
    with Memory(root) as memory:
        memory.init()
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(root), str(path)], stderr=subprocess.PIPE)
        for path in (one, other, one, other)
    ]
    for process in processes:
        _, error = process.communicate()
        assert process.returncode == 0, error.decode()
    with Memory(root) as memory:
        found = memory.recall(limit=1000).observations
        assert len(found) == 80
        assert sum(o.content == "Said." for o in found) == 40
        assert sum(o.content == "Other words." for o in found) == 40
        assert memory.check().ok
        assert not memory.import_file(one).changed
        assert not memory.import_file(other).changed


@pytest.mark.slow
def test_f16_what_is_written_during_an_export_or_a_backup_is_not_lost(tmp_path: Path) -> None:
    with Memory(tmp_path / "store") as memory:
        memory.add_observations([{"title": f"Note {n}", "content": f"{n}"} for n in range(300)])
        stop, made = threading.Event(), []

        def write() -> None:
            with Memory(tmp_path / "store") as other:
                while not stop.is_set():
                    made.append(other.add_observation(title=f"Later {len(made)}", content="x").id)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for n in range(3):
                assert memory.export(tmp_path / f"{n}.jsonl").n_observations >= 300
                memory.backup(tmp_path / f"{n}.tar.gz")
        finally:
            stop.set()
            writer.join()
        there = {o.id for o in memory.recall(limit=100_000).observations}
        assert set(made) <= there
        assert len(there) == 300 + len(made)
        assert memory.check().ok


def test_f15_a_full_disk_leaves_no_half_file(tmp_path: Path) -> None:
    """An export or a backup that cannot be written whole leaves nothing, and what was there stays."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    with Memory(tmp_path / "store") as memory:
        memory.add_observation(title="One", content="a")
        (tmp_path / "e.jsonl").write_text("the last one")
        with full.open("wb", buffering=0) as stream, pytest.raises(OSError):
            memory.export(stream)
        assert (tmp_path / "e.jsonl").read_text() == "the last one"
