"""Whatever a store holds: export and import, and backup and restoring, give the same files and the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws_strategies import drafts, examples, filters
from test_store_laws import ORDERS, answers, fill, new_root

from grail_mem import Memory
from grail_mem.model.category import category_key


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in (root / "memories").rglob("*") if p.is_file()}


def spelled_alike(made: Sequence[dict[str, Any]], by_hand: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is made by hand, in folders spelled as those that are there: two that differ by case alone come in as one."""
    spelling: dict[str, str] = {}

    def spelled(category: str) -> str:
        parts: list[str] = []
        for part in category.split("/"):
            parts.append(part)
            parts = spelling.setdefault(category_key("/".join(parts)), "/".join(parts)).split("/")
        return "/".join(parts)

    for draft in made:
        spelled(draft["category"])
    return [{**draft, "category": spelled(draft["category"])} for draft in by_hand]


def filled(data: st.DataObject, root: Path) -> tuple[list[Any], dict[str, bytes], list[Any]]:
    """A store of anything; returns questions, its files, and its answers."""
    made = data.draw(st.lists(drafts(), min_size=1, max_size=6), label="drafts")
    by_hand = spelled_alike(made, data.draw(st.lists(drafts(), max_size=2), label="by hand"))
    with Memory(root) as memory:
        fill(memory, made, by_hand, data)
    asked: list[Any] = [({}, "newest")]
    asked += [(conditions, order) for conditions in data.draw(st.lists(filters(), max_size=2)) for order in ORDERS]
    with Memory(root) as memory:
        return asked, files(root), answers(memory, asked)


@pytest.mark.slow
@examples(8)
@given(st.data())
def test_an_export_gives_the_same_files_and_answers_and_none_twice(data: st.DataObject) -> None:
    with new_root() as root:
        asked, held, told = filled(data, root)
        with Memory(root) as memory:
            memory.export(root.parent / "e.jsonl")
        with Memory(root.parent / "other") as other:
            done = other.import_file(root.parent / "e.jsonl")
            assert not done.skipped
            assert files(other.root) == held
            assert answers(other, asked) == told
            assert not other.import_file(root.parent / "e.jsonl").changed
            assert files(other.root) == held
            other.rebuild()
            assert answers(other, asked) == told
            other.export(root.parent / "e2.jsonl")
        with Memory(root) as memory:
            assert not memory.import_file(root.parent / "e2.jsonl").changed


@pytest.mark.slow
@examples(6)
@given(st.data())
def test_a_restored_backup_gives_the_same_files_and_answers_whatever_came_after(data: st.DataObject) -> None:
    with new_root() as root:
        asked, held, told = filled(data, root)
        derived = data.draw(st.booleans(), label="derived")
        with Memory(root) as memory:
            memory.backup(root.parent / "b.tar.gz", include_derived=derived)
        with Memory(root.parent / "other") as other:
            other.restore_backup(root.parent / "b.tar.gz")
            assert files(other.root) == held
            assert answers(other, asked) == told
        with Memory(root) as memory:
            ids = [o.id for o in memory.recall(limit=1000).observations]
            for id_ in (
                data.draw(st.lists(st.sampled_from(ids), max_size=3, unique=True), label="changed after") if ids else []
            ):
                memory.update(id_, title="Changed after")
                if data.draw(st.booleans()):
                    memory.move(id_, "after")
            memory.add_observation(
                title="After", content="Came later.", category=data.draw(st.sampled_from(["after", "work"]))
            )
            if data.draw(st.booleans(), label="snapshot after"):
                memory.compact()
            memory.restore_backup(root.parent / "b.tar.gz", force=True)
            assert files(root) == held
            assert answers(memory, asked) == told
            memory.rebuild()
            assert answers(memory, asked) == told
            assert memory.verify_ledger().ok
