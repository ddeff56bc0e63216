"""Exports as a zip of markdown, a graph and a table say what recall says, and go only where they may."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import networkx as nx
import pandas as pd
import pyarrow.parquet as pq
import pytest

from grail_mem import ConflictError, InputError, Memory


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    with Memory(root) as memory:
        old = memory.add_observation(
            title="Old", content="Acme uses MySQL.", category="work/acme", tags=["db"], observed_at="2025-01-01",
            entities=[{"name": "Acme", "type": "ORGANIZATION"}], relationships=[{"source": "Acme", "target": "MySQL", "relationship_type": "USES"}],
        )  # fmt: skip
        memory.add_observation(
            title="New", content="Acme uses Postgres <&> \x0b.", category="work/acme", supersedes=old.id, observed_at="2026-01-01",
            entities=[{"name": "acme"}, {"name": "Postgres", "description": 'A "database" & more', "aliases": ["PG"]}],
            relationships=[{"source": "Acme", "target": "Postgres", "relationship_type": "USES", "weight": 0.5},
                           {"source": "Acme", "target": "Postgres", "relationship_type": "LIKES"}],
        )  # fmt: skip
        memory.add_observation(
            title="Again", content="Acme still uses Postgres.", category="home", scope="user:ann", kind="episodic",
            relationships=[{"source": "ACME", "target": "Postgres", "relationship_type": "uses", "description": "as before"}],
        )  # fmt: skip
        hidden = memory.add_observation(title="Hidden", content="Nobody sees Zed.", entities=[{"name": "Zed"}])
        memory.hide(hidden.id, reason="asked to")
    notes = root / "memories/notes"
    notes.mkdir()
    (notes / "hand.md").write_bytes(b"---\r\ntitle: By hand # kept\r\nodd: [1, {a: b}]\r\n---\r\nText.\r\n")
    (root / "sources").mkdir()
    (root / "sources/talk.txt").write_text("Said so.")
    with Memory(root) as memory:
        memory.sync(stamp=False)
    return root


def said(memory: Memory, **asked: Any) -> list[dict[str, Any]]:
    return [o.to_dict() for o in memory.recall(limit=1000, include_history=True, **asked).observations]


def test_a_zip_of_markdown_is_the_folder_and_gives_the_same_answers(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory, Memory(tmp_path / "new") as new:
        done = memory.export(tmp_path / "e.zip", format="markdown")
        assert (done.n_observations, done.n_sources, done.format) == (4, 1, "markdown")
        with ZipFile(tmp_path / "e.zip") as archive:
            names = set(archive.namelist())
            assert all(archive.read(n) == (store / n).read_bytes() for n in names if n.endswith((".md", ".txt")))
        assert not any("hidden" in name for name in names)
        back = new.import_file(tmp_path / "e.zip")
        assert (back.form, back.n_added, back.n_sources, back.skipped) == ("markdown", 4, 1, [])
        assert back.n_records == back.n_added + back.n_beside
        assert said(new) == said(memory)
        assert not new.import_file(tmp_path / "e.zip").changed
        new.rebuild()
        assert said(new) == said(memory)
        memory.export(tmp_path / "again.zip", format="markdown")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "e.zip").read_bytes()
    with ZipFile(tmp_path / "e.zip") as archive, Memory(tmp_path / "third") as third:
        archive.extractall(tmp_path / "unpacked")
        assert third.import_file(tmp_path / "unpacked").n_added == 4


def test_a_changed_zip_brings_nothing_where_it_may_not(store: Path, tmp_path: Path) -> None:
    header = {
        "type": "grail_markdown",
        "version": 1,
        "notes": "memories",
        "adopted": {"memories/a.md": 7, "memories/b.md": {"id": "x"}},
    }
    with ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("grail-export.json", json.dumps(header))
        for name in (
            "memories/a.md",
            "memories/b.md",
            "../out.md",
            "grail.yaml",
            ".grail/ledger/x.jsonl",
            "memories/.git/x.md",
            "sources/../y",
        ):
            archive.writestr(name, "Said.\n")
    with Memory(tmp_path / "new") as memory:
        done = memory.import_file(tmp_path / "e.zip")
        assert done.n_records == done.n_added + done.n_beside + len(done.skipped)
        assert done.n_added == 2
        assert "Said" not in (tmp_path / "new/grail.yaml").read_text()
    assert not list(tmp_path.rglob("out.md"))


def test_a_table_is_what_recall_answers(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        memory.export(tmp_path / "e.parquet", format="parquet")
        pd.testing.assert_frame_equal(
            pd.read_parquet(tmp_path / "e.parquet"), memory.recall(limit=1000, include_history=True).df()
        )
        memory.export(tmp_path / "now.parquet", format="parquet", include_history=False)
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "now.parquet"), memory.recall(limit=1000).df())
        memory.export(tmp_path / "work.parquet", format="parquet", category="work", tags=["db"])
        assert pd.read_parquet(tmp_path / "work.parquet")["title"].tolist() == ["Old"]
        none = memory.export(tmp_path / "none.parquet", format="parquet", tags=["none"])
        assert none.n_observations == 0
        assert pq.read_schema(tmp_path / "none.parquet").names == memory.recall().to_arrow().schema.names


def test_a_graph_has_every_entity_and_relationship_once(store: Path, tmp_path: Path) -> None:
    with Memory(store) as memory:
        done = memory.export(tmp_path / "e.graphml", format="graphml")
        found = memory.recall(limit=1000, include_history=True)
    graph = nx.read_graphml(tmp_path / "e.graphml")
    nodes = {data["label"]: data for _, data in graph.nodes(data=True)}
    assert (
        set(nodes) == {"Acme", "MySQL", "Postgres"}
        or set(nodes) == {"acme", "MySQL", "Postgres"}
        or set(nodes) == {"ACME", "MySQL", "Postgres"}
    )
    assert done.n_entities == graph.number_of_nodes() == len({e.key for e in found.entities})
    edges = sorted(
        (nodes_of(graph, s), nodes_of(graph, t), d["relationship_type"].upper(), d["n_observations"])
        for s, t, d in graph.edges(data=True)
    )
    assert [(s.lower(), t, kind, n) for s, t, kind, n in edges] == [
        ("acme", "MySQL", "USES", 1), ("acme", "Postgres", "LIKES", 1), ("acme", "Postgres", "USES", 2)
    ]  # fmt: skip
    assert done.n_relationships == 3
    assert nodes["Postgres"]["description"] == 'A "database" & more'
    assert nodes["Postgres"]["aliases"] == "PG"
    acme = next(data for label, data in nodes.items() if label.lower() == "acme")
    assert (acme["type"], acme["first_observed_at"]) == ("ORGANIZATION", "2025-01-01T00:00:00Z")


def nodes_of(graph: Any, node: str) -> str:
    return str(graph.nodes[node]["label"])


@pytest.mark.parametrize("form", ["jsonl", "markdown", "graphml", "parquet"])
def test_a_format_goes_where_it_may_and_never_over_a_file(form: str, store: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("precious")
    with Memory(store) as memory:
        with pytest.raises(ConflictError):
            memory.export(tmp_path / "there", format=form)
        with pytest.raises(InputError, match="inside the store"):
            memory.export(store / "memories/x", format=form)
        with pytest.raises(InputError, match="no format"):
            memory.export(tmp_path / "x", format="csv")
        planned = memory.export(tmp_path / "x", format=form, dry_run=True)
        assert not (tmp_path / "x").exists()
        stream = io.BytesIO()
        streamed = memory.export(stream, format=form)
        done = memory.export(tmp_path / "there", format=form, force=True)
        assert (tmp_path / "there").read_bytes() == stream.getvalue() != b"precious"
        assert planned.n_observations == streamed.n_observations == done.n_observations
        (tmp_path / "out").mkdir()
        assert memory.export(tmp_path / "out", format=form).path.endswith((".jsonl", ".zip", ".graphml", ".parquet"))


@pytest.mark.parametrize("form", ["jsonl", "markdown", "graphml", "parquet"])
def test_a_session_exports_in_any_format_what_it_may_read(form: str, store: Path) -> None:
    with Memory(store) as memory:
        memory.grant("user:ann", "user:ann", ["read"])
        with memory.session(user_id="ann", agent_id="x") as session:
            stream = io.BytesIO()
            assert session.export(stream, format=form).n_observations == 1
    data = stream.getvalue()
    assert b"MySQL" not in data
    assert b"talk.txt" not in data
    if form == "markdown":
        with ZipFile(stream) as archive:
            assert len(archive.namelist()) == 2
