"""Whole runs of consolidation: how long one takes as a store grows, and what is proposed on text that others wrote.

`python tests/benchmarks/consolidation.py --scale 1000 10000 100000` makes planted stores (`cluster_maker`) with names spelled
anew and copies of observations among them, each in a process of its own, and prints seconds by kind and the peak of memory.

`python tests/benchmarks/consolidation.py --locomo FILE --hotpotqa FILE --musique FILE` puts conversations and encyclopaedia
passages into stores and prints every proposal, for people to judge. Turns keep their session; the entities of passages are
their titles and the capitalised names in them, found by one regular expression, so they are as untidy as names get.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from cluster_maker import planted
from locomo import draft, turns
from reading_of import kept

from grail_mem import Memory
from grail_mem.consolidate.finding import KINDS

_WORD = r"[A-Z][\w'’-]+"
NAME = re.compile(rf"{_WORD}(?: (?:of|de|von|van|the) {_WORD}| {_WORD})+")
"""Two capitalised words or more in a row, with `of` and the like between them."""
COPIES = 0.01
"""Share of observations that are written down a second time."""
RESPELLED = 0.02
"""Share of observations in which one name is spelled anew."""
AT_ONCE = 5_000


def grown(n: int) -> list[dict[str, Any]]:
    """Drafts of a store of about n observations, with copies and names spelled anew."""
    drafts = planted(n, noise=0.1).drafts
    rng = np.random.default_rng(1)
    for at in rng.choice(len(drafts), int(len(drafts) * RESPELLED), replace=False):
        first = drafts[at]["entities"][0]
        drafts[at] = drafts[at] | {"entities": [{"name": f"{first['name']} Inc."}, *drafts[at]["entities"][1:]]}
    copied = rng.choice(len(drafts), int(len(drafts) * COPIES), replace=False)
    return drafts + [drafts[at] | {"source": f"copy {at}", "content": f"{drafts[at]['content']} "} for at in copied]


def filled(memory: Memory, drafts: list[dict[str, Any]]) -> None:
    for start in range(0, len(drafts), AT_ONCE):
        memory.add_observations(drafts[start : start + AT_ONCE])
    memory.compact()


def measured(n: int, answers: Any) -> None:
    """One whole run over one store, with the seconds that each kind takes."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "grail.yaml").write_text("durability: fast\nembedder: none\nfacts: keep\n")
        with Memory(folder) as memory:
            filled(memory, grown(n))
            (n_entities,) = memory.sql("SELECT count(*) AS n FROM entities").column("n").to_pylist()
            (n_rows,) = memory.sql("SELECT count(*) AS n FROM observations").column("n").to_pylist()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        with Memory(folder) as memory:
            began = time.perf_counter()
            cpu = time.process_time()
            whole = memory.consolidate()
            took = time.perf_counter() - began
            cpu = time.process_time() - cpu
            again = memory.consolidate()
        by_kind = {}
        with Memory(folder) as memory:
            for kind in KINDS:
                began = time.process_time()
                memory.consolidate(kinds=[kind], dry_run=True)
                by_kind[kind] = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found = Counter(proposal.kind for proposal in whole)
        answers.put((n_rows, n_entities, took, cpu, by_kind, found, len(again.new), before, peak))


def scale(sizes: list[int]) -> None:
    context = get_context("spawn")
    print(
        "| observations | entities | run, s | processor, s | us an observation | proposals | new in a second run | MB before | MB peak |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    rows = []
    for n in sizes:
        answers: Any = context.SimpleQueue()
        process = context.Process(target=measured, args=(n, answers))
        process.start()
        rows.append(answers.get())
        process.join()
        n_rows, n_entities, took, cpu, _, found, n_new, before, peak = rows[-1]
        print(
            f"| {n_rows:,} | {n_entities:,} | {took:.1f} | {cpu:.1f} | {1e6 * cpu / n_rows:.0f} | {found.total():,} | {n_new} | {before:.0f} | {peak:.0f} |",
            flush=True,
        )
    print()
    print(f"| kind, processor s (proposals) | {' | '.join(f'{row[0]:,}' for row in rows)} |")
    print(f"|---|{'---:|' * len(rows)}")
    for kind in KINDS:
        print(f"| `{kind}` | {' | '.join(f'{row[4][kind]:.1f} ({row[5][kind]})' for row in rows)} |")


def passages(path: Path) -> Iterator[dict[str, Any]]:
    """One observation a passage of an encyclopaedia, each once, in folders by its first letter."""
    corpus = json.loads(path.read_bytes())
    pairs = (
        [(title, "".join(lines)) for title, lines in corpus.items()]
        if isinstance(corpus, dict)
        else [(item["title"], item["text"]) for item in corpus]
    )
    for title, text in dict.fromkeys(pairs):
        names = sorted({re.sub(r" \(.*\)$", "", title), *NAME.findall(text)})[:40]
        letter = title[:1].lower() if title[:1].isascii() and title[:1].isalpha() else "other"
        yield {"title": title, "content": text, "category": f"wiki/{letter}", "entities": [{"name": n} for n in names]}


def judged(name: str, drafts: list[dict[str, Any]], embedder: str) -> None:
    """Every proposal on one set, with its confidence."""
    with tempfile.TemporaryDirectory() as folder, kept(Path(folder), embedder=embedder) as memory:
        filled(memory, drafts)
        memory.index()
        done = memory.consolidate()
        found = Counter(proposal.kind for proposal in done)
        print(f"{name}: {len(drafts)} observations, {done.took_s:.1f} s, {dict(found) or 'no proposal'}")
        for proposal in done:
            near = proposal.evidence.figures.get("nearness")
            said = "" if near is None else f"  [{near}]"
            print(f"  {proposal.kind:<22} {proposal.confidence:.2f}  {proposal.rationale}{said}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, nargs="+", default=[])
    for name in ("locomo", "hotpotqa", "musique"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--embedder", default="none", help="`local`: with the vectors of passages as evidence")
    options = parser.parse_args()
    if options.scale:
        scale(options.scale)
    if options.locomo:
        judged("LoCoMo", [draft(turn) for turn in turns(options.locomo)], options.embedder)
    for name in ("hotpotqa", "musique"):
        if path := getattr(options, name):
            judged(name, list(passages(path)), options.embedder)


if __name__ == "__main__":
    main()
