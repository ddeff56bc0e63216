"""What goes wrong when two clones of a store changed the same things and git merges them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from grail_mem import Memory

ENV = {
    **os.environ,
    **{
        f"GIT_{who}_{what}": f"x{at}" for who in ("AUTHOR", "COMMITTER") for what, at in (("NAME", ""), ("EMAIL", "@x"))
    },
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, env=ENV, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path, list[str]]:
    """Two clones of a store with six observations."""
    office, laptop = tmp_path / "office", tmp_path / "laptop"
    with Memory(office, embedder="none") as memory:
        memory.init()
        ids = [
            memory.add_observation(title=f"Fact {n}", content=f"The word zebra{n}wood is here.", category="w").id
            for n in range(6)
        ]
    git(office, "init", "-q", "-b", "main")
    git(office, "add", "-A")
    git(office, "commit", "-q", "-m", "first")
    subprocess.run(["git", "clone", "-q", str(office), str(laptop)], env=ENV, check=True)
    return office, laptop, ids


def words_under(root: Path) -> set[int]:
    files = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts]
    return {n for n in range(6) for path in files if f"zebra{n}wood".encode() in path.read_bytes()}


@pytest.mark.parametrize("into", ["office", "laptop"])
def test_two_clones_that_both_erased_merge_and_both_are_obeyed(clones: tuple[Path, Path, list[str]], into: str) -> None:
    """Each empties lines of the chain that both have; git merges them, the chain holds, and nothing is left of either."""
    office, laptop, ids = clones
    with Memory(office, embedder="none") as memory:
        memory.erase([ids[1], ids[2]], reason="asked")
        memory.add_observation(title="Later", content="Said in the office.", category="w")
    with Memory(laptop, embedder="none") as memory:
        memory.erase([ids[3], ids[1]], reason="asked")
        memory.add_observation(title="Later, too", content="Said on the laptop.", category="w")
    for root in (office, laptop):
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "changed")
    root, other = (office, laptop) if into == "office" else (laptop, office)
    git(root, "pull", "-q", "--no-rebase", "--no-edit", str(other), "main")
    with Memory(root, embedder="none") as memory:
        memory.sync()
        titles = {o.title for o in memory.recall(limit=100).observations}
        assert titles == {"Fact 0", "Fact 4", "Fact 5", "Later", "Later, too"}
        assert not memory.check().problems
        assert not memory.verify_ledger().problems
        assert words_under(root) == {0, 4, 5}
        memory.add_observation(title="After", content="Said after the merge.", category="w")
        memory.compact()
        assert not memory.verify_ledger().problems
        assert "fact-3" not in "".join(path.read_text() for path in (root / ".grail/ledger").glob("*.jsonl"))


def test_a_candidate_that_two_clones_approved_leaves_no_file_after_a_sync(clones: tuple[Path, Path, list[str]]) -> None:
    """Each clone makes an observation of it, and the file of a candidate that is decided goes, whoever brought it back."""
    office, _, _ = clones
    with Memory(office, embedder="none") as memory:
        (made,) = memory.submit({"content": "Dana prefers tea in the morning."}, origin="tool")
        path = office / ".grail/candidates" / f"{made.id}.md"
        data = path.read_bytes()
        memory.approve(made.id)
        path.write_bytes(data)
        memory.sync(dry_run=True)
        assert path.exists()
        memory.sync()
        assert not path.exists()
