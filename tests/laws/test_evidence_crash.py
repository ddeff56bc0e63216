"""Whatever call an ingest, a remembered claim or a verification dies at: it is there wholly or not at all.

A claim is never there without the turn it quotes, nor a turn that a claim brought without the claim.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from crash_cases import KILLS, every_case, walk
from crash_shim import Server

from grail_mem import Memory
from grail_mem.store.layout import Layout
from grail_mem.store.sources import current_turns, read_session

VERBS = ("ingest", "document", "remember", "verify")
Told = tuple[list[str], list[str], list[str], list[str]]


@pytest.fixture(scope="module")
def template(folder: Path) -> Path:
    """A store with a transcript, quotes recorded with claims, and one claim whose evidence is gone and not yet verified."""
    root = folder / "template"
    with Memory(root) as memory:
        memory.ingest_chat(
            [{"role": "user", "id": f"t{n}", "text": f"Old turn {n}."} for n in range(3)], session="talk"
        )
        memory.remember("I never smoke now", evidence="I never smoke now.", session="quoted")
        memory.compact()
        memory.remember("I sold my car", evidence="I sold my car.", session="lost")
    (root / "sources/chats/lost.jsonl").unlink()
    return root


def told(root: Path) -> Told:
    """The turns of both sessions, the texts of documents, and the titles of what answers."""
    layout = Layout(root)
    with Memory(root) as memory:  # opening finishes what was begun
        turns = [[turn.text for turn in current_turns(read_session(layout, name, None))] for name in ("talk", "quoted")]
        kept = sorted(path.name for path in (root / "sources/documents").glob("*.txt"))
        titles = sorted(o.title for o in memory.recall(limit=1000).observations if o.title != "Next one")
        out = sorted(id_ for id_, (*_, stands) in memory._open().suspended.items() if stands)
    return turns[0], turns[1], [*kept, *(["out"] if out else [])], titles


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_a_crash_at_every_call_leaves_all_or_nothing(server: Server, folder: Path, template: Path, verb: str) -> None:
    before = told(template)
    root = folder / f"case-{verb}"
    shutil.copytree(template, root)
    whole = server.run(root, verb)
    assert not whole["error"], whole
    after = told(root)
    assert after != before
    calls = whole["calls"]

    def run_case(mode: str, n: int) -> None:
        shutil.rmtree(root)
        shutil.copytree(template, root)
        outcome = server.run(root, verb, mode, n)
        assert outcome["killed"] == (mode in KILLS), outcome
        if mode == "fail":
            assert outcome["error"] in ("", "StoreError"), outcome
            assert not outcome["next"], outcome
        found = told(root)
        allowed = [before, after]
        if mode == "fail":
            allowed = (
                [after] if not outcome["error"] else [before] if "is stored" not in outcome["message"] else allowed
            )
        assert found in allowed, (outcome, found)
        again(root, before, outcome)

    walk(run_case, calls, every_case(calls), of=verb)


def again(root: Path, before: Told, case: object) -> None:
    """What comes next finds a whole store, and every verb done again is done once."""
    with Memory(root) as memory:
        turns = [{"role": "user", "id": f"n{n}", "text": f"New turn {n}."} for n in range(2)]
        memory.ingest_chat(turns, session="talk")
        memory.remember("I drink red wine", evidence="I drink red wine.", session="quoted")
        memory.ingest_text("The bridge was closed in May.", title="Bridge")
        assert memory.verify().counts == {"verified": 2, "source missing": 1}, case
        checked = memory.check()
        assert checked.ok, (case, checked)
        assert {p.code for p in checked.problems} <= {"torn_entry", "leftover"}, (case, checked)
    talk, quoted, kept, titles = told(root)
    assert talk == [*before[0], "New turn 0.", "New turn 1."], case
    assert quoted == [*before[1], "I drink red wine."], case
    assert (len(kept), titles) == (2, ["I drink red wine", "I never smoke now"]), case
