"""Proof: whether the quotes of an observation still stand where they point, as the sources say now.

Knows nothing of what happens to an observation whose quotes do not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from grail_mem.errors import StoreError
from grail_mem.model.observation import Evidence
from grail_mem.model.quote import find
from grail_mem.query.passages import Sources, scopes_of
from grail_mem.query.sql import SqlSession
from grail_mem.store.schema import evidence_in
from grail_mem.store.sources import Turn, parse_locator

Status = Literal["verified", "normalised match", "source changed", "source missing", "no source"]
LIVING: Final = ("verified", "normalised match")
DEAD: Final = ("source changed", "source missing")


@dataclass(frozen=True, slots=True)
class Claimed:
    """An observation that claims evidence.

    Attributes:
        scope: Whose it is; None is the default scope.
    """

    id: str
    path: str
    title: str
    scope: str | None
    evidence: tuple[Evidence, ...]


def status_of(sources: Sources, evidence: Evidence) -> Status:
    """Whether a quote stands where it points, and how."""
    return stands(sources, evidence)[0]


def stands(sources: Sources, evidence: Evidence) -> tuple[Status, Turn | None]:
    """Whether a quote stands where it points, and the passage there; the quote counts, not its span, which may move."""
    locator = parse_locator(evidence.source)
    if locator is None:
        return "no source", None
    try:
        passages = sources.at(locator)
        if not passages:  # the file may be there without the turn
            return ("source changed" if scopes_of(sources.layout, locator.path) else "source missing"), None
    except StoreError:
        return "source missing", None
    for passage in passages:
        if evidence.span is not None and passage.text[slice(*evidence.span)] == evidence.quote:
            return "verified", passage
        if (found := find(passage.text, evidence.quote)) is not None:
            return ("verified" if found.match == "exact" else "normalised match"), passage
    return "source changed", passages[0]


def is_dead(statuses: Iterable[Status]) -> bool:
    """Whether evidence is gone and none is left: what an observation rests on is not there any more."""
    found = set(statuses)
    return not found.isdisjoint(DEAD) and found.isdisjoint(LIVING)


def claimed(session: SqlSession) -> Iterator[Claimed]:
    """Every observation with evidence that is part of answers, in the order of ids."""
    text = "SELECT id, path, title, scope, more FROM rows WHERE json_array_length(more, '$.evidence') > 0 ORDER BY id"
    for id_, path, title, scope, more in session.con.execute(text).fetchall():
        yield Claimed(id_, path, title, scope, evidence_in(json.loads(more)))
