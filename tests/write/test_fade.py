"""What nobody recalls fades: a list until it is applied, and no answer ever depends on it."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from every_byte import digests
from hypothesis import given, settings
from hypothesis import strategies as st

from grail_mem import InputError, Memory
from grail_mem.model.strength import MOST_DAYS, strength
from grail_mem.model.ulid import new_id
from grail_mem.store import access
from grail_mem.store.access import AccessLog, fold, read_accesses
from grail_mem.store.layout import Layout

TODAY = datetime.now(UTC).date().toordinal()
LONG_AGO = date(2020, 1, 1).toordinal()
IDS = {name: new_id() for name in (
    "Weak", "Recalled once", "Recalled often", "Pinned", "Reviewed", "Ends", "Said by a user", "Named", "Naming", "Unsure", "Away",
    "Gone by", "Young",
)}  # fmt: skip
MORE = {
    "Pinned": "pinned: true", "Reviewed": "review_at: 2199-01-01", "Ends": "valid_until: 2199-01-01T00:00:00Z",
    "Said by a user": "source_kind: user_statement", "Unsure": "source_kind: user_statement\nstatus: provisional",
    "Naming": f"related_to: [{IDS['Named']}]", "Away": "status: archived", "Gone by": "valid_until: 2021-01-01T00:00:00Z",
}  # fmt: skip
FADING = {"Weak", "Recalled once", "Unsure", "Gone by", "Naming"}


def written(root: Path) -> None:
    """Files of long ago, and what is known of recalls since then."""
    (root / "memories/notes").mkdir(parents=True)
    (root / "grail.yaml").write_text("access_log: on\n")
    for name, id_ in IDS.items():
        recorded = datetime.now(UTC) if name == "Young" else datetime(2020, 1, 1, tzinfo=UTC)
        text = f"---\nid: {id_}\ntitle: {name}\nobserved_at: 2020-01-01T00:00:00Z\nrecorded_at: {recorded:%Y-%m-%dT%H:%M:%SZ}\n"
        (root / f"memories/notes/{name.replace(' ', '-')}.md").write_text(
            f"{text}{MORE.get(name, '')}\n---\n\nIt says {name}.\n"
        )
    (root / ".grail/ledger").mkdir(parents=True)
    log = AccessLog(Layout(root))
    log.note([IDS["Recalled once"]], day=LONG_AGO)
    for day in range(TODAY - 400, TODAY - 300, 10):
        log.note([IDS["Recalled often"]], day=day)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fading") / "store"
    written(root)
    with Memory(root, embedder="none") as memory:
        memory.sync()
        memory.compact()
    return root


@pytest.fixture
def memory(template: Path, tmp_path: Path) -> Iterator[Memory]:
    with Memory(shutil.copytree(template, tmp_path / "store"), embedder="none") as opened:
        yield opened


def truth(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in digests(root).items() if not path.startswith("output/")}


def test_what_was_not_recalled_for_long_is_listed_and_nothing_is_changed(memory: Memory) -> None:
    """With its strength, last recall, half-life and a reason; what is pinned, dated, said by a user or named never is."""
    before = digests(memory.root)
    found = memory.fade()
    assert digests(memory.root) == before
    assert {one.title for one in found.weak} == FADING
    assert found.kept == {"pinned": 1, "dated": 2, "user_statement": 1, "relied_on": 1}
    assert (found.n_observations, found.archived, found.counted_since) == (12, (), date(2020, 1, 1))
    once = next(one for one in found.weak if one.title == "Recalled once")
    assert (once.last_recalled, once.n_days, once.half_life_days) == (date(2020, 1, 1), 1, 180)
    assert once.reason == "last recalled 2020-01-01; its strength halves every 180 days"
    assert [one.strength for one in found.weak] == sorted(one.strength for one in found.weak)
    assert memory.fade(below=1).weak[-1].title == "Recalled often"


def test_applying_archives_exactly_what_was_listed_and_unarchive_brings_it_back(memory: Memory) -> None:
    before = truth(memory.root)
    listed = memory.fade()
    done = memory.fade(apply=True, actor="keeper")
    assert set(done.archived) == {one.id for one in listed.weak}
    paths = {one.path for one in listed.weak}
    changed = {
        path for path, data in truth(memory.root).items() if before.get(path) != data and path.startswith("memories/")
    }
    assert changed == paths
    entries = [entry for entry in memory.log().entries if entry.id in done.archived]
    assert {(e.actor, e.reason) for e in entries if e.actor == "keeper"} == {("keeper", "faded: strength below 0.1")}
    assert {memory.get(id_).status for id_ in done.archived} == {"archived"}
    for id_ in done.archived:
        memory.unarchive(id_)
    assert {path: truth(memory.root)[path] for path in paths} == {path: before[path] for path in paths}
    assert memory.fade(below=0.1).weak == ()  # `get` above was a recall of each


def test_what_nothing_names_any_more_fades_next(memory: Memory) -> None:
    memory.fade(apply=True)
    assert {one.title for one in memory.fade().weak} == {"Named"}


def test_a_question_and_a_look_count_and_a_filter_does_not(memory: Memory) -> None:
    weak = {one.title for one in memory.fade().weak}
    memory.recall(limit=100)
    memory.list_observations()
    assert {one.title for one in memory.fade().weak} == weak
    memory.get(IDS["Weak"])
    memory.search("Unsure", limit=1)
    assert {one.title for one in memory.fade().weak} == weak - {"Weak", "Unsure"}
    with memory.session(user_id="u", agent_id="a") as session:
        assert session.settings.access_log == "on"


def test_answers_are_the_same_with_and_without_what_is_known_of_recalls(memory: Memory) -> None:
    """Promise one: deleting output/ only makes strengths begin anew; until then nothing is weak."""

    def answers() -> list[Any]:
        asked: list[dict[str, Any]] = [
            {},
            {"query": "What does it say?"},
            {"query": "Weak"},
            {"tags": ["x"]},
            {"category": "notes"},
        ]
        return [[o.id for o in memory.recall(**one, limit=50).observations] for one in asked]

    before, weak = answers(), memory.fade(below=1).weak
    assert weak
    shutil.rmtree(memory.root / "output/access")
    assert memory.fade(below=1).weak == ()
    assert memory.fade(below=1).counted_since is None
    shutil.rmtree(memory.root / "output")
    memory.rebuild()
    assert answers() == before
    assert memory.fade(below=1).counted_since == datetime.now(UTC).date()


def test_reading_writes_nothing_unless_that_is_asked_for(memory: Memory) -> None:
    (memory.root / "grail.yaml").write_text("access_log: off\n")
    with Memory(memory.root, embedder="none") as plain:
        plain.search("Weak")
        before = digests(memory.root)
        plain.search("Weak")
        plain.get(IDS["Weak"])
        assert digests(memory.root) == before
        with pytest.raises(InputError, match="not noted"):
            plain.fade()


@pytest.mark.parametrize("below", [0, -1, 1.1, True, "0.5"])
def test_a_bound_that_is_none_is_refused(memory: Memory, below: Any) -> None:
    with pytest.raises(InputError, match="below must be"):
        memory.fade(below=below)


def test_a_disk_that_takes_nothing_and_links_fail_no_recall(memory: Memory, tmp_path: Path) -> None:
    """Nothing is written outside of the root either."""
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(memory.root / "output/access")
    (memory.root / "output/access").symlink_to(outside)
    assert memory.get(IDS["Weak"]).title == "Weak"
    assert list(outside.iterdir()) == []
    (memory.root / "output/access").unlink()
    (memory.root / "output/access").write_text("a file")
    memory.compact()
    assert memory.search("Weak").observations


def _note_many(root: str, number: int) -> None:
    access.FOLD_AT_BYTES = 200  # so that every process folds while others append
    log = AccessLog(Layout(Path(root)))
    for day in range(40):
        log.note([f"{number:026d}"], day=LONG_AGO + day)


def test_a_line_counts_that_is_written_after_its_log_was_folded_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever appends may be held up between the opening of the log and the writing while others fold it twice."""
    (tmp_path / "memories").mkdir()
    log, layout, id_ = AccessLog(Layout(tmp_path)), Layout(tmp_path), f"{7:026d}"
    log.note([id_], day=LONG_AGO)

    def late(descriptor: int, line: bytes) -> int:
        monkeypatch.undo()
        fold(layout)
        fold(layout)
        return os.write(descriptor, line)

    monkeypatch.setattr(os, "write", late)
    log.note([id_], day=LONG_AGO + 1)
    fold(layout)
    assert read_accesses(layout).days == {id_: frozenset((LONG_AGO, LONG_AGO + 1))}


def test_many_processes_note_and_fold_and_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_note_many, args=(str(tmp_path), n)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    layout = Layout(tmp_path)
    fold(layout)
    fold(layout)
    latest = frozenset(range(LONG_AGO + 40 - MOST_DAYS, LONG_AGO + 40))
    assert read_accesses(layout).days == {f"{n:026d}": latest for n in range(4)}
    assert read_accesses(layout).since == LONG_AGO
    assert sum(path.stat().st_size for path in (tmp_path / access.FOLDER).iterdir()) < 3_000


def test_folding_drops_what_is_gone_and_passes_over_what_was_broken(memory: Memory) -> None:
    folder = memory.root / access.FOLDER
    (folder / "log").write_bytes(
        f"{LONG_AGO} {IDS['Weak']}\n{TODAY} {IDS['Pinned'][:9]}".encode() + b"\xff\n12 no id\n99999999 x\n"
    )
    AccessLog(Layout(memory.root)).note([new_id(), IDS["Weak"]], day=LONG_AGO)
    memory.compact()
    memory.compact()
    known = read_accesses(Layout(memory.root))
    assert set(known.days) == {IDS["Weak"], IDS["Recalled often"], IDS["Recalled once"]}


pairs = st.lists(
    st.tuples(st.sampled_from([f"{n:026d}" for n in range(3)]), st.integers(LONG_AGO, LONG_AGO + 60)), max_size=40
)


@settings(max_examples=25, deadline=None)
@given(told=pairs, cuts=st.sets(st.integers(0, 40), max_size=4), twice=st.booleans())
def test_folding_at_any_moment_and_twice_comes_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[str, int]], cuts: set[int], *, twice: bool
) -> None:
    """A union of pairs: whoever folds, whenever, and however often."""
    root = tmp_path_factory.mktemp("fold")
    (root / "memories").mkdir()
    layout = Layout(root)
    for number, (id_, day) in enumerate(told):
        AccessLog(layout).note([id_], day=day)
        if number in cuts:
            kept = {path.name: path.read_bytes() for path in (root / access.FOLDER).iterdir()}
            fold(layout)
            if twice:  # as if the process had died before it could remove what it took in
                for name in kept:
                    if name not in (access.DAYS, access.LOG):
                        (root / access.FOLDER / name).write_bytes(kept[name])
    wanted: dict[str, set[int]] = {}
    for id_, day in told:
        wanted.setdefault(id_, set()).add(day)
    assert read_accesses(layout).days == {id_: frozenset(sorted(days)[-MOST_DAYS:]) for id_, days in wanted.items()}


@given(days=st.sets(st.integers(1000, 2000), max_size=20), today=st.integers(2000, 3000), since=st.integers(1, 2000))
def test_strength_falls_with_time_and_rises_with_recalls(days: set[int], today: int, since: int) -> None:
    now = strength(days, since, today, base=90)
    assert 0 < now.value <= 1
    assert strength(days, since, today + 1, base=90).value < now.value
    assert strength(days, since, today + round(now.half_life_days), base=90).value == pytest.approx(now.value / 2)
    again = strength({*days, today}, since, today, base=90)
    assert (again.value, again.last.toordinal()) == (1, today)
    assert again.half_life_days >= now.half_life_days
