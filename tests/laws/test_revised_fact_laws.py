"""Facts that people revise: lineage is the same from both ends, answers say what is stored, and what was told once more changes nothing."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws_strategies import examples

from grail_mem import ConflictError, InputError, Memory, NotFoundError
from grail_mem.model.lineage import predecessors

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
FOREVER = datetime(2100, 1, 1, tzinfo=UTC)
DAYS = st.integers(0, 6).map(lambda days: BEGIN + timedelta(days=days))
ONES = st.sampled_from(["It is one.", "It is two.", "it is  ONE"])
TOLD = st.fixed_dictionaries(
    {"content": ONES, "session": st.sampled_from("ab"), "turn": st.integers(0, 2)},
    optional={
        "observed_at": DAYS, "source_kind": st.sampled_from(["user_statement", "agent_inference"]), "tags": st.just(["t"]),
        "valid_until": st.just(FOREVER), "valid_from": DAYS,
    },
)  # fmt: skip
STEPS = st.one_of(
    TOLD.map(lambda said: ("tell", said)),
    st.tuples(st.just("tell again"), st.integers(0, 9)),
    st.tuples(st.sampled_from(["correct", "supersede", "dispute", "confirm", "expire"]), st.tuples(st.integers(0, 9), ONES, DAYS)),
    st.tuples(st.sampled_from(["archive", "unarchive", "lengthen", "rebuild"]), st.integers(0, 9)),
)  # fmt: skip


@pytest.mark.slow
@examples(60)
@given(steps=st.lists(STEPS, min_size=3, max_size=10))
def test_whatever_was_revised(steps: list[tuple[str, Any]]) -> None:
    """After every step; and after a rebuild the same is stored."""
    root = Path(tempfile.mkdtemp())
    (root / "grail.yaml").write_text("durability: fast\n")
    try:
        with Memory(root) as memory:
            told: list[dict[str, Any]] = []
            ids: list[str] = []
            for what, with_ in steps:
                with suppress(ConflictError, InputError, NotFoundError):
                    _do(memory, what, with_, told, ids)
                _lineage(memory)
            before = _stored(memory)
            memory.rebuild()
            assert _stored(memory) == before
            assert memory.check().ok
    finally:
        shutil.rmtree(root)


def _do(memory: Memory, what: str, with_: Any, told: list[dict[str, Any]], ids: list[str]) -> None:
    if what == "tell":
        said = {"attribute": "tea", "title": "A fact", **with_}
        done = memory.add_observation(**said)
        told.append(said)
        ids.append(done.id)
        stored = memory.get(done.id)
        assert (done.decision == "conflict") <= bool(stored.conflicts_with)
        assert (done.decision == "superseded_on_arrival") <= (stored.superseded_by is not None)
        assert done.created == (done.decision not in {"known", "reinforced"})
    elif what == "tell again" and told:
        before = _stored(memory)
        memory.add_observation(**told[with_ % len(told)])
        assert _stored(memory) == before
    elif what == "rebuild":
        memory.rebuild()
    elif ids:
        _revise(memory, what, with_, ids)


def _revise(memory: Memory, what: str, with_: Any, ids: list[str]) -> None:
    number, content, at = with_ if isinstance(with_, tuple) else (with_, "", BEGIN)
    id_ = ids[number % len(ids)]
    match what:
        case "correct" | "supersede" | "dispute":
            more = {"at": at} if what == "supersede" else {}
            made = memory.revise(id_, action=what, reason="it was looked up", content=content, **more)
            ids += [made.new_id] if made.new_id else []
        case "confirm":
            memory.revise(id_, action="confirm", reason="it was looked up")
        case "expire":
            memory.revise(id_, action="expire", reason="it is over", at=at)
        case "lengthen":
            memory.update(id_, valid_until=None)
        case _:
            getattr(memory, what)(id_)


def _stored(memory: Memory) -> list[tuple[object, ...]]:
    found = memory.recall(include_history=True, limit=1000).observations
    return sorted(
        (o.id, o.content, o.status, str(o.valid_until), str(o.superseded_by), o.conflicts_with, str(o.extra))
        for o in found
    )


def _lineage(memory: Memory) -> None:
    there = {o.id: o for o in memory.recall(include_history=True, limit=1000).observations}
    for o in there.values():
        if o.superseded_by is not None:
            assert o.status == "superseded"
            assert o.id in predecessors(there[o.superseded_by])
        assert all(there[id_].superseded_by == o.id for id_ in predecessors(o))
        assert all(o.id in there[id_].conflicts_with for id_ in o.conflicts_with)
