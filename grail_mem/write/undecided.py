"""Facts that nobody decided: statements of one fact that hold now and say otherwise, since files were edited.

Adding, remembering, approving, revising and importing decide; `update`, sync and edits by hand do not. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations

from grail_mem.model.fact import statement_key
from grail_mem.model.filter import Filter
from grail_mem.model.observation import Observation
from grail_mem.model.times import format_time, to_us
from grail_mem.query.due import Due
from grail_mem.query.view import View
from grail_mem.write.facts import key_of, matching
from grail_mem.write.saying import begins_at, is_claim

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Undecided:
    """A fact with more than one statement that holds now.

    Attributes:
        attribute: The attribute as the latest statement writes it.
        statements: Those of which one says otherwise than another and neither names the other in `conflicts_with`; the
            latest first.
    """

    attribute: str
    statements: tuple[Observation, ...]


def undecided(view: View) -> list[Undecided]:
    """The undecided facts of a store that is up to date, by attribute; none where the settings decide none."""
    if view.settings.facts != "decide":
        return []
    reader = view.live_base()
    attributes = sorted({*view.loose().attributes(), *(reader.attributes() if reader is not None else ())} - {""})
    found: list[Undecided] = []
    for first in range(0, len(attributes), _AT_ONCE):
        now = to_us(datetime.now(UTC))
        asked = Filter(attribute=tuple(attributes[first : first + _AT_ONCE]), current_us=now)
        facts: dict[tuple[str, str], list[Observation]] = {}
        for o in matching(view, asked):
            if o.status != "superseded" and is_claim(o):
                facts.setdefault(key_of(view, o), []).append(o)
        found += [one for _, listed in sorted(facts.items()) if (one := _undecided(listed)) is not None]
    return found


def _undecided(current: Sequence[Observation]) -> Undecided | None:
    open_ = {
        o.id: o
        for pair in combinations(current, 2)
        if statement_key(pair[0].content) != statement_key(pair[1].content)
        and pair[0].id not in pair[1].conflicts_with
        and pair[1].id not in pair[0].conflicts_with
        for o in pair
    }
    if not open_:
        return None
    listed = sorted(open_.values(), key=lambda o: (begins_at(o), o.id), reverse=True)
    return Undecided(listed[0].attribute or "", tuple(listed))


def with_undecided(view: View, found: Sequence[Due]) -> list[Due]:
    """What is due, with the statements of undecided facts, each with the time that it begins; those that are due already first."""
    open_ = {o.id: o for fact in undecided(view) for o in fact.statements if view.access.may("read", o.scope)}
    why = {id_: (("undecided", format_time(begins_at(o))),) for id_, o in open_.items()}
    known = [replace(one, why=(*one.why, *why.pop(one.id, ()))) for one in found]
    return [*known, *(Due(id_, o.title, o.category, o.path, why[id_]) for id_, o in open_.items() if id_ in why)]
