"""From an observation to the file that says it: the fields in our order, and their bytes.

Knows nothing of how a file is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from grail_mem.model.observation import (
    Entity,
    Observation,
    Relationship,
    plain,
)
from grail_mem.model.ulid import id_time
from grail_mem.store.frontmatter_canonical import clean_value, field_lines, flow, whole

_KEPT: Final = 16_384
"""Lines of entities and relationships kept, so that an export makes each once; chosen, a few megabytes at most."""
_ABSENT: Final = (None, "", ())
_PARTS: Final = ("entities", "relationships")
_WHERE_GIVEN: Final = (
    "source", "entities", "relationships", "kind", "status", "attribute", "valid_from", "valid_until", "expires_at",
    "review_at", "supersedes", "superseded_by", "conflicts_with", "scope", "session", "turn", "speaker", "source_kind", "evidence", "related_to",
)  # fmt: skip
_DEFAULTS: Final = {"kind": "semantic", "status": "confirmed"}


def fields_of(observation: Observation) -> dict[str, Any]:
    """The frontmatter of an observation in the order in which our own files have it."""
    return {name: plain(value) for name, value in _given(observation)} | observation.extra


def render_observation(observation: Observation) -> bytes:
    """The file of an observation: what `render` makes of `fields_of`, with the lines of known parts kept."""
    lines: list[str] = []
    for name, value in _given(observation):
        if name in _PARTS:
            lines += [f"{name}:", *map(_part_line, value)]
        else:
            lines += field_lines(name, clean_value(plain(value), name))
    for name, value in observation.extra.items():
        lines += field_lines(name, clean_value(value, name))
    return whole(lines, observation.content)


def _given(o: Observation) -> Iterator[tuple[str, Any]]:
    """The fields that a file of ours says, in its order."""
    yield from (("id", o.id), ("title", o.title), ("observed_at", o.observed_at), ("category", o.category))
    if id_time(o.id) != o.recorded_at:
        yield "recorded_at", o.recorded_at
    if o.tags:
        yield "tags", o.tags
    yield "confidence", o.confidence
    for name in _WHERE_GIVEN:
        value = getattr(o, name)
        if value not in _ABSENT and value != _DEFAULTS.get(name):
            yield name, value


@lru_cache(maxsize=_KEPT)
def _part_line(part: Entity | Relationship) -> str:
    return f"  - {flow(clean_value(plain(part), type(part).__name__))}"
