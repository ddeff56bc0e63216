"""Files as we write them, read straight to the row of a snapshot: what a rebuild does with most files of most stores.

One pattern takes the whole frontmatter in the order of `fields_of`. Whatever it does not take, or takes with anything to
say about it, is left to `read_observation`, to which a law in the tests holds this. Knows nothing of the ledger.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.category import category_key
from grail_mem.model.names import clean_tags, entity_key, tag_key
from grail_mem.model.observation import (
    KINDS,
    MAX_TURN,
    SOURCE_KINDS,
    STATUSES,
    Entity,
    Relationship,
    fingerprint_of,
    spoken,
)
from grail_mem.model.times import format_time, parse_time, to_us
from grail_mem.model.ulid import id_us
from grail_mem.store.files import FileState
from grail_mem.store.frontmatter_canonical import (
    BLOCK_PLAIN,
    CONSTANTS,
    FLOW_PLAIN,
    INT,
    JSON_FLOAT,
    STRING,
    TIMESTAMP,
    ULID,
    read_block,
)
from grail_mem.store.frontmatter_text import MAX_FRONTMATTER_CHARS, body_content
from grail_mem.store.parts import MAX_NAME, is_name, read_entity, read_relationship

_KEPT: Final = 16_384
"""Lines, tags and times kept, as the same few come again and again; chosen, a few megabytes at most."""
_TEXT: Final = rf"({BLOCK_PLAIN}|{STRING})"
_FRONTMATTER: Final = re.compile(
    rf"---\nid: ({ULID})\ntitle: {_TEXT}\nobserved_at: ({TIMESTAMP})\ncategory: {_TEXT}\n"
    rf"(?:recorded_at: ({TIMESTAMP})\n)?(?:tags: \[({FLOW_PLAIN}(?:, {FLOW_PLAIN})*)\]\n)?"
    rf"confidence: ({JSON_FLOAT}|{INT})\n(?:source: {_TEXT}\n)?"
    r"(?:entities:\n((?:  - .*\n)+))?(?:relationships:\n((?:  - .*\n)+))?"
    rf"(?:kind: ([a-z]+)\n)?(?:status: ([a-z]+)\n)?(?:attribute: {_TEXT}\n)?"
    rf"(?:valid_from: ({TIMESTAMP})\n)?(?:valid_until: ({TIMESTAMP})\n)?(?:expires_at: ({TIMESTAMP})\n)?"
    rf"(?:scope: {_TEXT}\n)?(?:session: {_TEXT}\n)?(?:turn: ({INT})\n)?(?:speaker: {_TEXT}\n)?"
    rf"(?:source_kind: ([a-z_]+)\n)?---\n",
    re.ASCII,
)
_MERGE_MARK: Final = b"<<<<<<< "
_PLAIN_ENTITY: Final = re.compile(rf"  - \{{name: ({FLOW_PLAIN}), type: ({FLOW_PLAIN})\}}", re.ASCII)
_PLAIN_RELATIONSHIP: Final = re.compile(
    rf"  - \{{source: ({FLOW_PLAIN}), target: ({FLOW_PLAIN}), relationship_type: ({FLOW_PLAIN})\}}", re.ASCII
)


class _NotPlain(Exception):  # noqa: N818  no error: it ends the reading of a file that the general reader takes
    """Something that the general reader has to look at."""


def read_own(data: bytes, path: str, category: str, state: FileState) -> tuple[Any, ...] | None:
    """The row of a file, in the order of `schema.COLUMNS`, as `row_values` gives it for the same file.

    Args:
        data: The file's bytes.
        path: Path relative to the root.
        category: What its folder says.
        state: The file's state while it was read.

    Returns:
        None for a file that is not as we write it, says more than the usual fields, or has a problem.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    found = _FRONTMATTER.match(text)
    if found is None or found.end() > MAX_FRONTMATTER_CHARS or "\r" in text or "\0" in text or _MERGE_MARK in data:
        return None
    try:
        return _row(
            found.groups(), body_content(text[found.end() :]), category, (path, sha256(data).hexdigest(), *state)
        )
    except (_NotPlain, InputError):
        return None


def _row(values: tuple[Any, ...], content: str, category: str, file: tuple[Any, ...]) -> tuple[Any, ...]:
    (id_, title, observed, stated_category, recorded, tags, confidence, source, entities, relationships, kind, status,
     attribute, begin, end, expires, scope, session, turn, speaker, source_kind) = values  # fmt: skip
    title, source, attribute, scope, session, speaker = map(_text, (title, source, attribute, scope, session, speaker))
    place = None if turn is None else int(turn)
    kind, status = kind or KINDS[0], status or "confirmed"
    observed_us = _us(observed)
    recorded_us = _us(recorded) if recorded else id_us(id_)
    begin_us, end_us = _us(begin), _us(end)
    if (
        "\n" in title
        or recorded_us is None
        or _text(stated_category) != category
        or kind not in KINDS
        or status not in STATUSES
        or not (place is None or 0 <= place <= MAX_TURN)
        or not (speaker is None or is_name(speaker))
        or (source_kind is not None and source_kind not in SOURCE_KINDS)
        or (begin_us is not None and end_us is not None and end_us <= begin_us)
    ):
        raise _NotPlain
    tag_texts, tag_keys = _each(_tag, tags.split(", ")) if tags else _NONE
    things, names = _each(_entity, entities.split("\n")[:-1]) if entities else _NONE
    relations, ends = _each(_relationship, relationships.split("\n")[:-1]) if relationships else _NONE
    print_ = fingerprint_of(
        category_key(category), title, content, sorted(tag_keys), sorted(names), sorted(key for key, *_ in ends),
        None if observed_us == recorded_us else _canonical_time(observed), kind, attribute, source, scope,
        *spoken(session, place, speaker),
    )  # fmt: skip
    return (
        id_, title, content, category, kind, status, _confidence(confidence), source, source_kind, attribute, scope,
        session, place, speaker, observed_us, recorded_us, begin_us, end_us, _us(expires), None, tag_texts, things, relations, None, *file, print_, True,
    )  # fmt: skip


_NONE: Final[tuple[tuple[Any, ...], tuple[Any, ...]]] = ((), ())


def _each(read: Any, parts: list[str]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What is read of each part, and their keys, no two of which may be equal: which one counts is not decided here."""
    made, keys = zip(*map(read, parts), strict=True)
    if len(keys) > 1 and len(set(keys)) < len(keys):
        raise _NotPlain
    return made, keys


def _text(written: str | None) -> Any:
    """The text in a field that holds nothing else; None for a field that is not there."""
    if written is None:
        return None
    if written[0] == '"':
        written = str(json.loads(written)) if "\\" in written else written[1:-1]
        if written.strip():
            return written
    elif written not in CONSTANTS:
        return written
    raise _NotPlain


@lru_cache(maxsize=_KEPT)
def _us(written: str | None) -> int | None:
    return None if written is None else to_us(parse_time(written))


def _canonical_time(written: str) -> str:
    return format_time(parse_time(written)) if "." in written else written


@lru_cache(maxsize=_KEPT)
def _confidence(written: str) -> float:
    value = float(written)
    if 0 <= value <= 1:
        return value
    raise _NotPlain


@lru_cache(maxsize=_KEPT)
def _tag(written: str) -> tuple[str, str]:
    """A tag and the key by which it is compared."""
    clean = clean_tags([written])
    if written in CONSTANTS or not clean:
        raise _NotPlain
    return clean[0], tag_key(clean[0])


@lru_cache(maxsize=_KEPT)
def _entity(line: str) -> tuple[Entity, tuple[str, str]]:
    """The entity in a line, and the keys of its name and type."""
    plain = _plain_words(_PLAIN_ENTITY, line)
    entity = Entity(plain[0], plain[1]) if plain else read_entity(_item(line))
    if entity is None:
        raise _NotPlain
    return entity, (entity.key, entity_key(entity.type))


@lru_cache(maxsize=_KEPT)
def _relationship(line: str) -> tuple[Relationship, tuple[tuple[str, str, str], Relationship]]:
    """The relationship in a line, and the keys of its ends and type before what it is told from others by."""
    plain = _plain_words(_PLAIN_RELATIONSHIP, line)
    made = Relationship(plain[0], plain[1], plain[2]) if plain else read_relationship(_item(line))
    if made is None:
        raise _NotPlain
    return made, ((entity_key(made.source), entity_key(made.target), entity_key(made.relationship_type)), made)


def _plain_words(pattern: re.Pattern[str], line: str) -> tuple[str, ...] | None:
    """The words in a line, each of which is a name as it stands; None when that takes a closer look."""
    found = pattern.fullmatch(line) if len(line) <= MAX_NAME else None
    words = found.groups() if found else ()
    return words if words and CONSTANTS.keys().isdisjoint(words) else None


def _item(line: str) -> Any:
    """The value in one line of a list."""
    fields = read_block(f"items:\n{line}")
    if fields is None:
        raise _NotPlain
    items: Any = fields["items"]
    return items[0]
