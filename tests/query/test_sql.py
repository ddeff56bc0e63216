"""Read-only SQL over the views, and lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from grail_mem import IndexUnusableError, InputError, Memory
from grail_mem.query.sql import VIEWS


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Two rows in the snapshot, one in the delta, one hidden."""
    memory = Memory(tmp_path_factory.mktemp("store"))
    acme = [{"name": "Acme", "type": "ORGANIZATION"}]
    memory.add_observation(
        title="One", content="1", category="work/acme", tags=["x"], entities=acme,
        relationships=[{"source": "Acme", "target": "Postgres", "relationship_type": "CHOSE"}],
    )  # fmt: skip
    hidden = memory.add_observation(title="Gone", content="2", category="work/gone", tags=["y"], entities=["Ghost"])
    memory.compact()
    memory.add_observation(title="Two", content="3", category="work", tags=["x"], entities=["ACME "])
    memory.hide(hidden.id)
    return memory


def rows(memory: Memory, text: str, params: object = None) -> list[dict[str, object]]:
    return memory.sql(text, params).to_pylist()  # type: ignore[arg-type,no-any-return]  # tests send odd ones


def test_the_views_hold_what_counts_and_nothing_else(memory: Memory) -> None:
    """Snapshot, delta and tombstones are one."""
    assert [r["title"] for r in rows(memory, "select title from observations order by 1")] == ["One", "Two"]
    assert rows(memory, "select tag, count(*) as n from tags group by 1") == [{"tag": "x", "n": 2}]
    assert rows(memory, "select key, n_observations, types from entities order by key") == [
        {"key": "acme", "n_observations": 2, "types": ["ORGANIZATION"]},
        {"key": "postgres", "n_observations": 1, "types": None},
    ]
    assert rows(
        memory, "select community, level, n_observations, n_directly, n_entities from communities order by 1"
    ) == [
        {"community": "work", "level": 1, "n_observations": 2, "n_directly": 1, "n_entities": 2},
        {"community": "work/acme", "level": 2, "n_observations": 1, "n_directly": 1, "n_entities": 2},
    ]
    assert rows(memory, "select source, relationship_type, target from relationships") == [
        {"source": "Acme", "relationship_type": "CHOSE", "target": "Postgres"}
    ]


def test_values_are_bound(memory: Memory) -> None:
    """By position and by name."""
    assert len(rows(memory, "select * from observations where title = ?", ["One"])) == 1
    assert len(rows(memory, "select * from observations where title = $t", {"t": "' or 1=1 --"})) == 0


@pytest.mark.parametrize(
    "text",
    [
        "insert into delta select * from delta",
        "with q as (delete from delta returning *) select * from q",
        "with q as (insert into gone values (1) returning *) select * from q",
        "drop view observations",
        "create table t(a int)",
        "attach ':memory:' as y",
        "attach '/tmp/x.db' as y",
        "copy (select 1) to '/tmp/grail_out.csv'",
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/passwd')",
        "select * from glob('/etc/*')",
        "select * from '/etc/passwd'",
        "select * from read_parquet('/tmp/*.parquet')",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "pragma database_list",
        "export database '/tmp/x'",
        "select 1; select 2",
        "",
        "-- nothing",
        "call pragma_version()",
        "begin",
        "checkpoint",
        "select * from nowhere",
        "selec 1",
    ],
)
def test_nothing_but_one_reading_statement_is_accepted(memory: Memory, text: str) -> None:
    """No way to write, attach, read files or load anything; a clear refusal and an unharmed session."""
    with pytest.raises(InputError):
        memory.sql(text)
    assert rows(memory, "select count(*) as n from observations") == [{"n": 2}]
    assert not Path("/tmp/grail_out.csv").exists()


def test_python_variables_are_not_tables(memory: Memory) -> None:
    """What the caller's program holds is not reachable."""
    import pyarrow as pa

    secret = pa.table({"a": [1]})
    with pytest.raises(InputError):
        memory.sql("select * from secret")
    assert secret.num_rows == 1


def test_every_view_can_be_asked(memory: Memory) -> None:
    """And has a description."""
    for name, (_, about) in VIEWS.items():
        assert about
        memory.sql(f"select * from {name}")


def test_a_new_write_is_in_the_next_answer(tmp_path: Path) -> None:
    """The session follows the store."""
    with Memory(tmp_path) as memory, Memory(tmp_path) as other:
        for n in range(1, 4):
            other.add_observation(content=f"{n}")
            assert rows(memory, "select count(*) as n from observations") == [{"n": n}]
        other.compact()
        assert rows(memory, "select count(*) as n from observations") == [{"n": 3}]


def test_lists_page_through_everything_once(tmp_path: Path) -> None:
    """With a total, in a stable order."""
    with Memory(tmp_path) as memory:
        memory.add_observations(
            [
                {"content": f"{i}", "category": f"c/{i % 7}", "tags": [f"t{i % 5}"], "entities": [f"E{i % 9}"]}
                for i in range(40)
            ]
        )
        for lister, total in (
            (memory.list_entities, 9), (memory.list_tags, 5), (memory.list_communities, 8), (memory.list_categories, 8),
        ):  # fmt: skip
            items, cursor = [], None
            while True:
                page = lister(limit=2, cursor=cursor)
                assert page.total == total
                items += page.items
                cursor = page.cursor
                if cursor is None:
                    break
            assert items == list(lister(limit=100).items)
            assert len(items) == total
        with pytest.raises(InputError, match="cursor"):
            memory.list_tags(cursor=memory.list_entities(limit=1).cursor)
        with pytest.raises(InputError, match="cursor"):
            memory.list_tags(cursor="W1tb" * 2000)  # base64 of brackets, deeper than JSON is read
        with pytest.raises(InputError, match="limit"):
            memory.list_tags(limit=0)


def test_the_graph_keeps_direction_and_every_statement(tmp_path: Path) -> None:
    """One edge a statement, from source to target."""
    with Memory(tmp_path) as memory:
        for n in range(2):
            memory.add_observation(
                content=f"{n}",
                relationships=[{"source": "A", "target": "b", "relationship_type": "DEPENDS_ON", "weight": 2}],
            )
        graph = memory.graph()
    assert sorted(graph.nodes) == ["a", "b"]
    assert [(u, v, d["relationship_type"], d["weight"]) for u, v, d in graph.edges(data=True)] == [
        ("a", "b", "DEPENDS_ON", 2.0)
    ] * 2
    assert graph.nodes["b"] == {"name": "b", "types": [], "n_observations": 2}


def test_sql_over_a_snapshot_that_was_removed_meanwhile_is_not_called_wrong(tmp_path: Path) -> None:
    """The session says that its file is gone, so that its user opens the newer one; the question itself was right."""
    with Memory(tmp_path) as memory:
        memory.add_observation(content="one", category="a")
        memory.compact()
        session = memory._session()
        with Memory(tmp_path) as other:
            other.rebuild()
        assert not session.path.exists()
        with pytest.raises(IndexUnusableError):
            session.ask("SELECT count(*) FROM observations")
        assert memory.sql("SELECT count(*) AS n FROM observations").to_pylist() == [{"n": 1}]


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("as_owner", [False, True])
def test_lists_and_the_current_views_count_what_recall_gives(tmp_path: Path, compacted: bool, as_owner: bool) -> None:
    """What holds now: neither superseded, archived, expired nor of a time to come; with history, everything."""
    past, future = "2020-01-01", "2099-01-01"
    spans = [
        {}, {"valid_from": past}, {"valid_from": future}, {"valid_until": future}, {"expires_at": future},
        {"status": "provisional"}, {"status": "archived"}, {"status": "superseded"},
        {"status": "superseded", "valid_until": future}, {"valid_until": "2020-02-01", "observed_at": past},
        {"expires_at": "2020-02-01", "observed_at": past}, {"valid_from": past, "valid_until": future},
    ]  # fmt: skip
    with Memory(tmp_path) as memory:
        for number, span in enumerate(spans):
            memory.add_observation(
                title=f"N{number}", content="-", category=f"c{number}", tags=["t", f"t{number}"], entities=["E", f"E{number}"], **span
            )  # fmt: skip
        if compacted:
            memory.compact()
        memory.grant("*", "org:store", ["read"])
        asked = memory if as_owner else memory.session(user_id="u", agent_id="a")
        found = [o.title for o in asked.recall(limit=100).observations]
        everything = [o.title for o in asked.recall(limit=100, include_history=True).observations]
        assert len(everything) == len(spans) > len(found) > 1
        for titles, view, history in ((found, "current_observations", False), (everything, "observations", True)):
            assert sorted(r["title"] for r in asked.sql(f"select title from {view}").to_pylist()) == sorted(titles)
            numbers = sorted(title[1:] for title in titles)
            categories = asked.list_categories(include_history=history).items
            assert sorted(item["category"][1:] for item in categories) == numbers
            assert asked.list_communities(include_history=history).total == len(titles)
            for listed, name in ((asked.list_tags, "tag"), (asked.list_entities, "key")):
                items = listed(include_history=history).items
                assert items[0]["n_observations"] == len(titles)
                assert sorted(item[name][1:] for item in items[1:]) == numbers
        assert set(asked.graph()) == {"e", *(f"e{title[1:]}" for title in found)}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in VIEWS if not name.endswith("rows")])
def test_what_is_asked_again_is_answered_alike(tmp_path: Path, name: str) -> None:
    """A view that several questions rest on answers each as it did the first, and a change counts at once."""
    with Memory(tmp_path, embedder="none") as memory:
        draft = {"category": "a/b", "tags": ["t"], "entities": ["Acme"],
                 "relationships": [{"source": "Acme", "target": "Bolt", "relationship_type": "OWNS"}]}  # fmt: skip
        memory.add_observations([{"content": f"Note {n}.", **draft} for n in range(3)])
        memory.compact()
        text = f"select * from {name} order by all"
        first = rows(memory, text)
        assert first
        assert [rows(memory, text) for _ in range(3)] == [first] * 3
        made = memory.add_observation(content="Another.", **draft)
        assert rows(memory, text) != first
        memory.hide(made.id)
        assert rows(memory, text) == first
