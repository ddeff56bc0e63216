"""Applying, rejecting and undoing, one rule a test."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from proposal_sets import bytes_of, propose

from grail_mem import InputError, Memory, NotFoundError, StoreError
from grail_mem.store.ledger import decisions, history


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Memory(tmp_path / "store") as opened:
        yield opened


def note(memory: Memory, title: str, **fields: Any) -> str:
    return memory.add_observation(**({"title": title, "content": f"{title} was said."} | fields)).id


def test_a_change_of_each_sort_is_made(memory: Memory) -> None:
    """One proposal may set fields, move, hide, add, rename an entity and note what was merged; all of it happens."""
    acme = note(memory, "Acme", entities=[{"name": "ACME Corp", "type": "ORG"}], category="work/a")
    twin = note(memory, "Twin", tags=["x"], category="work/b")
    id_ = propose(
        memory,
        [
            {"do": "set", "id": acme, "fields": {"tags": ["seen"]}},
            {"do": "rename_entity", "ids": [acme], "names": ["acme corp"], "to": "Acme"},
            {"do": "move", "id": acme, "category": "clients/acme"},
            {"do": "note_merged", "id": acme, "merged": [{"id": twin, "observed_at": "2026-01-01T00:00:00Z"}]},
            {"do": "hide", "id": twin},
            {"do": "add", "draft": {"title": "Overview: Acme", "content": "One note.", "category": "topics/acme"}},
        ],
    )
    outcome = memory.apply(id_)[0]
    assert outcome.done, outcome
    assert outcome.status == "applied"
    o = memory.get(acme)
    assert (o.tags, o.category, o.entities[0].name, o.entities[0].aliases) == (
        ("seen",),
        "clients/acme",
        "Acme",
        ("ACME Corp",),
    )
    assert o.extra["merged_from"] == [{"id": twin, "observed_at": "2026-01-01T00:00:00Z"}]
    assert {x.title for x in memory.recall().observations} == {"Acme", "Overview: Acme"}
    assert [e.action for e in history(memory._layout)][-4:] == ["move", "add", "hide", "apply"]
    assert memory.check().ok


def test_a_dry_run_shows_every_line_and_changes_none(memory: Memory) -> None:
    """The diff of a dry run is what applying does; nothing is written, no folder made."""
    one = note(memory, "One", entities=[{"name": "ACME Corp"}])
    id_ = propose(
        memory,
        [
            {"do": "rename_entity", "ids": [one], "names": ["ACME Corp"], "to": "Acme"},
            {"do": "move", "id": one, "category": "new/place"},
            {"do": "add", "draft": {"title": "More", "content": "More.", "category": "other/place"}},
        ],
    )
    before, entries = bytes_of(memory), len(history(memory._layout))
    outcome = memory.apply(id_, dry_run=True)[0]
    assert (outcome.done, outcome.status) == (True, "pending")
    assert [file.action for file in outcome.files] == ["move", "add"]
    assert "+  - {name: Acme, aliases: [ACME Corp]}" in outcome.files[0].diff
    assert bytes_of(memory) == before
    assert len(history(memory._layout)) == entries
    assert not (memory.root / "memories/new").exists()
    memory.apply(id_)
    assert memory.get(one).path == outcome.files[0].path


CHANGES = {
    "edited": lambda m, id_: m.update(id_, append="More."),
    "moved": lambda m, id_: m.move(id_, "elsewhere"),
    "hidden": lambda m, id_: m.hide(id_),
    "deleted by hand": lambda m, id_: (m.root / m.get(id_).path).unlink(),
    "edited by hand": lambda m, id_: (m.root / m.get(id_).path).write_text("---\ntitle: x\nid: " + id_ + "\n---\nOther.\n"),
    "renamed by hand": lambda m, id_: (m.root / m.get(id_).path).rename(m.root / "memories/inbox/other.md"),
    "one byte appended": lambda m, id_: (f := m.root / m.get(id_).path).write_bytes(f.read_bytes() + b" "),
}  # fmt: skip


@pytest.mark.parametrize("how", CHANGES)
def test_what_changed_since_makes_a_proposal_stale(memory: Memory, how: str) -> None:
    """Whatever happened to an observation that a proposal rests on, applying it refuses and says which and how."""
    one, other = note(memory, "One"), note(memory, "Other")
    id_ = propose(memory, [{"do": "set", "id": one, "fields": {"tags": ["x"]}}], affected=[other])
    CHANGES[how](memory, other)
    memory.sync(stamp=False)
    before = bytes_of(memory)
    outcome = memory.apply(id_)[0]
    assert (outcome.done, outcome.status) == (False, "stale")
    assert other in outcome.reasons[0]
    assert bytes_of(memory) == before
    assert [p.id for p in memory.proposals(status="stale")] == [id_]
    assert memory.proposals() == ()


def test_of_two_that_change_one_file_the_second_becomes_stale(memory: Memory) -> None:
    """Both are shown with the other as its rival; applying one leaves the other stale, which it says."""
    one = note(memory, "One")
    first = propose(memory, [{"do": "set", "id": one, "fields": {"tags": ["a"]}}])
    second = propose(memory, [{"do": "move", "id": one, "category": "b"}])
    assert {p.id: p.conflicts for p in memory.proposals()} == {first: (second,), second: (first,)}
    done = memory.apply([first, second])
    assert [o.status for o in done] == ["applied", "stale"]
    assert memory.get(one).category == "inbox"


def test_undo_gives_the_very_bytes_back(memory: Memory) -> None:
    """Files, folders and tombstones are as before, whatever the style of the file."""
    by_hand = memory.root / "memories/notes/by hand.md"
    by_hand.parent.mkdir(parents=True)
    by_hand.write_bytes(b"---\r\ntitle:   'By hand'   # a comment\r\ncustom: [1,  2]\r\n---\r\n\r\nText \xff here.\r\n")
    memory.sync(stamp=False)
    hand = memory.recall(text="here").observations[0].id
    other = note(memory, "Other", tags=["b", "a"], category="work/deep/down")
    before, folders = bytes_of(memory), {p for p in (memory.root / "memories").rglob("*") if p.is_dir()}
    id_ = propose(
        memory,
        [
            {"do": "set", "id": hand, "fields": {"tags": ["x"], "confidence": 0.5}},
            {"do": "move", "id": hand, "category": "work/new/place"},
            {"do": "hide", "id": other},
            {"do": "add", "draft": {"title": "New", "content": "New.", "category": "topics/new"}},
        ],
    )
    assert memory.apply(id_)[0].done
    assert bytes_of(memory) != before
    outcome = memory.undo(id_)[0]
    assert (outcome.done, outcome.status, outcome.reasons) == (True, "undone", ())
    assert bytes_of(memory) == before
    assert {p for p in (memory.root / "memories").rglob("*") if p.is_dir()} == folders
    assert {o.id for o in memory.recall().observations} == {hand, other}
    assert not list((memory.root / ".grail/undo").iterdir())
    assert memory.check().ok


def test_a_merged_name_is_unmerged_after_later_writes(memory: Memory) -> None:
    """Writes that used the merged name stay as they are; the observation that had another name gets it back."""
    one = note(memory, "One", entities=[{"name": "ACME Corp"}, {"name": "Bob"}])
    id_ = propose(memory, [{"do": "rename_entity", "ids": [one], "names": ["ACME Corp"], "to": "Acme"}])
    memory.apply(id_)
    later = note(memory, "Later", entities=[{"name": "Acme"}])
    memory.update(one, append="More of it.", tags=["kept"])
    memory.update(one, entities=[*memory.get(one).entities, {"name": "Carol"}])
    outcome = memory.undo(id_)[0]
    assert outcome.done
    assert "was changed since" in outcome.reasons[0]
    o = memory.get(one)
    assert [e.name for e in o.entities] == ["ACME Corp", "Bob", "Carol"]
    assert (o.tags, o.content) == (("kept",), "One was said.\n\nMore of it.")
    assert [e.name for e in memory.get(later).entities] == ["Acme"]


def test_a_merge_of_names_makes_no_answer_smaller(memory: Memory) -> None:
    """A filter by the name that went finds what it found before, in the delta and in a snapshot; one by the other finds all."""
    one = note(memory, "One", entities=[{"name": "ACME Corp"}])
    two = note(memory, "Two", entities=[{"name": "Acme"}])
    memory.apply(propose(memory, [{"do": "rename_entity", "ids": [one], "names": ["ACME Corp"], "to": "Acme"}]))
    for _ in range(2):
        assert {o.id for o in memory.recall(entity_names=["acme corp"]).observations} == {one}
        assert {o.id for o in memory.recall(entity_names=["Acme"]).observations} == {one, two}
        assert [e.name for e in memory.recall(entity_names=["ACME Corp"]).entities] == ["Acme"]
        memory.compact()


def test_what_cannot_be_put_back_is_refused_whole(memory: Memory) -> None:
    """When somebody gave a field another value since, nothing of the proposal is undone, and every reason is said."""
    one, two, three = note(memory, "One"), note(memory, "Two"), note(memory, "Three")
    id_ = propose(
        memory,
        [
            {"do": "set", "id": one, "fields": {"kind": "procedural"}},
            {"do": "move", "id": two, "category": "b"},
            {"do": "hide", "id": three},
        ],
    )
    memory.apply(id_)
    memory.update(one, kind="episodic")
    memory.move(two, "c")
    before = bytes_of(memory)
    outcome = memory.undo(id_)[0]
    assert (outcome.done, outcome.status) == (False, "applied")
    assert [reason[:11] for reason in outcome.reasons] == ["kind of obs", "observation"]
    assert bytes_of(memory) == before
    assert three not in {o.id for o in memory.recall().observations}


def test_an_added_observation_that_somebody_worked_on_is_not_taken_away(memory: Memory) -> None:
    """Undo removes what applying made only as long as it is as it was made."""
    id_ = propose(memory, [{"do": "add", "draft": {"title": "New", "content": "New.", "category": "t"}}])
    memory.apply(id_)
    made = memory.recall().observations[0].id
    memory.update(made, append="By a person.")
    assert not memory.undo(id_)[0].done
    assert memory.get(made).content == "New.\n\nBy a person."


def test_reject_changes_no_byte_and_stays_without_output(memory: Memory) -> None:
    """A rejection is in the ledger with its reason; deleting output/ forgets nothing of it."""
    one = note(memory, "One")
    id_ = propose(memory, [{"do": "hide", "id": one}], meaning=["one"], grounds={"n": 1}, same=[("a", "b")])
    before = bytes_of(memory)
    assert memory.reject(id_, reason="they differ")[0].done
    assert bytes_of(memory) == before
    assert not memory.reject(id_)[0].done
    shutil.rmtree(memory.root / "output")
    known = memory.proposals(status="rejected")[0]
    assert (known.id, known.kind, known.decided["reason"]) == (id_, "move_observation", "they differ")
    assert not memory.apply(id_)[0].done
    assert len(decisions(memory._layout)) == 1


def test_what_was_applied_can_be_undone_without_output(memory: Memory) -> None:
    """What undo needs stands beside the ledger, not in what may be deleted."""
    one = note(memory, "One")
    before = bytes_of(memory)
    id_ = propose(memory, [{"do": "move", "id": one, "category": "b"}])
    memory.apply(id_)
    shutil.rmtree(memory.root / "output")
    assert memory.undo(id_)[0].done
    assert bytes_of(memory) == before


def test_undoing_a_rejection_lets_it_wait_again(memory: Memory) -> None:
    """The last decision counts: rejected, open again, applied, undone."""
    one = note(memory, "One")
    id_ = propose(memory, [{"do": "hide", "id": one}])
    statuses = []
    for verb in (memory.reject, memory.undo, memory.apply, memory.undo, memory.apply):
        assert verb(id_)[0].done
        statuses.append(memory.proposals(status="all")[0].status)
    assert statuses == ["rejected", "pending", "applied", "undone", "applied"]


def test_an_unknown_id_is_an_error_before_anything_is_done(memory: Memory) -> None:
    """All unknown ids are named at once, and the known ones are not applied."""
    one = note(memory, "One")
    id_ = propose(memory, [{"do": "hide", "id": one}])
    unknown = "01JXYZ0000000000000000000A"
    for verb in (memory.apply, memory.reject, memory.undo):
        with pytest.raises(NotFoundError, match=unknown):
            verb([id_, unknown])
    with pytest.raises(InputError):
        memory.apply([])
    assert memory.proposals()[0].status == "pending"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 1}', '{"version": 1, "proposals": {}}', "null", "\0"])
def test_a_file_that_holds_no_proposals_is_a_problem_not_an_error(memory: Memory, text: str) -> None:
    """What lies in output/proposals may be anything; the other sets still count."""
    one = note(memory, "One")
    id_ = propose(memory, [{"do": "hide", "id": one}])
    (memory.root / "output/proposals/9999.json").write_text(text)
    assert [p.id for p in memory.proposals()] == [id_]
    assert any("9999.json" in p.where for p in memory.consolidate(kinds=["expire_stale"], dry_run=True).problems)


BAD_CHANGES: list[Any] = [
    {"do": "erase", "id": "ONE"}, {"do": "HIDE", "id": "ONE"}, {"do": "hide"}, {"do": "hide", "id": "../../x"}, {"id": "ONE"},
    {"do": "hide", "id": ["ONE"]}, "hide", None, {"do": None, "id": "ONE"}, {"do": "move", "id": "ONE", "category": "../up"},
    {"do": "move", "id": "ONE", "category": "/etc"}, {"do": "move", "id": "ONE", "category": ""}, {"do": "hide", "id": "ONE", "path": "x"},
    {"do": "set", "id": "ONE", "fields": {"path": "x"}}, {"do": "set", "id": "ONE", "fields": {}}, {"do": "set", "id": "ONE", "fields": "x"},
    {"do": "set", "id": "ONE", "fields": {"content": None}}, {"do": "set", "id": "ONE", "fields": {"category": "x"}},
    {"do": "add", "draft": {"path": "x"}}, {"do": "add", "draft": []}, {"do": "rename_entity", "ids": "ONE", "names": ["a"], "to": "b"},
    {"do": "rename_entity", "ids": ["ONE"], "names": [], "to": "b"}, {"do": "rename_entity", "ids": ["ONE"], "names": ["a"], "to": " "},
    {"do": "note_merged", "id": "ONE", "merged": [{"title": "x"}]},
]  # fmt: skip


@pytest.mark.parametrize("change", BAD_CHANGES, ids=str)
def test_a_malformed_change_is_refused_with_its_reason(memory: Memory, change: Any) -> None:
    """F39: a proposal with a missing, unknown or wrong part is not listed and does nothing; the reason is told."""
    one = note(memory, "One")
    propose(memory, [{"do": "hide", "id": one}])
    path = next((memory.root / "output/proposals").iterdir())
    document = json.loads(path.read_text())
    text = json.dumps(change).replace("ONE", one)
    document["proposals"][0]["changes"] = [json.loads(text)]
    path.write_text(json.dumps(document))
    before = bytes_of(memory)
    assert memory.proposals(status="all") == ()
    problems = memory.consolidate(kinds=["expire_stale"], dry_run=True).problems
    assert [p.code for p in problems] == ["bad_proposal"]
    with pytest.raises(NotFoundError):
        memory.apply(document["proposals"][0]["id"])
    assert bytes_of(memory) == before


@pytest.mark.parametrize(
    "field", ["id", "kind", "confidence", "rationale", "payload", "changes", "affected", "fingerprint"]
)
@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [1], True])
def test_a_malformed_field_is_refused_with_its_reason(memory: Memory, field: str, value: Any) -> None:
    """F39: every field of a proposal is checked when it is read; one that is wrong keeps the proposal out."""
    one = note(memory, "One")
    propose(memory, [{"do": "hide", "id": one}])
    path = next((memory.root / "output/proposals").iterdir())
    document = json.loads(path.read_text())
    document["proposals"][0][field] = value
    path.write_text(json.dumps(document))
    right = {"kind": ["x"], "rationale": ["x"], "payload": [{}], "confidence": []}
    assert len(memory.proposals(status="all")) == (value in right.get(field, []) and value is not True)


def test_a_change_of_what_is_not_among_the_affected_is_refused(memory: Memory) -> None:
    """Nothing is changed that was not looked at: an id that no hash was taken of keeps the proposal out."""
    one, other = note(memory, "One"), note(memory, "Other")
    propose(memory, [{"do": "hide", "id": one}])
    path = next((memory.root / "output/proposals").iterdir())
    path.write_text(
        path.read_text().replace(f'"do": "hide",\n     "id": "{one}"', f'"do": "hide",\n     "id": "{other}"')
    )
    assert other in path.read_text()
    assert memory.proposals(status="all") == ()


def test_a_value_that_no_observation_may_have_is_refused_when_applied(memory: Memory) -> None:
    """What only the store can decide is decided then: nothing is changed, and every reason is said."""
    one = note(memory, "One")
    id_ = propose(
        memory, [{"do": "set", "id": one, "fields": {"kind": "fact", "confidence": 7}}, {"do": "hide", "id": one}]
    )
    before = bytes_of(memory)
    outcome = memory.apply(id_)[0]
    assert not outcome.done
    assert len(outcome.reasons) == 2
    assert bytes_of(memory) == before
    assert memory.recall().observations


@pytest.mark.parametrize("text", ["", "{}", '{"version": 1}', "[1]"])
def test_what_undo_needs_may_be_damaged(memory: Memory, text: str) -> None:
    """Then undo says so and changes nothing."""
    one = note(memory, "One")
    id_ = propose(memory, [{"do": "move", "id": one, "category": "b"}])
    memory.apply(id_)
    kept = memory.root / f".grail/undo/{id_}.json"
    kept.write_text(text)
    assert not memory.undo(id_)[0].done
    kept.unlink()
    outcome = memory.undo(id_)[0]
    assert not outcome.done
    assert "not kept" in outcome.reasons[0]
    assert memory.get(one).category == "b"


def test_what_undo_needs_cannot_name_another_place(memory: Memory) -> None:
    """A path in it that is no observation's, or leads out of the store, is refused."""
    one = note(memory, "One")
    id_ = propose(memory, [{"do": "move", "id": one, "category": "b"}])
    memory.apply(id_)
    kept = memory.root / f".grail/undo/{id_}.json"
    for place in ("../../outside.md", "/etc/x.md", "memories/../../x.md", "grail.yaml"):
        document = json.loads(kept.read_text())
        document["files"][0]["was"] = place
        kept.write_text(json.dumps(document))
        assert not memory.undo(id_)[0].done, place
    assert memory.get(one).category == "b"


def test_no_word_of_an_observation_gets_into_the_ledger(memory: Memory) -> None:
    """A decision keeps digests and codes alone."""
    one = note(memory, "Canary", entities=[{"name": "Zebrafinch"}])
    id_ = propose(
        memory, [{"do": "rename_entity", "ids": [one], "names": ["Zebrafinch"], "to": "Taeniopygia"}],
        kind="merge_aliases", meaning=["zebrafinch", "taeniopygia"], same=[("zebrafinch", "taeniopygia")],
    )  # fmt: skip
    memory.apply(id_)
    memory.undo(id_)
    ledger = b"".join(path.read_bytes() for path in memory._layout.ledger.iterdir()).lower()
    assert b"zebrafinch" not in ledger
    assert b"taeniopygia" not in ledger


def test_what_cannot_be_undone_is_not_applied(memory: Memory) -> None:
    """When what undo needs cannot be kept, no file is touched."""
    one = note(memory, "One")
    id_ = propose(memory, [{"do": "move", "id": one, "category": "b"}])
    (memory.root / ".grail/undo").write_text("a file where the folder should be")
    with pytest.raises(StoreError):
        memory.apply(id_)
    assert memory.get(one).category == "inbox"
    assert memory.proposals()[0].status == "pending"
