"""`grail retain`, `fade` and `migrate`: what they print, what they ask, and with which code they leave."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from grail_mem import Memory
from grail_mem.store.access import AccessLog
from grail_mem.store.layout import Layout

OLD = Path(__file__).parents[1] / "keep/store_of_version_1.json"
NOTE = "---\nid: 01J00000000000000000000000\ntitle: Weak\nrecorded_at: 2020-01-01T00:00:00Z\n---\n\nNobody asks.\n"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A transcript of 2024 with one turn that is quoted and one that is not, and a note of 2020 that nobody recalled."""
    root = tmp_path / "store"
    (root / "memories").mkdir(parents=True)
    (root / "memories/weak.md").write_text(NOTE)
    (root / "grail.yaml").write_text("access_log: on\nretention_days: 30\n")
    said = [{"role": "user", "text": text, "at": "2024-03-01"} for text in ("I moved to Oslo in spring.", "It rained.")]
    with Memory(root, embedder="none") as memory:
        memory.ingest_chat(said, session="talk")
        memory.remember(said[0]["text"], evidence=said[0]["text"], session="talk")
        memory.sync()
    AccessLog(Layout(root)).note(["01J00000000000000000000009"], day=date(2020, 1, 1).toordinal())
    return root


def test_due_names_the_transcript_and_retain_takes_what_nothing_quotes(grail, grail_json, store):
    assert "term 2024-03-31" in grail("due", store).stdout
    (one,) = grail_json("due", store)["due"]
    assert (one["path"], list(one["why"])) == ("sources/chats/talk.jsonl", ["term"])
    refused = grail("retain", store)
    assert (refused.exit_code, "--yes" in refused.stderr) == (2, True)
    planned = grail("retain", store, "--dry-run")
    assert "1 turn would go" in planned.stdout
    assert "It rained." in (store / "sources/chats/talk.jsonl").read_text()
    done = grail_json("retain", store, "--yes", "--reason", "house rule")
    assert (len(done["turns"]), done["reason"], done["dry_run"]) == (1, "house rule", False)
    assert "It rained." not in (store / "sources/chats/talk.jsonl").read_text()
    assert grail("due", store).stdout == "Nothing is due.\n"
    assert "0 turns went" in grail("retain", store).stdout
    for wrong in ("0", "x", "9999999"):
        assert "days must be a whole number" in grail("retain", store, "--days", wrong).stderr
    assert grail("retain", store, "--days", "100000").stdout.startswith("No transcript is older than")


def test_fade_lists_and_archives_only_when_told_to(grail, grail_json, store):
    listed = grail("fade", store)
    assert "Weak" in listed.stdout
    assert "1 observation of 2 below 0.1; recalls count since 2020-01-01." in listed.stdout
    assert "never fades" in listed.stderr
    assert grail_json("fade", store, "--below", "0.0000000001")["weak"] == []
    assert "below must be a number" in grail("fade", store, "--below", "much").stderr
    (one,) = grail_json("fade", store)["weak"]
    assert (one["last_recalled"], one["half_life_days"], one["counted_since"]) == (None, 90, "2020-01-01")
    assert grail("fade", store, "--apply").stdout.endswith("1 observation archived.\n")
    assert "status: archived" in (store / "memories/weak.md").read_text()
    assert grail("unarchive", store, one["id"]).exit_code == 0
    (store / "grail.yaml").write_text("access_log: off\n")
    refused = grail("fade", store)
    assert (refused.exit_code, "access_log: on" in refused.stderr) == (2, True)


def test_migrate_says_what_it_would_do_and_does_it_once(grail, grail_json, tmp_path):
    root = tmp_path / "old"
    for path, text in json.loads(OLD.read_text()).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    assert "older_form" in {p["code"] for p in grail_json("check", root)["problems"]}
    planned = grail("migrate", root, "--dry-run").stdout
    assert planned.endswith("8 changes would be made; version 1 would become 4.\n")
    done = grail_json("migrate", root, "--out", tmp_path)
    assert (done["n_changes"], done["was"], done["now"]) == (8, 1, 4)
    assert Path(done["backup"]).parent == tmp_path
    assert grail("migrate", root).stdout == "Nothing to do: the store has version 4.\n"
