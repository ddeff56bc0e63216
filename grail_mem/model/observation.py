"""The observation and its parts: one statement, one file.

Knows nothing of how a file is read or written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Final

from grail_mem.model.category import category_key
from grail_mem.model.names import entity_key, tag_key
from grail_mem.model.times import format_time

KINDS: Final = ("semantic", "episodic", "procedural", "prospective", "summary")
STATUSES: Final = ("provisional", "confirmed", "superseded", "archived")
SOURCE_KINDS: Final = ("user_statement", "system", "tool_result", "session_summary", "agent_inference")

DISPUTED: Final = "disputed_at"
"""The frontmatter key for since when somebody says that it is not so."""
STATUS_BEFORE: Final = "status_before"
"""The frontmatter key for the status that an archived observation gets back; absent for a confirmed one."""
PINNED: Final = "pinned"
"""The frontmatter key of what age takes nothing from."""
MAX_TURN: Final = 1_000_000_000
"""Far more turns than a session has, and a number that every column holds."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that observations mention; entities are the same when their normalised names are."""

    name: str
    type: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The normalised name, by which entities are compared."""
        return entity_key(self.name)

    @property
    def keys(self) -> tuple[str, ...]:
        """The normalised name and those of its other names, by any of which a filter finds it."""
        return (self.key, *filter(None, map(entity_key, self.aliases))) if self.aliases else (self.key,)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A typed, directed statement between two entities."""

    source: str
    target: str
    relationship_type: str
    description: str = ""
    weight: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote, where it stands, and how well it supports what is observed.

    Attributes:
        quote: The words, as the source has them.
        source: Where they stand, such as `sources/chats/2026-06-02.jsonl#turn=14`; or words of a person.
        span: From which character of the turn or document to which, exclusive.
        sha256: Digest of the source's words.
        match: `exact`, or `normalised` when the quote was found in other quotation marks, dashes or spaces.
        role: Who spoke: `user`, `assistant`, `system`, `tool`, or `document`.
        checker: Who judged whether the quote supports the observation.
        support: How well, 0 to 1.
        more: Keys that grail_mem does not know, as found.
    """

    quote: str
    source: str = ""
    span: tuple[int, int] | None = None
    sha256: str = ""
    match: str = ""
    role: str = ""
    checker: str = ""
    support: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Observation:
    """One statement with everything known about it; times are UTC.

    Attributes:
        id: ULID, 26 characters.
        title: One line; for a file without a title, its first heading, first line or file name.
        content: The markdown body.
        category: Folder path under `memories/`, `/` between levels; empty for a file directly in `memories/`.
        path: File path relative to the root, `/` between levels.
        observed_at: When it was seen.
        recorded_at: When it was written.
        confidence: 0 to 1; 1 when the file does not say.
        session: The conversation or event it belongs to; observations of one session are neighbours.
        turn: Its place in the session, from 0.
        speaker: Who said it; upper and lower case and spaces make no difference when speakers are compared.
        extra: Frontmatter keys that grail_mem does not know, as found.
        sha256: Digest of the file's bytes.
        superseded_by: What took its place.
        conflicts_with: What says otherwise and is not settled against it.
    """

    id: str
    title: str
    content: str
    category: str
    observed_at: datetime
    recorded_at: datetime
    path: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    confidence: float = 1.0
    kind: str = "semantic"
    status: str = "confirmed"
    source: str | None = None
    source_kind: str | None = None
    attribute: str | None = None
    scope: str | None = None
    session: str | None = None
    turn: int | None = None
    speaker: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    review_at: datetime | None = None
    supersedes: str | None = None
    evidence: tuple[Evidence, ...] = ()
    related_to: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    sha256: str = ""
    superseded_by: str | None = None
    conflicts_with: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The observation as plain JSON values; times as `2026-06-02T14:23:00Z`, absent values left out."""
        return {
            name: plain(value)
            for name in Observation.__slots__  # not those that a subclass adds
            if (value := getattr(self, name)) not in (None, (), {}) or name in _ALWAYS
        }


def status_kept(observation: Observation) -> str:
    """Its status, for an archived one that which it had and gets back."""
    before = observation.extra.get(STATUS_BEFORE)
    if observation.status != "archived":
        return observation.status
    return before if before in ("provisional", "superseded") else "confirmed"


_ALWAYS: Final = frozenset({"id", "title", "content", "category", "tags", "entities", "relationships", "path"})


def plain(value: object) -> object:
    """A value of an observation as JSON has it: times as text, tuples as lists, parts as mappings without what is absent."""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, _PARTS):
        more = value.more if isinstance(value, Evidence) else {}
        said = {name: plain(v) for name in value.__slots__ if (v := getattr(value, name)) not in (None, "", (), {})}
        return {name: v for name, v in said.items() if name != "more"} | dict(more)
    return value


_PARTS: Final = (Entity, Relationship, Evidence)


_canonical: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def fingerprint(observation: Observation) -> int:
    """A 64-bit digest of what an observation says, equal for equal statements whatever their id and file.

    A time that was not given by the writer (`observed_at` equal to `recorded_at`) is left out, so that a repeated call
    without a time is the same statement.
    """
    before, after = _said_by(observation)
    return fingerprint_of(*before, observation.scope, *after)


def fingerprints(observation: Observation, default_scope: str) -> tuple[int, ...]:
    """The digests of the same statement however its scope is named: its own, then, in the default scope, the other one."""
    own = observation.scope
    named = (own,) if own not in (None, default_scope) else (own, default_scope if own is None else None)
    before, after = _said_by(observation)
    return tuple(fingerprint_of(*before, scope, *after) for scope in named)


def _said_by(observation: Observation) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """What `fingerprint_of` takes of an observation, before its scope and behind it."""
    before = (
        category_key(observation.category),
        observation.title,
        observation.content,
        sorted(map(tag_key, observation.tags)),
        sorted((entity.key, entity_key(entity.type)) for entity in observation.entities),
        sorted(
            (entity_key(r.source), entity_key(r.target), entity_key(r.relationship_type))
            for r in observation.relationships
        ),
        None if observation.observed_at == observation.recorded_at else format_time(observation.observed_at),
        observation.kind,
        observation.attribute,
        observation.source,
    )
    return before, spoken(observation.session, observation.turn, observation.speaker)


def spoken(session: str | None, turn: int | None, speaker: str | None) -> tuple[object, ...]:
    """What a fingerprint takes of an observation's place in a conversation and its speaker: nothing when it has neither."""
    if speaker is not None:
        return session, turn, entity_key(speaker)
    return () if session is None and turn is None else (session, turn)


def fingerprint_of(*said: object) -> int:
    """The digest of what `fingerprint` takes of an observation, in its order: keys of names sorted, the time as text."""
    digest = blake2b(_canonical(said).encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big")
