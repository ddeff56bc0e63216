"""A disputed observation comes with what says otherwise, if the conditions admit it, and both are labelled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from search_stores import never_silent

from grail_mem import Memory
from grail_mem.recall.companions import MOST

QUESTION = "Which ferry winch was overhauled?"


@pytest.fixture(params=["delta", "snapshot"])
def disputed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Memory, str, str]]:
    """Two statements in conflict, of which a question finds one by its words."""
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        fact: dict[str, Any] = {"attribute": "ferry/winch", "observed_at": "2026-01-01"}
        one = memory.add_observation(
            content="The ferry winch was overhauled.", source_kind="agent_inference", tags=["guess"], **fact
        )
        two = memory.add_observation(content="Nothing of it.", source_kind="user_statement", category="log", **fact)
        assert two.decision == "conflict"
        memory.add_observations([{"content": f"Unlike note {n} of gardens."} for n in range(20)])
        if request.param == "snapshot":
            memory.compact()
        yield memory, one.id, two.id


def test_the_other_side_follows_the_disputed_hit(disputed: tuple[Memory, str, str]) -> None:
    """Even at a limit of one, and with the reason and its authority."""
    memory, one, two = disputed
    found = memory.search(QUESTION, limit=1)
    assert [o.id for o in found.observations] == [one, two]
    companion = found.observations[1]
    assert companion.via == ("conflict",)  # type: ignore[attr-defined]  # ranked answers hold hits
    assert companion.reasons == (f"says otherwise than {one}, on more authority",)  # type: ignore[attr-defined]  # as above
    assert [citation.id for citation in found.citations] == [one, two]
    assert f'disputed="{two} says otherwise' in found.text
    assert f'disputed="{one} says otherwise' in found.text


@pytest.mark.parametrize("asked", [{"tags": "guess"}, {"category": "inbox"}, {"source_kind": "agent_inference"}])
def test_the_conditions_hold_on_companions(disputed: tuple[Memory, str, str], asked: dict[str, Any]) -> None:
    """What may not be returned is not, however it came."""
    memory, one, _ = disputed
    assert [o.id for o in memory.search(QUESTION, limit=1, **asked).observations] == [one]


def test_a_hidden_or_settled_other_side_does_not_come(disputed: tuple[Memory, str, str]) -> None:
    """There is no dispute any more, or nobody may see it."""
    memory, one, two = disputed
    memory.hide(two)
    assert [o.id for o in memory.search(QUESTION, limit=1).observations] == [one]
    memory.restore(two)
    memory.revise(two, action="expire", reason="A mistake.")
    found = memory.search(QUESTION, limit=1)
    assert [o.id for o in found.observations] == [one]
    assert "disputed" not in found.text


def test_a_dispute_of_many_does_not_fill_the_answer(tmp_path: Path) -> None:
    """The companions of most authority come, and no more than a few."""
    with Memory(never_silent(tmp_path), embedder="none") as memory:
        fact: dict[str, Any] = {"attribute": "ferry/winch", "observed_at": "2026-01-01"}
        one = memory.add_observation(content="The ferry winch was overhauled.", **fact)
        others = [memory.add_observation(content=f"Rather {n}.", **fact).id for n in range(MOST + 3)]
        last = memory.add_observation(content="Not so.", source_kind="user_statement", **fact)
        found = [o.id for o in memory.search(QUESTION, limit=1).observations]
        assert found[:2] == [one.id, last.id]
        assert len(found) == 1 + MOST
        assert set(found[2:]) <= set(others)
