"""Laws of the ledger: what was appended is read back, what was cut off costs nothing, what was changed is reported."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from laws_strategies import WORDS, examples

from grail_mem import Memory
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import Ledger, chains, history, read_chain, verify
from grail_mem.store.ledger_line import Entry, Head, any_link, usual_link, write_line

CLONE = "k3b7qmv2xt"
texts = st.sampled_from(WORDS) | st.text(max_size=6)
times = st.integers(0, 59).map(lambda s: f"2026-06-02T14:23:{s:02d}Z")
entries = st.builds(
    Entry,
    action=st.sampled_from(
        ["add", "update", "move", "hide", "restore", "adopt", "edit", "relocate", "vanish", "stamp"]
    ),
    id=st.integers(0, 9).map(lambda n: f"01JXYZ{n:020d}"),
    path=st.sampled_from(["", "memories/a.md", "memories/work/é 😀.md", "memories/it's/100%.md"]),
    was=st.sampled_from(["", "memories/b.md"]),
    digest=st.sampled_from(["", "ab" * 32]),
    reason=texts,
    fingerprint=st.sampled_from(["", "00ff" * 4]),
    at=times,
    actor=texts,
)


@contextmanager
def new_layout() -> Iterator[Layout]:
    root = Path(tempfile.mkdtemp())
    try:
        yield Layout(root)
    finally:
        shutil.rmtree(root)


def append(layout: Layout, items: list[Entry]) -> None:
    ledger = Ledger(layout)
    ledger.read()
    with ledger.appending(CLONE) as chain:
        chain.write(chain.draft(items))


def chain(layout: Layout) -> Path:
    return layout.ledger / f"{CLONE}.jsonl"


def said(entry: Entry) -> tuple[Any, ...]:
    return (entry.action, entry.id, entry.path, entry.was, entry.digest, entry.reason, entry.fingerprint, entry.actor)


def redacted(line: bytes) -> bytes:
    """The line without what can be taken out of it."""
    record = json.loads(line)
    del record["open"]
    return json.dumps(record, separators=(",", ":")).encode()


batches = st.lists(st.lists(entries, min_size=1, max_size=3), min_size=1, max_size=4)


@examples(20)
@given(batches)
def test_what_is_appended_is_read_back_once(made: list[list[Entry]]) -> None:
    """By a reader who reads after every append and by one who comes at the end; the chain verifies."""
    with new_layout() as layout:
        early = Ledger(layout)
        seen: list[Entry] = []
        for batch in made:
            append(layout, batch)
            new, rewritten = early.read()
            assert not rewritten
            seen += new
        late, _ = Ledger(layout).read()
        flat = [entry for batch in made for entry in batch]
        assert [said(e) for e in late] == [said(e) for e in flat] == [said(e) for e in seen]
        assert [e.seq for e in late] == list(range(1, len(flat) + 1))
        assert all(a.at <= b.at for a, b in pairwise(late))
        assert early.read() == ([], False)
        assert verify(layout) == []
        assert history(layout) == late


@examples(20)
@given(batches, st.data())
def test_a_chain_cut_anywhere_is_a_shorter_chain(made: list[list[Entry]], data: st.DataObject) -> None:
    """The whole lines before the cut count, the next writer goes on from there, and nothing but a torn line is found."""
    with new_layout() as layout:
        for batch in made:
            append(layout, batch)
        whole = chain(layout).read_bytes()
        full, _, _ = read_chain(chain(layout))
        cut = data.draw(st.integers(0, len(whole)), label="cut")
        chain(layout).write_bytes(whole[:cut])
        left, _, broken = read_chain(chain(layout))
        n_whole = whole[:cut].count(b"\n")
        assert left == full[:n_whole]
        assert broken == []
        append(layout, made[0])
        after = history_in_order(layout)
        lost_newline = whole[cut : cut + 1] == b"\n"
        kept = full[: n_whole + lost_newline]
        assert [said(e) for e in after] == [said(e) for e in [*kept, *made[0]]]
        at_border = cut in {0, *(i + 1 for i, byte in enumerate(whole) if byte == 10)} or lost_newline
        assert [b.kind for b in verify(layout)] == ([] if at_border else ["torn"])


def history_in_order(layout: Layout) -> list[Entry]:
    return read_chain(chain(layout))[0]


@st.composite
def changed_byte(draw: st.DrawFn, whole: bytes) -> bytes:
    """The chain with one byte of it changed; not the last newline, without which the last line is being written."""
    at = draw(st.integers(0, len(whole) - 2))
    near = [whole[at] ^ 0x20, whole[at] ^ 1, ord("\n"), ord(" "), ord('"')]
    byte = draw(st.sampled_from(near) | st.integers(0, 255))
    return whole[:at] + bytes([byte if byte != whole[at] else byte ^ 4]) + whole[at + 1 :]


@examples(20)
@given(batches, st.data())
@example([[Entry("hide", "01JXYZ00000000000000000000", reason="\u00e9", actor="a")]], None)
def test_any_changed_byte_is_reported(made: list[list[Entry]], data: st.DataObject | None) -> None:
    """In any line, the last one included, and also where JSON would read the same from it."""
    with new_layout() as layout:
        for batch in made:
            append(layout, batch)
        whole = chain(layout).read_bytes()
        if data is None:
            chain(layout).write_bytes(whole.replace(b"\\u00e9", b"\\u00E9"))
        else:
            chain(layout).write_bytes(data.draw(changed_byte(whole)))
        assert verify(layout)
        Ledger(layout).read()


@pytest.mark.parametrize("name", ["actor", "action", "id", "at"])
def test_a_change_of_the_last_line_is_reported(name: str) -> None:
    """No later line holds the digest of it, so its own has to."""
    with new_layout() as layout:
        append(layout, [Entry("hide", "01JXYZ00000000000000000000", at="2026-06-02T14:23:00Z", actor="ann")])
        record = json.loads(chain(layout).read_bytes())
        record[name] = record[name][:-1] + "x"
        chain(layout).write_bytes(json.dumps(record, separators=(",", ":")).encode() + b"\n")
        assert [b.kind for b in verify(layout)] == ["changed"]


def test_a_renamed_open_part_of_the_last_line_is_reported() -> None:
    """It must not pass for a line without one."""
    with new_layout() as layout:
        append(layout, [Entry("hide", "01JXYZ00000000000000000000", at="2026-06-02T14:23:00Z", actor="ann")])
        chain(layout).write_bytes(chain(layout).read_bytes().replace(b'"open"', b'"oven"'))
        assert [b.kind for b in verify(layout)] == ["changed"]


@examples(20)
@given(batches, st.data())
def test_lines_without_their_open_part_keep_the_chain_whole(made: list[list[Entry]], data: st.DataObject) -> None:
    """Any of them, and readers who were further on hear of the rewriting; what is closed can be read as before."""
    with new_layout() as layout:
        for batch in made:
            append(layout, batch)
        reader = Ledger(layout)
        before, _ = reader.read()
        lines = chain(layout).read_bytes().split(b"\n")[:-1]
        chosen = data.draw(st.sets(st.sampled_from(range(len(lines))), min_size=1), label="redacted")
        lines = [redacted(line) if n in chosen else line for n, line in enumerate(lines)]
        chain(layout).write_bytes(b"\n".join([*lines, b""]))
        assert verify(layout) == []
        after, rewritten = reader.read()
        assert rewritten
        assert [(e.action, e.id, e.at, e.actor) for e in after] == [(e.action, e.id, e.at, e.actor) for e in before]
        assert all(said(a) == said(b) for n, (a, b) in enumerate(zip(after, before, strict=True)) if n not in chosen)
        assert not any(after[n].path or after[n].reason for n in chosen)
        append(layout, made[0])
        assert verify(layout) == []


def test_a_rewritten_chain_that_grew_beyond_the_old_one_is_noticed() -> None:
    """The first thing the reader finds at its old place may be the middle of another line."""
    with new_layout() as layout:
        short, long = (
            Entry("hide", "01JXYZ00000000000000000000", reason=reason, at="2026-06-02T14:23:00Z")
            for reason in ("", "x" * 40)
        )
        append(layout, [short, short])
        reader = Ledger(layout)
        reader.read()
        chain(layout).unlink()
        append(layout, [long, long, long, long])
        found, rewritten = reader.read()
        assert rewritten
        assert len(found) == 4


@pytest.mark.parametrize(
    "path", ["../x.md", "memories/../x.md", "/etc/x.md", "memories/.git/x.md", "memories/a.txt", "memories//y/../x.md"]
)
def test_a_line_that_names_a_file_outside_is_not_followed(tmp_path: Path, path: str) -> None:
    """Lines come from other clones too; what they name must be a file that a scan would find."""
    layout = Layout(tmp_path / "store")
    layout.memories.mkdir(parents=True)
    target = layout.root / path
    if not path.startswith("/etc"):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("outside")
    append(layout, [Entry("add", "01JXYZ00000000000000000000", path, at="2026-06-02T14:23:00Z")])
    with Memory(layout.root) as memory:
        assert {o.path for o in memory.recall().observations} <= {"memories/x.md"}


def _a_store(root: Path) -> set[str]:
    """A store with every kind of entry in its one chain; returns the ids that were never hidden."""
    (root / "grail.yaml").write_text("durability: fast\nlook_after_s: 0\n")
    with Memory(root) as memory:
        ids = [memory.add_observation(title=f"note {n}", content=f"body {n}", category="a").id for n in range(4)]
        ids += [w.id for w in memory.add_observations([{"content": f"batch {n}"} for n in range(2)])]
        memory.update(ids[0], tags=["x"], reason="é")
        memory.move(ids[1], "b")
        memory.hide(ids[2])
        memory.hide(ids[3])
        memory.restore(ids[3])
        (root / "memories/a/by hand.md").write_text("by hand")
        memory.sync()
        return {o.id for o in memory.recall(limit=1000).observations} - {ids[3]}


@pytest.mark.parametrize("with_snapshot", [False, True])
def test_a_store_survives_a_change_of_any_byte_of_its_ledger(tmp_path: Path, with_snapshot: bool) -> None:
    """It opens, answers with every file that was never hidden, and `check` names the line."""
    seen = _a_store(tmp_path)
    path = chains(Layout(tmp_path))[0]
    whole = path.read_bytes()
    if with_snapshot:
        with Memory(tmp_path) as memory:
            memory.compact()

    @examples(6)
    @given(changed_byte(whole))
    def law(changed: bytes) -> None:
        path.write_bytes(changed)
        with Memory(tmp_path) as memory:
            assert {o.id for o in memory.recall(limit=1000).observations} >= seen
            found = {p.code for p in memory.check().problems}
        assert found & {"broken_chain", "torn_entry"}

    law()


@pytest.mark.slow
@pytest.mark.parametrize("with_snapshot", [False, True])
def test_a_store_survives_a_cut_of_its_ledger_anywhere(tmp_path: Path, with_snapshot: bool) -> None:
    """After a sync every file is answered as before; what is written next is heard, and nothing but a torn line is found."""
    seen = _a_store(tmp_path)
    path = chains(Layout(tmp_path))[0]
    whole = path.read_bytes()
    everything = {entry.id for entry in read_chain(path)[0]}
    if with_snapshot:
        with Memory(tmp_path) as memory:
            memory.compact()

    @examples(6)
    @given(st.integers(0, len(whole)))
    def law(cut: int) -> None:
        root = Path(tempfile.mkdtemp())
        try:
            shutil.copytree(tmp_path, root, dirs_exist_ok=True)
            own = next(iter(chains(Layout(root))))
            own.write_bytes(whole[:cut])
            hidden = _hidden_by(own)
            with Memory(root) as memory, Memory(root) as other:
                memory.sync()
                got = {o.id for o in memory.recall(limit=1000).observations}
                assert got >= seen
                assert with_snapshot or got == everything - hidden
                written = memory.add_observation(content="later")
                assert written.id in {o.id for o in other.recall(limit=1000).observations}
                assert memory.check().ok
                assert {b.kind for b in verify(Layout(root))} <= {"torn"}
                left = [o.id for o in memory.recall(limit=1000).observations]
                memory.rebuild()
                if not with_snapshot:
                    assert [o.id for o in memory.recall(limit=1000).observations] == left
        finally:
            shutil.rmtree(root)

    law()


def _hidden_by(path: Path) -> set[str]:
    hidden: set[str] = set()
    for entry in read_chain(path)[0]:
        if entry.action in ("hide", "restore"):
            (hidden.add if entry.action == "hide" else hidden.discard)(entry.id)
    return hidden


@examples(200)
@given(
    entries,
    st.integers(0, 600),
    st.sampled_from([b"", b'"', b"\\", b"{", b"}", b",", b"0", b"\xc3\xa9", b"\x00", b"/", b" "]),
)
def test_a_line_in_the_usual_form_says_what_json_makes_of_it(entry: Entry, place: int, odd: bytes) -> None:
    """Also after bytes were put into it."""
    line = write_line(entry, Head())[0].rstrip(b"\n")
    line = line[: place % len(line)] + odd + line[place % len(line) :]
    found = usual_link(line, CLONE)
    assert found is None or found == any_link(line, CLONE)


def test_most_lines_are_in_the_usual_form() -> None:
    """Those of every action, without an escape in their texts."""
    entry = Entry(
        "relocate", "01JXYZ", "memories/a.md", "memories/b.md", "ab" * 32, "tidied", "t", "t", "00ff", "t", "owner"
    )
    assert usual_link(write_line(entry, Head())[0].rstrip(b"\n"), CLONE) is not None
    assert usual_link(write_line(Entry("hide", "01JXYZ"), Head())[0].rstrip(b"\n"), CLONE) is not None
