"""The rows of the delta are found by term and time as by looking at each of them."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grail_mem.model.filter import Filter, make_filter
from grail_mem.model.observation import Entity, Observation, Relationship
from grail_mem.model.times import from_us
from grail_mem.query import match
from grail_mem.query.loose import Loose
from grail_mem.query.match import conditions, keys_of
from grail_mem.store.files import FileState
from grail_mem.store.observation_file import FileRow

PATHS = [f"memories/{n}.md" for n in range(12)]
NAMES = st.sampled_from(["Acme", "Globex", "Initech", "Umbrella"])
CATEGORIES = st.sampled_from(["work", "work/clients", "work/clients/acme", "home"])
MANY = st.lists(NAMES, max_size=2, unique=True)


@st.composite
def rows(draw: st.DrawFn) -> dict[str, FileRow]:
    """Rows by path, each with an id of its own."""
    made = {}
    for path in draw(st.lists(st.sampled_from(PATHS), unique=True)):
        at = from_us(draw(st.integers(0, 5)))
        o = Observation(
            f"id of {path}", draw(NAMES), "content", draw(CATEGORIES), at, at, path,
            tags=tuple(draw(MANY)), entities=tuple(Entity(name, draw(NAMES)) for name in draw(MANY)),
            relationships=tuple(Relationship("a", "b", name) for name in draw(MANY)),
            confidence=draw(st.sampled_from([0.0, 0.5, 1.0])), kind=draw(st.sampled_from(["semantic", "summary"])),
            source_kind=draw(st.sampled_from([None, "system"])),
        )  # fmt: skip
        made[path] = FileRow(o, FileState(0, 0, 0))
    return made


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "since": st.integers(0, 2).map(from_us), "before": st.integers(3, 6).map(from_us),
        "category": st.sampled_from(["work/**", "work", "*", "home", "nowhere"]),
        **{name: st.lists(NAMES, min_size=1, max_size=3) for name in (
            "tags", "tags_all", "entity_names", "entity_types", "relationship_type")},
        "min_confidence": st.sampled_from([0.0, 0.5, 1.0]), "kind": st.just("summary"), "status": st.just("confirmed"),
        "source_kind": st.just("system"), "text": st.sampled_from(["acme", "x"]), "as_of": st.integers(0, 5).map(from_us),
    },
)  # fmt: skip


@given(
    states=st.lists(st.tuples(rows(), st.sets(st.sampled_from(PATHS))), min_size=1, max_size=3),
    asked=FILTERS,
    unseen=st.sampled_from([-1.0, 0.0, 0.5]),
)
def test_rows_found_by_term_are_those_that_match(
    states: list[tuple[dict[str, FileRow], set[str]]], asked: dict[str, Any], unseen: float
) -> None:
    """Whatever came, went, changed and was hidden before: the answer is that of asking every row, in both orders."""
    f = make_filter(now=datetime.now(UTC), **asked)
    loose = Loose()
    for there, hidden_paths in states:
        hidden = {f"id of {path}" for path in hidden_paths}
        loose.update(there, hidden, lambda o: o.confidence > unseen)
        counting = [
            row for row in there.values() if row.observation.id not in hidden and row.observation.confidence > unseen
        ]
        assert len(loose) == len(counting)
        newest = sorted(
            (row for row in counting if all(holds(o := row.observation, keys_of(o)) for holds in conditions(f))),
            key=lambda row: (row.observation.observed_at, row.observation.id),
            reverse=True,
        )
        assert [found.row for found in loose.matching(f)] == newest
        assert [found.row for found in loose.matching(f, oldest_first=True)] == newest[::-1]


def test_every_field_of_a_filter_is_decided() -> None:
    """A field that is added must be told how a row of the delta meets it."""
    assert set(match._CONDITIONS) | match._TOGETHER == {field.name for field in fields(Filter)}
