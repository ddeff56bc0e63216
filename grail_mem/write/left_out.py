"""What a writer is told whose word is there already: what became of that one, and what of the new one it does not hold.

Knows nothing of how it was found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from grail_mem.model.category import category_key
from grail_mem.model.names import entity_key, tag_key
from grail_mem.model.observation import Observation
from grail_mem.model.times import format_time
from grail_mem.write.saying import REINFORCED, is_new_word

_ENDED: Final = (
    "it was ended and holds until {until}; to say that it holds again, give the time when that was observed."
)
_PUT_AWAY: Final = {
    "archived": "it is archived; `grail unarchive {id}` brings it back.",
    "superseded": "it is history, since something else took its place: `grail history {id}`.",
}
_LEFT: Final = "not taken over: {names}; `grail update {id}` and `grail revise {id}` change the one that is there."
_KEYS: Final[dict[str, Callable[[Any], object]]] = {
    "category": category_key,
    "tags": lambda tags: tuple(map(tag_key, tags)),
    "entities": lambda entities: tuple(entity.key for entity in entities),
    "relationships": lambda listed: tuple(
        (entity_key(r.source), entity_key(r.target), entity_key(r.relationship_type)) for r in listed
    ),
}
"""By what values are compared that can be written in more than one way."""
_NAMED: Final = (
    "category", "tags", "entities", "relationships", "kind", "source_kind", "status", "confidence", "supersedes",
    "related_to", "expires_at", "review_at", "evidence",
)  # fmt: skip
"""What a statement is the same without, where a writer may expect that it was taken over."""
_SETTLED: Final = ("status", "confidence", "expires_at")
"""Those of them that who repeats it changes."""
_PLAIN: Final = {field.name: field.default for field in fields(Observation)}


def left_out(there: Observation, made: Observation) -> tuple[str, ...]:
    """What a writer has to know of the observation that holds its word now; empty when all is as the writer said."""
    if there.status in _PUT_AWAY:
        return (_PUT_AWAY[there.status].format(id=there.id),)
    said = []
    if there.valid_until is not None and made.valid_until != there.valid_until:
        said.append(_ENDED.format(until=format_time(there.valid_until)))
    if names := [name for name in _NAMED if _is_left(name, there, made)]:
        said.append(_LEFT.format(names=", ".join(names), id=there.id))
    return tuple(said)


def _is_left(name: str, there: Observation, made: Observation) -> bool:
    """Whether the writer gave something that the observation there does not say, and nobody settled since."""
    if name in _SETTLED and (REINFORCED in there.extra or made.status == "provisional"):
        return False
    own, other = getattr(made, name), getattr(there, name)
    if name == "source_kind" and own is not None:
        return is_new_word(there, made)
    if name == "supersedes" and other is not None:  # what came between took the place of the one that is named
        return False
    if own == _PLAIN[name]:
        return False
    if name in _KEYS:
        own, other = _KEYS[name](own), _KEYS[name](other)
    return not set(own) <= set(other) if isinstance(own, tuple) else own != other
