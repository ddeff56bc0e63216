"""Which passage has which vector stays right while observations and vectors come and go."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from search_stores import hashed_words, never_silent

from grail_mem import Memory
from grail_mem.index.vectors import VectorStore
from grail_mem.store.layout import Layout


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_rows_that_are_kept_are_those_a_new_look_finds(tmp_path: Path, seed: int) -> None:
    said = random.Random(seed)
    embedder = hashed_words()
    with Memory(never_silent(tmp_path), embedder=embedder) as memory:
        ids: list[str] = []
        for step in range(25):
            match said.choice(["add", "add", "hide", "index", "compact", "lost"]):
                case "add":
                    with Memory(tmp_path) as other:  # which does not search, and so embeds nothing beside
                        content = f"pear {step} {'plum ' * said.randrange(300)}"
                        ids.append(other.add_observation(content=content).id)
                case "hide" if ids:
                    memory.hide(ids.pop(said.randrange(len(ids))))
                case "index":
                    memory.index()
                case "compact":
                    memory.compact()
                case "lost":  # another folder of vectors takes the place of this one
                    shutil.rmtree(Layout(tmp_path).vectors, ignore_errors=True)
            searcher = memory._search_state()
            searcher.view.refresh()
            searcher.refresh()
            meaning, columns = searcher.meaning, searcher.corpus.columns
            assert meaning is not None
            anew = VectorStore(Layout(tmp_path).vectors, embedder.identity)
            assert meaning.row.tolist() == anew.rows(columns.digest).tolist()
            assert meaning.n_behind == int((columns.live & (anew.rows(columns.digest) < 0)).sum())
            passages = np.flatnonzero(columns.live)[:5]
            plain = np.stack([anew.vectors(np.array([row]))[0] * (row >= 0) for row in meaning.row[passages]]) if len(
                anew
            ) and len(passages) else np.zeros((len(passages), anew.identity.dimension))  # fmt: skip
            if len(anew):
                assert meaning.vectors(passages).tolist() == plain.tolist()
                assert not meaning.vectors(np.array([[-1]])).any()
