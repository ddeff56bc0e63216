"""After much came in: a snapshot and the index of its words, so that the first search need not read everything.

Knows nothing of what came in, nor from where.
"""

from __future__ import annotations

from collections.abc import Callable

from grail_mem.index.catalog import held, update_catalog
from grail_mem.query import compaction
from grail_mem.query.view import View


def make_searchable(view: View, progress: Callable[[str, int, int | None], None] | None = None) -> int:
    """Take what came since the snapshot into a new one and index its words, when so much is in no index.

    Vectors are made by `index` alone. What is there already is not made again, so that a run that was cut off is finished
    by the next one.

    Args:
        view: The store.
        progress: Called with what is being done, how much of it is done, and how much there is.

    Returns:
        How many observations were indexed.
    """
    view.absorb()
    n_loose = view.n_loose
    if n_loose + len(held(view).missing) < view.settings.compact_after:
        return 0
    if n_loose:
        if progress:
            progress("writing the snapshot", n_loose, None)
        compaction.compact(view)
        view.absorb()
    return update_catalog(view, progress=progress).n_added
