"""Files of foreign stores, made from their public formats, whole and broken; knows nothing of grail_mem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

CHATGPT = [
    {
        "title": "Choosing a database", "create_time": 1736209400.5, "update_time": 1736209900, "conversation_id": "conv-1", "id": "conv-1",
        "current_node": "n6", "default_model_slug": "gpt-4o", "moderation_results": [],
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["n0"]},
            "n0": {"id": "n0", "parent": "root", "children": ["n1"], "message": {
                "id": "m0", "author": {"role": "system", "name": None, "metadata": {}}, "create_time": None,
                "content": {"content_type": "text", "parts": [""]}, "metadata": {"is_visually_hidden_from_conversation": True}}},
            "n0c": {"id": "n0c", "parent": "n0", "children": ["n1"], "message": {
                "id": "m0c", "author": {"role": "user"}, "create_time": None, "metadata": {"is_user_system_message": True},
                "content": {"content_type": "user_editable_context", "user_profile": "I live in Lisbon.", "user_instructions": "Be brief."}}},
            "n1": {"id": "n1", "parent": "n0c", "children": ["n2", "n2old"], "message": {
                "id": "m1", "author": {"role": "user"}, "create_time": 1736209412.345, "recipient": "all",
                "content": {"content_type": "multimodal_text", "parts": [
                    {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-a", "width": 10}, "Which one is this?"]}}},
            "n2old": {"id": "n2old", "parent": "n1", "children": [], "message": {
                "id": "m2old", "author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["An answer that was left."]}}},
            "n2": {"id": "n2", "parent": "n1", "children": ["n3"], "message": {
                "id": "m2", "author": {"role": "assistant"}, "create_time": 1736209420, "recipient": "python",
                "content": {"content_type": "code", "language": "python", "text": "print(1)"}}},
            "n3": {"id": "n3", "parent": "n2", "children": ["n4"], "message": {
                "id": "m3", "author": {"role": "tool", "name": "python"}, "create_time": 1736209421,
                "content": {"content_type": "execution_output", "text": "1"}}},
            "n4": {"id": "n4", "parent": "n3", "children": ["n5"], "message": {
                "id": "m4", "author": {"role": "assistant"}, "create_time": 1736209422, "recipient": "all",
                "content": {"content_type": "thoughts", "thoughts": [{"summary": "x", "content": "y"}]}}},
            "n5": {"id": "n5", "parent": "n4", "children": ["n6"], "message": {
                "id": "m5", "author": {"role": "assistant"}, "create_time": 1736209430, "recipient": "all",
                "content": {"content_type": "text", "parts": ["It is Postgres."]}}},
            "n6": {"id": "n6", "parent": "n5", "children": [], "message": {
                "id": "m6", "author": {"role": "user"}, "create_time": 1736209440, "recipient": "all",
                "content": {"content_type": "multimodal_text", "parts": [
                    {"content_type": "audio_transcription", "text": "We take Postgres then.", "direction": "in"},
                    {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {}}]}}},
        },
    },
]  # fmt: skip
"""Current shapes: branches, parts, a transcription, calls and results of a tool, thoughts, custom instructions."""

CLAUDE_CHATS = [
    {
        "uuid": "c-1", "name": "Trip", "created_at": "2026-05-01T10:00:00.000000Z", "updated_at": "2026-05-01T10:05:00.000000Z",
        "account": {"uuid": "a-1"}, "chat_messages": [
            {"uuid": "m-1", "sender": "human", "text": "Plan a trip to Porto.", "created_at": "2026-05-01T10:00:01.000000Z",
             "content": [{"type": "text", "text": "Plan a trip to Porto.", "citations": []}],
             "attachments": [{"file_name": "budget.txt", "file_type": "txt", "file_size": 12, "extracted_content": "At most 900 euro."},
                             {"file_name": "empty.pdf", "file_type": "pdf", "extracted_content": ""}],
             "files": [{"file_name": "photo.png"}]},
            {"uuid": "m-2", "sender": "assistant", "text": "Thinking…\n\nTake the train.", "created_at": "2026-05-01T10:00:09.000000Z",
             "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "name": "web_search", "input": {}},
                         {"type": "tool_result", "content": []}, {"type": "text", "text": "Take the train."}],
             "attachments": [], "files": []},
        ],
    },
]  # fmt: skip
CLAUDE_PROJECTS = [
    {"uuid": "p-1", "name": "House", "description": "Building a house.", "prompt_template": "Answer like an architect.",
     "created_at": "2026-04-01T08:00:00Z", "is_private": True, "docs": [
        {"uuid": "d-1", "filename": "plan.md", "content": "# Plan\n\nThree rooms.", "created_at": "2026-04-02T08:00:00Z"},
        {"uuid": "d-2", "filename": "nothing.md", "content": ""}]},
]  # fmt: skip
CLAUDE_MEMORIES = [
    {"account_uuid": "a-1", "conversations_memory": "**Work**\nBuilds a house.", "project_memories": {"p-1": "Wants three rooms."}},
]  # fmt: skip

MEM0 = {
    "results": [
        {"id": "f-1", "memory": "Dev works at TechCorp", "hash": "x", "metadata": {"type": "professional", "n": 3}, "user_id": "dev",
         "created_at": "2025-01-02T03:04:05-08:00", "updated_at": "2025-02-02T03:04:05-08:00", "categories": ["work"], "run_id": "run-1"},
        {"id": "f-2", "memory": "Likes tea", "user_id": "ann", "created_at": "2025-01-03T00:00:00Z", "updated_at": None, "metadata": None},
        {"id": "f-3", "memory": None, "user_id": "ann"},
        {"id": "f-4", "memory": "Of nobody that can be one", "user_id": "a b\n/c"},
        "text",
    ],
    "relations": [
        {"source": "dev", "relationship": "works_at", "target": "techcorp"}, {"source": "dev", "relationship": None, "target": "x"}
    ],
}  # fmt: skip
MEM0_HISTORY = [
    {"id": "h-1", "memory_id": "f-9", "old_memory": None, "new_memory": "Lives in Rome", "event": "ADD", "created_at": "2025-01-01T00:00:00Z", "is_deleted": 0},
    {"id": "h-2", "memory_id": "f-9", "old_memory": "Lives in Rome", "new_memory": "Lives in Oslo", "event": "UPDATE", "created_at": "2025-03-01T00:00:00Z", "is_deleted": 0},
    {"id": "h-3", "memory_id": "f-8", "old_memory": None, "new_memory": "Is a spy", "event": "ADD", "created_at": "2025-01-01T00:00:00Z", "is_deleted": 0},
    {"id": "h-4", "memory_id": "f-8", "old_memory": "Is a spy", "new_memory": None, "event": "DELETE", "created_at": "2025-01-02T00:00:00Z", "is_deleted": 1},
]  # fmt: skip

BASIC = {
    "coffee/Coffee Brewing.md": (
        "---\ntitle: Coffee Brewing\ntype: guide\ntags: [coffee, brewing]\npermalink: coffee/coffee-brewing\ncreated: 2025-03-04\n---\n"
        "# Coffee Brewing\n\nSome prose about [[Mugs]].\n\n## Observations\n- [method] Pour over is clearer #taste (from a course)\n"
        "- [tip] Grind fresh\n- [tip] Grind fresh\n- [x] a finished task\n- [ ] an open task\n- [a link](https://example.org)\n\n"
        "```\n- [code] not a statement\n```\n\n## Relations\n- requires [[Grinder]] (always)\n- [[Tea]]\n"
    ),
    "only-relations.md": "---\npermalink: only\n---\n# Only\n\n- part_of [[Coffee Brewing]]\n",
    "empty.md": "---\npermalink: empty\n---\n",
}
OBSIDIAN = {
    "Projects/Grail.md": (
        "---\naliases: [GM, The Memory]\ntags:\n  - project\ncreated: 2025-06-01T09:00:00Z\n---\n"
        "# Grail\n\nLed by [[People/Ann|Ann]], uses [[Postgres#Setup]]. #area/memory ![[diagram.png]] ![[Notes on Ann]]\n\n`#code [[No]]`\n"
    ),
    "Daily/2025-07-08.md": "Met [[Ann]] today.\n",
    "People/Ann.md": "A person.\n",
    "blank.md": "\n",
    "broken.md": "---\ntags: [a\n---\nText\n",
    "Board.canvas": "{}",
    "diagram.png": "png",
    ".obsidian/app.json": "{}",
    ".trash/old.md": "Deleted.\n",
}


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def folder(path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        write(path / name, text)
    return path


def zipped(path: Path, files: dict[str, Any]) -> Path:
    with ZipFile(path, "w") as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return path


SCOPE = {"tenant_id": "acme", "user_id": "alex", "namespace": "work", "agent_id": "copilot", "session_id": "launch"}


def citefold(path: Path) -> Path:
    """A store of Citefold 0.2.1 as it writes it, with a correction, a deletion, and a candidate that waits."""
    root = path / "tenants/acme/users/alex/namespaces/work"
    write(path / "citefold-store.json", {"format": "citefold.local-store", "schema_version": 2, "store_id": "s"})
    said = {"asset_id": "asset_1", "confidence": 1.0, "modality": "text", "producer_type": "direct", "scope": SCOPE}
    observations = [
        {**said, "observation_id": "obs_1", "content": "I prefer concise answers.", "created_at": "2026-01-01T10:00:00+00:00",
         "metadata": {"role": "user", "source": "chat"}, "source_origin": "user_reported"},
        {**said, "observation_id": "obs_2", "content": "Noted.", "created_at": "2026-01-01T10:00:01+00:00",
         "metadata": {"role": "assistant", "source": "chat"}, "source_origin": "agent_output"},
        {**said, "observation_id": "obs_3", "content": "The word is xyzzy.", "created_at": "2026-01-01T10:00:02+00:00",
         "metadata": {"role": "user"}, "source_origin": "user_reported"},
    ]  # fmt: skip
    record = {
        "claim_key": "semantic:preference:user", "confidence": 0.9, "memory_type": "semantic", "metadata": {"category": "preference"},
        "scope": SCOPE, "version": 1,
    }  # fmt: skip
    first = {
        **record, "record_id": "mem_1", "content": "Prefers concise answers.", "evidence_refs": ["obs_1"], "status": "active", "valid_to": None,
        "observed_at": "2026-01-01T10:00:00+00:00", "valid_from": "2026-01-01T10:00:05+00:00", "source_origin": "third_party_agent", "supersedes_id": None,
    }  # fmt: skip
    second = {
        **first, "record_id": "mem_2", "content": "Prefers very concise answers.", "evidence_refs": ["observation:obs_1"], "supersedes_id": "mem_1",
        "source_origin": "user_correction", "valid_from": "2026-02-01T10:00:00+00:00", "observed_at": "2026-02-01T10:00:00+00:00",
    }  # fmt: skip
    third = {**first, "record_id": "mem_3", "content": "Knows the word.", "evidence_refs": ["obs_3"]}
    revisions = [
        {"operation": "ADD", "record": first, "previous_record": None},
        {"operation": "SUPERSEDE", "record": second,
         "previous_record": {**first, "status": "superseded", "valid_to": "2026-02-01T10:00:00+00:00"}},
        {"operation": "ADD", "record": third, "previous_record": None}, {"operation": "ADD"},
    ]  # fmt: skip
    candidates = [
        {**record, "candidate_id": "cand_1", "content": "Maybe.", "status": "pending"},
        {**record, "candidate_id": "cand_2", "content": "Was approved.", "status": "pending"},
        {**record, "candidate_id": "cand_2", "content": "Was approved.", "status": "approved"},
    ]  # fmt: skip
    deletions = [{"deletion_id": "d", "target_ref": "observation:obs_3", "hard": False, "scope": SCOPE}]
    ledgers = {"observations": observations, "revisions": revisions, "candidates": candidates, "deletions": deletions}
    for name, values in ledgers.items():
        write(root / f"ledgers/{name}.jsonl", "".join(json.dumps(value) + "\n" for value in values))
    with (root / "ledgers/observations.jsonl").open("a") as file:
        file.write('{"observation_id": "torn')
    write(root / "assets/sha256/2b/2b3b.txt", "x")
    return path


def graphgrail(path: Path) -> Path:
    """A store of graphgrail 0.1.7 in memory mode as it writes it: notes, and tables with what they mention."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    acme = "memories/work/clients/acme/2026-06-02T14-23_acme-picked-postgres.md"
    tea = "memories/2026-06-03T08-00_tea-at-four.md"
    write(
        path / "meta.json", {"schema_version": 1, "id": "01M8", "name": "demo", "mode": "memory", "grail_version": ""}
    )
    write(path / "mapping.json", {})
    write(path / "_history.jsonl", "{}\n")
    write(
        path / acme,
        "---\ntitle: Acme picked Postgres\ncategory: work/clients/acme\ntags:\n- decision\n- db\nobserved_at: '2026-06-02T14:23:00Z'\n"
        "confidence: 0.95\nsource: architecture review\n---\nThey chose Postgres over DynamoDB.\n",
    )
    write(
        path / tea,
        "---\ntitle: 'Tea: at four'\nobserved_at: '2026-06-03T08:00:00Z'\nrelated_to:\n- 2026-06-02T14-23_acme-picked-postgres\n"
        "- gone\nsource_kind: user_statement\n---\nEvery day.\n",
    )
    write(path / "memories/empty.md", "---\ntitle: Empty\n---\n")
    write(path / "stray.txt", "x")
    output = path / "output"
    output.mkdir()
    pq.write_table(
        pa.table({"id": ["d-1", "d-2"], "path": [acme, tea], "raw_content": ["", ""]}), output / "final_docs.parquet"
    )
    pq.write_table(
        pa.table({
            "id": ["e-1", "e-2"], "name": ["ACME", "POSTGRES"], "type": ["ORGANIZATION", "TECHNOLOGY"],
            "description": ["A client.", "A database."], "document_ids": [["d-1"], ["d-1", "gone"]],
            "description_embedding": [[0.1], [0.2]],
        }), output / "final_entities.parquet",
    )  # fmt: skip
    pq.write_table(
        pa.table({
            "id": ["r-1"], "source": ["ACME"], "target": ["POSTGRES"], "relationship_type": ["CHOSE"], "description": ["after the review"],
            "document_ids": [["d-1"]],
        }), output / "final_relationships.parquet",
    )  # fmt: skip
    return path
