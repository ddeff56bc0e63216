"""Observations without what they say of erased ones: ids that name them, places in the lineage of a fact, quotes of what goes.

Knows nothing of why something is erased.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grail_mem.model.lineage import ALSO, predecessors
from grail_mem.model.names import clean_text, entity_key, session_key
from grail_mem.model.observation import Observation
from grail_mem.query.find import locate_all
from grail_mem.query.view import View
from grail_mem.store.sources import parse_locator
from grail_mem.write.edited import Edited, read_one, with_extra, with_fields, with_values
from grail_mem.write.saying import REINFORCED
from grail_mem.write.selection import Selection, everything
from grail_mem.write.traces import Traces
from grail_mem.write.unsaying import Unsaid


def edits_without(view: View, traces: Traces, unsaid: Unsaid, selection: Selection) -> list[Edited]:
    """The observations that name what is erased, or that quote or repeat it, as they shall be."""
    gone = {o.id: o for o in traces.observations}
    repeating = _repeating(view, selection, gone)
    wanted = dict.fromkeys((*traces.references, *sorted(unsaid.losing), *repeating))
    found = {id_: read_one(view, row) for id_, row in locate_all(view, wanted).items()}
    return [_without(view, found[id_], gone, unsaid, selection) for id_ in wanted if id_ in found]


def _repeating(view: View, selection: Selection, gone: Mapping[str, Observation]) -> list[str]:
    """Observations that keep who said the same, where that is asked for, or that name as their source what is."""
    if (selection.session, selection.speaker, selection.source) == (None, None, None) or selection.ids is not None:
        return []
    default = view.access.default_scope
    return [o.id for o in everything(view) if o.id not in gone and _repeats(o, selection, default)]


def _repeats(o: Observation, selection: Selection, default: str) -> bool:
    return _left_of(o, selection, default) != o.extra.get(REINFORCED) or _has_place(o, selection)


def _has_place(o: Observation, selection: Selection) -> bool:
    """Whether an observation that stays names as its source the place in the sources that is asked for."""
    inside = selection.source is not None and parse_locator(selection.source) is not None
    return inside and o.source is not None and selection.names(o.source)


def _left_of(o: Observation, selection: Selection, default: str) -> Any:
    """Who said the same, without those that are asked for."""
    listed = o.extra.get(REINFORCED)
    if not isinstance(listed, list):
        return listed
    return [said for said in listed if not (isinstance(said, Mapping) and _is_meant(said, o, selection, default))]


def _is_meant(said: Mapping[str, Any], o: Observation, selection: Selection, default: str) -> bool:
    source, session, speaker = (str(said.get(name) or "") for name in ("source", "session", "speaker"))
    return (
        (selection.source is None or (bool(source) and selection.names(clean_text(source)[0])))
        and (selection.session is None or (bool(session) and session_key(session) == selection.session))
        and (selection.speaker is None or (bool(speaker) and entity_key(speaker) == selection.speaker))
        and selection.holds_scope(o.scope or default)
    )


def _without(
    view: View, edited: Edited, gone: Mapping[str, Observation], unsaid: Unsaid, selection: Selection
) -> Edited:
    o = edited.made
    patch: dict[str, Any] = {}
    if not gone.keys().isdisjoint(o.related_to):
        patch["related_to"] = [id_ for id_ in o.related_to if id_ not in gone] or None
    if _has_place(o, selection):
        patch["source"] = None
    if patch:
        edited = with_fields(view, edited, patch)
    values = _lineage(o, gone) | ({"evidence": unsaid.losing[o.id]} if o.id in unsaid.losing else {})
    extra = _extra(edited.made, gone, selection, view.access.default_scope)
    also = list(predecessors_left(o, gone)[1:])
    if also != list(predecessors(o)[1:]):
        extra = {name: value for name, value in extra.items() if name != ALSO} | ({ALSO: also} if also else {})
    if values:
        edited = with_values(edited, **values)
    for key in {*edited.made.extra, *extra}:
        if extra.get(key) != edited.made.extra.get(key):
            edited = with_extra(edited, key, extra.get(key))
    return edited


def _lineage(o: Observation, gone: Mapping[str, Observation]) -> dict[str, Any]:
    """The places of an observation in the lineage of its fact; what stood before and behind an erased one meets.

    What had no place behind the erased one stays history all the same: it does not become current by itself.
    """
    after, seen = o.superseded_by, {o.id}
    while after is not None and after in gone:
        seen.add(after)
        after = gone[after].superseded_by
        after = None if after in seen else after
    first = next(iter(predecessors_left(o, gone)), None)
    conflicts = tuple(id_ for id_ in o.conflicts_with if id_ not in gone)
    found = {"superseded_by": after, "supersedes": first, "conflicts_with": conflicts}
    return {name: value for name, value in found.items() if value != getattr(o, name)}


def predecessors_left(o: Observation, gone: Mapping[str, Observation]) -> tuple[str, ...]:
    """What an observation supersedes when others are gone: what those superseded stands in their place."""
    return tuple(dict.fromkeys(_before(predecessors(o), gone, {o.id})))


def _before(ids: tuple[str, ...], gone: Mapping[str, Observation], seen: set[str]) -> Iterator[str]:
    for id_ in ids:
        if id_ not in gone:
            yield id_
        elif id_ not in seen:
            seen.add(id_)
            yield from _before(predecessors(gone[id_]), gone, seen)


def _extra(o: Observation, gone: Mapping[str, Observation], selection: Selection, default: str) -> dict[str, Any]:
    """Keys of one's own without the parts that name an erased observation, and who said the same without what is asked for."""
    extra = dict(o.extra)
    if selection.ids is None and REINFORCED in extra:
        extra[REINFORCED] = _left_of(o, selection, default)
    left = {key: value if key == ALSO else _left(value, gone) for key, value in extra.items()}
    return {key: value for key, value in left.items() if value or value == o.extra.get(key)}


def _left(value: Any, gone: Mapping[str, Observation]) -> Any:
    """A value of frontmatter without the parts that name an erased observation."""
    if isinstance(value, list | tuple):
        return [left for item in value if (left := _left(item, gone)) is not None]
    if isinstance(value, Mapping):
        if any(isinstance(item, str) and item in gone for item in value.values()):
            return None
        return {key: left for key, item in value.items() if (left := _left(item, gone)) is not None}
    return None if isinstance(value, str) and any(id_ in value for id_ in gone) else value
