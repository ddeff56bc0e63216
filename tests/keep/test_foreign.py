"""What other programs keep and export comes in whole, once, with where it came from, and every skip is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import foreign_files as ff
import pytest

from grail_mem import InputError, Memory, NotFoundError
from grail_mem.keep.imported import Imported
from grail_mem.model.observation import Observation

STORES: dict[str, Callable[[Path], Path]] = {
    "chatgpt": lambda p: ff.zipped(p / "export.zip", {"conversations.json": ff.CHATGPT, "chat.html": "<html>", "file-a.png": "png"}),
    "claude": lambda p: ff.zipped(
        p / "export.zip",
        {"conversations.json": ff.CLAUDE_CHATS, "projects.json": ff.CLAUDE_PROJECTS, "memories.json": ff.CLAUDE_MEMORIES, "users.json": []},
    ),
    "mcp": lambda p: ff.write(p / "memory.jsonl", '{"type":"entity","name":"Ann","entityType":"person","observations":["likes tea"]}\n'),
    "mem0": lambda p: ff.write(p / "mem0.json", ff.MEM0),
    "basic-memory": lambda p: ff.folder(p / "vault", ff.BASIC),
    "obsidian": lambda p: ff.folder(p / "vault", ff.OBSIDIAN),
    "graphgrail": lambda p: ff.graphgrail(p / "store"),
    "citefold": lambda p: ff.citefold(p / "store"),
}  # fmt: skip


def taken(path: Path, root: Path, **asked: Any) -> tuple[Imported, dict[str, Observation]]:
    """What comes of an import, and what is there then by title; a dry run says the same before, and a second run is none."""
    with Memory(root) as memory:
        planned = memory.import_file(path, dry_run=True, **asked)
        assert not root.exists()
        done = memory.import_file(path, **asked)
        assert (planned.n_added, len(planned.skipped)) == (done.n_added, len(done.skipped))
        assert done.n_records == done.n_added + done.n_unchanged + done.n_beside + len(done.skipped)
        assert all(item.reason and item.place for item in done.skipped)
        again = memory.import_file(path, **asked)
        assert (again.n_added, again.n_unchanged, again.changed) == (0, done.n_added, False)
        assert memory.check().ok
        found = memory.recall(limit=1000, include_history=True).observations
        assert len(found) == done.n_added
        return done, {o.title: o for o in found}


def reasons(done: Imported) -> list[str]:
    return sorted(item.reason for item in done.skipped)


@pytest.mark.parametrize("kind", STORES)
def test_a_kind_is_known_by_what_is_in_it_comes_once_and_says_where_it_came_from(kind: str, tmp_path: Path) -> None:
    done, found = taken(STORES[kind](tmp_path), tmp_path / "new")
    assert done.form == kind
    assert found
    for o in found.values():
        assert o.extra["imported"]["from"] == kind
        assert o.source_kind in (None, "agent_inference") or kind in ("chatgpt", "claude", "citefold")


def test_an_export_of_chatgpt_gives_what_was_said_on_the_branch_that_was_shown(tmp_path: Path) -> None:
    done, found = taken(STORES["chatgpt"](tmp_path), tmp_path / "new")
    assert set(found) == {
        "About the user",
        "How to answer",
        "Which one is this?",
        "It is Postgres.",
        "We take Postgres then.",
    }
    asked, answer = found["Which one is this?"], found["It is Postgres."]
    assert (asked.session, asked.speaker, asked.source_kind, asked.kind) == (
        "conv-1",
        "user",
        "user_statement",
        "episodic",
    )
    assert (answer.speaker, answer.source_kind, answer.source) == (
        "assistant",
        "agent_inference",
        "Choosing a database",
    )
    assert asked.observed_at.isoformat() == "2025-01-07T00:23:32.345000+00:00"
    assert answer.extra["imported"] == {"from": "chatgpt", "id": "m5"}
    assert asked.turn is not None
    assert answer.turn is not None
    assert asked.turn < answer.turn
    assert reasons(done) == [
        "image asset pointer is not taken", *["it holds no conversations; pictures, sounds and settings are not taken"] * 2,
        "it is a call of a tool", "it is of the system", "it is of the tool", "it is on a branch that was left",
        "its content is of the type thoughts, which is nothing that was said", "real time user audio video asset pointer is not taken",
    ]  # fmt: skip


def test_conversations_of_chatgpt_in_several_files_and_one_alone_are_read(tmp_path: Path) -> None:
    other = json.loads(json.dumps(ff.CHATGPT).replace("conv-1", "conv-2").replace("It is Postgres", "It is MySQL"))
    path = ff.zipped(tmp_path / "e.zip", {"conversations-000.json": ff.CHATGPT, "conversations-001.json": other})
    assert {"It is Postgres.", "It is MySQL."} <= set(taken(path, tmp_path / "a")[1])
    one = ff.write(tmp_path / "one.json", json.dumps(ff.CHATGPT[0], indent=1))
    done, found = taken(one, tmp_path / "b")
    assert done.form == "chatgpt"
    assert "It is Postgres." in found


def test_a_conversation_that_was_renamed_or_went_on_comes_only_with_what_is_new(tmp_path: Path) -> None:
    path = ff.write(tmp_path / "conversations.json", ff.CLAUDE_CHATS)
    with Memory(tmp_path / "new") as memory:
        first = memory.import_file(path).n_added
        chats = json.loads(json.dumps(ff.CLAUDE_CHATS))
        chats[0]["name"] = "Another name"
        chats[0]["chat_messages"].append(
            {"uuid": "m-3", "sender": "human", "text": "Thanks.", "created_at": "2026-05-02T10:00:00Z"}
        )
        done = memory.import_file(ff.write(path, chats))
        assert (done.n_added, done.n_unchanged) == (1, first)


def test_an_export_of_claude_gives_messages_attachments_projects_and_memories(tmp_path: Path) -> None:
    done, found = taken(STORES["claude"](tmp_path), tmp_path / "new")
    assert set(found) == {
        "Plan a trip to Porto.", "Take the train.", "budget.txt", "House", "House: instructions", "plan.md", "What Claude remembers",
        "What Claude remembers of project p-1",
    }  # fmt: skip
    assert found["Take the train."].content == "Take the train."
    assert (found["budget.txt"].source_kind, found["budget.txt"].speaker, found["budget.txt"].session) == (
        None,
        None,
        "c-1",
    )
    assert (found["plan.md"].content, found["plan.md"].observed_at.month) == ("# Plan\n\nThree rooms.", 4)
    remembered = found["What Claude remembers"]
    assert (remembered.kind, remembered.source_kind, remembered.category) == (
        "summary",
        "agent_inference",
        "imported/claude/memories",
    )
    assert reasons(done) == [
        "it holds no conversations, projects or memories", "the attachment holds no text", "the document holds no text",
        "the export does not hold the file",
    ]  # fmt: skip


def test_facts_of_mem0_are_inferences_in_the_scope_of_their_user(tmp_path: Path) -> None:
    done, found = taken(STORES["mem0"](tmp_path), tmp_path / "new")
    fact = found["Dev works at TechCorp"]
    assert (fact.source_kind, fact.scope, fact.session, fact.tags) == (
        "agent_inference",
        "user:dev",
        "run-1",
        ("work", "type:professional"),
    )
    assert fact.observed_at.isoformat() == "2025-02-02T11:04:05+00:00"
    assert fact.extra["imported"] == {"from": "mem0", "id": "f-1", "created_at": "2025-01-02T03:04:05-08:00"}
    assert found["Likes tea"].observed_at.year == 2025
    assert found["dev works_at techcorp"].relationships[0].relationship_type == "works_at"
    assert len(done.skipped) == 4
    with Memory(tmp_path / "new") as memory:
        for user in ("dev", "ann"):
            memory.grant(f"user:{user}", f"user:{user}", ["read"])
        with memory.session(user_id="ann", agent_id="x") as session:
            assert [o.title for o in session.recall().observations] == ["Likes tea"]


def test_a_history_of_mem0_gives_versions_and_nothing_that_was_deleted(tmp_path: Path) -> None:
    done, found = taken(ff.write(tmp_path / "h.json", ff.MEM0_HISTORY), tmp_path / "new")
    assert set(found) == {"Lives in Rome", "Lives in Oslo"}
    assert found["Lives in Oslo"].supersedes == found["Lives in Rome"].id
    assert found["Lives in Rome"].status == "superseded"
    assert reasons(done) == ["the memory was deleted there"] * 2
    with Memory(tmp_path / "new") as memory:
        assert [o.title for o in memory.recall().observations] == ["Lives in Oslo"]
    lines = "".join(json.dumps(item) + "\n" for item in ff.MEM0["results"][:2])
    assert taken(ff.write(tmp_path / "lines.jsonl", lines), tmp_path / "lines")[0].n_added == 2


def test_a_vault_of_basic_memory_gives_statements_and_relations(tmp_path: Path) -> None:
    done, found = taken(STORES["basic-memory"](tmp_path), tmp_path / "new")
    assert set(found) == {
        "Coffee Brewing: Pour over is clearer",
        "Coffee Brewing: Grind fresh",
        "Coffee Brewing",
        "only-relations",
    }
    said = found["Coffee Brewing: Pour over is clearer"]
    assert said.content == "Pour over is clearer #taste (from a course)"
    assert said.tags == ("method", "taste", "coffee", "brewing")
    assert (said.entities[0].name, said.entities[0].type, said.category) == (
        "Coffee Brewing",
        "guide",
        "imported/basic-memory/coffee",
    )
    assert said.observed_at.isoformat() == "2025-03-04T00:00:00+00:00"
    note = found["Coffee Brewing"]
    assert {(r.relationship_type, r.target, r.description) for r in note.relationships} == {
        ("links_to", "Mugs", ""), ("requires", "Grinder", "always"), ("relates_to", "Tea", ""),
    }  # fmt: skip
    assert "- [x] a finished task" in note.content
    assert "- [code] not a statement" in note.content
    assert "Relations" not in note.content
    assert reasons(done) == ["the note is empty", "the note says it twice"]


def test_a_vault_of_obsidian_gives_notes_with_links_tags_names_and_days(tmp_path: Path) -> None:
    done, found = taken(STORES["obsidian"](tmp_path), tmp_path / "new")
    assert set(found) == {"Grail", "2025-07-08", "Ann", "broken"}
    note = found["Grail"]
    assert note.tags == ("project", "area/memory")
    assert {(r.relationship_type, r.target) for r in note.relationships} == {
        ("LINKS_TO", "Ann"), ("LINKS_TO", "Postgres"), ("EMBEDS", "Notes on Ann")
    }  # fmt: skip
    assert note.entities[0].aliases == ("GM", "The Memory")
    assert (note.category, note.observed_at.isoformat()) == ("imported/obsidian/Projects", "2025-06-01T09:00:00+00:00")
    assert found["2025-07-08"].observed_at.isoformat() == "2025-07-08T00:00:00+00:00"
    with Memory(tmp_path / "new") as memory:
        assert {o.title for o in memory.recall(entity_names=["gm"]).observations} == {"Grail"}
    by_place = {item.place: item.reason for item in done.skipped}
    assert by_place.keys() == {"blank.md", "Board.canvas", "diagram.png", ".obsidian", ".trash"}
    assert by_place["Board.canvas"] == "a canvas is not taken"


def test_a_vault_in_a_zip_says_the_same_as_its_folder(tmp_path: Path) -> None:
    folder = ff.folder(tmp_path / "vault", ff.OBSIDIAN)
    path = ff.zipped(tmp_path / "vault.zip", {f"My vault/{name}": text for name, text in ff.OBSIDIAN.items()})
    with Memory(tmp_path / "new") as memory:
        assert memory.import_file(folder).n_added == 4
        assert memory.import_file(path).n_unchanged == 4
        assert not memory.import_file(path).changed


def test_a_store_of_graphgrail_comes_with_its_tables(tmp_path: Path) -> None:
    done, found = taken(STORES["graphgrail"](tmp_path), tmp_path / "new")
    acme, tea = found["Acme picked Postgres"], found["Tea: at four"]
    assert (acme.category, acme.confidence, acme.source, acme.tags) == (
        "work/clients/acme",
        0.95,
        "architecture review",
        ("decision", "db"),
    )
    assert [(e.name, e.type, e.description) for e in acme.entities] == [
        ("ACME", "ORGANIZATION", "A client."), ("POSTGRES", "TECHNOLOGY", "A database.")
    ]  # fmt: skip
    assert (acme.relationships[0].relationship_type, acme.relationships[0].description) == ("CHOSE", "after the review")
    assert tea.related_to == (acme.id,)
    assert tea.source_kind == "agent_inference", "a file cannot say who is behind it"
    assert {item.place for item in done.skipped} == {"memories/empty.md", "stray.txt"}
    (tmp_path / "store/output/final_entities.parquet").write_bytes(b"PAR1 broken")
    done, found = taken(tmp_path / "store", tmp_path / "other")
    assert len(found) == 2
    assert "output/final_entities.parquet" in {item.place for item in done.skipped}


def test_a_store_of_citefold_comes_with_its_versions_and_without_what_it_deleted(tmp_path: Path) -> None:
    done, found = taken(STORES["citefold"](tmp_path), tmp_path / "new")
    assert set(found) == {
        "I prefer concise answers.",
        "Noted.",
        "Prefers concise answers.",
        "Prefers very concise answers.",
    }
    old, new = found["Prefers concise answers."], found["Prefers very concise answers."]
    assert (old.status, new.supersedes, old.source_kind, new.source_kind) == (
        "superseded",
        old.id,
        "agent_inference",
        "user_statement",
    )
    assert (new.scope, new.session, new.related_to) == ("user:alex", "launch", (found["I prefer concise answers."].id,))
    assert (found["Noted."].speaker, found["Noted."].source_kind) == ("assistant", "agent_inference")
    assert reasons(done) == [
        "1 files of assets are not taken; what was read in them is", "a candidate that nobody approved", "it was deleted there",
        "it was deleted there", "the line is no JSON object", "the revision holds no record",
    ]  # fmt: skip


def test_a_graph_of_the_mcp_server_and_its_corrupt_lines_are_read(tmp_path: Path) -> None:
    graph = {
        "entities": [{"name": "Ann", "entityType": "person", "observations": ["likes tea", None, 7]}, {"name": None}],
        "relations": [{"from": "Ann", "to": "Acme", "relationType": "works_at"}, {"from": "Ann"}],
    }
    done, found = taken(ff.write(tmp_path / "graph.json", graph), tmp_path / "graph")
    assert (done.form, set(found), len(done.skipped)) == ("mcp", {"Ann", "Ann works_at Acme"}, 2)
    lines = ['{"type":"entity","name":', json.dumps({"type": "entity", **graph["entities"][0]}), "\x00\x00", "[]"]
    done, found = taken(ff.write(tmp_path / "memory.jsonl", "\n".join(lines)), tmp_path / "lines")
    assert (set(found), len(done.skipped)) == ({"Ann"}, 3)
    wide = tmp_path / "wide.jsonl"
    wide.write_bytes(lines[1].encode("utf-16"))
    assert set(taken(wide, tmp_path / "wide")[1]) == {"Ann"}


def test_what_is_not_known_names_what_was_looked_for_and_can_be_named(tmp_path: Path) -> None:
    vault = ff.folder(tmp_path / "plain", {"a.md": "A note without any mark.\n"})
    with Memory(tmp_path / "new") as memory:
        with pytest.raises(InputError, match=r"conversations\.json.*id and memory.*permalink.*citefold-store") as error:
            memory.import_file(vault)
        assert "--from" in error.value.hint
        with pytest.raises(InputError, match="no kind"):
            memory.import_file(vault, kind="notion")
        with pytest.raises(NotFoundError):
            memory.import_file(tmp_path / "nothing")
        assert memory.import_file(vault, kind="obsidian").n_added == 1
        sound = ff.write(tmp_path / "x.json", ff.MEM0)
        assert memory.import_file(sound, kind="citefold").n_added == 0
        with pytest.raises(InputError, match="drafts"):
            memory.import_file(vault, kind="drafts")
