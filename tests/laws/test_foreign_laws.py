"""Whatever a foreign export holds: what comes in was imported or skipped, and comes once."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from laws_strategies import examples
from test_store_laws import new_root

from grail_mem import Memory
from grail_mem.keep.foreign.columns import FIELDS
from grail_mem.keep.foreign.database import quoted


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


names = st.sampled_from(
    [*(name for known in FIELDS.values() for name in known[:3]), 'a "b"', "c; --", "Ünlaut", "x\ny"]
)
cells = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.binary(max_size=4) | st.sampled_from(
    ["Ann likes tea.", "ann", "2026-01-01", "[1, {}]", '["a", "b"]', "a; b", "deleted", "confirmed", "1", "x" * 600, "", "\x00", "1e400"]
)  # fmt: skip


@examples(25)
@given(st.data())
def test_f56_whatever_tables_and_rows_a_database_has_is_imported_or_skipped_and_comes_once(data: st.DataObject) -> None:
    columns = data.draw(st.lists(names, min_size=1, max_size=8, unique_by=str.lower))
    rows = data.draw(st.lists(st.lists(cells, min_size=len(columns), max_size=len(columns)), max_size=6))
    table = data.draw(st.sampled_from(["memories", "facts", 'odd "t"', "settings"]))
    with new_root() as root:
        path = root.parent / "any.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"CREATE TABLE {quoted(table)} ({', '.join(map(quoted, columns))})")
            marks = ", ".join("?" * len(columns))
            connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)
            connection.commit()
        before = path.read_bytes()
        with Memory(root) as memory:
            asked: dict[str, Any] = (
                {"table": table, "columns": {"content": columns[0]}} if data.draw(st.booleans()) else {}
            )
            done = memory.import_file(path, kind="sqlite", **asked)
            assert counted(done)
            assert done.n_records >= (len(rows) if done.mapping else 1)
            again = memory.import_file(path, kind="sqlite", **asked)
            assert (again.n_added, again.n_unchanged) == (0, done.n_added)
            assert memory.check().ok
        assert path.read_bytes() == before
