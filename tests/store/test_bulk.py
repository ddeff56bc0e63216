"""Files read in bulk: the same rows whoever reads them, and whatever becomes of the other processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grail_mem import Memory
from grail_mem.store.bulk import Reading
from grail_mem.store.layout import Layout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Files of ours and others: by hand, damaged, a link, one that repeats an id."""
    with Memory(tmp_path) as memory:
        memory.add_observations(
            [{"content": f"note {i}", "category": f"c/{i % 3}", "tags": ["ä, b"], "supersedes": "01KR1PMNF8R9490GH5ZKCJBRM0" if i % 2 else None}
             for i in range(40)]
        )  # fmt: skip
    folder = tmp_path / "memories/c/0"
    one = min(folder.iterdir())
    (folder / "by-hand.md").write_text("no frontmatter")
    (folder / "empty.md").write_text("")
    (folder / "odd.md").write_text(one.read_text().replace("confidence: 1.0", "confidence: 7"))
    (folder / "link.md").symlink_to(one)
    (tmp_path / "memories/linked").symlink_to(folder)
    for path in (tmp_path / "memories").rglob("*.md"):
        os.utime(path, (1, 1), follow_symlinks=False)
    return tmp_path


def rows(root: Path, *, helpers: int) -> list[dict[str, object]]:
    paths = [str(path.relative_to(root)) for path in (root / "memories").rglob("*.md")]
    paths += [
        "memories/c/none.md",
        "memories/none/x.md",
        f"memories/linked/{min((root / 'memories/c/0').iterdir()).name}",
    ]
    with Reading(Layout(root), zone="UTC", helpers=helpers, chunk=3) as reading:
        reading.begin(paths)
        tables = reading.finish(paths)
    return sorted((row for table in tables for row in table.to_pylist()), key=lambda row: str(row["path"]))


def settle(root: Path) -> None:
    """Wait until every file is older than the clock's tick."""
    newest = max(path.lstat().st_ctime for path in (root / "memories").rglob("*.md"))
    while os.stat(root).st_ctime < newest + 0.1:
        (root / "tick").touch()
        (root / "tick").unlink()


@pytest.mark.slow
def test_other_processes_read_the_same_rows(root: Path) -> None:
    """Those that carry their id and have no problem."""
    settle(root)
    alone = rows(root, helpers=0)
    assert len(alone) == 40
    assert rows(root, helpers=2) == alone


@pytest.mark.parametrize("script", [None, "exit 0", "cat", "head -c 20 >/dev/null; printf 12345678", "kill -9 $$"])
def test_files_that_another_process_does_not_give_back_are_read_here(
    root: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, script: str | None
) -> None:
    """It cannot be started, ends, answers nonsense, half an answer, or is killed."""
    settle(root)
    alone = rows(root, helpers=0)
    program = tmp_path_factory.mktemp("bin") / "python"
    if script is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    assert rows(root, helpers=2) == alone
