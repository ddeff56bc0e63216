"""Candidates count for nothing until somebody who may approves them."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grail_mem import InputError, Memory
from grail_mem.errors import AccessError, NotFoundError
from grail_mem.write.candidates import ORIGINS

ROOT = Path(__file__).parents[2]
SAID = "I prefer concise answers in every report."


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Memory(tmp_path / "s", embedder="none") as opened:
        yield opened


def draft(text: str = "Dana prefers tea.", **fields: Any) -> dict[str, Any]:
    return {"content": text, "category": "people/dana", "tags": ["drinks"], **fields}


def answers(memory: Memory) -> list[object]:
    """Everything that a candidate must not be in."""
    return [
        memory.recall().observations, memory.search("What does Dana prefer?").observations, memory.list_observations().observations,
        memory.list_categories(), memory.list_tags(), memory.list_entities(), memory.graph().number_of_nodes(),
        memory.sql("SELECT count(*) AS n FROM observations").to_pylist(),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_candidate_is_in_no_answer(memory: Memory) -> None:
    """Neither at once, nor after a sync, a compaction or a rebuild; its file is readable as an observation is."""
    before = str(answers(memory))
    (made,) = memory.submit(draft(entities=["Dana"]), origin="tool")
    for step in (lambda: None, memory.sync, memory.compact, memory.rebuild):
        step()
        assert str(answers(memory)) == before
    text = (memory.root / ".grail" / "candidates" / f"{made.id}.md").read_text()
    assert "Dana prefers tea." in text
    assert "origin: tool" in text
    assert not memory.check().problems


@pytest.mark.parametrize("origin", ORIGINS)
def test_approved_it_is_an_observation_like_any_other(memory: Memory, origin: str) -> None:
    """With its fields, the kind of its source and no more certainty than that allows; its own file goes."""
    (made,) = memory.submit(draft(), origin=origin)
    (waiting,) = memory.candidates(origin=origin)
    assert waiting.observation is not None
    assert waiting.observation.category == "people/dana"
    (plan,) = memory.approve(made.id, dry_run=True)
    assert plan.done
    assert not memory.recall().observations
    (done,) = memory.approve(made.id, reason="right")
    (found,) = memory.recall().observations
    assert (found.id, found.content, found.category, found.tags) == (
        done.observation,
        "Dana prefers tea.",
        "people/dana",
        ("drinks",),
    )
    assert found.source_kind == ORIGINS[origin]
    assert found.confidence <= (1.0 if origin == "import" else 0.95)
    assert not list((memory.root / ".grail" / "candidates").iterdir())
    (known,) = memory.candidates(status="approved")
    assert (known.became, known.reason) == (done.observation, "right")


def test_declined_it_does_not_come_back(memory: Memory) -> None:
    """Nor does what it said stay anywhere; approving it afterwards is refused."""
    (made,) = memory.submit(draft("The canary is zanzibar."))
    assert memory.decline(made.id, dry_run=True)[0].done
    assert memory.candidates()
    assert memory.decline(made.id, reason="wrong")[0].done
    assert not memory.submit(draft("The canary is zanzibar."))[0].created
    assert not memory.candidates()
    assert not memory.approve(made.id)[0].done
    memory.compact()
    memory.close()
    held = [p.name for p in memory.root.rglob("*") if p.is_file() and b"zanzibar" in p.read_bytes()]
    assert set(held) <= {"journal"}  # which is written over


def test_the_same_is_submitted_once(memory: Memory) -> None:
    """In one call and in two."""
    first, second = memory.submit([draft(), draft()])
    assert (first.created, second.created, second.id) == (True, False, first.id)
    assert memory.submit(draft())[0].id == first.id
    assert len(memory.candidates()) == 1


def test_its_quote_is_shown_and_looked_up_again(memory: Memory) -> None:
    """A quote that stands nowhere is refused; one whose source changed meanwhile cannot be approved."""
    memory.ingest_chat([{"role": "user", "text": SAID}], session="s")
    source = "sources/chats/s.jsonl#turn=0"
    with pytest.raises(InputError):
        memory.submit(draft(evidence={"quote": "I prefer very long answers", "source": source}))
    good = draft("The user prefers concise answers.", evidence={"quote": "I prefer concise answers", "source": source})
    (made,) = memory.submit(good, origin="extraction")
    (waiting,) = memory.candidates()
    assert waiting.observation is not None
    assert waiting.observation.evidence[0].quote == "I prefer concise answers"
    path = memory.root / "sources" / "chats" / "s.jsonl"
    text = path.read_text()
    path.write_text(text.replace("concise", "verbose"))
    (outcome,) = memory.approve(made.id)
    assert not outcome.done
    assert outcome.reasons
    path.write_text(text)
    assert memory.approve(made.id)[0].done
    assert memory.recall().observations[0].evidence[0].source == source


@pytest.mark.slow
def test_two_processes_that_approve_at_once_make_one_observation(memory: Memory) -> None:
    """One of them does it, the other is told so."""
    ids = [memory.submit(draft(f"Fact number {n} of Dana."))[0].id for n in range(5)]
    code = (
        f"import sys; from grail_mem import Memory\nwith Memory({str(memory.root)!r}, embedder='none') as m:\n"
        "    print(sum(one.done for one in m.approve(sys.argv[1:])))"
    )

    def run(_: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", code, *ids],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": str(ROOT)},
        )
        return int(done.stdout)

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(run, range(2))) == len(ids)
    assert len(memory.recall().observations) == len(ids)


def test_every_mistake_is_told_at_once(memory: Memory) -> None:
    """And nothing is stored."""
    with pytest.raises(InputError) as refused:
        memory.submit([draft(confidence=7), draft(), {"wrong": 1}])
    assert [text.split(":")[0] for text in refused.value.problems] == ["candidate 1", "candidate 3"]
    assert not memory.candidates()
    for call in (
        lambda: memory.submit(draft(), origin="nobody"),
        lambda: memory.candidates(status="odd"),
        lambda: memory.candidates(origin="odd"),
    ):
        with pytest.raises(InputError):
            call()
    for call in (lambda: memory.approve("01JZZZZZZZZZZZZZZZZZZZZZZZ"), lambda: memory.decline("../../grail")):
        with pytest.raises(NotFoundError):
            call()


def test_secrets_are_kept_out_of_candidates(tmp_path: Path) -> None:
    """What is suggested is screened as what is stored is."""
    key = "AKIA" + "QYLPMN5HHHFPZAM2"
    (tmp_path / "grail.yaml").write_text("screening: redact\n")
    with Memory(tmp_path, embedder="none") as memory:
        memory.submit(draft(f"The key is {key}."), origin="tool")
        memory.decline(memory.candidates()[0].id, reason=f"it held {key}")
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and key.encode() in p.read_bytes()]


@pytest.mark.parametrize("right", [None, "read", "write", "propose", "apply", "forget"])
def test_a_session_submits_and_decides_where_it_may(memory: Memory, right: str | None) -> None:
    """`propose` lets it suggest, `apply` decide; what it may not read is as if it were not there."""
    scope = "project:grail"
    (theirs,) = memory.submit(draft(scope=scope))
    if right:
        memory.grant("user:u1", scope, right)
    with memory.session(user_id="u1", agent_id="a") as session:
        assert [one.id for one in session.candidates(status="all")] == ([theirs.id] if right else [])
        if right == "propose":
            assert session.submit(draft("Another.", scope=scope))[0].created
        else:
            with pytest.raises(AccessError):
                session.submit(draft("Another.", scope=scope))
        if right is None:
            with pytest.raises(NotFoundError):
                session.approve(theirs.id)
        elif right == "apply":
            assert session.approve(theirs.id)[0].done
        else:
            for decide in (session.approve, session.decline):
                with pytest.raises(AccessError):
                    decide(theirs.id)
    assert len(memory.recall().observations) == (right == "apply")


def test_two_that_decide_at_once_both_hear_what_was_decided(memory: Memory) -> None:
    """Whoever comes second is told so; that the file goes meanwhile is no reason to say there was no such candidate."""
    made = [one.id for one in memory.submit([draft(f"Dana prefers tea number {n}.") for n in range(30)])]
    with Memory(memory.root, embedder="none") as other, ThreadPoolExecutor(2) as pool:
        both = [pool.submit(lambda m: [m.approve(id_)[0] for id_ in made], m) for m in (memory, other)]
        first, second = (one.result() for one in both)
    for one, two in zip(first, second, strict=True):
        assert {one.status, two.status} == {"approved"}
        assert one.done != two.done
        assert one.observation == two.observation
    assert len(memory.recall(limit=100).observations) == 30


def _put_back(memory: Memory, id_: str, data: bytes) -> Path:
    """What is there when a process is killed between the line of a decision and the removal of the file."""
    path = memory.root / ".grail" / "candidates" / f"{id_}.md"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("verb", ["approve", "decline"])
def test_the_file_of_a_decided_candidate_that_was_left_behind_goes(memory: Memory, verb: str) -> None:
    one, two = memory.submit([draft(), draft("Dana prefers coffee.")])
    path = memory.root / ".grail" / "candidates" / f"{one.id}.md"
    data = path.read_bytes()
    getattr(memory, verb)(one.id)
    assert _put_back(memory, one.id, data).exists()
    getattr(memory, verb)(two.id)
    assert not path.exists()


def test_what_is_erased_is_in_no_candidate_either(memory: Memory) -> None:
    """Neither in one that waits and says the same or quotes it, nor in the file that a killed approval left behind."""
    said = "Dana keeps the zebrawood key in the attic."
    (first,) = memory.submit(draft(said))
    data = (memory.root / ".grail" / "candidates" / f"{first.id}.md").read_bytes()
    kept = memory.approve(first.id)[0].observation
    left = _put_back(memory, first.id, data)
    _same, more, else_ = memory.submit([
        draft(said, category="home"), draft(f"Bob says: {said} So be it."), draft("Dana keeps bees on the roof.")
    ])  # fmt: skip
    waiting = {one.id for one in memory.candidates()}
    planned = memory.erase(kept, reason="asked", dry_run=True)
    assert left.exists()
    done = memory.erase(kept, reason="asked")
    assert set(planned.candidates) >= set(done.candidates) == waiting - {else_.id}
    assert more.id in done.candidates
    assert [one.id for one in memory.candidates()] == [else_.id]
    assert not [path for path in memory.root.rglob("*") if path.is_file() and b"zebrawood" in path.read_bytes()]
    assert [one.status for one in memory.submit(draft(f"Bob says: {said} So be it."))] == ["declined"]


def test_candidates_of_a_person_or_a_conversation_are_erased_with_it(memory: Memory) -> None:
    """By scope, by session, and by the turn that they quote, with no observation beside them; those of others stay."""
    for user in ("ann", "bob"):
        with memory.session(user_id=user, agent_id="bot", session=f"talk of {user}") as session:
            session.ingest_chat([{"role": "user", "text": "I prefer zebrawood to oak."}])
            assert [one.created for one in session.finish()] == [True]
            session.submit({"content": f"The desk of {user} is of teak."}, origin="tool")
    by_ann = {one.id for one in memory.candidates() if "ann" in one.actor}
    planned = memory.erase(user="ann", reason="asked", dry_run=True)
    done = memory.erase(user="ann", reason="asked")
    assert set(planned.candidates) == set(done.candidates) == by_ann
    assert {one.actor for one in memory.candidates()} == {"agent:bot/bob"}
    quoting, other = (one for one in memory.candidates() if one.actor == "agent:bot/bob")
    assert memory.erase(session="talk of bob", reason="asked").candidates == (quoting.id,)
    with memory.session(user_id="bob", agent_id="bot") as session:
        assert session.erase(scope="agent:bot/bob", reason="mine").candidates == ()  # told to the owner alone
    assert memory.candidates() == ()
    assert other.id != quoting.id
    for words in (b"zebrawood", b"teak"):
        assert not [path for path in memory.root.rglob("*") if path.is_file() and words in path.read_bytes()]


def test_what_was_erased_is_not_suggested_again(memory: Memory) -> None:
    """As an observation or as a candidate that never became one: no file holds it again until it is told on purpose."""
    kept = memory.add_observation(content="Dana keeps the zebrawood key in the attic.")
    memory.submit({"content": "The zebrawood chest of Dana stands in the hall.", "scope": "user:dana"})
    memory.erase([kept.id], reason="asked")
    memory.erase(scope="user:dana", reason="asked")
    again = memory.submit([
        {"content": "Dana keeps the zebrawood key in the attic."},
        {"content": "The zebrawood chest of Dana stands in the hall.", "scope": "user:dana"},
    ])  # fmt: skip
    assert [(one.created, one.status) for one in again] == [(False, "declined"), (False, "declined")]
    assert all("erased on" in one.warnings[-1] for one in again)
    assert not [path for path in memory.root.rglob("*") if path.is_file() and b"zebrawood" in path.read_bytes()]
    memory.add_observation(content="Dana keeps the zebrawood key in the attic.", again=True)
    (free,) = memory.submit({"content": "Dana keeps the zebrawood key in the attic.", "category": "home"})
    assert free.created


def test_the_ledger_keeps_no_digest_of_a_candidate_whose_words_were_erased(memory: Memory) -> None:
    """Its fingerprint and the digest of its file are made without a slow function: whoever has the ledger could guess by them."""
    approved, declined = memory.submit([draft("Dana keeps bees on the roof."), draft("Dana sold the boat.")])
    (done,) = memory.approve(approved.id)
    memory.decline(declined.id, reason="no")
    kept = memory.add_observation(**draft("Dana sold the boat."))
    lines = [line for path in (memory.root / ".grail/ledger").iterdir() for line in path.read_text().splitlines()]
    told = [json.loads(line)["open"] for line in lines if '"action":"submit"' in line]
    digests = [one[name] for one in told for name in ("digest", "fingerprint")]
    assert len(digests) == 4
    memory.erase([done.observation, kept.id], reason="asked")
    left = "".join(path.read_text() for path in (memory.root / ".grail/ledger").iterdir())
    assert [one for one in digests if one in left] == []
    assert {one.status for one in memory.candidates(status="all")} == {"approved", "declined"}
    assert memory.check().problems == ()


@pytest.mark.parametrize("left", [b"", b"---\nid: x\ntitle: [", b"\0" * 50])
def test_a_damaged_candidate_is_told_and_hinders_no_other(memory: Memory, left: bytes) -> None:
    """The owner sees that it waits and why it cannot be read; a check names it; it is declined, never approved; others go on."""
    first, second = memory.submit([draft(), draft("Dana prefers coffee.")])
    file = memory.root / ".grail" / "candidates" / f"{first.id}.md"
    file.write_bytes(left)
    told = {one.id: one for one in memory.candidates()}
    assert set(told) == {first.id, second.id}
    assert (told[second.id].damaged, told[second.id].observation is None) == ("", False)
    assert [p.where for p in memory.check().problems if p.code == "bad_candidate"] == [
        f".grail/candidates/{first.id}.md"
    ]
    if told[first.id].damaged:
        (refused,) = memory.approve(first.id)
        assert not refused.done
        assert "cannot be read" in refused.reasons[0]
        with memory.session(user_id="u", agent_id="a") as session:
            assert session.candidates() == ()
    assert memory.decline(first.id)[0].done
    assert memory.approve(second.id)[0].done
    assert not memory.check().problems
