"""Values under namespaces and keys, kept as observations: they come back as they were put, wherever the names would lead."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grail_mem import Memory
from grail_mem.adapters.keyed import Keyed
from grail_mem.errors import ConflictError, InputError

LABELS = st.text(st.characters(exclude_categories=()) | st.sampled_from("./\\~%: \x00\n"), max_size=40) | st.sampled_from(
    ["..", ".", "CON", "a/../../b", "/etc", "~root", "%2e%2e", "x" * 300, "", " ", "Users", "users"]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=()), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=8,
)  # fmt: skip


def keyed(memory: Memory) -> Keyed:
    return Keyed(memory, folder="langgraph", mark="langgraph")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(tmp_path_factory.mktemp("keyed") / "store", embedder="none") as memory:
        yield memory


@settings(max_examples=25)
@given(
    namespace=st.lists(LABELS, max_size=4).map(tuple), key=LABELS,
    values=st.lists(st.dictionaries(st.text(max_size=8), VALUES, max_size=3), min_size=1, max_size=2),
)  # fmt: skip
def test_a_value_comes_back_as_it_was_put(
    store: Memory, namespace: tuple[str, ...], key: str, values: list[dict[str, Any]]
) -> None:
    kept = keyed(store)
    if len(json.dumps([*namespace, key])) > 980:  # names that long are refused, as another test says
        return
    for value in values:
        kept.put(namespace, key, value)
    found = kept.get(namespace, key)
    assert found is not None
    assert (found.namespace, found.key) == (namespace, key)
    assert found.value == values[-1]
    assert [one.value for one in kept.below(namespace) if (one.namespace, one.key) == (namespace, key)] == [values[-1]]
    assert {path.name for path in store.root.parent.iterdir()} == {"store"}
    assert all(path.is_relative_to(store.root / "memories" / "langgraph") for path in store.root.rglob("*.md"))
    kept.delete(namespace, key)
    assert kept.get(namespace, key) is None


@pytest.mark.parametrize(
    "value",
    [{"a": (1, 2)}, {1: "a"}, {"a": float("nan")}, {"a": float("inf")}, {"a": {1, 2}}, {"a": b"x"}, {"a": object()}, [1], "text"],
)  # fmt: skip
def test_a_value_that_would_not_come_back_is_refused(store: Memory, value: Any) -> None:
    with pytest.raises(InputError):
        keyed(store).put(("n",), "refused", value)
    assert keyed(store).get(("n",), "refused") is None


def test_names_that_are_too_long_are_refused(store: Memory) -> None:
    with pytest.raises(InputError, match="at most 1000 are kept"):
        keyed(store).put(("n" * 990,), "k", {})


def test_a_second_value_keeps_id_and_first_time(store: Memory) -> None:
    kept = keyed(store)
    kept.put(("t",), "k", {"n": 1})
    first = kept.get(("t",), "k")
    kept.put(("t",), "k", {"n": 2})
    second = kept.get(("t",), "k")
    assert first is not None
    assert second is not None
    assert (second.id, second.created_at) == (first.id, first.created_at)
    assert second.updated_at > first.updated_at


def test_a_person_may_move_and_change_the_file(store: Memory) -> None:
    kept = keyed(store)
    kept.put(("people", "ana"), "tea", {"likes": "green"})
    found = kept.get(("people", "ana"), "tea")
    assert found is not None
    path = store.root / store.get(found.id).path
    text = path.read_text().replace("green", "black")
    path.unlink()
    (store.root / "memories" / "langgraph" / "moved.md").write_text(text)
    store.sync()
    changed = kept.get(("people", "ana"), "tea")
    assert changed is not None
    assert changed.value == {"likes": "black"}
    store.update(found.id, content="no JSON at all")
    assert kept.get(("people", "ana"), "tea") is None


def test_of_two_that_were_put_at_once_the_last_counts(store: Memory) -> None:
    """Two processes that put one key at the same moment leave two files; the next put leaves one."""
    kept = keyed(store)
    kept.put(("twice",), "k", {"n": 1})
    (one,) = kept.below(("twice",))
    there = store.get(one.id)
    store.add_observation(
        content='```json\n{"n": 2}\n```', title="k", category=there.category, source=there.source, observed_at="2031-01-01",
    )  # fmt: skip
    store.update(store.recall(text='"n": 2').observations[0].id, attribute=there.attribute)
    assert [(k.key, k.value) for k in kept.below(("twice",))] == [("k", {"n": 2})]
    kept.put(("twice",), "k", {"n": 3})
    assert [(k.key, k.value) for k in kept.below(("twice",))] == [("k", {"n": 3})]
    kept.delete(("twice",), "k")
    assert kept.below(("twice",)) == []


def test_what_was_erased_is_not_put_again(store: Memory) -> None:
    kept = keyed(store)
    kept.put(("gone",), "k", {"n": "erased for good"})
    found = kept.get(("gone",), "k")
    assert found is not None
    store.erase(found.id, reason="asked")
    with pytest.raises(ConflictError):
        kept.put(("gone",), "k", {"n": "erased for good"})


def test_another_user_and_another_folder_see_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "store", embedder="none") as memory:
        with memory.session(user_id="ana", agent_id="a") as ana, memory.session(user_id="ben", agent_id="a") as ben:
            for who, value in ((ana, {"n": "ana's"}), (ben, {"n": "ben's"})):
                Keyed(who, folder="langgraph", mark="langgraph").put(("users",), "k", value)
            assert [k.value for k in Keyed(ana, folder="langgraph", mark="langgraph").below()] == [{"n": "ana's"}]
            assert "ben's" not in str(
                Keyed(ana, folder="langgraph", mark="langgraph").search((), "Whose is it, ben's?")
            )
            assert Keyed(ana, folder="langgraph", mark="langgraph", scope="agent:a/ben").get(("users",), "k") is None
        memory.grant("user:ben", "agent:a/ana", "read")
        with memory.session(user_id="ben", agent_id="a") as ben:
            assert [k.value for k in Keyed(ben, folder="langgraph", mark="langgraph").below()] == [{"n": "ben's"}]
        assert keyed(memory).below() == [], "the owner's own values are in the store's default scope"
