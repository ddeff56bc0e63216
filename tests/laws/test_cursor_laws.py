"""Cursors: what an answer gave continues it; anything else is refused in our own words, whatever it is."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grail_mem import Memory
from grail_mem.errors import InputError
from grail_mem.memory.session import Session
from grail_mem.tools import Toolbox

Pager = Callable[[Memory | Session, Any], Any]
PAGERS: dict[str, Pager] = {
    "recall": lambda m, cursor: m.recall(limit=1, cursor=cursor),
    "recall by confidence": lambda m, cursor: m.recall(limit=1, order="confidence", cursor=cursor),
    "list_categories": lambda m, cursor: m.list_categories(limit=1, cursor=cursor),
    "list_communities": lambda m, cursor: m.list_communities(limit=1, cursor=cursor),
    "list_entities": lambda m, cursor: m.list_entities(limit=1, cursor=cursor),
    "list_tags": lambda m, cursor: m.list_tags(limit=1, cursor=cursor),
    "list_sources": lambda m, cursor: m.list_sources(limit=1, cursor=cursor),
    "log": lambda m, cursor: m.log(limit=1, cursor=cursor),
}
FOREIGN = ("duckdb", "binder", "conversion error", "invalid input error", "cast", "arrow", "traceback", "codec", "/")
"""Words of other packages, and of paths, which no refusal has."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A store where every list has several pages."""
    root: Path = tmp_path_factory.mktemp("cursors")
    with Memory(root, embedder="none") as memory:
        memory.add_observations(
            [
                {"content": f"Statement {n}.", "category": f"alpha/c{n}", "tags": [f"t{n}"], "entities": [f"E{n}"]}
                for n in range(4)
            ]
        )
        for n in range(3):
            memory.ingest_text(f"A document, number {n}.")
        memory.compact()
        yield memory


@pytest.fixture(scope="module")
def callers(store: Memory) -> Iterator[tuple[Memory | Session, ...]]:
    """The owner, and an agent that sees some of it."""
    with store.session(user_id="u1", agent_id="a1") as session:
        for n in range(3):
            session.add_observation(content=f"Own {n}.", category=f"own/c{n}", tags=[f"s{n}"], entities=[f"F{n}"])
            session.ingest_text(f"An own document, number {n}.")
        yield store, session


@pytest.mark.parametrize("name", PAGERS)
def test_every_page_follows_the_one_before(callers: tuple[Memory | Session, ...], name: str) -> None:
    """A cursor that an answer gave continues it without a gap, for whoever asks."""
    for caller in callers:
        n_pages, cursor = 0, None
        while n_pages == 0 or cursor is not None:
            page = PAGERS[name](caller, cursor)
            cursor, n_pages = page.cursor, n_pages + 1
        assert n_pages > 2


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(2**63, 2**130) | st.floats() | st.text(max_size=4)
    | st.sampled_from(["\ud800", "", "\0", "1; DROP TABLE rows", "E0", "9" * 5000, "01JXYZ8Q6W3N5R7T9V1B2C4D6F"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


def _mangled(real: str) -> st.SearchStrategy[Any]:
    """Anything at all; a cursor with characters changed; one that says the right list, with any values in it."""
    cut = st.integers(0, len(real)).map(lambda at: real[:at])
    added = st.text(max_size=3).map(lambda text: real + text)
    changed = st.tuples(st.integers(0, len(real) - 1), st.characters()).map(
        lambda at: real[: at[0]] + at[1] + real[at[0] + 1 :]
    )
    forged = st.lists(VALUES, max_size=4).map(lambda values: _forged(real, values))
    return st.text(max_size=20) | cut | added | changed | forged | VALUES.map(_encoded) | st.integers() | st.binary()


def _forged(real: str, values: list[Any]) -> str:
    """A cursor that names what the real one is for, with other values."""
    if real.count("/") == 2 and "T" in real:  # the history's own form
        at, _, chain = real.split("/")
        return "/".join([at, *(str(value) for value in values[:1]), chain])
    said = json.loads(base64.urlsafe_b64decode(real + "=" * (-len(real) % 4)))
    if isinstance(said[0], list):
        return _encoded([said[0], values])
    return _encoded([*said[:2], *values]).rstrip("=")


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGERS)
@given(data=st.data())
@settings(max_examples=15)
def test_a_cursor_that_is_none_is_refused_in_our_own_words(
    callers: tuple[Memory | Session, ...], name: str, data: st.DataObject
) -> None:
    """Whatever a caller sends as a cursor continues a list or is an `InputError` that names the cursor and no other package."""
    caller = data.draw(st.sampled_from(callers))
    real = PAGERS[name](caller, None).cursor
    assert real is not None
    sent = data.draw(_mangled(real))
    try:
        PAGERS[name](caller, sent)
    except InputError as error:
        said = " ".join((error.message, error.hint, *error.problems)).lower()
        assert "cursor" in said
        assert not [word for word in FOREIGN if word in said], said


FORGED_PLACES = [
    ["many", "E0"],
    [1.5, "E0"],
    [True, "E0"],
    [2**64, "E0"],
    [-1, "E0"],
    [1, 2],
    [1, "\ud800"],
    [None, None],
]


@pytest.mark.parametrize("values", FORGED_PLACES, ids=repr)
def test_a_place_of_the_wrong_type_is_refused(store: Memory, values: list[Any]) -> None:
    """A cursor of the right list with values that no row has is none, instead of a question to the database."""
    with pytest.raises(InputError, match="cursor is not one"):
        store.list_entities(cursor=_encoded([["n_observations", "key"], values]))


def test_a_tool_answers_a_forged_cursor_as_the_fault_of_its_argument(store: Memory) -> None:
    """A model that makes up a cursor is told so, and by name."""
    for cursor in ("made-up", _encoded(["newest", "x", 2**70, 1, "x"]), _encoded([1, 2, 3, 4, 5])):
        answer = Toolbox(store).call("memory_search", {"tags": ["t1"], "cursor": cursor})
        assert answer.is_error
        assert "cursor" in answer.text
