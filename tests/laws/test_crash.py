"""Whatever call a writer dies at, or its disk fails at: nothing acknowledged is lost, nothing is half there.

Every verb that writes is run in a process that is killed before or after its n-th call that changes files, that gets
"no space left" there, or that writes half the bytes and dies, for every n of a whole run.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crash_cases import KILLS, MODES, SHARE, every_case, some_cases, walk
from crash_shim import Server
from every_byte import places_with
from proposal_sets import propose

from grail_mem import Memory, NotFoundError

VERBS = ("first_add", "add", "batch", "update", "move", "hide", "erase", "apply", "undo", "stamp", "compact", "rebuild")
EVERY = 1_000_000 if SHARE == 1 else 60  # every call, with one mode each, or some
LEFT = {"torn_entry", "leftover"}  # what a check may name after a crash
MADE = {
    "add": {"New one": ("Said once.", "work/new")},
    "first_add": {"New one": ("Said once.", "work/new")},
    "batch": {f"Batch {i}": (f"Part {i}.", f"batch/{'ab'[i % 2]}") for i in range(1, 4)},
    "update": {"Alpha": ("The first.\n\nAnd more.", "work/a")},
    "move": {"Alpha": ("The first.", "work/c/d")},
    "apply": {
        "Alpha": ("Said anew.", "work/a"),
        "Beta": ("The second.", "work/z/y"),
        "Listed": ("All of it.", "topics/new"),
    },
    "undo": {
        "Alpha": ("The first.", "work/a"),
        "Beta": ("The second.", "work/a"),
        "Delta": ("Is said so.", "work/b"),
    },
}
HIDDEN = {"hide": "Delta", "apply": "Delta"}
REMOVED = {"undo": "Listed", "erase": "Delta"}
"""What was there and has no file any more."""
DECIDING = ("apply", "undo")


class Said(NamedTuple):
    """What an observation says and where it stands."""

    id: str
    content: str
    category: str


State = dict[str, Said]


@pytest.fixture(scope="module")
def template(folder: Path) -> Path:
    """A store with a snapshot, rows beside it, a change, a hidden observation, and a file that has no id yet."""
    root = folder / "template"
    with Memory(root) as memory:
        memory.add_observation(
            title="Alpha", content="The first.", category="work/a", tags=["one"], entities=[{"name": "Acme"}]
        )
        gamma = memory.add_observation(title="Gamma", content="To be hidden.", category="work/a")
        memory.add_observation(title="Beta", content="The second.", category="work/a")
        memory.compact()
        delta = memory.add_observation(title="Delta", content="Was said so.", category="work/b")
        memory.update(delta.id, content="Is said so.")
        memory.hide(gamma.id)
    (root / "memories/notes").mkdir()
    (root / "memories/notes/hand.md").write_text("---\ntitle: Hand\n---\nBy a person.\n")
    return root


@pytest.mark.slow
@pytest.mark.parametrize("dying", [KILLS, ("fail",)], ids=["killed", "failing"])
@pytest.mark.parametrize("verb", VERBS)
def test_every_crash_at_every_call_loses_nothing(
    server: Server, folder: Path, template: Path, verb: str, dying: tuple[str, ...]
) -> None:
    run_cases(server, folder, template, verb, at_most=None, dying=dying)


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_every_crash_inside_the_libraries_loses_nothing(
    libc_server: Server, folder: Path, template: Path, verb: str
) -> None:
    run_cases(libc_server, folder, template, verb, at_most=EVERY)


def run_cases(
    server: Server, folder: Path, template: Path, verb: str, *, at_most: int | None, dying: tuple[str, ...] = MODES
) -> None:
    whole = run_case(server, folder, template, verb, "count", 0)
    assert not whole["killed"]
    assert not whole["error"], whole
    calls = whole["calls"]
    cases = every_case(calls) if at_most is None else some_cases(len(calls), turn=VERBS.index(verb), at_most=at_most)
    cases = [case for case in cases if case[0] in dying]
    walk(lambda mode, n: run_case(server, folder, template, verb, mode, n, names=calls), calls, cases, of=verb)


def run_case(
    server: Server, folder: Path, template: Path, verb: str, mode: str, n: int, names: list[str] | None = None
) -> dict[str, Any]:
    root = folder / f"{verb}-{mode}-{n}"
    rebuilding = verb in ("compact", "rebuild") or n % 4 == 0  # the others are quick
    whole = rebuilding or verb == "erase"  # with a snapshot
    if verb != "first_add":
        shutil.copytree(template, root, ignore=None if whole else shutil.ignore_patterns("output"))
    case = f"{verb}: {mode} call {n}" + (f" ({names[n - 1]})" if names else "")
    with Memory(root) as neighbour:  # a process that had the store open all along
        if verb != "first_add":
            neighbour.add_observation(title="Warm", content="Makes this copy's chain.", category="work/b")
        if verb in DECIDING:
            id_ = suggest(neighbour)
            if verb == "undo":
                neighbour.apply(id_)
        before = state_of(neighbour)
        outcome = server.run(root, verb, mode, n)
        assert outcome["killed"] == (mode in KILLS), (case, outcome)
        after = {**before, **changed(before, verb)}
        for title in [where[verb] for where in (HIDDEN, REMOVED) if verb in where]:
            after.pop(title)
        if mode == "fail":
            assert not outcome["next"], (case, outcome)
            assert outcome["error"] in ("", "StoreError"), (case, outcome)
            new = Said("", "After the failure.", "work/new")
            before, after = before | {"Next one": new}, after | {"Next one": new}
        done = mode == "count" or (mode == "fail" and not outcome["error"])
        allowed = [after] if done else [before] if mode == "fail" and not_kept(outcome) else [before, after]
        verify(root, case, verb, before, allowed, neighbour, rebuilding=rebuilding)
    shutil.rmtree(root)
    return outcome


def suggest(memory: Memory) -> str:
    """Put a proposal into the store that edits, moves, hides and adds; returns its id."""
    ids = {o.title: o.id for o in memory.recall(limit=1000).observations}
    changes = [
        {"do": "set", "id": ids["Alpha"], "fields": {"content": "Said anew."}},
        {"do": "move", "id": ids["Beta"], "category": "work/z/y"},
        {"do": "hide", "id": ids["Delta"]},
        {"do": "add", "draft": {"title": "Listed", "content": "All of it.", "category": "topics/new"}},
    ]
    return propose(memory, changes)


def not_kept(outcome: dict[str, Any]) -> bool:
    """Whether the failure says that nothing was done (a disk that fails to sync, or late in an erasure, says that it was)."""
    return not any(said in outcome["message"] for said in ("is stored", "is gone"))


def changed(before: State, verb: str) -> State:
    """What the verb would have left."""
    return {
        title: Said(before[title].id if title in before else "", *said) for title, said in MADE.get(verb, {}).items()
    }


def state_of(memory: Memory) -> State:
    found = memory.recall(limit=1000).observations
    assert len({o.title for o in found}) == len(found), "an observation is there twice"
    return {o.title: Said(o.id, o.content, o.category) for o in found}


def same(found: State, wanted: State) -> bool:
    return found.keys() == wanted.keys() and all(
        found[title][1:] == said[1:] and said.id in ("", found[title].id) for title, said in wanted.items()
    )


def verify(
    root: Path, case: str, verb: str, before: State, allowed: list[State], neighbour: Memory, *, rebuilding: bool
) -> None:
    touched = {*MADE.get(verb, {}), *HIDDEN.values(), *REMOVED.values()}
    near = state_of(neighbour)
    kept = {title: said for title, said in before.items() if title not in touched and title != "Next one"}
    assert same({title: said for title, said in near.items() if title in kept}, kept), (case, near)
    for title in before.keys() & MADE.get(verb, {}).keys():
        assert title in near, (case, near)
    with Memory(root) as memory:
        found = state_of(memory)
        assert same({title: said for title, said in found.items() if title in kept}, kept), (case, found)
        if verb in DECIDING:  # the ledger says that it is done exactly when the files do
            done = same(found, allowed[-1]) == (len(allowed) > 1 or allowed[0] != before)
            status = {"apply": ("pending", "applied"), "undo": ("applied", "undone")}[verb][done]
            assert memory.proposals(status="all")[0].status == status, (case, found)
        assert any(same(found, state) for state in allowed), (case, found)

        if verb == "erase":  # never half: all of its text is there, or none
            left = places_with(root, ["Is said so", "Was said so"])
            assert bool(left) == ("Delta" in found), (case, left)

        extra = memory.add_observation(title="Extra", content="The next write.", category="work/b")
        assert extra.created, case
        memory.update(extra.id, append="Goes on.")
        found = state_of(memory)
        assert found.pop("Extra") == Said(extra.id, "The next write.\n\nGoes on.", "work/b"), case
        assert any(same(found, state) for state in allowed), (case, found)

        checked = memory.check()
        assert checked.ok, (case, checked)
        names = LEFT | ({"category_differs"} if verb in ("move", *DECIDING) else set())
        names |= {"older_form"} if verb == "first_add" else set()  # made in part, it lacks what git needs
        assert {p.code for p in checked.problems} <= names, (case, checked)
        ids = [o.id for o in memory.recall(limit=1000).observations]
        if rebuilding:
            memory.rebuild()
            assert [o.id for o in memory.recall(limit=1000).observations] == ids, case
            assert memory.check().ok, case
    assert {o.id for o in neighbour.recall(limit=1000).observations} == set(ids), case
    assert neighbour.add_observation(title="Last", content="By the other process.").created, case
    n_files = sum(1 for _ in (root / "memories").rglob("*.md"))
    n_hidden = 1 if verb != "first_add" else 0
    n_hidden += any(title not in found for title in HIDDEN.values() if verb in ("hide", *DECIDING))
    assert n_files == len(ids) + 1 + n_hidden, case


@pytest.mark.slow
def test_what_was_hidden_stays_hidden(template: Path) -> None:
    """The template itself holds what the cases rely on."""
    with Memory(template) as memory:
        assert {"Alpha", "Beta", "Delta", "Hand"} == set(state_of(memory))
        hidden = next(p for p in (template / "memories/work/a").glob("*gamma*"))
        assert hidden.is_file()
        with pytest.raises(NotFoundError):
            memory.get("0" * 26)
