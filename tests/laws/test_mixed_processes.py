"""Revising, erasing, approving and restoring at once, each in a process of its own: what each law says still holds of the whole."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from every_byte import places_with

from grail_mem import ConflictError, Memory, NotFoundError

WORDS = ["Zorblattine", "quuxvilleish", "gribblewump", "xylotagical"]
FACTS = 2
SUGGESTED = [f"Suggestion {number} is a good one." for number in range(4)]


def planted(root: Path) -> tuple[list[str], list[str]]:
    """A store, its backup, and words that quote a transcript; returns the ids to erase and those of the candidates."""
    with Memory(root) as memory:
        for number in range(FACTS):
            memory.add_observation(
                content=f"Fact {number} says 0.", attribute=f"acme/fact-{number}", observed_at="2026-01-01"
            )
        turns = [{"role": "user", "text": f"I live in {word} now."} for word in WORDS]
        memory.ingest_chat(turns, session="talk")
        gone = [
            memory.remember(f"I live in {word} now.", evidence=f"I live in {word} now.", session="talk").id
            for word in WORDS
        ]
        waiting = [one.id for one in memory.submit([{"content": text} for text in SUGGESTED], origin="user")]
        memory.compact()
        memory.backup(root.parent / "before.tar.gz")
    return gone, waiting


def revise_each(root: Path) -> None:
    with Memory(root, actor="reviser") as memory:
        for turn in range(1, 4):
            for number in range(FACTS):
                for o in memory.recall(attribute=f"acme/fact-{number}").observations:
                    try:
                        memory.revise(o.id, action="supersede", reason="changed", content=f"Fact {number} says {turn}.")
                    except (ConflictError, NotFoundError):  # restored or superseded meanwhile
                        continue


def erase_each(root: Path, ids: list[str]) -> None:
    with Memory(root, actor="eraser") as memory:
        for id_ in ids:
            memory.erase(id_, reason="asked for")


def approve_each(root: Path, ids: list[str], done: Path) -> None:
    with Memory(root, actor="approver") as memory:
        for id_ in ids:
            (outcome,) = memory.approve(id_)
            if outcome.done:
                with done.open("a") as file:
                    file.write(f"{id_}\n")


def restore_twice(root: Path) -> None:
    with Memory(root, actor="restorer") as memory:
        for _ in range(2):
            memory.restore_backup(root.parent / "before.tar.gz", force=True)


@pytest.mark.parametrize("restoring", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_revising_erasing_approving_and_restoring_at_once(tmp_path: Path, restoring: bool) -> None:
    """What was erased is nowhere, no candidate is approved twice, each fact holds once, and a rebuild says the same."""
    root, done = tmp_path / "store", tmp_path / "approved.txt"
    gone, waiting = planted(root)
    work: list[tuple[Callable[..., None], tuple[object, ...]]] = [
        (revise_each, (root,)), (erase_each, (root, gone)),
        (approve_each, (root, waiting, done)), (approve_each, (root, waiting[::-1], done)),
    ]  # fmt: skip
    work += [(restore_twice, (root,))] if restoring else []
    context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    jobs = [context.Process(target=target, args=args) for target, args in work]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0] * len(jobs)
    with Memory(root) as memory:
        memory.sync()
        found = memory.recall(limit=1000).observations
        checked = memory.check()
        assert checked.problems == ()
        assert memory.verify_ledger().ok
        assert memory.verify().ok
        assert places_with(root, WORDS) == []
        assert sorted(done.read_text().split()) == sorted(waiting)
        assert {one.status for one in memory.candidates(status="all")} <= {"approved"}
        said = Counter(o.content for o in found)
        assert set(said.values()) == {1}
        if not restoring:  # a restored store knows what was decided since, not what it became
            assert set(SUGGESTED) <= said.keys()
        facts = Counter(o.attribute for o in found if o.attribute)
        assert facts == {f"acme/fact-{number}": 1 for number in range(FACTS)}
        assert restoring or all(said[f"Fact {number} says 3."] for number in range(FACTS))
        ids = [o.id for o in found]
        memory.rebuild()
        assert [o.id for o in memory.recall(limit=1000).observations] == ids
