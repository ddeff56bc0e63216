"""The notes of `examples/untidy_notes.jsonl`: what is untidy in them is found, and what only looks so is left alone.

The list holds everything that is proposed: a finding more or less, or another name in one, is a change of behaviour that
somebody has to look at.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from reading_of import kept

from grail_mem import Memory
from grail_mem.consolidate.finding import KINDS
from grail_mem.consolidate.proposal import Proposal

NOTES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "examples" / "untidy_notes.jsonl").read_text(encoding="utf-8").splitlines()
]

NAMES = {
    ("Johanna Lind", "J. Lind"),
    ("County Heritage Fund", "CHF"),
    ("Northgate Museum", "Northgate Museum Ltd", "The Northgate Museum"),
}
DUPLICATES = {
    ("Samples are kept for two years", 2, 0),
    ("Glue is ordered on Thursdays", 2, 1),
    ("Brightwater pays by the quarter", 3, 0),
}
"""Title, how many observations say it, and how many of them are echoes."""
MOVES = {
    ("Felt and glass", "projects/trail", "clients"),
    ("Sofia needs a battery pack", "home/garden", "projects/lanterns"),
    ("Letters on the oak posts", "inbox", "projects/trail"),
}
EXPIRED = {("Offer of the paint supplier", "expires_at"), ("Screws at the old price", "valid_until")}
MOVE_TO_MILL_LANE = {
    "Power line at Mill Lane is thin", "Order of the move", "Second power line approved",
    "Ferris Removals measured the doors", "Signs wait for the move", "Dry store at Mill Lane", "Signs insured on the road",
    "Lamps tested before the move", "Chargers on the new power line", "Keys handover on a Friday",
}  # fmt: skip
NORTHGATE = {"Petra Nowak", "Viking comb", "Climate case", "Loan agreement"}
BRIGHTWATER = {"Grace Osei", "Rubber tiles", "Climbing frames", "Safety inspection", "Brightwater Schools"}

TWO_NAMES = {
    "Ann", "Anna", "Petra Nowak", "Marek Nowak", "Panel 1", "Panel 10", "Firmware 1.2", "Firmware 1.20", "Alder Timber Ltd",
    "Alder Timber GmbH", "Light controller", "Lanterns", "Lantern Walk",
}  # fmt: skip
"""Names that look like others, of things that are not those."""
LEFT_ALONE = {
    "Monday round", "Order 14 has arrived", "Order 15 has arrived", "Johanna speaks Swedish", "Johanna speaks Finnish",
    "Panel 1 explains the ice age", "Panel 10 explains the mines", "Firmware 1.2 flickers", "Firmware 1.20 is quiet",
    "Ann sews the lanterns", "Anna paints the lanterns", "Lease of Mill Lane", "Grilled with colleagues",
    "Oak comes from Alder Timber Ltd", "Larch comes from Alder Timber GmbH",
}  # fmt: skip
"""Titles of notes that nothing may change: alike and not the same, several at once, valid until 2050, or rightly placed."""


class Found:
    """All proposals of one run, and the notes by id."""

    def __init__(self, memory: Memory) -> None:
        self.titles = {memory.add_observation(**note).id: note["title"] for note in NOTES}
        memory.consolidate()
        self.proposals = memory.proposals()

    def of(self, kind: str) -> list[Proposal]:
        return [proposal for proposal in self.proposals if proposal.kind == kind]

    def one(self, kind: str) -> Proposal:
        (only,) = self.of(kind)
        return only


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    """Written one by one, as notes are, so that what was recorded first is what stands first."""
    with kept(tmp_path_factory.mktemp("untidy"), embedder="none") as memory:
        yield Found(memory)


@pytest.mark.slow
def test_names_of_one_thing_are_found(found: Found) -> None:
    assert {(p.payload["name"], *p.payload["aliases"]) for p in found.of("merge_aliases")} == NAMES


def test_notes_that_say_the_same_are_found_and_an_echo_is_told(found: Found) -> None:
    merges = [(p.payload["keep"], p.payload["merge"], p.payload["echoes"]) for p in found.of("merge_duplicates")]
    assert {(found.titles[keep], 1 + len(merge), len(echoes)) for keep, merge, echoes in merges} == DUPLICATES
    assert all({found.titles[id_] for id_ in merge} == {found.titles[keep]} for keep, merge, _ in merges)


def test_the_newer_of_two_values_holds(found: Found) -> None:
    told = [
        (said["about"], said["values"][said["keep"]], [said["values"][id_] for id_ in said["supersede"]])
        for said in (p.payload for p in found.of("resolve_contradiction"))
    ]
    assert sorted(told) == sorted(
        [("fastener-shop/smallest-order", "60", ["40"]), ("mill-lane/rent", "1520", ["1450"])]
    )


def test_the_subject_that_lies_across_folders_is_found(found: Found) -> None:
    move = found.one("discover_community").payload
    assert Counter(found.titles[id_] for id_ in move["observations"]) == Counter(MOVE_TO_MILL_LANE)
    assert set(move["folders"]) == {"workshop", "projects/trail", "projects/lanterns"}


def test_the_folder_of_two_clients_is_split(found: Found) -> None:
    split = found.one("split_folder").payload
    central = [set(group["entities"]) for group in split["groups"]]
    assert split["category"] == "clients"
    assert sorted((len(names & NORTHGATE) > 1, len(names & BRIGHTWATER) > 1) for names in central) == [
        (False, True),
        (True, False),
    ]
    assert not any(names & NORTHGATE and names & BRIGHTWATER for names in central)


def test_what_lies_in_the_wrong_folder_is_moved(found: Found) -> None:
    moves = [p.payload for p in found.of("move_observation")]
    assert {(found.titles[move["id"]], move["from"], move["to"]) for move in moves} == MOVES


def test_what_is_past_its_time_is_archived(found: Found) -> None:
    assert {(found.titles[p.payload["id"]], p.payload["reason"]) for p in found.of("expire_stale")} == EXPIRED


def test_an_inference_that_two_confirm_is_confirmed(found: Found) -> None:
    inferred = found.one("promote_inference").payload
    supported = [found.titles[id_] for id_ in (inferred["id"], *inferred["supported_by"])]
    assert supported == ["Brightwater pays by the quarter"] * 3


def test_an_attribute_gets_one_spelling(found: Found) -> None:
    payload = found.one("canonicalise_attribute").payload
    assert (payload["attribute"], payload["spellings"]) == ("workshop/opening-hours", ["Workshop/Opening hours"])


def test_nothing_else_is_proposed(found: Found) -> None:
    """Every kind there is either has its findings above, or has none here."""
    single = {
        "discover_community",
        "split_folder",
        "promote_inference",
        "canonicalise_attribute",
    }
    wanted = Counter(single) + Counter(
        {
            "merge_aliases": 3,
            "merge_duplicates": 3,
            "resolve_contradiction": 2,
            "move_observation": 3,
            "expire_stale": 2,
        }
    )
    assert set(wanted) | {"move_entity"} == set(KINDS)
    assert Counter(proposal.kind for proposal in found.proposals) == wanted


def test_names_that_are_only_alike_stay_two(found: Found) -> None:
    assert {entity["name"] for note in NOTES for entity in note.get("entities", ())} > TWO_NAMES
    merged = {name for p in found.of("merge_aliases") for name in (p.payload["name"], *p.payload["aliases"])}
    assert merged.isdisjoint(TWO_NAMES)


def test_notes_that_are_only_alike_are_left_alone(found: Found) -> None:
    """No proposal changes one of them."""
    assert set(found.titles.values()) > LEFT_ALONE
    changed = {found.titles[id_] for proposal in found.proposals for id_ in proposal.changed_ids}
    assert changed.isdisjoint(LEFT_ALONE)
