"""The exact filter gives what a slow oracle gives, for any store and any filter, wherever the rows lie."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws_oracle import Row, admitted_entities, admitted_relationships, answer, folded_name, time_of_id
from laws_strategies import drafts, examples, filters

from grail_mem import Memory
from grail_mem.query import index_file

ORDERS = ("newest", "oldest", "recorded", "confidence")
WIDE = {"tags": [f"t{n}" for n in range(70)]}
"""More terms than one word of bits holds."""


@pytest.fixture(autouse=True, scope="module")
def _few_rows_make_a_term_hot() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_file, "HOT_SHARE", 4)
        patch.setattr(index_file, "HOT_LEAST", 3)
        yield


def row_of(draft: dict[str, Any], id_: str, path: str) -> Row:
    """The oracle's row for a draft that was stored."""
    recorded = time_of_id(id_)
    given = [e if isinstance(e, dict) else {"name": e} for e in draft.get("entities", ())]
    first = {(folded_name(e["name"]), folded_name(e.get("type", ""))): e for e in reversed(given)}
    named = [(e["name"], e.get("type", ""), [e["name"], *e.get("aliases", ())]) for e in reversed(first.values())]
    stated = [tuple(" ".join(r[k].split()) for k in ("source", "target", "relationship_type"))
              for r in draft.get("relationships", ())]  # fmt: skip
    known = {folded_name(name) for name, *_ in named}
    for source, target, _ in stated:
        for end in (source, target):
            if folded_name(end) not in known:
                known.add(folded_name(end))
                named.append((end, "", [end]))
    return {
        "id": id_, "category": path.removeprefix("memories/").rpartition("/")[0], "recorded_at": recorded,
        "title": draft["title"], "content": draft["content"], "tags": draft.get("tags", []), "entities": named,
        "relationships": stated, "observed_at": draft.get("observed_at", recorded),
        "confidence": float(draft.get("confidence", 1.0)), "kind": draft.get("kind", "semantic"),
        "status": draft.get("status", "confirmed"), "source_kind": draft.get("source_kind"), "session": draft.get("session"),
        "speaker": draft["speaker"].strip() if "speaker" in draft else None,
        "valid_from": draft.get("valid_from"), "valid_until": draft.get("valid_until"),
        "expires_at": draft.get("expires_at"),
    }  # fmt: skip


def add_all(memory: Memory, made: list[dict[str, Any]], rows: dict[str, Row]) -> None:
    """Store drafts in one batch; what was there already stays as it is."""
    for draft, written in zip(made, memory.add_observations(made), strict=True):
        if written.created:
            rows[written.id] = row_of(draft, written.id, written.path)


def holds(memory: Memory, rows: dict[str, Row], asked: dict[str, Any], page: int) -> None:
    """Every order gives the oracle's answer, whole and in pages, and nothing beside it that the filter forbids."""
    for order in ORDERS:
        expected = answer(rows.values(), asked, order)
        whole = memory.recall(**asked, order=order, limit=1000)
        assert [o.id for o in whole.observations] == [row["id"] for row in expected], (order, asked)
        assert (whole.abstention is None) == bool(expected)
        assert {folded_name(e.name) for e in whole.entities} == admitted_entities(expected, asked)
        shown = {(r.source, r.target, r.relationship_type) for r in whole.relationships}
        assert shown == admitted_relationships(expected, asked)
    got: list[str] = []
    cursor = None
    order = ORDERS[page % 4]
    expected = answer(rows.values(), asked, order)
    for _ in range(len(expected) // page + 2):
        part = memory.recall(**asked, order=order, limit=page, cursor=cursor)
        assert len(part.observations) <= page
        got += [o.id for o in part.observations]
        cursor = part.cursor
        if cursor is None:
            break
    assert cursor is None
    assert got == [row["id"] for row in expected], (order, page, asked)


def same_fields(memory: Memory, rows: dict[str, Row]) -> None:
    """What is returned is what was stored."""
    for o in memory.recall(limit=1000).observations:
        row = rows[o.id]
        assert (o.title, o.content) == (row["title"].strip(), row["content"])
        for name in ("confidence", "kind", "status", "source_kind", "session", "speaker"):
            assert getattr(o, name) == row[name], name
        for name in ("observed_at", "recorded_at", "valid_from", "valid_until", "expires_at"):
            assert getattr(o, name) == row[name], name


def check_all_states(
    made: list[dict[str, Any]], later: list[dict[str, Any]], data: st.DataObject, root: Path, n_filters: int
) -> None:
    """One store, the same filters: rows in the delta, in the snapshot, and in both with some changed and hidden."""
    rows: dict[str, Row] = {}
    with Memory(root) as memory:
        add_all(memory, made, rows)
        pool = list(rows.values())
        wanted = [(data.draw(filters(pool)), data.draw(st.integers(1, 7))) for _ in range(n_filters)]
        same_fields(memory, rows)
        for asked, page in wanted:
            holds(memory, rows, asked, page)
        memory.compact()
        same_fields(memory, rows)
        for asked, page in wanted:
            holds(memory, rows, asked, page)
        change_some(memory, later, rows, data)
        same_fields(memory, rows)
        for asked, page in [*wanted, ({}, 2)]:
            holds(memory, rows, asked, page)


def change_some(memory: Memory, later: list[dict[str, Any]], rows: dict[str, Row], data: st.DataObject) -> None:
    """Add rows to those of the snapshot, update and hide some."""
    ids = st.lists(st.sampled_from(sorted(rows)), max_size=4, unique=True)
    changed, hidden = data.draw(ids, label="changed"), data.draw(ids, label="hidden")
    add_all(memory, later, rows)
    for n, id_ in enumerate(changed):
        patch = {"confidence": 0.25, "status": "archived", "tags": ["b", f"new{n}"]}
        memory.update(id_, **patch)
        rows[id_] |= patch
    for id_ in hidden:
        memory.hide(id_)
        del rows[id_]


def _new_root() -> Path:
    folder = Path(tempfile.mkdtemp())
    (folder / "grail.yaml").write_text("durability: fast\nprovisional_days: 0\n")
    return folder


@pytest.mark.slow
@examples(12)
@given(
    made=st.lists(drafts(), min_size=1, max_size=14),
    later=st.lists(drafts(), max_size=4),
    data=st.data(),
)
def test_filter_equals_the_oracle_wherever_the_rows_lie(
    made: list[dict[str, Any]], later: list[dict[str, Any]], data: st.DataObject
) -> None:
    folder = _new_root()
    try:
        check_all_states(made, later, data, folder, n_filters=6)
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
@examples(3)
@given(
    made=st.lists(drafts(), min_size=6, max_size=20),
    wide=st.lists(st.integers(0, 69), min_size=1, max_size=5),
    later=st.lists(drafts(), max_size=3),
    data=st.data(),
)
def test_filter_equals_the_oracle_with_more_terms_than_a_word_has_bits(
    made: list[dict[str, Any]], wide: list[int], later: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Seventy frequent tags, asked for alone, together with each other and with rare ones."""
    for draft in made[: len(made) * 3 // 4]:
        draft["tags"] = [*draft.get("tags", []), *WIDE["tags"]]
    folder = _new_root()
    rows: dict[str, Row] = {}
    try:
        with Memory(folder) as memory:
            add_all(memory, made, rows)
            memory.compact()
            change_some(memory, later, rows, data)
            pool = list(rows.values()) or None
            hot = [f"T{n}" for n in wide]
            rest = data.draw(filters(pool)) | {"tags_all": hot[:-1] or hot, "tags": [hot[-1], "a"]}
            for asked in (
                {"tags": hot},
                {"tags_all": hot},
                {"tags": ["t63"]},
                {"tags_all": ["t0", "t63", "t69"]},
                rest,
            ):
                holds(memory, rows, asked, 3)
    finally:
        shutil.rmtree(folder)
