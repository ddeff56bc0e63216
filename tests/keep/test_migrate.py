"""A store as an earlier version wrote it: it is read as it is, and a migration changes what it said it would and no answer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from every_byte import digests

from grail_mem import AccessError, InputError, Memory
from grail_mem.consolidate.decisions import read_decisions
from grail_mem.consolidate.pairs import salt_of
from grail_mem.keep.owner import require_owner
from grail_mem.model.ulid import new_id
from grail_mem.store.layout import Layout
from grail_mem.store.ledger_line import Entry
from grail_mem.store.version import FIRST, STORE_VERSION, version_of
from grail_mem.write.staged import tell, writing

FILES = json.loads(Path(__file__).with_name("store_of_version_1.json").read_text())
"""The bytes that the program wrote before decisions had salted pairs: one proposal applied, one rejected, one rejected twice."""
OTHER = "knnk4t9exn"


def written(root: Path) -> Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(written(tmp_path / "store"), embedder="none") as opened:
        yield opened


def decided(memory: Memory) -> list[tuple[Any, ...]]:
    """What is decided, by whom, when and why, and what is proposed since."""
    found = memory.consolidate(kinds=["merge_aliases"])
    assert found.new == ()
    told = read_decisions(Layout(memory.root))
    return sorted(
        (p.id, p.status, p.fingerprint, *told.latest[p.id].to_dict().values(), str(told.latest[p.id].grounds))
        for p in memory.proposals(status="all")
    )


def truth(root: Path) -> dict[str, bytes]:
    left_out = ("output/", ".grail/local/")
    return {path: data for path, data in digests(root).items() if not path.startswith(left_out)}


def test_a_dry_run_names_every_change_and_makes_none(memory: Memory) -> None:
    before = truth(memory.root)
    planned = memory.migrate(dry_run=True)
    assert truth(memory.root) == before
    assert (planned.was, planned.now, planned.dry_run, planned.backup) == (FIRST, STORE_VERSION, True, "")
    assert [(step.to, len(step.changes)) for step in planned.steps] == [(2, 2), (3, 5), (4, 1)]
    done = memory.migrate()
    assert done.to_dict() == planned.to_dict() | {"dry_run": False, "backup": done.backup}
    changed = {path for path, data in before.items() if truth(memory.root).get(path) != data}
    assert changed == {f".grail/ledger/{OTHER}.jsonl", "gates.json"}
    assert truth(memory.root).keys() - before.keys() - {".grail/store.json", ".gitattributes"} <= {
        path for path in truth(memory.root) if path.startswith(".grail/ledger/")
    }
    assert version_of(memory._layout) == STORE_VERSION


def test_no_decision_and_no_answer_changes(memory: Memory) -> None:
    """What was rejected stays so, who decided when and why is known, and what was applied can still be undone."""
    before, rows = decided(memory), [o.to_dict() for o in memory.recall().observations]
    memory.migrate()
    assert decided(memory) == before
    assert [o.to_dict() for o in memory.recall().observations] == rows
    assert memory.verify_ledger().ok
    assert memory.check().problems == ()
    (applied,) = memory.proposals(status="applied")
    assert memory.undo(applied.id)[0].done
    told = read_decisions(Layout(memory.root))
    assert {salt_of([pair]) for pair in told.forbidden} == {told.salt}
    assert len(told.forbidden) == 3


def test_nothing_of_a_pair_without_a_salt_is_left_in_the_details(memory: Memory) -> None:
    old = {pair for pair in read_decisions(Layout(memory.root)).forbidden if "." not in pair}
    assert len(old) == 2
    memory.migrate()
    lines = [
        json.loads(line) for path in (memory.root / ".grail/ledger").iterdir() for line in path.read_text().splitlines()
    ]
    details = "".join(line.get("open", {}).get("detail", "") for line in lines)
    assert not [pair for pair in old if pair in details]
    assert not [pair for pair in old if pair.encode() in (memory.root / ".grail/local/journal").read_bytes()]


def test_the_fingerprint_of_a_decision_without_pairs_gets_a_salt_once(tmp_path: Path) -> None:
    """It is declined before and after; `check` names it before and not after; a second migration finds nothing."""
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.add_observation(title="Old", content="Old.", expires_at="2020-01-01")
        (found,) = memory.consolidate(kinds=["expire_stale"])
        detail = json.dumps({"kind": found.kind, "grounds": found.grounds})
        with writing(memory._open()):
            tell(
                memory._open(),
                [Entry("reject", new_id(), fingerprint=found.fingerprint, detail=detail, at="2020-01-01T00:00:00Z")],
            )
        assert [problem.code for problem in memory.check().problems] == ["older_form"]
        memory.migrate(out=tmp_path)
        assert memory.check().problems == ()
        assert memory.migrate(out=tmp_path).n_changes == 0
        assert memory.consolidate(kinds=["expire_stale"]).n_declined == 1
        ledger = b"".join(path.read_bytes() for path in (memory.root / ".grail/ledger").iterdir())
        assert found.fingerprint.encode() not in ledger


def test_the_backup_is_the_store_before(memory: Memory, tmp_path: Path) -> None:
    before = truth(memory.root)
    done = memory.migrate(out=tmp_path)
    assert memory.verify_backup(done.backup).ok
    memory.restore_backup(done.backup, force=True)
    with Memory(memory.root, embedder="none") as again:
        now = truth(memory.root)
        assert {path: now[path] for path in before if not path.startswith(".grail/ledger/")} == {
            path: data for path, data in before.items() if not path.startswith(".grail/ledger/")
        }
        assert again.migrate(dry_run=True).was == FIRST


def test_a_second_migration_has_nothing_to_do(memory: Memory, tmp_path: Path) -> None:
    memory.migrate()
    before, files = truth(memory.root), sorted(tmp_path.iterdir())
    again = memory.migrate()
    assert (again.was, again.now, again.steps, again.backup) == (STORE_VERSION, STORE_VERSION, (), "")
    assert truth(memory.root) == before
    assert sorted(tmp_path.iterdir()) == files
    assert [(entry.action, entry.reason) for entry in memory.log(action="migrate").entries] == [
        ("migrate", "form 1 to 4")
    ]


def test_a_new_store_has_the_present_form(tmp_path: Path) -> None:
    with Memory(tmp_path / "new", embedder="none") as memory:
        memory.add_observation(content="Said once.")
        assert version_of(memory._layout) == STORE_VERSION
        assert memory.migrate().to_dict()["n_changes"] == 0


def test_a_folder_of_notes_only_gets_its_version(tmp_path: Path) -> None:
    """No backup is made where no step has anything to change."""
    (tmp_path / "s/memories").mkdir(parents=True)
    (tmp_path / "s/memories/a.md").write_text("Just a note.\n")
    with Memory(tmp_path / "s", embedder="none") as memory:
        done = memory.migrate()
        assert (done.was, done.now, done.n_changes, done.backup) == (FIRST, STORE_VERSION, 0, "")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["s"]
        assert version_of(memory._layout) == STORE_VERSION


def test_what_git_brings_from_an_earlier_clone_is_found_later(memory: Memory) -> None:
    """The version alone does not tell: lines of another chain may come at any time."""
    chain = memory.root / f".grail/ledger/{OTHER}.jsonl"
    text = chain.read_text()
    chain.unlink()
    memory.migrate()
    assert memory.migrate().n_changes == 0
    chain.write_text(text)
    with Memory(memory.root, embedder="none") as anew:
        assert {p.code for p in anew.check().problems} == {"older_form"}
        done = anew.migrate()
        assert [step.to for step in done.steps] == [3]
        assert anew.check().problems == ()
        assert [p.status for p in anew.proposals(status="all")] == [row[1] for row in decided(anew)]


def test_lines_of_ones_own_stay_in_the_files_for_git(memory: Memory) -> None:
    mine = "# mine\n*.bin binary\n.grail/ledger/*.jsonl merge=union\nlast line without an end"
    (memory.root / ".gitattributes").write_text(mine)
    memory.migrate()
    assert (memory.root / ".gitattributes").read_text() == f"{mine}\n/sources/chats/*.jsonl merge=union\n"
    assert (memory.root / ".gitignore").read_text() == FILES[".gitignore"]


def test_git_is_told_how_the_ledger_merges(memory: Memory) -> None:
    """What the first step is for."""
    memory.migrate()

    def git(*words: str, at: Path = memory.root) -> str:
        made = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=at,
            capture_output=True,
            text=True,
            check=True,
        )
        return made.stdout

    git("init", "-q")
    said = git("check-attr", "merge", ".grail/ledger/x.jsonl", "sources/chats/y.jsonl")
    assert said.count("merge: union") == 2
    git("add", ".")
    assert "output" not in git("status", "--short")


@pytest.mark.parametrize("gates", ["{", "[]", '{"version": true}', '{"version": 2, "gates": {}}', '{"version": "1"}'])
def test_gates_of_another_version_stay(memory: Memory, gates: str) -> None:
    (memory.root / "gates.json").write_text(gates)
    assert all(step.to != 4 for step in memory.migrate().steps)
    assert (memory.root / "gates.json").read_text() == gates


def test_old_gates_keep_questions_from_being_answered_until_then(memory: Memory) -> None:
    with pytest.raises(InputError, match="gates"):
        memory.search("Who ships on time?")
    memory.migrate()
    assert memory.search("Who ships on time?").observations


def test_where_no_backup_can_be_made_nothing_is_changed(memory: Memory) -> None:
    before = truth(memory.root)
    with pytest.raises(InputError, match="inside the store"):
        memory.migrate(out=memory.root)
    assert truth(memory.root) == before
    with memory.session(user_id="u", agent_id="a") as session, pytest.raises(AccessError):
        require_owner(session._view.access, "migrate the store")


def test_a_line_that_somebody_broke_stops_nothing(memory: Memory) -> None:
    chain = memory.root / f".grail/ledger/{OTHER}.jsonl"
    lines = chain.read_text().splitlines(keepends=True)
    torn = [line.replace('\\"pairs\\":[', '\\"pairs\\":[7,') if '"undo"' in line else line for line in lines]
    chain.write_text("".join(torn) + '{"half a line')
    with Memory(memory.root, embedder="none") as anew:
        done = anew.migrate()
        assert done.n_changes == 8
        assert anew.migrate().n_changes == 0
