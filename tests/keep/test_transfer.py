"""Export and import: byte for byte, as often as one likes, ids and references kept apart from what is there."""

from __future__ import annotations

import io
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from grail_mem import ConflictError, InputError, Memory
from grail_mem.keep.bring import import_file


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in (root / "memories").rglob("*") if p.is_file()}


def said(memory: Memory) -> dict[str, dict[str, Any]]:
    return {o.id: o.to_dict() for o in memory.recall(include_history=True, limit=1000).observations}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    with Memory(root) as memory:
        old = memory.add_observation(title="Old", content="It was so.", category="work/a")
        memory.add_observation(
            title="New", content="It is so.", category="work/a", supersedes=old.id, related_to=[old.id]
        )
        hidden = memory.add_observation(title="Hidden", content="Not shown.", category="work/b")
        memory.hide(hidden.id, reason="asked to")
    notes = root / "memories/notes"
    notes.mkdir()
    (notes / "hand.md").write_bytes(b"---\r\ntitle: By hand # kept\r\nodd: [1, {a: b}]\r\n---\r\nText.\r\n")
    (notes / "latin.md").write_bytes(b"\xef\xbb\xbfText with a mark.\n")
    (root / "sources").mkdir()
    (root / "sources/talk.txt").write_text("Said so.")
    (root / "sources/raw.bin").write_bytes(b"\xff\0\xfe")
    with Memory(root) as memory:
        memory.sync(stamp=False)
    return root


def exported(store: Path, path: Path, **asked: Any) -> Path:
    with Memory(store) as memory:
        memory.export(path, **asked)
    return path


def test_what_was_exported_comes_back_byte_for_byte(store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "e.jsonl")
    with Memory(store) as old, Memory(tmp_path / "new") as new:
        done = new.import_file(path)
        assert (done.n_added, done.n_hidden, done.n_sources, done.skipped) == (5, 1, 2, [])
        assert said(new) == said(old)
        assert new.check().ok
        assert new.log(action="hide").entries[0].reason == "asked to"
    assert files(tmp_path / "new") == files(store)
    assert (tmp_path / "new/sources/raw.bin").read_bytes() == b"\xff\0\xfe"
    assert (
        exported(tmp_path / "new", tmp_path / "e2.jsonl").read_text().splitlines()[1:3]
        == path.read_text().splitlines()[1:3]
    )


def test_a_second_import_changes_nothing_and_says_so(store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "e.jsonl")
    with Memory(tmp_path / "new") as new:
        new.import_file(path)
        ledger = [p.read_bytes() for p in sorted((new.root / ".grail/ledger").iterdir())]
        again = new.import_file(path)
        assert not again.changed
        assert (again.n_added, again.n_unchanged, again.n_hidden, again.n_sources, again.skipped) == (0, 5, 0, 0, [])
        assert [p.read_bytes() for p in sorted((new.root / ".grail/ledger").iterdir())] == ledger
        with Memory(store) as old:
            assert not old.import_file(path).changed


def test_what_was_unhidden_here_is_not_hidden_by_an_older_export(store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "e.jsonl")
    with Memory(store) as memory:
        hidden = memory.log(action="hide").entries[0].id
        memory.restore(hidden)
        assert not memory.import_file(path).changed
        assert hidden in said(memory)


def test_an_id_that_says_something_else_gets_a_new_one_with_all_references(store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "e.jsonl")
    with Memory(tmp_path / "target") as target:
        target.import_file(path)
        ids = {o["title"]: id_ for id_, o in said(target).items()}
        target.update(ids["Old"], content="Something else by now.")
        kept = (target.root / target.get(ids["Old"]).path).read_bytes()
        done = target.import_file(path)
        new_old = done.remapped[ids["Old"]]
        assert target.get(new_old).content == "It was so."
        assert (target.root / target.get(ids["Old"]).path).read_bytes() == kept
        assert target.check().ok
        n_files = len(files(target.root))
        assert not target.import_file(path).changed
        assert len(files(target.root)) == n_files


def test_references_follow_in_a_store_that_knows_only_the_taken_id(store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "e.jsonl")
    with Memory(store) as memory:
        ids = {o["title"]: id_ for id_, o in said(memory).items()}
    with Memory(tmp_path / "target") as target:
        one = target.add_observation(title="Mine", content="Mine.")
        place = target.root / target.get(one.id).path
        place.write_text(place.read_text().replace(one.id, ids["Old"]))
        target.sync()
        done = target.import_file(path)
        new_old = done.remapped[ids["Old"]]
        new = target.get(ids["New"])
        assert new.supersedes == new_old
        assert new.related_to == (new_old,)
        assert target.get(ids["Old"]).title == "Mine"
        again = target.import_file(path)
        assert not again.changed, again
        assert again.remapped == done.remapped


def test_what_is_out_of_answers_for_want_of_evidence_is_exported_too(tmp_path: Path) -> None:
    """An export without a condition is everything; the copy keeps it out of answers as well, and gives it back with its source."""
    with Memory(tmp_path / "store") as memory:
        document = memory.ingest_text("The lake is frozen until April.").source
        kept = memory.add_observation(
            content="The lake is frozen.", evidence={"quote": "The lake is frozen until April", "source": document}
        )
        said = (tmp_path / "store" / document).read_bytes()
        (tmp_path / "store" / document).write_text("Nothing of that.")
        assert memory.verify().suspended == (kept.id,)
        done = memory.export(tmp_path / "all.jsonl")
        assert (done.n_observations, done.n_hidden) == (1, 0)
    with Memory(tmp_path / "copy") as copy:
        copy.import_file(tmp_path / "all.jsonl")
        assert copy.get(kept.id).evidence[0].source == document
        assert copy.recall().observations == ()
        (tmp_path / "copy" / document).write_bytes(said)
        copy.verify()
        assert [o.id for o in copy.recall().observations] == [kept.id]


@pytest.mark.parametrize(
    ("path", "becomes"),
    [
        (f"memories/a/{'n' * 300}.md", "memories/a/2026-01-01_odd_000000.md"),
        (f"memories/a/{'é' * 140}.md", "memories/a/2026-01-01_odd_000000.md"),
        (f"memories/{'n' * 300}/odd.md", ""),
        (f"memories/{'n/' * 600}odd.md", ""),
        (f"sources/{'n' * 300}.txt", ""),
        (f"sources/{'n/' * 600}odd.txt", ""),
    ],
    ids=["name", "name in bytes", "folder", "depth", "source", "depth of a source"],
)
def test_a_record_whose_path_is_too_long_for_a_disk_stops_no_other(tmp_path: Path, path: str, becomes: str) -> None:
    """A name is made anew; a folder would be another category, so that record is skipped and listed."""
    with Memory(tmp_path / "store") as memory:
        good = memory.add_observation(content="A plain note.")
        memory.export(tmp_path / "all.jsonl")
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    id_ = "01JXYZ00000000000000000000"
    file = f"---\nid: {id_}\ntitle: odd\nobserved_at: 2026-01-01\n---\nIt has a long name.\n"
    odd = {"type": "source" if path.startswith("sources") else "observation", "id": id_, "path": path, "file": file}
    odd["sha256"] = sha256(file.encode()).hexdigest()
    (tmp_path / "odd.jsonl").write_text("\n".join([lines[0], json.dumps(odd), *lines[1:-1]]) + "\n")
    with Memory(tmp_path / "new") as new:
        done = new.import_file(tmp_path / "odd.jsonl", partial=True)
        there = {o.id: o.path for o in new.recall().observations}
        assert good.id in there
        assert there.get(id_, "") == becomes
        assert [one.line for one in done.skipped if one.line == 2] == ([] if becomes else [2])
        assert new.check().problems == ()


def test_a_condition_exports_only_what_meets_it(store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "e.jsonl", category="work")
    kinds = [json.loads(line)["type"] for line in path.read_text().splitlines()]
    assert kinds == ["grail_export", "observation", "observation", "end"]
    stream = io.BytesIO()
    with Memory(store) as memory:
        assert memory.export(stream, text="It was").n_observations == 1
        with pytest.raises(InputError):
            memory.export(stream, min_confidence=7)
    assert b"It was so." in stream.getvalue()


def test_an_export_never_replaces_a_file_unless_told(store: Path, tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text("precious")
    with Memory(store) as memory:
        with pytest.raises(ConflictError):
            memory.export(tmp_path / "e.jsonl")
        with pytest.raises(InputError):
            memory.export(store / "memories/e.jsonl")
        assert memory.export(tmp_path / "x.jsonl", dry_run=True).n_observations == 5
        assert not (tmp_path / "x.jsonl").exists()
        memory.export(tmp_path / "e.jsonl", force=True)


def test_a_dry_run_imports_nothing(store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "e.jsonl")
    with Memory(tmp_path / "new") as new:
        planned = new.import_file(path, dry_run=True)
        assert (planned.n_added, planned.n_sources) == (5, 2)
    assert not (tmp_path / "new").exists()


def test_another_file_of_that_name_is_not_replaced(store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "e.jsonl")
    (tmp_path / "new/memories/notes").mkdir(parents=True)
    (tmp_path / "new/memories/notes/hand.md").write_text("Mine.\n")
    (tmp_path / "new/sources").mkdir()
    (tmp_path / "new/sources/talk.txt").write_text("Other words.")
    with Memory(tmp_path / "new") as new:
        done = new.import_file(path)
        assert (new.root / "memories/notes/hand.md").read_text() == "Mine.\n"
        assert {o.title for o in new.recall().observations} >= {"Mine.", "By hand"}
        assert [item.reason for item in done.skipped] == ["another source of that name is there"]
        assert not new.import_file(path).changed


def test_a_store_with_its_notes_elsewhere_takes_them_into_its_own_folder(store: Path, tmp_path: Path) -> None:
    path = exported(store, tmp_path / "e.jsonl")
    with Memory(tmp_path / "new") as new:
        new.init(notes=".")
        new.import_file(path)
        assert {o.category for o in new.recall().observations} == {"work/a", "notes"}
        assert (new.root / "notes/hand.md").exists()


def test_grants_come_only_when_asked_for(store: Path, tmp_path: Path) -> None:
    from grail_mem.keep.chains import new_chain
    from grail_mem.store.ledger_line import Entry

    grant = Entry("grant", "01JXYZ00000000000000ABCDEF", at="2026-01-01T00:00:00Z", actor="owner", detail='{"a":1}')
    name, data = new_chain([grant])
    (store / f".grail/ledger/{name}.jsonl").write_bytes(data)
    path = exported(store, tmp_path / "e.jsonl")
    with Memory(tmp_path / "new") as new:
        assert [item.reason for item in new.import_file(path).skipped] == ["grants are taken only when asked for"]
        assert new.log(action="grant").entries == ()
        assert new.import_file(path, with_grants=True).n_grants == 1
        assert new.import_file(path, with_grants=True).n_grants == 0
        (entry,) = new.log(action="grant").entries
        assert (entry.id, entry.detail, entry.actor) == (grant.id, grant.detail, "owner")


def test_a_session_exports_what_it_may_read_and_imports_where_it_may_write(tmp_path: Path) -> None:
    with Memory(tmp_path / "store") as memory:
        memory.add_observation(title="Ann's", content="a", scope="user:ann")
        hidden = memory.add_observation(title="Bob's", content="b", scope="user:bob")
        memory.add_observation(title="Also Bob's", content="c", scope="user:bob")
        memory.hide(hidden.id)
        memory.export(tmp_path / "all.jsonl")
        memory.grant("user:ann", "user:ann", ["read", "write"])
        with memory.session(user_id="ann", agent_id="x") as session:
            assert session.export(tmp_path / "ann.jsonl").n_observations == 1
        assert b"Bob" not in (tmp_path / "ann.jsonl").read_bytes()
    with Memory(tmp_path / "new") as new:
        new.add_observation(title="There", content="x", scope="user:ann")
        new.grant("user:ann", "user:ann", ["read", "write"])
        with new.session(user_id="ann", agent_id="x") as session:
            done = import_file(session._view, tmp_path / "all.jsonl", actor="agent:x/ann", reason="")
        assert done.n_added == 1
        assert done.n_hidden == 0
        assert len([item for item in done.skipped if "may not write" in item.reason]) == 2
    with Memory(tmp_path / "new") as new:
        assert {o.title for o in new.recall().observations} == {"There", "Ann's"}


# -- other programs ---------------------------------------------------------------------------------------------------------


def test_the_mcp_memory_server_is_read(tmp_path: Path) -> None:
    lines = [
        {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["likes tea", "works late"]},
        {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works_at"},
    ]
    path = tmp_path / "memory.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Memory(tmp_path / "new") as new:
        assert new.import_file(path).form == "mcp"
        found = {o.title: o for o in new.recall(category="imported/mcp").observations}
        assert found["Ann"].content == "- likes tea\n- works late"
        assert found["Ann"].entities[0].type == "person"
        assert found["Ann works_at Acme"].relationships[0].target == "Acme"
        assert not new.import_file(path).changed


def chat(**values: Any) -> dict[str, Any]:
    nodes: dict[str, Any] = {
        "a": {"parent": None, "message": None},
        "b": {"parent": "a", "message": {"author": {"role": "user"}, "create_time": 1780000000.5, "content": {"parts": ["Hello there"]}}},
        "b2": {"parent": "a", "message": {"author": {"role": "user"}, "content": {"parts": ["An abandoned branch"]}}},
        "c": {"parent": "b", "message": {"author": {"role": "assistant"}, "create_time": None, "content": {"parts": ["Hi", None, {"x": 1}]}}},
        "d": {"parent": "c", "message": {"author": {"role": "user"}, "content": {"parts": [None]}}},
        "e": {"parent": "d", "message": {"author": None, "content": None}},
    }  # fmt: skip
    return {
        "title": "A talk",
        "conversation_id": "c1",
        "mapping": nodes,
        "current_node": "e",
        "create_time": 1780000000,
    } | values


def test_chats_of_chatgpt_are_read_and_odd_ones_listed(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(
        json.dumps([chat(), chat(title=None, conversation_id=None, current_node=7), {"mapping": []}, None, 7])
    )
    with Memory(tmp_path / "new") as new:
        done = new.import_file(path)
        assert done.form == "chatgpt"
        first = sorted(new.recall(session="c1").observations, key=lambda o: o.turn)
        assert [(o.turn, o.speaker, o.content) for o in first] == [(0, "user", "Hello there"), (1, "assistant", "Hi")]
        assert [o.observed_at.year for o in first] == [2026, 2026]
        reasons = [item.reason for item in done.skipped]
        assert reasons.count("it is no conversation") == 3
        assert reasons.count("the message holds no text") == 4
        assert done.n_added == 5
        assert not new.import_file(path).changed


def test_chats_of_claude_are_read_and_odd_ones_listed(tmp_path: Path) -> None:
    messages = [
        {"sender": "human", "text": "What about tea?", "created_at": "2026-05-01T10:00:00Z"},
        {"sender": "assistant", "text": "", "content": [{"type": "text", "text": "Green."}, 7], "created_at": None},
        {"sender": None, "text": None}, "x",
        {"sender": "human", "text": "When?", "created_at": "not a time"},
    ]  # fmt: skip
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"uuid": "u1", "name": None, "chat_messages": messages}, {"chat_messages": None}]))
    with Memory(tmp_path / "new") as new:
        done = new.import_file(path)
        assert done.form == "claude"
        assert {(o.turn, o.speaker, o.content) for o in new.recall(session="u1").observations} == {
            (0, "user", "What about tea?"), (1, "assistant", "Green."),
        }  # fmt: skip
        assert len(done.skipped) == 4
        assert not new.import_file(path).changed


def test_what_has_no_known_form_is_said_to_have_none(tmp_path: Path) -> None:
    for name, text in (("a", "hello"), ("b", "[1, 2]"), ("c", '{"x": 1}'), ("d", ""), ("e", "[" * 100_000)):
        (tmp_path / name).write_text(text)
        with Memory(tmp_path / "new") as new, pytest.raises(InputError):
            new.import_file(tmp_path / name)
    assert not (tmp_path / "new").exists()
