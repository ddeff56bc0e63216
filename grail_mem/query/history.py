"""The history of an observation: every revision before and after it, and who did what to them, when and why.

Knows nothing of how revisions are made.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from grail_mem.errors import NotFoundError
from grail_mem.model.lineage import ALSO, predecessors, relatives
from grail_mem.model.observation import Observation
from grail_mem.query.find import locate, locate_all
from grail_mem.query.sql import SqlSession
from grail_mem.query.view import View
from grail_mem.store.ledger import about

MOST: Final = 1_000
"""Revisions that one history shows; those nearest to the one asked for."""
_NAMING: Final = """
SELECT id, superseded_by, more FROM rows
WHERE superseded_by IS NOT NULL OR contains(more, '"supersedes') OR contains(more, '"conflicts_with')
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
    found = _joined(_readable(view, _lineage(session, o)) | {id_: o}, id_, view.access.default_scope)
    revisions = sorted(found.values(), key=lambda it: (it.valid_from or it.observed_at, it.id))
    return History(id_, tuple(revisions), tuple(_steps(view, found.keys())))


def _lineage(session: SqlSession, o: Observation) -> list[str]:
    """The ids of all revisions that are joined to one, whichever of two names the other; the nearest first."""
    joined: dict[str, set[str]] = {}
    named = [(row["id"], _named(row)) for row in session.ask(_NAMING).to_pylist()]
    for one, others in [*named, (o.id, relatives(o))]:
        for other in others:
            joined.setdefault(one, set()).add(other)
            joined.setdefault(other, set()).add(one)
    found = {o.id: None}
    waiting = deque(found)
    while waiting and len(found) < MOST:
        for other in sorted(joined.get(waiting.popleft(), set()) - found.keys()):
            found[other] = None
            waiting.append(other)
    return list(found)[:MOST]


def _joined(found: dict[str, Observation], id_: str, default_scope: str) -> dict[str, Observation]:
    """Those joined to one: in its scope whoever names the other, across scopes where each does.

    So a claim from one scope to have replaced what another one says is no part of the history there.
    """
    scopes = {one: o.scope or default_scope for one, o in found.items()}
    named = {one: set(relatives(o)) for one, o in found.items()}
    near: dict[object, set[object]] = {}
    for one, others in named.items():
        for other in others:
            mutual = other in scopes and (scopes[other] == scopes[one] or one in named[other])
            place = other if mutual else (other, scopes[one])  # what is gone or hidden joins those of one scope
            if mutual or other not in scopes:
                near.setdefault(one, set()).add(place)
                near.setdefault(place, set()).add(one)
    reached: set[object] = {id_}
    waiting: list[object] = [id_]
    while waiting:
        new = near.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return {one: o for one, o in found.items() if one in reached}


def _named(row: dict[str, Any]) -> list[str]:
    """What a row names in its lineage, as `model.lineage.relatives` tells of an observation."""
    more = json.loads(row["more"]) if row["more"] else {}
    also = more.get("extra", {}).get(ALSO)
    listed = [row["superseded_by"], more.get("supersedes"), *more.get("conflicts_with", ())]
    return [id_ for id_ in (*listed, *(also if isinstance(also, list) else ())) if isinstance(id_, str)]


def _readable(view: View, ids: Collection[str]) -> dict[str, Observation]:
    there = {id_: row.observation for id_, row in locate_all(view, ids).items()}
    return {id_: o for id_, o in there.items() if id_ not in view.hidden and view.access.may("read", o.scope)}


def _steps(view: View, ids: Collection[str]) -> Iterable[Step]:
    for entry in about(view.layout, ids):
        yield Step(entry.id, entry.at, entry.actor, entry.action, entry.reason)
