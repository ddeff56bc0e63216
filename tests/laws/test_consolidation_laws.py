"""Laws of consolidation over whole stores, all detectors at once: it comes to rest, it repeats itself, and it can be taken back."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from proposal_sets import bytes_of
from reading_of import kept

from grail_mem import Memory

PEOPLE = ("Mara Lind", "Jonas Beck", "Ines Duarte", "Tom Okafor")


def note(title: str, content: str, category: str, *entities: str, **fields: Any) -> dict[str, Any]:
    return {
        "title": title,
        "content": content,
        "category": category,
        "entities": list(entities),
        "observed_at": "2026-03-01",
    } | fields


def untidy() -> list[dict[str, Any]]:
    """Notes in which every kind of proposal that single observations and names give has something to find, and near misses."""
    notes = [
        note("Kick-off", "Northwind Traders Inc. signed for a year.", "clients", "Northwind Traders Inc.", "Mara Lind"),
        note("Reports", "Northwind Traders wants a report each Friday.", "clients", "Northwind Traders", "Mara Lind"),
        note("Renewal", "Northwind Traders asked about the renewal of its contract.", "clients", "Northwind Traders", "Mara Lind"),
        note("Ann", "Ann and Anna both came to the review.", "people", "Ann", "Anna"),
        note("Topics", "Topic 1 and Topic 10 stay separate in the plan.", "people", "Topic 1", "Topic 10"),
        note("Offer", "The offer to Northwind holds until May.", "clients", "Northwind Traders", expires_at="2026-05-01"),
        note("Database", "The primary database of Atlas is Postgres.", "atlas", "Atlas", attribute="atlas/primary-database"),
        note("Database", "The primary database of Atlas is DynamoDB.", "atlas", "Atlas", attribute="atlas/primary-database",
             observed_at="2026-04-01"),
        note("Region", "Atlas runs in the region of Frankfurt.", "atlas", "Atlas", attribute="atlas/region"),
        note("Zone", "Atlas runs in three zones.", "atlas", "Atlas", attribute="Atlas/Region"),
    ]  # fmt: skip
    for source in ("minutes", "mail", "call"):
        notes.append(
            note(
                "Backups",
                "The nightly backup of Atlas goes to the second site at three.",
                f"atlas/{source}",
                "Atlas",
                source=source,
            )
        )
    for number in range(24):
        who = PEOPLE[number % 4]
        notes.append(
            note(
                f"Meeting {number}", f"{who} told of step {number} of the move.", "meetings", who, f"Step {number % 5}"
            )
        )
    return notes


def filled(root: Path, notes: list[dict[str, Any]]) -> Memory:
    memory = kept(root, embedder="none")
    memory.add_observations(notes)
    return memory


def said(memory: Memory) -> list[tuple[Any, ...]]:
    """What waits, without what differs between two stores of the same notes: ids, times and paths."""
    return sorted((p.kind, p.confidence, p.rationale) for p in memory.proposals())


@pytest.mark.slow
def test_what_was_applied_is_not_found_again_and_all_comes_to_rest(tmp_path: Path) -> None:
    """Ten rounds of consolidate and apply: no finding of the first round is found again, and soon there is nothing to find."""
    with filled(tmp_path, untidy()) as memory:
        first = memory.consolidate()
        kinds = {p.kind for p in first}
        assert {
            "merge_aliases",
            "merge_duplicates",
            "resolve_contradiction",
            "expire_stale",
            "canonicalise_attribute",
        } <= kinds
        seen, sizes = {p.fingerprint for p in first}, []
        memory.apply([p.id for p in first])
        for _ in range(10):
            found = memory.consolidate()
            applied = {p.fingerprint for p in memory.proposals(status="applied")}
            assert not applied & {p.fingerprint for p in found}
            sizes.append(len(found.new))
            seen |= {p.fingerprint for p in found}
            if found.proposals:
                memory.apply([p.id for p in found])
        assert sizes[3:] == [0] * 7
        files = bytes_of(memory)
        memory.consolidate()
        assert bytes_of(memory) == files
        assert memory.check().ok


def test_all_applied_and_all_undone_is_no_change(tmp_path: Path) -> None:
    """Whatever the detectors suggest, all of it can be taken back to the byte."""
    with filled(tmp_path, untidy()) as memory:
        before = bytes_of(memory)
        done = memory.apply([p.id for p in memory.consolidate()])
        assert sum(outcome.done for outcome in done) >= 5
        assert bytes_of(memory) != before
        assert all(outcome.done for outcome in memory.undo([outcome.id for outcome in done if outcome.done]))
        assert bytes_of(memory) == before


def test_all_rejected_leaves_every_byte_and_finds_nothing_again(tmp_path: Path) -> None:
    with filled(tmp_path, untidy()) as memory:
        before = bytes_of(memory)
        found = memory.consolidate()
        memory.reject([p.id for p in found])
        assert memory.consolidate().proposals == ()
        assert bytes_of(memory) == before


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_writing_makes_no_difference(tmp_path: Path, seed: int) -> None:
    """The same notes written in another order, in snapshot or delta, give the same proposals."""
    notes = untidy()
    with filled(tmp_path / "one", notes) as one:
        one.consolidate()
        expected = said(one)
    shuffled = random.Random(seed).sample(notes, len(notes))
    with filled(tmp_path / "two", shuffled[: len(notes) // 2]) as two:
        two.compact()
        two.add_observations(shuffled[len(notes) // 2 :])
        two.consolidate()
        assert [item[0] for item in said(two)] == [item[0] for item in expected]
        assert {item[:2] for item in said(two)} == {item[:2] for item in expected}


@pytest.mark.slow
def test_a_second_run_and_a_rebuild_find_the_same(tmp_path: Path) -> None:
    """Same store, same proposals, same ids, after a compaction and a rebuild too."""
    with filled(tmp_path, untidy()) as memory:
        first = memory.consolidate().proposals
        for again in (memory.compact, memory.rebuild):
            again()
            found = memory.consolidate()
            assert (found.new, found.proposals) == ((), first)


def test_near_misses_are_left_alone(tmp_path: Path) -> None:
    """F38: Ann and Anna, Topic 1 and Topic 10 are never suggested as one."""
    with filled(tmp_path, untidy()) as memory:
        names = {
            name
            for p in memory.consolidate(kinds=["merge_aliases"])
            for name in (p.payload["name"], *p.payload["aliases"])
        }
        assert names == {"Northwind Traders", "Northwind Traders Inc."}


def test_a_rejected_merge_of_names_comes_back_when_somebody_declares_it(tmp_path: Path) -> None:
    """A rejection stands, with more mentions too, until somebody writes down that one is the other; then it says so."""
    with filled(tmp_path, untidy()) as memory:
        (one,) = memory.consolidate(kinds=["merge_aliases"])
        memory.reject(one.id)
        memory.add_observation(
            title="More", content="Northwind Traders wrote.", entities=["Northwind Traders", "Mara Lind"]
        )
        assert memory.consolidate(kinds=["merge_aliases"]).proposals == ()
        memory.add_observation(
            title="Who is who",
            content="One firm.",
            entities=[{"name": "Northwind Traders Inc.", "aliases": ["Northwind Traders"]}],
        )
        (back,) = memory.consolidate(kinds=["merge_aliases"])
        assert (back.fingerprint, back.again[0][:8]) == (one.fingerprint, "signals:")
        assert back.id != one.id


def test_a_rejected_merge_of_observations_comes_back_when_one_says_something_else(tmp_path: Path) -> None:
    """As long as both say what they said, they are kept apart; an edit that keeps them equal asks again."""
    with filled(tmp_path, untidy()) as memory:
        (one,) = memory.consolidate(kinds=["merge_duplicates"])
        memory.reject(one.id)
        for id_ in (one.payload["keep"], *one.payload["merge"]):
            memory.update(id_, tags=["seen"])
        assert memory.consolidate(kinds=["merge_duplicates"]).proposals == ()
        for id_ in (one.payload["keep"], *one.payload["merge"]):
            memory.update(id_, append="It is kept there for one month.")
        (back,) = memory.consolidate(kinds=["merge_duplicates"])
        assert back.fingerprint == one.fingerprint
        assert len(back.again) == 3
