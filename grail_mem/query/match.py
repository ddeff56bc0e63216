"""Whether an observation in memory meets a filter: the rule itself, in Python, used for the few rows of the delta.

The snapshot's rows are filtered by SQL that must decide the same; a law in the tests holds both to it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from grail_mem.model.filter import Filter
from grail_mem.model.names import attribute_key, entity_key, session_key, tag_key
from grail_mem.model.observation import Observation
from grail_mem.model.times import to_us
from grail_mem.model.validity import Span, span_of


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
    session: str
    speaker: str
    attribute: str
    recorded_us: int
    span: Span
    text: str


def keys_of(o: Observation) -> Keys:
    """The normalised terms of an observation."""
    return Keys(
        to_us(o.observed_at),
        frozenset(map(tag_key, o.tags)),
        frozenset(key for entity in o.entities for key in entity.keys),
        frozenset(entity_key(entity.type) for entity in o.entities),
        frozenset(entity_key(r.relationship_type) for r in o.relationships),
        session_key(o.session or ""),
        entity_key(o.speaker or ""),
        attribute_key(o.attribute or ""),
        to_us(o.recorded_at),
        span_of(o),
        text_key(o.title, o.content),
    )


Condition = Callable[[Observation, Keys], bool]

_CONDITIONS: Final[dict[str, Callable[[Any], Condition]]] = {
    "since_us": lambda us: lambda _, keys: keys.us >= us,
    "before_us": lambda us: lambda _, keys: keys.us < us,
    "min_confidence": lambda least: lambda o, _: o.confidence >= least,
    "tags": lambda wanted: lambda _, keys: not keys.tags.isdisjoint(wanted),
    "tags_all": lambda wanted: lambda _, keys: keys.tags.issuperset(wanted),
    "entity_names": lambda wanted: lambda _, keys: not keys.names.isdisjoint(wanted),
    "entity_types": lambda wanted: lambda _, keys: not keys.types.isdisjoint(wanted),
    "relationship_type": lambda wanted: lambda _, keys: not keys.relations.isdisjoint(wanted),
    "kind": lambda wanted: lambda o, _: o.kind in wanted,
    "status": lambda wanted: lambda o, _: o.status in wanted,
    "source_kind": lambda wanted: lambda o, _: o.source_kind in wanted,
    "session": lambda wanted: lambda _, keys: keys.session in wanted,
    "speaker": lambda wanted: lambda _, keys: keys.speaker in wanted,
    "scope": lambda wanted: lambda o, _: (o.scope or "") in wanted,
    "attribute": lambda wanted: lambda _, keys: keys.attribute in wanted,
    "current_us": lambda us: lambda _, keys: keys.span.holds(us),
    "category": lambda globs: lambda o, _: any(glob.matches(o.category) for glob in globs),
    "text": lambda text: _containing(text_key(text)),
}
"""How each field of a filter is decided, those first that take the least time."""
_TOGETHER: Final = frozenset({"as_of_us", "known_us"})
"""Fields that `_valid` decides, neither without the other."""


def conditions(f: Filter) -> list[Condition]:
    """What a filter asks of a row, one function a field that is set; a row matches when all of them hold."""
    made = [made(value) for name, made in _CONDITIONS.items() if (value := getattr(f, name)) not in (None, ())]
    return made if f.as_of_us is None else [_valid(f.as_of_us, f.known_us), *made]


def _containing(key: str) -> Condition:
    return lambda _, keys: key in keys.text


def _valid(at_us: int, known_us: int | None) -> Condition:
    """Whether a row was valid at an instant, as is known now or was known at another."""

    def holds(_: Observation, keys: Keys) -> bool:
        span = keys.span
        if (keys.us if span.begins is None else span.begins) > at_us:
            return False
        if known_us is None:
            return at_us < span.ends
        return keys.recorded_us <= known_us and at_us < (span.stood if span.replaced > known_us else span.ends)

    return holds
