"""From the bytes of an observation file to an observation.

Reading is lenient: a field that cannot be used is left out with a problem, and the observation is kept. Knows nothing
of folders being scanned or of the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256 as sha256_of
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.category import category_key
from grail_mem.model.names import clean_tags
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
from grail_mem.model.problem import Problem
from grail_mem.model.scope import NO_SCOPE
from grail_mem.model.times import format_time, parse_time
from grail_mem.model.ulid import derived_id, id_time, is_id
from grail_mem.store.filename import date_in_name
from grail_mem.store.files import FileState
from grail_mem.store.frontmatter import parse
from grail_mem.store.parts import (
    MAX_NAME,
    SCALARS,
    is_name,
    read_entity,
    read_evidence,
    read_relationship,
    unique_entities,
)

OBSERVED_KEYS: Final = ("observed_at", "date", "created", "created_at")
_KNOWN: Final = frozenset(
    (
        *("id", "title", "observed_at", "recorded_at", "category", "tags", "confidence", "source", "entities"),
        *("relationships", "kind", "attribute", "status", "valid_from", "valid_until", "expires_at", "review_at"),
        *("supersedes", "scope", "session", "turn", "speaker", "source_kind", "evidence", "related_to"),
        *("superseded_by", "conflicts_with"),
    )
)
_MERGE: Final = re.compile(rb"^(<{7,}) .*?^={7,}\r?$.*?^>{7,} ", re.DOTALL | re.MULTILINE)
_HEADING: Final = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")


@dataclass(frozen=True, slots=True)
class Adopted:
    """What the ledger says of a file that does not carry it itself; `sha256` is that of its bytes at the time."""

    id: str
    observed_at: str = ""
    recorded_at: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file as read.

    Attributes:
        state: The file's state while it was read.
        problems: What of it was not used, or used as described.
        has_id: Whether the file itself carries the id.
        has_time: Whether the file itself says when it was observed.
    """

    observation: Observation
    state: FileState
    problems: tuple[Problem, ...] = ()
    has_id: bool = True
    has_time: bool = True


def read_observation(
    data: bytes, path: str, category: str, state: FileState, *, zone: str = "UTC", adopted: Adopted | None = None
) -> FileRow:
    """The observation in a file's bytes.

    Args:
        data: The bytes.
        path: Path relative to the root.
        category: What its folder says.
        state: The file's state while it was read.
        zone: IANA zone of times without an offset.
        adopted: What the ledger says of this path, used where the file itself says nothing.

    Raises:
        InputError: The file cannot be used as an observation (`FrontmatterError` says at which line).
    """
    document = parse(data)
    if not document.content.strip() and not str(document.fields.get("title") or "").strip():
        raise InputError("the file says nothing: no title, no body", hint="write one of the two, or delete the file")
    reader = _Reader(document.fields, path, zone)
    digest = sha256_of(data).hexdigest()
    id_, has_id = reader.id()
    if not has_id:
        id_ = adopted.id if adopted else derived_id(path, digest)
    stated = reader.observed()
    observed = stated or instant_in(adopted.observed_at if adopted else "", zone) or date_in_name(_name(path))
    recorded = reader.time("recorded_at") or id_time(id_) or instant_in(adopted.recorded_at if adopted else "", zone)
    if recorded is None:
        recorded = datetime.fromtimestamp(max(state.mtime_ns, 0) // 1_000_000 / 1000, UTC)
    stated_fields = {name: read(reader) for name, read in _FIELDS.items() if name in document.fields}
    reader.check_interval(stated_fields)
    observation = Observation(
        id=id_,
        title=reader.title(document.content),
        content=document.content,
        category=reader.category(category),
        path=path,
        observed_at=observed or recorded,
        recorded_at=recorded,
        extra={key: value for key, value in document.fields.items() if key not in _KNOWN},
        sha256=digest,
        **stated_fields,
    )
    lint = tuple(Problem(p.code, p.message, path, p.line, p.remedy, p.severity) for p in document.problems)
    return FileRow(observation, state, (*lint, *reader.problems, *_merge(data, path)), has_id, stated is not None)


def _merge(data: bytes, path: str) -> Iterable[Problem]:
    """Two versions in one file, as git leaves them when both sides edited it."""
    marks = _MERGE.search(data) if b"<<<<<<< " in data else None
    if marks is not None:
        yield Problem(
            "merge_conflict", "two versions stand in this file, as git left them; both are taken as text", path,
            data.count(b"\n", 0, marks.start()) + 1,
            remedy="keep one of them, remove the marker lines, then run `grail sync`", severity="warning",
        )  # fmt: skip


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def instant_in(text: str, zone: str) -> datetime | None:
    """A time out of the ledger; None when there is none, or somebody changed the line."""
    try:
        return parse_time(text, zone=zone) if text else None
    except InputError:
        return None


class _Reader:
    """Reads known fields one by one, noting what cannot be used."""

    def __init__(self, values: Mapping[str, Any], path: str, zone: str) -> None:
        self.values, self.path, self.zone = values, path, zone
        self.problems: list[Problem] = []

    def note(self, code: str, message: str, remedy: str) -> None:
        self.problems.append(Problem(code, message, self.path, remedy=remedy, severity="warning"))

    def id(self) -> tuple[str, bool]:
        value = self.values.get("id")
        if value is None:
            return "", False
        text = str(value).upper()
        if is_id(text):
            return text, True
        self.note("bad_id", f"id {value!r} is not a ULID", "remove the line; sync writes a right one")
        return "", False

    def title(self, content: str) -> str:
        value = self.values.get("title")
        if isinstance(value, SCALARS) and (text := str(value)).strip():
            return " ".join(text.splitlines()).strip() if "\n" in text else text
        for line in content.splitlines():
            if line.strip():
                heading = _HEADING.match(line)
                return (heading[1] if heading else line.strip())[:200] or _name(self.path)
        return _name(self.path)[:-3]

    def category(self, category: str) -> str:
        stated = self.values.get("category")
        if (
            stated != category
            and isinstance(stated, str)
            and category_key(stated.strip("/ ")) != category_key(category)
        ):
            self.note(
                "category_differs",
                f"category says '{stated}', the folder is '{category}'; the folder counts",
                "move the file, or correct or remove the line",
            )
        return category

    def text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is None or value == "":
            return None
        if isinstance(value, SCALARS) and not isinstance(value, bool):
            return str(value)
        self.note("bad_value", f"{name} must be text", f"write `{name}: …` on one line")
        return None

    def choice(self, name: str, allowed: tuple[str, ...], default: Any) -> Any:
        value = self.values.get(name)
        if value is None or value in allowed:
            return default if value is None else value
        self.note("bad_value", f"{name} {value!r} is not one of {', '.join(allowed)}", f"choose one for {name}")
        return default

    def time(self, name: str) -> datetime | None:
        value = self.values.get(name)
        if value is None or value == "":
            return None
        try:
            if isinstance(value, str | date):
                return parse_time(value, zone=self.zone)
        except InputError:
            pass
        self.note("bad_time", f"{name} {value!r} is not a date or time", "write it like 2026-06-02T14:23:00Z")
        return None

    def observed(self) -> datetime | None:
        return next((time for name in OBSERVED_KEYS if name in self.values and (time := self.time(name))), None)

    def check_interval(self, fields: dict[str, Any]) -> None:
        begin, end = fields.get("valid_from"), fields.get("valid_until")
        if begin and end and end <= begin:
            self.note(
                "inverted_interval",
                f"valid_until {format_time(end)} is not after valid_from {format_time(begin)}; both are left out",
                "correct one of the two",
            )
            fields["valid_from"] = fields["valid_until"] = None

    def confidence(self) -> float:
        value = self.values.get("confidence")
        if value is None:
            return 1.0
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
        self.note("bad_value", f"confidence {value!r} is not a number from 0 to 1; 1 is used", "correct the number")
        return 1.0

    def turn(self) -> int | None:
        value = self.values.get("turn")
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TURN):
            return value
        self.note("bad_value", f"turn {value!r} is not a whole number from 0; it is left out", "correct the number")
        return None

    def scope(self) -> str | None:
        value = self.values.get("scope")
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        self.note(
            "bad_value", "scope must be text; until then the owner of the store alone sees the observation",
            "write it like `scope: project:grail`, or remove the line",
        )  # fmt: skip
        return NO_SCOPE  # never the default scope: others may see that one

    def speaker(self) -> str | None:
        text = self.text("speaker")
        if text is None or is_name(text):
            return text
        self.note("bad_value", "speaker is no name; it is left out", f"write one of at most {MAX_NAME} characters")
        return None

    def tags(self) -> tuple[str, ...]:
        value = self.values.get("tags")
        if value is None:
            return ()
        if isinstance(value, list):
            value = [str(item) if isinstance(item, int | float) else item for item in value if item is not None]
        try:
            return clean_tags(value)
        except InputError as error:
            self.note("bad_value", error.message, "write them like `tags: [one, two]`")
            return ()

    def _items(self, name: str, read: Callable[[Any], Any]) -> Iterable[Any]:
        value = self.values.get(name)
        if value is None:
            return
        for number, item in enumerate(value if isinstance(value, list) else [value], start=1):
            made = read(item)
            if made is None:
                self.note("bad_value", f"{name}: item {number} cannot be read", "see the file format page")
            else:
                yield made

    def entities(self) -> tuple[Entity, ...]:
        return unique_entities(self._items("entities", read_entity))

    def relationships(self) -> tuple[Relationship, ...]:
        return tuple(dict.fromkeys(self._items("relationships", read_relationship)))

    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(self._items("evidence", read_evidence))

    def ids(self, name: str) -> tuple[str, ...]:
        return tuple(self._items(name, lambda item: str(item) if isinstance(item, str | int) else None))


_FIELDS: Final[Mapping[str, Callable[[_Reader], Any]]] = {
    "tags": _Reader.tags,
    "entities": _Reader.entities,
    "relationships": _Reader.relationships,
    "confidence": _Reader.confidence,
    "kind": lambda reader: reader.choice("kind", KINDS, "semantic"),
    "status": lambda reader: reader.choice("status", STATUSES, "confirmed"),
    "source": lambda reader: reader.text("source"),
    "source_kind": lambda reader: reader.choice("source_kind", SOURCE_KINDS, None),
    "attribute": lambda reader: reader.text("attribute"),
    "scope": _Reader.scope,
    "session": lambda reader: reader.text("session"),
    "turn": _Reader.turn,
    "speaker": _Reader.speaker,
    "valid_from": lambda reader: reader.time("valid_from"),
    "valid_until": lambda reader: reader.time("valid_until"),
    "expires_at": lambda reader: reader.time("expires_at"),
    "review_at": lambda reader: reader.time("review_at"),
    "supersedes": lambda reader: reader.text("supersedes"),
    "superseded_by": lambda reader: reader.text("superseded_by"),
    "conflicts_with": lambda reader: reader.ids("conflicts_with"),
    "evidence": _Reader.evidence,
    "related_to": lambda reader: reader.ids("related_to"),
}
"""How each field is read that a file may leave out; those it does leave out have the defaults of `Observation`."""
