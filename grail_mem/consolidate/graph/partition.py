"""Partitions of graphs by the Leiden algorithm, and places for drawing them. The only module that uses igraph.

It comes with the extra `graph`. Knows nothing of observations: nodes are numbers.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import MissingDependencyError

if TYPE_CHECKING:
    import numpy as np

_STEPS: Final = 500
"""Steps of drawing; chosen by eye on pictures of 150 nodes, which three times as many did not make clearer."""
ROUNDS: Final = 2
"""Rounds of the Leiden algorithm; later ones hardly change anything (Traag, Waltman and van Eck 2019, figure 5)."""


def check_graph_extra() -> None:
    """See beforehand that graphs can be partitioned.

    Raises:
        MissingDependencyError: igraph is not installed.
    """
    try:
        import igraph  # noqa: F401  only whether it is there
    except ImportError as error:
        raise MissingDependencyError("Finding clusters needs igraph.", hint="pip install 'grail-mem[graph]'") from error


def leiden(n_nodes: int, ends: np.ndarray, *, resolution: float = 1.0, seed: int = 0) -> np.ndarray:
    """The groups that the Leiden algorithm finds for modularity with a resolution.

    igraph's own form of it is used: the same algorithm and quality as leidenalg's, ten times as fast on 120,000 nodes.

    Args:
        n_nodes: Nodes, 0 to n - 1.
        ends: The nodes of each edge, int64 [edges, 2]; the order of edges counts for the result, so give them sorted.
        resolution: Above 1 for smaller groups (Reichardt and Bornholdt 2006).
        seed: The same seed gives the same groups.

    Returns:
        The group of each node, int64 [n_nodes], numbered from 0 in the order of their first nodes.

    Raises:
        MissingDependencyError: igraph is not installed.

    Source:
        Traag, Waltman and van Eck, "From Louvain to Leiden", Scientific Reports 9 (2019).
    """
    import numpy as np

    if len(ends) == 0:
        return np.arange(n_nodes)
    graph = _graph(n_nodes, ends)
    with _Seeded(seed):
        found = graph.community_leiden("modularity", resolution=resolution, n_iterations=ROUNDS)
    return in_order(np.asarray(found.membership, dtype=np.int64))


def places(n_nodes: int, ends: np.ndarray, weights: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """Where to draw each node, float64 [n_nodes, 2]: nodes that are tied lie close (Fruchterman and Reingold 1991)."""
    import numpy as np

    graph = _graph(n_nodes, ends)
    with _Seeded(seed):
        found = graph.layout_fruchterman_reingold(weights=weights.tolist() or None, niter=_STEPS, grid="nogrid")
    return np.asarray(found.coords, dtype=np.float64).reshape(n_nodes, 2)


def in_order(groups: np.ndarray) -> np.ndarray:
    """Groups under numbers from 0 in the order in which they first occur."""
    import numpy as np

    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    return number[inverse]


def _graph(n_nodes: int, ends: np.ndarray) -> Any:
    check_graph_extra()
    import igraph

    return igraph.Graph(n=n_nodes, edges=ends)


class _Seeded:
    """Within it igraph draws its random numbers from a seed; afterwards from Python's own source, which is its default."""

    def __init__(self, seed: int) -> None:
        self._numbers = random.Random(seed)  # noqa: S311  no secret

    def __enter__(self) -> None:
        import igraph

        igraph.set_random_number_generator(self._numbers)

    def __exit__(self, *_: object) -> None:
        import igraph

        igraph.set_random_number_generator(random)
