"""What fitting weights to a few questions does to all others of the same store: near to the shipped ones, and from nothing.

`python tests/benchmarks/fit_few.py NAME=FILE[,CORPUS] [--questions 30 60] [--draws 5] [--stores 2]`. Each draw fits to so many
questions of one store and looks at the rest. Prints any@5 / all@5 / MRR: the mean over draws, and the least.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from retrieval_sets import Store, load

from grail_mem import Memory
from grail_mem.recall.fitting import Prior, fit
from grail_mem.recall.ranking import Weights
from grail_mem.recall.refit import Taught, measured, near, taught
from grail_mem.recall.trial import read_for

LOOSE = 0.03


def asked(store: Store, folder: str) -> tuple[Weights, list[Taught]]:
    """The questions of a store with the features of their candidates, by the recipe in use."""
    with Memory(folder) as memory:
        memory.add_observations(store.drafts)
        memory.compact()
        memory.index()
        ids = {o.source: o.id for o in memory.recall(limit=100_000).observations}
        questions = {
            q.text: {"question": q.text, "answers": [ids[gold] for gold in q.gold], "asked_at": q.at}
            for q in store.questions
        }
        searcher = memory._search_state()
        read = read_for(memory._view, searcher, list(questions.values()), "weighted")
        return taught(memory._view, searcher, read, ranking="weighted")


def figures(questions: list[Taught], weights: np.ndarray) -> list[float]:
    """The measures of questions by weights."""
    return list(measured(questions, [q.labelled.columns @ weights for q in questions]).values())


def main() -> None:
    """Read the arguments, ask, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", metavar="NAME=FILE[,CORPUS]")
    parser.add_argument("--questions", type=int, nargs="+", default=[30, 60])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--stores", type=int, default=2, help="stores of the set at most")
    arguments = parser.parse_args()
    name, _, paths = arguments.set.partition("=")
    for store in load(name, *map(Path, paths.split(",")))[: arguments.stores]:
        with tempfile.TemporaryDirectory() as folder:
            shipped, questions = asked(store, folder)
        prior = np.array(list(shipped.of.values()))
        for n in arguments.questions:
            found: dict[str, list[list[float]]] = {}
            for draw in range(arguments.draws):
                chosen = set(random.Random(draw).sample(range(len(questions)), n))
                some = [q.labelled for i, q in enumerate(questions) if i in chosen and q.can_teach]
                rest = [q for i, q in enumerate(questions) if i not in chosen]
                for title, weights in (
                    ("shipped", prior),
                    ("near, strength chosen", near(shipped, some)[0].weights),
                    (f"near, strength {LOOSE}", fit(some, Prior(prior, shipped.bias, LOOSE)).weights),
                    ("from nothing", fit(some).weights),
                ):
                    found.setdefault(title, []).append(figures(rest, weights))
            for title, rows in found.items():
                mean, least = (" / ".join(f"{v:.3f}" for v in m) for m in (np.mean(rows, 0), np.min(rows, 0)))
                print(f"{store.name:10s} {n:4d} questions  {title:24s} {mean}   least {least}", flush=True)


if __name__ == "__main__":
    main()
