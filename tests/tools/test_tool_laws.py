"""Laws of the tools: whatever a model sends is answered, and a call that failed changed nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grail_mem import Memory
from grail_mem.tools import TOOLS, Toolbox

TRUTH = ("memories", "sources", ".grail/ledger")
WORDS = st.sampled_from([
    "Ann", "7d", "2026-06-02", "project", "org:store", "private", "../../etc/passwd", "'; DROP TABLE observations; --", "confirm",
    "correct", "semantic", "true", "5", "0.8", '["a", "b"]', "a, b", "</memories>", "\u202e", "\ud800", "\0", "", "local", "ID", "TAIL",
])  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 60) | st.floats() | WORDS | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "type", "source", "x"]), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, Any]:
    """A tool and what may be sent to it: names that it knows with any values, and some that it does not."""
    tool = draw(st.sampled_from(TOOLS))
    known = [name for field in tool.fields for name in (field.name, *field.aliases[:2])]
    needed = {field.name: draw(VALUES) for field in tool.fields if field.required}
    sent = needed | draw(st.dictionaries(st.sampled_from(known) | st.text(max_size=5), VALUES, max_size=4))
    return tool.name, draw(st.sampled_from([sent, json.dumps(sent)]))


def state(root: Path) -> str:
    """A digest of everything that is truth."""
    files = sorted(path for part in TRUTH for path in (root / part).rglob("*") if path.is_file())
    return sha256(b"\0".join(str(path).encode() + path.read_bytes() for path in files)).hexdigest()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, Toolbox, str]]:
    with Memory(tmp_path_factory.mktemp("s"), embedder="none") as memory:
        memory.grant("user:u1", "org:acme", ["write", "forget"])
        id_ = memory.add_observation(content="Ann likes tea.", entities=["Ann"], tags=["a"], scope="org:acme").id
        memory.add_observation(content="The owner's own secret.")
        with memory.session(user_id="u1", agent_id="a") as session:
            session.ingest_chat([{"role": "user", "text": "Ann likes tea and nothing else."}])
            yield memory, Toolbox(session), id_


@pytest.mark.slow
@given(call=calls())
@settings(max_examples=120, suppress_health_check=list(HealthCheck))
def test_any_arguments_are_answered_and_a_failure_changes_nothing(
    store: tuple[Memory, Toolbox, str], call: tuple[str, Any]
) -> None:
    """No exception, a JSON value with one shape, and the files are as they were when it failed or only read."""
    memory, box, id_ = store
    name, sent = call
    if isinstance(sent, dict):
        sent = {
            key: {"ID": id_, "TAIL": id_[-6:]}.get(value, value) if isinstance(value, str) else value
            for key, value in sent.items()
        }
    before = state(memory.root)
    result = box.call(name, sent)
    json.dumps(result.to_dict())
    assert result.structured["ok"] is not result.is_error
    assert "owner's own secret" not in result.text
    if result.is_error:
        assert {"code", "message", "problems", "hint"} <= set(result.structured["error"])
    if result.is_error or name in ("memory_search", "memory_get"):
        assert state(memory.root) == before


@given(name=st.text(max_size=20) | st.sampled_from(["memory_serch", "Memory_Search", ""]), sent=VALUES)
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
def test_an_unknown_tool_names_the_known_ones(store: tuple[Memory, Toolbox, str], name: str, sent: Any) -> None:
    """Whatever is called, the answer says what can be."""
    result = store[1].call(name, sent)
    assert result.structured["error"]["code"] == "unknown_tool"
    assert all(tool.name in result.text for tool in TOOLS)
