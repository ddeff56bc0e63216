"""Erasing leaves no byte: a store with everything in use, unique words everywhere, and a look at every byte afterwards."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from every_byte import digests, places_with
from proposal_sets import propose

from grail_mem import ConflictError, InputError, Memory, NotFoundError
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import verify

WORDS = [
    "Zorblattine", "quuxvilleish", "gribblewump", "xylotagical", "Frobnitzer", "flumpenary", "snarkwibble", "bandersnitch",
    "mimsyborough", "uffishness", "tulgeywoods", "jubjubbery", "manxomeful", "vorpalesque", "galumphant", "slithytovic",
]  # fmt: skip


def embed(texts: list[str]) -> np.ndarray:
    """Vectors that differ with the text."""
    made = np.array([[float(len(t)), float(sum(t.encode()) % 97), float(t.count("e")), 1.0] for t in texts], np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def planted(root: Path) -> str:
    """A store in which one observation was spoken of everywhere; returns its id."""
    with Memory(root, embedder=embed) as memory:
        others = [
            memory.add_observation(
                title=f"Plain note {i}", content=f"The plain content number {i} says little.", category="work/plain",
                tags=["plain"], entities=["Acme"],
            )
            for i in range(6)
        ]  # fmt: skip
        made = memory.add_observation(
            title=WORDS[0], content=f"We saw {WORDS[1]} with its {WORDS[2]} on the way home.", category=f"work/{WORDS[6]}",
            tags=[WORDS[3]], entities=[{"name": WORDS[4], "type": WORDS[5], "aliases": [WORDS[7]]}, "Acme"],
            relationships=[{"source": WORDS[4], "target": "Acme", "relationship_type": WORDS[8]}],
            source=WORDS[9], session=WORDS[10], speaker=WORDS[11], attribute=f"acme/{WORDS[12]}",
        )  # fmt: skip
        memory.compact()
        memory.index()
        memory.search(WORDS[1])
        memory.update(made.id, append=f"And then {WORDS[13]} came.", reason=f"heard of {WORDS[13]}")
        memory.update(others[0].id, related_to=[made.id], reason=f"it is about {WORDS[1]}")
        memory.update(others[1].id, supersedes=made.id)
        memory.compact()
        memory.index()
        applied = propose(
            memory, [{"do": "set", "id": made.id, "fields": {"tags": [WORDS[3], WORDS[14]]}}], meaning=[WORDS[4]],
            same=[(WORDS[4], "Acme")],
        )  # fmt: skip
        memory.apply(applied, reason=f"since {WORDS[14]}")
        rejected = propose(memory, [{"do": "move", "id": made.id, "category": f"work/{WORDS[15]}"}])
        memory.reject(rejected, reason=f"not {WORDS[15]}")
        propose(memory, [{"do": "set", "id": made.id, "fields": {"title": f"{WORDS[0]} again"}}])
        propose(memory, [{"do": "set", "id": others[2].id, "fields": {"tags": ["other"]}}])
        memory.consolidate()
        memory.index()
    layout = Layout(root)
    left = layout.staging / f"{_dead_pid()}-0123456789abcdef.tmp"  # what a killed writer left
    left.write_bytes((root / made.path).read_bytes())
    return made.id


def _dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.slow
def test_no_word_of_what_was_erased_is_left(tmp_path: Path) -> None:
    """Not in files, names, ledger, journal, undo, proposals, snapshots, index or vectors."""
    root = tmp_path / "store"
    id_ = planted(root)
    assert {where.split("/")[0] for where in places_with(root, WORDS)} >= {"memories", ".grail", "output"}
    with Memory(root, embedder=embed) as memory:
        planned = memory.erase(id_, reason="request", dry_run=True)
        done = memory.erase(id_, reason="request")
        assert done.to_dict() == planned.to_dict() | {"dry_run": False}
        assert places_with(root, WORDS) == []
        assert [o.title for o in memory.search(WORDS[1]).observations if WORDS[0] in o.title] == []
        assert memory.check().problems == ()
        assert not verify(Layout(root))
    assert places_with(root, WORDS) == []
    assert done.proposals
    assert done.undo_records
    assert done.n_vectors
    assert len(done.edited) == 2
    with Memory(root, embedder=embed) as memory:
        memory.rebuild()
        assert len(memory.recall().observations) == 6
        assert (
            memory.get(next(o.id for o in memory.recall().observations if o.title == "Plain note 0")).related_to == ()
        )
        assert places_with(root, WORDS) == []
        waiting = memory.proposals()
        assert [p for p in waiting if p.changes[0].get("fields") == {"tags": ["other"]}]


def test_folders_that_it_was_moved_out_of_go_with_it(tmp_path: Path) -> None:
    """A category is a word of the observation; one in which something else lies stays."""
    with Memory(tmp_path) as memory:
        made = memory.add_observation(content="It was here.", category=f"work/{WORDS[0]}/{WORDS[1]}")
        memory.add_observation(content="This stays.", category="work/other")
        memory.move(made.id, f"home/{WORDS[2]}")
        memory.move(made.id, "work")
        memory.erase(made.id, reason="request")
        memory.compact()
        assert places_with(tmp_path, WORDS[:3]) == []
        assert not (tmp_path / "memories/home").exists()
        assert [o.content for o in memory.recall().observations] == ["This stays."]


def test_a_copy_of_its_file_goes_along_and_one_with_other_words_is_named(tmp_path: Path) -> None:
    """Both carry its id, so neither may count afterwards; what says something else is a person's to keep or to delete."""
    with Memory(tmp_path) as memory:
        made = memory.add_observation(content=f"She lives in {WORDS[0]}.", category="people")
        text = (tmp_path / made.path).read_text()
        (tmp_path / "memories/copy.md").write_text(text)
        other = tmp_path / "memories/other.md"
        other.write_text(
            text.replace(f"She lives in {WORDS[0]}.", "A file made from it says this.").replace(WORDS[0], "it")
        )
        memory.sync()
        assert len(memory.recall().observations) == 3
        done = memory.erase(made.id, reason="request")
        assert "memories/copy.md" in done.files
        assert done.still_said == {}
        assert [w for w in done.warnings if "memories/other.md carries the id" in w]
        assert places_with(tmp_path, [WORDS[0]]) == []
        other.write_text(re.sub(r"id: \w+\n", "", other.read_text()))
        memory.sync()
        assert [o.content for o in memory.recall().observations] == ["A file made from it says this."]


@pytest.mark.slow
def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "store"
    id_ = planted(root)
    with Memory(root, embedder=embed) as memory:
        memory.recall()
        before = digests(root)
        memory.erase(id_, reason="request", dry_run=True)
        assert digests(root) == before


def test_a_reason_that_says_what_was_erased_is_withheld(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        made = memory.add_observation(title="Zorblattine", content="It is said.")
        done = memory.erase(made.id, reason="because of zorblattine")
        assert done.reason == "withheld"
        assert done.warnings
        assert places_with(tmp_path, ["Zorblattine"]) == []


def test_a_reader_with_the_old_snapshot_open_does_not_answer_with_it(tmp_path: Path) -> None:
    with Memory(tmp_path) as reader, Memory(tmp_path) as writer:
        kept = writer.add_observation(title="Kept", content="It stays.")
        made = writer.add_observation(title="Goes", content="It goes away.")
        writer.compact()
        assert len(reader.recall().observations) == 2
        assert reader.sql("select count(*) n from observations").to_pylist() == [{"n": 2}]
        writer.erase(made.id, reason="request")
        assert [o.id for o in reader.recall().observations] == [kept.id]
        assert reader.sql("select id from observations").to_pylist() == [{"id": kept.id}]
        with pytest.raises(NotFoundError):
            reader.get(made.id)
        with pytest.raises(NotFoundError):
            reader.restore(made.id)


def test_what_says_the_same_elsewhere_is_named_and_stays(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        first = memory.add_observation(title="One", content="Acme chose Postgres after a long review.", category="a")
        twin = memory.add_observation(title="Two", content="Acme chose  postgres after a long review.", category="b")
        quoting = memory.add_observation(title="Three", content="> Acme chose Postgres after a long review.\n\nIndeed.")
        done = memory.erase(first.id, reason="request")
        assert done.still_said == {first.id: (twin.id,)}
        assert done.quoting == (quoting.id,)
        path = tmp_path / memory.get(twin.id).path
        path.write_text(path.read_text().replace("confidence: 1.0", "confidence: 0.5"))  # by hand: it must not vanish
        memory.sync()
        assert memory.get(twin.id).confidence == 0.5
        assert memory.check().problems == ()


def test_merged_from_and_other_references_are_taken_out_and_nothing_else(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        gone = memory.add_observation(title="Gone", content="It is to go.")
        path = tmp_path / "memories/hand.md"
        path.write_text(
            f"---\ntitle: Hand # mine\nmerged_from:\n  - {{id: {gone.id}, at: now}}\n  - {{id: other}}\nmy-key: {gone.id}\n"
            f"related_to: [{gone.id}]\n---\nBy a person.\n"
        )
        memory.sync()
        memory.erase(gone.id, reason="request")
        text = path.read_text()
        assert gone.id not in text
        assert "# mine" in text
        assert "other" in text
        assert "By a person.\n" in text


def test_hidden_observations_are_erased_too_and_several_conditions_are_one(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        made = [
            memory.add_observation(title=f"N{i}", content=f"Said {i} in the session.", session="s", speaker=who)
            for i, who in enumerate(["Ann", "Bob", "Ann"])
        ]
        memory.hide(made[0].id)
        done = memory.erase(session="s", speaker="ann", reason="request")
        assert set(done.ids) == {made[0].id, made[2].id}
        assert [o.id for o in memory.recall().observations] == [made[1].id]
        with pytest.raises(InputError, match="Say which"):
            memory.erase(reason="request")
        with pytest.raises(NotFoundError):
            memory.erase(session="other", reason="request")
        with pytest.raises(InputError):
            memory.hide_selected(reason="request")
        assert [one.changed for one in memory.hide_selected(session="s")] == [True]


def test_a_clone_that_gets_the_receipt_keeps_the_text_out(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with Memory(here) as memory:
        made = memory.add_observation(title="Secret", content="The number of the safe is one two three four five.")
        memory.add_observation(title="Kept", content="It stays.")
    shutil.copytree(here, there)
    with Memory(there) as other:
        other.add_observation(title="There", content="Said in the clone.")
        other.compact()
        with Memory(here) as memory:
            memory.erase(made.id, reason="request")
        for path in (here / ".grail/ledger").glob("*.jsonl"):  # what git brings
            shutil.copy(path, there / ".grail/ledger" / path.name)
        assert {o.title for o in other.recall().observations} == {"Kept", "There"}
        assert [p.code for p in other.sync().problems] == ["erased_came_back"]  # the file was not deleted there
        with pytest.raises(ConflictError):
            other.add_observation(title="Secret", content="The number of the safe is one two three four five.")


@pytest.mark.slow
def test_a_clone_removes_what_it_derived_with_its_next_sync(tmp_path: Path) -> None:
    """Git brings the receipt, the redacted lines and the deletion; snapshot, index, vectors and undo of the clone go then."""
    here, there = tmp_path / "here", tmp_path / "there"
    id_ = planted(here)
    shutil.copytree(here, there)
    with Memory(there, embedder=embed) as other, Memory(here, embedder=embed) as memory:
        other.compact()
        assert other.search(WORDS[1]).observations
        memory.erase(id_, reason="request")
        for folder in (".grail/ledger", "memories"):
            own = {path.name for path in (here / folder).glob("*.jsonl")}
            for path in (here / folder).rglob("*.*"):
                shutil.copy(path, there / path.relative_to(here))
            for path in (there / folder).rglob("*.md"):
                if not (here / path.relative_to(there)).exists():
                    path.unlink()
            assert own or folder == "memories"
        shutil.rmtree(there / f"memories/work/{WORDS[6]}")
        assert [o for o in other.recall().observations if o.id == id_] == []
        other.sync()
        left = places_with(there, WORDS)
        assert [where for where in left if not where.startswith("output/proposals")] == []
        assert other.check().problems == ()


def _erase_and_die(root: str, id_: str, n: int) -> None:
    calls = 0
    real = os.fsync

    def counted(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        real(descriptor)
        if calls == n:
            os.kill(os.getpid(), signal.SIGKILL)

    memory = Memory(root, embedder=embed)
    os.fsync = counted
    memory.erase(id_, reason="request")
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.slow
def test_a_killed_erase_is_finished_by_the_next_opening_or_never_began(tmp_path: Path) -> None:
    """Killed after each sync of a whole run: afterwards nothing is left, or everything is there."""
    template = tmp_path / "template"
    id_ = planted(template)
    outcomes: list[str] = []
    for n in range(1, 200):
        root = tmp_path / "store"
        shutil.copytree(template, root)
        process = multiprocessing.get_context("fork").Process(target=_erase_and_die, args=(str(root), id_, n))
        process.start()
        process.join()
        if process.exitcode == -signal.SIGTERM:
            break
        with Memory(root, embedder=embed) as memory:
            assert memory.check().problems == () or {p.code for p in memory.check().problems} <= {
                "torn_entry",
                "leftover",
            }
            there = [o for o in memory.recall().observations if o.id == id_]
            left = places_with(root, WORDS)
            outcomes.append("there" if there else "gone")
            assert there or not left, (n, left)
            if there:
                assert any(where.startswith("memories") for where in left)
        shutil.rmtree(root)
    assert outcomes == sorted(outcomes, reverse=True)
    assert set(outcomes) == {"there", "gone"}


@pytest.mark.slow
def test_writers_and_erasers_in_several_processes_leave_no_word(tmp_path: Path) -> None:
    """Some write, compact and search while others erase; what was erased is nowhere, what was kept is all there."""
    with Memory(tmp_path, embedder=embed) as memory:
        gone = [
            memory.add_observation(title=f"{word} note", content=f"Here {word} stands alone.", tags=[word])
            for word in WORDS
        ]
        memory.compact()
        memory.index()
    context = multiprocessing.get_context("spawn")
    ids = [one.id for one in gone]
    jobs = [
        context.Process(target=_erase_each, args=(str(tmp_path), ids[:8])),
        context.Process(target=_erase_each, args=(str(tmp_path), ids[8:])),
        context.Process(target=_keep_writing, args=(str(tmp_path),)),
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
        assert job.exitcode == 0
    with Memory(tmp_path, embedder=embed) as memory:
        memory.sync()
        assert {o.title for o in memory.recall(limit=100).observations} == {f"Kept {i}" for i in range(12)}
        assert memory.check().problems == ()
        assert places_with(tmp_path, WORDS) == []


def _erase_each(root: str, ids: list[str]) -> None:
    with Memory(root, embedder=embed) as memory:
        for id_ in ids:
            memory.erase(id_, reason="request")


def _keep_writing(root: str) -> None:
    with Memory(root, embedder=embed) as memory:
        for i in range(12):
            memory.add_observation(title=f"Kept {i}", content=f"Number {i} is kept for good.")
            if i % 4 == 1:
                memory.compact()
                memory.search("kept")
                memory.index()
