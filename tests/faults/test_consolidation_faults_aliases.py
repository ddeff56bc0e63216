"""Faults of joining names that other systems had."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading_of import reading_of

from grail_mem import Memory
from grail_mem.consolidate.detectors.aliases import merge_aliases


def findings(folder: Path, drafts: list[dict[str, object]]) -> list[str]:
    with Memory(folder) as memory:
        memory.add_observations(drafts)
        with reading_of(memory) as reading:
            return [finding.rationale for finding in merge_aliases(reading)]


def test_f37_identical_names_are_one_entity_without_a_proposal(tmp_path: Path) -> None:
    """`DGX`, `DGX` and `dgx ` in three notes are one entity by name, so there is nothing to suggest."""
    with Memory(tmp_path) as memory:
        memory.add_observations(
            [{"content": str(n), "entities": [name]} for n, name in enumerate(("DGX", "DGX", "dgx "))]
        )
        assert memory.sql("SELECT key, n_observations FROM entities").to_pylist() == [
            {"key": "dgx", "n_observations": 3}
        ]
        with reading_of(memory) as reading:
            assert list(merge_aliases(reading)) == []


@pytest.mark.parametrize(("left", "right"), [("Ann", "Anna"), ("Java", "JavaScript"), ("v1.2", "v1.20")])
def test_f38_a_name_that_holds_another_does_not_swallow_it(tmp_path: Path, left: str, right: str) -> None:
    """Ann is not Anna, with any company and any type."""
    for type_ in ("", "PERSON"):
        drafts: list[dict[str, object]] = [
            {"content": f"{name} {other} {type_}", "entities": [{"name": name, "type": type_}, other]}
            for name in (left, right)
            for other in ("Rig", "Lab", "Dock")
        ]
        assert findings(tmp_path / (type_ or "none"), drafts) == []


def test_f38_names_that_count_up_are_not_one(tmp_path: Path) -> None:
    """Thirty topics of one store, all in one company, make no suggestion, where another system made 176 of 51 entities."""
    drafts: list[dict[str, object]] = [
        {"content": f"Topic{n} and {other}", "entities": [f"Topic{n}", other]}
        for n in range(1, 31)
        for other in ("Rig", "Lab")
    ]
    assert findings(tmp_path, drafts) == []
