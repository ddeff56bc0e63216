"""A folder of clear groups is split; any other stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from planted_notes import NORTH, NOTES, SOUTH, client_notes, write
from random_store import random_notes
from reading_of import reading_of

from grail_mem import Memory
from grail_mem.consolidate.detectors.folders import split_folder
from grail_mem.consolidate.finding import Finding


def found(memory: Memory, **more: Any) -> list[Finding]:
    with reading_of(memory, **more) as reading:
        return list(split_folder(reading))


def test_two_clients_in_one_folder_get_a_folder_each_and_the_rest_stays(memory: Memory) -> None:
    ids = write(memory, [*NOTES, *client_notes()])
    (finding,) = found(memory)
    assert finding.payload["category"] == "clients"
    assert finding.payload["stays"] == 2
    groups = [set(part["ids"]) for part in finding.payload["groups"]]
    of = {names: {ids[text] for _, text, said in client_notes() if set(said) & set(names)} for names in (NORTH, SOUTH)}
    assert groups in ([of[NORTH], of[SOUTH]], [of[SOUTH], of[NORTH]])
    assert all(part["category"].startswith("clients/") for part in finding.payload["groups"])
    assert finding.confidence >= 0.8


def test_after_the_moves_nothing_more_is_proposed(memory: Memory) -> None:
    write(memory, [*NOTES, *client_notes()])
    for change in found(memory)[0].changes:
        assert change["do"] == "move"
        memory.move(change["id"], change["category"])
    assert found(memory) == []


def test_a_few_more_notes_do_not_make_it_another_suggestion(memory: Memory) -> None:
    write(memory, client_notes())
    (before,) = found(memory)
    write(
        memory, [("clients", "Kaja signed the crane permit for the fish hall", ("Kaja", "Crane permit", "Fish hall"))]
    )
    (after,) = found(memory)
    assert after.payload["category"] == before.payload["category"]
    assert after.grounds == before.grounds


def test_the_turns_of_a_session_stay_together(memory: Memory) -> None:
    notes = client_notes()[:24]
    drafts = [
        {"title": text, "content": text, "category": "talks", "entities": [{"name": name} for name in names],
         "session": f"s{at % 4}", "turn": at}
        for at, (_, text, names) in enumerate(notes)
    ]  # fmt: skip
    memory.add_observations(drafts)
    assert found(memory) == []  # four sessions, each about both clients


def test_a_folder_of_one_subject_and_an_aside_is_not_split(memory: Memory) -> None:
    write(memory, client_notes()[:12])
    write(memory, [("clients", f"{text} again", names) for _, text, names in client_notes()[:12]])
    write(memory, [("clients", f"{text} aside", names) for _, text, names in client_notes()[12:17]])
    assert found(memory) == []


@pytest.mark.parametrize("folder", ["inbox", "journal/2026-06", "talks/session-3"])
def test_the_inbox_and_folders_of_dates_are_not_split(memory: Memory, folder: str) -> None:
    write(memory, [(folder, *note[1:]) for note in client_notes()])
    assert found(memory) == []


def test_the_inbox_is_what_the_settings_call_it(memory: Memory) -> None:
    write(memory, client_notes())
    assert len(found(memory)) == 1
    assert found(memory, inbox="clients") == []


def test_short_folders_are_left_alone(memory: Memory) -> None:
    write(memory, [*client_notes()[:7], *client_notes()[12:19]])
    assert found(memory) == []


def test_new_names_are_free(memory: Memory) -> None:
    write(memory, client_notes())
    first = [part["category"] for part in found(memory)[0].payload["groups"]]
    write(memory, [(category.upper(), "Already here", ()) for category in first])
    assert not {part["category"].casefold() for part in found(memory)[0].payload["groups"]} & {
        c.casefold() for c in first
    }


def test_the_order_of_writing_does_not_matter(tmp_path: Path) -> None:
    seen = []
    for at, notes in enumerate((client_notes(), client_notes()[::-1])):
        with Memory(tmp_path / str(at), embedder="none") as memory:
            titles = {identifier: title for title, identifier in write(memory, notes).items()}
            seen.append([
                (f.fingerprint, f.confidence, sorted(sorted(titles[i] for i in part["ids"]) for part in f.payload["groups"]))
                for f in found(memory)
            ])  # fmt: skip
    assert seen[0] == seen[1] != []


@pytest.mark.parametrize("seed", range(6))
def test_entities_that_are_spread_at_random_give_nothing(memory: Memory, seed: int) -> None:
    write(memory, random_notes(seed))
    assert found(memory) == []
