"""Clusters of observations and the entities they share: found, compared with chance, and seen whether they last.

Knows nothing of folders and of what is done with a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from grail_mem.consolidate.graph.network import Network
from grail_mem.consolidate.graph.partition import leiden

if TYPE_CHECKING:
    import numpy as np

RESOLUTIONS: Final = (1.0, 4.0, 16.0, 64.0)
"""The scales that are looked at, coarse to fine; Leiden finds nothing smaller than about the square root of all mentions
at 1 (Fortunato and Barthélemy 2007), and a store of 100,000 may hold groups of a dozen."""
SMALLEST_LINKS: Final = 15
"""Mentions in or of a cluster below which it is not worth a scale: five observations with three entities each."""
SAMPLES: Final = 10
SAMPLE_SHARE: Final = 0.85
"""How often, and on which share of the observations, the search is repeated to see what lasts; chosen."""
REWIRED_NODES: Final = 40_000
REWIRED_MOST: Final = 20
"""Rewired copies are searched until they hold so many nodes in all, one at least and twenty at most: with twenty a cluster
that none of them matches is one in twenty by chance, over all clusters of the store."""
ABOVE_CHANCE: Final = 0.1
"""How much closer than the closest cluster of rewired copies; chosen by `tests/benchmarks/clusters.py`."""
STABLE: Final = 0.75
"""Mean similarity from which on a cluster lasts. Source: Hennig 2007, see `lasting`."""
SEED: Final = 20_190_326
"""Chosen once, so that the same store gives the same clusters."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Observations that share entities.

    Attributes:
        observations: Their numbers in the network, ascending.
        entities: The numbers of the entities that belong to it, the most central first.
        n_links: Mentions of these entities in these observations.
        conductance: Share of all mentions in or of the cluster that lead out of it, 0 to 1.
        closeness: How well it is told from the rest, 1 when no mention leads out of it, 0 when as many as by chance stay
            inside: the correlation, over all mentions, of "its observation is inside" and "its entity is inside".
    """

    observations: np.ndarray
    entities: np.ndarray
    n_links: int
    conductance: float
    closeness: float


def resolutions(network: Network) -> list[float]:
    """The scales at which the network may hold clusters that count: groups at a scale r have some √(2 links / r) links."""
    return [scale for scale in RESOLUTIONS if scale == 1 or 2 * len(network.links) / scale >= SMALLEST_LINKS**2]


def find_clusters(network: Network, resolution: float, least: int) -> list[Cluster]:
    """The clusters with at least so many observations, the largest first, then by the first observation."""
    import numpy as np

    n = len(network.ids)
    groups = leiden(network.n_nodes, network.ends, resolution=resolution, seed=SEED)
    belongs = _kept(network, groups)
    order = np.argsort(belongs, kind="stable")
    counts = np.bincount(belongs[belongs >= 0], minlength=int(groups.max()) + 1)
    starts = np.cumsum(counts) - counts + int((belongs < 0).sum())
    of_entity = groups[n:]
    by_group = np.argsort(of_entity, kind="stable")
    first = np.searchsorted(of_entity[by_group], np.arange(len(counts) + 1))
    large = [int(g) for g in np.flatnonzero(counts >= least) if first[g] < first[g + 1]]
    inside = _inside(network, belongs, of_entity)
    clusters = [
        _cluster(network, order[starts[g] : starts[g] + counts[g]], by_group[first[g] : first[g + 1]], inside)
        for g in large
    ]
    return sorted(clusters, key=lambda cluster: (-len(cluster.observations), int(cluster.observations[0])))


def _kept(network: Network, groups: np.ndarray) -> np.ndarray:
    """The group of each observation, -1 where fewer than half of its mentions are of the group's entities; int64."""
    import numpy as np

    n = len(network.ids)
    same = groups[network.links[:, 0]] == groups[n + network.links[:, 1]]
    total = np.bincount(network.links[:, 0], minlength=n)
    near = np.bincount(network.links[:, 0], weights=same, minlength=n)
    return np.where((near > 0) & (2 * near >= total), groups[:n], -1)


def _inside(network: Network, belongs: np.ndarray, of_entity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mentions inside a cluster of each observation and of each entity."""
    import numpy as np

    links = network.links[belongs[network.links[:, 0]] == of_entity[network.links[:, 1]]]
    return (
        np.bincount(links[:, 0], minlength=len(network.ids)),
        np.bincount(links[:, 1], minlength=len(network.keys)),
    )


def _cluster(
    network: Network, observations: np.ndarray, entities: np.ndarray, inside: tuple[np.ndarray, np.ndarray]
) -> Cluster:
    import numpy as np

    n_links = int(inside[0][observations].sum())
    share = inside[1][entities] ** 2 / np.maximum(1, network.spread[entities])
    order = entities[np.lexsort((entities, -share))]
    order = order[inside[1][order] > 0]
    degree, reach = int(network.degree[observations].sum()), int(network.spread[order].sum())
    return Cluster(
        observations, order, n_links, 1 - 2 * n_links / (degree + reach),
        _closeness(n_links, degree, reach, len(network.links)),
    )  # fmt: skip


def binding(network: Network, cluster: Cluster, least: int) -> int:
    """How many of the cluster's entities at least so many of its observations mention."""
    import numpy as np

    mentioned, counts = np.unique(network.links_of(cluster.observations)[:, 1], return_counts=True)
    return int((counts[np.isin(mentioned, cluster.entities)] >= least).sum())


def _closeness(n_links: int, degree: int, reach: int, n_all: int) -> float:
    """The phi coefficient of the four numbers of mentions that a cluster makes of all mentions."""
    spread = degree * (n_all - degree) * reach * (n_all - reach)
    return (n_links * n_all - degree * reach) / math.sqrt(spread) if spread else 0.0


def closer_than_chance(
    network: Network,
    resolution: float,
    clusters: Sequence[Cluster],
    least: int,
    counts: Callable[[Network, Cluster], bool],
) -> tuple[list[Cluster], float]:
    """The clusters that are closer than any in rewired copies, which are searched and judged in the same way.

    Args:
        network: The network, which is rewired.
        resolution: The scale at which the clusters were found.
        clusters: The clusters.
        least: Observations of a cluster in a copy.
        counts: Whether a cluster in a copy counts.

    Returns:
        The clusters that are closer by `ABOVE_CHANCE`, and the closeness of the closest one in a copy, 0 for none.
    """
    most = 0.0
    for copy in range(min(REWIRED_MOST, max(1, REWIRED_NODES // network.n_nodes))):
        clusters = [cluster for cluster in clusters if cluster.closeness >= most + ABOVE_CHANCE]
        if not clusters:
            break
        rewired = network.rewired(SEED + copy)
        found = find_clusters(rewired, resolution, least)
        most = max([most, *(cluster.closeness for cluster in found if counts(rewired, cluster))])
    return [cluster for cluster in clusters if cluster.closeness >= most + ABOVE_CHANCE], most


def lasting(network: Network, resolution: float, clusters: Sequence[Cluster]) -> list[float]:
    """How well each cluster is found again in parts of the network: the mean Jaccard similarity with its best match, 0 to 1.

    Where no cluster can reach `STABLE` any more the search ends, and what is returned is too low.

    Args:
        network: Where they were found.
        resolution: The scale at which they were found.
        clusters: The clusters.

    Source:
        Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics & Data Analysis 52 (2007): from
        0.75 on a cluster is stable, from 0.85 on highly so.
    """
    import numpy as np

    if not clusters:
        return []
    sums = np.zeros(len(clusters))
    for run in range(SAMPLES):
        rng = np.random.default_rng([SEED, run])
        sample = np.sort(rng.permutation(len(network.ids))[: int(SAMPLE_SHARE * len(network.ids))])
        sums += _found_again(network.only(sample), sample, len(network.ids), resolution, clusters)
        if (sums + SAMPLES - run - 1 < STABLE * SAMPLES).all():
            break  # none can reach it any more
    return [float(value) for value in sums / SAMPLES]


def _found_again(
    part: Network, sample: np.ndarray, n: int, resolution: float, clusters: Sequence[Cluster]
) -> np.ndarray:
    """The Jaccard similarity of each cluster with its best match in a part of the network; observations are compared."""
    import numpy as np

    groups = np.full(n, -1)
    if len(part.links):
        groups[sample] = _kept(part, leiden(part.n_nodes, part.ends, resolution=resolution, seed=SEED))
    drawn = np.zeros(n, dtype=bool)
    drawn[sample] = True
    sizes = np.bincount(groups[groups >= 0], minlength=1)
    similar = np.zeros(len(clusters))
    for at, cluster in enumerate(clusters):
        members = groups[cluster.observations[drawn[cluster.observations]]]
        met, both = np.unique(members[members >= 0], return_counts=True)
        similar[at] = (both / (len(members) + sizes[met] - both)).max(initial=0.0)
    return similar
