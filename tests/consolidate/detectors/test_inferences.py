"""When a provisional observation is proposed to be confirmed, and when not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from reading_of import findings

from grail_mem import Memory
from grail_mem.consolidate.detectors.inferences import promote_inference

SAID = "The weekly report for Northwind goes out on Friday at noon."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "store") as opened:
        yield opened


def say(memory: Memory, **fields: Any) -> str:
    return memory.add_observation(**({"title": "Reports", "content": SAID} | fields)).id


def infer(memory: Memory, **fields: Any) -> str:
    return say(memory, status="provisional", source_kind="agent_inference", confidence=0.6, **fields)


def test_two_independent_statements_confirm(memory: Memory) -> None:
    """The status is set, and the confidence of the surest supporter."""
    one = infer(memory)
    say(memory, source="minutes", source_kind="user_statement", confidence=0.9)
    say(memory, source="mail", confidence=0.8)
    (finding,) = findings(memory, promote_inference)
    assert finding.changes == ({"do": "set", "id": one, "fields": {"status": "confirmed", "confidence": 0.9}},)
    assert (finding.confidence, finding.figures["n_support"]) == (0.9, 2)


@pytest.mark.parametrize(
    "others",
    [
        [],
        [{"source": "minutes"}],
        [{"source": "minutes"}, {"source": "minutes", "tags": ["again"]}],
        [{"source": "a", "source_kind": "agent_inference"}, {"source": "b", "source_kind": "session_summary"}],
        [{"source": "a"}, {"source": "b", "content": "The weekly report for Northwind goes out on Monday at noon."}],
        [{"source": "a", "scope": "user:1"}, {"source": "b", "scope": "user:1"}],
    ],
    ids=["alone", "one", "one source twice", "echoes", "another day", "another scope"],
)
def test_less_does_not_confirm(memory: Memory, others: list[dict[str, Any]]) -> None:
    """One supporter, one source twice, echoes, other words and other scopes are no support."""
    infer(memory)
    for fields in others:
        say(memory, **fields)
    assert findings(memory, promote_inference) == []


def test_what_was_merged_before_counts(memory: Memory) -> None:
    """Support is not lost by merging: what the observation keeps of others counts as what it was."""
    one = infer(memory)
    path = memory.root / memory.get(one).path
    merged = "merged_from:\n  - {id: 01JXYZ0000000000000000000A, source: minutes}\n  - {id: 01JXYZ0000000000000000000B, source: mail}\n---\n"
    head, body = path.read_text().split("\n---\n", 1)
    path.write_text(f"{head}\n{merged}{body}")
    memory.sync()
    (finding,) = findings(memory, promote_inference)
    assert finding.payload == {"id": one, "supported_by": [], "merged": 2}


def test_a_confirmed_observation_is_left_alone(memory: Memory) -> None:
    for source in "abc":
        say(memory, source=source)
    assert findings(memory, promote_inference) == []
