"""Whatever call a restoring or an import dies at, the store is the old or the new one, and nothing is left behind."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from crash_cases import KILLS, MODES, every_case, some_cases, walk
from crash_shim import Server

from grail_mem import Memory

VERBS = ("restore_backup", "import_file", "backup")
State = dict[str, tuple[str, str]]


@pytest.fixture(scope="module")
def template(folder: Path) -> Path:
    """A store that went on after its backup: it added, edited, moved, hid and compacted; and another store's export."""
    root = folder / "template"
    with Memory(root) as memory:
        alpha = memory.add_observation(title="Alpha", content="The first.", category="work/a")
        beta = memory.add_observation(title="Beta", content="The second.", category="work/a")
        gamma = memory.add_observation(title="Gamma", content="The third.", category="work/b")
        memory.backup(folder / "before.tar.gz")
        memory.update(alpha.id, content="The first, changed.")
        memory.move(beta.id, "home")
        memory.hide(gamma.id)
        memory.compact()
        memory.add_observation(title="Delta", content="Came later.", category="work/b")
    with Memory(folder / "other") as other:
        hidden = other.add_observation(title="Foreign", content="From elsewhere.", category="else")
        other.hide(hidden.id)
        other.add_observation(title="Known", content="From elsewhere, too.", category="else")
        (other.root / "sources").mkdir()
        (other.root / "sources/talk.txt").write_text("Said so.")
        other.export(folder / "other.jsonl")
    return root


def state_of(memory: Memory) -> State:
    return {o.title: (o.content, o.category) for o in memory.recall(limit=1000).observations}


RESTORED = {"Alpha": ("The first.", "work/a"), "Beta": ("The second.", "work/a")}  # Gamma was hidden since


def after(before: State, verb: str) -> State:
    if verb == "restore_backup":
        return RESTORED
    return {**before, "Known": ("From elsewhere, too.", "else")} if verb == "import_file" else before


def run_case(server: Server, folder: Path, template: Path, verb: str, mode: str, n: int) -> dict[str, Any]:
    root = folder / f"{verb}-{mode}-{n}"
    shutil.copytree(template, root)
    with Memory(root) as neighbour:  # a process that had the store open all along
        before = state_of(neighbour)
        outcome = server.run(root, verb, mode, n)
        assert outcome["killed"] == (mode in KILLS), outcome
        assert outcome.get("error", "") in ("", "StoreError"), outcome
        wanted, made = after(before, verb), {}
        if mode == "fail":  # the shim's process wrote on after the failure
            assert not outcome["next"], outcome
            made = {"Next one": ("After the failure.", "work/new")}
        with Memory(root) as memory:
            now = state_of(memory)
            allowed = [wanted] if mode == "count" else [before, wanted]
            assert now in [state | made for state in allowed], (now, outcome)
            assert memory.check().ok, memory.check().problems
            assert memory.verify_ledger().ok
            memory.add_observation(title="Written after", content="It goes on.", category="work/a")
            now = state_of(memory)
        left = [path.name for path in (root / ".grail/local").iterdir() if path.name.startswith("swap")]
        assert not left  # the words of a backup may be erased words by now
        neighbour._view._looked_at = float("-inf")  # as if the time between two looks had passed
        assert state_of(neighbour) == now
        if mode == "count" or n % 4 == 0:  # the others are quick
            with Memory(root) as memory:
                memory.rebuild()
                assert state_of(memory) == now
        if verb == "restore_backup" and n % 4 == 1:
            again = server.run(root, verb, "count", 0)
            assert not again["error"], again
        if verb == "backup":
            made_file = folder / f"{root.name}.tar.gz"
            with Memory(root) as memory:
                assert not made_file.exists() or memory.verify_backup(made_file).ok
    shutil.rmtree(root)
    (folder / f"{root.name}.tar.gz").unlink(missing_ok=True)
    return outcome


def run_cases(
    server: Server, folder: Path, template: Path, verb: str, *, at_most: int | None, dying: tuple[str, ...] = MODES
) -> None:
    calls = run_case(server, folder, template, verb, "count", 0)["calls"]
    cases = every_case(calls) if at_most is None else some_cases(len(calls), turn=VERBS.index(verb), at_most=at_most)
    cases = [case for case in cases if case[0] in dying]
    walk(lambda mode, n: run_case(server, folder, template, verb, mode, n), calls, cases, of=verb)


@pytest.mark.parametrize("verb", VERBS)
def test_a_crash_leaves_the_old_or_the_new_store(server: Server, folder: Path, template: Path, verb: str) -> None:
    run_cases(server, folder, template, verb, at_most=4)


@pytest.mark.slow
@pytest.mark.parametrize("dying", [KILLS, ("fail",)], ids=["killed", "failing"])
@pytest.mark.parametrize("verb", VERBS)
def test_every_crash_leaves_the_old_or_the_new_store(
    server: Server, folder: Path, template: Path, verb: str, dying: tuple[str, ...]
) -> None:
    run_cases(server, folder, template, verb, at_most=None, dying=dying)


def test_a_kill_between_two_renames_is_finished_by_a_process_that_was_open(
    server: Server, folder: Path, template: Path
) -> None:
    """A process that has the store open and only writes finishes the swap, too, before it writes."""
    root = folder / "between"
    shutil.copytree(template, root)
    with Memory(root) as neighbour:
        neighbour.add_observation(title="Warm", content="Has a chain.", category="work/a")
        calls = server.run(root, "restore_backup", "count", 0)["calls"]
        plan = max(i for i, name in enumerate(calls, 1) if name == "rename")
    shutil.rmtree(root)
    shutil.copytree(template, root)
    with Memory(root) as neighbour:
        neighbour.add_observation(title="Warm", content="Has a chain.", category="work/a")
        killed = server.run(root, "restore_backup", "before", plan)
        assert killed["killed"]
        assert (root / ".grail/local/swap.json").exists()
        neighbour.add_observation(title="First after", content="Written by one who was there.", category="work/a")
        assert not (root / ".grail/local/swap.json").exists()
        neighbour._view._looked_at = float("-inf")
        assert state_of(neighbour) == RESTORED | {"First after": ("Written by one who was there.", "work/a")}
    shutil.rmtree(root)
