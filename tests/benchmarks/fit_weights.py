"""Fit the weights of ranked recall on labelled questions, by cross-validation, and write those of all of them.

`python tests/benchmarks/fit_weights.py locomo=FILE longmemeval=FILE musique=QUESTIONS,CORPUS hotpotqa=QUESTIONS,CORPUS
[--out weights.json] [--vectors DIR] [--ablate]`. Every set is stored through the public API and searched with
the product's own candidates and features; only the weights are learnt. Folds hold out whole conversations of LoCoMo and a
quarter of the questions of the other sets; one set of weights scores all. Prints, for each recipe, what cross-validation
gives beside BM25, vectors alone and reciprocal ranks of both, and with `--ablate` what each group of features is worth.

The loss lets each gold passage compete with the passages that are no gold. Golds are observations: of the passages of a
gold one the best by the present weights counts, so the fit runs twice.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from plain_bm25 import plain_bm25
from retrieval_measures import Measured, measure, show
from retrieval_sets import Asked, Store, load

from grail_mem import Memory
from grail_mem.index.catalog import update_catalog
from grail_mem.index.embedder import LocalEmbedder
from grail_mem.index.embedding import embed, texts_without_vector
from grail_mem.model.filter import Filter
from grail_mem.recall import features as f
from grail_mem.recall.fitting import Labelled, crossed, fit
from grail_mem.recall.ranked import Searcher
from grail_mem.recall.ranking import Weights, reciprocal_ranks, weights_text
from grail_mem.settings import RECIPES

FOLDS = 4
CHOSEN = {
    "words": [
        "coverage", "rarest_term", "pairs", "session_coverage", "cosine_window", "cosine_wide_window", "cosine_session",
        *f.WORDS, *f.SPEAKER, *f.SHAPE, *f.DATE, "title", "link_title", "link_shared", "link_rest", "link_rest_words",
    ],
    "vectors": [*f.LEXICAL, *f.MEANING, *f.SPEAKER, *f.SHAPE, *f.DATE, "title", "link_title", "link_shared", "link_rest", "link_rest_cosine"],
    "lexical": [*f.LEXICAL, *f.SPEAKER, *f.SHAPE, *f.DATE, "title", "link_title", "link_shared", "link_rest"],
}  # fmt: skip
SET_SHARE = {"locomo": 24.0, "longmemeval": 12.0, "musique": 7.0, "hotpotqa": 7.0}
"""How much a set counts: the square root of its questions, LongMemEval 1.8 times."""


@dataclass(slots=True)
class Scored:
    """One question with the features of its candidates.

    Attributes:
        set: Name of the set.
        fold: The fold that holds it out.
        asked: The question.
        columns: By recipe, features of the candidates.
        source: Source of each candidate's observation.
        session: Its session, empty for none.
    """

    set: str
    fold: int
    asked: Asked
    columns: dict[str, np.ndarray]
    source: np.ndarray
    session: np.ndarray

    def labelled(self, recipe: str) -> Labelled:
        """The question for the fit."""
        return Labelled(
            self.columns[recipe], self.source, np.isin(self.source, list(self.asked.gold)), SET_SHARE[self.set]
        )


def scored(store: Store, first_fold: int, vectors: Path | None) -> list[Scored]:
    """Store a set's store and look at the candidates of each question."""
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        memory.add_observations(store.drafts)
        memory.compact()
        view = memory._view
        view.refresh()
        if vectors is not None:
            os.symlink(vectors, view.layout.vectors)
        update_catalog(view)
        found: list[Scored] = []
        searchers = {"words": Searcher(view, LocalEmbedder()), "lexical": Searcher(view, None)}
        for searcher in searchers.values():
            searcher.refresh()
        meaning = searchers["words"].meaning
        assert meaning is not None
        embed(meaning, texts_without_vector(view, searchers["words"].corpus, meaning))
        searchers["words"].refresh()
        observations = {o.source: o for o in memory.recall(limit=100_000).observations}
        reader = view.live_base()
        assert reader is not None
        source_of = np.array([o.source for o in reader.observations(range(reader.n_rows))])
        for number, asked in enumerate(store.questions):
            columns: dict[str, np.ndarray] = {}
            passages: dict[str, np.ndarray] = {}
            plain: dict[str, np.ndarray] = {}
            for name, searcher in searchers.items():
                question = searcher.read(asked.text, asked.at)
                zero = {recipe: Weights(recipe, 0.0, dict.fromkeys(f.FEATURES, 0.0)) for recipe in RECIPES}
                ranked = searcher.rank(question, searcher.allowed(Filter()), zero)
                passages[name], columns[name] = ranked.found.passages, ranked.columns
                plain[name] = plain_bm25(searcher.corpus, ranked.asked.hashes)[ranked.found.passages]
            source = {
                name: source_of[searcher.corpus.columns.row[searcher.corpus.columns.doc[passages[name]]]]
                for name, searcher in searchers.items()
            }
            fold = first_fold if store.set == "locomo" else (first_fold + number) % FOLDS
            for name, recipes in (("words", ("words", "vectors")), ("lexical", ("lexical",))):
                chosen = {r: columns[name][:, [f.FEATURES.index(c) for c in CHOSEN[r]]] for r in recipes}
                chosen |= {f"{name}:bm25": plain[name], f"{name}:cosine": columns[name][:, f.FEATURES.index("cosine")]}
                session = np.array([observations[s].session or "" for s in source[name]])
                found.append(Scored(store.set, fold, asked, chosen, source[name], session))
        return found


def held_out(scored_: Sequence[Scored], recipe: str, names: Sequence[str]) -> list[np.ndarray]:
    """Scores of every question's candidates by weights of some features that did not see it."""
    at = [CHOSEN[recipe].index(name) for name in names]
    return crossed([s.labelled(recipe).only(at) for s in scored_], [s.fold for s in scored_], fit)


def measured(scored_: Sequence[Scored], scores: Sequence[np.ndarray]) -> Mapping[str, Measured]:
    """The measures of each set."""
    return measure([(s.set, s.asked, s.source, s.session, score) for s, score in zip(scored_, scores, strict=True)])


def main() -> None:
    """Read the arguments, fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", metavar="NAME=FILE[,CORPUS]")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--vectors", type=Path, help="folder of vectors made before, which saves time")
    parser.add_argument("--ablate", action="store_true")
    arguments = parser.parse_args()
    every: list[Scored] = []
    for text in arguments.sets:
        name, _, paths = text.partition("=")
        for number, store in enumerate(load(name, *map(Path, paths.split(",")))):
            if store.questions:
                every += scored(store, number % FOLDS, arguments.vectors)
        print(name, len(every), flush=True)
    out: dict[str, Weights] = {}
    for recipe in RECIPES:
        chosen = [s for s in every if recipe in s.columns]
        key = "lexical" if recipe == "lexical" else "words"
        show(f"BM25 ({recipe})", measured(chosen, [s.columns[f"{key}:bm25"] for s in chosen]))
        if recipe == "words":
            show("vectors alone", measured(chosen, [s.columns["words:cosine"] for s in chosen]))
            show(
                "reciprocal ranks",
                measured(
                    chosen,
                    [
                        reciprocal_ranks(np.stack([s.columns[f"words:{n}"] for n in ("bm25", "cosine")], 1))
                        for s in chosen
                    ],
                ),
            )
        show(f"{recipe}, {len(CHOSEN[recipe])} features", measured(chosen, held_out(chosen, recipe, CHOSEN[recipe])))
        for group, names in (f.GROUPS | {"context": f.CONTEXT}).items() if arguments.ablate else ():
            left = [name for name in CHOSEN[recipe] if name not in names]
            if len(left) < len(CHOSEN[recipe]):
                show(f"  without {group}", measured(chosen, held_out(chosen, recipe, left)))
        learnt = fit([s.labelled(recipe) for s in chosen])
        of = {n: round(float(w), 4) for n, w in zip(CHOSEN[recipe], learnt.weights, strict=True)}
        out[recipe] = Weights(recipe, round(learnt.bias, 4), of)
    if arguments.out:
        arguments.out.write_text(weights_text(out), encoding="utf-8")


if __name__ == "__main__":
    main()
