"""What killed writers left is removed by the next writer, and nothing that a living one needs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grail_mem import Memory
from grail_mem.store.lock import exclusive_if_free
from grail_mem.write.leftovers import GONE_S, OLD_S
from grail_mem.write.swap import RESTORING

HERE = os.getpid()


def gone() -> int:
    """The number of a process that was."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_next_write_removes_what_killed_writers_left(tmp_path: Path) -> None:
    """By a process that is gone and some minutes old, or an hour old; what else may be in use stays."""
    staging = tmp_path / ".grail/local/staging"
    dead = gone()
    ages = {
        f"{dead}-{'a' * 16}.tmp": GONE_S + 60, f"{dead}-{'b' * 16}.old": GONE_S + 60, f"{HERE}-{'c' * 16}.tmp": OLD_S + 60,
        f"{dead}-{'d' * 16}.tmp": GONE_S - 60, f"{HERE}-{'e' * 16}.tmp": GONE_S + 60, "notes of a person.txt": OLD_S + 60,
    }  # fmt: skip
    kept = list(ages)[3:]
    with Memory(tmp_path) as memory:
        one = memory.add_observation(content="The first.")
        for name, age in ages.items():
            (staging / name).write_text("---\ntitle: Half\n---\nHalf of a write.\n")
            os.utime(staging / name, (time.time() - age,) * 2)
        assert [p.code for p in memory.check().problems] == ["leftover"] * 4
        assert [o.id for o in memory.recall().observations] == [one.id]
        assert len(list(staging.iterdir())) == len(ages)  # reading removes nothing
        memory.update(one.id, append="And more.")
        assert sorted(path.name for path in staging.iterdir()) == sorted(kept)
        assert [p.where for p in memory.check().problems] == [".grail/local/staging/notes of a person.txt"]


@pytest.mark.parametrize("verb", ["hide", "ingest_text", "compact", "erase"])
def test_every_writer_does(tmp_path: Path, verb: str) -> None:
    left = tmp_path / f".grail/local/staging/{gone()}-{'a' * 16}.tmp"
    with Memory(tmp_path) as memory:
        one = memory.add_observation(content="The first.")
        left.write_text("Half.")
        os.utime(left, (1, 1))
        {
            "hide": lambda: memory.hide(one.id), "ingest_text": lambda: memory.ingest_text("Words."),
            "compact": lambda: (memory.compact(), memory.add_observation(content="The second.")),
            "erase": lambda: memory.erase(one.id, reason="asked for"),
        }[verb]()  # fmt: skip
    assert not left.exists()


def test_what_a_killed_restoring_made_ready_goes_and_what_is_under_way_stays(tmp_path: Path) -> None:
    """It holds the words of a backup, which may be erased since."""
    with Memory(tmp_path) as memory:
        one = memory.add_observation(content="The first.")
        ready = tmp_path / ".grail/local/swap-0123456789abcdef"
        copied = ready / "new" / one.path
        copied.parent.mkdir(parents=True)
        copied.write_bytes((tmp_path / one.path).read_bytes())
        with exclusive_if_free(tmp_path / RESTORING):
            memory.update(one.id, append="And more.")
            assert copied.exists()
        memory.erase(one.id, reason="asked for")
    assert not ready.exists()
