"""What `check` says of sources that are not as they were kept, and what else becomes of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from grail_mem import Memory, StoreError

CHAT, OTHER = "sources/chats/s.jsonl", "sources/chats/other.jsonl"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with two transcripts and a document."""
    with Memory(tmp_path / "store") as memory:
        memory.ingest_chat([{"role": "user", "text": "I live in Bern now."}], session="s")
        memory.ingest_chat([{"role": "user", "text": "Ann likes green tea."}], session="other")
        memory.ingest_text("The hall is ours for ever.", title="Hall")
        assert memory.check().problems == ()
        return memory.root


def document(root: Path) -> Path:
    (path,) = (root / "sources/documents").glob("*.txt")
    return path


def found(root: Path) -> list[tuple[str, str, int]]:
    with Memory(root) as memory:
        return [(p.code, p.where, p.line) for p in memory.check().problems]


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("elsewhere"))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("breaks", [_link, _folder, _pipe])
@pytest.mark.parametrize("what", ["a transcript", "a document", "what is known of a document"])
def test_a_source_that_cannot_be_read_is_named_and_stops_nothing_else(
    root: Path, what: str, breaks: Callable[[Path], None]
) -> None:
    """Check names it, sync passes over it, and what rests on others goes on."""
    path = {"a transcript": root / CHAT, "a document": document(root)}.get(
        what, document(root).with_suffix(".meta.json")
    )
    breaks(path)
    assert found(root) == [("unreadable_source", path.relative_to(root).as_posix(), 0)]
    with Memory(root) as memory:
        assert memory.sync().problems == ()
        assert memory.remember("Ann likes green tea.", evidence="Ann likes green tea.", session="other").created
        if what == "a transcript":
            with pytest.raises(StoreError, match=r"s\.jsonl"):
                memory.ingest_chat([{"role": "user", "text": "More."}], session="s")


def test_a_document_that_somebody_changed_is_named_and_put_right_by_the_original(root: Path) -> None:
    """Its name is the digest of its bytes; what was kept is not said to be there while it is not."""
    path = document(root)
    before = path.read_bytes()
    path.write_bytes(before.replace(b"ours", b"mine"))
    assert found(root) == [("changed_document", path.relative_to(root).as_posix(), 0)]
    with Memory(root) as memory:
        done = memory.ingest_text("The hall is ours for ever.", title="Hall")
        assert (done.n_new, done.warnings) == (1, ())
        assert memory.check().problems == ()
    assert path.read_bytes() == before


def test_lines_of_a_transcript_that_are_no_turns_are_named(root: Path) -> None:
    """By the first line, with how many more."""
    path = root / CHAT
    kept = path.read_bytes()
    path.write_bytes(kept + b'{"turn": 1, "role": "user"')
    assert found(root) == [("bad_turn", CHAT, 3)]
    path.write_bytes(kept + b"null\n" * 9)
    with Memory(root) as memory:
        (problem,) = memory.check().problems
        assert problem.message == "lines 3, 4, 5, 6, 7 and 4 more are no turns; nothing there can be quoted"
        assert (problem.severity, memory.check().ok) == ("warning", True)


def test_a_transcript_under_the_name_of_another_session_is_named(root: Path) -> None:
    """And one without a first line that names its session."""
    (root / OTHER).write_bytes((root / CHAT).read_bytes())
    assert found(root) == [("foreign_transcript", OTHER, 1)]
    (root / OTHER).write_bytes(b"\0" * 40)
    assert found(root) == [("foreign_transcript", OTHER, 1), ("bad_turn", OTHER, 1)]


def test_a_document_that_is_not_what_its_name_says_is_not_imported(root: Path, tmp_path: Path) -> None:
    """The rest of the export is, and the skip names it."""
    document(root).write_text("The hall is mine for ever.")
    with Memory(root) as memory:
        memory.export(tmp_path / "store.jsonl")
    with Memory(tmp_path / "new") as new:
        done = new.import_file(tmp_path / "store.jsonl")
        assert done.n_sources == 3
        (skipped,) = done.skipped
        assert skipped.reason == "its bytes are not those that its name is the digest of"
        assert {source["source"] for source in new.list_sources().items} == {CHAT, OTHER}


def test_an_import_puts_a_changed_document_right(root: Path, tmp_path: Path) -> None:
    """What is there is not the source of that name; the one of the export is."""
    path = document(root)
    before = path.read_bytes()
    with Memory(root) as memory:
        memory.export(tmp_path / "store.jsonl")
        path.write_bytes(before.replace(b"ours", b"mine"))
        assert memory.import_file(tmp_path / "store.jsonl", dry_run=True).n_sources == 1
        assert path.read_bytes() != before
        done = memory.import_file(tmp_path / "store.jsonl")
        assert (done.n_sources, [skip for skip in done.skipped if "source" in skip.reason]) == (1, [])
        assert path.read_bytes() == before
        assert memory.check().problems == ()


@pytest.mark.parametrize("first", ["own", "foreign"])
def test_of_several_first_lines_the_one_of_the_file_counts(root: Path, first: str) -> None:
    """A merge may have put another transcript into it, before or behind: its own session goes on, and the line is named."""
    path = root / CHAT
    own = path.read_bytes()
    foreign = (root / OTHER).read_bytes()
    path.write_bytes(own + foreign if first == "own" else foreign + own)
    at = 1 if first == "foreign" else 1 + own.count(b"\n")
    with Memory(root) as memory:
        (problem,) = memory.check().problems
        assert (problem.code, problem.line) == ("foreign_transcript", at)
        assert problem.message.startswith(f"line {at} names the session 'other'")
        assert "take out that line" in problem.remedy
        assert memory.ingest_chat([{"role": "user", "text": "More of the same."}], session="s").n_new == 1
