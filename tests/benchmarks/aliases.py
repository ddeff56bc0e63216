"""How well names that are one thing are found, and what it costs.

`python tests/benchmarks/aliases.py NICKNAMES.csv [--stores 20] [--seed 100] [--locomo FILE] [--scale 1000 10000 100000]`

NICKNAMES.csv has the columns name1, relationship, name2. Beware: the table of the package `nicknames`, by which the detector
knows nicknames, has the same origin, so recall of the rule `nickname` says how well links are used, not how many exist;
`--without-nicknames` shows what is left without the package. Precision counts groups, recall counts cases.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from alias_cases import SURNAMES, CaseStore, all_pairs, case_store, nickname_links
from reading_of import NOW_US, reading_of

from grail_mem import Memory
from grail_mem.consolidate.detectors import aliases
from grail_mem.consolidate.finding import Finding
from grail_mem.consolidate.names import nicknames
from grail_mem.consolidate.reading import Reading
from grail_mem.model.names import entity_key
from grail_mem.query.sql import SqlSession
from grail_mem.query.view import View
from grail_mem.settings import Settings
from grail_mem.store.layout import Layout


class Score:
    """Right and wrong suggestions, by rule and signal."""

    def __init__(self) -> None:
        self.right: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.hit: Counter[str] = Counter()
        self.cases: Counter[str] = Counter()
        self.false: Counter[str] = Counter()
        self.shown: list[str] = []

    def add(self, store: CaseStore, groups: Iterable[tuple[str, list[str], str]]) -> None:
        """Count the groups found in one store: signal, keys, and what to show when wrong."""
        paired = set()
        rule_of = {frozenset((c.left.lower(), c.right.lower())): c.rule for c in store.cases}
        for signal, keys, text in groups:
            is_right = len({store.thing_of.get(key, key) for key in keys}) == 1
            (self.right if is_right else self.wrong)[signal] += 1
            paired |= {frozenset(pair) for pair in combinations(keys, 2)}
            if not is_right:
                self.false[
                    next((rule_of[p] for p in map(frozenset, combinations(keys, 2)) if p in rule_of), "other")
                ] += 1
                self.shown.append(text)
        for case in store.cases:
            self.cases[case.rule] += case.is_one
            self.hit[case.rule] += case.is_one and frozenset((case.left.lower(), case.right.lower())) in paired

    def line(self, name: str) -> str:
        """Precision and recall over all."""
        right, wrong = self.right.total(), self.wrong.total()
        precision = right / (right + wrong) if right + wrong else float("nan")
        return f"{name:28} {right:6} {wrong:6} {precision:9.3f} {self.hit.total() / self.cases.total():7.3f}"


def of_findings(found: list[Finding], least: float) -> list[tuple[str, list[str], str]]:
    return [
        (str(f.grounds["signals"]), list(f.payload["keys"]), f"{f.confidence} {f.rationale}")
        for f in found
        if f.confidence >= least
    ]


def of_pairs(store: CaseStore, is_one: Callable[[str, str], bool]) -> list[tuple[str, list[str], str]]:
    return [("pair", [a.lower(), b.lower()], f"{a} / {b}") for a, b in all_pairs(store) if is_one(a, b)]


def quality(path: Path, n: int, seed: int, *, show: bool) -> None:
    """Precision and recall over made stores, with baselines that see the same names."""
    from rapidfuzz.distance import JaroWinkler
    from rapidfuzz.fuzz import WRatio
    from rapidfuzz.utils import default_process

    links = nickname_links(path)
    baselines: dict[str, Callable[[str, str], bool]] = {
        "exact key": lambda a, b: entity_key(a) == entity_key(b),
        "WRatio >= 90": lambda a, b: WRatio(a, b, processor=default_process, score_cutoff=90) >= 90,
        "Jaro-Winkler >= .9": lambda a, b: JaroWinkler.similarity(a.lower(), b.lower()) >= 0.9,
    }
    scores: dict[str, Score] = defaultdict(Score)
    for number in range(seed, seed + n):
        store = case_store(links, number)
        with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
            memory.add_observations(store.drafts)
            with reading_of(memory) as reading:
                found = list(aliases.merge_aliases(reading))
        for least in (0.5, 0.8):
            scores[f"merge_aliases >= {least}"].add(store, of_findings(found, least))
        for name, is_one in baselines.items():
            scores[name].add(store, of_pairs(store, is_one))
    print(f"{n} stores, {sum(scores['exact key'].cases.values())} pairs that are one thing\n")
    print(f"{'':28} {'right':>6} {'wrong':>6} {'precision':>9} {'recall':>7}")
    for name, score in scores.items():
        print(score.line(name))
    low, high = scores["merge_aliases >= 0.5"], scores["merge_aliases >= 0.8"]
    print(f"\n{'signal':28} {'right':>6} {'wrong':>6} {'precision':>9} {'right .8':>9} {'wrong .8':>9}")
    for signal in sorted(low.right | low.wrong):
        right, wrong = low.right[signal], low.wrong[signal]
        print(
            f"{signal:28} {right:6} {wrong:6} {right / (right + wrong):9.3f} {high.right[signal]:9} {high.wrong[signal]:9}"
        )
    print(f"\n{'rule':28} {'cases':>6} {'recall .5':>9} {'recall .8':>9}")
    for rule in sorted(r for r in low.cases if low.cases[r]):
        print(
            f"{rule:28} {low.cases[rule]:6} {low.hit[rule] / low.cases[rule]:9.3f} {high.hit[rule] / high.cases[rule]:9.3f}"
        )
    print("\nwrong by rule", dict(low.false))
    if show:
        print("\n".join(sorted(low.shown)))


def locomo(path: Path) -> None:
    """What is suggested in stores of conversations: speakers and words with capitals as entities."""
    import regex as re
    from retrieval_sets import load

    from grail_mem.index.tokens import STOP_WORDS

    named = re.compile(r"\b\p{Lu}[\p{L}\p{N}’'.&-]*\p{L}(?: (?:of |the )?\p{Lu}[\p{L}\p{N}’'.&-]*\p{L})*")
    for store in load("locomo", path):
        drafts = []
        for draft in store.drafts:
            names = {
                m[0]
                for m in named.finditer(draft["content"])
                if m[0].lower() not in STOP_WORDS and not m[0].startswith("I'")
            }
            entities = [
                {"name": draft["speaker"], "type": "PERSON"},
                *({"name": name} for name in sorted(names - {draft["speaker"]})),
            ]
            drafts.append({**draft, "entities": entities})
        with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
            memory.add_observations(drafts)
            with reading_of(memory) as reading:
                n = reading.ask("SELECT count(DISTINCT key) AS n FROM mentions").to_pylist()[0]["n"]
                found = list(aliases.merge_aliases(reading))
        print(f"\n{store.name}: {len(drafts)} observations, {n} names, {len(found)} findings")
        for finding in found:
            print(f"  {finding.confidence:.2f} {finding.rationale}")


def scale(rows: int, path: Path) -> None:
    """Time and peak memory of one run, in a process of its own."""
    context = get_context("spawn")
    queue: Any = context.Queue()
    process = context.Process(target=_scale, args=(rows, path, queue))
    process.start()
    n_entities, n_found, seconds, before, peak = queue.get()
    process.join()
    print(f"{rows:9} {n_entities:9} {n_found:9} {seconds:8.2f} {before:10.0f} {peak:10.0f}")


def _scale(rows: int, path: Path, queue: Any) -> None:
    import numpy as np
    import pyarrow as pa
    import store_maker

    table = store_maker.rows_table(rows)
    rng = np.random.default_rng(7)
    names = _many_names(path, max(50, rows // 5), rng)
    entities = store_maker._entities(rng, rows, names).cast(table.schema.field("entities").type)
    relations = store_maker._relationships(rng, rows, names).cast(table.schema.field("relationships").type)
    for name, column in (("entities", entities), ("relationships", relations)):
        table = table.set_column(
            table.schema.get_field_index(name), table.schema.field(name), pa.chunked_array([column])
        )
    with tempfile.TemporaryDirectory() as folder:
        store_maker.write_snapshot(Path(folder), table)
        del table, entities, relations
        started = get_context("spawn").Queue()
        process = get_context("spawn").Process(target=_measured, args=(folder, started))
        process.start()
        queue.put(started.get())
        process.join()


def _measured(folder: str, queue: Any) -> None:
    view = View(Layout(Path(folder)), Settings())  # not refreshed: the files behind the rows are not there
    session = SqlSession(view)
    reading = Reading(session, NOW_US)
    before = _peak_mb()
    begin = time.perf_counter()
    found = sum(1 for _ in aliases.merge_aliases(reading))
    seconds = time.perf_counter() - begin
    peak = _peak_mb()
    n = reading.ask("SELECT count(*) AS n FROM entities").to_pylist()[0]["n"]
    session.close()
    view.close()
    queue.put((n, found, seconds, before, peak))


def _peak_mb() -> float:
    """The most memory that this process had; `ru_maxrss` would count that of the process that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def _many_names(path: Path, n: int, rng: Any) -> list[str]:
    """Names of people, companies and things, no two the same; some differ in legal form, initial or number only."""
    given = sorted({name for link in nickname_links(path) for name in link})
    parts = [
        "lor",
        "mex",
        "tan",
        "ver",
        "quil",
        "dra",
        "sten",
        "ober",
        "fal",
        "nim",
        "gar",
        "thel",
        "wick",
        "pau",
        "zen",
        "rho",
    ]
    words = ["".join(rng.choice(parts, size=k)).title() for k in rng.integers(2, 5, 4000)]
    names: dict[str, str] = {}
    while len(names) < n:
        word, other, number = rng.choice(words), rng.choice(words), rng.integers(1, 400)
        person = rng.choice(given)
        for name in (
            f"{person} {rng.choice(SURNAMES)}", f"{word} {other}", f"{word} Inc.", word, f"Release {number}.{number % 7}",
            f"{person[0]}. {word}", f"{person} {word}", f"Project {word} {number}",
        ):  # fmt: skip
            names.setdefault(name.lower(), name)
    return list(names.values())[:n]


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("nicknames", type=Path)
    parser.add_argument("--stores", type=int, default=20)
    parser.add_argument("--seed", type=int, default=100, help="of the first store; thresholds were chosen on 0 to 19")
    parser.add_argument("--without-nicknames", action="store_true", help="as if the package were not installed")
    parser.add_argument("--show", action="store_true", help="list what is wrong")
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--scale", type=int, nargs="*", default=[])
    args = parser.parse_args()
    if args.without_nicknames:
        aliases.nicknames = nicknames.Nicknames
    if args.stores:
        quality(args.nicknames, args.stores, args.seed, show=args.show)
    if args.locomo:
        locomo(args.locomo)
    if args.scale:
        print(f"\n{'rows':>9} {'entities':>9} {'findings':>9} {'seconds':>8} {'MB before':>10} {'MB peak':>10}")
    for rows in args.scale:
        scale(rows, args.nicknames)


if __name__ == "__main__":
    main()
