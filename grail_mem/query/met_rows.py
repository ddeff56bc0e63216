"""Rows of one snapshot that were asked for before: a verb asks for the same few again and again, and a snapshot never changes.

Knows nothing of how a row is found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final, Literal

from grail_mem.query.delta import BaseRow

Table = Literal["ids", "paths"]
MOST: Final = 20_000
"""Keys that are remembered, some megabytes; with more, all are asked for anew."""


class MetRows:
    """Rows by id and by path, and which of both there are none of.

    Args:
        ask: Finds rows by ids or by paths; it may find others beside them.
    """

    def __init__(self, ask: Callable[[Table, Collection[str]], Iterable[BaseRow]]) -> None:
        self._ask = ask
        self._known: dict[Table, dict[str, BaseRow | None]] = {"ids": {}, "paths": {}}

    def of(self, table: Table, keys: Collection[str]) -> dict[str, BaseRow]:
        """The rows with these ids or paths; what has none is left out."""
        wanted = dict.fromkeys(keys)
        known = self._known[table]
        new = [key for key in wanted if key not in known]
        if new and len(known) + len(new) > MOST:
            self._forget()
            new = list(wanted)
        if new:
            found = list(self._ask(table, new))  # before anything is noted: it may fail
            known.update(dict.fromkeys(new))
            for row in found:
                self._known["ids"][row.id] = self._known["paths"][row.path] = row
        there = ((key, known[key]) for key in wanted)
        return {key: row for key, row in there if row is not None}

    def _forget(self) -> None:
        for rows in self._known.values():
            rows.clear()
