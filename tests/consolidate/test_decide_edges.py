"""Deciding where something is in the way, damaged, written by others, or told with a wrong clock."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from proposal_sets import bytes_of, propose
from reading_of import reading_of

from grail_mem import InputError, Memory, StoreError
from grail_mem.consolidate import decide
from grail_mem.consolidate import propose as proposing
from grail_mem.consolidate.finding import pair_digest
from grail_mem.consolidate.pairs import salted
from grail_mem.model.ulid import new_id
from grail_mem.store.journal import Journal
from grail_mem.store.ledger import decisions
from grail_mem.store.ledger_line import Entry
from grail_mem.write.staged import tell, writing


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "store", embedder="none") as opened:
        yield opened


def note(memory: Memory, title: str = "One", **fields: Any) -> str:
    return memory.add_observation(**({"title": title, "content": f"{title} was said."} | fields)).id


def tagged(memory: Memory, id_: str, tag: str = "x") -> str:
    return propose(memory, [{"do": "set", "id": id_, "fields": {"tags": [tag]}}])


def undo_file(memory: Memory, id_: str) -> Path:
    return memory.root / f".grail/undo/{id_}.json"


# -- undo never takes what is not its own ------------------------------------------------------------------------------


def test_undo_of_a_move_does_not_take_the_place_of_another_file(memory: Memory) -> None:
    """A note that was put where the observation had been stays, and the undo says that it is there."""
    one = note(memory)
    old = memory.root / memory.get(one).path
    id_ = propose(memory, [{"do": "move", "id": one, "category": "b"}])
    memory.apply(id_)
    old.write_text("Precious.")
    outcome = memory.undo(id_)[0]
    assert (outcome.done, outcome.status) == (False, "applied")
    assert old.name in outcome.reasons[0]
    assert old.read_text() == "Precious."
    old.unlink()
    assert memory.undo(id_)[0].done


@pytest.mark.parametrize(
    "place", ["README.md", "output/x.md", "memories/inbox/other.md", "memories/../README.md", None, 7]
)
def test_what_is_kept_for_undo_cannot_lead_elsewhere(memory: Memory, place: Any) -> None:
    """Whoever wrote the file: no other file is touched, inside the store or outside its notes."""
    one = note(memory)
    id_ = tagged(memory, one)
    memory.apply(id_)
    for name in ("README.md", "memories/inbox/other.md"):
        (memory.root / name).write_text("Mine.")
    document = json.loads(undo_file(memory, id_).read_text())
    document["files"][0]["was"] = place
    undo_file(memory, id_).write_text(json.dumps(document))
    for dry_run in (True, False):
        assert not memory.undo(id_, dry_run=dry_run)[0].done
    assert {(memory.root / name).read_text() for name in ("README.md", "memories/inbox/other.md")} == {"Mine."}
    assert memory.get(one).tags == ("x",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"fields": []}, {"fields": {"path": [1, 2]}}, {"fields": {"extra": [{}, {}]}}, {"fields": {"sha256": ["a", "b"]}},
        {"fields": {"tags": 7}}, {"hunk": [float("inf"), "", 0]}, {"hunk": [-5, "", 0]}, {"hunk": [0, "\ud800", 0]},
        {"hunk": [0, None, 0]}, {"hunk": 7}, {"id": "x"}, {"before": None}, {"path": ["x"]},
    ],
    ids=str,
)  # fmt: skip
def test_a_damaged_undo_file_is_told_and_nothing_is_done(memory: Memory, wrong: dict[str, Any]) -> None:
    one = note(memory)
    id_ = tagged(memory, one)
    memory.apply(id_)
    document = json.loads(undo_file(memory, id_).read_text())
    document["files"][0] |= wrong
    undo_file(memory, id_).write_text(json.dumps(document))
    memory.update(one, source="later")
    before = bytes_of(memory)
    outcome = memory.undo(id_)[0]
    assert (outcome.done, outcome.status) == (False, "applied")
    assert bytes_of(memory) == before


def test_content_comes_back_also_beside_a_later_edit(memory: Memory) -> None:
    """What a proposal did to the text is undone like what it did to fields, or refused when the text is another now."""
    one = note(memory)
    id_ = propose(memory, [{"do": "set", "id": one, "fields": {"tags": ["x"], "content": "New."}}])
    memory.apply(id_)
    memory.update(one, source="later")
    assert memory.undo(id_)[0].done
    o = memory.get(one)
    assert (o.content, o.tags, o.source) == ("One was said.", (), "later")
    memory.apply(propose(memory, [{"do": "set", "id": one, "fields": {"content": "New."}}]))
    applied = memory.proposals(status="applied")[0].id
    memory.update(one, append="And more.")
    assert not memory.undo(applied)[0].done
    assert memory.get(one).content == "New.\n\nAnd more."


# -- one that cannot be done stops no other ----------------------------------------------------------------------------


def test_one_that_cannot_be_made_is_refused_alone(memory: Memory) -> None:
    """A file that cannot be edited, and one that cannot be read, keep their own proposals from being applied."""
    path = memory.root / "memories/hand/anchor.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ntitle: Anchor\ntags: &t [a, b]\nother: *t\n---\nText.\n")
    memory.sync(stamp=False)
    anchor = memory.recall(text="Text.").observations[0].id
    one, gone, last = note(memory), note(memory, "Gone"), note(memory, "Last")
    ids = [tagged(memory, id_) for id_ in (one, anchor, gone, last)]
    victim = memory.root / memory.get(gone).path
    victim.unlink()
    victim.mkdir()
    done = memory.apply(ids)
    assert [o.done for o in done] == [True, False, False, True]
    assert all(o.reasons for o in done if not o.done)
    assert [o.done for o in memory.apply(ids, dry_run=True)] == [False] * 4


def test_an_undo_that_a_link_stops_is_refused_alone(memory: Memory, tmp_path: Path) -> None:
    one, two = note(memory, category="a/b"), note(memory, "Two", category="c")
    ids = [propose(memory, [{"do": "move", "id": id_, "category": "new"}]) for id_ in (one, two)]
    memory.apply(ids)
    shutil.rmtree(memory.root / "memories/a")
    (tmp_path / "elsewhere").mkdir()
    (memory.root / "memories/a").symlink_to(tmp_path / "elsewhere")
    assert [o.done for o in memory.undo(ids)] == [False, True]
    assert not list((tmp_path / "elsewhere").iterdir())
    assert [p.id for p in memory.proposals(status="applied")] == [ids[0]]


# -- what is wrong is told before anything is written --------------------------------------------------------------------


@pytest.mark.parametrize("value", [5, ["a"], b"x", ("x",)])
def test_actor_and_reason_must_be_text(memory: Memory, value: Any) -> None:
    """A line of the ledger is text; what is not is refused, and nothing is changed."""
    one = note(memory)
    id_ = tagged(memory, one)
    before = bytes_of(memory)
    for call in (
        lambda: memory.apply(id_, reason=value), lambda: memory.apply(id_, actor=value), lambda: memory.reject(id_, reason=value),
        lambda: memory.update(one, source="s", reason=value), lambda: memory.hide(one, reason=value),
        lambda: memory.add_observation(content="x", actor=value), lambda: memory.move(one, "b", actor=value),
    ):  # fmt: skip
        with pytest.raises(InputError):
            call()
    assert bytes_of(memory) == before
    assert memory.proposals()[0].status == "pending"
    assert not list((memory.root / ".grail/undo").iterdir()) if (memory.root / ".grail/undo").exists() else True
    assert memory.check().ok
    assert memory.apply(id_)[0].done


@pytest.mark.parametrize("value", [None, 5, [5], [None], "", [""], []])
def test_ids_must_be_texts(memory: Memory, value: Any) -> None:
    note(memory)
    for verb in (memory.apply, memory.reject, memory.undo):
        with pytest.raises(InputError):
            verb(value)


def test_wrong_conditions_are_refused(memory: Memory) -> None:
    for options in (
        {"status": 5},
        {"kind": 5},
        {"status": [5]},
        {"min_confidence": "x"},
        {"min_confidence": float("nan")},
        {"min_confidence": 7},
    ):
        with pytest.raises(InputError):
            memory.proposals(**options)
    with pytest.raises(InputError):
        memory.consolidate(kinds=5)  # type: ignore[arg-type]


def test_no_observation_goes_where_derived_files_lie(tmp_path: Path) -> None:
    """In a store whose notes lie in its own folder, `output` is no category."""
    root = tmp_path / "vault"
    root.mkdir()
    (root / "grail.yaml").write_text("notes: .\n")
    with Memory(root) as memory:
        one = note(memory, category="a")
        id_ = propose(memory, [{"do": "move", "id": one, "category": "output"}])
        assert not memory.apply(id_)[0].done
        for call in (
            lambda: memory.move(one, "output"),
            lambda: memory.add_observation(content="x", category="output/y"),
        ):
            with pytest.raises(InputError):
                call()
        assert memory.get(one).category == "a"


# -- the disk ------------------------------------------------------------------------------------------------------------


def test_what_undo_needs_stays_when_the_disk_does_not_confirm(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is applied and visible then, so it must be possible to undo it."""
    one = note(memory)
    id_ = tagged(memory, one)
    calls = iter(range(100))
    real = Journal.sync

    def failing(self: Journal) -> None:
        if next(calls) == 1:  # the first is before the file loses its name, the second is the promise
            raise OSError(5, "Input/output error")
        real(self)

    monkeypatch.setattr(Journal, "sync", failing)
    with pytest.raises(StoreError, match="stored and visible"):
        memory.apply(id_)
    monkeypatch.undo()
    assert memory.proposals(status="applied")[0].id == id_
    assert memory.undo(id_)[0].done
    assert memory.get(one).tags == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_store_that_cannot_be_written_is_an_error_of_the_store(memory: Memory) -> None:
    note(memory)
    (memory.root / ".grail/local").chmod(0o500)
    with pytest.raises(StoreError):
        memory.consolidate()


def test_a_file_where_the_sets_should_be_is_an_error_of_the_store(memory: Memory) -> None:
    memory.add_observation(title="Old", content="Old.", expires_at="2020-01-01")
    (memory.root / "output").mkdir(exist_ok=True)
    (memory.root / "output/proposals").write_text("no folder")
    with pytest.raises(StoreError):
        memory.consolidate(kinds=["expire_stale"])


# -- clocks and clones ---------------------------------------------------------------------------------------------------


class _Later(datetime):
    """A clock that is an hour ahead."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz or UTC) + timedelta(hours=1)


def test_a_decision_comes_after_the_one_it_answers(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the clock said when it was applied, an undo counts; and of two, the one applied last is undone first."""
    one = note(memory)
    first = tagged(memory, one, "a")
    with monkeypatch.context() as patch:
        patch.setattr(decide, "datetime", _Later)
        assert memory.apply(first)[0].done
    second = tagged(memory, one, "b")
    assert memory.apply(second)[0].done
    assert [o.done for o in memory.undo([first, second])] == [True, True]
    assert {p.status for p in memory.proposals(status="all")} == {"undone"}
    assert memory.get(one).tags == ()


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59.999999Z", "soon", "0001-01-01T00:00:00Z"])
def test_a_line_of_the_ledger_with_an_odd_time_stops_no_decision(memory: Memory, at: str) -> None:
    """Somebody may have changed the line of a decision; the next one is made all the same."""
    first = tagged(memory, note(memory))
    memory.apply(first)
    chain = next(memory._layout.ledger.iterdir())
    lines = [json.loads(line) for line in chain.read_bytes().splitlines()]
    lines[-1]["at"] = at
    chain.write_bytes(b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines))
    with Memory(memory.root, embedder="none") as other:
        second = tagged(other, note(other, "Two"))
        assert other.apply(second)[0].done
        assert other.get(note(other, "Three")).title == "Three"


def test_a_set_made_after_the_clock_was_set_back_is_the_newest(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.add_observation(title="Old", content="Old.", expires_at="2020-01-01")
    with monkeypatch.context() as patch:
        patch.setattr(proposing, "datetime", _Later)
        memory.consolidate(kinds=["expire_stale"])
    memory.add_observation(title="Older", content="Older.", expires_at="2019-01-01")
    for n_new in (1, 0, 0):
        done = memory.consolidate(kinds=["expire_stale"])
        assert (len(done.new), len(memory.proposals()), memory.proposals(status="stale")) == (n_new, 2, ())
    (memory.root / "output/proposals/zzz.json").write_text('{"version": 1, "proposals": []}')
    assert len(memory.proposals()) == 2


def test_what_another_clone_declined_waits_no_longer(memory: Memory, tmp_path: Path) -> None:
    """The same finding has another id there; its fingerprint and its grounds tell."""
    memory.add_observation(title="Old", content="Old.", expires_at="2020-01-01")
    shutil.copytree(memory.root, tmp_path / "clone", ignore=shutil.ignore_patterns("local", "output"))
    (mine,) = memory.consolidate(kinds=["expire_stale"])
    with Memory(tmp_path / "clone", embedder="none") as clone:
        (theirs,) = clone.consolidate(kinds=["expire_stale"])
        assert theirs.id != mine.id
        clone.reject(theirs.id)
    for chain in (tmp_path / "clone/.grail/ledger").iterdir():
        shutil.copy(chain, memory.root / ".grail/ledger")
    assert memory.proposals() == ()
    assert theirs.id in memory.proposals(status="stale")[0].stale[0]
    done = memory.consolidate(kinds=["expire_stale"])
    assert (done.proposals, done.n_declined) == ((), 1)
    memory.undo(theirs.id)
    assert len(memory.consolidate(kinds=["expire_stale"]).proposals) == 1


def test_undoing_a_rejection_after_another_run_lets_it_wait_under_its_id(memory: Memory) -> None:
    memory.add_observation(title="Old", content="Old.", expires_at="2020-01-01")
    (one,) = memory.consolidate(kinds=["expire_stale"])
    memory.reject(one.id)
    memory.add_observation(title="Older", content="Older.", expires_at="2019-01-01")
    memory.consolidate(kinds=["expire_stale"])
    memory.undo(one.id)
    assert one.id in {p.id for p in memory.proposals()}
    assert memory.consolidate(kinds=["expire_stale"]).new == ()
    assert memory.apply(one.id)[0].done


def test_a_pair_is_forbidden_as_long_as_one_rejection_stands(memory: Memory) -> None:
    one = note(memory)
    ids = [propose(memory, [{"do": "hide", "id": one}], same=[("a", "b")]) for _ in range(2)]
    memory.reject(ids)
    memory.undo(ids[0])
    assert decide.read_decisions(memory._layout).forbidden
    memory.undo(ids[1])
    assert not decide.read_decisions(memory._layout).forbidden


def test_a_withdrawn_proposal_is_not_applied(memory: Memory) -> None:
    """What the last run found no longer is stale, for `apply` as for `list`, even when the bytes are as they were."""
    made = memory.add_observation(title="Old", content="Old.", expires_at="2020-01-01")
    path = memory.root / made.path
    data = path.read_bytes()
    (one,) = memory.consolidate(kinds=["expire_stale"])
    memory.update(made.id, expires_at=None)
    memory.consolidate(kinds=["expire_stale"])
    path.write_bytes(data)
    memory.sync(stamp=False)
    outcome = memory.apply(one.id)[0]
    assert (outcome.done, outcome.status) == (False, "stale")


# -- files of others -----------------------------------------------------------------------------------------------------


def test_half_a_surrogate_pair_in_a_set_stops_no_later_run(memory: Memory) -> None:
    id_ = tagged(memory, note(memory))
    path = next((memory.root / "output/proposals").iterdir())
    path.write_text(path.read_text().replace("Somebody thought of it.", "Odd \\ud800 text."))
    memory.add_observation(title="Old", content="Old.", expires_at="2020-01-01")
    assert len(memory.consolidate(kinds=["expire_stale"]).proposals) == 2
    assert memory.apply(id_)[0].done


def test_a_decision_that_nests_deeply_is_passed_over(memory: Memory) -> None:
    note(memory)
    chain = next(memory._layout.ledger.iterdir())
    line = json.loads(chain.read_bytes().splitlines()[-1])
    line |= {"seq": line["seq"] + 1, "action": "reject"}
    line["open"] = {"salt": "00", "detail": '{"grounds":' + "[" * 100_000}
    with chain.open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")
    assert memory.proposals(status="all") == ()


def test_a_proposal_that_stands_twice_in_a_set_is_one(memory: Memory) -> None:
    id_ = tagged(memory, note(memory))
    path = next((memory.root / "output/proposals").iterdir())
    document = json.loads(path.read_text())
    document["proposals"] *= 2
    path.write_text(json.dumps(document))
    assert [p.id for p in memory.proposals()] == [id_]


def test_pairs_in_the_ledger_are_salted_and_old_ones_count_still(memory: Memory) -> None:
    """A table of digests of names finds none of them; a rejection of old stands until the pair is accepted."""
    one = note(memory)
    kind, pair = "move_observation", pair_digest("move_observation", "Ann", "Anna")
    proposals = [propose(memory, [{"do": "hide", "id": one}], same=[("Ann", "Anna")]) for _ in range(2)]
    memory.reject(proposals[0])
    ledger = b"".join(path.read_bytes() for path in (memory.root / ".grail/ledger").iterdir())
    assert pair.encode() not in ledger
    (kept,) = decide.read_decisions(memory._layout).forbidden
    with reading_of(memory, forbidden=[kept]) as reading:
        assert reading.forbids(kind, "Anna", "Ann")
        assert not reading.forbids(kind, "Anna", "Anne")
    old = Entry("reject", new_id(), detail=json.dumps({"kind": kind, "pairs": [pair]}), at="2020-01-01T00:00:00Z")
    with writing(memory._open()):
        tell(memory._open(), [old])
    assert set(decide.read_decisions(memory._layout).forbidden) == {kept, pair}
    memory.apply(proposals[1])
    assert not decide.read_decisions(memory._layout).forbidden


def test_the_fingerprint_of_a_decision_is_salted_and_old_ones_count_still(memory: Memory) -> None:
    """Whoever guesses both names of a pair finds no digest of them; what was declined before salts stays so until it is accepted."""
    note(memory)
    memory.add_observation(title="Old", content="Old.", expires_at="2020-01-01")
    (found,) = memory.consolidate(kinds=["expire_stale"])
    old = Entry(
        "reject", new_id(), fingerprint=found.fingerprint, detail=json.dumps({"kind": found.kind, "grounds": found.grounds}),
        at="2020-01-01T00:00:00Z",
    )  # fmt: skip
    with writing(memory._open()):
        tell(memory._open(), [old])
    assert memory.consolidate(kinds=["expire_stale"]).n_declined == 1
    memory.undo(old.id)
    (again,) = memory.consolidate(kinds=["expire_stale"])
    memory.reject(again.id)
    assert memory.consolidate(kinds=["expire_stale"]).n_declined == 1
    told = [entry for entry in decisions(memory._layout) if entry.id == again.id]
    assert found.fingerprint not in str(told)
    assert told[0].fingerprint.startswith(f"{decide.read_decisions(memory._layout).salt}.")


def test_accepting_lifts_what_was_declined_in_every_form(memory: Memory) -> None:
    """Declined before there were salts, and in a clone that took another salt."""
    id_ = propose(memory, [{"do": "hide", "id": note(memory)}], grounds={"n": 2})
    (waiting,) = memory.proposals()
    detail = json.dumps({"kind": waiting.kind, "grounds": {"n": 1}})
    forms = [waiting.fingerprint, salted(waiting.fingerprint, "ab" * 16)]
    before = [Entry("reject", new_id(), fingerprint=form, detail=detail, at="2020-01-01T00:00:00Z") for form in forms]
    with writing(memory._open()):
        tell(memory._open(), before)
    assert decide.read_decisions(memory._layout).forms(waiting.fingerprint) == forms
    assert memory.apply(id_)[0].done
    assert decide.read_decisions(memory._layout).forms(waiting.fingerprint) == []
