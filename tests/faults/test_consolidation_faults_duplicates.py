"""Faults that other systems had when they merged: lost dates, invented memories, mixed owners, growth without end."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading_of import findings

from grail_mem import Memory
from grail_mem.consolidate.detectors.attributes import canonicalise_attribute
from grail_mem.consolidate.detectors.contradictions import resolve_contradiction
from grail_mem.consolidate.detectors.duplicates import merge_duplicates

TEXT = "Acme stores all of its customer records in PostgreSQL 14 since March."
DETECTORS = (merge_duplicates, resolve_contradiction, canonicalise_attribute)


def test_f35_merging_keeps_every_date(tmp_path: Path) -> None:
    """The dates at which the same was seen, the earliest and the latest among them, are all there after merging."""
    days = ["2024-03-01", "2026-06-02", "2021-11-30", "2025-01-15"]
    with Memory(tmp_path) as memory:
        for day in days:
            memory.add_observation(content=TEXT, observed_at=day)
        (finding,) = findings(memory, merge_duplicates)
        kept = memory.get(finding.payload["keep"])
    (note,) = [change for change in finding.changes if change["do"] == "note_merged"]
    noted = {merged["observed_at"][:10] for merged in note["merged"]}
    assert noted | {kept.observed_at.date().isoformat()} == set(days)
    assert {merged["id"] for merged in note["merged"]} == set(finding.payload["merge"])
    assert (finding.figures["first_observed"], finding.figures["last_observed"]) == (min(days), max(days))


@pytest.mark.parametrize("body", ["", "\n", "   \n\t\n", "---\n", "***\n\n", "#\n", "<observation>\n</observation>\n"])
def test_f36_blank_observations_propose_nothing(tmp_path: Path, body: str) -> None:
    """Files with frontmatter and no word in them are equal to each other, and nothing is made of that."""
    with Memory(tmp_path) as memory:
        for number in range(3):
            folder = tmp_path / "memories" / f"c{number}"
            folder.mkdir(parents=True)
            text = f"---\ntitle: A title that all of these files have in common\nattribute: a/b\n---\n{body}"
            (folder / "note.md").write_text(text, encoding="utf-8")
        memory.sync()
        assert len(memory.recall(limit=10).observations) == 3
        assert [finding for detector in DETECTORS for finding in findings(memory, detector)] == []


def test_f45_equal_words_of_two_owners_are_never_merged(tmp_path: Path) -> None:
    """The same bytes in two scopes are two records, however many there are of each."""
    with Memory(tmp_path) as memory:
        owner = {}
        for number, scope in enumerate(("user:ann", "user:bob", None)):
            for folder in ("x", "y"):
                written = memory.add_observation(content=TEXT, scope=scope, category=f"{number}/{folder}")
                owner[written.id] = scope
        made = findings(memory, merge_duplicates)
    assert len(made) == 3
    assert all(len({owner[id_] for id_ in finding.affected}) == 1 for finding in made)


def test_f40_after_merging_nothing_is_left_to_merge(tmp_path: Path) -> None:
    """What was hidden is not found again, and what was kept is not merged with itself."""
    with Memory(tmp_path) as memory:
        for number in range(4):
            memory.add_observation(content=TEXT, category=f"c{number}", tags=[f"t{number}"], attribute="a/b")
        for finding in findings(memory, merge_duplicates):
            for change in finding.changes:
                if change["do"] == "set":
                    memory.update(change["id"], **change["fields"])
                elif change["do"] == "hide":
                    memory.hide(change["id"])
        assert [finding for detector in DETECTORS for finding in findings(memory, detector)] == []
        assert len(memory.recall(limit=10).observations) == 1
