"""What took whose place: the ids by which an observation names its earlier and later revisions.

Knows nothing of why.
"""

from __future__ import annotations

from typing import Final

from grail_mem.model.observation import Observation

ALSO: Final = "supersedes_also"
"""The frontmatter key for what an observation supersedes beside the one in `supersedes`."""


def predecessors(o: Observation) -> tuple[str, ...]:
    """What an observation supersedes, by id."""
    also = o.extra.get(ALSO)
    more = tuple(id_ for id_ in also if isinstance(id_, str)) if isinstance(also, list) else ()
    return ((o.supersedes,) if o.supersedes else ()) + more


def relatives(o: Observation) -> tuple[str, ...]:
    """What an observation names in its lineage: what it supersedes, what superseded it, and what it is in conflict with."""
    later = (o.superseded_by,) if o.superseded_by else ()
    return tuple(dict.fromkeys((*predecessors(o), *later, *o.conflicts_with)))
