"""Adding observations, through the public face."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grail_mem import InputError, Memory


def test_an_added_observation_is_a_file_that_says_everything(tmp_path: Path) -> None:
    """The frontmatter is complete: id, entities and relationships included."""
    with Memory(tmp_path) as memory:
        written = memory.add_observation(
            title="Acme picked Postgres over DynamoDB",
            content="Cost and joins decided it.",
            category="work/clients/acme",
            tags=["decision", "#architecture"],
            entities=[{"name": "Acme", "type": "ORGANIZATION"}],
            relationships=[{"source": "Acme", "target": "Postgres", "relationship_type": "CHOSE"}],
            observed_at="2026-06-02T14:23:00Z",
            confidence=0.95,
            source="architecture review meeting",
        )
    text = (tmp_path / written.path).read_text()
    assert text == (
        "---\n"
        f"id: {written.id}\n"
        "title: Acme picked Postgres over DynamoDB\n"
        "observed_at: 2026-06-02T14:23:00Z\n"
        "category: work/clients/acme\n"
        "tags: [decision, architecture]\n"
        "confidence: 0.95\n"
        "source: architecture review meeting\n"
        "entities:\n"
        "  - {name: Acme, type: ORGANIZATION}\n"
        "  - {name: Postgres}\n"
        "relationships:\n"
        "  - {source: Acme, target: Postgres, relationship_type: CHOSE}\n"
        "---\n\n"
        "Cost and joins decided it.\n"
    )
    assert written.path.startswith("memories/work/clients/acme/2026-06-02_acme-picked-postgres-over-dynamodb_")
    assert written.warnings == ("entity 'Postgres' was added because a relationship names it.",)


def test_the_same_observation_twice_is_one(tmp_path: Path) -> None:
    """The second call says so and gives the id of the first, also in another process and after compaction."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(title="T", content="C", category="a", tags=["x"])
        assert not memory.add_observation(title="T", content="C", category="a", tags=["#X"]).created
        memory.compact()
        again = memory.add_observation(title="T", content="C", category="a", tags=["x"])
    with Memory(tmp_path) as other:
        third = other.add_observation(title="T", content="C", category="a", tags=["x"])
        assert len(other.recall().observations) == 1
    assert {first.id} == {again.id, third.id}
    assert (again.created, third.created) == (False, False)


@pytest.mark.parametrize(
    "changed", [{"title": "T2"}, {"content": "C2"}, {"category": "b"}, {"tags": ["y"]}, {"observed_at": "2020-01-01"}]
)
def test_an_observation_that_differs_in_anything_is_another(tmp_path: Path, changed: dict[str, object]) -> None:
    """Only the same statement is the same observation."""
    with Memory(tmp_path) as memory:
        memory.add_observation(title="T", content="C", category="a", tags=["x"])
        given: dict[str, object] = {"title": "T", "content": "C", "category": "a", "tags": ["x"]} | changed
        assert memory.add_observations([given])[0].created


def test_a_changed_observation_no_longer_stands_for_what_it_said(tmp_path: Path) -> None:
    """After an update the former statement can be added again."""
    with Memory(tmp_path) as memory:
        first = memory.add_observation(title="T", content="C")
        memory.update(first.id, content="D")
        second = memory.add_observation(title="T", content="C")
        assert second.created
        assert second.id != first.id


def test_all_problems_of_a_draft_are_told_at_once(tmp_path: Path) -> None:
    """Nothing is stored, and the caller need not try five times."""
    with Memory(tmp_path) as memory, pytest.raises(InputError) as caught:
        memory.add_observation(
            content=" ",
            title="two\nlines",
            category="../x",
            tags=[1],  # type: ignore[list-item]  # the wrong type is what is tested
            confidence=1.5,
            kind="fact",
            observed_at="last spring",
            valid_from="2026-02-01",
            valid_until="2026-01-01",
        )
    said = " ".join(caught.value.problems)
    for word in ("content", "title", "..", "tags", "confidence", "kind", "observed_at", "valid_until"):
        assert word in said, word
    assert not (tmp_path / "memories").exists()


def test_a_batch_with_a_wrong_draft_stores_nothing(tmp_path: Path) -> None:
    """A batch is all or none, and names the draft."""
    with Memory(tmp_path) as memory:
        with pytest.raises(InputError, match="draft 2: content is empty"):
            memory.add_observations([{"content": "a"}, {"content": ""}])
        with pytest.raises(InputError, match=r"draft 2: 'contents' is no field.*draft 3: A draft must be a mapping"):
            memory.add_observations([{"content": "a"}, {"contents": "c"}, None])  # type: ignore[list-item]  # tested
        assert memory.recall().abstention is not None


def test_a_batch_gives_one_result_a_draft_in_order(tmp_path: Path) -> None:
    """Repetitions inside a batch are one observation."""
    with Memory(tmp_path) as memory:
        results = memory.add_observations([{"content": "a"}, {"content": "b"}, {"content": "a"}])
        assert [r.created for r in results] == [True, True, False]
        assert results[2].id == results[0].id
        assert len(memory.recall().observations) == 2


def test_without_a_title_the_first_line_is_the_title(tmp_path: Path) -> None:
    """A heading mark is not part of it."""
    with Memory(tmp_path) as memory:
        written = memory.add_observation(content="# What we learned\n\nA lot.")
        assert memory.get(written.id).title == "What we learned"


@pytest.mark.parametrize(
    "title",
    [
        '1: 12/3/24 <why?> "a|b"',
        "Roadmap: stage 2 (note: draft)",
        "🚀 launch 🚀",
        "日本語のタイトル",
        "CON",
        "…",
        "x" * 300,
        "'quoted' # not a comment",
        "- [x] done",
        "null",
        "2026-06-02",
        "e\u0301 and \u00e9",
    ],
)
def test_titles_of_any_kind_come_back_exactly(tmp_path: Path, title: str) -> None:
    """The file name is portable, the title exact, before and after a rebuild."""
    with Memory(tmp_path) as memory:
        written = memory.add_observation(title=title, content="body")
        name = Path(written.path).name
        assert not set('<>:"/\\|?*') & set(name)
        assert len(name.encode()) <= 200
        assert memory.get(written.id).title == title
        memory.rebuild()
        assert memory.recall().observations[0].title == title


def test_two_notes_of_one_title_and_time_are_two_files(tmp_path: Path) -> None:
    """Never an overwrite."""
    with Memory(tmp_path) as memory:
        notes = [{"title": "Same", "content": f"{i}", "observed_at": "2026-01-01"} for i in range(50)]
        written = memory.add_observations(notes)
        assert len({w.path for w in written}) == 50
        assert len(memory.recall(limit=100).observations) == 50


def test_times_without_an_offset_are_read_in_the_zone_of_the_store(tmp_path: Path) -> None:
    """And kept in UTC."""
    (tmp_path / "grail.yaml").write_text("zone: Europe/Berlin\n")
    with Memory(tmp_path) as memory:
        written = memory.add_observation(content="x", observed_at="2026-06-02T14:00")
        assert memory.get(written.id).observed_at == datetime(2026, 6, 2, 12, 0, tzinfo=UTC)


def test_the_category_of_another_spelling_is_the_one_that_is_there(tmp_path: Path) -> None:
    """A store must be able to move to a system that does not tell upper from lower case."""
    with Memory(tmp_path) as memory:
        memory.add_observation(content="one", category="Alpha/Plan")
        written = memory.add_observation(content="two", category="alpha/plan")
        assert "spelled 'Alpha/Plan'" in written.warnings[0]
        assert memory.get(written.id).category == "Alpha/Plan"
        assert len(memory.recall(category="ALPHA/**").observations) == 2


def test_the_ledger_never_holds_the_text(tmp_path: Path) -> None:
    """It says who did what to which file, not what the file says."""
    with Memory(tmp_path, actor="tester") as memory:
        written = memory.add_observation(title="T", content="the canary sings")
        memory.update(written.id, append="and sings", reason="more")
    lines = [json.loads(x) for p in (tmp_path / ".grail/ledger").glob("*.jsonl") for x in p.read_text().splitlines()]
    assert [(line["action"], line["actor"], line["id"]) for line in lines] == [
        ("add", "tester", written.id),
        ("update", "tester", written.id),
    ]
    assert "canary" not in json.dumps(lines)
    assert lines[1]["open"]["reason"] == "more"


def test_files_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    """Memory is private unless its owner shares it."""
    with Memory(tmp_path / "store") as memory:
        written = memory.add_observation(content="x", category="a/b")
    for path in (tmp_path / "store" / written.path, *(tmp_path / "store/.grail/ledger").iterdir()):
        assert path.stat().st_mode & 0o077 == 0
    assert (tmp_path / "store/memories/a/b").stat().st_mode & 0o077 == 0
