"""Where observations seem to belong: each entity votes for the folders in which others mention it.

An observation never votes on itself, some folders do not vote, and an entity's vote counts by how rare it is.
Knows nothing of which votes are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from grail_mem.consolidate.graph.network import Network

if TYPE_CHECKING:
    import numpy as np

_CHUNK: Final = 500_000
"""Votes that are counted at a time: some tens of megabytes."""


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes on each observation.

    Attributes:
        winner: The folder with the largest share of votes, -1 where nobody votes; int64 [observations]. Of equal ones its own
            if it is among them, then the first by name.
        share: The winner's share, 0 to 1; float64 [observations].
        own: The share of the folder it lies in.
    """

    winner: np.ndarray
    share: np.ndarray
    own: np.ndarray

    def firmness(self, network: Network, least: int) -> np.ndarray:
        """The share of each folder's observations whose votes go to it, nan where fewer than so many are voted on.

        A folder of one subject has a high one; one of meetings, decisions or days, whose things live elsewhere, a low one.
        """
        import numpy as np

        n = len(network.folders)
        decided = self.winner >= 0
        total = np.bincount(network.folder[decided], minlength=n)
        won = np.bincount(network.folder[decided & (self.winner == network.folder)], minlength=n)
        return np.where(total >= least, won / np.maximum(total, 1), np.nan)


@dataclass(frozen=True, slots=True)
class Homes:
    """In how many observations of which folder each entity is mentioned, without folders that do not count.

    Attributes:
        first: Where the folders of each entity begin, int64 [entities + 1].
        folder: Folders, ascending within an entity, int64.
        count: Observations of that folder that mention it, int64.
    """

    first: np.ndarray
    folder: np.ndarray
    count: np.ndarray

    def of(self, entity: int) -> dict[int, int]:
        """Observations by folder of one entity."""
        part = slice(int(self.first[entity]), int(self.first[entity + 1]))
        return dict(zip(self.folder[part].tolist(), self.count[part].tolist(), strict=True))


def homes(network: Network, silent: np.ndarray) -> Homes:
    """Where the entities of a network live.

    Args:
        network: The network.
        silent: Which folders do not count, bool [folders].
    """
    import numpy as np

    folder = network.folder[network.links[:, 0]]
    links, folder = network.links[~silent[folder]], folder[~silent[folder]]
    n = max(1, len(network.folders))
    pairs, count = np.unique(links[:, 1] * n + folder, return_counts=True)
    return Homes(np.searchsorted(pairs // n, np.arange(len(network.keys) + 1)), pairs % n, count)


def votes(network: Network, found: Homes) -> Votes:
    """The votes on every observation of a network."""
    import numpy as np

    n = len(network.ids)
    result = Votes(np.full(n, -1), np.zeros(n), np.zeros(n))
    width = np.diff(found.first)[network.links[:, 1]]
    rows = np.searchsorted(network.links[:, 0], np.arange(n + 1))
    done = np.concatenate([[0], np.cumsum(width)])[rows]
    start = 0
    while start < n:
        stop = max(start + 1, int(np.searchsorted(done, done[start] + _CHUNK, side="right")) - 1)
        _count(network, found, slice(int(rows[start]), int(rows[stop])), result)
        start = stop
    return result


def _count(network: Network, found: Homes, part: slice, result: Votes) -> None:
    """Count the votes on the observations of some mentions, which hold all mentions of each."""
    import numpy as np

    links = network.links[part]
    width = (found.first[links[:, 1] + 1] - found.first[links[:, 1]]).astype(np.int64)
    if not width.sum():
        return
    link = np.repeat(np.arange(len(links)), width)
    at = np.arange(len(link)) - np.repeat(np.cumsum(width) - width, width) + np.repeat(found.first[links[:, 1]], width)
    observation, entity = links[link, 0], links[link, 1]
    own = network.folder[observation]
    count = found.count[at] - (found.folder[at] == own)
    everywhere = np.bincount(link, weights=count, minlength=len(links))[link]
    weight = np.log(len(network.ids) / network.spread[entity])
    vote = np.where(everywhere > 0, weight * count / np.maximum(everywhere, 1), 0.0)
    n = len(network.folders)
    pairs, where = np.unique(observation * n + found.folder[at], return_inverse=True)
    sums = np.bincount(where, weights=vote)
    observation, folder = pairs // n, pairs % n
    firsts = np.flatnonzero(np.r_[True, np.diff(observation) > 0])
    totals = np.add.reduceat(sums, firsts)
    of = np.repeat(np.arange(len(firsts)), np.diff(np.r_[firsts, len(pairs)]))
    share = np.divide(sums, totals[of], out=np.zeros(len(sums)), where=totals[of] > 0)
    is_own = folder == network.folder[observation]
    order = np.lexsort((folder, ~is_own, -np.round(share, 9), observation))
    best = order[firsts]
    best = best[share[best] > 0]
    result.winner[observation[best]] = folder[best]
    result.share[observation[best]] = share[best]
    result.own[observation[is_own]] = share[is_own]
