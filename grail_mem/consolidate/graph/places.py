"""The folders of a scope: which are about subjects, what they are for, and which entities live in them.

Knows nothing of what is to be moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from grail_mem.consolidate.graph.naming import is_dated
from grail_mem.consolidate.graph.network import LIVING, Network, read_networks
from grail_mem.consolidate.graph.votes import Homes, Votes, homes, votes
from grail_mem.consolidate.reading import Reading
from grail_mem.model.names import tag_key

if TYPE_CHECKING:
    import numpy as np

LEAST_FIRM: Final = 0.7
"""Share of a folder's observations whose votes go to it, for a folder of one subject."""
LEAST_FIRM_TO_VOTE: Final = 0.5
"""Below it a folder is arranged by something else than subjects, such as one of meetings, and its votes do not count."""
LEAST_VOTED_ON: Final = 8
"""Observations of a folder on which somebody votes, from which on that share means something."""
OF_THE_FOLDER: Final = 0.6
ELSEWHERE: Final = 0.2
"""A tag or kind that this share of a folder has, and less than that of the other, is what the folder is for."""
_FACETS: Final = f"""
    SELECT scope, category, facet, count(*) AS n
    FROM (SELECT scope, category, unnest(list_distinct(list_append(
                 list_transform(coalesce(tags, []), lambda tag: '#' || tag), 'kind ' || kind))) AS facet
          FROM rows WHERE {LIVING})
    GROUP BY scope, category, facet"""  # noqa: S608  our own codes


@dataclass(frozen=True, slots=False)
class Places:
    """A network with what is known of its folders."""

    reading: Reading
    network: Network
    facets: dict[tuple[str | None, str], Counter[str]]

    @cached_property
    def inbox(self) -> int:
        """The number of the inbox, -1 when nothing is there."""
        names = self.network.folders
        return names.index(self.reading.inbox) if self.reading.inbox in names else -1

    @cached_property
    def silent(self) -> np.ndarray:
        """Folders that say nothing of where things live, bool [folders]: the inbox, those of dates, those of no subject."""
        import numpy as np

        names = self.network.folders
        always = np.array([not name or is_dated(name) or at == self.inbox for at, name in enumerate(names)])
        first = votes(self.network, homes(self.network, always))
        return always | (first.firmness(self.network, LEAST_VOTED_ON) < LEAST_FIRM_TO_VOTE)

    @cached_property
    def homes(self) -> Homes:
        """Where entities live, by the folders that count."""
        return homes(self.network, self.silent)

    @cached_property
    def votes(self) -> Votes:
        """The votes on every observation, of the folders that count."""
        return votes(self.network, self.homes)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Observations in each folder, int64 [folders]."""
        import numpy as np

        return np.bincount(self.network.folder, minlength=len(self.network.folders))

    @cached_property
    def is_subject(self) -> np.ndarray:
        """Whether each folder is about a subject, bool [folders]."""
        return ~self.silent & (self.votes.firmness(self.network, LEAST_VOTED_ON) >= LEAST_FIRM)

    @cached_property
    def postings(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the observations of each entity begin, and they, ascending; int64."""
        import numpy as np

        order = np.lexsort((self.network.links[:, 0], self.network.links[:, 1]))
        entities = self.network.links[order, 1]
        return np.searchsorted(entities, np.arange(len(self.network.keys) + 1)), self.network.links[order, 0]

    def entities(self, observation: int) -> list[int]:
        """The entities of an observation."""
        first, last = self.network.starts[observation : observation + 2]
        return list(self.network.links[first:last, 1].tolist())

    def mentioning(self, entity: int) -> np.ndarray:
        """The observations that mention an entity."""
        first, observations = self.postings
        return observations[first[entity] : first[entity + 1]]

    def may_leave(self, folder: int) -> bool:
        """Whether things may be moved out of a folder."""
        return folder == self.inbox or bool(self.is_subject[folder])

    def may_go(self, source: int, target: int) -> bool:
        """Whether the other folder is about a subject and does not lie above this one."""
        names = self.network.folders
        return bool(self.is_subject[target]) and not names[source].startswith(f"{names[target]}/")

    def others(self, entity: int, members: Iterable[int]) -> Counter[int]:
        """Observations by folder that mention an entity, without some observations and folders that do not count."""
        counts = Counter(self.homes.of(entity))
        mentioning = self.mentioning(entity)
        for at in members:
            folder = int(self.network.folder[at])
            if not self.silent[folder] and (mentioning == at).any():
                counts[folder] -= 1
        return counts

    def keeps(self, source: int, target: int, tags: Iterable[str], kind: str) -> bool:
        """Whether tags or a kind are what the source is for: most there have them, and hardly any in the target."""
        if source == self.inbox:
            return False
        scope, names = self.network.scope, self.network.folders
        here, there = self.facets[scope, names[source]], self.facets[scope, names[target]]
        return any(
            here[facet] >= OF_THE_FOLDER * self.sizes[source] and there[facet] < ELSEWHERE * self.sizes[target]
            for facet in (f"kind {kind}", *(f"#{tag_key(tag)}" for tag in tags))
        )


def read_places(reading: Reading) -> Iterator[Places]:
    """The folders of each scope that has several."""
    facets: dict[tuple[str | None, str], Counter[str]] = {}
    networks = [network for network in read_networks(reading) if len(network.folders) > 1]
    if networks:
        for row in reading.ask(_FACETS).to_pylist():
            counts = facets.setdefault((row["scope"], row["category"]), Counter())
            counts[_facet(row["facet"])] += row["n"]
    for network in networks:
        yield Places(reading, network, facets)


def _facet(text: str) -> str:
    return f"#{tag_key(text[1:])}" if text.startswith("#") else text
