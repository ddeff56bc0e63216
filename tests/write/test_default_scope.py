"""The default scope is one scope, whether a file or a caller names it or not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grail_mem import ConflictError, Memory

WORDS = "The red ladder stands behind the shed."
NAMED = "org:store"


@pytest.mark.parametrize("first", [None, NAMED])
@pytest.mark.parametrize("snapshot", [False, True])
def test_the_same_words_are_one_observation(tmp_path: Path, first: str | None, snapshot: bool) -> None:
    second = NAMED if first is None else None
    with Memory(tmp_path) as memory:
        one = memory.add_observation(content=WORDS, scope=first)
        if snapshot:
            memory.compact()
        again = memory.add_observation(content=WORDS, scope=second)
        assert (again.id, again.created) == (one.id, False)
        both = memory.add_observations(
            [{"content": "Two in one.", "scope": scope} for scope in (first, second, "user:ann")]
        )
        assert [written.created for written in both] == [True, False, True]
        memory.update(one.id, content="Something else.")
        assert memory.add_observation(content=WORDS, scope=second).created


def test_the_same_suggestion_is_one_candidate_and_becomes_what_is_there(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        one, other = (memory.submit([{"content": WORDS, "scope": scope}], origin="user")[0] for scope in (None, NAMED))
        assert (one.id, other.created) == (other.id, False)
        there = memory.add_observation(content=WORDS, scope=NAMED)
        assert memory.approve(one.id)[0].observation == there.id


def test_what_was_erased_comes_back_under_neither_name(tmp_path: Path) -> None:
    """Not from a backup, nor by an import, under an id that was never erased."""
    with Memory(tmp_path / "store") as memory:
        first = memory.add_observation(content=WORDS, title="Ladder", scope=NAMED)
        memory.export(tmp_path / "old.jsonl")
        memory.backup(tmp_path / "old.tar.gz")
        (tmp_path / "store" / first.path).unlink()
        memory.sync()
        second = memory.add_observation(content=WORDS, title="Ladder")
        assert second.created
        memory.erase(second.id, reason="asked for")
        with pytest.raises(ConflictError):
            memory.add_observation(content=WORDS, title="Ladder", scope=NAMED)
        drafts = tmp_path / "drafts.jsonl"
        drafts.write_text(json.dumps({"title": "Ladder", "content": WORDS, "scope": NAMED}) + "\n")
        for file in (tmp_path / "old.jsonl", drafts):
            assert memory.import_file(file).n_added == 0
        memory.restore_backup(tmp_path / "old.tar.gz", force=True)
    with Memory(tmp_path / "store") as memory:
        assert not memory.recall().observations
