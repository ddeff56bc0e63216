"""The ledger: append-only, chained, redactable, safe against torn tails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grail_mem.store.layout import Layout
from grail_mem.store.ledger import Ledger, about, chains, history, newest, verify
from grail_mem.store.ledger_line import Entry

CLONE = "abcdefgh"


def append(layout: Layout, *ids: str) -> None:
    ledger = Ledger(layout)
    ledger.read()
    entries = [Entry("add", i, f"memories/{i}.md", digest="00", reason="why") for i in ids]
    with ledger.appending(CLONE) as chain:
        chain.write(chain.draft(entries))


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path)
    append(layout, "A", "B")
    append(layout, "C")
    return layout


def chain(layout: Layout) -> Path:
    return layout.ledger / f"{CLONE}.jsonl"


def test_what_was_appended_is_read_in_order(layout: Layout) -> None:
    """Across calls and readers."""
    assert [(e.seq, e.id, e.path, e.reason) for e in history(layout)] == [
        (1, "A", "memories/A.md", "why"),
        (2, "B", "memories/B.md", "why"),
        (3, "C", "memories/C.md", "why"),
    ]
    assert verify(layout) == []


def test_a_reader_gets_only_what_is_new(layout: Layout) -> None:
    """Each line once."""
    ledger = Ledger(layout)
    assert len(ledger.read()[0]) == 3
    assert ledger.read() == ([], False)
    append(layout, "D")
    assert [e.id for e in ledger.read()[0]] == ["D"]


@pytest.mark.parametrize("where", ["seq", "id", "action", "path", "reason", "prev"])
def test_a_changed_line_is_found(layout: Layout, where: str) -> None:
    """Whatever part of it was changed."""
    lines = chain(layout).read_text().splitlines()
    record = json.loads(lines[1])
    place = record if where in record else record["open"]
    place[where] = 9 if where == "seq" else "f" * 64
    lines[1] = json.dumps(record, separators=(",", ":"))
    chain(layout).write_text("\n".join(lines) + "\n")
    assert verify(layout)


def test_a_removed_line_is_found(layout: Layout) -> None:
    """The chain does not close over it."""
    lines = chain(layout).read_text().splitlines()
    chain(layout).write_text("\n".join([lines[0], lines[2]]) + "\n")
    assert [b.kind for b in verify(layout)] == ["changed"]


def test_the_open_part_can_be_taken_out_without_breaking_the_chain(layout: Layout) -> None:
    """What must be forgotten can go; what stays tells nothing of it."""
    records = [json.loads(line) for line in chain(layout).read_text().splitlines()]
    del records[1]["open"]
    chain(layout).write_text("".join(json.dumps(r, separators=(",", ":")) + "\n" for r in records))
    assert verify(layout) == []
    assert [e.path for e in history(layout)] == ["memories/A.md", "", "memories/C.md"]


@pytest.mark.parametrize("cut", [1, 5, 40, 200])
def test_a_torn_tail_swallows_nothing(layout: Layout, cut: int) -> None:
    """The next writer closes the fragment; it is named as torn, and every whole line counts."""
    data = chain(layout).read_bytes()
    append(layout, "D")
    torn = chain(layout).read_bytes()[: len(data) + cut]
    chain(layout).write_bytes(torn)
    append(layout, "E")
    assert [e.id for e in history(layout)] == ["A", "B", "C", "E"]
    assert [b.kind for b in verify(layout)] == ["torn"]


def test_a_whole_line_without_its_newline_counts(layout: Layout) -> None:
    """Only the newline was lost; the record is there."""
    chain(layout).write_bytes(chain(layout).read_bytes()[:-1])
    append(layout, "D")
    assert [e.id for e in history(layout)] == ["A", "B", "C", "D"]
    assert verify(layout) == []


def test_a_reader_notices_that_a_chain_was_rewritten(layout: Layout) -> None:
    """As git does when it checks out another state."""
    ledger = Ledger(layout)
    ledger.read()
    data = chain(layout).read_bytes()
    first = data[: data.index(b"\n") + 1]
    chain(layout).write_bytes(first)
    entries, rewritten = ledger.read()
    assert rewritten
    assert [e.id for e in entries] == ["A"]


def test_the_clock_set_back_does_not_reorder_a_chain(tmp_path: Path) -> None:
    """Times in one chain never fall."""
    layout = Layout(tmp_path)
    for at in ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"):
        ledger = Ledger(layout)
        ledger.read()
        with ledger.appending(CLONE) as chain:
            chain.write(chain.draft([Entry("hide", "A", at=at)]))
    assert [e.at for e in history(layout)] == ["2026-01-02T00:00:00Z"] * 2


def test_the_end_of_the_history_is_read_as_all_of_it_is(layout: Layout) -> None:
    """Newest first, by action and by id: what is read of some lines is what is read of all, twice-kept and torn lines included."""
    ledger = Ledger(layout)
    ledger.read()
    with ledger.appending(CLONE) as chain:
        chain.write(chain.draft([Entry("hide", "B"), Entry("restore", "B", reason="needed"), Entry("hide", "C")]))
    (path,) = chains(layout)
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    torn = b'{"v":1,"seq":5,"at":"2026-01-01T00:00:00Z",torn\n'
    path.with_name("otherclone.jsonl").write_bytes(
        b"".join([*lines[:4], lines[2], torn, lines[4].replace(b'{"v":', b'{ "v":')])
    )
    path.write_bytes(data + b'{"v":1,"seq":99,"at":"20')
    every = history(layout)
    assert len(every) == len(lines) + 5
    assert list(newest(layout)) == every[::-1]
    assert list(newest(layout, {"hide"})) == [entry for entry in every[::-1] if entry.action == "hide"]
    assert about(layout, {"B"}) == [entry for entry in every if entry.id == "B"]
    many = {"B", *(f"other{n}" for n in range(50))}
    assert about(layout, many) == about(layout, {"B"})
    assert about(layout, set()) == []
