"""Faults of other systems in deciding on what consolidation suggests: F39, F40."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from proposal_sets import bytes_of, propose

from grail_mem import Memory, NotFoundError

WRONG: dict[str, Any] = {
    "a missing action": {"id": "ONE"},
    "an unknown action": {"do": "consolidate", "id": "ONE"},
    "an action in another case": {"do": "Hide", "id": "ONE"},
    "a scalar for ids": {"do": "rename_entity", "ids": "ONE", "names": ["a"], "to": "b"},
    "an id that is none": {"do": "hide", "id": 7},
    "an id of nothing that is there": {"do": "hide", "id": "01JXYZ0000000000000000000A"},
    "no mapping": ["hide", "ONE"],
}


@pytest.mark.parametrize("what", WRONG)
def test_F39_a_malformed_proposal_changes_nothing(tmp_path: Path, what: str) -> None:
    """Hindsight PR#2454, mem0 PR#4674: the default is to keep; the proposal is refused, and the reason is told."""
    with Memory(tmp_path) as memory:
        one = memory.add_observation(title="One", content="Said once.", entities=["a"]).id
        id_ = propose(memory, [{"do": "hide", "id": one}])
        path = next((tmp_path / "output/proposals").iterdir())
        document = json.loads(path.read_text())
        document["proposals"][0]["changes"] = [json.loads(json.dumps(WRONG[what]).replace("ONE", one))]
        path.write_text(json.dumps(document))
        before = bytes_of(memory)
        with pytest.raises(NotFoundError):
            memory.apply(id_)
        (problem,) = memory.consolidate(kinds=["expire_stale"], dry_run=True).problems
        assert (problem.code, problem.where) == ("bad_proposal", str(path.relative_to(tmp_path)))
        assert bytes_of(memory) == before
        assert [o.id for o in memory.recall().observations] == [one]


def test_F39_an_observation_that_went_meanwhile_stops_its_proposal(tmp_path: Path) -> None:
    """mem0 i#3931: an id that is gone is no reason to touch the others."""
    with Memory(tmp_path) as memory:
        one, two = (memory.add_observation(title=title, content=f"{title} was said.").id for title in ("One", "Two"))
        id_ = propose(memory, [{"do": "set", "id": one, "fields": {"tags": ["x"]}}, {"do": "hide", "id": two}])
        (tmp_path / memory.get(two).path).unlink()
        before = bytes_of(memory)
        outcome = memory.apply(id_)[0]
        assert (outcome.done, outcome.status) == (False, "stale")
        assert bytes_of(memory) == before


@pytest.mark.slow
def test_F40_ten_passes_without_new_input_come_to_rest(tmp_path: Path) -> None:
    """mms i#543: no pass wraps what the last one made; files and what is kept beside them stop growing."""
    with Memory(tmp_path, embedder="none") as memory:
        for source in ("minutes", "mail", "call"):
            memory.add_observation(
                title="Backups", content="The nightly backup of Atlas goes to the second site at three.", category=source,
                source=source, entities=["Atlas"],
            )  # fmt: skip
        memory.add_observation(
            title="Who", content="Atlas Systems Inc. runs the site.", entities=["Atlas Systems Inc.", "Mara Lind"]
        )
        memory.add_observation(
            title="Visit", content="Atlas Systems showed the site.", entities=["Atlas Systems", "Mara Lind"]
        )
        sizes = []
        for _ in range(10):
            memory.apply(ids) if (ids := [p.id for p in memory.consolidate()]) else None
            sizes.append(
                (sum(map(len, bytes_of(memory).values())), len(list((tmp_path / "output/proposals").iterdir())))
            )
        assert len(set(sizes[2:])) == 1
        assert memory.proposals() == ()
        assert len(memory.proposals(status="applied")) >= 2
