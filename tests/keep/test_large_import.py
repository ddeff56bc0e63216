"""A large import stays within bounds on its way, ends ready for a search, and can be killed and finished."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import foreign_files as ff
import pytest

from grail_mem import Memory
from grail_mem.index import segment
from grail_mem.index.catalog import has_catalog
from grail_mem.index.document import document
from grail_mem.index.segment import Said, Segment, segment_of
from grail_mem.keep import bring
from grail_mem.store.layout import Layout


def chats(n: int) -> list[dict[str, Any]]:
    """One conversation of ChatGPT with so many messages, each of its own words."""
    nodes = {
        f"n{i}": {"id": f"n{i}", "parent": f"n{i - 1}" if i else None, "message": {
            "id": f"m{i}", "author": {"role": "assistant" if i % 2 else "user"}, "create_time": 1.7e9 + i,
            "content": {"content_type": "text", "parts": [f"Statement {i} tells of the harbour number{i}."]}}}
        for i in range(n)
    }  # fmt: skip
    return [{"title": "T", "conversation_id": "c", "mapping": nodes, "current_node": f"n{n - 1}"}]


def small_store(root: Path, compact_after: int = 5) -> Path:
    with Memory(root) as memory:
        memory.init()
    with (root / "grail.yaml").open("a") as file:
        file.write(f"\ncompact_after: {compact_after}\n")
    return root


def test_a_large_import_ends_with_an_index_of_its_words_and_tells_how_far_it_is(tmp_path: Path) -> None:
    path, root = ff.write(tmp_path / "conversations.json", chats(12)), small_store(tmp_path / "new")
    told: list[tuple[str, int, int | None]] = []
    counted: list[int] = []
    with Memory(root, embedder="none") as memory:
        done = memory.import_file(path, progress=counted.append, indexing=lambda *said: told.append(said))
        assert (done.n_added, done.n_indexed, done.to_dict()["n_indexed"]) == (12, 12, 12)
        assert counted[-1] == done.n_records
        assert told == [("writing the snapshot", 12, None), ("indexing", 12, 12)]
        again = memory.import_file(path)
        assert (again.n_added, again.n_unchanged, again.n_indexed, again.changed) == (0, 12, 0, False)
    with Memory(root, embedder="none") as memory:
        read: list[str] = []
        found = memory.search("What tells of number7?", progress=lambda what, *_: read.append(what))
        assert found.observations[0].content == "Statement 7 tells of the harbour number7."
        assert read == []


def test_an_import_that_was_not_indexed_is_by_the_next_and_a_search_tells_what_it_reads(tmp_path: Path) -> None:
    path, root = ff.write(tmp_path / "conversations.json", chats(12)), small_store(tmp_path / "new", 1000)
    with Memory(root, embedder="none") as memory:
        assert memory.import_file(path, index=False).n_indexed == 0
        told: list[tuple[str, int, int | None]] = []
        memory.search("What tells of number7?", progress=lambda *said: told.append(said))
        assert told == [("reading what is not indexed", 12, 12)]
        assert not has_catalog(Layout(memory.root))
    settings = root / "grail.yaml"
    settings.write_text(settings.read_text().replace("compact_after: 1000", "compact_after: 5"))
    with Memory(root, embedder="none") as memory:
        assert memory.import_file(path).n_indexed == 12


def test_a_small_import_and_one_that_is_not_to_be_indexed_leave_the_index_to_others(tmp_path: Path) -> None:
    path, root = ff.write(tmp_path / "conversations.json", chats(4)), small_store(tmp_path / "new")
    with Memory(root) as memory:
        assert memory.import_file(path).n_indexed == 0
        assert memory.import_file(ff.write(path, chats(12)), index=False).n_indexed == 0
    assert not has_catalog(Layout(root))


def test_an_import_compacts_on_its_way_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bring, "_MOST_LOOSE", 5)
    monkeypatch.setattr(bring, "BATCH", 3)
    path = ff.write(tmp_path / "conversations.json", chats(20))
    with Memory(tmp_path / "new") as memory:
        assert memory.import_file(path, index=False).n_added == 20
        view = memory._open()
        assert view.manifest.n_rows >= 15
        assert len(view.delta.rows) < 5
        assert {o.content for o in memory.recall(limit=100).observations} == {
            f"Statement {i} tells of the harbour number{i}." for i in range(20)
        }
        assert memory.check().ok
        assert memory.import_file(path).n_unchanged == 20


def flat(made: Segment) -> dict[str, Any]:
    """All arrays of a segment as bytes."""
    parts = [made.said, made.by_term, made.by_name, made.by_title]
    arrays = {f"{i}.{name}": getattr(part, name) for i, part in enumerate(parts) for name in part.__dataclass_fields__}
    return {
        name: value if isinstance(value, tuple) else (value.dtype.str, value.tobytes())
        for name, value in arrays.items()
    } | {"doc": made.doc.tobytes(), "n_terms": made.n_terms.tobytes()}


def test_a_segment_is_the_same_however_many_documents_are_made_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(tmp_path / "new") as memory:
        memory.import_file(ff.write(tmp_path / "c.json", ff.CHATGPT), kind="chatgpt")
        memory.import_file(ff.folder(tmp_path / "vault", ff.BASIC))
        made = list(map(document, memory.recall(limit=100).observations))
    whole = flat(segment_of(made))
    for size in (1, 2, 3):
        monkeypatch.setattr(segment, "_AT_ONCE", size)
        assert flat(segment_of(made)) == whole
    assert isinstance(segment_of(()).said, Said)


@pytest.mark.slow
def test_an_import_that_is_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    path, root = ff.write(tmp_path / "conversations.json", chats(2500)), tmp_path / "new"
    command = [sys.executable, "-m", "grail_mem", "import", "--root", str(root), str(path), "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        while running.poll() is None and not any((root / "memories").rglob("*.md")):
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    done = json.loads(finished.stdout)
    assert done["n_added"] + done["n_unchanged"] == 2500
    assert done["n_unchanged"] > 0
    with Memory(root) as memory:
        assert memory.check().ok
        assert len(memory.recall(limit=5000).observations) == 2500
