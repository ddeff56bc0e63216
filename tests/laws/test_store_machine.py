"""Any sequence of writes, hand edits, syncs and compactions, by two openings of one store, against a dict in plain Python."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from laws_strategies import examples

from grail_mem import Memory
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import verify

FOLDERS = ["a", "a/b", "c"]
TITLES = ["one", "two", "it's: 3"]
BODIES = ["alpha", "beta!", "a longer body\n\nwith two parts"]
TAGS = [[], ["x"], ["x", "y z"]]
STATEMENTS = st.tuples(*(st.sampled_from(values) for values in (TITLES, BODIES, TAGS, FOLDERS)))


@dataclass(frozen=True)
class File:
    """What the model knows of one file.

    Attributes:
        id: None as long as nothing has to keep the id: a file without one that no sync has seen.
        has_id: Whether the file itself carries the id.
        copied: Whether it claims the id of another file; then only what it says is checked.
        renamed, edited: Whether a hand did so since the last sync.
    """

    title: str
    content: str
    tags: tuple[str, ...]
    id: str | None = None
    has_id: bool = True
    copied: bool = False
    renamed: bool = False
    edited: bool = False

    @property
    def said(self) -> tuple[str, str, tuple[str, ...]]:
        return (self.title, self.content, self.tags)


class Store(RuleBasedStateMachine):
    """Rules are what people and programs do; the model is `files`, by path, `hidden` ids, and ids `shared` with a copy."""

    stamp = "sync"

    @initialize(before=st.integers(0, 3))
    def open(self, before: int) -> None:
        self.root = Path(tempfile.mkdtemp())
        (self.root / "grail.yaml").write_text(f"look_after_s: 0\ndurability: fast\nstamp: {self.stamp}\n")
        (self.root / "memories").mkdir()
        self.files: dict[str, File] = {}
        self.hidden: set[str] = set()
        self.shared: set[str] = set()
        self.n = 0
        self.memories = [Memory(self.root), Memory(self.root)]
        for n in range(before):
            self.add(TITLES[n % 3], BODIES[n % 3], TAGS[n % 3], FOLDERS[n % 3], who=0)

    def teardown(self) -> None:
        for memory in getattr(self, "memories", ()):
            memory.close()
        if hasattr(self, "root"):
            shutil.rmtree(self.root)

    # -- what is there -----------------------------------------------------------------------------------------------

    def pick(self, n: int, *, named: bool = False) -> str | None:
        """A path of the model; only one that has a settled id and is not hidden when `named`."""
        taken = self.hidden | self.shared
        paths = sorted(p for p, f in self.files.items() if not named or (f.id and f.id not in taken))
        return paths[n % len(paths)] if paths else None

    def new_path(self, folder: str) -> str:
        self.n += 1
        return f"memories/{folder}/hand {self.n}.md"

    def learn(self, memory: Memory) -> None:
        """After a sync every file has an id for good."""
        found = {o.path: o.id for o in memory.recall(limit=1000).observations}
        for path, file in self.files.items():
            if file.id is None and not file.copied:
                self.files[path] = replace(file, id=found[path])

    def synced(self, memory: Memory, *, stamped: bool) -> None:
        for path, file in self.files.items():
            self.files[path] = replace(
                file, renamed=False, edited=False, has_id=file.has_id or (stamped and not file.copied)
            )
        self.learn(memory)

    # -- writes ------------------------------------------------------------------------------------------------------

    @rule(
        title=st.sampled_from(TITLES), content=st.sampled_from(BODIES), tags=st.sampled_from(TAGS),
        folder=st.sampled_from(FOLDERS), who=st.integers(0, 1),
    )  # fmt: skip
    def add(self, title: str, content: str, tags: list[str], folder: str, who: int) -> None:
        self.added(
            [{"title": title, "content": content, "tags": tags, "category": folder}],
            [self.memories[who].add_observation(title=title, content=content, tags=tags, category=folder)],
        )

    @rule(who=st.integers(0, 1), chosen=st.lists(STATEMENTS, max_size=3))
    def add_batch(self, who: int, chosen: list[tuple[Any, ...]]) -> None:
        drafts = [dict(zip(("title", "content", "tags", "category"), values, strict=True)) for values in chosen]
        self.added(drafts, self.memories[who].add_observations(drafts))

    def added(self, drafts: list[dict[str, Any]], results: list[Any]) -> None:
        for draft, result in zip(drafts, results, strict=True):
            file = File(draft["title"], draft["content"], tuple(draft["tags"]), result.id)
            same = {
                path: known
                for path, known in self.files.items()
                if known.said == file.said
                and path.rpartition("/")[0] == f"memories/{draft['category']}"
                and known.id not in self.hidden
            }
            if result.created:
                assert not [f for f in same.values() if f.has_id and not (f.edited or f.renamed or f.copied)], same
                assert result.path not in self.files
                assert result.id not in {known.id for known in self.files.values()}
                self.files[result.path] = file
            else:
                assert result.path in same
                known = same[result.path]
                assert known.id in (None, result.id)

    @rule(n=st.integers(0, 20), who=st.integers(0, 1), how=st.sampled_from(["content", "title", "tags", "append"]),
          to=st.integers(0, 2))  # fmt: skip
    def update(self, n: int, who: int, how: str, to: int) -> None:
        path = self.pick(n, named=True)
        if path is None:
            return
        file = self.files[path]
        fields: dict[str, Any] = {
            "content": {"content": BODIES[to]}, "title": {"title": TITLES[to]}, "tags": {"tags": TAGS[to]},
            "append": {"append": f"more {to}"},
        }[how]  # fmt: skip
        assert self.memories[who].update(file.id or "", **fields).path == path
        if how == "append":
            fields = {"content": f"{file.content}\n\nmore {to}"}
        said = {name: tuple(v) if name == "tags" else v for name, v in fields.items()}
        self.files[path] = replace(file, **said)

    @rule(n=st.integers(0, 20), who=st.integers(0, 1), folder=st.sampled_from(FOLDERS))
    def move(self, n: int, who: int, folder: str) -> None:
        path = self.pick(n, named=True)
        if path is not None:
            file = self.files.pop(path)
            moved = self.memories[who].move(file.id or "", folder)
            assert moved.path == f"memories/{folder}/{path.rpartition('/')[2]}"
            self.files[moved.path] = file

    @rule(n=st.integers(0, 20), who=st.integers(0, 1))
    def hide(self, n: int, who: int) -> None:
        path = self.pick(n, named=True)
        if path is not None:
            id_ = self.files[path].id or ""
            assert self.memories[who].hide(id_).changed
            self.hidden.add(id_)

    @precondition(lambda self: self.hidden)
    @rule(n=st.integers(0, 20), who=st.integers(0, 1))
    def restore(self, n: int, who: int) -> None:
        there = sorted(self.hidden & {file.id for file in self.files.values()})
        if there:
            id_ = there[n % len(there)]
            assert self.memories[who].restore(id_).changed
            self.hidden.discard(id_)

    # -- hands -------------------------------------------------------------------------------------------------------

    @rule(folder=st.sampled_from(FOLDERS), title=st.sampled_from(TITLES), content=st.sampled_from(BODIES))
    def hand_create(self, folder: str, title: str, content: str) -> None:
        path = self.new_path(folder)
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(f'---\ntitle: "{title}"\n---\n{content}')
        self.files[path] = File(title, content, (), has_id=False)

    @rule(folder=st.sampled_from(FOLDERS))
    def hand_create_title_only(self, folder: str) -> None:
        path = self.new_path(folder)
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text("---\ntitle: only\n---\n")
        self.files[path] = File("only", "", (), has_id=False)

    def by_hand(self, path: str, **changes: Any) -> None:
        """What a hand did to a file; where nothing can tell that it is the same, its id is open again."""
        file = replace(self.files[path], **changes)
        if not file.has_id and file.renamed and file.edited and file.id not in self.hidden:
            file = replace(file, id=None)
        self.files[path] = file

    @rule(n=st.integers(0, 20), same_size=st.booleans(), mark=st.integers(0, 9))
    def hand_edit(self, n: int, same_size: bool, mark: int) -> None:
        path = self.pick(n)
        if path is None or not self.files[path].content or self.loses_a_hidden(path, edited=True):
            return
        file = self.files[path]
        content = f"{file.content[:-1]}{mark}" if same_size else f"{file.content} {mark}"
        data = (self.root / path).read_bytes()
        assert data.count(file.content.encode()) >= 1
        head, _, tail = data.rpartition(file.content.encode())
        (self.root / path).write_bytes(head + content.encode() + tail)
        if content != file.content:
            self.by_hand(path, content=content, edited=True)

    def loses_a_hidden(self, path: str, **flags: bool) -> bool:
        """Whether a hand would make a hidden file another observation: then it is to be seen again, by design."""
        file = replace(self.files[path], **flags)
        return file.id in self.hidden and not file.has_id and file.renamed and file.edited

    @rule(n=st.integers(0, 20), folder=st.none() | st.sampled_from(FOLDERS))
    def hand_rename(self, n: int, folder: str | None) -> None:
        """Give a file another name, in its folder or in another."""
        path = self.pick(n)
        if path is None or self.files[path].id in self.shared or self.loses_a_hidden(path, renamed=True):
            return
        target = self.new_path(folder or path.removeprefix("memories/").rpartition("/")[0])
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / target)
        self.files[target] = self.files.pop(path)
        self.by_hand(target, renamed=True)
        self.forget_twins(target)

    def forget_twins(self, path: str) -> None:
        """Files without an id and with the same bytes cannot be told apart once one is renamed."""
        data = (self.root / path).read_bytes()
        twins = [p for p, f in self.files.items() if not f.has_id and (self.root / p).read_bytes() == data]
        if len(twins) > 1:
            for twin in twins:
                if self.files[twin].id not in self.hidden:
                    self.files[twin] = replace(self.files[twin], id=None)

    @rule(n=st.integers(0, 20))
    def hand_delete(self, n: int) -> None:
        path = self.pick(n)
        if path is not None and self.files[path].id not in self.shared:
            (self.root / path).unlink()
            self.files.pop(path)

    @rule(n=st.integers(0, 20), folder=st.sampled_from(FOLDERS))
    def hand_copy(self, n: int, folder: str) -> None:
        """The copy claims the id of the file that is there already, which keeps it."""
        path = self.pick(n, named=True)
        if path is None or self.files[path].renamed:
            return
        file, target = self.files[path], self.new_path(folder)
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.root / path, self.root / target)
        self.files[target] = replace(file, id=None, copied=file.has_id, renamed=False, edited=False)
        if file.has_id:
            self.shared.add(file.id or "")

    # -- upkeep ------------------------------------------------------------------------------------------------------

    @rule(who=st.integers(0, 1))
    def sync(self, who: int) -> None:
        self.memories[who].sync()
        self.synced(self.memories[who], stamped=self.stamp == "sync")
        assert not self.memories[who].sync().changed

    @rule(who=st.integers(0, 1))
    def compact(self, who: int) -> None:
        self.memories[who].compact()
        self.synced(self.memories[who], stamped=False)

    @rule(who=st.integers(0, 1))
    def rebuild(self, who: int) -> None:
        self.memories[who].rebuild()

    @rule(who=st.integers(0, 1))
    def reopen(self, who: int) -> None:
        self.memories[who].close()
        self.memories[who] = Memory(self.root)

    @rule()
    def delete_output(self) -> None:
        shutil.rmtree(self.root / "output", ignore_errors=True)
        for who in (0, 1):
            self.reopen(who)

    # -- laws --------------------------------------------------------------------------------------------------------

    @invariant()
    def both_answer_what_the_files_say(self) -> None:
        if not hasattr(self, "memories"):
            return
        expected = {path: file for path, file in self.files.items() if file.id is None or file.id not in self.hidden}
        for memory in self.memories:
            found = memory.recall(limit=1000).observations
            assert {o.path: (o.title, o.content, o.tags) for o in found} == {p: f.said for p, f in expected.items()}
            assert {o.path: o.category for o in found} == {p: p[9:].rpartition("/")[0] for p in expected}
            for o in found:
                assert expected[o.path].id in (None, o.id), o.path
            assert len({o.id for o in found}) == len(found)

    @invariant()
    def nothing_is_wrong(self) -> None:
        if hasattr(self, "memories"):
            assert verify(Layout(self.root)) == []
            checked = self.memories[0].check()
            assert checked.ok, checked.problems
            assert checked.n_observations == len(self.memories[0].recall(limit=1000).observations)


class StoreThatNeverStamps(Store):
    """The same where files that others made are not changed: the ledger alone keeps their ids."""

    stamp = "never"


TestStore = Store.TestCase
TestStore.settings = settings(examples(7, steps=20), print_blob=False)
TestStoreThatNeverStamps = StoreThatNeverStamps.TestCase
TestStoreThatNeverStamps.settings = settings(examples(6, steps=20), print_blob=False)
