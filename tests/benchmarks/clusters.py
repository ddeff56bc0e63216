"""Planted stores, and what the detectors of groups and places make of them; the time they take.

`python tests/benchmarks/clusters.py [--quality] [--ari] [--time 1000,10000,100000] [--seeds 3]`. Prints tables: precision
and recall of each kind at several noise levels and in a store without structure; how well partitions agree with the
truth (adjusted Rand index), beside connected components, label propagation, Louvain and Leiden at one scale; seconds
and memory by size.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from cluster_maker import Planted, planted
from reading_of import reading_of

from grail_mem import Memory
from grail_mem.consolidate.detectors.communities import discover_community
from grail_mem.consolidate.detectors.folders import split_folder
from grail_mem.consolidate.detectors.placement import move_entity, move_observation
from grail_mem.consolidate.finding import Finding
from grail_mem.consolidate.graph.clusters import RESOLUTIONS, SEED
from grail_mem.consolidate.graph.network import Network, read_networks
from grail_mem.consolidate.graph.partition import leiden
from grail_mem.consolidate.reading import Reading

DETECTORS = (discover_community, split_folder, move_observation, move_entity)
NOISE = (0.0, 0.1, 0.2, 0.3, 0.5)
PURE = 0.8
"""Share of a found group that must be of one planted group for the finding to be right."""


@contextmanager
def opened(store: Planted) -> Iterator[tuple[Reading, dict[str, int]]]:
    """A store of the drafts, as detectors read it, and the number of each draft by id."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "grail.yaml").write_text("durability: fast\nembedder: none\n")
        with Memory(folder) as memory:
            numbers: dict[str, int] = {}
            for start in range(0, len(store.drafts), 5000):
                written = memory.add_observations(store.drafts[start : start + 5000])
                numbers |= {item.id: start + at for at, item in enumerate(written)}
            memory.compact()
            with reading_of(memory) as reading:
                yield reading, numbers


def right(store: Planted, numbers: dict[str, int], finding: Finding) -> tuple[bool, set[str]]:
    """Whether a finding is right, and which planted things it found."""
    if finding.kind == "discover_community":
        counts = Counter(store.group[numbers[identifier]] for identifier in finding.payload["observations"])
        group, n = counts.most_common(1)[0]
        return group.startswith("topic") and n >= PURE * counts.total(), {group}
    if finding.kind == "split_folder":
        pure = [
            Counter(store.group[numbers[identifier]] for identifier in part["ids"]).most_common(1)[0][1]
            / len(part["ids"])
            for part in finding.payload["groups"]
        ]
        return finding.payload["category"] in store.split and min(pure) >= PURE, {finding.payload["category"]}
    if finding.kind == "move_observation":
        at = numbers[finding.payload["id"]]
        return store.belongs[at] == finding.payload["to"], {str(at)}
    moved = {numbers[identifier] for identifier in finding.payload["ids"]}
    strayed = {name for name, those in store.moved.items() if len(those & moved) >= 2}
    return all(store.belongs[at] == finding.payload["to"] for at in moved), strayed | {str(at) for at in moved}


def planted_of(store: Planted, kind: str) -> set[str]:
    """The planted things that a kind is to find."""
    if kind == "discover_community":
        return {f"topic {at}" for at in range(store.n_topics)}
    if kind == "split_folder":
        return set(store.split)
    if kind == "move_entity":
        return set(store.moved)
    strayed = set().union(*store.moved.values())
    lost = (at for at, folder in enumerate(store.belongs) if folder and folder != store.drafts[at]["category"])
    return {str(at) for at in lost if at not in strayed}


def without_structure(store: Planted, seed: int) -> Planted:
    """The same folders and entities, but who is mentioned where is drawn anew."""
    rng = np.random.default_rng(seed)
    names = [entity["name"] for draft in store.drafts for entity in draft["entities"]]
    drawn = iter(rng.permutation(names).tolist())
    drafts = [
        draft | {"entities": [{"name": name} for name in dict.fromkeys(next(drawn) for _ in draft["entities"])]}
        for draft in store.drafts
    ]
    return Planted(drafts, store.group, [""] * len(drafts))


def quality(n: int, seeds: int) -> None:
    """Precision and recall by noise and kind."""
    print(f"{n} observations, {seeds} seeds")
    print(f"{'noise':>8} {'kind':<20} {'found':>6} {'right':>6} {'planted':>8} precision recall")
    for noise in (*NOISE, None):
        counts: dict[str, Counter[str]] = {detector.__name__: Counter() for detector in DETECTORS}
        for seed in range(seeds):
            store = planted(n, noise=noise or 0.0, seed=seed)
            if noise is None:
                store = without_structure(store, seed)
            with opened(store) as (reading, numbers):
                found_by = {detector.__name__: list(detector(reading)) for detector in DETECTORS}
                for kind, findings in found_by.items():
                    also = found_by["move_entity"] if kind == "move_observation" else []
                    counts[kind] += counted(store, numbers, kind, findings, also)
        for kind, count in counts.items():
            found, correct, hit, there = (count[what] for what in ("found", "right", "hit", "planted"))
            precision = f"{correct / found:9.2f}" if found else f"{'-':>9}"
            recall = f"{hit / there:6.2f}" if there else f"{'-':>6}"
            print(
                f"{'random' if noise is None else noise:>8} {kind:<20} {found:6} {correct:6} {there:8} {precision} {recall}"
            )


def counted(
    store: Planted, numbers: dict[str, int], kind: str, findings: list[Finding], also: list[Finding]
) -> Counter[str]:
    """How many findings there are and are right, and how many planted things there are and were found, by `also` as well."""
    reached: set[str] = set()
    n_right = 0
    for finding in findings:
        good, what = right(store, numbers, finding)
        n_right += good
        if good:
            reached |= what
        else:
            print("    wrong:", finding.confidence, finding.rationale, dict(finding.figures))
    for finding in also:
        good, what = right(store, numbers, finding)
        reached |= what if good else set()
    wanted = planted_of(store, kind)
    return Counter(found=len(findings), right=n_right, hit=len(reached & wanted), planted=len(wanted))


def agreement(left: np.ndarray, right_: np.ndarray) -> float:
    """The adjusted Rand index of two partitions (Hubert and Arabie 1985): 1 for equal ones, 0 on average for random ones."""
    table = Counter(zip(left.tolist(), right_.tolist(), strict=True))

    def pairs(counts: Counter) -> float:
        return sum(count * (count - 1) / 2 for count in counts.values())

    both, one, other = pairs(table), pairs(Counter(left.tolist())), pairs(Counter(right_.tolist()))
    usual = one * other / (len(left) * (len(left) - 1) / 2)
    return (both - usual) / ((one + other) / 2 - usual)


def _with_igraph(ask: Callable) -> Callable[[Network], np.ndarray]:
    def groups(network: Network) -> np.ndarray:
        import igraph

        igraph.set_random_number_generator(random.Random(SEED))
        return np.asarray(ask(igraph.Graph(n=network.n_nodes, edges=network.ends)).membership)

    return groups


def most_significant(network: Network) -> np.ndarray:
    """The partition at the scale at which it is most significant (Traag, Krings and Van Dooren 2013)."""
    import igraph
    import leidenalg

    graph = igraph.Graph(n=network.n_nodes, edges=network.ends)
    found = [leiden(network.n_nodes, network.ends, resolution=resolution, seed=SEED) for resolution in RESOLUTIONS]
    kind = leidenalg.SignificanceVertexPartition
    return max(found, key=lambda groups: kind(graph, initial_membership=groups.tolist()).quality())


WAYS: dict[str, Callable[[Network], np.ndarray]] = {
    "connected components": _with_igraph(lambda graph: graph.connected_components()),
    "label propagation": _with_igraph(lambda graph: graph.community_label_propagation()),
    "Louvain": _with_igraph(lambda graph: graph.community_multilevel()),
    "Leiden, resolution 1": lambda network: leiden(network.n_nodes, network.ends, seed=SEED),
    "Leiden, resolution 4": lambda network: leiden(network.n_nodes, network.ends, resolution=4.0, seed=SEED),
    "Leiden, most significant": lambda network: most_significant(network),
}


def agreements(n: int, seeds: int) -> None:
    """Agreement of partitions with the truth by noise."""
    print(f"adjusted Rand index against the planted groups, {n} observations, mean of {seeds} seeds")
    print(f"{'':<26}" + "".join(f"{noise:>8}" for noise in NOISE))
    table: dict[str, list[float]] = {way: [] for way in WAYS}
    for noise in NOISE:
        sums = Counter()
        for seed in range(seeds):
            store = planted(n, noise=noise, seed=seed)
            with opened(store) as (reading, numbers):
                network = next(read_networks(reading))
                truth = np.unique([store.group[numbers[i]] for i in network.ids], return_inverse=True)[1]
                for way, groups in WAYS.items():
                    sums[way] += agreement(groups(network)[: len(truth)], truth) / seeds
        for way in WAYS:
            table[way].append(sums[way])
    for way, values in table.items():
        print(f"{way:<26}" + "".join(f"{value:8.2f}" for value in values))


def times(sizes: list[int]) -> None:
    """Seconds of the processor and memory by size; another process on the machine changes them little."""
    print(
        f"{'observations':>12} {'entities':>9} "
        + " ".join(f"{detector.__name__:>19}" for detector in DETECTORS)
        + "   peak MB"
    )
    for n in sizes:
        store = planted(n)
        entities = {entity["name"] for draft in store.drafts for entity in draft["entities"]}
        with opened(store) as (reading, _):
            taken = []
            for detector in DETECTORS:
                start = time.process_time()
                found = sum(1 for _ in detector(reading))
                taken.append(f"{time.process_time() - start:10.1f} s {found:>5}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{len(store.drafts):12} {len(entities):9} " + " ".join(f"{text:>19}" for text in taken) + f" {peak:9.0f}",
            flush=True,
        )


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--ari", action="store_true")
    parser.add_argument("--time", default="")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    if asked.quality:
        quality(asked.rows, asked.seeds)
    if asked.ari:
        agreements(asked.rows, asked.seeds)
    if asked.time:
        times([int(text) for text in asked.time.split(",")])


if __name__ == "__main__":
    main()
