"""What lies in the wrong folder is to be moved; what has a reason to be where it is stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from planted_notes import DINNER, MISPLACED, NOTES, WAITING, write
from random_store import random_notes
from reading_of import reading_of

from grail_mem import Memory
from grail_mem.consolidate.detectors.placement import move_entity, move_observation
from grail_mem.consolidate.finding import Finding

Note = tuple[str, str, tuple[str, ...]]


def found(memory: Memory, detector: Any = move_observation, **more: Any) -> list[Finding]:
    with reading_of(memory, **more) as reading:
        return list(detector(reading))


def moves(memory: Memory, detector: Any = move_observation) -> list[tuple[str, str]]:
    return [
        (memory.get(change["id"]).title, change["category"]) for f in found(memory, detector) for change in f.changes
    ]


def test_what_lies_where_it_belongs_stays(memory: Memory) -> None:
    write(memory, list(NOTES))
    assert moves(memory) == []
    assert moves(memory, move_entity) == []


def test_a_note_in_the_wrong_folder_is_moved_to_where_all_it_mentions_lives(memory: Memory) -> None:
    write(memory, [*NOTES, MISPLACED])
    assert moves(memory) == [(MISPLACED[1], "projects/borealis")]


def test_a_note_in_the_inbox_finds_its_folder(memory: Memory) -> None:
    ids = write(memory, [*NOTES, WAITING])
    (finding,) = found(memory)
    assert finding.changes == ({"do": "move", "id": ids[WAITING[1]], "category": "projects/apollo"},)
    assert finding.affected == (ids[WAITING[1]],)
    assert finding.confidence >= 0.8


def test_nothing_is_moved_into_the_inbox(memory: Memory) -> None:
    write(memory, [("inbox" if note[0] == "projects/borealis" else note[0], *note[1:]) for note in NOTES])
    write(memory, [MISPLACED])
    assert "inbox" not in dict(map(reversed, moves(memory)))


def test_a_note_stays_that_is_worded_like_its_folder(memory: Memory) -> None:
    write(memory, [*NOTES, DINNER])
    assert moves(memory) == []


def test_a_note_stays_with_the_tag_that_its_folder_is_for(memory: Memory) -> None:
    for note in NOTES:
        write(memory, [note], tags=["Leisure"] if note[0] == "home/garden" else ["work"])
    write(memory, [MISPLACED], tags=["#leisure"])
    assert moves(memory) == []


def test_a_note_in_a_folder_of_meetings_stays(memory: Memory) -> None:
    write(memory, list(NOTES))
    met = [("meetings", f"{text}, we heard", names) for folder, text, names in NOTES if folder != "ops"]
    write(memory, met[::2])
    assert moves(memory) == []
    assert moves(memory, move_entity) == []


@pytest.mark.parametrize("folder", ["journal/2026-06", "talks/session-3"])
def test_a_note_in_a_folder_of_dates_stays(memory: Memory, folder: str) -> None:
    write(memory, [*NOTES, (folder, *MISPLACED[1:])])
    assert moves(memory) == []


def test_a_turn_of_a_session_stays(memory: Memory) -> None:
    write(memory, list(NOTES))
    write(memory, [MISPLACED], session="talk", turn=3)
    assert moves(memory) == []


def test_nothing_moves_to_a_folder_above(memory: Memory) -> None:
    up = [("home" if folder == "projects/borealis" else folder, *rest) for folder, *rest in NOTES]
    write(memory, [*up, MISPLACED])
    assert moves(memory) == []


def test_scopes_do_not_meet(memory: Memory) -> None:
    write(memory, list(NOTES))
    write(memory, [*(note for note in NOTES if note[0] == "home/garden"), MISPLACED], scope="team:other")
    assert moves(memory) == []


STRAYED: list[Note] = [
    ("home/garden", "TestFlight slots for Yuki asked", ("TestFlight", "Yuki")),
    ("home/garden", "TestFlight refuses the Flutter build", ("TestFlight", "Flutter")),
]


def test_an_entity_whose_notes_strayed_is_moved_with_them(memory: Memory) -> None:
    ids = write(memory, [*NOTES, *STRAYED])
    (finding,) = found(memory, move_entity)
    assert finding.payload["entity"] == "TestFlight"
    assert (finding.payload["from"], finding.payload["to"]) == ("home/garden", "projects/borealis")
    assert set(finding.payload["ids"]) == {ids[note[1]] for note in STRAYED}
    assert moves(memory) == []


def test_an_entity_stays_where_its_notes_are_also_about_what_lives_there(memory: Memory) -> None:
    write(memory, list(NOTES))
    write(memory, [(folder, text, (*names, "Ruth")) for folder, text, names in STRAYED])
    assert moves(memory, move_entity) == []


def test_an_entity_does_not_take_most_of_a_folder_with_it(memory: Memory) -> None:
    write(memory, list(NOTES))
    write(memory, [("contract", *note[1:]) for note in STRAYED])
    assert moves(memory, move_entity) == []


def test_findings_are_the_same_whatever_the_order(tmp_path: Path) -> None:
    seen = []
    for at, notes in enumerate(([*NOTES, *STRAYED, WAITING], [WAITING, *STRAYED, *NOTES][::-1])):
        with Memory(tmp_path / str(at), embedder="none") as memory:
            write(memory, notes)
            figures = [
                (f.confidence, dict(f.grounds)) for kind in (move_observation, move_entity) for f in found(memory, kind)
            ]
            seen.append((sorted(moves(memory)), sorted(moves(memory, move_entity)), figures))
    assert seen[0] == seen[1]
    assert seen[0][0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_entities_that_are_spread_at_random_give_nothing(memory: Memory, seed: int) -> None:
    write(memory, random_notes(seed))
    assert moves(memory) == []
    assert moves(memory, move_entity) == []
