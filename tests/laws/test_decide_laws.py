"""Laws of deciding: whatever a proposal changes, undo gives back every byte, and an answer is as it was."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from proposal_sets import bytes_of, propose

from grail_mem import Memory

NAMES = ["Acme", "ACME Corp", "acme", "Bob", "Änn", "東京", "v1.2", 'The "Quoted"', "a: b"]
CATEGORIES = ["inbox", "work/a", "work/a/b", "neu/ü", "Work/C"]
names = st.sampled_from(NAMES)
fields = st.one_of(
    st.fixed_dictionaries({"tags": st.lists(st.sampled_from(["x", "y z", "ü", "#q"]), max_size=3)}),
    st.fixed_dictionaries({"confidence": st.sampled_from([0, 0.5, 1])}),
    st.fixed_dictionaries({"title": st.sampled_from(["Other", "a: b", "  spaced", "# heading", "é"])}),
    st.fixed_dictionaries({"content": st.sampled_from(["New text.", "---\nnot a fence", "a\n\n\nb\n", "é"])}),
    st.fixed_dictionaries({"status": st.sampled_from(["archived", "superseded", None]), "source": st.sampled_from(["x", None])}),
    st.fixed_dictionaries({"valid_from": st.just("2025-01-01"), "valid_until": st.just("2026-01-01T00:00:00Z")}),
)  # fmt: skip
HAND = [
    "---\ntitle: By hand   # why\ntags:\n- b\n-   a\ncustom: {x: 1}\n---\nText.\n",
    "---\r\nid: 01JXYZ0000000000000000000A\r\ntitle: 'Windows'\r\n---\r\nText.\r\n",
    "No frontmatter at all, no last newline",
    "\ufeff---\ntitle: BOM\nentities:\n  - Acme\n  - {name: Bob, aliases: [Bobby]}\n---\n\n\nText\n",
    "---\ntitle: |\n  Block\nentities: [{name: ACME Corp, type: ORG}, Änn]\nrelationships:\n  - {source: Änn, target: ACME Corp, type: KNOWS}\n---\nText",
]


def change(ids: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    one = st.sampled_from(ids)
    return st.one_of(
        st.fixed_dictionaries({"do": st.just("set"), "id": one, "fields": fields}),
        st.fixed_dictionaries({"do": st.just("move"), "id": one, "category": st.sampled_from(CATEGORIES)}),
        st.fixed_dictionaries({"do": st.just("hide"), "id": one}),
        st.fixed_dictionaries(
            {
                "do": st.just("rename_entity"), "ids": st.lists(one, min_size=1, max_size=3, unique=True),
                "names": st.lists(names, min_size=1, max_size=2), "to": names,
            }
        ),
        st.fixed_dictionaries(
            {"do": st.just("note_merged"), "id": one, "merged": st.lists(st.fixed_dictionaries({"id": one}), min_size=1, max_size=2)}
        ),
        st.fixed_dictionaries(
            {"do": st.just("add"), "draft": st.fixed_dictionaries({"content": st.sampled_from(["New one.", "Other."]), "category": st.sampled_from(CATEGORIES)})}
        ),
    )  # fmt: skip


def filled(root: Path, data: st.DataObject) -> Memory:
    memory = Memory(root)
    for number in range(data.draw(st.integers(1, 3), label="own")):
        memory.add_observation(
            title=f"Own {number}", content=f"Says {number}.", category=data.draw(st.sampled_from(CATEGORIES)),
            tags=data.draw(st.lists(st.sampled_from(["x", "ü"]), max_size=2)),
            entities=[{"name": name} for name in data.draw(st.lists(names, max_size=3))],
        )  # fmt: skip
    for number, text in enumerate(data.draw(st.lists(st.sampled_from(HAND), max_size=2, unique=True), label="hand")):
        path = root / f"memories/hand/{number} note.md"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    if data.draw(st.booleans(), label="compact"):
        memory.compact()
    memory.sync(stamp=False)
    return memory


def answer(memory: Memory) -> list[dict[str, Any]]:
    return [o.to_dict() for o in memory.recall(limit=1000, order="recorded").observations]


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.data_too_large])
@given(st.data())
def test_apply_and_undo_is_no_change(data: st.DataObject) -> None:
    """Bytes, folders' files and answers are as before, also after a rebuild; a refused apply changes nothing either."""
    with tempfile.TemporaryDirectory() as folder:
        memory = filled(Path(folder), data)
        try:
            ids = sorted(o.id for o in memory.recall(limit=100).observations)
            changes = data.draw(st.lists(change(ids), min_size=1, max_size=5), label="changes")
            before, said = bytes_of(memory), answer(memory)
            id_ = propose(memory, changes)
            dry = memory.apply(id_, dry_run=True)[0]
            assert bytes_of(memory) == before
            applied = memory.apply(id_)[0]
            assert applied.done == dry.done, (dry, applied)
            event(f"applied: {applied.done}, files: {len(applied.files)}")
            if applied.done:
                assert not memory.apply(id_)[0].done
                assert memory.undo(id_)[0].reasons == ()
                assert memory.proposals(status="undone")[0].id == id_
            assert bytes_of(memory) == before
            assert answer(memory) == said
            memory.rebuild()
            assert answer(memory) == said
            assert memory.check().ok
        finally:
            memory.close()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_proposals_undone_in_any_order_give_back_what_they_can(data: st.DataObject) -> None:
    """Several proposals undone last first are no change; in another order each is undone or says why not, never half."""
    with tempfile.TemporaryDirectory() as folder:
        memory = filled(Path(folder), data)
        try:
            ids = sorted(o.id for o in memory.recall(limit=100).observations)
            before, applied = bytes_of(memory), []
            for _ in range(data.draw(st.integers(2, 3))):
                there = sorted(o.id for o in memory.recall(limit=100).observations if o.id in ids)
                if not there:
                    break
                id_ = propose(memory, data.draw(st.lists(change(there), min_size=1, max_size=3)))
                applied += [id_] if memory.apply(id_)[0].done else []
            if not applied:
                return
            if data.draw(st.booleans(), label="last first"):
                assert all(outcome.done for outcome in memory.undo(applied))
                assert bytes_of(memory) == before
                return
            for id_ in data.draw(st.permutations(applied)):
                now = bytes_of(memory)
                outcome = memory.undo(id_)[0]
                if not outcome.done:
                    assert outcome.reasons
                    assert bytes_of(memory) == now
            assert memory.check().ok
        finally:
            memory.close()
