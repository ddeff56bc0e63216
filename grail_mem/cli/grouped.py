"""Groups of options that several commands take: one parameter of a command stands for a whole group.

Knows nothing of what the commands do with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Final

from grail_mem.cli import options as o

Group = dict[str, Any]
"""The values of a group by the names of its options; None for what was not given."""
Command = Callable[..., None]

FIELDS: Final[Mapping[str, Any]] = {
    "tags": o.Tags,
    "entities": o.Entities,
    "relationships": o.Relationships,
    "observed_at": o.ObservedAt,
    "confidence": o.Confidence,
    "source": o.Source,
    "kind": o.Kind,
    "attribute": o.Attribute,
    "status": o.Status,
    "valid_from": o.ValidFrom,
    "valid_until": o.ValidUntil,
    "expires_at": o.ExpiresAt,
    "review_at": o.ReviewAt,
    "supersedes": o.Supersedes,
    "related_to": o.RelatedTo,
    "scope": o.Scope,
    "session": o.Session,
    "turn": o.Turn,
    "speaker": o.Speaker,
    "source_kind": o.SourceKind,
    "evidence": o.Evidence,
}
"""Fields of an observation besides its words and its place."""

CONDITIONS: Final[Mapping[str, Any]] = {
    "since": o.Since,
    "before": o.Before,
    "category": o.AnyCategory,
    "tags": o.AnyTag,
    "tags_all": o.AllTags,
    "entity_names": o.AnyEntity,
    "entity_types": o.AnyEntityType,
    "relationship_type": o.AnyRelationship,
    "min_confidence": o.MinConfidence,
    "kind": o.AnyKind,
    "status": o.AnyStatus,
    "source_kind": o.AnySourceKind,
    "session": o.AnySession,
    "speaker": o.AnySpeaker,
    "scope": o.AnyScope,
    "attribute": o.AnyAttribute,
    "text": o.Containing,
    "as_of": o.AsOf,
    "believed_at": o.BelievedAt,
}
"""Conditions of a recall; whether history counts is each command's own matter."""

_NUMBERS: Final = frozenset({"confidence", "min_confidence", "turn"})


def grouped(name: str, options: Mapping[str, Any]) -> Callable[[Command], Command]:
    """Let a command take a group of options in the place of one of its parameters, which gets their values.

    Args:
        name: The parameter.
        options: By name, how each is written; none of them is needed.
    """

    def changed(command: Command) -> Command:
        @wraps(command)
        def run(**given: Any) -> None:
            values = {option: given.pop(option) for option in options}
            read = {option: o.number(value) if option in _NUMBERS else value for option, value in values.items()}
            command(**given, **{name: read})

        own = signature(command, eval_str=True)
        group = [
            Parameter(option, Parameter.KEYWORD_ONLY, default=None, annotation=said) for option, said in options.items()
        ]
        listed = [one for own_one in own.parameters.values() for one in (group if own_one.name == name else [own_one])]
        vars(run)["__signature__"] = own.replace(parameters=listed)
        run.__annotations__ = {one.name: one.annotation for one in listed}
        return run

    return changed
