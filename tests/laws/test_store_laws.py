"""What is derived never decides: rebuild, compaction, reopening, copying and replay give the same answers."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws_strategies import drafts, examples, filters, hand_file

from grail_mem import Memory
from grail_mem.query.compaction import _rows
from grail_mem.query.view import View
from grail_mem.settings import read_settings
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import chains

ORDERS = ("newest", "oldest", "recorded", "confidence")


@contextmanager
def new_root(settings: str = "durability: fast\nlook_after_s: 0\n") -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    try:
        root = folder / "store"
        root.mkdir()
        (root / "grail.yaml").write_text(settings)
        yield root
    finally:
        shutil.rmtree(folder)


def fill(memory: Memory, made: list[dict[str, Any]], by_hand: list[dict[str, Any]], data: st.DataObject) -> None:
    """Rows in a snapshot and after it, changed, moved, hidden and made by hand."""
    split = data.draw(st.integers(0, len(made)), label="in the snapshot")
    ids = [w.id for w in memory.add_observations(made[:split])]
    for n, draft in enumerate(by_hand):
        path = memory.root / "memories" / draft["category"] / f"by hand {n}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(hand_file({"title": draft["title"], "tags": draft["tags"]}, draft["content"]))
    memory.sync(stamp=data.draw(st.booleans(), label="stamp"))
    if data.draw(st.booleans(), label="snapshot"):
        memory.compact()
    ids += [w.id for w in memory.add_observations(made[split:])]
    for id_ in data.draw(st.lists(st.sampled_from(ids), max_size=3, unique=True), label="changed"):
        memory.update(id_, tags=["changed"], confidence=0.5)
        memory.move(id_, "elsewhere")
    for id_ in data.draw(st.lists(st.sampled_from(ids), max_size=2, unique=True), label="hidden"):
        memory.hide(id_)


Asked = list[tuple[dict[str, Any], str]]


def answers(memory: Memory, asked: Asked) -> list[Any]:
    """Everything that is returned to each call."""
    return [
        [o.to_dict() for o in memory.recall(**conditions, order=order, limit=1000).observations]
        for conditions, order in asked
    ]


def _reopened(root: Path) -> Path:
    return root


def _compacted(root: Path) -> Path:
    with Memory(root) as memory:
        memory.compact()
    return root


def _rebuilt(root: Path) -> Path:
    with Memory(root) as memory:
        memory.rebuild()
    return root


def _without_output(root: Path) -> Path:
    shutil.rmtree(root / "output", ignore_errors=True)
    return root


def _rebuilt_from_nothing(root: Path) -> Path:
    return _rebuilt(_without_output(root))


def _copied(root: Path) -> Path:
    target = root.parent / "elsewhere é '"
    shutil.copytree(root, target)
    return target


def _copied_truth_alone(root: Path) -> Path:
    target = root.parent / "truth alone"
    shutil.copytree(root, target, ignore=shutil.ignore_patterns("output", "local"))
    return target


STEPS: list[Callable[[Path], Path]] = [
    _reopened, _compacted, _rebuilt, _without_output, _rebuilt_from_nothing, _copied, _copied_truth_alone,
]  # fmt: skip


@pytest.mark.slow
@examples(6)
@given(
    made=st.lists(drafts(), min_size=2, max_size=8),
    by_hand=st.lists(drafts(), max_size=2),
    steps=st.lists(st.sampled_from(STEPS), min_size=3, max_size=3, unique=True),
    page=st.integers(1, 3),
    data=st.data(),
)
def test_what_is_derived_changes_no_answer(
    made: list[dict[str, Any]], by_hand: list[dict[str, Any]], steps: list[Any], page: int, data: st.DataObject
) -> None:
    """The same observations in the same order, and a cursor from before goes on where it was."""
    asked: Asked = [({}, order) for order in ORDERS] + [(data.draw(filters()), "newest") for _ in range(3)]
    with new_root() as root:
        with Memory(root) as memory:
            fill(memory, made, by_hand, data)
            expected = answers(memory, asked)
            begun = [memory.recall(order=order, limit=page) for order in ORDERS]
            memory.compact()
            assert answers(memory, asked) == expected
        for step in steps:
            root = step(root)
            with Memory(root) as memory:
                assert answers(memory, asked) == expected, step
                for n, (order, first) in enumerate(zip(ORDERS, begun, strict=True)):
                    got, cursor = [o.id for o in first.observations], first.cursor
                    while cursor is not None:
                        part = memory.recall(order=order, limit=page, cursor=cursor)
                        got, cursor = got + [o.id for o in part.observations], part.cursor
                    assert got == [o["id"] for o in expected[n]], (step, order)
                assert memory.check().ok
                assert not memory.sync(stamp=False).changed


@examples(6)
@given(made=st.lists(drafts(), min_size=2, max_size=8), by_hand=st.lists(drafts(), max_size=2), data=st.data())
def test_hearing_the_whole_history_again_changes_no_answer(
    made: list[dict[str, Any]], by_hand: list[dict[str, Any]], data: st.DataObject
) -> None:
    """A chain that was rewritten is heard from its start, over a snapshot that holds it already."""
    asked: Asked = [({}, "newest"), ({}, "recorded")]
    with new_root() as root, Memory(root) as memory:
        fill(memory, made, by_hand, data)
        expected = answers(memory, asked)
        for path in chains(Layout(root)):
            path.write_bytes(b"\n" + path.read_bytes())  # an empty line is no entry; every later one moved
        with Memory(root) as other:
            assert answers(other, asked) == expected
        assert answers(memory, asked) == expected
        assert memory.check().ok


# -- examples that failed once ---------------------------------------------------------------------------------------


def store_with_a_file_without_id(root: Path, stamp: str) -> Path:
    (root / "grail.yaml").write_text(f"look_after_s: 0\nstamp: {stamp}\n")
    path = root / "memories" / "a" / "x.md"
    path.parent.mkdir(parents=True)
    path.write_text("hello\n")
    return path


@pytest.mark.parametrize("stamp", ["sync", "never"])
@pytest.mark.parametrize("verb", ["update", "move", "hide"])
def test_a_change_of_a_file_without_id_keeps_the_id_it_was_asked_by(tmp_path: Path, verb: str, stamp: str) -> None:
    """The id was made from path and bytes, both of which the change or a later edit changes."""
    path = store_with_a_file_without_id(tmp_path, stamp)
    with Memory(tmp_path) as memory, Memory(tmp_path) as other:
        id_ = other.recall().observations[0].id
        if verb == "update":
            memory.update(id_, tags=["z"])
        elif verb == "move":
            memory.move(id_, "b")
        else:
            memory.hide(id_)
            path.write_text("hello you\n")
            assert other.recall().observations == memory.recall().observations == ()
            memory.restore(id_)
        for _ in range(2):
            assert [o.id for o in memory.recall().observations] == [id_]
            assert [o.id for o in other.recall().observations] == [id_]
            memory.sync()


def test_a_renamed_file_without_id_keeps_its_id_for_who_comes_later(tmp_path: Path) -> None:
    """The ledger knows the bytes it had under the former name; so do a rebuild and a process that never saw it there."""
    path = store_with_a_file_without_id(tmp_path, "never")
    with Memory(tmp_path) as memory:
        memory.sync()
        id_ = memory.recall().observations[0].id
        path.rename(path.with_name("y.md"))
        with Memory(tmp_path) as other:
            assert [o.id for o in other.recall().observations] == [id_]
            assert other.sync().moved == (("memories/a/x.md", "memories/a/y.md"),)
        path.with_name("y.md").rename(path.with_name("z.md"))
        memory.rebuild()
        assert [o.id for o in memory.recall().observations] == [id_]


def test_a_renamed_file_without_id_can_be_asked_for_by_its_id(tmp_path: Path) -> None:
    """To look at the file again is no reason to forget what it was called before."""
    path = store_with_a_file_without_id(tmp_path, "never")
    with Memory(tmp_path) as memory:
        memory.sync()
        id_ = memory.recall().observations[0].id
        path.rename(path.with_name("y.md"))
        with Memory(tmp_path) as other:
            for asked in (memory, other):
                assert [o.id for o in asked.recall().observations] == [id_]
                assert asked.get(id_).path == "memories/a/y.md"
            assert other.hide(id_).changed


def test_text_is_not_found_across_the_border_of_title_and_content(tmp_path: Path) -> None:
    """It is in the title or in the content."""
    with Memory(tmp_path) as memory:
        id_ = memory.add_observation(title="foo", content="bar\nbaz").id
        for _ in range(2):
            assert memory.recall(text="foo\nbar").observations == ()
            assert [o.id for o in memory.recall(text="bar\nbaz").observations] == [id_]
            memory.compact()


@examples(12)
@given(st.lists(drafts(), min_size=1, max_size=6), st.lists(drafts(), max_size=3), st.data())
def test_files_read_in_bulk_make_the_rows_of_files_looked_at_one_by_one(
    made: list[dict[str, Any]], by_hand: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Copies that repeat an id, renamed and deleted files included: rows, problems and what the ledger has not heard."""
    with new_root() as root:
        with Memory(root) as memory:
            fill(memory, made, by_hand, data)
        files = sorted((root / "memories").rglob("*.md"))
        for file in data.draw(st.lists(st.sampled_from(files), max_size=3, unique=True), label="meddled with"):
            copy = file.with_name(f"{data.draw(st.sampled_from('0z'), label='name')}{file.name}")
            match data.draw(st.sampled_from(["copy", "rename", "delete", "edit", "without id"]), label="how"):
                case "copy":
                    copy.write_bytes(file.read_bytes())
                case "rename":
                    file.rename(copy)
                case "delete":
                    file.unlink()
                case "edit":
                    file.write_bytes(file.read_bytes() + b"more\n")
                case "without id":
                    file.write_bytes(
                        b"".join(line for line in file.read_bytes().splitlines(True) if line[:3] != b"id:")
                    )
        if data.draw(st.booleans(), label="heard of"):
            with Memory(root) as memory:
                memory.sync(stamp=False)
        time.sleep(0.03)  # until the clock of the file system has moved on: younger files are looked at one by one
        layout, found = Layout(root), []
        for in_bulk in (True, False):
            view = View(layout, read_settings(layout.settings), from_files=True)
            if not in_bulk:
                view.absorb()
            view.scan(whole=True)
            assert (view.files is not None) == in_bulk
            unsynced = [(c.kind, c.id, c.path, c.was) for c in view.unsynced()]
            found.append((_rows(view)[0].to_pylist(), view.problems(), unsynced, view.n_rows, view.folders))
            view.close()
        assert found[0] == found[1]
