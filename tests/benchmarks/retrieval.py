"""Ranked recall as a user gets it, by the public API, beside BM25, vectors alone and the two together.

`python tests/benchmarks/retrieval.py locomo=FILE longmemeval=FILE musique=QUESTIONS,CORPUS hotpotqa=QUESTIONS,CORPUS
[--vectors DIR] [--embedder none] [--stores N]`. Any part of the official files will do. Every set is written with
`add_observations`, indexed with `index`, and asked with `recall(question, mode="cascade", limit=50)`; the other retrievers
rank the same passages of the same index, and so does the cascade with the weights of links, or of neighbours and sessions, set
to nothing. Prints any and all of the golds among the first 5 and 10, mean reciprocal rank,
nDCG and 95 % intervals by set, the same by category, milliseconds of a question and tokens of the pack of ten hits.

Weights and gates that come with the package were fitted on development parts of these sets: figures on those parts are
too good, and `fit_weights.py` prints what cross-validation gives there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from plain_bm25 import plain_bm25
from retrieval_measures import NAMES, Measured, interval, measure
from retrieval_sets import Asked, Store, load, write

from grail_mem import Memory
from grail_mem.index.lexical import K1, B
from grail_mem.model.filter import Filter
from grail_mem.recall.evidence import Asked as Put
from grail_mem.recall.features import CONTEXT, GRAPH
from grail_mem.recall.ranked import Searcher
from grail_mem.recall.ranking import Weights, shipped_weights

LIMIT = 50
HITS = 10


def asked_of(
    store: Store, vectors: Path | None, embedder: str, found: dict[str, list[tuple]], cost: dict[str, list[float]]
) -> None:
    """Write a store, ask its questions in every way, and keep what came back."""
    with tempfile.TemporaryDirectory() as folder, Memory(folder, embedder=embedder) as memory:
        (Path(folder) / "grail.yaml").write_text("silence: never\n", encoding="utf-8")
        memory.init()
        write(memory, store, vectors)
        memory.recall("warm up", mode="cascade")
        for asked in store.questions:
            begin = time.perf_counter()
            hits = memory.recall(asked.text, mode="cascade", limit=LIMIT, asked_at=asked.at).observations
            cost["ms"].append(1000 * (time.perf_counter() - begin))
            cost["tokens"].append(
                memory.recall(asked.text, mode="cascade", limit=HITS, asked_at=asked.at).pack().tokens
            )
            keep(
                found,
                "grail_mem",
                store.set,
                asked,
                [h.source for h in hits],
                [h.session or "" for h in hits],
                np.arange(len(hits), 0, -1.0),
            )
        baselines(memory._search_state(), memory, store, found)


def baselines(searcher: Searcher, memory: Memory, store: Store, found: dict[str, list[tuple]]) -> None:
    """Every passage ranked by BM25 of the whole question, by its vector, and by the reciprocal ranks of both."""
    columns = searcher.corpus.columns
    by_row = {o.sha256: o for o in memory.recall(limit=100_000).observations}
    observations = {int(o.sha256[:16], 16): o for o in by_row.values()}
    mine = [observations[key] for key in columns.key[columns.doc].tolist()]
    source, session = [o.source for o in mine], [o.session or "" for o in mine]
    for asked in store.questions:
        put = Put(searcher.read(asked.text, asked.at), searcher.corpus, searcher.meaning)
        bm25 = plain_bm25(searcher.corpus, put.hashes)
        keep(found, "BM25", store.set, asked, source, session, bm25)
        if put.vectors is not None:
            cosines = put.cosines(np.arange(searcher.corpus.n_passages))
            rank = [np.argsort(np.argsort(-score, kind="stable"), kind="stable") for score in (bm25, cosines)]
            keep(found, "vectors alone", store.set, asked, source, session, cosines)
            keep(found, "reciprocal ranks", store.set, asked, source, session, sum(1 / (60 + r) for r in rank))
        if any(session):
            whole = whole_sessions(searcher, put.hashes)
            best = np.zeros(len(whole))
            np.maximum.at(best, columns.session, bm25)
            ranks = [np.argsort(np.argsort(-score, kind="stable"), kind="stable") for score in (whole, best)]
            keep(found, "BM25 of whole sessions", store.set, asked, source, session, whole[columns.session])
            both = sum(1 / (60 + r) for r in ranks)[columns.session]
            keep(found, "reciprocal ranks of it and of the best turn", store.set, asked, source, session, both)
        for name, groups in (("without graph", GRAPH), ("without context", CONTEXT)):
            ranked = searcher.rank(searcher.read(asked.text, asked.at), searcher.allowed(Filter()), less(groups))
            score = np.full(len(source), -np.inf)
            score[ranked.found.passages] = ranked.score
            keep(found, name, store.set, asked, source, session, score)


def whole_sessions(searcher: Searcher, hashes: Sequence[int]) -> np.ndarray:
    """BM25 of each session taken as one text, by the number of the session."""
    corpus, columns = searcher.corpus, searcher.corpus.columns
    n = int(columns.session.max()) + 1
    length = np.bincount(columns.session, columns.n_terms, n)
    norm = K1 * (1 - B + B * length / max(length.mean(), 1))
    scores = np.zeros(n)
    for value in hashes:
        times = np.zeros(n)
        for part in corpus.parts:
            row, count = part.segment.by_term.rows(value)
            np.add.at(times, columns.session[row + part.first_passage], count)
        df = int((times > 0).sum())
        scores += np.log(1 + (n - df + 0.5) / (df + 0.5)) * times / (times + norm)
    return scores


def less(groups: Sequence[str]) -> dict[str, Weights]:
    """The weights that ship, without some features."""
    return {
        name: Weights(name, recipe.bias, {f: w for f, w in recipe.of.items() if f not in groups})
        for name, recipe in shipped_weights().items()
    }


def keep(
    found: dict[str, list[tuple]], way: str, set_: str, asked: Asked, source: list, session: list, score: np.ndarray
) -> None:
    """Keep one ranking."""
    found.setdefault(way, []).append((set_, asked, np.array(source), np.array(session), score))


def table(way: str, m: Measured) -> None:
    """Print the lines of one way and set."""
    for unit, values in (("observation", m.unit), ("session", m.session)):
        if not len(values):
            continue
        cells = []
        for name in ("any@5", "all@5", "all@10", "MRR", "nDCG@10", "recall@5"):
            column = values[:, NAMES.index(name)]
            low, high = interval(column)
            cells.append(f"{100 * column.mean():.1f} ({100 * low:.1f}-{100 * high:.1f})")
        print(f"| {way} | {unit} | {len(values)} | {' | '.join(cells)} |", flush=True)
    if way == "grail_mem":
        for category in sorted(set(m.category.tolist())):
            part = m.unit[m.category == category].mean(axis=0)
            print(
                f"|   {category} | observation | {int((m.category == category).sum())} | {' | '.join(f'{100 * part[NAMES.index(n)]:.1f}' for n in ('any@5', 'all@5', 'all@10', 'MRR', 'nDCG@10', 'recall@5'))} |"
            )


def main() -> None:
    """Read the arguments, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", metavar="NAME=FILE[,CORPUS]")
    parser.add_argument("--vectors", type=Path, help="folder of vectors made before, which saves time")
    parser.add_argument("--embedder", default="local")
    parser.add_argument("--stores", type=int, default=10**6, help="stores of one set at most")
    arguments = parser.parse_args()
    for text in arguments.sets:
        name, _, paths = text.partition("=")
        found: dict[str, list[tuple]] = {}
        cost: dict[str, list[float]] = {"ms": [], "tokens": []}
        for store in load(name, *map(Path, paths.split(",")))[: arguments.stores]:
            if store.questions:
                asked_of(store, arguments.vectors, arguments.embedder, found, cost)
        print(
            f"\n{name}: {np.median(cost['ms']):.0f} ms a question, {np.median(cost['tokens']):.0f} tokens for {HITS} hits (medians)\n"
        )
        print(
            "| way | unit | questions | any@5 | all@5 | all@10 | MRR | nDCG@10 | recall@5 |\n|---|---|---|---|---|---|---|---|---|"
        )
        for way, rows in found.items():
            table(way, measure(rows)[name])


if __name__ == "__main__":
    main()
