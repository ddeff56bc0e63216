"""The short way from a file of ours to its row gives what the general reader gives, or leaves the file to it."""

from __future__ import annotations

from typing import Any

import frontmatter_strategies as hostile
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws_strategies import examples, words

from grail_mem.errors import InputError
from grail_mem.store.files import FileState
from grail_mem.store.frontmatter import render
from grail_mem.store.observation_file import read_observation
from grail_mem.store.own_file import read_own
from grail_mem.store.schema import observations_table, row_values, table_of

STATE = FileState(10, 20, 30)
CATEGORY = "work/clients/acme"
PATH = f"memories/{CATEGORY}/2026-06-02_a.md"

texts = st.sampled_from(["Acme", "session 7", "project:grail", "a b", "Zürich"]) | words | hostile.texts
times = st.sampled_from(
    ["2026-06-02T14:23:00Z", "2026-06-02T14:23:00.5Z", "2026-06-02T14:23:00.123456Z", "2026-13-02T14:23:00Z",
     "2026-06-02T24:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-06-03T14:23:00Z"]
)  # fmt: skip
ids = st.sampled_from(
    [
        "01KR1PMNF8R9490GH5ZKCJBRM0",
        "00000000000R9490GH5ZKCJBRM",
        "7ZZZZZZZZZR9490GH5ZKCJBRM0",
        "01kr1pmnf8r9490gh5zkcjbrm0",
    ]
)
entities = st.fixed_dictionaries(
    {"name": texts}, optional={"type": texts, "description": texts, "aliases": st.lists(texts, max_size=2)}
)
relationships = st.fixed_dictionaries(
    {"source": texts, "target": texts, "relationship_type": texts}, optional={"weight": hostile.scalars}
)
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "id": ids, "title": texts, "observed_at": times, "category": st.just(CATEGORY) | texts, "recorded_at": times,
    "tags": st.lists(texts, min_size=1, max_size=3), "confidence": st.sampled_from([0.3, 1.0, 1, 0, 5e-324, 2.0, -1.0]),
    "source": texts, "entities": st.lists(entities, min_size=1, max_size=3),
    "relationships": st.lists(relationships, min_size=1, max_size=3), "kind": st.sampled_from(["episodic", "odd"]),
    "status": st.sampled_from(["archived", "odd"]), "attribute": texts, "valid_from": times, "valid_until": times,
    "expires_at": times, "scope": texts, "session": texts, "turn": st.integers(-1, 3) | st.sampled_from([True, "x", 2_000_000_000]),
    "speaker": texts | st.sampled_from(["\u200b", "x" * 1_001]), "source_kind": st.sampled_from(["system", "odd"]), "supersedes": texts,
}  # fmt: skip
_ALWAYS = ("id", "title", "observed_at", "category", "confidence")
ours = st.fixed_dictionaries(
    {name: _FIELDS[name] for name in _ALWAYS}, optional={n: s for n, s in _FIELDS.items() if n not in _ALWAYS}
).map(lambda values: {name: values[name] for name in _FIELDS if name in values})


def general(data: bytes) -> tuple[Any, ...] | None:
    """The row of a file by the general reader; None where it has anything to say, or takes anything from elsewhere."""
    try:
        row = read_observation(data, PATH, CATEGORY, STATE)
    except InputError:
        return None
    return row_values(row) if row.has_id and row.has_time and not row.problems else None


@pytest.mark.slow
@examples(400)
@given(ours, hostile.contents | words)
def test_a_file_that_is_read_the_short_way_has_the_row_of_the_general_reader(
    fields: dict[str, Any], content: str
) -> None:
    """Every value with its type, fingerprint and digest included."""
    data = render(fields, content)
    found = read_own(data, PATH, CATEGORY, STATE)
    assert found is None or repr(found) == repr(general(data))


@pytest.mark.slow
@examples(200)
@given(
    ours,
    st.integers(0, 400),
    st.sampled_from([b"\r", b"\0", b"\xff", b"\n", b"---\n", b" ", b"\xef\xbb\xbf", b"x: 1\n"]),
)
def test_a_damaged_file_is_read_the_short_way_only_with_the_same_row(
    fields: dict[str, Any], place: int, odd: bytes
) -> None:
    """Bytes put into a file of ours anywhere."""
    data = render(fields, "content")
    data = data[: place % len(data)] + odd + data[place % len(data) :]
    found = read_own(data, PATH, CATEGORY, STATE)
    assert found is None or repr(found) == repr(general(data))


PLAIN = {
    "id": "01KR1PMNF8R9490GH5ZKCJBRM0", "title": "Acme: chose it's “best”", "observed_at": "2026-06-02T14:23:00Z",
    "category": CATEGORY, "recorded_at": "2026-06-03T14:23:00.5Z", "tags": ["decision", "b"], "confidence": 0.95,
    "source": "session 7", "entities": [{"name": "Acme", "type": "ORGANIZATION"}, {"name": "Änn", "aliases": ["A, B"]}],
    "relationships": [{"source": "Acme", "target": "Postgres", "relationship_type": "CHOSE", "weight": 0.5}],
    "kind": "episodic", "status": "archived", "attribute": "acme/primary", "valid_from": "2026-06-02T14:23:00Z",
    "valid_until": "2026-06-03T14:23:00Z", "expires_at": "2026-06-04T14:23:00Z", "scope": "project:grail",
    "session": "chat/2026-06-02", "turn": 14, "speaker": "Caroline", "source_kind": "system",
}  # fmt: skip


@given(st.sets(st.sampled_from([name for name in PLAIN if name not in _ALWAYS])))
def test_a_usual_file_of_ours_is_read_the_short_way(absent: set[str]) -> None:
    """With any of the fields that a file may leave out."""
    data = render({name: value for name, value in PLAIN.items() if name not in absent}, "It was decided.\n\nSo be it.")
    found = read_own(data, PATH, CATEGORY, STATE)
    assert found is not None
    assert found == general(data)


@pytest.mark.slow
@given(st.lists(ours, max_size=4))
def test_a_table_holds_the_values_of_its_rows(files: list[dict[str, Any]]) -> None:
    """Texts, times, lists and structs come out of the table as they are in the observations."""
    rows = []
    for fields in files:
        try:
            rows.append(read_observation(render(fields, "text"), PATH, CATEGORY, STATE))
        except InputError:
            continue
    table = observations_table(rows)
    table.validate(full=True)
    assert table.equals(table_of(map(row_values, rows)))
    for row, found in zip(rows, table.to_pylist(), strict=True):
        o = row.observation
        assert (found["id"], found["title"], found["content"], found["confidence"]) == (
            o.id,
            o.title,
            o.content,
            o.confidence,
        )
        assert (found["tags"], found["observed_at"], found["valid_from"]) == (list(o.tags), o.observed_at, o.valid_from)
        assert found["entities"] == [
            {"name": e.name, "type": e.type, "description": e.description, "key": e.key, "aliases": list(e.aliases)}
            for e in o.entities
        ]
        assert [(r["source"], r["target"], r["weight"]) for r in found["relationships"]] == [
            (r.source, r.target, r.weight) for r in o.relationships
        ]
