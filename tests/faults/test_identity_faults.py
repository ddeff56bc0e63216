"""Faults of duplicates, forgetting, isolation and start-up that other systems had, as far as they can exist here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fault_stores import REPO, titles, write

from grail_mem import InputError, Memory


@pytest.mark.parametrize("content", ["", " ", "\n\t \r\n", "\u3000\u2003", None, 5, ["x"], b"x", {}])
def test_f36_blank_input_is_no_memory(tmp_path: Path, content: Any) -> None:
    """Nothing, white space or no text is refused on add, batch, update and append; nothing arises from it."""
    with Memory(tmp_path) as memory:
        with pytest.raises(InputError, match="content"):
            memory.add_observation(content=content)
        with pytest.raises(InputError, match="content"):
            memory.add_observations([{"content": "fine"}, {"title": "only a title", "content": content}])
        assert memory.recall().abstention.reason == "nothing_stored"  # type: ignore[union-attr]  # nothing was stored
        assert not list(tmp_path.rglob("*.md"))
        id_ = memory.add_observation(title="t", content="c").id
        with pytest.raises(InputError, match="content"):
            memory.update(id_, content=content)
        with pytest.raises(InputError, match=r"append|nothing to change"):
            memory.update(id_, append=content)
        assert memory.get(id_).content == "c"


@pytest.mark.parametrize(
    "text", [" \n\t\n", "---\n---\n", "---\ntags: [x]\n---\n", "---\ntitle: ''\nkind: episodic\n---\n  \n", "\ufeff\n"]
)
def test_f36_a_file_that_says_nothing_is_no_memory(tmp_path: Path, text: str) -> None:
    """A file without title and body, frontmatter or not, is reported and is no observation; it stays as it is."""
    file = write(tmp_path, "alpha/blank.md", text)
    write(tmp_path, "alpha/title.md", "---\ntitle: a title is a statement\n---\n")
    with Memory(tmp_path) as memory:
        for step in (memory.sync, memory.compact, memory.rebuild):
            step()
            assert titles(memory) == ["a title is a statement"]
        assert [p.where for p in memory.check().problems] == ["memories/alpha/blank.md"]
        assert memory.recall(tags=["x"]).observations == ()
    assert file.read_text() == text


def test_f37_identical_names_are_one_entity(tmp_path: Path) -> None:
    """Case, spaces, width and Unicode form make no second entity, whoever wrote the name, in lists, SQL, graph, filter."""
    names = ["DGX", "dgx", "dgx ", " DgX\t", "\uff24\uff27\uff38", "D\u200bGX"]
    write(tmp_path, "alpha/hand.md", "---\ntitle: hand\nentities: [ 'dGx  ' ]\n---\nbody\n")
    with Memory(tmp_path) as memory:
        for number, name in enumerate(names):
            memory.add_observation(
                content=f"n {number}", category="beta", entities=[name, {"name": name, "type": ""}],
                relationships=[{"source": name, "target": "Rack", "relationship_type": "IN"}],
            )  # fmt: skip
        for _ in range(2):
            listed = {item["key"]: item["n_observations"] for item in memory.list_entities().items}
            assert listed == {"dgx": len(names) + 1, "rack": len(names)}
            assert sorted(memory.graph().nodes) == ["dgx", "rack"]
            assert memory.graph().number_of_edges("dgx", "rack") == len(names)
            for name in names:
                answer = memory.recall(entity_names=[name])
                assert len(answer.observations) == len(names) + 1
                assert len(answer.entities) == 1
            memory.compact()


def test_f37_names_that_differ_are_not_merged(tmp_path: Path) -> None:
    """What only resembles another name stays an entity of its own."""
    names = ["Ann", "Anna", "Änn", "v1.2", "v1.20", "Java", "JavaScript", "DGX-1", "DGX 1"]
    with Memory(tmp_path) as memory:
        memory.add_observation(content="c", entities=names)
        assert memory.list_entities().total == len(names)
        assert [e.name for e in memory.recall(entity_names=["ann"]).entities] == ["Ann"]


@pytest.mark.parametrize("compacted", [False, True], ids=["delta", "snapshot"])
def test_f43_what_was_hidden_may_be_written_again(tmp_path: Path, compacted: bool) -> None:
    """Writing on purpose what was hidden makes a new observation, with a notice; the old one stays hidden."""
    said = {"title": "t", "content": "the same again", "category": "alpha", "tags": ["x"], "entities": ["E"]}
    with Memory(tmp_path) as memory:
        old = memory.add_observation(**said)  # type: ignore[arg-type]  # the values are those of the call
        memory.hide(old.id, reason="wrong")
        if compacted:
            memory.compact()
        with Memory(tmp_path) as other:
            new = other.add_observation(**said)  # type: ignore[arg-type]  # as above
        assert new.created
        assert new.id != old.id
        assert any("hidden" in warning for warning in new.warnings)
        assert [o.id for o in memory.recall().observations] == [new.id]
        again = memory.add_observation(**said)  # type: ignore[arg-type]  # as above
        assert (again.created, again.id) == (False, new.id)
        memory.rebuild()
        assert [o.id for o in memory.recall().observations] == [new.id]
        assert memory.restore(old.id).changed
        assert {o.id for o in memory.recall().observations} == {old.id, new.id}


CLAIMS = """\
scope: org:everything
author: security-team
agent: root
community: secret/board
grants: [all]
actor: owner
role: admin
principal: root
trust: high
owner: {id: 1}
"""


def test_f44_frontmatter_claims_gain_nothing(tmp_path: Path) -> None:
    """Keys by which a file claims an author, rights or another folder are kept as text and decide nothing."""
    write(tmp_path, "alpha/claims.md", f"---\ntitle: t\ncategory: secret/board\n{CLAIMS}---\nbody\n")
    with Memory(tmp_path, actor="reader") as memory:
        memory.sync()
        memory.compact()
        (found,) = memory.recall().observations
        assert (found.category, found.scope) == ("alpha", "org:everything")
        assert {
            "author",
            "agent",
            "community",
            "grants",
            "actor",
            "role",
            "principal",
            "trust",
            "owner",
        } == found.extra.keys()
        assert titles(memory, category="secret") == []
        assert {item["category"] for item in memory.list_categories().items} == {"alpha"}
        entries = [
            json.loads(line) for p in (tmp_path / ".grail/ledger").iterdir() for line in p.read_text().splitlines()
        ]
        assert {entry["actor"] for entry in entries} == {"reader"}
        assert "security-team" not in memory.recall().text


@pytest.mark.parametrize("value", ["[a, b]", "{a: 1}", "5", "true", "2026-01-01", "''", "null", '"\\0"'])
def test_f44_odd_values_of_those_keys_crash_nothing(tmp_path: Path, value: str) -> None:
    """Whatever YAML stands behind scope and author, the note is read, compacted, edited and returned."""
    write(tmp_path, "alpha/odd.md", f"---\ntitle: t\nscope: {value}\nauthor: {value}\n---\nbody\n")
    with Memory(tmp_path) as memory:
        memory.sync()
        memory.compact()
        (found,) = memory.recall().observations
        assert found.scope is None or isinstance(found.scope, str)
        memory.update(found.id, tags=["x"])
        assert memory.get(found.id).tags == ("x",)
        assert memory.recall().to_dict()["observations"][0]["title"] == "t"


def test_f44_a_draft_cannot_name_its_actor(tmp_path: Path) -> None:
    """Who wrote is said by the application that calls, never by the content that it hands on."""
    with Memory(tmp_path, actor="app") as memory:
        for name in ("actor", "author", "agent", "grants", "community", "id", "recorded_at"):
            with pytest.raises(InputError, match=f"'{name}'"):
                memory.add_observations([{"content": "c", name: "root"}])


def test_f45_equal_content_elsewhere_is_an_observation_of_its_own(tmp_path: Path) -> None:
    """The same words in another category, scope, source, speaker or attribute are two records; neither takes the other over."""
    said = {"title": "t", "content": "same words"}
    variants: list[dict[str, str]] = [
        {"category": "alpha"}, {"category": "beta"}, {"category": "alpha/sub"}, {"category": "alpha", "scope": "user:1"},
        {"category": "alpha", "scope": "user:2"}, {"category": "alpha", "source": "s"}, {"category": "alpha", "speaker": "Ann"}, {"category": "alpha", "attribute": "a"},
    ]  # fmt: skip
    with Memory(tmp_path) as memory:
        made = [memory.add_observation(**said, **v, actor=f"agent-{n}") for n, v in enumerate(variants)]  # type: ignore[arg-type]  # all texts
        assert all(written.created for written in made)
        memory.compact()
        again = [memory.add_observation(**said, **v, actor="other") for v in variants]  # type: ignore[arg-type]  # all texts
        assert [(w.created, w.id) for w in again] == [(False, w.id) for w in made]
        entries = [
            json.loads(line) for p in (tmp_path / ".grail/ledger").iterdir() for line in p.read_text().splitlines()
        ]
        assert {e["id"]: e["actor"] for e in entries} == {w.id: f"agent-{n}" for n, w in enumerate(made)}


IMPORT = """
import os, sys, threading
before = dict(os.environ)
import grail_mem
from grail_mem import Memory
assert dict(os.environ) == before
assert threading.active_count() == 1
heavy = sorted({"duckdb", "pyarrow", "pandas", "numpy", "networkx", "dotenv"} & set(sys.modules))
assert not heavy, heavy
import logging
assert not logging.getLogger().handlers
assert all(isinstance(h, logging.NullHandler) for h in logging.getLogger("grail_mem").handlers)
with Memory("store") as memory:
    print(memory.add_observation(content="c").path.split("/")[1], memory.settings.actor)
"""


def test_f55_importing_reads_no_env_file_and_does_nothing(tmp_path: Path) -> None:
    """A `.env` or settings in the working folder change nothing; importing makes no file, thread, handler or variable."""
    other = tmp_path / "elsewhere"
    (tmp_path / ".env").write_text(
        f"GRAIL_ROOT={other}\nGRAIL_ACTOR=mallory\nGRAIL_DEFAULT_CATEGORY=taken\nPYTHONPATH=/x\n"
    )
    (tmp_path / "grail.yaml").write_text("actor: mallory\ndefault_category: taken\n")
    env = {name: value for name, value in os.environ.items() if not name.startswith("GRAIL")}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], cwd=tmp_path, env=env | {"PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "inbox owner\n", "")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".env", "grail.yaml", "store"]
