"""Whether merge_duplicates finds what is said twice and nothing else: `python tests/benchmarks/duplicates.py [--msr FILE]`.

Every pair stands in a scope of its own in one store, and the detector runs over all of it, so that candidates count, too.
`--msr` takes the MSR paraphrase corpus (a tab-separated file with Quality, two ids, two strings); its pairs are sentences of
news whose label says whether they mean about the same, which is more than being one statement. The made pairs differ by
stated rules (`CAREFUL` and `OTHER`). `--scale` measures time and memory, each size in a process of its own.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from reading_of import findings

from grail_mem import Memory
from grail_mem.consolidate.detectors.duplicates import merge_duplicates
from grail_mem.index.embedder import LocalEmbedder, local_is_installed, unit

Rule = Callable[[str, random.Random], str]


class Pair(NamedTuple):
    """Two texts, and whether they are one statement."""

    rule: str
    same: bool
    left: str
    right: str


def swap(*pairs: tuple[str, str]) -> Rule:
    """The first of the words that stands in a text becomes the other one."""

    def changed(text: str, _: random.Random) -> str:
        one, other = next((a, b) for a, b in pairs if a in text)
        return text.replace(one, other, 1)

    return changed


def typo(text: str, chance: random.Random) -> str:
    """One letter within a long small word is doubled."""
    words = [word for word in text.split() if len(word) > 6 and word.isalpha() and word.islower()]
    word = chance.choice(words)
    at = chance.randrange(2, len(word) - 3)
    return text.replace(word, word[: at + 1] + word[at] + word[at + 1 :], 1)


def bolded(text: str, chance: random.Random) -> str:
    """A list item with a word in bold and one as code."""
    words = text.split()
    at, other = chance.sample(range(len(words)), 2)
    words[at], words[other] = f"**{words[at]}**", f"`{words[other]}`"
    return f"- {' '.join(words)}"


CAREFUL: Final[dict[str, Rule]] = {
    "exact": lambda text, _: text,
    "white space": lambda text, _: f"\n{text.replace(' ', '  ')} \n",
    "case and points": lambda text, _: text.upper().rstrip(".") + "!",
    "markdown": bolded,
    "articles": lambda text, _: text.replace("the ", "", 1),
    "typing error": typo,
    "stored pack": lambda text, _: f'<observation id="1" category="x">\n{text}\n</observation>',
}
"""What a careless copy changes."""
OTHER: Final[dict[str, Rule]] = {
    "number": lambda text, chance: text.replace(n := next(w for w in text.split() if w.isdigit()), str(int(n) + chance.randint(1, 9)), 1),
    "unit": swap((" minutes", " hours"), (" GB", " MB"), (" euros", " dollars")),
    "name": swap(("Acme", "Apex"), ("Globex", "Initech"), ("Umbra", "Umber")),
    "negation": swap((" keeps ", " never keeps "), (" limits ", " does not limit "), (" bills ", " no longer bills ")),
    "date": swap(("March", "May"), ("June", "July"), ("October", "August")),
    "direction": lambda text, _: text.replace(" to ", " § ", 1).replace(" from ", " to ", 1).replace(" § ", " from ", 1),
    "tense": swap((" keeps ", " kept "), (" limits ", " limited "), (" bills ", " billed ")),
    "question": lambda text, _: f"{text.rstrip('.')}?",
}  # fmt: skip
"""One detail that makes another statement."""


_OWNERS: Final = "customer warehouse insurance laboratory settlement passenger employee procurement maintenance municipal hospital calendar"
_THINGS: Final = "registrations movements documents measurements instructions complaints signatures declarations photographs estimates"


def made(n: int, seed: int = 1) -> Iterator[Pair]:
    """So many pairs of every rule."""
    chance = random.Random(seed)
    for rules, same in ((CAREFUL, True), (OTHER, False)):
        for name, rule in rules.items():
            for _ in range(n):
                text = (
                    f"{chance.choice(('Acme', 'Globex', 'Umbra'))} {chance.choice(('keeps', 'limits', 'bills'))} the "
                    f"{chance.choice(_OWNERS.split())} {chance.choice(_THINGS.split())} that go from {chance.choice(('Lisbon', 'Oslo'))} to {chance.choice(('Turin', 'Vienna'))} "
                    f"for {chance.randint(2, 90)}{chance.choice((' minutes', ' GB', ' euros'))} since "
                    f"{chance.choice(('March', 'June', 'October'))}, as {chance.choice(('auditors', 'lawyers'))} recommended."
                )
                yield Pair(name, same, text, rule(text, chance))


def msr(path: Path) -> Iterator[Pair]:
    """The pairs of the corpus."""
    for line in path.read_text(encoding="utf-8-sig").splitlines()[1:]:
        quality, _, _, left, right = line.split("\t")
        yield Pair("msr", quality == "1", left, right)


def detected(pairs: Sequence[Pair]) -> list[float]:
    """The confidence of the detector for each pair; 0 where it finds nothing."""
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        drafts = [
            {"content": text, "title": "Note", "scope": f"pair-{n}", "category": side}
            for n, pair in enumerate(pairs)
            for side, text in (("left", pair.left), ("right", pair.right))
        ]
        number_of: dict[str, int] = {}
        for first in range(0, len(drafts), 2_000):
            for place, written in enumerate(memory.add_observations(drafts[first : first + 2_000]), start=first):
                number_of[written.id] = place // 2
        memory.compact()
        sure = {number_of[finding.affected[0]]: finding.confidence for finding in findings(memory, merge_duplicates)}
    return [sure.get(number, 0.0) for number in range(len(pairs))]


def jaccard(pair: Pair) -> float:
    left, right = ({*text.lower().split()} for text in (pair.left, pair.right))
    return len(left & right) / len(left | right)


def cosines(pairs: Sequence[Pair]) -> list[float]:
    embedder = LocalEmbedder(threads=2)
    left, right = (unit(embedder.embed([getattr(pair, side) for pair in pairs])) for side in ("left", "right"))
    return [float(a @ b) for a, b in zip(left, right, strict=True)]


def scores(pairs: Sequence[Pair], *, vectors: bool) -> Iterator[tuple[str, Iterable[bool]]]:
    """Every method with what it takes for one statement."""
    sure = detected(pairs)
    yield "merge_duplicates >= .8", [s >= 0.8 for s in sure]
    yield "merge_duplicates >= .5", [s >= 0.5 for s in sure]
    yield "equal but for case and spaces", [p.left.lower().split() == p.right.lower().split() for p in pairs]
    for least in (0.9, 0.8):
        yield f"Jaccard of words >= {least}", [jaccard(pair) >= least for pair in pairs]
    if vectors and local_is_installed():
        close = cosines(pairs)
        for threshold in (0.98, 0.95, 0.9):
            yield f"MiniLM cosine >= {threshold}", [c >= threshold for c in close]


def table(name: str, pairs: Sequence[Pair], *, vectors: bool) -> None:
    """Precision and recall of every method."""
    n_same = sum(pair.same for pair in pairs)
    print(f"\n{name}: {len(pairs)} pairs, {n_same} of them one statement")
    print(f"{'method':32} {'found':>6} {'right':>6} {'precision':>10} {'recall':>8}")
    for method, taken in scores(pairs, vectors=vectors):
        answers = list(zip(pairs, taken, strict=True))
        found = [pair for pair, is_taken in answers if is_taken]
        right = sum(pair.same for pair in found)
        precision = f"{right / len(found):10.1%}" if found else f"{'-':>10}"
        print(f"{method:32} {len(found):6} {right:6} {precision} {right / n_same:8.1%}", flush=True)
        if method.startswith("merge_duplicates") and name == "made pairs":
            by_rule = Counter(pair.rule for pair in found)
            for rule in {pair.rule: 0 for pair in pairs}:
                print(f"    {rule:28} {by_rule[rule]:6} of {sum(pair.rule == rule for pair in pairs)}")


def scale(rows: int) -> None:
    """Time and memory over so many observations of Zipf words, one of twenty a copy and one of twenty boilerplate."""
    import numpy as np

    chance = np.random.default_rng(1)
    words = np.array([f"{a}{b}{c}" for a in "bcdfgklmnp" for b in ("are", "ilo", "uma", "eno") for c in range(500)])
    weights = 1 / np.arange(2, len(words) + 2)
    weights /= weights.sum()
    base = [" ".join(chance.choice(words, chance.integers(8, 60), p=weights)) for _ in range(rows * 9 // 10)]
    texts = (
        base + base[: rows // 20] + [f"User {n} prefers the dark theme of the main window." for n in range(rows // 20)]
    )
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        for first in range(0, rows, 5_000):
            memory.add_observations(
                [
                    {"content": text, "category": "copies" if len(base) <= place < len(base) + rows // 20 else "notes"}
                    for place, text in enumerate(texts[first : first + 5_000], start=first)
                ]
            )
        memory.compact()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun, cpu = time.perf_counter(), time.process_time()
        n = len(findings(memory, merge_duplicates))
        took, cpu = time.perf_counter() - begun, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{rows:>9} {took:8.1f} {cpu:8.1f} {n:9} {peak // 1024:9} {before // 1024:12}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--msr", type=Path, help="the MSR paraphrase corpus")
    parser.add_argument("--made", type=int, default=100, help="pairs of every rule")
    parser.add_argument("--no-vectors", action="store_true", help="leave the baseline of the local embedder out")
    parser.add_argument("--scale", type=int, nargs="*", default=[], help="numbers of observations")
    chosen = parser.parse_args()
    if len(chosen.scale) == 1 and not chosen.msr and not chosen.made:
        scale(chosen.scale[0])
        return
    if chosen.made:
        table("made pairs", list(made(chosen.made)), vectors=not chosen.no_vectors)
    if chosen.msr:
        table("MSR paraphrase corpus", list(msr(chosen.msr)), vectors=not chosen.no_vectors)
    if chosen.scale:
        print(
            f"\n{'rows':>9} {'seconds':>8} {'of CPU':>8} {'findings':>9} {'peak MB':>9} {'before, MB':>12}", flush=True
        )
        for rows in chosen.scale:
            subprocess.run([sys.executable, __file__, "--made", "0", "--scale", str(rows)], check=True)


if __name__ == "__main__":
    main()
