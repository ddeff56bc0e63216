"""Facts: whatever the order in which statements arrive, the same is current, nothing is lost, and lineage is sound."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws_strategies import examples

from grail_mem import Memory
from grail_mem.model.fact import Claim, Saying, standings
from grail_mem.model.lineage import predecessors
from grail_mem.model.observation import Observation

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ATTRIBUTES = ("acme/database", "Acme/Database", "tea")
AUTHORITY = {"user_statement": 4, "system": 3, "tool_result": 2, "session_summary": 2, "agent_inference": 1, None: 2}


@st.composite
def statements(draw: st.DrawFn) -> dict[str, Any]:
    """Statements about few facts with few values, so that they meet."""
    kind = draw(st.sampled_from(sorted(AUTHORITY, key=str)))
    said: dict[str, Any] = {
        "content": draw(st.sampled_from(["It is one.", "It is two.", "It is 3.", "it is  ONE"])),
        "attribute": draw(st.sampled_from(ATTRIBUTES)),
        "observed_at": BEGIN + timedelta(days=draw(st.integers(0, 5))),
        "session": draw(st.sampled_from(["a", "b"])),
        "title": "A fact",
    }
    if kind is not None:
        said["source_kind"] = kind
    if draw(st.integers(0, 5)) == 0:
        said["valid_until"] = datetime(2100, 1, 1, tzinfo=UTC)
    return said


@st.composite
def told(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Statements, some of them once more: as they were, from somebody else, or for a time only or no longer so."""
    said = draw(st.lists(statements(), min_size=1, max_size=6))
    for number in draw(st.lists(st.integers(0, len(said) - 1), max_size=3)):
        again = dict(said[number])
        match draw(st.sampled_from(["same", "source_kind", "valid_until"])):
            case "source_kind":
                again["source_kind"] = draw(st.sampled_from([kind for kind in AUTHORITY if kind is not None]))
            case "valid_until" if again.pop("valid_until", None) is None:
                again["valid_until"] = datetime(2100, 1, 1, tzinfo=UTC)
        said.append(again)
    return said


def _key(said: dict[str, Any]) -> tuple[str, str]:
    return said["attribute"].lower(), " ".join(said["content"].lower().split()).rstrip(".")


def _expected(said: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """The facts that are current, by every statement against every other: the rule as one would write it on paper."""
    lasting = [it for it in said if "valid_until" not in it]

    def beaten(one: dict[str, Any]) -> bool:
        return any(
            _key(other)[0] == _key(one)[0]
            and _key(other)[1] != _key(one)[1]
            and other["observed_at"] > one["observed_at"]
            and AUTHORITY[other.get("source_kind")] >= AUTHORITY[one.get("source_kind")]
            for other in lasting
        )

    return {_key(one) for one in lasting if not beaten(one)}


def _shown(observations: Iterable[Observation]) -> list[tuple[str, str]]:
    return sorted(_key({"attribute": o.attribute, "content": o.content}) for o in observations)


def _sound(memory: Memory) -> None:
    """Lineage is the same from both ends and has no cycle; conflicts are mutual and current."""
    there = {o.id: o for o in memory.recall(include_history=True, limit=1000).observations}
    for o in there.values():
        if o.superseded_by is not None:
            assert o.status == "superseded"
            assert o.id in predecessors(there[o.superseded_by])
            assert o.valid_until is not None
            assert o.conflicts_with == ()
        for id_ in predecessors(o):
            assert there[id_].superseded_by == o.id
        for id_ in o.conflicts_with:
            assert o.id in there[id_].conflicts_with
            assert there[id_].superseded_by is None
        seen, at = {o.id}, o.superseded_by
        while at is not None:
            assert at not in seen
            seen.add(at)
            at = there[at].superseded_by


def _nothing_lost(memory: Memory, said: list[dict[str, Any]]) -> None:
    """Every statement's date and session is in some file that says the same."""
    held = set()
    for o in memory.recall(include_history=True, limit=1000).observations:
        key = _key({"attribute": o.attribute, "content": o.content})
        held.add((*key, o.observed_at, o.session))
        for it in o.extra.get("reinforced_by", ()):
            held.add((*key, datetime.fromisoformat(it["at"]), it["session"]))
    assert {(*_key(it), it["observed_at"], it["session"]) for it in said} <= held


@pytest.mark.slow
@examples(30)
@given(said=told(), data=st.data())
def test_any_order_of_arrival_leaves_the_same_current_facts(said: list[dict[str, Any]], data: st.DataObject) -> None:
    """Singly or in batches, with compactions between, and after a rebuild."""
    for _ in range(2):
        ordered = data.draw(st.permutations(said))
        _holds(ordered, data.draw(st.integers(0, len(ordered))), compacted=data.draw(st.booleans()))


@pytest.mark.slow
@examples(30)
@given(said=told(), data=st.data())
def test_what_comes_late_finds_an_ended_fact_as_if_it_had_come_in_time(
    said: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Some come before somebody ends a current statement and others after; all were said before that end."""
    ordered = data.draw(st.permutations(said))
    cut = data.draw(st.integers(1, len(ordered)))
    first, second = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
    try:
        with _fast(first) as late, _fast(second) as in_time:
            late.add_observations(ordered[:cut])
            current = [o for o in late.recall().observations if o.valid_until is None]
            if not current:
                return
            ended = data.draw(st.sampled_from(sorted(current, key=lambda o: o.content)))
            key = _shown([ended])
            late.revise(ended.id, action="expire", reason="it is over", at=BEGIN + timedelta(days=10))
            if data.draw(st.booleans()):
                late.rebuild()
            for one in ordered[cut:]:
                late.add_observation(**one)
            in_time.add_observations(ordered)
            for o in in_time.recall().observations:
                if o.valid_until is None and _shown([o]) == key:
                    in_time.revise(o.id, action="expire", reason="it is over", at=BEGIN + timedelta(days=10))
            answers = [
                _shown(o for o in memory.recall().observations if o.valid_until is None) for memory in (late, in_time)
            ]
            assert answers[0] == answers[1]
            _nothing_lost(late, ordered)
            assert late.check().ok
            n = len(late.recall(include_history=True, limit=1000).observations)
            for one in ordered:
                late.add_observation(**one)
            assert len(late.recall(include_history=True, limit=1000).observations) == n
            assert _shown(o for o in late.recall().observations if o.valid_until is None) == answers[1]
    finally:
        shutil.rmtree(first)
        shutil.rmtree(second)


def _fast(root: Path) -> Memory:
    (root / "grail.yaml").write_text("durability: fast\n")
    return Memory(root)


ONE = {"content": "It is one.", "attribute": "acme/database", "observed_at": BEGIN, "session": "a", "title": "A fact"}
TWO = {**ONE, "content": "It is two.", "observed_at": BEGIN + timedelta(days=1)}
FOR_A_TIME = {"valid_until": datetime(2100, 1, 1, tzinfo=UTC)}


@pytest.mark.parametrize(
    "said",
    [
        [{**ONE, **FOR_A_TIME}, {**ONE, **FOR_A_TIME}, ONE],
        [ONE, {**ONE, "source_kind": "user_statement"}, {**TWO, "source_kind": "tool_result"}],
        [{**ONE, **FOR_A_TIME}, {**ONE, "source_kind": "system"}, TWO],
    ],
    ids=["lasting and for a time", "who says it counts", "both"],
)
def test_the_same_words_differ_in_how_long_they_hold_and_in_who_says_them(said: list[dict[str, Any]]) -> None:
    """In any order, in one batch or one by one."""
    for ordered in permutations(said):
        for cut in (0, len(said)):
            _holds(ordered, cut, compacted=False)


def _holds(ordered: Sequence[dict[str, Any]], cut: int, *, compacted: bool) -> None:
    """Some in a batch and the others one by one: what is current is what the rule says, and nothing is lost."""
    root = Path(tempfile.mkdtemp())
    (root / "grail.yaml").write_text("durability: fast\n")
    try:
        with Memory(root) as memory:
            memory.add_observations(ordered[:cut])
            if compacted:
                memory.compact()
            for one in ordered[cut:]:
                memory.add_observation(**one)
            _agree(memory, list(ordered))
            n = len(memory.recall(include_history=True, limit=1000).observations)
            for one in ordered:  # what was told is known: telling it again leaves as many as there were
                memory.add_observation(**one)
            assert len(memory.recall(include_history=True, limit=1000).observations) == n
            _agree(memory, list(ordered))
    finally:
        shutil.rmtree(root)


def _agree(memory: Memory, said: list[dict[str, Any]]) -> None:
    current = _shown(o for o in memory.recall().observations if o.valid_until is None)
    assert current == sorted(_expected(said))
    _sound(memory)
    _nothing_lost(memory, said)
    _views_agree(memory)


def _views_agree(memory: Memory) -> None:
    """History holds all that is current; a rebuild gives the same answers; what was known grows with time."""

    def asked(**conditions: Any) -> list[str]:
        return [o.id for o in memory.recall(limit=1000, **conditions).observations]

    questions: list[dict[str, Any]] = [{}, {"include_history": True}, {"attribute": "tea"}]
    questions += [{"as_of": BEGIN + timedelta(days=d, hours=1)} for d in range(-1, 6)]
    questions += [{"believed_at": datetime.now(UTC), "as_of": BEGIN + timedelta(days=d, hours=1)} for d in range(6)]
    answers = [asked(**question) for question in questions]
    everything = set(answers[1])
    assert set(answers[0]) <= everything
    assert all(set(answer) <= everything for answer in answers)
    for n in range(6):  # what is believed now is what is known now
        assert answers[4 + n] == answers[10 + n]
    memory.rebuild()
    assert [asked(**question) for question in questions] == answers


claims = st.builds(
    lambda text, sayings: Claim(f"id of {text}", text, tuple(sayings)),
    st.sampled_from("xyz"),
    st.lists(st.builds(Saying, st.integers(0, 6), st.integers(1, 4)), min_size=1, max_size=3),
)


@given(st.lists(claims, min_size=1, max_size=5, unique_by=lambda claim: claim.statement))
def test_a_decision_does_not_depend_on_order_and_leaves_something_current(made: list[Claim]) -> None:
    """One at least is current; each superseded one ends at a time after all that was said for it."""
    whole = standings(made)
    assert any(standing.by is None for standing in whole.values())
    for order in list(permutations(made))[:24]:
        assert standings(order) == whole
    by_id = {claim.id: claim for claim in made}
    for id_, standing in whole.items():
        if standing.by is not None:
            assert standing.ended_us is not None
            assert standing.ended_us > max(saying.at_us for saying in by_id[id_].sayings)
            assert standing.by in whole


_REVISER = """
import sys
from grail_mem import Memory, ConflictError
root, name, id_ = sys.argv[1:]
with Memory(root, actor=name) as memory:
    sys.stdin.readline()
    for n in range(6):
        memory.add_observation(content=f"{name} says {n}.", attribute="acme/database", observed_at=f"2026-02-{n + 1:02d}")
    try:
        memory.revise(id_, action="supersede", reason="it moved", content=f"{name} moved it.", at="2026-03-01")
        print("done")
    except ConflictError:
        print("refused")
"""


@pytest.mark.slow
def test_processes_that_revise_at_once_lose_nothing(tmp_path: Path) -> None:
    """Of three that supersede one observation at once, one does and the others hear of it; every statement is kept."""
    with Memory(tmp_path) as memory:
        old = memory.add_observation(content="It is somewhere.", title="Place", observed_at="2026-01-01")
    words = [sys.executable, "-c", _REVISER, str(tmp_path)]
    started = [
        subprocess.Popen([*words, name, old.id], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("ann", "bob", "cyd")
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120)[0].split()[-1] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0]
    assert sorted(said) == ["done", "refused", "refused"]
    with Memory(tmp_path) as memory:
        memory.rebuild()
        found = memory.recall(include_history=True, limit=100).observations
        assert len(found) == 1 + 3 * 6 + 1
        assert len([o for o in found if o.supersedes == old.id]) == 1
        current = memory.recall(attribute="acme/database").observations
        assert sorted(o.content.strip() for o in current) == ["ann says 5.", "bob says 5.", "cyd says 5."]
        assert all(len(o.conflicts_with) == 2 for o in current)
        _sound(memory)
        assert memory.check().ok


@pytest.mark.parametrize("n", [300])
def test_a_long_history_is_decided_without_reading_it_all(tmp_path: Path, n: int) -> None:
    """Hundreds of revisions of one fact: one current, each the successor of the one before."""
    (tmp_path / "grail.yaml").write_text("durability: fast\n")
    with Memory(tmp_path) as memory:
        times = [BEGIN + timedelta(hours=h) for h in range(n)]
        memory.add_observations(
            [{"content": f"It is {i}.", "attribute": "x/y", "observed_at": t} for i, t in enumerate(times)]
        )
        done = memory.add_observation(content="It is last.", attribute="x/y")
        assert done.decision == "supersedes"
        assert len(done.others) == 1
        assert [o.id for o in memory.recall(attribute="x/y").observations] == [done.id]
        assert len(memory.history(done.id).revisions) == n + 1
