"""What crosses folders and is about the same few things gets an overview, once."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted_notes import NOTES, client_notes, write
from random_store import random_notes
from reading_of import reading_of

from grail_mem import Memory
from grail_mem.consolidate.detectors.communities import discover_community
from grail_mem.consolidate.finding import Finding
from grail_mem.model.category import clean_category


def found(memory: Memory) -> list[Finding]:
    with reading_of(memory) as reading:
        return list(discover_community(reading))


MOVE = [
    note for note in NOTES if set(note[2]) & {"Postgres move", "Dana", "pgloader", "Dual reads", "Cut-over weekend"}
]


def test_a_subject_that_three_folders_write_about_is_found_with_just_its_members(memory: Memory) -> None:
    ids = write(memory, list(NOTES))
    (finding,) = found(memory)
    assert set(finding.payload["observations"]) == {ids[note[1]] for note in MOVE}
    assert finding.payload["folders"] == {"ops": 4, "projects/apollo": 4, "projects/borealis": 4}
    assert finding.payload["category"] == clean_category(finding.payload["category"]) == "topics/postgres-move"
    assert finding.payload["entities"][0] == "Postgres move"
    assert finding.confidence >= 0.8


def test_what_is_proposed_is_one_overview_that_can_be_added_as_it_stands(memory: Memory) -> None:
    write(memory, list(NOTES))
    (change,) = found(memory)[0].changes
    assert change["do"] == "add"
    made = memory.get(memory.add_observation(**change["draft"]).id)
    assert made.kind == "summary"
    assert set(made.related_to) == set(found_members(memory))


def found_members(memory: Memory) -> list[str]:
    return memory.sql(
        "SELECT DISTINCT observation_id FROM mentions JOIN observations ON id = observation_id "
        "WHERE kind <> 'summary' AND list_contains($names, name)",
        {"names": ["Postgres move", "Dana", "pgloader", "Dual reads", "Cut-over weekend"]},
    )["observation_id"].to_pylist()


def test_once_it_has_an_overview_it_is_not_found_again_even_when_it_grows(memory: Memory) -> None:
    write(memory, list(NOTES))
    memory.add_observation(**found(memory)[0].changes[0]["draft"])
    assert found(memory) == []
    write(memory, [("ops", f"Dual reads of shard {at} end with the Postgres move", ("Dual reads", "Postgres move", "Dana")) for at in range(9)])  # fmt: skip
    assert found(memory) == []


def test_more_of_the_same_does_not_make_it_another_suggestion(memory: Memory) -> None:
    write(memory, list(NOTES))
    (before,) = found(memory)
    write(
        memory, [("ops", "Postgres move rehearsed again by Dana with pgloader", ("Postgres move", "Dana", "pgloader"))]
    )
    (after,) = found(memory)
    assert after.fingerprint == before.fingerprint
    assert after.grounds == before.grounds


def test_the_grounds_hold_no_words(memory: Memory) -> None:
    write(memory, list(NOTES))
    assert all(isinstance(value, int | float) for value in found(memory)[0].grounds.values())


def test_the_name_of_a_folder_that_is_there_is_not_taken(memory: Memory) -> None:
    write(memory, [*NOTES, ("Topics/Postgres-Move", "Something else", ())])
    assert found(memory)[0].payload["category"] == "topics/postgres-move-dana"


def test_a_subject_with_a_folder_of_its_own_is_left_alone(memory: Memory) -> None:
    write(memory, [note for note in NOTES if note not in MOVE])
    write(memory, [("projects/postgres", *note[1:]) for note in MOVE])
    assert found(memory) == []


def test_folders_below_one_that_is_about_just_that_are_no_discovery(memory: Memory) -> None:
    write(memory, [note for note in NOTES if note not in MOVE])
    write(memory, [(f"projects/postgres/{note[0].rpartition('/')[2]}", *note[1:]) for note in MOVE])
    assert found(memory) == []


def test_what_is_only_mentioned_with_one_thing_is_no_community(memory: Memory) -> None:
    write(memory, [note for note in NOTES if note not in MOVE])
    folders = ("ops", "projects/apollo", "projects/borealis")
    write(
        memory, [(folders[at % 3], f"Acme called about matter {at}", ("Acme", f"Matter {at // 2}")) for at in range(12)]
    )
    assert found(memory) == []


def test_scopes_do_not_meet(memory: Memory) -> None:
    write(memory, list(NOTES))
    for at, note in enumerate(MOVE):
        if at % 2:
            memory.update(found_id(memory, note[1]), scope="team:other")
    assert found(memory) == []


def found_id(memory: Memory, title: str) -> str:
    return str(memory.sql("SELECT id FROM observations WHERE title = $title", {"title": title})["id"][0].as_py())


def test_a_scope_of_its_own_gets_an_overview_in_that_scope(memory: Memory) -> None:
    write(memory, list(NOTES), scope="org:team")
    assert found(memory)[0].changes[0]["draft"]["scope"] == "org:team"


def test_what_was_superseded_or_archived_does_not_count(memory: Memory) -> None:
    ids = write(memory, list(NOTES))
    for note in MOVE:
        memory.update(ids[note[1]], status="archived")
    assert found(memory) == []


def test_the_order_of_writing_does_not_matter(tmp_path: Path) -> None:
    seen = []
    for at, notes in enumerate(([*NOTES, *client_notes()], [*client_notes(), *NOTES][::-1])):
        with Memory(tmp_path / str(at), embedder="none") as memory:
            titles = {identifier: title for title, identifier in write(memory, notes).items()}
            seen.append([
                (f.fingerprint, f.confidence, f.grounds, sorted(titles[i] for i in f.payload["observations"]))
                for f in found(memory)
            ])  # fmt: skip
    assert seen[0] == seen[1] != []


def test_the_same_store_gives_the_same_findings(memory: Memory) -> None:
    write(memory, [*NOTES, *client_notes()])
    assert found(memory) == found(memory)


def test_a_compacted_store_gives_the_same_findings(memory: Memory) -> None:
    write(memory, list(NOTES))
    before = found(memory)
    memory.compact()
    assert found(memory) == before


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_entities_that_are_spread_at_random_give_nothing(memory: Memory, seed: int) -> None:
    write(memory, random_notes(seed))
    assert found(memory) == []


@pytest.mark.parametrize("notes", [[], [("a", "One", ("X",))], [("a", f"Note {at}", ()) for at in range(30)], [("", f"Note {at}", ("X", "Y", "Z")) for at in range(30)]])  # fmt: skip
def test_stores_in_which_nothing_can_be_shown_give_nothing(memory: Memory, notes: list) -> None:
    write(memory, notes if notes and notes[0][0] else [(note[0] or "only", *note[1:]) for note in notes])
    assert found(memory) == []
