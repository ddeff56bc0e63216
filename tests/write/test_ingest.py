"""Sources: what is kept of conversations and documents, once, in order, and safely."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from grail_mem import ConflictError, InputError, Memory, NotFoundError, StoreError
from grail_mem.store import sources
from grail_mem.store.layout import Layout
from grail_mem.store.sources import current_turns, read_session

TURNS = [
    {
        "role": "user",
        "speaker": "Caroline",
        "text": "Shall we go with Postgres?",
        "at": "2026-06-02T10:00:00Z",
        "id": "a",
    },
    {"role": "assistant", "text": "It is the safer choice.", "at": "2026-06-02T10:00:05Z", "id": "b"},
    {
        "role": "user",
        "speaker": "Caroline",
        "text": "Then we go with Postgres.",
        "at": "2026-06-02T10:01:00Z",
        "id": "c",
    },
]


def lines(root: Path, name: str = "2026-06-02.jsonl") -> list[dict[str, object]]:
    return [json.loads(line) for line in (root / "sources/chats" / name).read_text().splitlines()]


def texts(root: Path, session: str, scope: str | None = None) -> list[str]:
    return [turn.text for turn in current_turns(read_session(Layout(root), session, scope))]


def test_turns_are_kept_one_a_line_with_number_role_time_and_digest(tmp_path: Path) -> None:
    """The file names its session, and says of each turn what is needed to quote it."""
    with Memory(tmp_path) as memory:
        done = memory.ingest_chat(TURNS, session="2026-06-02")
        assert memory.check().ok
    assert (done.source, done.n_turns, done.n_new, done.warnings) == ("sources/chats/2026-06-02.jsonl", 3, 3, ())
    head, *rest = lines(tmp_path)
    assert len(head.pop("id")) == 26
    assert head == {"v": 1, "session": "2026-06-02"}
    assert [line["turn"] for line in rest] == [0, 1, 2]
    assert rest[0] == {
        "turn": 0, "id": "a", "role": "user", "speaker": "Caroline", "at": "2026-06-02T10:00:00Z",
        "text": "Shall we go with Postgres?", "sha256": sources.digest("Shall we go with Postgres?"),
    }  # fmt: skip


def test_the_same_turns_again_add_nothing_and_more_go_behind(tmp_path: Path) -> None:
    """A turn is known again by its id, or by what it says where it has none."""
    with Memory(tmp_path) as memory:
        memory.ingest_chat(TURNS[:2], session="s")
        before = (tmp_path / "sources/chats/s.jsonl").read_bytes()
        again = memory.ingest_chat(TURNS[:2], session="s")
        assert (again.n_turns, again.n_new) == (2, 0)
        assert (tmp_path / "sources/chats/s.jsonl").read_bytes() == before
        more = memory.ingest_chat(TURNS, session="s")
        assert (more.n_turns, more.n_new) == (3, 1)
        plain = [{"role": "user", "text": "ok"}, {"role": "user", "text": "ok"}]
        assert memory.ingest_chat(plain, session="s").n_new == 2
        assert memory.ingest_chat(plain, session="s").n_new == 0
    assert (tmp_path / "sources/chats/s.jsonl").read_bytes().startswith(before)
    assert texts(tmp_path, "s") == [*(turn["text"] for turn in TURNS), "ok", "ok"]


def test_a_correction_takes_the_place_of_a_turn_and_loses_no_word(tmp_path: Path) -> None:
    """Other words under a known id are left out unless they say that they are a correction."""
    with Memory(tmp_path) as memory:
        memory.ingest_chat(TURNS, session="s")
        other = {"role": "user", "text": "Then we go with MySQL.", "id": "c"}
        refused = memory.ingest_chat([other], session="s")
        assert refused.n_new == 0
        assert "is there with other words" in refused.warnings[-1]
        assert memory.ingest_chat([other | {"correction": True}], session="s").n_new == 1
        assert memory.ingest_chat([other | {"correction": True}], session="s").n_new == 0
    assert texts(tmp_path, "s")[2] == "Then we go with MySQL."
    kept = [(line["turn"], line["text"], line.get("revision")) for line in lines(tmp_path, "s.jsonl")[3:]]
    assert kept == [(2, "Then we go with Postgres.", None), (2, "Then we go with MySQL.", 1)]


def test_no_turn_changes_the_role_of_one_that_is_there(tmp_path: Path) -> None:
    """A correction is of words: else what an assistant said could become a statement of the user."""
    said = {"role": "assistant", "id": "a", "text": "The user likes to smoke cigars."}
    with Memory(tmp_path) as memory:
        memory.ingest_chat([said], session="s")
        for other in (said | {"role": "user"}, said | {"role": "user", "text": "I like to smoke."}):
            for correction in (False, True):
                done = memory.ingest_chat([other | {"correction": correction}], session="s")
                assert done.n_new == 0
                assert "of the role 'assistant'" in done.warnings[-1]
        assert (
            memory.ingest_chat([said | {"text": "The user smokes cigars.", "correction": True}], session="s").n_new == 1
        )
    assert [(line["role"], line["text"]) for line in lines(tmp_path, "s.jsonl")[1:]] == [
        ("assistant", "The user likes to smoke cigars."), ("assistant", "The user smokes cigars."),
    ]  # fmt: skip


def test_what_is_not_final_is_kept_apart_until_it_is(tmp_path: Path) -> None:
    """Voice input that is still coming is no turn; its final form is one, once."""
    kept = tmp_path / ".grail/local/partial/s.json"
    with Memory(tmp_path) as memory:
        for text in ("Then we", "Then we go with"):
            done = memory.ingest_chat([{"role": "user", "id": "v", "text": text, "partial": True}], session="s")
            assert done.n_new == 0
        assert json.loads(kept.read_text())["v"]["text"] == "Then we go with"
        assert texts(tmp_path, "s") == []
        memory.ingest_chat([{"role": "user", "id": "v", "text": "Then we go with Postgres."}], session="s")
        assert not kept.exists()
        memory.ingest_chat([{"role": "user", "id": "v", "text": "Then", "partial": True}], session="s")
    assert not kept.exists()
    assert texts(tmp_path, "s") == ["Then we go with Postgres."]


def test_wrong_input_is_told_all_at_once(tmp_path: Path) -> None:
    """Session, scope and list; and every reason of one turn."""
    with Memory(tmp_path) as memory:
        with pytest.raises(InputError) as refused:
            memory.ingest_chat("turns", session="two\nlines", scope="nobody")  # type: ignore[arg-type]
        assert len(refused.value.problems) == 3
        odd = {"role": "boss", "text": 5, "id": "", "partial": "yes"}
        done = memory.ingest_chat([odd], session="s")
        assert sum("turn 1 was left out" in text for text in done.warnings) == 4
        with pytest.raises(InputError) as refused:
            memory.ingest_text("  ", title="a\nb", source=5, scope="x", observed_at="some day")  # type: ignore[arg-type]
        assert len(refused.value.problems) == 5
    assert not (tmp_path / "sources/chats").exists() or not list((tmp_path / "sources/chats").glob("*.jsonl"))


@pytest.mark.parametrize(
    "session",
    ["../../etc/passwd", "a/b", "..", "con", "NUL", ".hidden", "x" * 900, "Ünïcode ☃", "a.b.2", "日本", "-", "A"],
)
def test_any_session_has_a_file_inside_the_store(tmp_path: Path, session: str) -> None:
    """Names are made safe for every system, and different sessions never share a file."""
    root = tmp_path / "store"
    with Memory(root) as memory:
        done = memory.ingest_chat(TURNS[:1], session=session)
        other = memory.ingest_chat(TURNS[:1], session=f"{session}.")
    assert done.source != other.source
    for source in (done.source, other.source):
        path = root / source
        assert path.is_file()
        assert path.resolve().parent == (root / "sources/chats").resolve()
        assert len(path.name.encode()) < 200
        assert not path.name.startswith((".", "-"))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((root / "sources/chats").stat().st_mode) == 0o700
    assert {p.name for p in tmp_path.iterdir()} == {"store"}


def test_one_session_of_two_scopes_is_two_transcripts(tmp_path: Path) -> None:
    """What one person said is in no file of another."""
    with Memory(tmp_path) as memory:
        one = memory.ingest_chat(TURNS[:1], session="s", scope="user:ann")
        two = memory.ingest_chat(TURNS[1:], session="s", scope="user:bob")
    assert one.source != two.source
    assert texts(tmp_path, "s", "user:ann") == [TURNS[0]["text"]]
    assert texts(tmp_path, "s") == []
    assert json.loads((tmp_path / two.source).read_text().splitlines()[0])["scope"] == "user:bob"


def test_a_long_transcript_goes_on_in_further_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a turn costs no more at the end of a long conversation; earlier files stay as they are."""
    monkeypatch.setattr("grail_mem.write.transcript.PART_BYTES", 2_000)
    with Memory(tmp_path) as memory:
        turns = [{"role": "user", "id": str(n), "text": f"Turn {n} says something."} for n in range(60)]
        memory.ingest_chat(turns[:40], session="s")
        first = (tmp_path / "sources/chats/s.jsonl").read_bytes()
        for turn in turns[40:]:
            assert memory.ingest_chat([turn], session="s").n_new == 1
        assert memory.ingest_chat(turns, session="s").n_new == 0
        added = memory.add_observation(content="It was said.", session="s", evidence="Turn 59 says something.")
        assert memory.get(added.id).evidence[0].source.endswith("#turn=59")
    assert (tmp_path / "sources/chats/s.jsonl").read_bytes() == first
    assert len(list((tmp_path / "sources/chats").iterdir())) > 4
    assert texts(tmp_path, "s") == [turn["text"] for turn in turns]


@pytest.mark.parametrize(
    "tail", [b'{"turn":3,"id":"d","ro', b"\0\0\0", b"<<<<<<< HEAD\n", b"[1]\n", b'{"turn":-1,"text":"x"}\n']
)
def test_a_torn_or_broken_line_harms_no_other(tmp_path: Path, tail: bytes) -> None:
    """What was before it is read, and what comes next is a line of its own."""
    path = tmp_path / "sources/chats/s.jsonl"
    with Memory(tmp_path) as memory:
        memory.ingest_chat(TURNS[:2], session="s")
        with path.open("ab") as file:
            file.write(tail)
        assert memory.ingest_chat(TURNS, session="s").n_new == 1
    assert texts(tmp_path, "s") == [turn["text"] for turn in TURNS]


def test_a_file_of_another_session_is_not_written_into(tmp_path: Path) -> None:
    """Its first line says whose it is."""
    (tmp_path / "sources/chats").mkdir(parents=True)
    path = tmp_path / "sources/chats/s.jsonl"
    path.write_text('{"v":1,"session":"other"}\n')
    with Memory(tmp_path) as memory, pytest.raises(ConflictError):
        memory.ingest_chat(TURNS, session="s")
    assert path.read_text() == '{"v":1,"session":"other"}\n'


@pytest.mark.parametrize("link", ["sources", "sources/chats", "sources/chats/s.jsonl"])
def test_links_are_refused(tmp_path: Path, link: str) -> None:
    """Nothing outside the root is read or written by way of one."""
    root, outside = tmp_path / "store", tmp_path / "outside"
    outside.mkdir()
    target = outside
    if link.endswith(".jsonl"):
        target = outside / "s.jsonl"
        target.write_text('{"v":1,"session":"s"}\n{"turn":0,"role":"user","text":"A secret of somebody."}\n')
    with Memory(root) as memory:
        memory.add_observation(content="x")
        (root / link).parent.mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to(target)
        before = sorted(p.name for p in outside.rglob("*"))
        with pytest.raises((StoreError, InputError)):
            memory.ingest_chat(TURNS, session="s")
        if link.endswith(".jsonl"):
            with pytest.raises((StoreError, InputError)):
                memory.add_observation(content="A secret of somebody.", evidence="A secret of somebody.", session="s")
    assert sorted(p.name for p in outside.rglob("*")) == before


def test_a_document_is_kept_once_by_its_bytes(tmp_path: Path) -> None:
    """With what is known of it beside it, for each scope that holds it."""
    file = tmp_path / "Report 1.md"
    file.write_bytes(b"# Report\n\nThe bridge was closed in May.\n")
    root = tmp_path / "store"
    with Memory(root) as memory:
        done = memory.ingest_document(file, title="The report")
        assert memory.ingest_document(str(file)).n_new == 0
        assert memory.ingest_document(file, scope="user:ann").n_new == 1
        assert memory.recall().abstention is not None
        with pytest.raises(NotFoundError):
            memory.ingest_document(tmp_path / "none.txt")
        with pytest.raises(InputError, match="is a folder"):
            memory.ingest_document(tmp_path)
        for odd in ("a\0b", "~nobody-of-that-name/x", "x" * 5000):
            with pytest.raises((InputError, NotFoundError, StoreError)):
                memory.ingest_document(odd)
    assert (root / done.source).read_bytes() == file.read_bytes()
    assert not done.source.endswith(".md")
    meta = json.loads(next((root / "sources/documents").glob("*.meta.json")).read_text())
    assert set(meta["scopes"]) == {"", "user:ann"}
    assert meta["scopes"][""] | {"at": "", "id": ""} == {
        "at": "", "id": "", "file": "markdown", "from": "Report 1.md", "media_type": "text/markdown", "title": "The report",
    }  # fmt: skip


def test_sources_are_no_observations_wherever_notes_lie(tmp_path: Path) -> None:
    """A store whose notes lie in its root reads none of its documents as one."""
    file = tmp_path / "note.md"
    file.write_text("# Title\n\nSaid by somebody.\n")
    root = tmp_path / "store"
    with Memory(root) as memory:
        memory.init(notes=".")
        memory.ingest_document(file)
        memory.ingest_chat(TURNS, session="s")
        memory.sync()
        assert memory.recall().observations == ()
        memory.rebuild()
        assert memory.recall().observations == ()
        assert memory.check().ok


def test_a_document_that_is_no_text_is_kept_and_said_to_be_unquotable(tmp_path: Path) -> None:
    """Bytes are bytes."""
    file = tmp_path / "picture.PNG"
    file.write_bytes(b"\x89PNG\0\xff\xfe")
    with Memory(tmp_path / "store") as memory:
        done = memory.ingest_document(file)
        assert "not UTF-8" in done.warnings[0]
        with pytest.raises(InputError, match="no place"):
            memory.add_observation(content="x", evidence={"quote": "one two three", "source": done.source})
    assert done.source.endswith(".png")


def test_what_stands_beside_a_document_leads_to_no_other_file(tmp_path: Path) -> None:
    """Somebody wrote a path into it."""
    with Memory(tmp_path / "store") as memory:
        done = memory.ingest_text("The bridge was closed in May.")
        meta = next((tmp_path / "store/sources/documents").glob("*.meta.json"))
        said = json.loads(meta.read_text())
        said["scopes"][""]["file"] = "txt/../../../../outside"
        meta.write_text(json.dumps(said))
        again = memory.ingest_text("The bridge was closed in May.", scope="user:ann")
    assert again.source == done.source
    assert {p.name for p in tmp_path.iterdir()} == {"store"}


def test_the_ledger_names_sources_and_holds_no_word_of_them(tmp_path: Path) -> None:
    """Path and digest alone."""
    with Memory(tmp_path) as memory:
        memory.ingest_chat(TURNS, session="s")
        memory.ingest_text("The bridge was closed in May.", title="Bridges")
    ledger = next((tmp_path / ".grail/ledger").glob("*.jsonl")).read_text()
    entries = [json.loads(line) for line in ledger.splitlines()]
    assert [e["action"] for e in entries] == ["ingest"] * 3
    assert entries[0]["open"]["path"] == "sources/chats/s.jsonl"
    for word in ("Postgres", "bridge", "Bridges", "Caroline"):
        assert word not in ledger


@pytest.mark.slow
def test_many_processes_append_to_one_session(tmp_path: Path) -> None:
    """Every turn is there once, each with a number of its own."""
    with Memory(tmp_path) as memory:
        memory.ingest_chat(TURNS[:1], session="s")
    script = (
        "import sys; from grail_mem import Memory\n"
        "with Memory(sys.argv[1]) as m:\n"
        "    for n in range(12):\n"
        "        m.ingest_chat([{'role': 'user', 'id': f'{sys.argv[2]}-{n}', 'text': f'From {sys.argv[2]}: {n}.'}], session='s')\n"
        "        m.remember(f'I am number {n} of {sys.argv[2]}', evidence=f'I am number {n} of {sys.argv[2]}', session='quoted')\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), name], env=os.environ | {"PYTHONPATH": os.getcwd()}
        )
        for name in ("one", "two", "three")
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    for session, n_turns in (("s", 37), ("quoted", 36)):
        turns = current_turns(read_session(Layout(tmp_path), session, None))
        assert [turn.number for turn in turns] == list(range(n_turns))
        assert len({turn.text for turn in turns}) == n_turns
    with Memory(tmp_path) as memory:
        assert memory.check().ok
        assert memory.verify().counts == {"verified": 36}


def test_transcripts_that_git_merged_by_lines_keep_every_turn(tmp_path: Path) -> None:
    """Two copies of a store added to one session: numbers may be shared, evidence of both stands, and what comes next is new."""
    shared = [{"role": "user", "id": "0", "text": "Good morning to all."}]
    texts_of = {}
    for name in ("one", "two"):
        with Memory(tmp_path / name) as memory:
            memory.ingest_chat(
                [*shared, {"role": "user", "id": name, "text": f"I am number {name} here."}], session="s"
            )
            texts_of[name] = (tmp_path / name / "sources/chats/s.jsonl").read_text().splitlines(keepends=True)
    merged = [*texts_of["one"], *(line for line in texts_of["two"] if line not in texts_of["one"])]
    (tmp_path / "one/sources/chats/s.jsonl").write_text("".join(merged))
    with Memory(tmp_path / "one") as memory:
        for name in ("one", "two"):
            done = memory.remember(f"I am number {name} here", evidence=f"I am number {name} here.", session="s")
            assert memory.get(done.id).evidence[0].source.endswith("#turn=1")
        assert memory.verify().counts == {"verified": 2}
        assert memory.ingest_chat([{"role": "user", "id": "x", "text": "Next."}], session="s").n_new == 1
    turns = current_turns(read_session(Layout(tmp_path / "one"), "s", None))
    assert [turn.number for turn in turns] == [0, 1, 1, 2]
