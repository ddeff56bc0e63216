"""Embedding beside writes: a process that searches need not wait, nor call `index`, to find by meaning what it wrote."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from search_stores import never_silent, vector_of

from grail_mem import Memory
from grail_mem.index.embedder import CallableEmbedder
from grail_mem.recall.hit import Hit


def n_behind(memory: Memory) -> int:
    """Passages without a vector, as an answer says."""
    warnings = [w for w in memory.search("anything").warnings if "no vector yet" in w]
    return int(warnings[0].split()[0]) if warnings else 0


def wait_until_none_is_behind(memory: Memory) -> None:
    for _ in range(1_000):
        if not n_behind(memory):
            return
        time.sleep(0.01)
    raise AssertionError("vectors were not made")


def test_what_a_searching_process_writes_is_found_by_meaning(tmp_path: Path) -> None:
    """Writing does not wait for the model, and what is written while the model is at work is embedded too."""
    free = threading.Event()
    free.set()

    def slow(texts: list[str]) -> list[list[float]]:
        assert free.wait(30)
        return [vector_of(text) for text in texts]

    with Memory(never_silent(tmp_path), embedder=CallableEmbedder(slow, name="slow")) as memory:
        memory.add_observation(title="First", content="The feline slept.")
        assert n_behind(memory) == 1
        free.clear()
        memory.add_observation(title="Second", content="An automobile.")
        for n in range(40):
            memory.add_observation(title=f"Log {n}", content=f"Entry {n}")
        free.set()
        for _ in range(1_000):
            if n_behind(memory) == 1:  # the first was written before anybody searched
                break
            time.sleep(0.01)
        best = memory.search("car").observations[0]
        assert isinstance(best, Hit)
        assert (best.title, best.via) == ("Second", ("vector",))
        assert memory.index().n_embedded == 1


def test_closing_leaves_what_is_not_begun_to_index(tmp_path: Path) -> None:
    asked: list[int] = []

    def counted(texts: list[str]) -> list[list[float]]:
        asked.append(len(texts))
        time.sleep(0.02)
        return [vector_of(text) for text in texts]

    with Memory(never_silent(tmp_path), embedder=CallableEmbedder(counted, name="counted")) as memory:
        memory.search("warm up")
        memory.add_observations([{"title": f"Log {n}", "content": f"Entry {n}"} for n in range(400)])
    made = sum(asked) - 1
    assert made < 400
    with Memory(tmp_path, embedder=CallableEmbedder(counted, name="counted")) as memory:
        assert memory.index().n_embedded == 400 - made


def test_a_process_that_does_not_search_makes_no_vectors(tmp_path: Path) -> None:
    asked: list[str] = []

    def noted(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [vector_of(text) for text in texts]

    embedder = CallableEmbedder(noted, name="noted")
    with Memory(tmp_path, embedder=embedder) as memory:
        memory.add_observation(title="First", content="x")
        assert len(memory.recall().observations) == 1
    assert asked == []


def test_a_model_that_fails_beside_a_write_loses_nothing(tmp_path: Path) -> None:
    fails = [False]

    def flaky(texts: list[str]) -> list[list[float]]:
        if fails[0]:
            raise OSError("the model is gone")
        return [vector_of(text) for text in texts]

    with Memory(never_silent(tmp_path), embedder=CallableEmbedder(flaky, name="flaky")) as memory:
        memory.search("warm up")
        fails[0] = True
        memory.add_observation(title="First", content="The feline slept.")
        time.sleep(0.05)
        fails[0] = False
        memory.add_observation(title="Second", content="An automobile.")
        memory.index()
        assert n_behind(memory) == 0
        assert memory.search("cat").observations[0].title == "First"


def test_what_has_a_vector_is_looked_up_while_nobody_takes_vectors_in(tmp_path: Path) -> None:
    """The thread beside waits for who changes what it reads; half a change is an index out of bounds."""
    asked: list[str] = []

    def noted(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [vector_of(text) for text in texts]

    with Memory(never_silent(tmp_path), embedder=CallableEmbedder(noted, name="noted")) as memory:
        memory.search("warm up")
        asked.clear()
        with memory._lock:
            memory.add_observation(title="First", content="The feline slept.")
            time.sleep(0.2)
            assert asked == []
        wait_until_none_is_behind(memory)
        assert any("feline" in text for text in asked)
