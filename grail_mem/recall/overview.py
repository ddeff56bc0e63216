"""Overviews: what an answer says about an entity, a community or a document as a whole, counted and never written by a model.

Knows nothing of how the counts came about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from grail_mem.model.observation import plain


class Counted(NamedTuple):
    """A name, and in how many observations it is."""

    name: str
    n: int


class Tie(NamedTuple):
    """A relationship of an entity, and how many observations state it.

    Attributes:
        relationship_type: Such as `CHOSE`.
        other: The entity at the other end.
        is_outward: Whether it leads from the entity to the other one.
        n: Observations that state it.
    """

    relationship_type: str
    other: str
    is_outward: bool
    n: int


class Brief(NamedTuple):
    """An observation by its head."""

    id: str
    title: str
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class EntityCard:
    """An entity as the observations that meet the filter show it.

    Attributes:
        name: The way it is written most often.
        types: Most frequent first.
        aliases: Its other names.
        description: The longest that any observation gives.
        n_observations: Observations that name it.
        n_declared: Those of them whose file lists it among its entities.
        first_observed_at: The earliest of them.
        last_observed_at: The latest of them.
        relationships: What they state about it, most often stated first.
        neighbours: Entities that are named with it, the most telling first: by how often together, for how often at all.
        timeline: Months with how many of them are from there, in order.
    """

    name: str
    types: tuple[str, ...]
    aliases: tuple[str, ...]
    description: str
    n_observations: int
    n_declared: int
    first_observed_at: datetime
    last_observed_at: datetime
    relationships: tuple[Tie, ...]
    neighbours: tuple[Counted, ...]
    timeline: tuple[Counted, ...]

    def lines(self) -> Iterator[str]:
        """The card as lines of text."""
        kind = f" ({', '.join(self.types)})" if self.types else ""
        yield f"{self.name}{kind}: {_many(self.n_observations)}, {_span(self.first_observed_at, self.last_observed_at)}"
        if self.description:
            yield f"- {self.description}"
        if self.aliases:
            yield f"- also called {', '.join(self.aliases)}"
        for tie in self.relationships:
            ends = (self.name, tie.other) if tie.is_outward else (tie.other, self.name)
            yield f"- {ends[0]} {tie.relationship_type} {ends[1]}{_times(tie.n)}"
        if self.neighbours:
            yield f"- named with {_listed(self.neighbours)}"
        if len(self.timeline) > 1:
            yield f"- by month: {_listed(self.timeline)}"

    def to_dict(self) -> dict[str, Any]:
        """The card as plain JSON values."""
        return _plain("entity", self)


@dataclass(frozen=True, slots=True)
class CommunityCard:
    """A folder with everything below it, as the observations that meet the filter show it.

    Attributes:
        community: Its path; empty for what lies in no folder.
        n_observations: In it and below.
        n_directly: In it.
        last_observed_at: The latest.
        entities: Most named first.
        recent: The latest observations.
        central: Those that share most with the others.
        overviews: Notes that tell about it: of the kind `summary`, or named readme, overview or index.
    """

    community: str
    n_observations: int
    n_directly: int
    last_observed_at: datetime
    entities: tuple[Counted, ...]
    recent: tuple[Brief, ...]
    central: tuple[Brief, ...]
    overviews: tuple[Brief, ...]

    def lines(self) -> Iterator[str]:
        """The card as lines of text."""
        name = self.community or "(no folder)"
        yield f"{name}: {_many(self.n_observations)}, latest {self.last_observed_at:%Y-%m-%d}"
        if self.entities:
            yield f"- names {_listed(self.entities)}"
        told: set[str] = set()
        for said, briefs in (("overview", self.overviews), ("central", self.central), ("recent", self.recent)):
            for brief in briefs:
                if brief.id not in told:
                    told.add(brief.id)
                    yield f"- {said}: {brief.observed_at:%Y-%m-%d} {brief.title}"

    def to_dict(self) -> dict[str, Any]:
        """The card as plain JSON values."""
        return _plain("community", self)


@dataclass(frozen=True, slots=True)
class DocumentCard:
    """A file, a source or a session as a whole.

    Attributes:
        document: As it was asked for.
        found_as: `id`, `path`, `source` or `session`.
        n_observations: Its observations that meet the filter.
        n_characters: Their text.
        first_observed_at: The earliest of them.
        last_observed_at: The latest of them.
        headings: Headings of the text, or titles of the observations, in order.
    """

    document: str
    found_as: str
    n_observations: int
    n_characters: int
    first_observed_at: datetime
    last_observed_at: datetime
    headings: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The card as lines of text."""
        when = _span(self.first_observed_at, self.last_observed_at)
        yield f"{self.document}: {_many(self.n_observations)}, {self.n_characters:,} characters, {when}"
        for heading in self.headings:
            yield f"- {heading}"

    def to_dict(self) -> dict[str, Any]:
        """The card as plain JSON values."""
        return _plain("document", self)


Card = EntityCard | CommunityCard | DocumentCard


def card_lines(cards: Iterable[Card]) -> list[str]:
    """Cards as lines of text, each on one line."""
    return [" ".join(line.split()) for card in cards for line in card.lines()]


def _plain(about: str, card: Card) -> dict[str, Any]:
    return {"about": about} | {name: _value(value) for name, value in asdict(card).items() if value not in ("", ())}


def _value(value: object) -> object:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    return [_value(item) for item in value] if isinstance(value, tuple) else plain(value)


def _many(n: int) -> str:
    return f"{n:,} observation{'s' if n != 1 else ''}"


def _times(n: int) -> str:
    return f" ({n} times)" if n > 1 else ""


def _listed(counted: Sequence[Counted]) -> str:
    return ", ".join(f"{it.name} ({it.n})" for it in counted)


def _span(first: datetime, last: datetime) -> str:
    if first.date() == last.date():
        return f"{first:%Y-%m-%d}"
    return f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
