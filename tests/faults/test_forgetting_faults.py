"""Faults of forgetting that other systems had."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from every_byte import digests

from grail_mem import ConflictError, Memory, NotFoundError

SAID = "The launch of the new harbour line is planned for the third of May."


@pytest.mark.parametrize("word", ["Plan", "plan", "Plan A", "plan-a", "", "0", "A"])
def test_f27_a_destructive_verb_needs_an_exact_unique_id(tmp_path: Path, word: str) -> None:
    """A title, a part of one, or the end of an id is no id, even when only one observation could be meant."""
    with Memory(tmp_path) as memory:
        made = [
            memory.add_observation(title=title, content=f"It says {i}.") for i, title in enumerate(["Plan A", "Plan B"])
        ]
        before = digests(tmp_path)
        for named in (word, [made[0].id, word], made[0].id[-6:], made[0].id[:-1]):
            with pytest.raises((NotFoundError, ValueError)):
                memory.erase(named, reason="request")
            with pytest.raises((NotFoundError, ValueError)):
                memory.erase(named, reason="request", dry_run=True)
        if word:
            with pytest.raises(NotFoundError):
                memory.hide(word)
        assert {o.title for o in memory.recall().observations} == {"Plan A", "Plan B"}
        assert digests(tmp_path / "memories") == {
            k.removeprefix("memories/"): v for k, v in before.items() if k.startswith("memories/")
        }


def test_f27_ambiguity_lists_the_candidates(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        made = [memory.add_observation(title="Plan", content=f"It says {i}.") for i in range(2)]
        with pytest.raises(NotFoundError) as error:
            memory.erase("plan", reason="request")
        assert all(one.id in str(error.value) for one in made)


def test_f41_erasing_all_of_one_agent_takes_only_that(tmp_path: Path) -> None:
    """Everything of one user, agent, session or scope goes, near names stay; the dry run counts it, others keep their bytes."""
    with Memory(tmp_path) as memory:
        kept = [
            memory.add_observation(title=f"K{i}", content=f"Kept {i} for them.", scope=scope, session=session)
            for i, (scope, session) in enumerate(
                [("user:alice2", "alpha"), ("agent:bot/alice2", None), ("project:alice", "alpha"), (None, "alpha/2"), (None, None)]
            )
        ]  # fmt: skip
        gone = [
            memory.add_observation(title=f"G{i}", content=f"Goes {i} with her.", scope=scope, session="alpha")
            for i, scope in enumerate(["user:alice", "agent:bot/alice", "agent:other/alice"])
        ]
        memory.compact()
        before = digests(tmp_path / "memories")
        planned = memory.erase(user="alice", reason="request", dry_run=True)
        assert digests(tmp_path / "memories") == before
        done = memory.erase(user="alice", reason="request")
        assert set(planned.ids) == set(done.ids) == {one.id for one in gone}
        after = digests(tmp_path / "memories")
        assert len(before) - len(after) == len(planned.files) == 3
        assert all(after[path] == before[path] for path in after)
        assert {o.id for o in memory.recall().observations} == {one.id for one in kept}
        assert {o.id for o in memory.recall(session="alpha").observations} == {kept[0].id, kept[2].id}
        for nobody in (
            {"user": "alice"},
            {"user": "ali"},
            {"session": "alph"},
            {"scope": "user:nobody"},
            {"source": "x"},
        ):
            with pytest.raises(NotFoundError):
                memory.erase(**nobody, reason="request")  # type: ignore[arg-type]  # each names one condition
        with pytest.raises(ValueError, match="Say which"):
            memory.erase(reason="request")


def _git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_f42_what_was_erased_stays_erased(tmp_path: Path) -> None:
    """By rebuild, import of the same, `git checkout` of the old file, a copy without its id, a backup: never silently back."""
    with Memory(tmp_path) as memory:
        made = memory.add_observation(title="Launch", content=SAID, category="plans")
        other = memory.add_observation(title="Other", content="Something else that stays.")
        memory.compact()
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "before")
    backup = tmp_path.parent / f"{tmp_path.name}-backup"
    shutil.copytree(tmp_path / "memories", backup)
    text = (tmp_path / made.path).read_text()
    with Memory(tmp_path) as memory:
        done = memory.erase(made.id, reason="request")
        assert any(".git" in place for place in done.beyond)

        def is_out(*places: str) -> None:
            assert [o.id for o in memory.recall().observations] == [other.id]
            found = memory.sync().problems
            assert {p.where for p in found if p.code == "erased_came_back"} == set(places)
            assert all("delete" in p.remedy for p in found)
            assert {p.where for p in memory.check().problems if p.code == "erased_came_back"} == set(places)
            assert [o.id for o in memory.recall().observations] == [other.id]
            assert memory.search("launch of the harbour line").observations == ()
            with Memory(tmp_path) as fresh:
                assert [o.id for o in fresh.recall().observations] == [other.id]

        memory.rebuild()
        is_out()
        for draft in (
            {"title": "Launch", "content": SAID},
            {"content": SAID},
            {"title": "New", "content": SAID.upper() + "\n"},
        ):
            with pytest.raises(ConflictError, match="erased"):
                memory.add_observation(**draft, category="elsewhere")
            with pytest.raises(ConflictError, match="erased"):
                memory.add_observations([{"content": "Fine by itself."}, draft])
        with pytest.raises(ConflictError, match="erased"):
            memory.update(other.id, content=SAID)
        is_out()
        _git(tmp_path, "checkout", "-q", "HEAD", "--", "memories")
        is_out(made.path)
        memory.rebuild()
        is_out(made.path)
        (tmp_path / made.path).unlink()
        copied = tmp_path / "memories/else/by-hand.md"
        copied.parent.mkdir()
        copied.write_text(
            "".join(line for line in text.splitlines(keepends=True) if not line.startswith(("id:", "recorded_at:")))
        )
        is_out("memories/else/by-hand.md")
        memory.compact()
        is_out("memories/else/by-hand.md")
        shutil.rmtree(tmp_path / "memories")
        shutil.copytree(backup, tmp_path / "memories")
        is_out(made.path)


def test_f43_what_was_erased_can_be_told_again_on_purpose(tmp_path: Path) -> None:
    """With a notice, under a new id, and it stays: in other processes, after a rebuild, and after an edit by hand."""
    with Memory(tmp_path) as memory, Memory(tmp_path) as other:
        made = memory.add_observation(title="Launch", content=SAID)
        old = (tmp_path / made.path).read_bytes()
        memory.erase(made.id, reason="request")
        again = other.add_observation(title="Launch", content=SAID, again=True)
        assert again.created
        assert again.id != made.id
        assert any("erased on" in warning for warning in again.warnings)
        assert memory.add_observation(title="Launch", content=SAID).id == again.id
        path = tmp_path / again.path
        path.write_text(path.read_text().replace("confidence: 1.0", "confidence: 0.5"))
        memory.sync()
        memory.rebuild()
        assert [(o.id, o.confidence) for o in other.recall().observations] == [(again.id, 0.5)]
        assert memory.check().problems == ()
        (tmp_path / made.path).write_bytes(old)  # the old one is another matter
        assert [p.code for p in memory.sync().problems] == ["erased_came_back"]
        (tmp_path / made.path).unlink()
        memory.erase(again.id, reason="request")
        with pytest.raises(ConflictError):
            memory.add_observation(title="Launch", content=SAID)
        assert memory.add_observation(title="Plain", content="Nothing was erased here.", again=True).warnings == ()
