"""The journal: what was appended is read by everybody, what is torn or of an earlier round is not."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from restarts import start_anew

from grail_mem.store.journal import File, Journal, Record, Tip, left_behind, left_unfinished
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import Ledger
from grail_mem.store.ledger_line import Entry


def lines(layout: Layout, n: int, clone: str = "abc") -> list[bytes]:
    """The next lines of a chain."""
    ledger = Ledger(layout)
    ledger.read()
    with ledger.appending(clone) as chain:
        drafted = chain.draft([Entry("add", "A", f"memories/{i}.md") for i in range(n)])
        chain.write(drafted)
    return drafted.lines


@contextmanager
def journal_of(root: Path) -> Iterator[tuple[Layout, Journal]]:
    layout = Layout(root)
    layout.local.mkdir(parents=True, exist_ok=True)
    journal = Journal(layout)
    journal.open()
    try:
        yield layout, journal
    finally:
        journal.close()


@given(st.lists(st.tuples(st.integers(1, 3), st.lists(st.binary(max_size=300), max_size=3), st.booleans()), max_size=6))
def test_what_was_appended_is_read_by_everybody(made: list[tuple[int, list[bytes], bool]]) -> None:
    """In order, with every byte, by one that was open before and one that comes later."""
    with (
        tempfile.TemporaryDirectory() as folder,
        journal_of(Path(folder)) as (layout, journal),
        journal_of(Path(folder)) as (_, early),
    ):
        written = [
            Record("abc", lines(layout, n), tuple(File(f"{i}.tmp", "00", d) for i, d in enumerate(bodies)), promised)
            for n, bodies, promised in made
        ]
        for record in written:
            journal.append(record)
            early.open()
        with journal_of(Path(folder)) as (_, late):
            for reader in (journal, early, late):
                assert list(reader.records()) == written
                assert reader.is_empty == (not written)
                assert reader.unfinished == (written[-1] if written else None)


def test_a_record_that_is_in_place_is_not_unfinished(tmp_path: Path) -> None:
    with journal_of(tmp_path) as (layout, journal), journal_of(tmp_path) as (_, other):
        journal.append(Record("abc", lines(layout, 1)))
        other.open()
        assert other.unfinished is not None
        journal.note_in_place()
        assert other.unfinished is None


def test_a_record_taken_back_is_gone(tmp_path: Path) -> None:
    """The one before it counts again, for everybody."""
    with journal_of(tmp_path) as (layout, journal):
        first = Record("abc", lines(layout, 1))
        journal.append(first)
        journal.note_in_place()
        tip = journal.tip
        journal.append(Record("abc", lines(layout, 1)))
        assert journal.tip != tip
        journal.take_back()
        with journal_of(tmp_path) as (_, other):
            for reader in (journal, other):
                assert list(reader.records()) == [first]
                assert reader.tip == tip
                assert reader.unfinished is None


@given(st.data())
def test_a_torn_record_ends_the_journal(data: st.DataObject) -> None:
    """Whichever byte of the last record is not as written, those before it count and the next one takes its place."""
    with tempfile.TemporaryDirectory() as folder, journal_of(Path(folder)) as (layout, journal):
        first = Record("abc", lines(layout, 1), (File("1.tmp", "", b"first"),))
        journal.append(first)
        start = _end_of(layout)
        journal.append(Record("abc", lines(layout, 1), (File("2.tmp", "", b"second" * 20),)))
        end = _end_of(layout)
        path = layout.local / "journal"
        at = data.draw(st.integers(start, end - 1).filter(lambda at: not start + 32 <= at < start + 40))
        whole = path.read_bytes()
        path.write_bytes(whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :])
        with journal_of(Path(folder)) as (_, reader):
            assert list(reader.records()) == [first]
            third = Record("abc", lines(layout, 1))
            reader.append(third)
            assert list(reader.records()) == [first, third]


def _end_of(layout: Layout) -> int:
    return len((layout.local / "journal").read_bytes().rstrip(b"\0"))


def test_an_emptied_journal_keeps_where_the_chain_ended(tmp_path: Path) -> None:
    """Records of the round before are not read again, though their bytes are still there."""
    with journal_of(tmp_path) as (layout, journal), journal_of(tmp_path) as (_, other):
        for _ in range(3):
            journal.append(Record("abc", lines(layout, 1)))
        tip = journal.tip
        journal.empty()
        other.open()
        for reader in (journal, other):
            assert reader.is_empty
            assert list(reader.records()) == []
            assert reader.tip == tip != Tip()
        other.append(Record("abc", lines(layout, 1)))
        journal.open()
        assert len(list(journal.records())) == 1


def test_a_large_record_fits_and_leaves_no_large_file(tmp_path: Path) -> None:
    with journal_of(tmp_path) as (layout, journal):
        large = Record("abc", lines(layout, 1), (File("1.tmp", "", b"x" * 3_000_000),))
        assert journal.has_room(large)
        journal.append(large)
        assert list(journal.records()) == [large]
        assert not journal.has_room(Record("abc", lines(layout, 1)))
        journal.empty()
        assert (layout.local / "journal").stat().st_size <= 1 << 20


def test_a_copy_of_the_folder_has_no_journal(tmp_path: Path) -> None:
    """Its files were copied whole; what the other store does next is nothing to it."""
    with journal_of(tmp_path / "one") as (layout, journal):
        journal.append(Record("abc", lines(layout, 1)))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    start_anew(tmp_path / "two")
    assert not left_behind(Layout(tmp_path / "two"))
    with journal_of(tmp_path / "two") as (_, copied):
        assert copied.is_empty
        assert copied.tip == Tip()


def test_a_journal_from_before_the_last_start_of_the_system_is_left_behind(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert not left_behind(layout)
    with journal_of(tmp_path) as (_, journal):
        journal.append(Record("abc", lines(layout, 1)))
        assert not left_behind(layout)
        start_anew(tmp_path)
        assert left_behind(layout)
        journal.open()
        assert journal.is_left_behind
        journal.empty()
        assert not journal.is_left_behind
        assert not left_behind(layout)


@pytest.mark.parametrize("garbage", [b"", b"\0" * 5000, b"not a journal" * 999, b"0" * 32 + b" {}\n"])
def test_what_is_no_journal_is_replaced(tmp_path: Path, garbage: bytes) -> None:
    layout = Layout(tmp_path)
    layout.local.mkdir(parents=True)
    (layout.local / "journal").write_bytes(garbage)
    assert not left_behind(layout)
    with journal_of(tmp_path) as (_, journal):
        assert journal.is_empty
        record = Record("abc", lines(layout, 1))
        journal.append(record)
        assert list(journal.records()) == [record]


def test_the_journal_grows_when_it_was_full_and_only_then(tmp_path: Path) -> None:
    with journal_of(tmp_path) as (layout, journal):
        size = (layout.local / "journal").stat().st_size
        for larger, times in ((False, 1), (True, 2), (False, 2), (True, 4)):
            journal.empty(larger=larger)
            assert (layout.local / "journal").stat().st_size == times * size


def test_a_record_that_is_not_in_place_is_left_unfinished(tmp_path: Path) -> None:
    """A killed writer's last record is seen without the lock; one that is in place, and one taken back, are not."""
    with journal_of(tmp_path) as (layout, journal):
        assert not left_unfinished(layout)
        for n in (1, 2):
            journal.append(Record("abc", lines(layout, n), (File("1.tmp", "", b"said"),)))
            assert left_unfinished(layout)
            journal.note_in_place()
            assert not left_unfinished(layout)
        journal.append(Record("abc", lines(layout, 1)))
        journal.take_back()
        assert not left_unfinished(layout)
