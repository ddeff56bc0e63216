"""Anthropic's memory tool over a store: its files are observations, and no path leads anywhere else."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grail_mem import Memory
from grail_mem.adapters.keyed import Keyed
from grail_mem.adapters.memory_commands import MemoryCommands
from grail_mem.adapters.memory_files import MemoryFiles
from grail_mem.memory.session import Session
from grail_mem.store.access import read_accesses
from grail_mem.store.layout import Layout


@pytest.fixture
def ana(tmp_path: Path) -> Iterator[Session]:
    with (
        Memory(tmp_path / "store", embedder="none") as memory,
        memory.session(user_id="ana", agent_id="helper") as session,
    ):
        yield session


@pytest.fixture
def tool(ana: Session) -> MemoryCommands:
    return MemoryCommands(ana)


def said(tool: MemoryCommands, command: str, **arguments: Any) -> str:
    """What a command that succeeds says."""
    result = tool.call("memory", {"command": command, **arguments})
    assert not result.is_error, result.text
    return result.text


def refused(tool: MemoryCommands, command: str, **arguments: Any) -> str:
    """What a command that fails says."""
    result = tool.call("memory", {"command": command, **arguments})
    assert result.is_error, result.text
    return result.text


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def test_files_are_observations_that_people_read(tool: MemoryCommands, ana: Session) -> None:
    said(tool, "create", path="/memories/clients/acme.md", file_text="# Acme\n\nPays late.\n")
    (one,) = ana.recall().observations
    assert (one.category, one.title, one.content) == ("files/clients", "acme.md", "# Acme\n\nPays late.\n")
    ana.add_observation(content="Pays at once.", title="Bolt", category="files/clients")
    assert said(tool, "view", path="/memories").split("\n")[1:] == [
        "32B\t/memories", "32B\t/memories/clients/", "13B\t/memories/clients/Bolt", "19B\t/memories/clients/acme.md",
    ]  # fmt: skip
    assert said(tool, "view", path="/memories/clients/Bolt").endswith("     1\tPays at once.")


def test_a_view_numbers_lines_and_shows_a_range(tool: MemoryCommands) -> None:
    said(tool, "create", path="/memories/a.txt", file_text="one\ntwo\nthree\n")
    head, *lines = said(tool, "view", path="/memories/a.txt").split("\n")
    assert head == "Here's the content of /memories/a.txt with line numbers:"
    assert lines == ["     1\tone", "     2\ttwo", "     3\tthree", "     4\t"]
    assert said(tool, "view", path="/memories/a.txt", view_range=[2, 3]).split("\n")[1:] == lines[1:3]
    assert said(tool, "view", path="/memories/a.txt", view_range=[3, -1]).split("\n")[1:] == lines[2:]
    assert "1 to 4" in refused(tool, "view", path="/memories/a.txt", view_range=[3, 2])


def test_a_long_file_is_shown_in_parts(ana: Session) -> None:
    tool = MemoryCommands(ana, most_characters=50)
    said(tool, "create", path="/memories/a.txt", file_text="\n".join(f"line number {n}" for n in range(9)))
    first = said(tool, "view", path="/memories/a.txt")
    assert "view_range [4, 9]" in first
    assert "line number 3" not in first
    assert "     4\tline number 3" in said(tool, "view", path="/memories/a.txt", view_range=[4, 9])


def test_edits_change_what_they_name_and_nothing_else(tool: MemoryCommands) -> None:
    said(tool, "create", path="/memories/a.txt", file_text="one\ntwo\ntwo\n")
    assert "lines: 2, 3" in refused(tool, "str_replace", path="/memories/a.txt", old_str="two", new_str="2")
    assert "did not appear" in refused(tool, "str_replace", path="/memories/a.txt", old_str="six", new_str="6")
    assert "did not appear" in refused(tool, "str_replace", path="/memories/a.txt", old_str="", new_str="6")
    assert "     1\t1\n" in said(tool, "str_replace", path="/memories/a.txt", old_str="one", new_str="1")
    assert "[0, 3]" in refused(tool, "insert", path="/memories/a.txt", insert_line=4, insert_text="x")
    said(tool, "insert", path="/memories/a.txt", insert_line=0, insert_text="zero\n")
    said(tool, "insert", path="/memories/a.txt", insert_line=4, insert_text="end")
    said(tool, "str_replace", path="/memories/a.txt", old_str="two\ntwo\n")
    lines = said(tool, "view", path="/memories/a.txt").split("\n")[1:]
    assert [line.partition("\t")[2] for line in lines] == ["zero", "1", "end", ""]


def test_deleting_hides_and_can_be_taken_back(tool: MemoryCommands, ana: Session) -> None:
    said(tool, "create", path="/memories/a/b.txt", file_text="kept")
    said(tool, "create", path="/memories/a/c/d.txt", file_text="kept, too")
    (one,) = ana.recall(category="files/a/c").observations
    said(tool, "delete", path="/memories/a")
    assert "does not exist" in refused(tool, "view", path="/memories/a")
    assert "does not exist" in refused(tool, "delete", path="/memories/a/b.txt")
    ana.restore(one.id)
    assert said(tool, "view", path="/memories/a/c/d.txt").endswith("kept, too")
    said(tool, "create", path="/memories/a/b.txt", file_text="kept")
    assert "cannot be deleted" in refused(tool, "delete", path="/memories")


def test_renaming_moves_and_keeps_the_id(tool: MemoryCommands, ana: Session) -> None:
    said(tool, "create", path="/memories/a/b.txt", file_text="text")
    (before,) = ana.recall().observations
    said(tool, "rename", old_path="/memories/a/b.txt", new_path="/memories/x/y/c.txt")
    (after,) = ana.recall().observations
    assert (after.id, after.category, after.title) == (before.id, "files/x/y", "c.txt")
    said(tool, "rename", old_path="/memories/x", new_path="/memories/z")
    assert said(tool, "view", path="/memories/z/y/c.txt").endswith("text")
    said(tool, "create", path="/memories/o.txt", file_text="other")
    assert "already exists" in refused(tool, "rename", old_path="/memories/o.txt", new_path="/memories/z/y/c.txt")
    assert "already exists" in refused(tool, "rename", old_path="/memories/o.txt", new_path="/memories/z")
    assert "into itself" in refused(tool, "rename", old_path="/memories/z", new_path="/memories/z/y/z")
    assert "does not exist" in refused(tool, "rename", old_path="/memories/none", new_path="/memories/w")
    assert "cannot be renamed" in refused(tool, "rename", old_path="/memories", new_path="/memories/w")


def test_a_file_is_no_folder_and_a_folder_no_file(tool: MemoryCommands) -> None:
    said(tool, "create", path="/memories/a/b.txt", file_text="text")
    assert "is not a file" in refused(tool, "str_replace", path="/memories/a", old_str="x", new_str="y")
    assert "already exists" in refused(tool, "create", path="/memories/a", file_text="x")
    assert "nothing can be below" in refused(tool, "create", path="/memories/a/b.txt/c.txt", file_text="x")
    assert "is a folder" in refused(tool, "create", path="/memories/", file_text="x")


HOSTILE = [
    "/etc/passwd", "memories/a.txt", "", "/", "/memoriesx/a.txt", "/memories/../a.txt", "/memories/a/../../b.txt", "/memories/..",
    "/memories/./a.txt", "/memories//etc/passwd", "/memories/%2e%2e/a.txt", "/memories/%252e%252e/a.txt", "/memories/a%2fb",
    "/memories/..\\..\\a.txt", "/memories/a\x00.txt", "/memories/a\n.txt", "/memories/~root/a.txt", "/memories/C:/a.txt",
    "/memories/\u202etxt.a", "/memories/ａ／../b", "/memories/.grail/x", "/memories/.hidden", "/memories/CON", "/memories/a.",
    "/memories/" + "a/" * 40 + "b", "/memories/" + "n" * 500, "file:///memories/a", "/MEMORIES/a.txt", 7, None, ["/memories/a"], {},
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: repr(path)[:40])
def test_a_path_that_leads_elsewhere_is_refused(tool: MemoryCommands, ana: Session, path: object) -> None:
    said(tool, "create", path="/memories/b.txt", file_text="here")
    before = tree(ana.root.parent)
    refused(tool, "create", path=path, file_text="x")
    refused(tool, "str_replace", path=path, old_str="here", new_str="y")
    refused(tool, "insert", path=path, insert_line=0, insert_text="y")
    refused(tool, "delete", path=path)
    refused(tool, "rename", old_path="/memories/b.txt", new_path=path)
    refused(tool, "rename", old_path=path, new_path="/memories/c.txt")
    refused(tool, "view", path=path)
    assert tree(ana.root.parent) == before


def test_a_link_out_of_the_store_is_not_followed(tool: MemoryCommands, ana: Session, tmp_path: Path) -> None:
    said(tool, "create", path="/memories/b.txt", file_text="here")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("---\ntitle: secret.md\n---\n\nThe code is 4711.\n")
    folder = ana.root / "memories" / "files"
    os.symlink(outside, folder / "link")
    os.symlink(outside / "secret.md", folder / "secret.md")
    before = tree(outside)
    assert "4711" not in said(tool, "view", path="/memories")
    refused(tool, "view", path="/memories/link/secret.md")
    refused(tool, "view", path="/memories/secret.md")
    refused(tool, "create", path="/memories/link/new.txt", file_text="x")
    refused(tool, "rename", old_path="/memories/b.txt", new_path="/memories/link/b.txt")
    assert tree(outside) == before


WRONG = [
    ({}, "command must be one of"),
    ({"command": "explode"}, "command must be one of"),
    ({"command": ["view"]}, "command must be one of"),
    ({"command": "view"}, "needs path"),
    ({"command": "create", "path": "/memories/a", "file_text": 7}, "file_text must be text"),
    ({"command": "create"}, "create needs path. create needs file_text."),
    ({"command": "insert", "path": "/memories/a", "insert_line": "1", "insert_text": "x"}, "whole number"),
    ({"command": "insert", "path": "/memories/a", "insert_line": True, "insert_text": "x"}, "whole number"),
    ({"command": "view", "path": "/memories/a", "view_range": [1]}, "two whole numbers"),
    ({"command": "view", "path": "/memories/a", "view_range": "1-2"}, "two whole numbers"),
    ({"command": "view", "path": "/memories/a", "view_range": [0.5, 2]}, "two whole numbers"),
    ("no json", "no JSON"),
    ("[" * 9_000, "no JSON"),
    ("[1]", "must be an object"),
    (None, "must be an object"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG)
def test_what_a_model_sends_wrongly_is_told(tool: MemoryCommands, arguments: Any, told: str) -> None:
    result = tool.call("memory", arguments)
    assert result.is_error
    assert told in result.text
    assert result.structured["ok"] is False


def test_another_name_of_a_tool_is_told(tool: MemoryCommands) -> None:
    assert "There is no tool 'memo'" in tool.call("memo", {"command": "view", "path": "/memories"}).text
    assert tool.definitions() == [{"type": "memory_20250818", "name": "memory"}]


def test_what_the_store_finds_in_a_text_is_told(tool: MemoryCommands, ana: Session) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    assert "Note: " in said(tool, "create", path="/memories/key.txt", file_text=token)
    (ana.root / "grail.yaml").write_text("screening: refuse\n")
    with Memory(ana.root, embedder="none") as strict:
        told = refused(MemoryCommands(strict), "create", path="/memories/key.txt", file_text=token)
        assert "github token" in told
        assert token not in told
        refused(MemoryCommands(strict), "view", path="/memories/key.txt")


def test_a_scope_of_several_is_shared_and_the_own_one_is_not(tmp_path: Path) -> None:
    with Memory(tmp_path / "store", embedder="none") as memory:
        for user in ("ana", "ben"):
            memory.grant(f"user:{user}", "project:tea", ["read", "write", "forget"])
        with memory.session(user_id="ana", agent_id="a") as ana, memory.session(user_id="ben", agent_id="a") as ben:
            shared = [MemoryCommands(who, scope="project:tea") for who in (ana, ben)]
            said(MemoryCommands(ana), "create", path="/memories/own.txt", file_text="mine")
            said(shared[0], "create", path="/memories/plan.txt", file_text="ours")
            assert said(shared[1], "view", path="/memories/plan.txt").endswith("ours")
            refused(MemoryCommands(ben), "view", path="/memories/plan.txt")
            refused(MemoryCommands(ben), "view", path="/memories/own.txt")
            refused(shared[1], "view", path="/memories/own.txt")
            refused(MemoryCommands(ben, scope="agent:a/ana"), "view", path="/memories/own.txt")
            refused(MemoryCommands(ben, scope="agent:a/ana"), "create", path="/memories/new.txt", file_text="x")


def test_two_of_one_name_are_both_reached(tool: MemoryCommands, ana: Session) -> None:
    first = ana.add_observation(content="older", title="a.txt", category="files")
    ana.add_observation(content="newer", title="a.txt", category="files")
    assert said(tool, "view", path="/memories/a.txt").endswith("newer")
    assert said(tool, "view", path=f"/memories/{first.path.rpartition('/')[2]}").endswith("older")


TEXTS = st.text(st.characters(exclude_categories=()) | st.sampled_from("\r\n\t \x00\x85\u2028\ufeff"), max_size=60)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(tmp_path_factory.mktemp("bytes"), embedder="none") as memory:
        yield memory


NUMBERS = itertools.count()


@settings(max_examples=25)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3))
def test_a_text_reads_back_byte_for_byte(store: Memory, texts: list[str]) -> None:
    """Whatever a model wrote, made or overwritten, and whoever reads it from the disk."""
    name = ("notes", f"{next(NUMBERS)}.txt")
    files = MemoryFiles(store)
    files.write(name, texts[0])
    for text in texts[1:]:
        files.overwrite(files.get(name), text)
    assert files.get(name).text == texts[-1]
    with Memory(store.root, embedder="none") as other:
        assert MemoryFiles(other).get(name).text == texts[-1]


def test_two_programs_at_once_lose_no_change(tmp_path: Path) -> None:
    """Each has a memory of its own, as two processes have; a change reads the file and writes it."""
    root = tmp_path / "store"
    with Memory(root, embedder="none") as memory:
        memory.init()
        said(MemoryCommands(memory), "create", path="/memories/a.md", file_text="end\n")

    def insert(name: str) -> list[bool]:
        with Memory(root, embedder="none") as memory:
            tool = MemoryCommands(memory)
            made = {"command": "insert", "path": "/memories/a.md", "insert_line": 0}
            lines = [tool.call("memory", made | {"insert_text": f"{name}{n}\n"}).is_error for n in range(5)]
            return [
                *lines,
                tool.call("memory", {"command": "create", "path": "/memories/b.md", "file_text": name}).is_error,
            ]

    with ThreadPoolExecutor(2) as pool:
        refused = sorted(itertools.chain.from_iterable(pool.map(insert, "xy")))
    assert refused == [*[False] * 11, True]
    with Memory(root, embedder="none") as memory:
        file, other = MemoryFiles(memory).below()
        assert sorted(file.text.split()) == sorted(["end", *(f"{name}{n}" for name in "xy" for n in range(5))])
        assert other.names == ("b.md",)


def test_what_is_looked_at_by_its_name_counts_as_recalled(tmp_path: Path) -> None:
    """So neither a file that is read every day nor a value of a framework fades; a list of files is no look at one."""
    (tmp_path / "grail.yaml").write_text('access_log: "on"\n')
    with Memory(tmp_path, embedder="none") as memory:
        tool, kept = MemoryCommands(memory), Keyed(memory, folder="kept", mark="test")
        said(tool, "create", path="/memories/a.md", file_text="Tea.")
        said(tool, "create", path="/memories/b.md", file_text="Coffee.")
        kept.put(("n",), "k", {"v": 1})
        said(tool, "view", path="/memories")
        assert read_accesses(Layout(tmp_path)).days == {}
        said(tool, "view", path="/memories/a.md")
        value = kept.get(("n",), "k")
        (file,) = [file for file in MemoryFiles(memory).below() if file.names == ("a.md",)]
        assert value is not None
        assert read_accesses(Layout(tmp_path)).days.keys() == {file.observation.id, value.id}
