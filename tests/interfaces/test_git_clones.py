"""A store is kept in git: clones that both wrote merge, copies go their own way, and no checkout loses anything."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from grail_mem import Memory
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import chains, history, verify
from grail_mem.write.check import Checked

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

NAME = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")


def git(root: Path, *arguments: str, fails: bool = False) -> str:
    done = subprocess.run(
        ["git", *NAME, *arguments], cwd=root, capture_output=True, text=True, check=False,
        env=os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )  # fmt: skip
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def commit(root: Path, message: str) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)


def titles(memory: Memory) -> list[str]:
    return sorted(o.title for o in memory.recall(limit=1000).observations)


def answer(root: Path) -> list[tuple[str, str, str, str]]:
    with Memory(root) as memory:
        return [(o.id, o.title, o.content, o.path) for o in memory.recall(limit=1000).observations]


def checked(root: Path) -> Checked:
    with Memory(root) as memory:
        return memory.check()


def file_of(root: Path, title: str) -> Path:
    return next(path for path in (root / "memories").rglob("*.md") if f"title: {title}\n" in path.read_text())


def agree(*roots: Path) -> list[str]:
    """Sync every clone; both must check clean, answer alike, and answer so after a rebuild. Returns the titles."""
    for root in roots:
        with Memory(root) as memory:
            memory.sync()
            memory.sync()
            found = memory.check()
            assert found.ok, found.problems
            assert not verify(Layout(root))
    first, *others = [answer(root) for root in roots]
    for other in others:
        assert other == first
    for root in roots:
        with Memory(root) as memory:
            memory.rebuild()
        assert answer(root) == first
    return sorted(title for _, title, *_ in first)


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A store in git with six observations."""
    root = tmp_path / "one"
    with Memory(root) as memory:
        memory.init()
        for name in ("Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta"):
            memory.add_observation(title=name, content=f"{name} is said.", category="work", tags=["greek"])
        memory.compact()
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, "begin")
    return root


@pytest.fixture
def two(one: Path, tmp_path: Path) -> Path:
    """A clone of it."""
    git(tmp_path, "clone", "--quiet", str(one), "two")
    return tmp_path / "two"


def ids(root: Path) -> dict[str, str]:
    with Memory(root) as memory:
        return {o.title: o.id for o in memory.recall(limit=1000).observations}


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.slow
def test_clones_that_both_wrote_merge_to_the_union(one: Path, two: Path) -> None:
    """Both add, update, move, hide and edit by hand, each another file; nothing conflicts."""
    known = ids(one)
    with Memory(one) as memory, Memory(two) as other:
        memory.add_observation(title="Said in one", content="First.", category="work/one")
        memory.update(known["Alpha"], append="Updated in one.")
        memory.move(known["Beta"], "moved/one")
        other.add_observation(title="Said in two", content="Second.", category="work/two")
        other.update(known["Gamma"], append="Updated in two.")
        other.move(known["Delta"], "moved/two")
        other.hide(known["Zeta"])
    edit(file_of(one, "Epsilon"), "Epsilon is said.", "Epsilon was corrected by hand.")
    (two / "memories/work/hand.md").write_text("---\ntitle: By hand\n---\nWritten in two.\n")
    for root in (one, two):
        with Memory(root) as memory:
            memory.sync()
        commit(root, "work")

    git(two, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")
    git(one, "pull", "--quiet", "--no-rebase", "--no-edit", str(two), "main")
    assert not git(two, "status", "--porcelain", "--", "memories", ".grail")
    assert len(chains(Layout(one))) == len(chains(Layout(two))) == 2

    union = ["Alpha", "Beta", "By hand", "Delta", "Epsilon", "Gamma", "Said in one", "Said in two"]
    assert agree(one, two) == union
    with Memory(two) as memory:
        assert memory.get(known["Alpha"]).content.endswith("Updated in one.")
        assert memory.get(known["Beta"]).category == "moved/one"
        assert memory.get(known["Epsilon"]).content == "Epsilon was corrected by hand."
    with Memory(one) as memory:
        assert memory.get(known["Gamma"]).content.endswith("Updated in two.")
        assert memory.get(known["Delta"]).category == "moved/two"


def test_an_open_process_sees_what_a_pull_brought(one: Path, two: Path) -> None:
    """No reopening and no sync is needed: the merged ledger names the files."""
    with Memory(one) as memory:
        assert len(titles(memory)) == 6
        with Memory(two) as other:
            other.add_observation(title="Said in two", content="Second.")
            other.hide(ids(two)["Alpha"])
        commit(two, "work")
        git(one, "pull", "--quiet", "--no-rebase", "--no-edit", str(two), "main")
        assert titles(memory) == ["Beta", "Delta", "Epsilon", "Gamma", "Said in two", "Zeta"]


def test_a_file_edited_on_both_sides_is_named_and_harms_nothing_else(one: Path, two: Path) -> None:
    edit(file_of(one, "Alpha"), "Alpha is said.", "Alpha as one says.")
    edit(file_of(two, "Alpha"), "Alpha is said.", "Alpha as two says.")
    for root, title in ((one, "Said in one"), (two, "Said in two")):
        with Memory(root) as memory:
            memory.add_observation(title=title, content="More.")
            memory.sync()
        commit(root, "work")
    git(two, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main", fails=True)
    path = file_of(two, "Alpha").relative_to(two)
    assert git(two, "diff", "--name-only", "--diff-filter=U").split() == [str(path)]

    with Memory(two) as memory:
        memory.sync()
        found = memory.check()
        named = [p for p in found.problems if p.where == str(path)]
        assert named, found.problems
        line = (two / path).read_text().split("\n").index("<<<<<<< HEAD") + 1
        assert named[0].line == line
        assert named[0].remedy
        assert [p for p in found.problems if p.where != str(path) and p.severity == "error"] == []
        assert {"Beta", "Said in one", "Said in two"} <= set(titles(memory))
        assert memory.add_observation(title="Goes on", content="While it lasts.").created
        assert "<<<<<<<" in (two / path).read_text(), "a file in conflict is never touched"

        text = (two / path).read_text()
        (two / path).write_text(text[: text.index("<<<<<<<")] + "Alpha as both say.\n")
        memory.sync()
        assert memory.check().ok
        assert next(o for o in memory.recall(limit=100).observations if o.title == "Alpha").content == (
            "Alpha as both say."
        )
    commit(two, "resolved")
    git(one, "pull", "--quiet", "--no-rebase", "--no-edit", str(two), "main")
    assert "Goes on" in agree(one, two)
    assert ids(one)["Alpha"] == ids(two)["Alpha"]


def test_a_conflict_in_the_frontmatter_is_named_too(one: Path, two: Path) -> None:
    edit(file_of(one, "Alpha"), "tags: [greek]", "tags: [greek, one]")
    edit(file_of(two, "Alpha"), "tags: [greek]", "tags: [greek, two]")
    for root in (one, two):
        with Memory(root) as memory:
            memory.sync()
        commit(root, "work")
    git(two, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main", fails=True)
    path = file_of(two, "Alpha").relative_to(two)
    with Memory(two) as memory:
        named = [p for p in memory.check().problems if p.where == str(path)]
        assert named
        assert named[0].line
        assert named[0].remedy
        assert {"Beta", "Gamma"} <= set(titles(memory))
        git(two, "checkout", "--theirs", "--", str(path))
        memory.sync()
        assert memory.check().ok
        assert len(titles(memory)) == 6
        assert "one" in memory.get(ids(two)["Alpha"]).tags


def approve_in_both(one: Path, two: Path, **more: Any) -> list[Path]:
    """Submit a candidate, bring it to the other clone, and approve it in both; returns the two files."""
    draft = {"title": "Likes tea", "content": "Ann likes green tea in the morning.", "category": "people", **more}
    with Memory(one) as memory:
        (candidate,) = memory.submit([draft])
    commit(one, "submitted")
    git(two, "pull", "--quiet", "origin", "main")
    for root in (one, two):
        with Memory(root) as memory:
            assert memory.approve(candidate.id)[0].done
        commit(root, "approved")
    return [file_of(root, "Likes tea").relative_to(root) for root in (one, two)]


def test_a_candidate_approved_in_two_clones_is_named_where_git_sees_a_rename(one: Path, two: Path) -> None:
    """Git takes the two new files for one that was renamed twice, and its marks are longer than usual then."""
    ours, theirs = approve_in_both(one, two)
    git(two, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main", fails=True)
    assert "<<<<<<<< " in (two / ours).read_text()
    found = {problem.where: problem for problem in checked(two).problems}
    for path in (ours, theirs):
        assert "merge conflict" in found[str(path)].message
    git(two, "checkout", "HEAD", "--", str(theirs))
    (two / ours).unlink()
    commit(two, "one of them")
    git(one, "pull", "--quiet", "--no-rebase", "--no-edit", str(two), "main")
    assert agree(one, two).count("Likes tea") == 1


def test_a_candidate_approved_in_two_clones_is_named_where_git_sees_none(one: Path, two: Path) -> None:
    approve_in_both(one, two)
    git(two, "pull", "--quiet", "--no-rebase", "--no-edit", "-s", "recursive", "-X", "no-renames", "origin", "main")
    (named,) = checked(two).problems
    assert (named.code, named.severity) == ("approved_twice", "warning")
    with Memory(two) as memory:
        memory.hide(next(o.id for o in memory.recall().observations if o.path == named.where))
        assert memory.check().problems == ()


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"content": "Ann likes tea."},
        {"attribute": "ann/drink", "entities": ["Ann"], "tags": ["taste"]},
        {"evidence": [{"quote": "I like green tea in the morning.", "session": "chat"}]},
    ],
    ids=["plain", "short", "fact", "quoted"],
)
def test_what_two_clones_approved_is_made_one_by_the_remedy_that_check_names(
    one: Path, two: Path, more: dict[str, Any]
) -> None:
    """The same one, whichever clone mends it, so that both may; the other learns it by git."""
    with Memory(one) as memory:
        memory.ingest_chat([{"role": "user", "text": "I like green tea in the morning."}], session="chat")
    approve_in_both(one, two, **more)
    git(two, "pull", "--quiet", "--no-rebase", "--no-edit", "-s", "recursive", "-X", "no-renames", "origin", "main")
    git(one, "pull", "--quiet", "--no-edit", str(two), "main")
    left = []
    for root in (one, two):
        (named,) = checked(root).problems
        assert "`grail consolidate --kind merge_duplicates`" in named.remedy
        with Memory(root) as memory:
            (proposal,) = memory.consolidate(kinds=["merge_duplicates"]).proposals
            assert memory.apply([proposal.id])[0].done
            assert memory.check().problems == ()
            left.append([o.id for o in memory.recall(text="tea").observations])
        commit(root, "mended")
    assert left[0] == left[1]
    assert len(left[0]) == 1
    git(one, "pull", "--quiet", "--no-rebase", "--no-edit", str(two), "main")
    assert checked(one).problems == ()


def test_a_copy_of_the_folder_keeps_a_chain_of_its_own(one: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", one, copy], check=True)
    for root, title in ((one, "In the original"), (copy, "In the copy")):
        with Memory(root) as memory:
            memory.add_observation(title=title, content="More.")
        commit(root, "work")
    assert len(chains(Layout(one))) == 1
    assert len(chains(Layout(copy))) == 2
    git(one, "pull", "--quiet", "--no-rebase", "--no-edit", str(copy), "main")
    git(copy, "pull", "--quiet", "--no-rebase", "--no-edit", str(one), "main")
    assert {"In the original", "In the copy"} <= set(agree(one, copy))


def test_an_older_commit_and_back_answers_as_the_files_say(one: Path) -> None:
    before = git(one, "rev-parse", "HEAD").strip()
    known = ids(one)
    with Memory(one) as memory:
        memory.add_observation(title="Later", content="Said later.")
        memory.move(known["Beta"], "moved")
        memory.hide(known["Zeta"])
        memory.compact()
    commit(one, "later")
    now = answer(one)
    with Memory(one) as memory:
        git(one, "checkout", "--quiet", before)
        assert titles(memory) == ["Alpha", "Beta", "Delta", "Epsilon", "Gamma", "Zeta"]
        assert memory.check().ok
        git(one, "checkout", "--quiet", "main")
        memory.sync()
        assert [(o.id, o.title, o.content, o.path) for o in memory.recall(limit=100).observations] == now
        assert memory.check().ok
    assert answer(one) == now


def test_branches_of_one_clone_that_both_wrote_merge(one: Path) -> None:
    """A chain that git put into an earlier state is not continued: both branches would do so, and conflict."""
    git(one, "checkout", "--quiet", "-b", "idea")
    with Memory(one) as memory:
        memory.add_observation(title="On the branch", content="An idea.")
    commit(one, "idea")
    git(one, "checkout", "--quiet", "main")
    with Memory(one) as memory:
        memory.add_observation(title="On main", content="Meanwhile.")
        assert "On the branch" not in titles(memory)
    commit(one, "meanwhile")
    git(one, "merge", "--quiet", "--no-edit", "idea")
    with Memory(one) as memory:
        memory.add_observation(title="After the merge", content="Goes on.")
        memory.sync()
        assert {"On the branch", "On main", "After the merge"} <= set(titles(memory))
        assert memory.check().ok
    commit(one, "after")
    assert not verify(Layout(one))


@pytest.mark.parametrize("reopened", [False, True])
def test_a_shorter_ledger_loses_no_observation(one: Path, *, reopened: bool) -> None:
    """`git stash` sets the ledger back while a process has the store open; later writes and the stash both stay."""
    with Memory(one) as memory:
        memory.add_observation(title="Not committed", content="Yet.")
        if not reopened:
            assert "Not committed" in titles(memory)
        git(one, "stash", "push", "--quiet", "--", ".grail")
        if reopened:
            memory.close()
        with Memory(one) if reopened else memory as after:
            assert "Not committed" in titles(after)
            after.add_observation(title="During the stash", content="Still here.")
            after.sync()
            assert {"Not committed", "During the stash"} <= set(titles(after))
            assert after.check().ok
    git(one, "stash", "pop", "--quiet")
    assert {"Not committed", "During the stash"} <= set(agree(one))
    told = [entry.id for entry in history(Layout(one)) if entry.action == "add"]
    assert len(told) == len(set(told))


def test_the_ledger_holds_no_text_of_an_observation(one: Path) -> None:
    for path in chains(Layout(one)):
        for line in path.read_text().splitlines():
            assert "Alpha is said." not in json.dumps(json.loads(line))
