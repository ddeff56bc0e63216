"""Backup: what it holds, that it is one moment, and that every change to the file is seen."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grail_mem import ConflictError, GrailError, InputError, Memory, NotFoundError, StoreError
from grail_mem.keep.archive import HEADER, MANIFEST


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    with Memory(root) as memory:
        memory.add_observation(title="Alpha", content="The first.", category="work/a", tags=["x"])
        hidden = memory.add_observation(title="Beta", content="The second.", category="work/b")
        memory.hide(hidden.id)
        memory.compact()
    (root / "sources").mkdir()
    (root / "sources/talk.txt").write_text("Said so.")
    (root / "memories/picture.png").write_bytes(b"\x89PNG\0\xff")
    (root / "gates.json").write_text("{}")
    (root / ".grail/undo").mkdir()
    (root / ".grail/undo/one.json").write_text("{}")
    return root


def names(path: Path) -> list[str]:
    with tarfile.open(path) as tar:
        return tar.getnames()


def test_a_backup_holds_all_that_is_truth_and_nothing_of_this_copy_alone(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        made = memory.backup(tmp_path / "b.tar.gz")
    held = names(tmp_path / "b.tar.gz")
    assert held[0] == HEADER
    assert held[-1] == MANIFEST
    inner = held[1:-1]
    assert {"grail.yaml", "gates.json", ".gitignore", "sources/talk.txt", "memories/picture.png"} <= set(inner)
    assert ".grail/undo/one.json" in inner
    assert any(name.startswith(".grail/ledger/") for name in inner)
    assert sum(name.endswith(".md") for name in inner) == 2 == made.n_observations
    assert not [name for name in inner if name.startswith(("output/", ".grail/local/"))]
    assert inner == sorted(inner)


def test_the_same_state_gives_the_same_bytes(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        memory.backup(tmp_path / "one.tar.gz")
        for path in store.rglob("*.md"):
            os.utime(path, (1, 1))
        memory.backup(tmp_path / "two.tar.gz")
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()


def test_derived_files_come_along_when_asked_for(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz", include_derived=True)
        assert memory.verify_backup(tmp_path / "b.tar.gz").ok
    assert any(name.startswith("output/snapshots/") for name in names(tmp_path / "b.tar.gz"))
    with Memory(tmp_path / "new") as new:
        new.restore_backup(tmp_path / "b.tar.gz")
        assert (tmp_path / "new/output/snapshots").is_dir()
        assert [o.title for o in new.recall().observations] == ["Alpha"]
        assert new.check().ok


def test_a_dry_run_writes_nothing(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        planned = memory.backup(tmp_path / "b.tar.gz", dry_run=True)
        made = memory.backup(tmp_path / "real.tar.gz")
    assert planned.dry_run
    assert (planned.n_files, planned.n_bytes) == (made.n_files, made.n_bytes)
    assert not (tmp_path / "b.tar.gz").exists()


def test_a_backup_never_replaces_a_file_unless_told(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.tar.gz"
    target.write_text("precious")
    with Memory(store) as memory:
        with pytest.raises(ConflictError):
            memory.backup(target)
        assert target.read_text() == "precious"
        memory.backup(target, force=True)
        assert memory.verify_backup(target).ok
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".grail")] == []


@pytest.mark.parametrize(
    "place", ["memories/b.tar.gz", "memories/work/b.tar.gz", ".grail/b", "output/b.tar.gz", "grail.yaml"]
)
def test_a_backup_never_lies_in_the_store(store: Path, place: str) -> None:
    (store / "memories/work").mkdir(exist_ok=True)
    (store / "output").mkdir(exist_ok=True)
    before = sorted(map(str, store.rglob("*")))
    with Memory(store) as memory, pytest.raises(InputError):
        memory.backup(store / place, force=True)
    assert [path for path in map(str, store.rglob("*")) if path not in before and "local" not in path] == []


def test_a_link_to_a_folder_in_the_store_is_no_way_around(store: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(store / "memories")
    with Memory(store) as memory, pytest.raises(InputError):
        memory.backup(tmp_path / "way/b.tar.gz")


def test_links_are_left_out_and_named(store: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("not ours")
    (store / "memories/link.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(store / "memories/pipe.md")
    with Memory(store) as memory:
        made = memory.backup(tmp_path / "b.tar.gz")
    assert {p.where for p in made.problems} == {"memories/link.md", "memories/pipe.md"}
    assert b"not ours" not in gzip.decompress((tmp_path / "b.tar.gz").read_bytes())


def test_no_store_is_no_backup(tmp_path: Path) -> None:
    with Memory(tmp_path / "nothing") as memory, pytest.raises(NotFoundError):
        memory.backup(tmp_path / "b.tar.gz")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.slow
def test_a_backup_among_writers_is_one_moment(store: Path, tmp_path: Path) -> None:
    """Every file in it has its line in the ledger, and every line its file, while four writers go on."""
    stop, failed = threading.Event(), []

    def write(number: int) -> None:
        try:
            with Memory(store) as memory:
                i = 0
                while not stop.is_set():
                    i += 1
                    made = memory.add_observation(title=f"Of {number}: {i}", content=f"{i}", category=f"w/{number}")
                    memory.update(made.id, content=f"{i} again")
                    if i % 3 == 0:
                        memory.move(made.id, f"w/{number}/moved")
        except GrailError as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    try:
        with Memory(store) as memory:
            for n in range(6):
                path = tmp_path / f"{n}.tar.gz"
                memory.backup(path)
                assert memory.verify_backup(path).ok
                with Memory(tmp_path / f"r{n}") as restored:
                    restored.restore_backup(path)
                    done = restored.sync(stamp=False, dry_run=True)
                    assert not done.edited
                    assert not done.vanished
                    assert not done.moved
                    assert not done.adopted
                    assert restored.check().ok
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert not failed


# -- verification -----------------------------------------------------------------------------------------------------------


def rewrite(path: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]) -> Path:
    """The archive with its members changed."""
    members: list[tuple[tarfile.TarInfo, bytes]] = []
    with tarfile.open(path) as tar:
        for info in tar:
            file = tar.extractfile(info)
            members.append((info, file.read() if file else b""))
    change(members)
    out = path.with_name("changed.tar.gz")
    with tarfile.open(out, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for info, data in members:
            info.size = len(data) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(data))
    return out


def announce(members: list[tuple[tarfile.TarInfo, bytes]], *, n_files: int = 0, n_bytes: int = 0) -> None:
    """Let header and manifest announce more, as somebody would who knows the form."""
    header = json.loads(members[0][1])
    header["n_files"] += n_files
    header["n_bytes"] += n_bytes
    members[0] = (members[0][0], json.dumps(header).encode())


def member(name: str, data: bytes = b"x", **values: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    for key, value in values.items():
        setattr(info, key, value)
    return info, data


@pytest.fixture
def backup(store: Path, tmp_path: Path) -> Path:
    with Memory(store) as memory:
        memory.backup(tmp_path / "b.tar.gz")
    return tmp_path / "b.tar.gz"


def verify(path: Path) -> Any:
    with Memory(path.parent / "none") as memory:
        return memory.verify_backup(path)


def test_every_changed_byte_of_the_file_is_seen(backup: Path) -> None:
    data = backup.read_bytes()
    step, unpacked = max(1, len(data) // 60), gzip.decompress(data)
    for at in range(10, len(data), step):
        changed = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
        backup.write_bytes(changed)
        if verify(backup).ok:  # some bytes of a compressed stream can be two ways of saying the same
            assert gzip.decompress(changed) == unpacked, at


def test_every_cut_is_seen(backup: Path) -> None:
    data = backup.read_bytes()
    for size in range(0, len(data) - 1, max(1, len(data) // 40)):
        backup.write_bytes(data[:size])
        assert not verify(backup).ok, size


@pytest.mark.parametrize(
    "name",
    [
        "../outside.md", "/etc/outside", "memories/../../outside", "memories//a.md", "memories/./a.md", ".grail/local/clone.json",
        ".git/hooks/post-checkout", "outside.txt", ".grail/ledger/../../outside", "output/x", "memories/\udcff.md", "memories",
    ],
)  # fmt: skip
def test_no_member_can_lie_elsewhere(backup: Path, tmp_path: Path, name: str) -> None:
    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        members.insert(1, member(name))
        announce(members, n_files=1, n_bytes=1)

    changed = rewrite(backup, change)
    outside = everything_but(tmp_path, "target")
    found = verify(changed)
    assert "bad_member" in {p.code for p in found.problems}
    with Memory(tmp_path / "target") as memory, pytest.raises(InputError) as refused:
        memory.restore_backup(changed)
    assert len(refused.value.problems) >= 1
    assert everything_but(tmp_path, "target") == outside
    assert {path.name for path in (tmp_path / "target").rglob("*")} <= {".grail", "local", "restore.lock"}


def everything_but(folder: Path, name: str) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if name not in path.relative_to(folder).parts)


@pytest.mark.parametrize(
    ("type_", "linkname"),
    [
        (tarfile.SYMTYPE, "/etc/passwd"),
        (tarfile.LNKTYPE, "grail.yaml"),
        (tarfile.CHRTYPE, ""),
        (tarfile.DIRTYPE, ""),
        (tarfile.FIFOTYPE, ""),
    ],
)
def test_only_plain_files_are_members(backup: Path, tmp_path: Path, type_: bytes, linkname: str) -> None:
    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        members.insert(1, member("memories/a.md", b"", type=type_, linkname=linkname))
        announce(members, n_files=1)

    found = verify(rewrite(backup, change))
    assert ("bad_member", "memories/a.md") in {(p.code, p.where) for p in found.problems}


def test_a_member_that_is_there_twice_is_refused(backup: Path) -> None:
    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        again = next(item for item in members if item[0].name.endswith(".md"))
        members.insert(1, member(again[0].name, b"other"))
        announce(members, n_files=1, n_bytes=5)

    assert "bad_member" in {p.code for p in verify(rewrite(backup, change)).problems}


def test_more_than_announced_is_refused_before_it_is_read(backup: Path, tmp_path: Path) -> None:
    """A member of a gigabyte of zeros takes a megabyte in the archive."""
    changed = rewrite(backup, lambda members: members.insert(1, member("memories/bomb.md", bytes(80_000_000))))
    with Memory(tmp_path / "target") as memory, pytest.raises(InputError, match="more than it announces"):
        memory.restore_backup(changed)
    assert sum(path.stat().st_size for path in (tmp_path / "target").rglob("*") if path.is_file()) < 1_000_000


def test_a_header_without_end_is_not_taken_into_memory(backup: Path) -> None:
    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        info, data = member("memories/a.md")
        info.pax_headers = {"comment": "x" * 30_000_000}
        members.insert(1, (info, data))
        announce(members, n_files=1, n_bytes=1)

    found = verify(rewrite(backup, change))
    assert not found.ok
    assert "header without end" in found.problems[0].message


def test_a_broken_chain_is_seen_where_the_digests_agree(backup: Path) -> None:
    """Somebody changed a line of the ledger and made the manifest anew."""
    import hashlib

    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        at = next(i for i, item in enumerate(members) if item[0].name.endswith(".jsonl"))
        info, data = members[at]
        forged = data.replace(b'"actor":"owner"', b'"actor":"other"', 1)
        assert forged != data
        members[at] = (info, forged)
        manifest = json.loads(members[-1][1])
        for item in manifest["files"]:
            if item[0] == info.name:
                item[2] = hashlib.sha256(forged).hexdigest()
        members[-1] = (members[-1][0], json.dumps(manifest).encode())

    found = verify(rewrite(backup, change))
    assert {p.code for p in found.problems} == {"broken_chain"}


@pytest.mark.parametrize("key", ["format", "store_version"])
def test_a_later_version_is_refused_before_anything_else(backup: Path, tmp_path: Path, key: str) -> None:
    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        header = json.loads(members[0][1]) | {key: 99}
        members[0] = (members[0][0], json.dumps(header).encode())

    changed = rewrite(backup, change)
    with pytest.raises(StoreError, match="newer"):
        verify(changed)
    with Memory(tmp_path / "target") as memory, pytest.raises(StoreError, match="newer"):
        memory.restore_backup(changed)
    assert not (tmp_path / "target/memories").exists()


def test_what_is_no_backup_is_said_to_be_none(tmp_path: Path) -> None:
    for name, data in (("text", b"hello"), ("empty", b""), ("gzip", gzip.compress(b"hello" * 1000))):
        (tmp_path / name).write_bytes(data)
        found = verify(tmp_path / name)
        assert [p.code for p in found.problems] == ["damaged_backup"]
    with pytest.raises(NotFoundError):
        verify(tmp_path / "missing")


@pytest.mark.parametrize("where", [".", "kept", "memories", ".grail"])
def test_nothing_is_put_anywhere_under_the_root(tmp_path: Path, where: str) -> None:
    """A copy of the text under the root would outlive an erasure."""
    with Memory(tmp_path / "s") as memory:
        memory.add_observation(title="Alpha", content="The first.", category="work")
        (memory.root / where).mkdir(exist_ok=True)
        for verb in (memory.backup, memory.export):
            for out in (memory.root / where, memory.root / where / "copy"):
                with pytest.raises(InputError, match="inside the store"):
                    verb(out)
