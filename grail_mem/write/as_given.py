"""From when to when observations hold as their writers gave it, whatever was decided since.

Knows nothing of what that is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from grail_mem.model.validity import is_interval
from grail_mem.query.view import View
from grail_mem.store.ledger import about


def as_given(view: View, ids: Collection[str]) -> Mapping[str, str]:
    """The intervals by id, as `interval_of`; of imports, and of files that others wrote, nobody knows, and they are left out."""
    given: dict[str, str] = {}
    for entry in about(view.layout, ids) if ids else ():
        if entry.action == "add":
            given.setdefault(entry.id, entry.detail)
    return {id_: interval for id_, interval in given.items() if is_interval(interval)}
