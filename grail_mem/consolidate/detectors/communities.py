"""Groups of observations that lie in several folders and are about the same few things: they get an overview.

Method: the graph of observations and the entities they mention is partitioned at several scales; a cluster counts
when no folder holds it already, when it is bound together by several entities, when no rewired copy of the graph holds one
as closed, and when it is found again in parts of the store. Knows nothing of how an overview is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from grail_mem.consolidate.finding import Finding, Quote
from grail_mem.consolidate.graph.clusters import (
    STABLE,
    Cluster,
    binding,
    closer_than_chance,
    find_clusters,
    lasting,
    resolutions,
)
from grail_mem.consolidate.graph.naming import free_category
from grail_mem.consolidate.graph.network import Network, read_networks
from grail_mem.consolidate.reading import Reading
from grail_mem.model.category import communities

if TYPE_CHECKING:
    import numpy as np

LEAST_MEMBERS: Final = 5
"""Observations; with fewer there is nothing to sum up."""
LEAST_ENTITIES: Final = 3
"""Entities that bind a cluster together, each in three or more of its members."""
BINDING: Final = 3
MOST_IN_ONE_FOLDER: Final = 0.7
"""Share of a cluster in one folder above which that folder is its home."""
ALREADY_A_FOLDER: Final = 1 / 3
"""Jaccard similarity of a cluster with everything below a folder, from which on that folder is already the community."""
WITHOUT_FIRST: Final = 0.5
"""Share of members that must mention another entity of the cluster than its most central one: otherwise it is a list of
what mentions one thing, which recall counts by itself."""
LOOSEST: Final = 0.5
"""Highest conductance: more mentions stay inside than lead out (Radicchi et al. 2004, community in the weak sense)."""
MOST_RELATED: Final = 200
MOST_NAMED: Final = 12
_NEWEST: Final = 10
_QUOTES: Final = 6

_OVERVIEWS: Final = """
    SELECT id, unnest(CAST(json_extract(more, '$.related_to') AS VARCHAR[])) AS about
    FROM rows WHERE kind = 'summary' AND json_extract(more, '$.related_to') IS NOT NULL ORDER BY id, about"""
_MEMBERS: Final = """
    SELECT id, title, content[:200] AS words, strftime(observed_at, '%Y-%m-%d') AS day FROM rows
    WHERE id IN (SELECT unnest($ids)) ORDER BY observed_at DESC, id"""
_CATEGORIES: Final = "SELECT DISTINCT category FROM rows ORDER BY category"


@dataclass(frozen=True, slots=True)
class _Community:
    """A cluster that counts, with what speaks for it."""

    cluster: Cluster
    folders: dict[str, int]
    stability: float
    chance: float


def discover_community(reading: Reading) -> Iterator[Finding]:
    """Clusters that cross folders, the largest first, each as an overview to be added."""
    taken = [str(category) for category in reading.ask(_CATEGORIES).column("category").to_pylist()]
    told: dict[str, set[str]] = {}
    for row in reading.ask(_OVERVIEWS).to_pylist():
        told.setdefault(row["id"], set()).add(row["about"])
    for network in read_networks(reading):
        for community in _communities(network, reading, list(told.values())):
            finding = _finding(reading, network, community, taken)
            taken.append(finding.payload["category"])
            yield finding


def _communities(network: Network, reading: Reading, told: Sequence[set[str]]) -> list[_Community]:
    """Those of all scales, each observation in one at most: what lasts best is taken first."""
    below = _below(network)
    found: list[_Community] = []
    scales = resolutions(network)
    for done, resolution in enumerate(scales):
        reading.progress(done, len(scales))
        found += _at_scale(network, resolution, below, told)
    found.sort(key=lambda one: (-one.stability * one.cluster.closeness, int(one.cluster.observations[0])))
    used: set[int] = set()
    kept = []
    for community in found:
        members = set(community.cluster.observations.tolist())
        if used.isdisjoint(members):
            used |= members
            kept.append(community)
    return sorted(kept, key=lambda one: (-len(one.cluster.observations), int(one.cluster.observations[0])))


def _at_scale(
    network: Network, resolution: float, below: Counter[str], told: Sequence[set[str]]
) -> Iterator[_Community]:
    clusters = [
        cluster
        for cluster in find_clusters(network, resolution, LEAST_MEMBERS)
        if _counts(network, cluster)
        and _crosses(network, cluster, below)
        and not _is_told({network.ids[at] for at in cluster.observations}, told)
    ]
    clusters, by_chance = closer_than_chance(network, resolution, clusters, LEAST_MEMBERS, _counts)
    for cluster, stability in zip(clusters, lasting(network, resolution, clusters), strict=True):
        if stability >= STABLE:
            yield _Community(cluster, _folders(network, cluster.observations), stability, by_chance)


def _counts(network: Network, cluster: Cluster) -> bool:
    """Whether a cluster is closed and bound enough."""
    return cluster.conductance <= LOOSEST and _is_bound(network, cluster)


def _below(network: Network) -> Counter[str]:
    """How many observations lie in each folder or below it."""
    import numpy as np

    counts: Counter[str] = Counter()
    for category, n in zip(network.folders, np.bincount(network.folder).tolist(), strict=True):
        for folder in communities(category):
            counts[folder] += n
    return counts


def _folders(network: Network, observations: np.ndarray) -> dict[str, int]:
    """How many of some observations lie in each folder, most first, then by name."""
    counts = Counter(network.folders[at] for at in network.folder[observations].tolist())
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _crosses(network: Network, cluster: Cluster, below: Counter[str]) -> bool:
    """Whether no folder holds the cluster, nor is at any level just about what it is."""
    n = len(cluster.observations)
    folders = _folders(network, cluster.observations)
    if max(folders.values()) > MOST_IN_ONE_FOLDER * n:
        return False
    inside: Counter[str] = Counter()
    for category, count in folders.items():
        for folder in communities(category):
            inside[folder] += count
    return not any(count >= ALREADY_A_FOLDER * (n + below[folder] - count) for folder, count in inside.items())


def _is_bound(network: Network, cluster: Cluster) -> bool:
    """Whether several entities hold it together, and not one alone."""
    import numpy as np

    if binding(network, cluster, BINDING) < LEAST_ENTITIES:
        return False
    links = network.links_of(cluster.observations)
    others = links[np.isin(links[:, 1], cluster.entities[1:]), 0]
    return len(np.unique(others)) >= WITHOUT_FIRST * len(cluster.observations)


def _is_told(members: set[str], told: Sequence[set[str]]) -> bool:
    """Whether an overview is mostly about these observations."""
    return any(len(about) >= LEAST_MEMBERS and 2 * len(about & members) >= len(about) for about in told)


def _finding(reading: Reading, network: Network, found: _Community, taken: Sequence[str]) -> Finding:
    cluster = found.cluster
    ids = [network.ids[at] for at in cluster.observations.tolist()]
    central = cluster.entities[:MOST_NAMED].tolist()
    names = [network.names[at] for at in central]
    category = free_category("topics", names, taken)
    members = reading.ask(_MEMBERS, {"ids": ids}).to_pylist()
    related = [row["id"] for row in members[:MOST_RELATED]]
    draft: dict[str, Any] = {
        "title": f"Overview: {', '.join(names[:3])}", "category": category, "kind": "summary",
        "content": _content(names, found.folders, members), "entities": [{"name": name} for name in names],
        "related_to": related, "scope": network.scope,
    }  # fmt: skip
    return Finding(
        kind="discover_community",
        confidence=round(min(0.95, 0.5 + 0.45 * found.stability * min(1.0, 2 * (1 - cluster.conductance))), 2),
        rationale=f"{len(ids)} observations in {len(found.folders)} folders are about {_listed(names[:3])}, and no folder "
        "brings them together.",
        payload={"category": category, "entities": names, "observations": ids, "folders": found.folders},
        changes=({"do": "add", "draft": {name: value for name, value in draft.items() if value is not None}},),
        meaning=tuple(network.keys[at] for at in central[:3]),
        grounds={"size_log2": len(ids).bit_length() - 1, "folders": len(found.folders)},
        figures={
            "stability": round(found.stability, 2), "conductance": round(cluster.conductance, 2),
            "closeness": round(cluster.closeness, 2), "closeness_rewired": round(found.chance, 2),
        },
        quotes=tuple(Quote(row["id"], row["words"], row["day"]) for row in members[:_QUOTES]),
        affected=tuple(sorted(related)),
    )  # fmt: skip


def _content(names: Sequence[str], folders: dict[str, int], members: Sequence[dict[str, Any]]) -> str:
    """What is in the community, as markdown."""
    where = [f"- {folder or 'no folder'}: {n}" for folder, n in folders.items()]
    newest = [f"- {row['day']} {row['title']}" for row in members[:_NEWEST]]
    return "\n".join([
        f"{len(members)} observations in {len(folders)} folders.", "", "Central:", "", *(f"- {name}" for name in names), "",
        "Where they lie:", "", *where, "", "Newest:", "", *newest,
    ])  # fmt: skip


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
