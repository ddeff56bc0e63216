"""Changing what is there: update, move, hide, restore."""

from __future__ import annotations

from pathlib import Path

import pytest

from grail_mem import ConflictError, InputError, Memory, NotFoundError

BY_HAND = """\
---
# who wrote this
title:   'Plan A'   # the working title
Tags-of-mine: &x [one,   two]
tags:
  - alpha   # first
  - "beta"
custom: {a: 1,  b: [2,3]}
confidence: 0.5 # a guess
---
Body *text*.
"""


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path)


def by_hand(memory: Memory, text: str = BY_HAND, name: str = "plan.md", newline: str = "\n") -> str:
    path = memory.root / "memories" / "notes" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.replace("\n", newline).encode())
    memory.sync(stamp=False)
    return memory.recall(limit=1).observations[0].id


def test_an_update_changes_the_named_field_and_no_other_byte(memory: Memory) -> None:
    """Comments, quoting, spacing and unknown keys of a file that a person wrote survive."""
    id_ = by_hand(memory)
    memory.update(id_, confidence=0.9)
    assert (memory.root / "memories/notes/plan.md").read_text() == BY_HAND.replace("0.5 #", "0.9 #")


def test_an_update_keeps_entities_when_the_title_changes(memory: Memory) -> None:
    """A patch is a patch."""
    w = memory.add_observation(title="T", content="C", entities=["Acme"], tags=["x"], confidence=0.7, source="s")
    before = memory.get(w.id).to_dict()
    memory.update(w.id, title="New title")
    after = memory.get(w.id).to_dict()
    assert {k: v for k, v in after.items() if before.get(k) != v}.keys() == {"title", "sha256"}


def test_windows_line_ends_survive_an_update(memory: Memory) -> None:
    """In every line, new ones included."""
    id_ = by_hand(memory, newline="\r\n")
    memory.update(id_, append="More.", source="talk")
    data = (memory.root / "memories/notes/plan.md").read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n")
    assert b"Body *text*.\r\n\r\nMore.\r\n" in data


def test_append_puts_a_paragraph_behind_the_content(memory: Memory) -> None:
    """The former text stays."""
    w = memory.add_observation(content="one")
    memory.update(w.id, append="two")
    assert memory.get(w.id).content == "one\n\ntwo"


def test_none_removes_a_field(memory: Memory) -> None:
    """And only that one."""
    w = memory.add_observation(content="x", source="s", attribute="a/b")
    memory.update(w.id, source=None)
    assert (memory.get(w.id).source, memory.get(w.id).attribute) == (None, "a/b")
    assert "source" not in (memory.root / w.path).read_text()


def test_an_update_to_the_same_values_changes_nothing(memory: Memory) -> None:
    """No byte, no ledger line."""
    w = memory.add_observation(content="x", tags=["a"])
    ledger = next((memory.root / ".grail/ledger").iterdir())
    before = ledger.read_bytes()
    assert not memory.update(w.id, tags=["a"], content="x").changed
    assert ledger.read_bytes() == before


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({}, "nothing"),
        ({"contents": "x"}, "contents"),
        ({"category": "a"}, "move"),
        ({"content": None}, "cannot be removed"),
        ({"content": "x", "append": "y"}, "together"),
        ({"confidence": 2}, "confidence"),
        ({"valid_from": "2026-02-01", "valid_until": "2026-01-01"}, "valid_until"),
    ],
)
def test_a_wrong_update_is_refused_and_changes_nothing(memory: Memory, fields: dict[str, object], word: str) -> None:
    """With the reason."""
    w = memory.add_observation(content="x")
    before = (memory.root / w.path).read_bytes()
    with pytest.raises(InputError, match=word):
        memory.update(w.id, **fields)  # type: ignore[arg-type]  # wrong values are what is tested
    assert (memory.root / w.path).read_bytes() == before


def test_nothing_takes_its_own_place(memory: Memory) -> None:
    w = memory.add_observation(content="x")
    for own in (w.id, f" {w.id.lower()} "):
        with pytest.raises(InputError, match="itself"):
            memory.update(w.id, supersedes=own)
    assert memory.get(w.id).supersedes is None


def test_an_update_to_erased_words_is_refused_in_words_that_hold(memory: Memory) -> None:
    """The observation that would say them is named, and not called erased."""
    gone = memory.add_observation(content="The vault code is written under the desk.")
    memory.erase(gone.id, reason="asked")
    other = memory.add_observation(title="Desk", content="It is of oak.")
    with pytest.raises(ConflictError, match="'Desk' says what was erased on"):
        memory.update(other.id, content="The vault code is written under the desk.", title="Desk")
    assert memory.get(other.id).content == "It is of oak."


def test_a_move_keeps_id_and_content(memory: Memory) -> None:
    """The file goes to the other folder and its category line follows."""
    w = memory.add_observation(title="T", content="C", category="a")
    moved = memory.move(w.id, "b/c")
    assert moved.path == w.path.replace("memories/a/", "memories/b/c/")
    assert not (memory.root / w.path).exists()
    assert "category: b/c\n" in (memory.root / moved.path).read_text()
    assert [o.id for o in memory.recall(category="b").observations] == [w.id]
    assert memory.recall(category="a").abstention is not None
    assert not memory.move(w.id, "b/c").changed


def test_a_move_never_overwrites(memory: Memory) -> None:
    """A file of that name there is a conflict."""
    w = memory.add_observation(content="C", category="a")
    there = memory.root / "memories/b" / Path(w.path).name
    there.parent.mkdir()
    there.write_text("mine")
    with pytest.raises(ConflictError):
        memory.move(w.id, "b")
    assert there.read_text() == "mine"
    assert (memory.root / w.path).exists()


def test_hide_takes_out_of_every_answer_and_restore_brings_back(memory: Memory) -> None:
    """Recall, get, SQL, lists and graph; the file stays; a rebuild changes nothing."""
    w = memory.add_observation(content="secret plan", category="a", tags=["x"], entities=["Acme"])
    memory.add_observation(content="other", category="b")
    memory.compact()
    assert memory.hide(w.id, reason="asked to").changed
    assert not memory.hide(w.id).changed

    def answers() -> list[object]:
        return [
            len(memory.recall(tags=["x"]).observations),
            memory.sql("select count(*) as n from observations").column("n")[0].as_py(),
            memory.list_entities().total,
            memory.graph().number_of_nodes(),
            [c["category"] for c in memory.list_categories().items],
        ]

    hidden = answers()
    assert hidden == [0, 1, 0, 0, ["b"]]
    with pytest.raises(NotFoundError):
        memory.get(w.id)
    with pytest.raises(NotFoundError, match="hidden"):
        memory.update(w.id, title="x")
    assert (memory.root / w.path).exists()
    memory.rebuild()
    assert answers() == hidden
    memory.restore(w.id)
    assert answers() == [1, 2, 1, 1, ["a", "b"]]


def test_verbs_on_an_unknown_id_say_so(memory: Memory) -> None:
    """Destructive verbs take an exact id only."""
    memory.add_observation(title="Plan A", content="x")
    for call in (memory.get, memory.hide, memory.restore):
        for id_ in ("Plan A", "01J00000000000000000000000", ""):
            with pytest.raises(NotFoundError):
                call(id_)
    with pytest.raises(NotFoundError):
        memory.move("plan", "b")
