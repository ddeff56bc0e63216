"""Would vectors of what is said around a name tell two names of one thing from alike names of two things?

`python tests/benchmarks/alias_vectors.py MUSIQUE_CORPUS.json HOTPOTQA_CORPUS.json [--seed 1]`

One thing under two names is made by halving the passages that name a title; two things are titles that are spelled alike. The name is
masked, so nothing is seen but its surroundings. Compared on the same pairs: the share of common neighbours (which `merge_aliases`
uses, weighed), the cosine of the mean vectors of the sentences, and that of the whole passages with the name in them, whose
vectors a search index holds anyway. Passages of the title itself are left out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).parents[2])]

import numpy as np
from rapidfuzz import fuzz

from grail_mem.index.embedder import LocalEmbedder

LEAST_MENTIONS = 4
ALIKE = 75
MASK = "this one"


class Mention(NamedTuple):
    """One passage that names something: its sentences with the name masked, all of it, and the other names in it."""

    masked: str
    whole: str
    others: frozenset[str]


def passages(path: Path) -> list[tuple[str, str]]:
    """Title and text of every passage of either corpus."""
    read = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(read, dict):
        return [(title, "".join(sentences)) for title, sentences in read.items()]
    return [(one["title"], one["text"]) for one in read]


def auroc(yes: list[float], no: list[float]) -> float:
    """The share of pairs of one of each in which the first is higher; half for equal ones."""
    higher = np.subtract.outer(np.array(yes), np.array(no))
    return float((higher > 0).mean() + (higher == 0).mean() / 2)


def recall_at(yes: list[float], no: list[float], precision: float) -> float:
    """The most of the first that a bound can take while this share of what it takes is of the first."""
    best = 0.0
    for bound in sorted(set(yes)):
        right, wrong = sum(one >= bound for one in yes), sum(one >= bound for one in no)
        if right / (right + wrong) >= precision:
            best = max(best, right / len(yes))
    return best


def embedded(texts: list[str], kept: Path | None) -> dict[str, np.ndarray]:
    """The vectors of texts, from a file where they are kept."""
    if kept and kept.exists():
        read = np.load(kept, allow_pickle=False)
        if list(read["texts"]) == texts:
            return dict(zip(texts, read["vectors"], strict=True))
    made = LocalEmbedder(threads=2).embed(texts)
    if kept:
        np.savez(kept, texts=np.array(texts), vectors=made)
    return dict(zip(texts, made, strict=True))


def main() -> None:
    """Measure and print one table."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("corpora", nargs="+", type=Path)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--keep", type=Path, help="a file .npz that keeps the vectors from run to run")
    options = asked.parse_args()
    texts = list(dict.fromkeys(passage for path in options.corpora for passage in passages(path)))
    titles = sorted({re.sub(r" \(.*\)$", "", title) for title, _ in texts})
    names = [name for name in titles if len(name) > 3 and name[0].isupper() and not name.isdigit()]
    print(f"{len(texts)} passages, {len(names)} names", file=sys.stderr)
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + r")\b")
    said: dict[str, list[Mention]] = defaultdict(list)
    for title, text in texts:
        found = frozenset(pattern.findall(text))
        for name in sorted(found - {re.sub(r" \(.*\)$", "", title)}):
            sentences = [one for one in re.split(r"(?<=[.!?])\s+", text) if name in one]
            said[name].append(Mention(" ".join(sentences).replace(name, MASK), text, found - {name}))
    rng = random.Random(options.seed)
    known = {name: mentions for name, mentions in said.items() if len(mentions) >= LEAST_MENTIONS}
    same, apart = [], []
    for mentions in known.values():
        rng.shuffle(mentions)
        same.append((mentions[::2], mentions[1::2]))
    for left, right in combinations(sorted(said), 2):
        enough = len(said[left]) > 1 and len(said[right]) > 1
        if enough and fuzz.WRatio(left, right) >= ALIKE and not any(left in one.others for one in said[right]):
            apart.append((said[left], said[right]))
    every = sorted({text for pair in same + apart for half in pair for one in half for text in one[:2]})
    vectors = embedded(every, options.keep)
    middles = [
        np.mean(
            [vectors[text] for text in {one[field] for pair in same + apart for half in pair for one in half}], axis=0
        )
        for field in (0, 1)
    ]

    def close(pair: tuple[list[Mention], ...], field: int, *, centred: bool = False) -> float:
        middle = middles[field] if centred else 0
        left, right = (np.mean([vectors[one[field]] for one in half], axis=0) - middle for half in pair)
        return float(left @ right / (np.linalg.norm(left) * np.linalg.norm(right)))

    def shared(pair: tuple[list[Mention], ...]) -> float:
        left, right = (set().union(*(one.others for one in half)) for half in pair)
        return len(left & right) / max(1, min(len(left), len(right)))

    print(f"one thing: {len(same)} pairs; two things that are spelled alike: {len(apart)} pairs\n")
    print("| measure | AUROC | recall at 95 % precision | recall at 99 % |\n|---|---:|---:|---:|")
    rows: dict[str, Callable[[tuple[list[Mention], ...]], float]] = {
        "common neighbours": shared,
        "cosine of the sentences, name masked": lambda pair: close(pair, 0),
        "cosine of whole passages, as indexed": lambda pair: close(pair, 1),
        "the same, less the mean of all": lambda pair: close(pair, 1, centred=True),
        "neighbours and whole passages, added": lambda pair: shared(pair) + close(pair, 1, centred=True),
    }
    for name, measure in rows.items():
        yes, no = [measure(pair) for pair in same], [measure(pair) for pair in apart]
        print(f"| {name} | {auroc(yes, no):.3f} | {recall_at(yes, no, 0.95):.3f} | {recall_at(yes, no, 0.99):.3f} |")
    print("\n| cosine less the mean, at | one thing | two things |\n|---|---:|---:|")
    yes, no = ([close(pair, 1, centred=True) for pair in pairs] for pairs in (same, apart))
    for share in (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99):
        print(f"| quantile {share:.2f} | {np.quantile(yes, share):.2f} | {np.quantile(no, share):.2f} |")


if __name__ == "__main__":
    main()
