"""The list of sources: what there is to quote, whatever is wrong with one of the files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grail_mem import InputError, Memory


def test_conversations_and_documents_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, however many files it lies in."""
    monkeypatch.setattr("grail_mem.write.transcript.PART_BYTES", 200)
    with Memory(tmp_path, embedder="none") as memory:
        turns = [{"role": "user", "text": f"Statement number {n}.", "at": f"2026-06-0{n + 1}"} for n in range(5)]
        for turn in turns:
            memory.ingest_chat([turn], session="Stand-up")
        memory.ingest_text("The lease ends in May.", title="Lease", observed_at="2026-01-05")
        assert len(list((tmp_path / "sources/chats").iterdir())) > 1
        chat, document = memory.list_sources().items
        assert (chat["kind"], chat["name"], chat["n_turns"], chat["scopes"]) == ("chat", "Stand-up", 5, ["org:store"])
        assert [f"{chat[name]:%Y-%m-%d}" for name in ("first_at", "last_at")] == ["2026-06-01", "2026-06-05"]
        assert (document["kind"], document["name"], document["n_turns"]) == ("document", "Lease", None)
        assert f"{document['first_at']:%Y-%m-%d}" == "2026-01-05"
        found = memory.recall(text="anything").abstention
        assert found is not None
        assert "evidence can quote 1 conversation and 1 document" in found.detail
        with pytest.raises(InputError, match="limit"):
            memory.list_sources(limit=0)


def test_what_was_erased_is_not_listed_when_git_brings_it_back(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        memory.ingest_chat([{"role": "user", "text": "The vault code is on the note."}], session="gone")
        memory.ingest_chat([{"role": "user", "text": "Something else entirely."}], session="kept")
        before = (tmp_path / "sources/chats/gone.jsonl").read_bytes()
        memory.erase(session="gone", reason="asked")
        (tmp_path / "sources/chats/gone.jsonl").write_bytes(before)
        listed = memory.list_sources()
        assert ([item["name"] for item in listed.items], listed.total) == (["kept"], 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_cannot_be_read_hinders_no_other(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        for name in ("one", "two"):
            memory.ingest_chat([{"role": "user", "text": "A statement of some length."}], session=name)
        (tmp_path / "sources/chats/one.jsonl").chmod(0)
        one, two = memory.list_sources().items
        assert "cannot be read" in one["problem"]
        assert (two["name"], two["problem"]) == ("two", "")


def test_a_link_in_place_of_a_source_is_named_and_not_followed(tmp_path: Path) -> None:
    with Memory(tmp_path / "store", embedder="none") as memory:
        for name in ("one", "two"):
            memory.ingest_chat([{"role": "user", "text": "A statement of some length."}], session=name)
        outside = tmp_path / "outside.jsonl"
        path = tmp_path / "store/sources/chats/one.jsonl"
        path.rename(outside)
        path.symlink_to(outside)
        one, two = memory.list_sources().items
        assert one["problem"]
        assert (one["n_turns"], two["n_turns"]) == (None, 1)
