"""From findings to proposals: what is new, what waits, what was declined; with a detector of somebody else's package."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from proposal_sets import bytes_of

from grail_mem import InputError, Memory

PLUGIN = '''
from grail_mem.consolidate.finding import Finding, Quote

def too_long(reading):
    """Suggest the tag `long` for what has more than ten words; its grounds are how many hundred words it has."""
    sql = "SELECT id, title, tags, len(string_split(content, ' ')) AS n FROM rows WHERE n > 10 ORDER BY id"
    for row in reading.ask(sql).to_pylist():
        if "long" in row["tags"]:
            continue
        yield Finding(
            kind="too_long", confidence=min(1, row["n"] / 100), rationale=f"'{row['title']}' is long.", payload={"id": row["id"]},
            changes=({"do": "set", "id": row["id"], "fields": {"tags": [*row["tags"], "long"]}},),
            meaning=(row["id"],), grounds={"hundreds": row["n"] // 100}, figures={"words": row["n"]},
            quotes=(Quote(row["id"], row["title"]),), affected=(row["id"],),
        )

def failing(reading):
    raise KeyError("no such thing")

def wrong_kind(reading):
    yield Finding("expire_stale", 0.9, "Not mine.", {}, ({"do": "hide", "id": "x"},), ("x",))

def wrong_value(reading):
    yield "a text"

ODD = {}

def odd(reading):
    good = {"kind": "odd", "confidence": 0.9, "rationale": "x", "payload": {}, "changes": (), "meaning": ("x",)}
    yield Finding(**(good | ODD))

def wrong_change(reading):
    yield Finding("wrong_change", 0.9, "It erases.", {}, ({"do": "erase", "id": "x"},), ("x",))
    yield Finding("wrong_change", 0.9, "It cannot be written.", {"x": object()}, ({"do": "hide", "id": "x"},), ("y",))
'''
KINDS = ("failing", "odd", "too_long", "wrong_change", "wrong_kind", "wrong_value")


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with an entry point, as pip would leave it."""
    site = tmp_path / "site"
    dist = site / "long_ones-1.0.dist-info"
    dist.mkdir(parents=True)
    (site / "long_ones.py").write_text(PLUGIN)
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: long-ones\nVersion: 1.0\n")
    points = "".join(f"{kind} = long_ones:{kind}\n" for kind in KINDS)
    (dist / "entry_points.txt").write_text(f"[grail_mem.detectors]\n{points}merge_aliases = long_ones:failing\n")
    monkeypatch.syspath_prepend(str(site))
    yield
    sys.modules.pop("long_ones", None)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "store") as opened:
        yield opened


def long_note(memory: Memory, title: str, n: int = 80) -> str:
    return memory.add_observation(title=title, content=" ".join(["word"] * n)).id


def run(memory: Memory, **options: Any) -> Any:
    return memory.consolidate(kinds=["too_long"], **options)


def test_a_second_run_without_new_input_proposes_nothing_new(memory: Memory) -> None:
    """The ids stay, no set is written, no observation was touched."""
    long_note(memory, "One")
    before = bytes_of(memory)
    first = run(memory)
    assert (len(first.new), first.ran) == (1, ("too_long",))
    assert bytes_of(memory) == before
    again = run(memory)
    assert (again.new, again.path) == ((), "")
    assert [p.id for p in again] == [p.id for p in first]
    assert again.proposals == first.proposals


def test_a_dry_run_writes_nothing(memory: Memory) -> None:
    long_note(memory, "One")
    assert len(run(memory, dry_run=True).proposals) == 1
    assert not (memory.root / "output/proposals").exists()


def test_pending_proposals_keep_their_ids_when_more_come(memory: Memory) -> None:
    """What waits is in the newest set beside what is new, and is renewed when its observation changed."""
    one = long_note(memory, "One")
    first = run(memory).proposals[0]
    long_note(memory, "Two", 90)
    memory.update(one, source="somebody")
    assert memory.proposals() == ()
    later = run(memory)
    assert {p.id for p in later} > {first.id}
    assert len(later.new) == 1
    assert memory.apply(first.id)[0].done
    assert "long" in memory.get(one).tags


def test_a_set_goes_when_a_newer_one_has_all_of_it(memory: Memory) -> None:
    """What waits stands in one file, however many runs there were; a set with a decided proposal in it stays."""
    ids = []
    for number in range(4):
        long_note(memory, f"Note {number}")
        ids.append(run(memory).new[0])
    folder = memory.root / "output/proposals"
    assert len(list(folder.iterdir())) == 1
    memory.reject(ids[0])
    long_note(memory, "Last")
    run(memory)
    assert len(list(folder.iterdir())) == 2
    assert memory.proposals(status="rejected")[0].rationale == "'Note 0' is long."
    (folder / "9.json").write_text("no set")
    long_note(memory, "After all")
    run(memory)
    assert (folder / "9.json").exists()
    assert len(memory.proposals()) == 5


def test_an_empty_run_leaves_nothing_waiting(memory: Memory) -> None:
    """When the newest set is empty, nothing of an older one waits."""
    one = long_note(memory, "One")
    run(memory)
    memory.hide(one)
    assert run(memory).proposals == ()
    memory.restore(one)
    assert memory.proposals() == ()
    assert [p.stale for p in memory.proposals(status="stale")] == [("the last run found it no longer",)]


def test_what_no_longer_holds_is_not_listed(memory: Memory) -> None:
    """A proposal whose observation changed, and that is not found again, is stale and waits no longer."""
    one = long_note(memory, "One")
    id_ = run(memory).proposals[0].id
    memory.update(one, content="Short now.")
    assert run(memory).proposals == ()
    assert memory.proposals() == ()
    (stale,) = memory.proposals(status="stale")
    assert stale.id == id_
    assert not memory.apply(id_)[0].done


def test_a_run_for_some_kinds_keeps_what_waits_of_others(memory: Memory) -> None:
    long_note(memory, "One")
    run(memory)
    memory.add_observation(title="Old", content="Old.", expires_at="2020-01-01")
    assert {p.kind for p in memory.consolidate(kinds=["expire_stale"])} == {"too_long", "expire_stale"}


def test_a_rejected_finding_stays_away_until_its_grounds_change(memory: Memory) -> None:
    """Also when output/ is deleted; when it comes back it says what is different."""
    one = long_note(memory, "One", 80)
    memory.reject(run(memory).proposals[0].id, reason="no")
    assert (run(memory).proposals, run(memory).n_declined) == ((), 1)
    shutil.rmtree(memory.root / "output")
    assert run(memory).proposals == ()
    memory.update(one, append="More, but not much.")
    assert run(memory).proposals == ()
    memory.update(one, append=" ".join(["word"] * 80))
    (back,) = run(memory).proposals
    assert back.again == ("hundreds: 1 (was 0)",)
    assert memory.proposals()[0].again == back.again


def test_what_was_undone_does_not_come_back_by_itself(memory: Memory) -> None:
    one = long_note(memory, "One")
    id_ = run(memory).proposals[0].id
    memory.apply(id_)
    assert run(memory).proposals == ()
    memory.undo(id_)
    assert (run(memory).proposals, run(memory).n_declined) == ((), 1)
    assert memory.apply(id_)[0].done
    assert "long" in memory.get(one).tags


def test_min_confidence_leaves_out_what_is_less_sure(memory: Memory) -> None:
    long_note(memory, "One", 20)
    assert run(memory).proposals == ()
    assert len(run(memory, min_confidence=0.1).proposals) == 1
    for value in (-1, 2, "x", True, None):
        with pytest.raises(InputError):
            run(memory, min_confidence=value)


@pytest.mark.parametrize("kind", ["failing", "wrong_kind", "wrong_value"])
def test_a_detector_of_somebody_else_that_fails_stops_nobody(memory: Memory, kind: str) -> None:
    """It is named with its reason, and the others are run."""
    long_note(memory, "One")
    done = memory.consolidate(kinds=[kind, "too_long"])
    assert list(done.skipped) == [kind]
    assert len(done.proposals) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"confidence": "0.9"}, {"confidence": None}, {"confidence": 2}, {"confidence": float("nan")}, {"meaning": (1, "a")},
        {"meaning": None}, {"affected": None}, {"affected": (5,)}, {"same": ((1, "a"),)}, {"same": ("a",)}, {"same": (("a",),)},
        {"payload": None}, {"payload": [1]}, {"changes": None}, {"changes": ("x",)}, {"figures": None}, {"grounds": 5},
        {"quotes": ("a",)}, {"rationale": 5}, {"changes": ()}, {"rationale": "x \ud800", "changes": ({"do": "hide", "id": "x"},)},
        {"payload": {"x": {1, 2}}}, {"figures": {1: {2}}},
    ],
    ids=str,
)  # fmt: skip
def test_whatever_a_detector_gives_the_run_goes_on(memory: Memory, wrong: dict[str, Any]) -> None:
    """A part of a wrong type is named, as skipped or as a problem, and what others find is proposed."""
    long_note(memory, "One")
    run(memory)
    import long_ones

    long_ones.ODD.clear()
    long_ones.ODD.update(wrong)
    done = memory.consolidate(kinds=["odd", "too_long"])
    assert [p.kind for p in done] == ["too_long"]
    assert "odd" in done.skipped or [p.code for p in done.problems] == ["bad_finding"]


def test_a_finding_that_cannot_be_a_proposal_is_named(memory: Memory) -> None:
    long_note(memory, "One")
    done = memory.consolidate(kinds=["wrong_change"])
    assert done.proposals == ()
    assert [p.code for p in done.problems] == ["bad_finding", "bad_finding"]


def test_a_built_in_kind_cannot_be_replaced(memory: Memory) -> None:
    """An entry point named as a built-in kind is passed over."""
    assert memory.consolidate(kinds=["merge_aliases"]).skipped == {}


def test_kinds_are_checked_all_at_once(memory: Memory) -> None:
    with pytest.raises(InputError) as caught:
        memory.consolidate(kinds=["merge", "too_long", "split"])
    assert len(caught.value.problems) == 2
    assert "too_long" in caught.value.hint


def test_an_empty_store_and_a_missing_one_give_nothing_and_are_left_alone(tmp_path: Path) -> None:
    """F36: no observations, no proposals; looking makes no store."""
    with Memory(tmp_path / "missing") as memory:
        assert memory.consolidate().proposals == ()
        assert memory.proposals(status="all") == ()
        assert not (tmp_path / "missing").exists()
        memory.init()
        assert memory.consolidate().proposals == ()


def test_two_runs_at_once_propose_once(memory: Memory) -> None:
    """F19: runs of several processes or threads follow one another; the second finds what the first proposed."""
    for number in range(5):
        long_note(memory, f"Note {number}")
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(run(memory))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(done.new) for done in found) == 5
    assert {tuple(p.id for p in done) for done in found} == {tuple(p.id for p in found[0])}


def test_a_set_is_a_readable_file(memory: Memory) -> None:
    """Everything that somebody needs in order to decide stands in it, and nothing of what the ledger says."""
    one = long_note(memory, "One")
    done = run(memory)
    document = json.loads((memory.root / done.path).read_text())
    (item,) = document["proposals"]
    assert list(item) == [
        "id", "kind", "confidence", "rationale", "payload", "changes", "evidence", "affected", "fingerprint", "grounds", "pairs",
        "created_at",
    ]  # fmt: skip
    assert item["affected"] == [{"id": one, "path": memory.get(one).path, "sha256": memory.get(one).sha256}]
    assert item["evidence"]["observations"] == [{"id": one, "text": "One"}]


def test_consolidating_changes_no_observation_and_no_ledger(memory: Memory) -> None:
    long_note(memory, "One")
    memory.close()
    with Memory(memory.root) as reader:
        before = {p: p.read_bytes() for p in memory.root.rglob("*") if p.is_file() and "local" not in p.parts}
        reader.consolidate(kinds=["too_long", "expire_stale"])
        after = {p: p.read_bytes() for p in memory.root.rglob("*") if p.is_file() and "local" not in p.parts}
    assert {p for p in after if after[p] != before.get(p)} == set((memory.root / "output/proposals").iterdir())


def test_a_session_is_not_told_of_a_set_that_others_changed(tmp_path: Path) -> None:
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.add_observation(content="The offer holds.", expires_at="2026-01-01", observed_at="2025-01-01")
        with memory.session(user_id="u1", agent_id="a") as session:
            made = memory.consolidate(kinds=["expire_stale"])
            assert made.path
            memory.reject([one.id for one in made.proposals], reason="It may come back.")
            assert session.consolidate(kinds=["expire_stale"]).path == ""
            session.add_observation(content="Mine holds.", expires_at="2026-01-01", observed_at="2025-01-01")
            assert session.consolidate(kinds=["expire_stale"]).path
