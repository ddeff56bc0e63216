"""The scan finds what differs from what was known, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from grail_mem.store.filename import is_ignored_dir, is_observation_file
from grail_mem.store.files import FileState, state_of
from grail_mem.store.layout import Layout
from grail_mem.store.scan import Found, scan_all

FOLDERS = st.sampled_from(["", "a", "a/b", "Größe", ".hidden", "node_modules", "c.md"])
NAMES = st.sampled_from(["one.md", "2026-06-02_two_x1.md", "Three.MD", "vier.ä.md", ".five.md", "~six.md", "seven.tmp.md",
                         "README", "eight.txt", "nine ten.md", "c.md"])  # fmt: skip
TREES = st.dictionaries(st.tuples(FOLDERS, NAMES), st.binary(max_size=3), max_size=12)


def written(layout: Layout, tree: dict[tuple[str, str], bytes]) -> None:
    """Put the files of a tree on disk; a place that is taken by a folder or file of that name is left out."""
    for (folder, name), data in tree.items():
        place = layout.memories / folder / name
        if place.is_dir() or any(parent.is_file() for parent in place.parents):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def walked(layout: Layout) -> dict[str, FileState]:
    """State of every observation file by path, the plain way."""
    found: dict[str, FileState] = {}
    for folder, below, names in os.walk(layout.memories):
        below[:] = [name for name in below if not is_ignored_dir(name)]
        for name in filter(is_observation_file, names):
            place = os.path.join(folder, name)
            found[os.path.relpath(place, layout.root)] = state_of(os.lstat(place))
    return found


def knowing(states: dict[str, FileState]) -> Callable[[str], dict[str, FileState]]:
    """What a view says of the files in one folder."""
    return lambda folder: {
        name: state for path, state in states.items() for at, _, name in [path.rpartition("/")] if at == folder
    }


def scanned(layout: Layout, before: Found, states: dict[str, FileState]) -> Found:
    """A scan of everything by somebody who knows what an earlier one found."""
    return scan_all(layout, before.folders, knowing(states))


@given(first=TREES, second=TREES, gone=st.integers(0, 5))
def test_a_scan_names_exactly_the_files_that_differ(
    first: dict[tuple[str, str], bytes], second: dict[tuple[str, str], bytes], gone: int
) -> None:
    """New, changed and removed files are found, in folders of any mixture of names; unchanged ones are not."""
    with tempfile.TemporaryDirectory() as root:
        layout = Layout(Path(root))
        layout.memories.mkdir()
        written(layout, first)
        known = walked(layout)
        found = scanned(layout, Found(), {})
        assert found.changed == known
        assert found.n_files == len(known)
        again = scanned(layout, found, known)
        assert (again.changed, again.gone, again.missing_folders) == ({}, [], [])

        for path in sorted(known)[:gone]:
            os.remove(layout.root / path)
        written(layout, second)
        now = walked(layout)
        found = scanned(layout, found, known)
        assert found.changed == {path: state for path, state in now.items() if known.get(path) != state}
        assert sorted(found.gone) == sorted(known.keys() - now.keys())


def test_an_edit_under_a_restored_modification_time_is_found(tmp_path: Path) -> None:
    """Same name, same size, same modification time: the change time tells."""
    layout = Layout(tmp_path)
    written(layout, {("a", "one.md"): b"old", ("a", "two.md"): b"old"})
    known = walked(layout)
    found = scanned(layout, Found(), {})
    place = layout.memories / "a" / "one.md"
    before = place.stat()
    place.write_bytes(b"new")
    while place.stat().st_ctime_ns == before.st_ctime_ns or place.stat().st_mtime_ns != before.st_mtime_ns:
        os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))  # again, within one tick of the clock
    assert list(scanned(layout, found, known).changed) == ["memories/a/one.md"]


def test_a_digest_that_differs_for_the_same_files_costs_a_comparison_only(tmp_path: Path) -> None:
    """As when a file system lists a folder in another order."""
    layout = Layout(tmp_path)
    written(layout, {("a", "one.md"): b"1", ("a", "two.md"): b"2"})
    known = walked(layout)
    found = scanned(layout, Found(), {})
    right = found.folders["memories/a"]
    found.folders["memories/a"] = right._replace(digest=right.digest ^ 1)
    again = scanned(layout, found, known)
    assert (again.changed, again.gone) == ({}, [])
    assert again.folders["memories/a"].digest == right.digest


def test_digests_are_the_same_in_every_process(tmp_path: Path) -> None:
    """They are kept in the manifest: another process with another hash seed must find its folders unchanged."""
    layout = Layout(tmp_path)
    written(layout, {("a", "one.md"): b"1", ("Größe", "zwei.md"): b"2", ("", "drei.ä.md"): b"3"})
    code = (
        "import sys, pathlib\nfrom grail_mem.store.layout import Layout\nfrom grail_mem.store.scan import scan_all\n"
        "found = scan_all(Layout(pathlib.Path(sys.argv[1])), {}, lambda _: {})\n"
        "print([found.folders[name].digest for name in sorted(found.folders)])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            check=True, capture_output=True, env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(said) == 1
    assert b"[]" not in said.pop()
