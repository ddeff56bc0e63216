"""Whether an observation in memory meets a filter: the rule itself, in Python, used for the few rows of the delta.

The snapshot's rows are filtered by SQL that must decide the same; a law in the tests holds both to it.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from grail_mem.model.filter import Filter
from grail_mem.model.names import entity_key, tag_key
from grail_mem.model.observation import Observation
from grail_mem.model.times import to_us


def text_key(title: str, content: str = "") -> str:
    """Title and body in the form in which texts are compared: Unicode NFC, case folded.

    Between the two stands NUL, which no text that is looked for can hold, so that nothing matches across the border.
    """
    text = f"{title}\0{content}" if content else title
    return (
        text.lower() if text.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    )


@dataclass(frozen=True, slots=True)
class Keys:
    """An observation's terms in normalised form, made once when it enters the delta."""

    us: int
    tags: frozenset[str]
    names: frozenset[str]
    types: frozenset[str]
    relations: frozenset[str]
    text: str


def keys_of(o: Observation) -> Keys:
    """The normalised terms of an observation."""
    return Keys(
        to_us(o.observed_at),
        frozenset(map(tag_key, o.tags)),
        frozenset(entity.key for entity in o.entities),
        frozenset(entity_key(entity.type) for entity in o.entities),
        frozenset(entity_key(r.relationship_type) for r in o.relationships),
        text_key(o.title, o.content),
    )


def matches(o: Observation, keys: Keys, f: Filter) -> bool:
    """Whether the observation meets every condition of the filter."""
    return (
        (f.since_us is None or keys.us >= f.since_us)
        and (f.before_us is None or keys.us < f.before_us)
        and (not f.category or any(glob.matches(o.category) for glob in f.category))
        and (not f.tags or not keys.tags.isdisjoint(f.tags))
        and keys.tags.issuperset(f.tags_all)
        and (not f.entity_names or not keys.names.isdisjoint(f.entity_names))
        and (not f.entity_types or not keys.types.isdisjoint(f.entity_types))
        and (not f.relationship_type or not keys.relations.isdisjoint(f.relationship_type))
        and (f.min_confidence is None or o.confidence >= f.min_confidence)
        and (not f.kind or o.kind in f.kind)
        and (not f.status or o.status in f.status)
        and (not f.source_kind or o.source_kind in f.source_kind)
        and (f.text is None or text_key(f.text) in keys.text)
        and (f.as_of_us is None or _holds(o, keys.us, f.as_of_us))
    )


def _holds(o: Observation, us: int, at_us: int) -> bool:
    begin = us if o.valid_from is None else to_us(o.valid_from)
    return begin <= at_us and all(end is None or to_us(end) > at_us for end in (o.valid_until, o.expires_at))
