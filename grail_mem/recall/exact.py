"""The exact recall: refresh → filter → gather → explain. No model, no ranking.

Knows nothing of how rows are stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from grail_mem.model.filter import Filter, Page, Position, write_cursor
from grail_mem.model.names import entity_key
from grail_mem.model.observation import Entity, Observation, Relationship
from grail_mem.model.times import from_us
from grail_mem.query.compaction import due_at
from grail_mem.query.select import count, select
from grail_mem.query.view import View
from grail_mem.recall.proven import proven
from grail_mem.recall.result import Abstention, Citation, Recall
from grail_mem.recall.timed import timed

CURRENT: Final = "current"
"""The condition that holds unless history is asked for."""


def recall(view: View, f: Filter, page: Page) -> Recall:
    """Every observation that meets the filter, a page at a time.

    Args:
        view: The store.
        f: The conditions, all of which hold on everything returned.
        page: How many, in which order, after which row.
    """
    trace: dict[str, Any] = {}
    timed(trace, "refresh", view.refresh)
    rows = timed(trace, "filter", lambda: select(view, f, page))
    more, rows = len(rows) > page.limit, rows[: page.limit]
    cursor = write_cursor(page.order, f.digest(), Position(*rows[-1][:3])) if more else None
    observations = tuple(row.observation for row in rows)
    abstention = None if observations else timed(trace, "explain", lambda: explain(view, f, page))
    answer = Recall(
        observations=observations,
        entities=entities_of(observations, f),
        relationships=relationships_of(observations, f),
        citations=tuple(Citation(o.id, o.path, o.title, o.evidence) for o in observations),
        abstention=abstention,
        cursor=cursor,
        trace=trace,
        warnings=(*view.warnings, *behind(view)),
    )
    return proven(view, answer)


def behind(view: View) -> Iterable[str]:
    """A word to those who only read: nobody compacts for them, and every opening reads all those files."""
    if view.principal is None and view.n_loose >= 5 * due_at(view):
        yield f"{view.n_loose} observations are outside the snapshot; `grail compact` makes recalls fast again."


def entities_of(observations: Iterable[Observation], f: Filter) -> tuple[Entity, ...]:
    """The entities that the filter admits, one a name, by first mention."""
    found: dict[str, Entity] = {}
    for o in observations:
        for entity in o.entities:
            if entity.key not in found and _admits(f, entity):
                found[entity.key] = entity
    return tuple(found.values())


def _admits(f: Filter, entity: Entity) -> bool:
    named = not f.entity_names or not set(entity.keys).isdisjoint(f.entity_names)
    return named and (not f.entity_types or entity_key(entity.type) in f.entity_types)


def relationships_of(observations: Iterable[Observation], f: Filter) -> tuple[Relationship, ...]:
    """The relationships that the filter admits: of a type asked for, and with an end that was asked for."""
    found: dict[Relationship, None] = {}
    for o in observations:
        if not o.relationships:
            continue
        ends = {e.key for e in o.entities if _admits(f, e)}
        for r in o.relationships:
            right_type = not f.relationship_type or entity_key(r.relationship_type) in f.relationship_type
            asked = not (f.entity_names or f.entity_types)
            if right_type and (asked or not ends.isdisjoint((entity_key(r.source), entity_key(r.target)))):
                found[r] = None
    return tuple(found)


def refused(view: View, f: Filter) -> Recall | None:
    """The answer to a caller who asks for scopes of which none may be read, whether anything is there or not."""
    readable = view.scopes
    if readable is None or not f.scope or not readable.isdisjoint(f.scope):
        return None
    named = ", ".join(filter(None, f.scope))
    return Recall(abstention=Abstention("not_permitted", f"This session may not read in {named}."))


def explain(view: View, f: Filter, page: Page | None = None) -> Abstention:
    """Why nothing is returned: nothing is stored, or which condition left nothing."""
    if not view.n_rows:
        beside = _beside(view)
        if view.principal is not None:
            return Abstention("nothing_stored", f"There are no observations that this session may read{beside}.")
        if not view.layout.is_store():
            return Abstention("nothing_stored", "This folder holds no store yet; the first write makes it one.")
        out = len(view.silent - view.hidden)
        hidden = f"; {len(view.hidden)} are hidden, and `grail restore` brings one back" if view.hidden else ""
        gone = f"; {out} lost the evidence they rest on, and `grail verify` lists them" if out else ""
        return Abstention(
            "nothing_stored",
            f"This store holds no observations{'' if hidden or gone else ' yet'}{hidden}{gone}{beside}.",
        )
    if page is not None and page.after is not None:
        return Abstention("no_match", "There is nothing after this cursor.")
    alone = {name: count(view, f.only(name)) for name in f.conditions() if name != CURRENT}
    total = f"{view.n_rows} observation{'s' if view.n_rows != 1 else ''}"
    if empty := [name for name, n in alone.items() if not n]:
        said = "; ".join(f"{name}={_shown(f, name)}" for name in empty)
        return Abstention("no_match", f"No observation of {total} meets {said}.")
    is_past = f.current_us is not None and not count(view, f)
    if is_past and (was := count(view, replace(f, current_us=None)) if alone else view.n_rows):
        those = (
            f"{was} of {total} meet{'s' if was == 1 else ''} every condition, but none" if alone else f"None of {total}"
        )
        return Abstention("no_match", f"{those} is current; include_history=True shows what was.")
    if not alone:  # the cascade looks at passages, of which what is current has none
        return Abstention("no_match", f"No observation of {total} that is current can be searched.")
    counts = ", ".join(f"{name} alone {n}" for name, n in alone.items())
    return Abstention("no_match", f"Each condition is met by some of {total} ({counts}), but by none together.")


def _beside(view: View) -> str:
    """What is there though no observation is: sources, of which nothing is returned until somebody makes observations of them."""
    from grail_mem.query.source_list import count_sources  # for an empty store alone

    chats, documents = count_sources(view)
    named = [
        f"{n} {what}{'s' if n != 1 else ''}" for n, what in ((chats, "conversation"), (documents, "document")) if n
    ]
    return f"; evidence can quote {' and '.join(named)} (`grail list sources`)" if named else ""


def _shown(f: Filter, condition: str) -> str:
    if condition == "category":
        return ", ".join(glob.pattern for glob in f.category)
    if condition == "believed_at" and f.known_us is not None:
        return f"{from_us(f.known_us):%Y-%m-%dT%H:%M:%SZ}"
    if not hasattr(f, condition):
        return f"{from_us(getattr(f, f'{condition}_us')):%Y-%m-%dT%H:%M:%SZ}"
    value = getattr(f, condition)
    return ", ".join(map(str, filter(None, value))) if isinstance(value, tuple) else str(value)
