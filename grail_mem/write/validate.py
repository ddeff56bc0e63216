"""From a draft, which may hold anything, to a valid observation, with all problems at once.

Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.category import clean_category
from grail_mem.model.names import clean_tags, clean_text, entity_key
from grail_mem.model.observation import (
    KINDS,
    MAX_TURN,
    SOURCE_KINDS,
    STATUSES,
    Entity,
    Evidence,
    Observation,
    Relationship,
)
from grail_mem.model.problem import Gather
from grail_mem.model.scope import clean_scope
from grail_mem.model.times import format_time, parse_when
from grail_mem.model.ulid import id_time, is_id, new_id
from grail_mem.settings import Settings
from grail_mem.store.parts import read_entity, read_relationship, unique_entities
from grail_mem.write.quotes import read_quotes
from grail_mem.write.screening import quoting_no_secret, screened

MAX_TITLE: Final = 1_000
MAX_ITEMS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Draft:
    """An observation as a caller sends it, before anything is checked; the fields are those of `add_observation`."""

    content: Any = None
    title: Any = None
    category: Any = None
    tags: Any = None
    entities: Any = None
    relationships: Any = None
    observed_at: Any = None
    confidence: Any = None
    source: Any = None
    related_to: Any = None
    kind: Any = None
    attribute: Any = None
    status: Any = None
    valid_from: Any = None
    valid_until: Any = None
    expires_at: Any = None
    review_at: Any = None
    supersedes: Any = None
    scope: Any = None
    session: Any = None
    turn: Any = None
    speaker: Any = None
    source_kind: Any = None
    slug: Any = None
    evidence: Any = None


DRAFT_FIELDS: Final = tuple(item.name for item in fields(Draft))


def read_draft(values: Mapping[str, Any]) -> Draft:
    """A draft from a mapping such as one line of JSON.

    Raises:
        InputError: It is no mapping, or holds fields that no observation has.
    """
    if not isinstance(values, Mapping):
        raise InputError(f"A draft must be a mapping of fields, not {type(values).__name__}.")
    unknown = [str(name) for name in values if name not in DRAFT_FIELDS]
    if unknown:
        raise InputError(
            f"There is no field {', '.join(repr(name) for name in unknown)} in an observation.",
            hint=f"The fields are {', '.join(DRAFT_FIELDS)}.",
            problems=[f"'{name}' is no field of an observation." for name in unknown],
        )
    return Draft(**values)


def make_observation(
    draft: Draft, *, now: datetime, settings: Settings, kept: frozenset[str] = frozenset()
) -> tuple[Observation, tuple[str, ...]]:
    """A valid observation with a new id, screened, and warnings about what was adjusted.

    Args:
        draft: What the caller sent.
        now: The moment of recording, and the time that relative times are counted from.
        settings: Zone, default category, limits, and what is screened.
        kept: Fields that stand in the file already, which are not screened.

    Raises:
        InputError: The draft cannot be used; `problems` lists every reason and quotes no secret.
    """
    with quoting_no_secret():
        try:
            draft, warnings = screened(draft, settings, kept=kept)
        except InputError as error:
            raise _with_all(error, draft, now, settings) from None
        return _made_observation(draft, now, settings, list(warnings))


def _with_all(error: InputError, draft: Draft, now: datetime, settings: Settings) -> InputError:
    """A refusal of what was screened, with what else is wrong with the draft."""
    try:
        _made_observation(draft, now, settings, [])
    except InputError as other:
        problems = (*error.problems, *other.problems)
        hint = f"{error.hint} {other.hint}".strip()
        return InputError(" ".join(("The observation cannot be stored.", *problems)), hint=hint, problems=problems)
    return error


def _made_observation(
    draft: Draft, now: datetime, settings: Settings, warnings: list[str]
) -> tuple[Observation, tuple[str, ...]]:
    gather = Gather()
    id_ = new_id()
    recorded_at = id_time(id_) or now

    def time(value: Any) -> datetime:
        if not isinstance(value, str | date):
            raise InputError(f"{value!r} is not a time; write it like 2026-06-02T14:23:00Z.")
        return parse_when(value, now=now, zone=settings.zone)

    readers: dict[str, Callable[[Any], Any]] = {
        "content": _content(settings, warnings), "title": _title(warnings), "observed_at": time, "valid_from": time,
        "valid_until": time, "expires_at": time, "review_at": time,
    }  # fmt: skip
    said: dict[str, Any] = {}
    for name in _READ:
        if (value := getattr(draft, name)) is not None:
            read = gather.read(name, value, readers.get(name) or _READERS[name], None)
            if read is not None:
                said[name] = read
    content = said.pop("content", "")
    if draft.content is None:
        gather.read("content", "", readers["content"], None)
    relationships = said.get("relationships", ())
    made = Observation(
        id=id_,
        title=said.pop("title", "") or first_line(content),
        content=content,
        category=said.pop("category", settings.default_category),
        observed_at=said.pop("observed_at", recorded_at),
        recorded_at=recorded_at,
        entities=with_endpoints(said.pop("entities", ()), relationships, warnings),
        **said,
    )
    if made.status == "provisional" and made.expires_at is None and settings.provisional_days:
        made = replace(made, expires_at=recorded_at + timedelta(days=settings.provisional_days))
    if made.valid_from and made.valid_until and made.valid_until <= made.valid_from:
        gather.found.append(
            f"valid_until ({format_time(made.valid_until)}) must be after valid_from ({format_time(made.valid_from)})."
        )
    if made.turn is not None and made.session is None and not gather.found:
        gather.found.append("turn is a place in a session; name the session, too.")
    gather.stop("The observation cannot be stored.")
    return made, tuple(warnings)


def first_line(content: str) -> str:
    """The title of an observation that was given none: its first line, without heading marks."""
    line = next((line.strip() for line in content.splitlines() if line.strip()), "")
    return line.lstrip("#").strip()[:200] or line[:200]


def with_endpoints(
    entities: tuple[Entity, ...], relationships: tuple[Relationship, ...], warnings: list[str]
) -> tuple[Entity, ...]:
    """The entities, and one for every end of a relationship that was not among them, with a warning."""
    known = {entity.key for entity in entities}
    missing = {entity_key(name): name for r in relationships for name in (r.source, r.target)}
    added = tuple(Entity(name) for key, name in missing.items() if key not in known)
    warnings += [f"entity '{entity.name}' was added because a relationship names it." for entity in added]
    return entities + added


def _content(settings: Settings, warnings: list[str]) -> Any:
    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise InputError(f"content must be text, not {type(value).__name__}.")
        text, replaced = clean_text(value)
        if not text.strip():
            raise InputError("content is empty; an observation needs a statement.")
        if (size := len(text.encode())) > settings.max_content_bytes:
            raise InputError(
                f"content is {size} bytes long; the setting max_content_bytes allows {settings.max_content_bytes}."
            )
        if replaced:
            warnings.append("content held NUL characters or half surrogate pairs; they became U+FFFD.")
        return text

    return read


def _title(warnings: list[str]) -> Any:
    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise InputError(f"title must be text, not {type(value).__name__}.")
        text, replaced = clean_text(value)
        if len(text.strip().splitlines()) > 1:
            raise InputError("title must be one line; put the rest into content.")
        if len(text) > MAX_TITLE:
            raise InputError(f"title is {len(text)} characters long; at most {MAX_TITLE} are allowed.")
        if replaced:
            warnings.append("title held NUL characters or half surrogate pairs; they became U+FFFD.")
        return text.strip()

    return read


def _confidence(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"confidence must be a number from 0 to 1, not {value!r}.")
    return float(value)


def _turn(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_TURN:
        raise InputError(f"turn must be a whole number from 0, not {value!r}.")
    return value


def _choice(allowed: tuple[str, ...]) -> Any:
    def read(value: Any) -> str:
        if value not in allowed:
            raise InputError(f"must be one of {', '.join(allowed)}, not {value!r}.")
        return str(value)

    return read


def _line(value: Any) -> str | None:
    if not isinstance(value, str):
        raise InputError(f"must be text, not {type(value).__name__}.")
    text = clean_text(value)[0].strip()
    if len(text.splitlines()) > 1 or len(text) > MAX_TITLE:
        raise InputError(f"must be one line of at most {MAX_TITLE} characters.")
    return text or None


def _speaker(value: Any) -> str | None:
    text = _line(value)
    if text and not entity_key(text):
        raise InputError(f"must be a name, not {text!r}.")
    return text


def _id(value: Any) -> str:
    if not is_id(value):
        raise InputError(f"{value!r} is not the id of an observation (26 characters, as `add` printed it).")
    return str(value)


def _ids(value: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_id, _listed(value))))


def _evidence(value: Any) -> tuple[Evidence, ...]:
    """Evidence that was located; what was not is checked for its form alone."""
    if isinstance(value, tuple) and all(isinstance(item, Evidence) for item in value):
        return value
    return tuple(Evidence(said.quote, said.source or "") for said in read_quotes(value))


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InputError(f"must be a list, not {type(value).__name__}.")
    if len(value) > MAX_ITEMS:
        raise InputError(f"holds {len(value)} items; at most {MAX_ITEMS} are allowed.")
    return list(value)


def _entities(value: Any) -> tuple[Entity, ...]:
    return unique_entities(_made(value, Entity, read_entity, {"name", "type", "description", "aliases"}, "a name"))


def _relationships(value: Any) -> tuple[Relationship, ...]:
    allowed = {"source", "target", "relationship_type", "type", "description", "weight", "confidence"}
    made = _made(value, Relationship, read_relationship, allowed, "source, target and relationship_type")
    return tuple(dict.fromkeys(made))


def _made(value: Any, made: type, read: Any, allowed: set[str], needs: str) -> list[Any]:
    result, problems = [], []
    for number, item in enumerate(_listed(value), start=1):
        if isinstance(item, made):
            result.append(item)
            continue
        unknown = [str(key) for key in item if key not in allowed] if isinstance(item, Mapping) else []
        if unknown:
            problems.append(f"item {number} has no field '{unknown[0]}'; the fields are {', '.join(sorted(allowed))}.")
        elif (one := read(item)) is None:
            problems.append(f"item {number} needs {needs}: {item!r}")
        else:
            result.append(one)
    if problems:
        raise InputError(" ".join(problems), problems=problems)
    return [_cleaned(item) for item in result]


@lru_cache(maxsize=16_384)  # the same few names come again and again
def _cleaned(item: Entity | Relationship) -> Any:
    values = {name: v for name in item.__slots__ if isinstance(v := getattr(item, name), str)}
    lines: dict[str, Any] = {
        name: line for name, text in values.items() if (line := " ".join(clean_text(text)[0].split())) != text
    }
    return replace(item, **lines) if lines else item


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "category": clean_category, "tags": clean_tags, "entities": _entities, "relationships": _relationships,
    "confidence": _confidence, "kind": _choice(KINDS), "status": _choice(STATUSES), "source": _line,
    "source_kind": _choice(SOURCE_KINDS), "attribute": _line, "scope": clean_scope, "session": _line, "turn": _turn,
    "speaker": _speaker, "supersedes": _id, "related_to": _ids, "evidence": _evidence,
}  # fmt: skip
"""How each field is read that needs neither a setting nor the time of the call."""
_READ: Final = (
    "content", "entities", "relationships", "title", "category", "observed_at", "tags", "confidence", "kind", "status",
    "source", "source_kind", "attribute", "scope", "session", "turn", "speaker", "valid_from", "valid_until", "expires_at",
    "review_at", "supersedes", "related_to", "evidence",
)  # fmt: skip
"""The fields in the order in which their problems are told."""
