"""Whether recall is silent when nothing answers: off-topic and same-topic questions, with the curve; and the gates that ship.

`python tests/benchmarks/silence.py locomo=FILE … [--vectors DIR] [--out gates.json] [--plot FILE.png]`. Off-topic are questions of
another store of the sets, asked here as they are; same-topic are the questions of LoCoMo's fifth category and LongMemEval's
`_abs`. Gates are judged by cross-validation: each store by a gate that saw none of its questions.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from retrieval_sets import Asked, Store, load

from grail_mem import Memory
from grail_mem.index.catalog import update_catalog
from grail_mem.index.embedder import LocalEmbedder
from grail_mem.index.embedding import embed, texts_without_vector
from grail_mem.model.filter import Filter
from grail_mem.recall.plot import check_plot, plot_scores
from grail_mem.recall.ranked import Searcher
from grail_mem.recall.ranking import shipped_weights
from grail_mem.recall.silence import Gates, auroc, crossed, fit_gate, gates_text, signals_of, speaker_signals_of

MOST = 60
"""Questions of another store asked in one, so that no pair of stores outweighs the rest."""


FEW: Final = 12
"""Questions asked in a store of LongMemEval."""


class Judged(NamedTuple):
    """One question asked in one store."""

    set: str
    store: str
    kind: str  # answerable, off-topic, same-topic
    topic: tuple[float, ...]
    speaker: tuple[float, ...] | None


def judged(store: Store, others: Sequence[Store], vectors: Path | None) -> dict[str, list[Judged]]:
    """The signals of every kind of question in a store, with and without vectors."""
    chance = random.Random(0)
    asked: list[tuple[str, Asked]] = [("answerable", q) for q in store.questions]
    asked += [("same-topic", q) for q in store.unanswerable]
    elsewhere = [chance.sample(other.questions, min(MOST, len(other.questions))) for other in others if other.questions]
    if store.set == "longmemeval":  # which has many stores of one question
        elsewhere = [chance.sample([q for questions in elsewhere for q in questions], FEW)]
    asked += [("off-topic", q) for questions in elsewhere for q in questions]
    found: dict[str, list[Judged]] = {"vectors": [], "none": []}
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        memory.add_observations(store.drafts)
        memory.compact()
        view = memory._view
        view.refresh()
        if vectors is not None:
            os.symlink(vectors, view.layout.vectors)
        update_catalog(view)
        for name, searcher in (("vectors", Searcher(view, LocalEmbedder())), ("none", Searcher(view, None))):
            searcher.refresh()
            if searcher.meaning is not None:
                embed(searcher.meaning, texts_without_vector(view, searcher.corpus, searcher.meaning))
                searcher.refresh()
            allowed = searcher.allowed(Filter())
            for kind, question in asked:
                ranked = searcher.rank(searcher.read(question.text, question.at), allowed)
                speaker = speaker_signals_of(ranked)
                found[name].append(
                    Judged(store.set, store.name, kind, tuple(signals_of(ranked)), speaker and tuple(speaker))
                )
    return found


def held_out(rows: Sequence[Judged], yes: str, no: str, signals: str) -> tuple[list[float], list[float]]:
    """Scores of both kinds by gates that did not see the store of the question."""
    rows = [r for r in rows if r.kind in {yes, no} and getattr(r, signals) is not None]
    names = sorted({r.store for r in rows})
    folds = [(names.index(r.store) if len(names) > 3 else i) % 4 for i, r in enumerate(rows)]
    held = crossed([getattr(r, signals) for r in rows], [r.kind == yes for r in rows], folds)
    scores = [(r.kind, h.score) for r, h in zip(rows, held, strict=True)]
    return [score for kind, score in scores if kind == yes], [score for kind, score in scores if kind == no]


def curve(title: str, yes: Sequence[float], no: Sequence[float]) -> None:
    """Print one line: the area, and what is answered and silent at three places of the curve."""
    y, n = np.array(yes), np.array(no)
    at95 = float((n < np.quantile(y, 0.05)).mean())
    at99 = float((y >= np.quantile(n, 0.99)).mean())
    print(
        f"{title:34s} AUROC {auroc(yes, no):.3f}  silent at 95 % answered {100 * at95:.1f}  answered at 99 % silent {100 * at99:.1f}"
        f"  ({len(yes)} answerable, {len(no)} not)", flush=True,
    )  # fmt: skip


def by_set(rows: Sequence[Judged]) -> None:
    """Print what is answered and silent in each set by gates that saw no question of the store, sets counting the same."""
    names = sorted({(r.set, r.store) for r in rows})
    fold = np.array([names.index((r.set, r.store)) % 4 if r.set in {"locomo", "longmemeval"} else i % 4
                     for i, r in enumerate(rows)])  # fmt: skip
    kind, set_ = np.array([r.kind for r in rows]), np.array([r.set for r in rows])
    passes = np.zeros(len(rows), bool)
    for held in range(4):
        yes, no = (
            [r for r, f in zip(rows, fold, strict=True) if f != held and r.kind == k]
            for k in ("answerable", "off-topic")
        )
        gate = fit_gate(
            [r.topic for r in yes], [r.topic for r in no], groups=([r.set for r in yes], [r.set for r in no])
        )
        for i in np.flatnonzero(fold == held):
            passes[i] = gate.score(rows[i].topic) >= gate.floor
    shares = {}
    for name in sorted(set(set_.tolist())):
        mine = set_ == name
        shares[name] = passes[mine & (kind == "answerable")].mean(), (~passes[mine & (kind == "off-topic")]).mean()
        print(
            f"  floor of all, {name:20s} answered {100 * shares[name][0]:.1f}  silent {100 * shares[name][1]:.1f}",
            flush=True,
        )
    mean = np.mean(list(shares.values()), axis=0)
    print(f"  floor of all, mean of the sets     answered {100 * mean[0]:.1f}  silent {100 * mean[1]:.1f}", flush=True)


def main() -> None:
    """Read the arguments, ask, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", metavar="NAME=FILE[,CORPUS]")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path, help="draw where the scores of both kinds lie")
    arguments = parser.parse_args()
    if arguments.plot:
        check_plot(arguments.plot)
    stores: list[Store] = []
    for text in arguments.sets:
        name, _, paths = text.partition("=")
        stores += load(name, *map(Path, paths.split(",")))
    rows: dict[str, list[Judged]] = {"vectors": [], "none": []}
    for store in stores:
        # two haystacks of LongMemEval talk about the same things, so their questions are not off-topic in each other
        others = [s for s in stores if s is not store and not (s.set == store.set == "longmemeval")]
        for name, found in judged(store, others, arguments.vectors).items():
            rows[name] += found
    gates: dict[str, Gates] = {}
    for name, found in rows.items():
        print(f"-- {'with' if name == 'vectors' else 'without'} vectors")
        yes, no = held_out(found, "answerable", "off-topic", "topic")
        curve("off-topic, all stores, one floor", yes, no)
        if arguments.plot and name == "vectors":
            lines = {"95 % answered": float(np.quantile(yes, 0.05))}
            plot_scores(arguments.plot, yes, no, lines)
        for set_ in sorted({r.set for r in found}):
            own = [r for r in found if r.set == set_]
            curve(f"off-topic, {set_}", *held_out(own, "answerable", "off-topic", "topic"))
        by_set(found)
        talk = [r for r in found if r.set == "locomo"]
        curve("same-topic, other speaker, locomo", *held_out(talk, "answerable", "same-topic", "speaker"))
        lme = [r for r in found if r.set == "longmemeval"]
        if any(r.kind == "same-topic" for r in lme):
            curve("same-topic, longmemeval", *held_out(lme, "answerable", "same-topic", "topic"))
        yes_rows, no_rows = ([r for r in found if r.kind == kind] for kind in ("answerable", "off-topic"))
        topic = fit_gate(
            [r.topic for r in yes_rows], [r.topic for r in no_rows],
            groups=([r.set for r in yes_rows], [r.set for r in no_rows]),
        )  # fmt: skip
        known = [r for r in talk if r.speaker is not None]
        speaker = fit_gate(
            [r.speaker for r in known if r.kind == "answerable" and r.speaker],
            [r.speaker for r in known if r.kind == "same-topic" and r.speaker],
        )
        key = LocalEmbedder().identity.name if name == "vectors" else "none"
        mark = shipped_weights()["words" if name == "vectors" else "lexical"].mark
        gates[key] = Gates(topic, speaker, mark)
    if arguments.out:
        arguments.out.write_text(gates_text(gates), encoding="utf-8")


if __name__ == "__main__":
    main()
