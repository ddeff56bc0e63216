"""Folders whose content falls into clear groups: they get a folder below for each group.

Method: the folder's own graph of observations and entities is partitioned; it is split when at least two groups are nearly
closed, closer than any in rewired copies, found again in parts of the folder, and together most of it. What
belongs to no group stays. Knows nothing of other folders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from grail_mem.consolidate.finding import Finding, Quote
from grail_mem.consolidate.graph.clusters import STABLE, Cluster, binding, closer_than_chance, find_clusters, lasting
from grail_mem.consolidate.graph.naming import free_category, is_dated
from grail_mem.consolidate.graph.network import Network, read_networks
from grail_mem.consolidate.reading import Reading

if TYPE_CHECKING:
    import numpy as np

LEAST_IN_FOLDER: Final = 20
"""Observations directly in a folder; a shorter list is read at a glance."""
LEAST_IN_GROUP: Final = 5
LEAST_ENTITIES: Final = 2
"""Entities that a group needs, each in three or more of its observations."""
BINDING: Final = 3
LEAST_GROUPS: Final = 2
MOST_GROUPS: Final = 12
"""More new folders than that at once are no help to anybody; chosen."""
LEAST_COVERED: Final = 0.6
"""Share of the folder that the groups must hold together; chosen."""
MOST_IN_GROUP: Final = 0.75
"""Share of the folder in one group, above which the folder is about that and the rest is an aside; chosen."""
EVERYWHERE_IN_FOLDER: Final = 0.6
"""An entity in more than this share of a folder is what the folder is about, and tells nothing of its parts; chosen."""
LOOSEST: Final = 0.3
"""Highest conductance of a group: seven in ten of its mentions stay inside; chosen by `tests/benchmarks/clusters.py`."""
_QUOTES_EACH: Final = 2
RESOLUTIONS: Final = (0.5, 1.0, 2.0)
"""Coarse scales, since few folders are wanted; the first one at which a folder falls apart counts."""

_CATEGORIES: Final = "SELECT DISTINCT category FROM rows ORDER BY category"
_WORDS: Final = """
    SELECT id, content[:200] AS words, title FROM rows WHERE id IN (SELECT unnest($ids)) ORDER BY id"""


@dataclass(frozen=True, slots=True)
class _Group:
    """A part of a folder: observations by their numbers in the folder's network, and entity numbers in that of units."""

    observations: np.ndarray
    cluster: Cluster
    stability: float
    chance: float


def split_folder(reading: Reading) -> Iterator[Finding]:
    """Folders that fall apart into groups, by name."""
    import numpy as np

    taken = [str(category) for category in reading.ask(_CATEGORIES).column("category").to_pylist()]
    for network in read_networks(reading):
        sizes = np.bincount(network.folder, minlength=len(network.folders))
        large = [
            at for at, name in enumerate(network.folders) if sizes[at] >= LEAST_IN_FOLDER and _may_split(name, reading)
        ]
        for done, at in enumerate(large):
            reading.progress(done, len(large))
            part = network.only(np.flatnonzero(network.folder == at))
            units, unit = _units(part)
            groups = _groups(units, unit)
            if groups and (finding := _finding(reading, network.folders[at], part, units, groups, taken)):
                taken += [group["category"] for group in finding.payload["groups"]]
                yield finding


def _may_split(category: str, reading: Reading) -> bool:
    return category not in ("", reading.inbox) and not is_dated(category)


def _units(part: Network) -> tuple[Network, np.ndarray]:
    """The network with each session of a transcript as one observation, and the unit of each observation, int64."""
    import numpy as np

    alone = part.talk < 0
    _, first, unit = np.unique(
        np.where(alone, np.arange(len(part.ids)), len(part.ids) + part.talk), return_index=True, return_inverse=True
    )
    links = np.unique(np.column_stack([unit[part.links[:, 0]], part.links[:, 1]]), axis=0)
    joined = replace(
        part, ids=[part.ids[at] for at in first], folder=part.folder[first], talk=part.talk[first], links=links
    )
    return joined.narrowed(most=max(2, int(EVERYWHERE_IN_FOLDER * len(first)))), unit


def _groups(units: Network, unit: np.ndarray) -> list[_Group]:
    """The groups a folder falls into, at the coarsest scale at which it does; none where it does not."""
    if len(units.ids) < LEAST_GROUPS * LEAST_IN_GROUP or not len(units.links):
        return []
    return next((groups for resolution in RESOLUTIONS if (groups := _at_scale(units, unit, resolution))), [])


def _at_scale(units: Network, unit: np.ndarray, resolution: float) -> list[_Group]:
    import numpy as np

    clusters = [cluster for cluster in find_clusters(units, resolution, LEAST_IN_GROUP) if _counts(units, cluster)]
    if not _splits(clusters, units):
        return []
    clusters, by_chance = closer_than_chance(units, resolution, clusters, LEAST_IN_GROUP, _counts)
    if not _splits(clusters, units):
        return []
    stabilities = lasting(units, resolution, clusters)
    stable = [
        (cluster, stability) for cluster, stability in zip(clusters, stabilities, strict=True) if stability >= STABLE
    ]
    if not _splits([cluster for cluster, _ in stable], units):
        return []
    return [
        _Group(np.flatnonzero(np.isin(unit, cluster.observations)), cluster, stability, by_chance)
        for cluster, stability in stable
    ]


def _counts(units: Network, cluster: Cluster) -> bool:
    """Whether a group is closed enough and held together by several entities."""
    return cluster.conductance <= LOOSEST and binding(units, cluster, BINDING) >= LEAST_ENTITIES


def _splits(clusters: Sequence[Cluster], units: Network) -> bool:
    """Whether there are some groups, not too many, that hold most of the folder and none nearly all of it."""
    sizes = [len(cluster.observations) for cluster in clusters]
    n = len(units.ids)
    is_some = LEAST_GROUPS <= len(sizes) <= MOST_GROUPS
    return is_some and sum(sizes) >= LEAST_COVERED * n and max(sizes) <= MOST_IN_GROUP * n


def _finding(
    reading: Reading, folder: str, part: Network, units: Network, groups: Sequence[_Group], taken: Sequence[str]
) -> Finding | None:
    used = list(taken)
    parts: list[dict[str, Any]] = []
    for group in groups:
        names = [units.names[at] for at in group.cluster.entities[:6].tolist()]
        category = free_category(folder, names, used)
        if not category:
            return None  # the path would be too long or too deep
        used.append(category)
        ids = [part.ids[at] for at in group.observations.tolist()]
        parts.append({"category": category, "ids": ids, "entities": names})
    moved = [identifier for item in parts for identifier in item["ids"]]
    shown = [identifier for item in parts for identifier in item["ids"][:_QUOTES_EACH]][:12]
    words = {row["id"]: row for row in reading.ask(_WORDS, {"ids": shown}).to_pylist()}
    where = {identifier: item["category"] for item in parts for identifier in item["ids"]}
    least = min(group.stability for group in groups)
    loosest = max(group.cluster.conductance for group in groups)
    return Finding(
        kind="split_folder",
        confidence=round(min(0.95, 0.5 + 0.5 * least * (1 - loosest)), 2),
        rationale=f"{folder} holds {len(part.ids)} observations about {len(parts)} groups of things that hardly meet: "
        f"{'; '.join(', '.join(item['entities'][:2]) for item in parts)}.",
        payload={"category": folder, "groups": parts, "stays": len(part.ids) - len(moved)},
        changes=tuple(
            {"do": "move", "id": identifier, "category": item["category"]} for item in parts for identifier in item["ids"]
        ),
        meaning=(folder, *sorted(units.keys[int(group.cluster.entities[0])] for group in groups)),
        grounds={"groups": len(parts), "size_log2": len(part.ids).bit_length() - 1},
        figures={
            "stability": round(least, 2), "conductance": round(loosest, 2),
            "closeness": round(min(group.cluster.closeness for group in groups), 2),
            "closeness_rewired": round(groups[0].chance, 2),
            "covered": round(len(moved) / len(part.ids), 2),
        },
        quotes=tuple(Quote(identifier, words[identifier]["words"], f"to {where[identifier]}") for identifier in shown),
        affected=tuple(sorted(moved)),
    )  # fmt: skip
