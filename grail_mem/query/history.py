"""The history of an observation: every revision before and after it, and who did what to them, when and why.

Knows nothing of how revisions are made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from grail_mem.errors import NotFoundError
from grail_mem.model.lineage import predecessors, relatives
from grail_mem.model.observation import Observation
from grail_mem.query.find import locate, locate_all
from grail_mem.query.sql import SqlSession
from grail_mem.query.view import View
from grail_mem.store.ledger import history as entries_of
from grail_mem.store.ledger_line import Entry

MOST: Final = 1_000
"""Revisions that one history shows; those nearest to the one asked for."""
_NAMING: Final = """
SELECT id FROM rows
WHERE list_contains($ids::VARCHAR[], superseded_by) OR list_contains($ids::VARCHAR[], more->>'$.supersedes')
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done to a revision.

    Attributes:
        id: The observation.
        at: When, UTC.
        actor: Who, as the application said.
        action: What, as the ledger names it.
        reason: Why, in the words of who did it.
    """

    id: str
    at: str
    actor: str
    action: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        """The step as plain JSON values."""
        return {"id": self.id, "at": self.at, "actor": self.actor, "action": self.action, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class History:
    """The revisions of an observation and what was done to them.

    Attributes:
        id: The observation that was asked for.
        revisions: It, all that came before and after, and what is in conflict with one of them; by event time.
        steps: What was done to them, in order.
    """

    id: str
    revisions: tuple[Observation, ...]
    steps: tuple[Step, ...]

    def to_dict(self) -> dict[str, Any]:
        """The history as plain JSON values; each revision with what it supersedes."""
        revisions = [o.to_dict() | {"supersedes": list(predecessors(o))} for o in self.revisions]
        return {"id": self.id, "revisions": revisions, "steps": [step.to_dict() for step in self.steps]}


def history(view: View, session: SqlSession, id_: str) -> History:
    """The history of an observation, both ways.

    Args:
        view: The store.
        session: SQL over its rows.
        id_: The observation.

    Raises:
        NotFoundError: There is none, it is hidden, or the caller may not read it.
    """
    o = locate(view, id_).observation
    view.access.require("read", o.scope, id_=id_)
    if id_ in view.hidden:
        raise NotFoundError(f"There is no observation {id_}.", hint="`grail list` shows what is there.")
    found = {id_: o}
    edge: Collection[str] = [id_]
    while edge and len(found) < MOST:
        named = {other for at in edge for other in relatives(found[at])} | _naming(session, edge)
        there = _readable(view, named - found.keys())
        found |= there
        edge = list(there)
    revisions = sorted(found.values(), key=lambda it: (it.valid_from or it.observed_at, it.id))
    return History(id_, tuple(revisions[:MOST]), tuple(_steps(view, found.keys())))


def _naming(session: SqlSession, ids: Iterable[str]) -> set[str]:
    """Those that name one of these as what they supersede, or as what superseded them."""
    return set(session.ask(_NAMING, {"ids": list(ids)}).column("id").to_pylist())


def _readable(view: View, ids: Collection[str]) -> dict[str, Observation]:
    if not ids:
        return {}
    there = {id_: row.observation for id_, row in locate_all(view, ids).items()}
    return {id_: o for id_, o in there.items() if id_ not in view.hidden and view.access.may("read", o.scope)}


def _steps(view: View, ids: Collection[str]) -> Iterable[Step]:
    mine: list[Entry] = [entry for entry in entries_of(view.layout) if entry.id in ids]
    for entry in sorted(mine, key=lambda entry: entry.order):
        yield Step(entry.id, entry.at, entry.actor, entry.action, entry.reason)
