"""Erasing walks the sources: turns are emptied, transcripts and documents go, and what rests on them alone goes along."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from every_byte import digests, places_with
from proposal_sets import propose

from grail_mem import AccessError, ConflictError, EvidenceNotFoundError, Memory, NotFoundError
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import verify
from grail_mem.store.sources import current_turns, read_session

WORDS = [
    "Zorblattine",
    "quuxvilleish",
    "gribblewump",
    "xylotagical",
    "Frobnitzer",
    "flumpenary",
    "snarkwibble",
    "jubjubbery",
]


def turns(memory: Memory, session: str, scope: str | None = None) -> list[str]:
    return [turn.text for turn in current_turns(read_session(Layout(memory.root), session, scope))]


def planted(root: Path) -> None:
    """A conversation with somebody whose every word is unique, and what was made of it, beside one that stays."""
    talk = f"talk with {WORDS[0]}"
    with Memory(root) as memory:
        memory.ingest_chat(
            [
                {"role": "user", "id": "a", "speaker": WORDS[1], "text": f"I live in {WORDS[2]} now."},
                {"role": "user", "id": "b", "speaker": WORDS[1], "text": f"I like {WORDS[3]} very much."},
                {
                    "role": "user",
                    "id": "c",
                    "speaker": WORDS[1],
                    "text": f"I moved to {WORDS[4]} then.",
                    "partial": True,
                },
                {"role": "assistant", "id": "d", "text": "That is good to hear from you."},
            ],
            session=talk,
        )
        memory.ingest_chat(
            [{"role": "user", "id": "b", "text": f"I like {WORDS[5]} very much.", "correction": True}], session=talk
        )
        memory.ingest_chat([{"role": "user", "text": "The office is in Oslo now."}], session="stays")
        memory.add_observation(content=f"She lives in {WORDS[2]}.", evidence=f"I live in {WORDS[2]} now.", session=talk)
        memory.remember("The office is in Oslo now.", evidence="The office is in Oslo now.", session="stays")
        memory.remember(f"I drink {WORDS[6]} daily.", evidence=f"I drink {WORDS[6]} daily.", session=talk + " again")
        both = memory.add_observation(
            title="Both", content="Both places are known.",
            evidence=[
                {"quote": f"I live in {WORDS[2]} now.", "session": talk},
                {"quote": "The office is in Oslo now.", "session": "stays"},
            ],
        )  # fmt: skip
        memory.apply(propose(memory, [{"do": "set", "id": both.id, "fields": {"tags": ["seen"]}}]), reason="tidied")
        memory.compact()
        memory.index()


@pytest.mark.slow
def test_erasing_a_session_leaves_no_byte_of_it(tmp_path: Path) -> None:
    """Neither turns, corrected wordings, those that are not final, names, quotes elsewhere, nor what undo would bring back."""
    planted(tmp_path)
    with Memory(tmp_path) as memory:
        before = digests(tmp_path)
        asked: dict[str, Any] = {"session": f"talk with {WORDS[0]}", "reason": "request"}
        planned = memory.erase(**asked, dry_run=True)
        assert digests(tmp_path) == before
        done = memory.erase(**asked)
        assert done.to_dict() == planned.to_dict() | {"dry_run": False}
        second = memory.erase(session=f"talk with {WORDS[0]} again", reason="request")
        assert (len(second.ids), len(second.sources)) == (1, 1)
        assert places_with(tmp_path, WORDS) == []
        after = digests(tmp_path)
        assert {p for p in after if p.startswith("sources/")} == {"sources/chats/stays.jsonl"}
        assert after["sources/chats/stays.jsonl"] == before["sources/chats/stays.jsonl"]
        assert not [p for p in after if p.startswith(".grail/local/partial")]
        (both,) = [o for o in memory.recall().observations if o.title == "Both"]
        assert [e.quote for e in both.evidence] == ["The office is in Oslo now."]
        assert both.path in done.edited
        assert done.undo_records
        assert memory.verify().counts == {"verified": 2}
        assert memory.check().problems == ()
        assert not verify(Layout(tmp_path))
        told = [o.to_dict() for o in memory.recall().observations]
        memory.rebuild()
        assert [o.to_dict() for o in memory.recall().observations] == told
        assert places_with(tmp_path, WORDS) == []


def _ask(memory: Memory, ids: dict[str, str]) -> Any:
    return memory.erase(ids["Mine"], reason="request")


def shared(root: Path) -> dict[str, str]:
    """Two observations that rest on one turn, one of them on another turn as well; returns ids by title."""
    with Memory(root) as memory:
        memory.ingest_chat(
            [
                {"role": "user", "id": "0", "text": f"The {WORDS[0]} key is under the mat."},
                {"role": "user", "id": "1", "text": f"The {WORDS[1]} door is painted green."},
                {"role": "user", "id": "2", "text": "Nothing more was said that day."},
            ],
            session="s",
        )
        made = [
            memory.add_observation(
                title=title, content=f"{title} says a thing of its own.", session="s",
                evidence=[f"The {word} {rest}" for word, rest in quotes],
            )
            for title, quotes in (
                ("Mine", [(WORDS[0], "key is under the mat."), (WORDS[1], "door is painted green.")]),
                ("Other", [(WORDS[1], "door is painted green.")]),
            )
        ]  # fmt: skip
        return dict(zip(("Mine", "Other"), (one.id for one in made), strict=True))


def test_a_turn_goes_with_its_observation_unless_another_rests_on_it(tmp_path: Path) -> None:
    ids = shared(tmp_path)
    with Memory(tmp_path) as memory:
        done = _ask(memory, ids)
        assert done.turns == ("sources/chats/s.jsonl#turn=0",)
        assert done.kept == {"sources/chats/s.jsonl#turn=1": (ids["Other"],)}
        assert any(ids["Other"] in warning for warning in done.warnings)
        assert places_with(tmp_path, WORDS[:1]) == []
        assert turns(memory, "s") == [f"The {WORDS[1]} door is painted green.", "Nothing more was said that day."]
        lines = [json.loads(line) for line in (tmp_path / "sources/chats/s.jsonl").read_text().splitlines()]
        assert [line.get("turn") for line in lines] == [None, 0, 1, 2]
        assert lines[1].keys() == {"turn", "erased"}
        assert memory.verify().counts == {"verified": 1}
        assert memory.ingest_chat([{"role": "user", "text": "A new one comes."}], session="s").n_new == 1
        assert lines[-1]["turn"] + 1 == 3


def test_with_sources_takes_the_turn_and_whoever_rests_on_it_alone(tmp_path: Path) -> None:
    ids = shared(tmp_path)
    with Memory(tmp_path) as memory:
        done = memory.erase(ids["Other"], reason="request", with_sources=True)
        assert (done.ids, done.kept) == ((ids["Other"],), {})
        assert [e.quote for e in memory.get(ids["Mine"]).evidence] == [f"The {WORDS[0]} key is under the mat."]
        assert places_with(tmp_path, WORDS[1:2]) == []
        both = memory.add_observation(content="It rests on it as well.", evidence=f"The {WORDS[0]} key is", session="s")
        done = memory.erase(ids["Mine"], reason="request", with_sources=True)
        assert set(done.ids) == {ids["Mine"], both.id}
        assert places_with(tmp_path, WORDS) == []


def test_an_erased_turn_does_not_come_back_by_ingesting_the_transcript_again(tmp_path: Path) -> None:
    """Nor by remembering its quote, nor after a rebuild; `again` lets it in, and then it may be erased again."""
    sent = [
        {"role": "user", "text": f"I am called {WORDS[0]} by everybody who knows me well."},
        {"role": "user", "text": "It rains today in Oslo."},
    ]
    with Memory(tmp_path) as memory:
        memory.ingest_chat(sent, session="s")
        memory.erase(source="sources/chats/s.jsonl#turn=0", reason="request")
        for _ in range(2):
            done = memory.ingest_chat(sent, session="s")
            assert (done.n_turns, done.n_new) == (1, 0)
            assert any("erased" in warning for warning in done.warnings)
            with pytest.raises(ConflictError):
                memory.remember(
                    f"I am called {WORDS[0]} by everybody who knows me well.",
                    evidence=f"I am called {WORDS[0]} by everybody who knows me well.",
                    session="new",
                )
            memory.compact()
            memory.rebuild()
        assert places_with(tmp_path, WORDS) == []
        done = memory.ingest_chat(sent, session="s", again=True)
        assert (done.n_turns, done.n_new) == (2, 1)
        assert turns(memory, "s") == [sent[1]["text"], sent[0]["text"]]
        assert memory.ingest_chat(sent, session="s").n_new == 0
    with Memory(tmp_path) as memory:
        memory.rebuild()
        assert len(turns(memory, "s")) == 2
        done = memory.erase(source="sources/chats/s.jsonl", reason="request")
        assert done.sources == ("sources/chats/s.jsonl",)
        assert memory.ingest_chat(sent, session="s").n_turns == 0
        assert places_with(tmp_path, WORDS) == []


def test_a_short_answer_of_another_session_is_not_held_against_it(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.ingest_chat([{"role": "user", "text": "Yes."}], session="one")
        memory.erase(session="one", reason="request")
        assert memory.ingest_chat([{"role": "user", "text": "Yes."}], session="two").n_new == 1
        assert memory.ingest_chat([{"role": "user", "text": "Yes."}], session="one").n_new == 0


def test_a_document_goes_with_what_rests_on_it_alone(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        kept = memory.ingest_text("The plan is to go north in May.", title="Kept")
        made = memory.ingest_text(f"The plan is to see {WORDS[0]} in June.", title=WORDS[1], source=WORDS[2])
        quote = {"quote": f"The plan is to see {WORDS[0]} in June.", "source": made.source}
        alone = memory.add_observation(content="June is planned.", evidence=quote)
        both = memory.add_observation(
            content="May and June are planned.",
            evidence=[quote, {"quote": "The plan is to go north in May.", "source": kept.source}],
        )
        done = memory.erase(alone.id, reason="request")
        assert (done.sources, set(done.kept)) == ((), {made.source})
        with pytest.raises(NotFoundError):
            memory.erase(source=f"sources/documents/{'0' * 64}.txt", reason="request")
        done = memory.erase(source=made.source, reason="request")
        assert set(done.sources) == {made.source, made.source.replace(".txt", ".meta.json")}
        assert done.ids == ()
        assert [e.source for e in memory.get(both.id).evidence] == [kept.source]
        assert places_with(tmp_path, [*WORDS, made.source.rpartition("/")[2][:64]]) == []
        with pytest.raises(ConflictError):
            memory.ingest_text(f"The plan is to see {WORDS[0]} in June.")
        assert memory.ingest_text(f"The plan is to see {WORDS[0]} in June.", scope="user:ann").n_new == 1
        assert memory.ingest_text(f"The plan is to see {WORDS[0]} in June.", again=True).n_new == 1
        done = memory.erase(scope="user:ann", reason="request")
        assert done.sources == ()
        meta = json.loads((tmp_path / made.source.replace(".txt", ".meta.json")).read_text())
        assert set(meta["scopes"]) == {""}


def test_a_person_and_a_scope_take_their_sources_with_them(tmp_path: Path) -> None:
    """Transcripts, what is not final, and documents of the scopes of a person, and those of nobody else."""
    with Memory(tmp_path) as memory:
        for scope in ("user:ann", "agent:bot/ann", "user:anna", None):
            memory.ingest_chat(
                [{"role": "user", "id": "1", "text": f"Said in {scope}."}, {"role": "user", "id": "2", "text": f"Not yet {scope}", "partial": True}],
                session="s", scope=scope,
            )  # fmt: skip
            memory.ingest_text(f"Written in {scope}.", scope=scope)
        before = digests(tmp_path)
        done = memory.erase(user="ann", reason="request")
        assert (done.ids, len(done.sources), len(done.turns)) == ((), 6, 2)
        after = digests(tmp_path)
        left = {path for path in before if path.startswith(("sources/", ".grail/local/partial/"))} & after.keys()
        assert len(left) == 2 * 4
        assert all(after[path] == before[path] for path in left)
        assert places_with(tmp_path, ["in user:ann.", "in agent:bot/ann", 'yet user:ann"', "yet agent:bot/ann"]) == []
        with pytest.raises(NotFoundError):
            memory.erase(user="ann", reason="request")


def test_a_speaker_takes_what_that_one_said(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        said = [("Ann", "The first of hers."), ("Bob", "One of his own."), ("ann", "The second of hers.")]
        memory.ingest_chat([{"role": "user", "speaker": who, "text": text} for who, text in said], session="s")
        assert len(memory.erase(speaker="Ann", reason="request").turns) == 2
        assert turns(memory, "s") == ["One of his own."]


def test_a_session_of_a_principal_takes_its_own_alone(tmp_path: Path) -> None:
    """What others rest on stays and is not named; what it may read and not forget is refused."""
    with Memory(tmp_path) as memory:
        memory.grant("user:ann", scope="project:p", rights=["read"])
        memory.ingest_chat([{"role": "user", "text": "Our project is called Apollo."}], session="s", scope="project:p")
        with memory.session(user_id="ann", agent_id="bot", session="mine") as session:
            session.ingest_chat([{"role": "user", "text": "My own name is Ann Smith."}], session="mine")
            (path,) = [p for p in (tmp_path / "sources/chats").iterdir() if p.name.startswith("mine")]
            quote = {"quote": "My own name is Ann Smith.", "source": f"sources/chats/{path.name}"}
            other = memory.add_observation(content="Ann is called Smith.", evidence=quote)
            own = session.add_observation(content="I am Ann Smith.", evidence=quote)
            done = session.erase(own.id, reason="request", with_sources=True)
            assert (done.turns, list(done.kept.values())) == ((), [()])
            assert other.id not in json.dumps(done.to_dict())
            with pytest.raises(AccessError):
                session.erase(session="s", reason="request")
        memory.erase(other.id, reason="request")
        assert places_with(tmp_path, ["Smith"]) == []


def _erase_and_die(root: str, n: int) -> None:
    calls = 0
    real = os.fsync

    def counted(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        real(descriptor)
        if calls == n:
            os.kill(os.getpid(), signal.SIGKILL)

    memory = Memory(root)
    os.fsync = counted
    memory.erase(session=f"talk with {WORDS[0]}", reason="request")
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.slow
def test_a_killed_erase_of_a_session_is_finished_or_never_began(tmp_path: Path) -> None:
    """Killed after each sync of a whole run: afterwards no word of it is left, or everything is there."""
    template = tmp_path / "template"
    planted(template)
    told = [WORDS[1], *WORDS[3:6]]  # no part of them stands in the names of what stays
    outcomes: list[str] = []
    for n in range(1, 200):
        root = tmp_path / "store"
        shutil.copytree(template, root)
        process = multiprocessing.get_context("fork").Process(target=_erase_and_die, args=(str(root), n))
        process.start()
        process.join()
        if process.exitcode == -signal.SIGTERM:
            break
        with Memory(root) as memory:
            left = places_with(root, told)
            there = bool(turns(memory, f"talk with {WORDS[0]}"))
            outcomes.append("there" if there else "gone")
            assert there or not left, (n, left)
            assert memory.verify().ok
            assert not verify(Layout(root))
        shutil.rmtree(root)
    assert outcomes == sorted(outcomes, reverse=True)
    assert set(outcomes) == {"there", "gone"}


def test_a_clone_empties_what_git_brings_back(tmp_path: Path) -> None:
    """The lines of both copies merged, as git's union does it: the erased words are not read, and the next sync takes them out."""
    here, there = tmp_path / "here", tmp_path / "there"
    said = f"The {WORDS[0]} password is kept in the blue folder upstairs."
    with Memory(here) as memory:
        memory.ingest_chat([{"role": "user", "text": said}, {"role": "user", "text": "It rains today."}], session="s")
        memory.ingest_text(f"A page about {WORDS[1]}.")
        memory.remember(f"I am {WORDS[2]} to all.", evidence=f"I am {WORDS[2]} to all.", session="gone")
    shutil.copytree(here, there)
    with Memory(here) as memory:
        memory.erase(source="sources/chats/s.jsonl#turn=0", reason="request")
        memory.erase(scope="org:store", reason="request", dry_run=True)
        memory.erase(session="gone", reason="request")
        (page,) = (here / "sources/documents").glob("*.txt")
        memory.erase(source=f"sources/documents/{page.name}", reason="request")
    with Memory(there) as other:
        for path in (here / ".grail/ledger").glob("*.jsonl"):
            shutil.copy(path, there / ".grail/ledger" / path.name)
        both = (here / "sources/chats/s.jsonl").read_text() + (there / "sources/chats/s.jsonl").read_text()
        (there / "sources/chats/s.jsonl").write_text(both)
        assert turns(other, "s") == ["It rains today."]
        for path in (there / "memories").rglob("*.md"):  # git deletes it here, too
            path.unlink()
        other.sync()
        assert places_with(there, WORDS[:3]) == []
        assert turns(other, "s") == ["It rains today."]
        assert not list((there / "sources/documents").iterdir())


def test_check_lists_sources_that_came_back(tmp_path: Path) -> None:
    """A turn put back into its transcript, a whole transcript and a document; a sync takes them out."""
    with Memory(tmp_path) as memory:
        memory.ingest_chat([{"role": "user", "text": f"I moved to {word} then."} for word in WORDS[:2]], session="one")
        memory.ingest_chat([{"role": "user", "text": f"I sold the {WORDS[2]} then."}], session="two")
        document = memory.ingest_text(f"Minutes: the {WORDS[3]} was closed in May.").source
        sources = tmp_path / "sources"
        before = {path: path.read_bytes() for path in sources.rglob("*") if path.is_file()}
        memory.erase(session="two", reason="asked for")
        memory.erase(source=document, reason="asked for")
        memory.erase(source="sources/chats/one.jsonl#turn=1", reason="asked for")
        assert memory.check().problems == ()
        for path, data in before.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        found = memory.check()
        assert not found.ok
        assert {p.code for p in found.problems} == {"source_came_back"}
        assert {p.where for p in found.problems} >= {"sources/chats/one.jsonl", "sources/chats/two.jsonl", document}
        memory.sync()
        assert memory.check().problems == ()
        assert turns(memory, "one") == [f"I moved to {WORDS[0]} then."]
        assert not places_with(tmp_path, WORDS[1:4])


def test_erased_words_that_came_back_are_neither_quoted_nor_shown_before_a_sync(tmp_path: Path) -> None:
    """Between a pull that brings an old file and the sync that takes them out; a whole transcript, one turn, a document."""
    words = ["I moved to Zurich in the spring.", "I bought a green bicycle in Basel.", "I sold the old piano to Ben."]
    with Memory(tmp_path) as memory:
        memory.ingest_chat([{"role": "user", "text": text} for text in words], session="one")
        memory.ingest_chat([{"role": "user", "text": "I keep bees behind the barn."}], session="two")
        document = memory.ingest_text("Minutes: the harbour office was closed in May.").source
        kept = memory.remember("I sold the old piano to Ben.", evidence=words[2], session="one")
        before = {path: path.read_bytes() for path in (tmp_path / "sources").rglob("*") if path.is_file()}
        memory.erase(source="sources/chats/one.jsonl#turn=1", reason="asked for")
        memory.erase(session="two", reason="asked for")
        memory.erase(source=document, reason="asked for")
        for path, data in before.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for claim, place in (
            (words[1], {"session": "one"}), ("I keep bees behind the barn.", {"session": "two"}),
            ("the harbour office was closed in May.", {"source": document}), ("I bought a green bicycle in Basle.", {"session": "one"}),
        ):  # fmt: skip
            with pytest.raises((EvidenceNotFoundError, ConflictError)) as refused:
                memory.remember(claim, evidence=claim, **place)
            assert "Basel" not in str(refused.value).replace(claim, "")  # the message names the closest turn
        shown = memory.cite(kept.id).to_dict()["evidence"][0]
        assert "piano" in str(shown)
        assert "bicycle" not in str(shown)
        assert memory.remember(words[0], evidence=words[0], session="one").created
