"""The term of a transcript: what is past it goes for good, unless evidence needs it, and nothing else changes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from every_byte import digests, places_with
from ulid import ULID

from grail_mem import InputError, Memory
from grail_mem.store.layout import Layout
from grail_mem.store.sources import current_turns, read_session
from grail_mem.write.retention import Retained

GOING = ["Zorblattine", "quuxvilleish", "gribblewump"]
STAYING = ["xylotagical", "Frobnitzer", "flumpenary", "snarkwibble", "jubjubbery"]
OLD = "2020-03-01T10:00:00Z"


def turn(id_: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "id": id_, "text": text, "at": OLD} | more


def texts(memory: Memory, session: str, scope: str | None = None) -> list[str]:
    return [turn.text for turn in current_turns(read_session(Layout(memory.root), session, scope))]


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    """Old transcripts: one that nothing quotes, and one of which each turn but two is needed by somebody else."""
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.ingest_chat([turn("a", f"The key of {GOING[0]} is under the mat.")], session=f"about {GOING[2]}")
        told = [f"My name is {word} and I like it." for word in STAYING]
        memory.ingest_chat(
            [*(turn(str(n), text) for n, text in enumerate(told)), turn("x", f"Nobody needs {GOING[1]} any more.")],
            session="old",
        )
        memory.ingest_chat([turn("p", f"I was about to say {GOING[1]}.", partial=True)], session=f"about {GOING[2]}")
        (partial,) = (memory.root / ".grail/local/partial").iterdir()
        os.utime(partial, (0, 0))
        memory.ingest_chat([turn("new", "This was said today.", at=None)], session="new")
        memory.remember(told[0], evidence=told[0], session="old")
        memory.hide(memory.remember(told[1], evidence=told[1], session="old").id, reason="for now")
        memory.archive(memory.remember(told[2], evidence=told[2], session="old").id)
        memory.submit({"content": told[3], "evidence": told[3], "session": "old"})
        edited = memory.remember(told[4], evidence=told[4], session="old")
        file = memory.root / memory.get(edited.id).path
        file.write_text(file.read_text().replace(told[4], "Not what it says."))
        memory.sync()
        memory.compact()
        yield memory


def test_what_nothing_needs_goes_and_leaves_no_byte(memory: Memory) -> None:
    """Hidden and archived observations, candidates, and evidence that no longer fits need their turns, too."""
    counts = memory.verify().counts
    before = digests(memory.root)
    answers = [o.to_dict() for o in memory.recall(include_history=True).observations]
    planned = memory.retain(days=30, dry_run=True)
    assert digests(memory.root) == before
    done = memory.retain(days=30)
    assert done.to_dict() == planned.to_dict() | {"dry_run": False}
    assert (len(done.turns), done.n_unfinished, len(done.files)) == (2, 1, 1)
    assert places_with(memory.root, GOING) == []
    assert [word in text for text, word in zip(texts(memory, "old"), STAYING, strict=True)] == [True] * 5
    after = digests(memory.root)
    assert {p for p in after if p.startswith(("memories/", ".grail/candidates/"))} == {
        p for p in before if p.startswith(("memories/", ".grail/candidates/"))
    }
    unchanged = [p for p in before if p.startswith(("memories/", ".grail/candidates/", "sources/chats/new"))]
    assert {p: after[p] for p in unchanged} == {p: before[p] for p in unchanged}
    assert memory.verify().counts == counts
    assert [o.to_dict() for o in memory.recall(include_history=True).observations] == answers
    assert memory.check().problems == ()
    assert memory.verify_ledger().ok


def test_it_is_told_what_quotes_the_rest(memory: Memory) -> None:
    kept = {one.session: one for one in memory.retain(days=30, dry_run=True).transcripts}
    assert set(kept) == {"old", f"about {GOING[2]}"}
    old = kept["old"]
    assert (old.n_turns, old.n_going, len(old.quoted)) == (6, 1, 5)
    named = {id_ for ids in old.quoted.values() for id_ in ids}
    assert {o.id for o in memory.recall(include_history=True).observations} <= named
    assert {one.id for one in memory.candidates()} <= named


def test_a_second_call_has_nothing_to_do_and_writes_nothing(memory: Memory) -> None:
    memory.retain(days=30)
    before = digests(memory.root)
    again = memory.retain(days=30)
    assert (again.turns, again.n_bytes) == ((), 0)
    assert digests(memory.root) == before


def test_the_same_may_be_ingested_again_unless_that_was_asked_for(memory: Memory) -> None:
    said, session = turn("x", f"Nobody needs {GOING[1]} any more."), "old"
    memory.retain(days=30)
    assert memory.ingest_chat([said], session=session).n_new == 1
    assert memory.retain(days=30, keep_out=True).kept_out
    refused = memory.ingest_chat([said], session=session)
    assert refused.n_new == 0
    assert any("erased" in text for text in refused.warnings)
    assert memory.ingest_chat([said], session=session, again=True).n_new == 1


def test_the_ledger_says_who_and_why(memory: Memory) -> None:
    memory.retain(days=30, actor="keeper")
    line = next(entry for entry in memory.log(action="erase").entries)
    assert (line.actor, line.reason) == ("keeper", "retention: 30 days")


def test_without_a_term_nothing_is_looked_at(memory: Memory) -> None:
    """No term is the default, and a term is a whole number of days."""
    before = digests(memory.root)
    with pytest.raises(InputError, match="retention_days"):
        memory.retain()
    for wrong in (0, -1, True, 1.5, "30", 10**9):
        with pytest.raises(InputError, match="days must be"):
            memory.retain(days=wrong)  # type: ignore[arg-type]
    assert digests(memory.root) == before


def test_the_newest_turn_counts_and_a_wrong_clock_does_not(tmp_path: Path) -> None:
    """A talk that goes on is not old, whatever its first turns say; a time after the ingest counts as the ingest."""
    with Memory(tmp_path, embedder="none") as memory:
        memory.ingest_chat([turn("a", "Said long ago."), turn("b", "Said now.", at=None)], session="untimed end")
        memory.ingest_chat([turn("a", "Said long ago.")], session="goes on")
        memory.ingest_chat([turn("b", "Said today.", at="2199-01-01")], session="goes on")
        memory.ingest_chat([turn("p", "Being said.", partial=True, id="p")], session="speaking")
        memory.ingest_chat([turn("a", "Said long ago.")], session="speaking")
        found = memory.retain(days=30, dry_run=True).transcripts
        assert [one.session for one in found] == ["untimed end"]
        ends = {one.title: dict(one.why)["term"][:4] for one in _due(memory, retention_days=36_500)}
        assert ends["goes on"] != "2299"


def _due(memory: Memory, **settings: Any) -> list[Any]:
    memory.root.joinpath("grail.yaml").write_text("".join(f"{name}: {value}\n" for name, value in settings.items()))
    with Memory(memory.root, embedder="none") as anew:
        return anew.due(within="200y")


def test_due_lists_the_transcripts_of_which_something_goes(memory: Memory) -> None:
    """Only with a term, only what the caller may read, and no longer once it is done."""
    assert memory.due() == []
    memory.root.joinpath("grail.yaml").write_text("retention_days: 30\n")
    with Memory(memory.root, embedder="none") as anew:
        assert {(one.path, *dict(one.why)) for one in anew.due()} == {
            (one.path, "term") for one in anew.retain(dry_run=True).transcripts
        }
        with anew.session(user_id="u", agent_id="a") as session:
            assert session.due() == []
        anew.retain()
        assert anew.due() == []


def test_a_file_without_a_line_in_the_ledger_and_without_times_stays(memory: Memory) -> None:
    """Nothing tells how old it is."""
    path = memory.root / "sources/chats/byhand.jsonl"
    path.write_text('{"v":1,"session":"byhand"}\n{"turn":0,"id":"a","role":"user","text":"Put here by hand."}\n')
    done = memory.retain(days=30)
    assert done.undated == ("sources/chats/byhand.jsonl",)
    assert path.exists()


def test_what_a_merge_brings_back_is_not_read_and_goes_with_the_next_sync(memory: Memory) -> None:
    """Git keeps the lines of both sides; a turn ingested anew under a number of its own stays."""
    path = memory.root / "sources/chats/old.jsonl"
    before = path.read_bytes()
    memory.retain(days=30)
    memory.ingest_chat([turn("x", f"Nobody needs {GOING[1]} any more."), turn("y", "Said later.")], session="old")
    mine = path.read_bytes()
    path.write_bytes(mine + b"".join(line for line in before.splitlines(keepends=True) if line not in mine))
    assert path.read_bytes().count(GOING[1].encode()) == 2
    with Memory(memory.root, embedder="none") as anew:
        assert len(texts(anew, "old")) == 7
        anew.sync()
        assert path.read_bytes() == mine
        assert anew.check().ok


def _conflict(text: str) -> str:
    """As git leaves a file that two clones changed."""
    return text.replace("\nevidence:", "\n<<<<<<< ours\nevidence:").replace(
        "\n---\n", "\n=======\n>>>>>>> theirs\n---\n"
    )


@pytest.mark.parametrize(
    "broken", [_conflict, lambda text: text.replace("evidence:", "evidence:\n\t- ")], ids=["conflict", "tab"]
)
@pytest.mark.parametrize("is_new", [False, True], ids=["same view", "new view"])
def test_what_a_broken_file_rests_on_stays_until_it_is_mended(
    memory: Memory,
    broken: Callable[[str], str],
    is_new: bool,
) -> None:
    (one,) = memory.recall(text=STAYING[0]).observations
    file = memory.root / one.path
    right = file.read_text()
    file.write_text(broken(right))
    if not is_new:
        assert _retained(memory)
    with Memory(memory.root, embedder="none") as other:
        done = _retained(other)
    assert done.doubtful == ("sources/chats/old.jsonl",)
    assert STAYING[0] in texts(memory, "old")[0]
    file.write_text(right)
    memory.sync()
    assert _retained(memory).doubtful == ()
    assert GOING[1] not in " ".join(texts(memory, "old"))
    assert memory.get(one.id).evidence == one.evidence
    assert [word in text for text, word in zip(texts(memory, "old"), STAYING, strict=True)] == [True] * 5


TORN = {
    "no end": lambda data: data[: (at := data.rindex(b"\n---"))] + data[at + 4 :],
    "torn": lambda data: data[: data.index(b"evidence:")],
    "torn in evidence": lambda data: data[: data.index(b"sources/") + 9],
    "nearly nothing": lambda data: data[:2],
    "empty": lambda data: b"",
    "zeros": lambda data: data[: len(data) // 2] + b"\0" * (len(data) // 2),
    "no beginning": lambda data: data[4:],
}


@pytest.mark.parametrize("how", TORN)
def test_what_a_torn_file_may_have_quoted_stays(memory: Memory, how: str) -> None:
    """Where the part that is lost may have been its evidence, no transcript loses a turn, and the file is named."""
    (one,) = memory.recall(text=STAYING[0]).observations
    file = memory.root / one.path
    right = file.read_bytes()
    before = {session: texts(memory, session) for session in ("old", f"about {GOING[2]}")}
    file.write_bytes(TORN[how](right))
    with Memory(memory.root, embedder="none") as anew:
        done = _retained(anew)
    assert one.path in done.unreadable
    assert "sources/chats/old.jsonl" in done.doubtful
    assert texts(memory, "old") == before["old"]
    if how != "no beginning":  # whose text still says which transcript it is
        assert {session: texts(memory, session) for session in before} == before
    file.write_bytes(right)
    memory.sync()
    assert _retained(memory).unreadable == ()
    assert GOING[1] not in " ".join(texts(memory, "old"))


@pytest.mark.parametrize("how", ["no end", "torn", "torn in evidence", "nearly nothing"])
def test_a_torn_file_holds_no_transcript_that_came_to_be_after_it_was_torn(memory: Memory, how: str) -> None:
    """What the ledger has seen torn cannot have quoted what was said later; else one such file would keep all for ever."""
    (one,) = memory.recall(text=STAYING[0]).observations
    file = memory.root / one.path
    file.write_bytes(TORN[how](file.read_bytes()))
    memory.ingest_chat([turn("a", "This comes later.")], session="later")
    later = next(p for p in (memory.root / "sources/chats").iterdir() if b"This comes later." in p.read_bytes())
    stem = later.relative_to(memory.root).as_posix()
    with Memory(memory.root, embedder="none") as anew:
        anew.sync()
        assert stem in anew.retain(days=30, dry_run=True).doubtful  # within what clocks may differ
    head, _, lines = later.read_bytes().partition(b"\n")
    in_two_days = int((time.time() + 2 * 86_400) * 1000)
    id_ = str(ULID.from_timestamp(in_two_days / 1000))
    later.write_bytes(json.dumps(json.loads(head) | {"id": id_}).encode() + b"\n" + lines)
    with Memory(memory.root, embedder="none") as anew:
        done = _retained(anew)
        assert stem not in done.doubtful
        assert "sources/chats/old.jsonl" in done.doubtful
        assert texts(anew, "later") == []


def test_what_a_damaged_candidate_may_quote_stays(memory: Memory) -> None:
    """Its file may have named any transcript."""
    (candidate,) = memory.candidates()
    file = memory.root / ".grail" / "candidates" / f"{candidate.id}.md"
    file.write_bytes(file.read_bytes()[:30])
    with Memory(memory.root, embedder="none") as anew:
        done = _retained(anew)
    assert done.unreadable == (f".grail/candidates/{candidate.id}.md",)
    assert not done.turns


def _retained(memory: Memory) -> Retained:
    return memory.retain(days=30)
