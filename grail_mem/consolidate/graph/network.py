"""Which observation mentions which entity, as a graph with two sides: what detectors of groups and places read.

Knows nothing of groups, and nothing of the words in observations but the names of entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from grail_mem.consolidate.reading import Reading
from grail_mem.model.names import entity_key

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

EVERYWHERE: Final = 0.10
"""An entity in more than this share of a scope's observations says nothing of what one is about: the user, the company."""
EVERYWHERE_LEAST: Final = 20
"""Observations that an entity may have in any case, so that the main thing of a small store still counts; chosen by
`tests/benchmarks/clusters.py`."""
SMALLEST: Final = 10
"""Scopes with fewer observations are left alone: nothing can be shown in them."""

LIVING: Final = "status NOT IN ('superseded', 'archived') AND kind <> 'summary'"
"""The observations that count: those that hold, and not overviews, which mention what others are about."""

_NODES: Final = f"""
    SELECT id, coalesce(scope, '') AS scope, scope IS NULL AS is_default, category,
           CASE WHEN turn IS NULL OR session IS NULL THEN '' ELSE session END AS talk
    FROM rows WHERE {LIVING} ORDER BY scope IS NOT NULL, scope, id"""  # noqa: S608  our own codes
_NAMED: Final = f"""
    SELECT DISTINCT id, e.key AS key, e.name AS name
    FROM (SELECT id, unnest(entities) AS e FROM rows WHERE {LIVING})"""  # noqa: S608  as above
_RELATED: Final = f"""
    SELECT DISTINCT id, unnest([r.source, r.target]) AS name
    FROM (SELECT id, unnest(relationships) AS r FROM rows WHERE {LIVING})"""  # noqa: S608  as above


@dataclass(frozen=True, slots=False)
class Network:
    """The observations of one scope, the entities that at least two of them mention, and who mentions what.

    Attributes:
        scope: The scope; None for the default one.
        ids: Ids of observations, sorted.
        folder: The number of the folder each lies in, int64 [observations].
        folders: Categories by number, sorted.
        talk: The number of the session of a transcript that each belongs to, -1 for none; int64 [observations].
        keys: Keys of entities, sorted.
        names: Their names.
        links: Observation and entity of each mention, int64 [mentions, 2], sorted, each once.
    """

    scope: str | None
    ids: list[str]
    folder: np.ndarray
    folders: list[str]
    talk: np.ndarray
    keys: list[str]
    names: list[str]
    links: np.ndarray

    @property
    def n_nodes(self) -> int:
        """Observations and entities."""
        return len(self.ids) + len(self.keys)

    @property
    def ends(self) -> np.ndarray:
        """The mentions as edges: observations first, entities numbered after them; int64 [mentions, 2]."""
        import numpy as np

        ends: np.ndarray = self.links + np.array([0, len(self.ids)])
        return ends

    @cached_property
    def spread(self) -> np.ndarray:
        """How many observations mention each entity, int64 [entities]."""
        import numpy as np

        return np.bincount(self.links[:, 1], minlength=len(self.keys))

    @cached_property
    def degree(self) -> np.ndarray:
        """How many entities each observation mentions, int64 [observations]."""
        import numpy as np

        return np.bincount(self.links[:, 0], minlength=len(self.ids))

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the mentions of each observation begin in `links`, int64 [observations + 1]."""
        import numpy as np

        return np.searchsorted(self.links[:, 0], np.arange(len(self.ids) + 1))

    def links_of(self, observations: np.ndarray) -> np.ndarray:
        """The mentions of some observations, int64 [mentions, 2]; takes time by their number only."""
        import numpy as np

        first, width = self.starts[observations], self.degree[observations]
        found: np.ndarray = self.links[np.repeat(first - np.cumsum(width) + width, width) + np.arange(width.sum())]
        return found

    def only(self, observations: np.ndarray) -> Network:
        """The part with some observations, given by number in ascending order; entities that fewer than two mention go."""
        import numpy as np

        numbers = np.repeat(np.arange(len(observations)), self.degree[observations])
        links = np.column_stack([numbers, self.links_of(observations)[:, 1]])
        part = replace(
            self, ids=[self.ids[at] for at in observations], folder=self.folder[observations],
            talk=self.talk[observations], links=links,
        )  # fmt: skip
        return part.narrowed(most=len(observations))

    def narrowed(self, *, most: int) -> Network:
        """Without the entities that fewer than two or more than so many observations mention."""
        import numpy as np

        kept = np.flatnonzero((self.spread > 1) & (self.spread <= most))
        number = np.full(len(self.keys), -1)
        number[kept] = np.arange(len(kept))
        links = self.links[number[self.links[:, 1]] >= 0]
        return replace(
            self, keys=[self.keys[at] for at in kept], names=[self.names[at] for at in kept],
            links=np.column_stack([links[:, 0], number[links[:, 1]]]),
        )  # fmt: skip

    def rewired(self, seed: int) -> Network:
        """The same observations and entities with as many mentions each, but drawn anew; mentions drawn twice count once.

        This is the configuration model of two-sided graphs, in which nothing but how often things are mentioned is kept.
        """
        import numpy as np

        drawn = np.random.default_rng(seed).permutation(self.links[:, 1])
        return replace(self, links=np.unique(np.column_stack([self.links[:, 0], drawn]), axis=0))


def read_networks(reading: Reading) -> Iterator[Network]:
    """The network of each scope with enough observations and some mentions, the default scope first.

    Who is mentioned stands in `entities` and at the ends of `relationships`. Entities that are everywhere or that only
    one observation mentions are left out.
    """
    import numpy as np

    nodes = reading.ask(_NODES)
    if nodes.num_rows < SMALLEST:
        return
    links, keys, names = _links(reading, nodes.column("id"))
    scopes = nodes.column("scope").to_pylist()
    starts = [at for at, scope in enumerate(scopes) if at == 0 or scope != scopes[at - 1] or _turns(nodes, at)]
    for start, stop in zip(starts, [*starts[1:], len(scopes)], strict=True):
        if stop - start < SMALLEST:
            continue
        part = nodes.slice(start, stop - start)
        inside = (links[:, 0] >= start) & (links[:, 0] < stop)
        folders, folder = np.unique(np.array(part.column("category").to_pylist(), dtype=object), return_inverse=True)
        talks, talk = np.unique(np.array(part.column("talk").to_pylist(), dtype=object), return_inverse=True)
        network = Network(
            None if part.column("is_default")[0].as_py() else scopes[start], part.column("id").to_pylist(),
            folder, folders.tolist(), talk if talks[0] else talk - 1, keys, names, links[inside] - np.array([start, 0]),
        )  # fmt: skip
        network = network.narrowed(most=max(EVERYWHERE_LEAST, int(EVERYWHERE * (stop - start))))
        if len(network.links):
            yield network


def _turns(nodes: pa.Table, at: int) -> bool:
    """Whether the default scope ends before this row; the scope may be called by the empty text."""
    return bool(nodes.column("is_default")[at].as_py() != nodes.column("is_default")[at - 1].as_py())


def _links(reading: Reading, ids: pa.ChunkedArray) -> tuple[np.ndarray, list[str], list[str]]:
    """All mentions as numbers of observation and entity, sorted, and the entities' keys and names."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    named, related = reading.ask(_NAMED), reading.ask(_RELATED)
    words = related.column("name").combine_chunks().dictionary_encode()
    made = pa.array([entity_key(name or "") for name in words.dictionary.to_pylist()], pa.string())
    owner = pa.concat_arrays([_flat(named.column("id")), _flat(related.column("id"))])
    key = pa.concat_arrays([_flat(named.column("key")), made.take(words.indices)])
    name = pa.concat_arrays([_flat(named.column("name")), _flat(related.column("name"))])
    found = pa.table({"owner": owner, "key": key, "name": name}).filter(pc.not_equal(pc.fill_null(key, ""), ""))
    entities = found.group_by("key").aggregate([("name", "min")]).sort_by("key")
    links = np.column_stack([
        pc.index_in(found.column("owner"), value_set=ids).to_numpy().astype(np.int64),
        pc.index_in(found.column("key"), value_set=entities.column("key")).to_numpy().astype(np.int64),
    ])  # fmt: skip
    links = np.unique(links, axis=0) if len(links) else links.reshape(0, 2)
    return links, entities.column("key").to_pylist(), entities.column("name_min").to_pylist()


def _flat(column: pa.ChunkedArray) -> Any:
    import pyarrow as pa

    return column.combine_chunks().cast(pa.string())
