"""What a foreign store says, one statement at a time: a draft with where it came from, or the reason why there is none.

Knows nothing of files, nor of the store that takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from grail_mem.errors import GrailError
from grail_mem.model.category import clean_category
from grail_mem.model.names import clean_tags
from grail_mem.model.scope import clean_scope
from grail_mem.model.times import format_time
from grail_mem.model.ulid import derived_id
from grail_mem.store.parts import read_entity

TITLE: Final = 120
_MOST_TAGS: Final = 100
_MOST_PARTS: Final = 500
"""Entities or relationships of one note; chosen: half of what a draft may have, so that their ends fit, too."""
_ODD: Final = re.compile(r"[^\w .()&+,'-]+")


@dataclass(frozen=True, slots=True)
class Said:
    """A draft, or why there is none.

    Attributes:
        where: Its place in what is imported, for people.
        name: What it is called.
        fields: The fields of a draft.
        key: What it is called there; with the content it makes the id here, so that it comes once. Empty for the fields.
        origin: What the file keeps of where it came from.
        reason: Why there is no draft.
    """

    where: str
    name: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


def skip(where: str, name: object, reason: str) -> Said:
    """What is not taken, and why."""
    return Said(where, text(name)[:TITLE], reason=reason)


def draft(
    kind: str,
    where: str,
    key: str,
    content: str,
    /,
    *,
    origin: object = None,
    kept: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Said:
    """A draft of a foreign store; fields that are empty count as not said.

    Args:
        kind: The kind of the store, such as `mem0`.
        where: Its place, for people.
        key: What it is called there.
        content: What it says.
        origin: Its id there.
        kept: What else the file keeps of where it came from.
        fields: The other fields of a draft.
    """
    said = {name: value for name, value in fields.items() if value not in (None, "", [], ())}
    said["title"] = title_of(said.get("title"), content)
    said.setdefault("category", f"imported/{kind}")
    said["content"] = content
    if "entities" in said:
        said["entities"] = said["entities"][:_MOST_PARTS]
    if "relationships" in said:
        said["relationships"] = said["relationships"][:_MOST_PARTS]
    known = {"from": kind} | ({"id": text(origin)[:500]} if text(origin) else {})
    known |= {name: value for name, value in (kept or {}).items() if value not in (None, "", [])}
    return Said(where, said["title"], said, f"{kind}\0{key}" if key else "", known)


def id_of(kind: str, key: str, content: str) -> str:
    """The id that `draft` of the same kind, key and content gets."""
    return key_id(f"{kind}\0{key}", content)


def key_id(key: str, content: str) -> str:
    """The id of what has a key: the same whenever the same thing says the same."""
    return derived_id("imported", sha256(f"{key}\0{content}".encode(errors="surrogatepass")).hexdigest())


def text(value: object) -> str:
    """A text without spaces at its ends; empty for what is none."""
    return value.strip() if isinstance(value, str) else ""


def title_of(title: object, content: str) -> str:
    """A title of one line: the one that was given, else the first line of the content."""
    for found in (text(title), content):
        for line in found.splitlines():
            if short := line.strip().lstrip("#").strip():
                return short[:TITLE]
    return content.strip()[:TITLE]


def time_of(value: object) -> str:
    """A time as text: ISO as it stands, seconds since 1970 read; empty for what is no time."""
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ""
    try:
        return format_time(datetime.fromtimestamp(value, UTC))
    except (ValueError, OverflowError, OSError):
        return ""


def tags_of(value: object) -> list[str]:
    """The tags of a list or a text, without those that can be none here."""
    items = value if isinstance(value, list | tuple) else [value] if isinstance(value, str) else []
    found: dict[str, None] = {}
    for item in items:
        try:
            found |= dict.fromkeys(clean_tags([item] if isinstance(value, list | tuple) else item))
        except GrailError:
            continue
    return list(found)[:_MOST_TAGS]


def category_of(*parts: str) -> str:
    """A category of folder names; one that cannot be a folder here is repaired, and left out when nothing is left of it."""
    try:
        return clean_category("/".join(parts))
    except GrailError:
        names = [_ODD.sub("-", name).strip(" .-") for part in parts for name in part.split("/")]
    try:
        return clean_category("/".join(name for name in names if name))
    except GrailError:
        return clean_category(parts[0])


def scope_of(user: object) -> str:
    """The scope of a user of another program.

    Raises:
        InputError: Its id cannot be one here.
    """
    return clean_scope(f"user:{user}") if text(user) else ""


def entities_of(named: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Entities without those whose name can be none here; each name once, with what was said of it first."""
    found: dict[str, dict[str, Any]] = {}
    for item in named:
        entity = read_entity(dict(item))
        if entity is not None and entity.key and len(entity.name) <= TITLE * 4 and entity.key not in found:
            found[entity.key] = {name: value for name, value in item.items() if value not in (None, "", [], ())}
    return list(found.values())


def relation(source: str, verb: str, target: str, **more: Any) -> dict[str, Any]:
    """A relationship as a draft has it."""
    said = {name: value for name, value in more.items() if value not in (None, "")}
    return {"source": source, "target": target, "relationship_type": verb} | said


def texts(value: object) -> Iterator[str]:
    """The texts of a list that say anything."""
    for item in value if isinstance(value, list | tuple) else ():
        if said := text(item):
            yield said
