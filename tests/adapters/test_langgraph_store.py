"""LangGraph's store over a memory does what LangGraph's own store in memory does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("langgraph", reason="langgraph is not installed")

from graphs import scripted_model
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from scripts import Call, Script

from grail_mem import Memory
from grail_mem.adapters.langgraph import GrailStore
from grail_mem.errors import InputError

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::PendingDeprecationWarning", "ignore::ImportWarning"
)  # among frameworks

NAMES = st.lists(st.sampled_from(["a", "b", "A", "··", "a/b", "CON"]), min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k", "K", "../k", "k\n"])
VALUES = st.fixed_dictionaries({"n": st.integers(0, 3), "t": st.sampled_from(["tea", "coffee"])})
STEPS = st.tuples(st.sampled_from(["put", "put", "delete"]), NAMES, KEYS, VALUES)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "store", embedder="none") as memory:
        yield memory


@settings(max_examples=10)
@given(steps=st.lists(STEPS, max_size=6), asked=NAMES, n=st.integers(0, 3))
def test_it_does_what_the_framework_s_own_store_does(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any], asked: tuple[str, ...], n: int
) -> None:
    with Memory(tmp_path_factory.mktemp("law"), embedder="none") as memory:
        stores: list[Any] = [GrailStore(memory), InMemoryStore()]
        for what, namespace, key, value in steps:
            for store in stores:
                store.put(namespace, key, value) if what == "put" else store.delete(namespace, key)
        for _, namespace, key, _ in steps:
            ours, theirs = (store.get(namespace, key) for store in stores)
            assert (ours and (ours.namespace, ours.key, ours.value)) == (
                theirs and (theirs.namespace, theirs.key, theirs.value)
            )
        filters: list[Any] = [None, {"n": n}, {"n": {"$gt": n}}, {"n": {"$lte": n}, "t": "tea"}, {"t": {"$ne": "tea"}}]
        for wanted in filters:
            ours, theirs = (
                {(i.namespace, i.key) for i in s.search(asked[:1], filter=wanted, limit=99)} for s in stores
            )
            assert ours == theirs
        conditions: list[dict[str, Any]] = [
            {}, {"prefix": asked}, {"suffix": asked[-1:]}, {"prefix": ("*", *asked[1:])}, {"max_depth": 1},
        ]  # fmt: skip
        there = {
            item.namespace for item in stores[1].search((), limit=99)
        }  # its list holds namespaces that became empty, too
        for condition in conditions:
            depth = condition.get("max_depth")
            theirs = set(stores[1].list_namespaces(**condition)) & {name[:depth] for name in there}
            assert set(stores[0].list_namespaces(**condition)) == theirs


def test_a_question_brings_what_answers_it_or_nothing(memory: Memory) -> None:
    store = GrailStore(memory)
    store.put(("ana", "likes"), "1", {"text": "Ana drinks green tea at four."})
    store.put(("ana", "likes"), "2", {"text": "The car is red."})
    store.put(("ben", "likes"), "3", {"text": "Ben drinks green tea, too."})
    found = store.search(("ana",), query="Which tea does Ana drink?")
    assert found[0].key == "1"
    assert all(item.namespace[0] == "ana" and item.score is not None for item in found)
    assert store.search(("ana",), query="Zxqv?") == []


def test_pages_are_of_one_list_the_last_put_first(memory: Memory) -> None:
    store = GrailStore(memory)
    for n in range(5):
        store.put(("n",), str(n), {"n": n})
    store.put(("n",), "0", {"n": 9})
    pages = [store.search(("n",), limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [[item.key for item in page] for page in pages] == [["0", "4"], ["3", "2"], ["1"], []]


def test_many_operations_at_once_and_in_a_loop(memory: Memory) -> None:
    store = GrailStore(memory)
    ops = [
        PutOp(("n",), "k", {"n": 1}),
        GetOp(("n",), "k"),
        PutOp(("n",), "k", None),
        GetOp(("n",), "k"),
        SearchOp(("n",)),
    ]
    results: Any = store.batch(ops)
    assert results[1].value == {"n": 1}
    assert [results[0], *results[2:]] == [None, None, None, []]

    async def talk() -> Any:
        await asyncio.gather(*(store.aput(("async",), str(n), {"n": n}) for n in range(4)))
        return await store.asearch(("async",))

    assert sorted(item.key for item in asyncio.run(talk())) == ["0", "1", "2", "3"]


def test_what_it_does_not_do_is_said(memory: Memory) -> None:
    store = GrailStore(memory)
    assert store.supports_ttl is False
    with pytest.raises(NotImplementedError):
        store.put(("n",), "k", {}, ttl=5)
    with pytest.raises(NotImplementedError, match="leave ttl out"):
        store.batch([PutOp(("n",), "other", {}), PutOp(("n",), "k", {}, ttl=5)])
    assert store.get(("n",), "other") is None, "a refused batch does nothing"
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {})])
    store.put(("n",), "k", {"n": 1})
    with pytest.raises(InputError, match=r"no comparison '\$in'"):
        store.search(("n",), filter={"n": {"$in": [1]}})
    assert store.search(("n",), filter={"n": {"$gt": "text"}}) == []


def test_an_agent_s_tool_uses_it(memory: Memory) -> None:
    @tool
    def keep(text: str, runtime: ToolRuntime) -> str:
        """Keep a text."""
        runtime.store.put(("notes",), "1", {"text": text})  # type: ignore[union-attr]
        return "kept"

    @tool
    def look(runtime: ToolRuntime) -> str:
        """Look at the text."""
        return str(runtime.store.get(("notes",), "1").value["text"])  # type: ignore[union-attr]

    script = Script([Call("keep", {"text": "green tea"}), Call("look", {}), "Green tea."])
    agent = create_agent(scripted_model(script), [keep, look], store=GrailStore(memory))
    agent.invoke({"messages": [("user", "Keep it.")]})
    assert script.results == ("kept", "green tea")
    assert "green tea" in memory.recall(category="langgraph/notes").observations[0].content
