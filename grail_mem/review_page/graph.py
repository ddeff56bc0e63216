"""The graph of entities as a picture: which are shown, what ties them, and where each is drawn.

Knows nothing of how the picture is explored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote_plus

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from grail_mem.consolidate.graph.partition import places
from grail_mem.errors import MissingDependencyError
from grail_mem.model.names import entity_key
from grail_mem.model.untrusted import shown
from grail_mem.review_page.site import Site
from grail_mem.review_page.words import cut, label

MOST: Final = 150
"""Entities in a picture; more cannot be told apart."""
_LABELLED: Final = 40
_WIDTH, _HEIGHT = 1000.0, 680.0
_MARGINS: Final = (84.0, 52.0)
"""Left and right, and above and below: names are wider than high."""
_NAME_SHOWN: Final = 26
"""Characters of a name that are written beside its circle."""
_HALF_CHARACTER: Final = 10.5
"""Half the width that a character takes at most, on the narrowest screen, where names are written largest."""
_COLOURS: Final = 7
"""Colours that are told apart, one for each of the most frequent types of entities; others share the last."""
_TIES_SHOWN: Final = 12
_EDGES: Final = 450
"""Lines of a picture; of more the strongest are drawn, what is stated first."""

_TOP: Final = "SELECT key, name, types, n_observations FROM entities ORDER BY n_observations DESC, key LIMIT $most"
_IN_COMMUNITY: Final = """
SELECT key, min(name) AS name, list_sort(list(DISTINCT type) FILTER (type IS NOT NULL)) AS types,
       count(DISTINCT observation_id) AS n_observations
FROM mentions WHERE category = $community OR starts_with(category, $community || '/')
GROUP BY key ORDER BY n_observations DESC, key LIMIT $most
"""
_AROUND: Final = """
WITH near AS (SELECT DISTINCT observation_id FROM mentions WHERE key = $key),
     tied AS (SELECT m.key, count(*) AS n FROM mentions m JOIN near USING (observation_id) GROUP BY m.key),
     chosen AS (SELECT key, n FROM tied ORDER BY key = $key DESC, n DESC, key LIMIT $most)
SELECT e.key, e.name, e.types, e.n_observations FROM chosen c JOIN entities e USING (key)
ORDER BY e.key = $key DESC, c.n DESC, e.key
"""
_TOGETHER: Final = """
WITH wanted AS (SELECT unnest($keys::VARCHAR[]) AS key, unnest(range(len($keys::VARCHAR[])))::USMALLINT AS number),
     chosen AS (SELECT DISTINCT hash(m.observation_id) AS o, w.number AS number FROM mentions m JOIN wanted w USING (key))
SELECT a.number AS a, b.number AS b, count(*)::INTEGER AS n FROM chosen a JOIN chosen b USING (o)
WHERE a.number < b.number GROUP BY a.number, b.number
"""
"""By numbers, which are joined faster than names; two ids of one hash in 2^64 would draw one line too thick."""
_STATED: Final = """
WITH names AS (SELECT DISTINCT name FROM mentions WHERE key IN (SELECT unnest($keys::VARCHAR[])))
SELECT source, target, relationship_type, count(*) AS n FROM relationships
WHERE source IN (SELECT name FROM names) AND target IN (SELECT name FROM names)
GROUP BY ALL ORDER BY n DESC, source, target, relationship_type LIMIT 5000
"""


@dataclass(frozen=True, slots=True)
class Node:
    """One entity of the picture.

    Attributes:
        number: Its place in the list.
        key: Its normalised name.
        name: Its name.
        asked: Its name as the query of an address has it.
        types: What it is.
        n: Observations that mention it.
        colour: Number of its colour, from 0.
        x: Where it is drawn, from the left.
        y: From the top.
        radius: Half its width.
        is_labelled: Whether its name is written from the start.
        written: Its name as it is written beside its circle.
        anchor: From where it is written, so that no edge of the picture cuts it: `start` of it, `middle` or `end`.
        ties: Its ties, the strongest first: how, the other's number and name, and whether it leads there.
    """

    number: int
    key: str
    name: str
    asked: str
    types: tuple[str, ...]
    n: int
    colour: int
    x: float
    y: float
    radius: float
    is_labelled: bool
    written: str
    anchor: str
    ties: tuple[tuple[Markup, int, Markup, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A tie of the picture: stated, or that both are mentioned together."""

    a: int
    b: int
    n: int
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn.

    Attributes:
        nodes: The most mentioned first, or the one that was asked for.
        edges: Each pair once.
        types: Types of entities with the number of their colour.
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    types: tuple[tuple[str, int], ...] = ()


def show_graph(site: Site, request: Request) -> Response:
    """The picture of an entity's neighbours, of a community, or of the entities mentioned most."""
    entity = request.query_params.get("entity", "").strip()
    community = request.query_params.get("community", "").strip().strip("/")
    key = entity_key(entity) if entity else ""
    drawn = site.drawn(
        ("graph", key, "" if key else community), "picture.html", lambda: _values(site, key=key, community=community)
    )
    return site.page(
        request, "graph.html", here="graph", drawn=drawn, entity=entity, community=community, most=MOST,
        is_cut=f'data-node="{MOST - 1}"' in drawn,
    )  # fmt: skip


def _values(site: Site, *, key: str, community: str) -> dict[str, Any]:
    """What the part of the page with picture and list shows."""
    if key:
        rows = site.store.sql(_AROUND, {"key": key, "most": MOST}).to_pylist()
    elif community:
        rows = site.store.sql(_IN_COMMUNITY, {"community": community, "most": MOST}).to_pylist()
    else:
        rows = site.store.sql(_TOP, {"most": MOST}).to_pylist()
    picture = _picture(site, rows) if rows else Picture()
    return {"picture": picture, "key": key, "width": int(_WIDTH), "height": int(_HEIGHT)}


def _picture(site: Site, rows: Sequence[Mapping[str, Any]]) -> Picture:
    keys = [row["key"] for row in rows]
    edges = _edges(site, keys)
    spots = _spots(len(keys), edges)
    frequency: dict[str, int] = {}
    for row in rows:
        for name in (row["types"] or [""])[:1]:
            frequency[name] = frequency.get(name, 0) + 1
    ranked = sorted(frequency, key=lambda name: (not name, -frequency[name], name))
    colour = {name: min(at, _COLOURS - 1) if name else _COLOURS for at, name in enumerate(ranked)}
    most = max(row["n_observations"] for row in rows)
    ties = _ties(edges, [row["name"] for row in rows])
    nodes = tuple(
        Node(
            at, row["key"], row["name"], quote_plus(row["name"]), tuple(row["types"] or ()), row["n_observations"],
            colour[(row["types"] or [""])[0]], *spots[at], round(5 + 13 * (row["n_observations"] / most) ** 0.5, 1),
            at < _LABELLED, cut(row["name"], _NAME_SHOWN), _anchor(spots[at][0], row["name"]), ties[at],
        )
        for at, row in enumerate(rows)
    )  # fmt: skip
    return Picture(nodes, tuple(edges), tuple((name or "no type", colour[name]) for name in ranked[: _COLOURS + 1]))


def _anchor(x: float, name: str) -> str:
    half = _HALF_CHARACTER * len(cut(name, _NAME_SHOWN))
    return "start" if x < half else "end" if x > _WIDTH - half else "middle"


def _edges(site: Site, keys: Sequence[str]) -> list[Edge]:
    number = {key: at for at, key in enumerate(keys)}
    together = {(row["a"], row["b"]): row["n"] for row in site.store.sql(_TOGETHER, {"keys": list(keys)}).to_pylist()}
    stated: dict[tuple[int, int], dict[str, int]] = {}
    spelled: dict[str, int | None] = {}
    for row in site.store.sql(_STATED, {"keys": list(keys)}).to_pylist():
        for name in (row["source"], row["target"]):
            if name not in spelled:
                spelled[name] = number.get(entity_key(name))
        a, b = spelled[row["source"]], spelled[row["target"]]
        if a is not None and b is not None and a != b:
            said = stated.setdefault((a, b), {})
            said[row["relationship_type"]] = said.get(row["relationship_type"], 0) + row["n"]
    made = [Edge(a, b, sum(said.values()), tuple(said)) for (a, b), said in stated.items()]
    for (a, b), n in sorted(together.items()):
        if (a, b) not in stated and (b, a) not in stated:
            made.append(Edge(a, b, n, ()))
    return sorted(made, key=lambda edge: (not edge.types, -edge.n, edge.a, edge.b))[:_EDGES]


def _ties(edges: Sequence[Edge], names: Sequence[str]) -> list[tuple[tuple[Markup, int, Markup, bool], ...]]:
    made: list[list[tuple[Markup, int, Markup, bool]]] = [[] for _ in names]
    said = [escape(shown(cut(name, 60))) for name in names]  # each stands in many ties
    for edge in sorted(edges, key=lambda edge: (not edge.types, -edge.n)):
        how = escape(shown(label(", ".join(edge.types)).lower()))
        for own, other, leads in ((edge.a, edge.b, True), (edge.b, edge.a, False)):
            made[own].append((how, other, said[other], leads))
    return [tuple(ties[:_TIES_SHOWN]) for ties in made]


def _spots(n: int, edges: Sequence[Edge]) -> list[tuple[float, float]]:
    """Where each is drawn: what is tied lies close, and the picture is filled."""
    import numpy as np

    ends = np.array([(edge.a, edge.b) for edge in edges], dtype=np.int64).reshape(-1, 2)
    weights = np.array([1.0 + min(edge.n, 9) / 3 for edge in edges], dtype=np.float64)
    try:
        found = places(n, ends, weights, seed=1)
    except MissingDependencyError:
        found = _spring(n, ends, weights)
    ranks = np.argsort(np.argsort(found, axis=0), axis=0) / max(n - 1, 1)
    low, span = found.min(axis=0), np.maximum(np.ptp(found, axis=0), 1e-9)
    spread = 0.45 * (found - low) / span + 0.55 * ranks  # far outliers would squeeze all others into the middle
    margins = np.array(_MARGINS)
    drawn = np.round(margins + spread * (np.array([_WIDTH, _HEIGHT]) - 2 * margins), 1)
    return [(float(x), float(y)) for x, y in drawn]


def _spring(n: int, ends: Any, weights: Any) -> Any:
    """The places without igraph."""
    import networkx as nx
    import numpy as np

    graph: nx.Graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((int(a), int(b), float(w)) for (a, b), w in zip(ends, weights, strict=True))
    found = nx.spring_layout(graph, seed=1, iterations=80)
    return np.array([found[at] for at in range(n)])
