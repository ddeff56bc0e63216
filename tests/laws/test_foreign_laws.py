"""Whatever a foreign export holds: what comes in was imported or skipped, and comes once."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from laws_strategies import examples
from test_store_laws import new_root

from grail_mem import Memory


def counted(done: Any) -> bool:
    return bool(done.n_records == done.n_added + done.n_unchanged + done.n_beside + len(done.skipped))


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=6) | st.sampled_from(["user", "2026-01-01", "ADD", "entity", "relation"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from([
            "mapping", "message", "parent", "author", "role", "content", "parts", "chat_messages", "text", "sender", "uuid", "id", "memory",
            "memory_id", "event", "new_memory", "created_at", "create_time", "type", "name", "observations", "from", "to", "relationType",
            "source", "relationship", "target", "title", "docs", "prompt_template", "conversations_memory", "project_memories", "user_id",
            "metadata", "categories", "current_node", "entityType",
        ]), inner, max_size=5,
    ), max_leaves=12,
)  # fmt: skip


@examples(25)
@given(st.data())
def test_f56_whatever_lines_or_lists_of_json_hold_in_is_imported_and_skipped(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["chatgpt", "claude", "mcp", "mem0"]))
    held = [json.dumps(value) for value in data.draw(st.lists(values, max_size=6))]
    broken = data.draw(st.lists(st.sampled_from(["", "{", "[1", '"', "\x00", "nul", "}{"]), max_size=2))
    as_lines = data.draw(st.booleans())
    text = "\n".join(held + broken) if as_lines else "[" + ",".join(held) + "]" + "".join(broken)
    with new_root() as root:
        path = root.parent / "file.json"
        path.write_text(text)
        with Memory(root) as memory:
            done = memory.import_file(path, kind=kind)
            assert counted(done)
            assert done.n_records >= len(held) or kind in ("chatgpt", "claude") or as_lines
            again = memory.import_file(path, kind=kind)
            assert counted(again)
            assert (again.n_added, again.n_unchanged) == (0, done.n_added)
            assert memory.check().ok
