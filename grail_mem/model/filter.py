"""The filter: exact conditions on observations, all of which must hold.

One normalised value made by `make_filter` from what callers send; every wrong value is reported at once, and nothing is
ever ignored. Knows nothing of SQL.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from hashlib import blake2b
from math import isfinite
from typing import Any, Final, Literal, NamedTuple

from grail_mem.errors import InputError
from grail_mem.model.category import CategoryGlob, compile_glob
from grail_mem.model.names import attribute_key, clean_tags, entity_key, session_key, tag_key
from grail_mem.model.observation import KINDS, SOURCE_KINDS, STATUSES
from grail_mem.model.problem import Gather
from grail_mem.model.scope import clean_scope
from grail_mem.model.times import from_us, parse_when, to_us
from grail_mem.model.ulid import is_id

Order = Literal["newest", "oldest", "recorded", "confidence"]
ORDERS: Final = ("newest", "oldest", "recorded", "confidence")
DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 100_000
MAX_TEXT: Final = 1_000
MAX_VALUES: Final = 1_000
"""Most values of one condition; every one is compared with every row outside the snapshot."""

_MOST: Final = 2**63 - 1
"""No number that rows are put in order by is higher, nor is its negative lower."""

Time = str | date | datetime
Texts = str | Iterable[str]


_NO_SCOPE: Final = ("\0",)
"""What no observation belongs to."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions in normalised form; None or empty means not asked for.

    Attributes:
        since_us: Observed at or after, microseconds since 1970 UTC.
        before_us: Observed before.
        category: Globs, any of which matches.
        tags: Tag keys, any of which is there.
        tags_all: Tag keys, all of which are there.
        entity_names: Normalised names, any of which is mentioned.
        entity_types: Normalised types, any of which a mentioned entity has.
        relationship_type: Normalised types, any of which is stated.
        min_confidence: 0 to 1.
        session: Keys of sessions, to any of which it belongs.
        speaker: Normalised names, any of which said it.
        scope: Scopes, any of which it belongs to; empty text is one that its file does not name.
        text: Contained in title or body, without regard to case.
        attribute: Normalised attributes, any of which it states.
        as_of_us: Valid at that instant: begun, not ended, not expired, not superseded.
        known_us: Recorded by that instant, and validity as it was known then.
        current_us: The instant of the asking, when only what holds then is asked for.
    """

    since_us: int | None = None
    before_us: int | None = None
    category: tuple[CategoryGlob, ...] = ()
    tags: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    entity_names: tuple[str, ...] = ()
    entity_types: tuple[str, ...] = ()
    relationship_type: tuple[str, ...] = ()
    min_confidence: float | None = None
    kind: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    source_kind: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    speaker: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    attribute: tuple[str, ...] = ()
    text: str | None = None
    as_of_us: int | None = None
    known_us: int | None = None
    current_us: int | None = None

    def only(self, condition: str) -> Filter:
        """The filter with one of its conditions, by the name that callers know it by."""
        own = {theirs: ours for ours, theirs in _NAMES.items()}.get(condition, condition)
        beside = {"as_of_us": self.as_of_us} if own == "known_us" else {}
        return Filter(**{own: getattr(self, own)} | beside)

    def conditions(self) -> tuple[str, ...]:
        """The names of the conditions that are set, as callers know them."""
        return tuple(
            _NAMES.get(item.name, item.name) for item in fields(self) if getattr(self, item.name) not in (None, ())
        )

    def within(self, scopes: Collection[str]) -> Filter:
        """The filter with the further condition that a row belongs to one of these scopes."""
        both = tuple(scope for scope in self.scope or sorted(scopes) if scope in scopes)
        return replace(self, scope=both or _NO_SCOPE)

    def digest(self) -> str:
        """A short digest, equal for equal conditions; times are left out, since relative ones move between calls."""
        parts = [
            [glob.pattern for glob in value] if item.name == "category" else value
            for item in fields(self)
            if (value := getattr(self, item.name)) is not None and not item.name.endswith("_us")
        ]
        return blake2b(json.dumps(parts).encode(), digest_size=6).hexdigest()


_NAMES: Final = {
    "since_us": "since", "before_us": "before", "as_of_us": "as_of", "known_us": "believed_at", "current_us": "current",
}  # fmt: skip
"""What callers know fields by that have another name here."""


class Position(NamedTuple):
    """Where a row stands in an order: its value there, then newest first."""

    value: float
    us: int
    id: str


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of the answer: how many, in which order, after which row."""

    limit: int = DEFAULT_LIMIT
    order: Order = "newest"
    after: Position | None = None


def make_filter(
    *,
    now: datetime,
    zone: str = "UTC",
    since: Time | None = None,
    before: Time | None = None,
    category: Texts | None = None,
    tags: Texts | None = None,
    tags_all: Texts | None = None,
    entity_names: Texts | None = None,
    entity_types: Texts | None = None,
    relationship_type: Texts | None = None,
    min_confidence: float | None = None,
    kind: Texts | None = None,
    status: Texts | None = None,
    source_kind: Texts | None = None,
    session: Texts | None = None,
    speaker: Texts | None = None,
    scope: Texts | None = None,
    attribute: Texts | None = None,
    text: str | None = None,
    as_of: Time | None = None,
    believed_at: Time | None = None,
    include_history: bool = False,
    default_scope: str = "",
) -> Filter:
    """A filter from what a caller sent.

    Args:
        now: The asking time, against which relative times are read.
        zone: Zone of times without an offset.
        since: Instant, date or relative time (`7d`, `2 weeks ago`), inclusive.
        before: The same, exclusive.
        category: Globs, any of which matches.
        tags: Any of these.
        tags_all: All of these.
        entity_names: Any of these is mentioned.
        entity_types: An entity of any of these types is mentioned.
        relationship_type: A relationship of any of these types is stated.
        min_confidence: 0 to 1.
        kind: Any of these.
        status: Any of these.
        source_kind: Any of these.
        session: Part of any of these.
        speaker: Said by any of these.
        scope: Belongs to any of these.
        attribute: States any of these.
        text: Contained in title or body.
        as_of: Valid at that time, as is known now.
        believed_at: Recorded by that time, and valid at `as_of` (or then) as was known then.
        include_history: Whatever its validity. Otherwise, unless `status`, `as_of` or `believed_at` asks, what is superseded,
            archived, over or not yet begun is left out.
        default_scope: The scope that a file means which names none.

    Raises:
        InputError: One or more values cannot be used; `problems` lists all.
    """
    problems = Gather()

    def time(value: Any) -> int:
        return to_us(parse_when(value, now=now, zone=zone))

    made = Filter(
        since_us=problems.read("since", since, time, None),
        before_us=problems.read("before", before, time, None),
        category=problems.read("category", category, lambda v: tuple(map(compile_glob, _texts("category", v))), ()),
        tags=problems.read("tags", tags, _tags("tags"), ()),
        tags_all=problems.read("tags_all", tags_all, _tags("tags_all"), ()),
        entity_names=problems.read("entity_names", entity_names, _keys("entity_names"), ()),
        entity_types=problems.read("entity_types", entity_types, _keys("entity_types"), ()),
        relationship_type=problems.read("relationship_type", relationship_type, _keys("relationship_type"), ()),
        min_confidence=problems.read("min_confidence", min_confidence, _confidence, None),
        kind=problems.read("kind", kind, _choices("kind", KINDS), ()),
        status=problems.read("status", status, _choices("status", STATUSES), ()),
        source_kind=problems.read("source_kind", source_kind, _choices("source_kind", SOURCE_KINDS), ()),
        session=problems.read("session", session, _sessions, ()),
        speaker=problems.read("speaker", speaker, _keys("speaker"), ()),
        scope=problems.read("scope", scope, _scopes(default_scope), ()),
        attribute=problems.read("attribute", attribute, _attributes, ()),
        text=problems.read("text", text, _needle, None),
        as_of_us=problems.read("as_of", believed_at if as_of is None else as_of, time, None),
        known_us=problems.read("believed_at", believed_at, time, None),
        current_us=None if include_history or status is not None or as_of is not None or believed_at is not None
        else to_us(now),
    )  # fmt: skip
    if problems.read("include_history", include_history, _flag, None) and (
        as_of is not None or believed_at is not None
    ):
        problems.found.append(
            "include_history asks for everything; leave it out where as_of or believed_at names a time."
        )
    if made.since_us is not None and made.before_us is not None and made.since_us >= made.before_us:
        problems.found.append(
            f"since ({from_us(made.since_us):%Y-%m-%d %H:%M}) is not earlier than "
            f"before ({from_us(made.before_us):%Y-%m-%d %H:%M}), so nothing can match."
        )
    problems.stop("The filter cannot be used.")
    return made


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"include_history must be true or false, not {value!r}.")
    return value


def _attributes(value: Any) -> tuple[str, ...]:
    keys = tuple(dict.fromkeys(map(attribute_key, _texts("attribute", value))))
    if "" in keys:
        raise InputError("attribute holds an empty name.")
    return keys


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple | set | frozenset):
        raise InputError(f"{name} must be text or a list of texts, not {value!r}.")
    listed = tuple(sorted(value) if isinstance(value, set | frozenset) else value)
    if not listed:
        raise InputError(f"{name} is an empty list; leave it out to ask for any.")
    if len(listed) > MAX_VALUES:
        raise InputError(f"{name} holds {len(listed)} values; at most {MAX_VALUES} can be asked for.")
    wrong = [item for item in listed if not isinstance(item, str)]
    if wrong:
        raise InputError(f"{name} must hold texts only, not {wrong[0]!r}.")
    return listed


def _keys(name: str) -> Callable[[Any], tuple[str, ...]]:
    def read(value: Any) -> tuple[str, ...]:
        keys = tuple(dict.fromkeys(map(entity_key, _texts(name, value))))
        if "" in keys:
            raise InputError(f"{name} holds an empty name.")
        return keys

    return read


def _sessions(value: Any) -> tuple[str, ...]:
    keys = tuple(dict.fromkeys(map(session_key, _texts("session", value))))
    if "" in keys:
        raise InputError("session holds an empty name.")
    return keys


def _scopes(default: str) -> Callable[[Any], tuple[str, ...]]:
    def read(value: Any) -> tuple[str, ...]:
        named = tuple(dict.fromkeys(map(clean_scope, _texts("scope", value))))
        return (*named, "") if default in named else named

    return read


def _tags(name: str) -> Callable[[Any], tuple[str, ...]]:
    def read(value: Any) -> tuple[str, ...]:
        cleaned = clean_tags(value)
        if not cleaned:
            raise InputError(f"{name} holds no tag; leave it out to ask for any.")
        if len(cleaned) > MAX_VALUES:
            raise InputError(f"{name} holds {len(cleaned)} values; at most {MAX_VALUES} can be asked for.")
        return tuple(map(tag_key, cleaned))

    return read


def _choices(name: str, allowed: tuple[str, ...]) -> Callable[[Any], tuple[str, ...]]:
    def read(value: Any) -> tuple[str, ...]:
        listed = tuple(dict.fromkeys(_texts(name, value)))
        wrong = [item for item in listed if item not in allowed]
        if wrong:
            raise InputError(f"{name} must be one of {', '.join(allowed)}, not '{wrong[0]}'.")
        return listed

    return read


def _confidence(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"min_confidence must be a number from 0 to 1, not {value!r}.")
    return float(value)


def _needle(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"text must be a text to look for, not {value!r}.")
    if len(value) > MAX_TEXT:
        raise InputError(f"text is {len(value)} characters long; at most {MAX_TEXT} can be looked for.")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError("text holds characters that no observation can hold (NUL or half a surrogate pair).")
    return value


def make_question(
    *, limit: int | None, order: str | None, cursor: str | None, **conditions: Any
) -> tuple[Filter, Page]:
    """A filter and a page from what a caller sent; `conditions` are the arguments of `make_filter`.

    Raises:
        InputError: One or more values of either cannot be used; `problems` lists all.
    """
    gather = Gather()
    f = gather.read("", conditions, lambda values: make_filter(**values), Filter())
    wanted = None if gather.found else cursor  # which belongs to a filter that there is not
    page = gather.read("", {}, lambda _: make_page(limit=limit, order=order, cursor=wanted, digest=f.digest()), Page())
    gather.stop("The question cannot be asked.")
    return f, page


def make_page(*, limit: int | None, order: str | None, cursor: str | None, digest: str) -> Page:
    """A page from what a caller sent; `digest` is that of the filter the cursor must belong to.

    Raises:
        InputError: One or more values cannot be used; `problems` lists all.
    """
    problems: list[str] = []
    if limit is None:
        limit = DEFAULT_LIMIT
    elif isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        problems.append(f"limit must be a whole number from 1 to {MAX_LIMIT}, not {limit!r}.")
        limit = DEFAULT_LIMIT
    if order is not None and order not in ORDERS:
        problems.append(f"order must be one of {', '.join(ORDERS)}, not {order!r}.")
        order = None
    page = Page(limit=limit, order=order or "newest")  # type: ignore[arg-type]  # checked in the lines above
    if cursor is not None:
        try:
            page = Page(limit=limit, order=page.order, after=_read_cursor(cursor, page.order, digest))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError("The page cannot be used. " + " ".join(problems), problems=problems)
    return page


def write_cursor(order: Order, digest: str, after: Position) -> str:
    """The opaque text that continues an answer after a row."""
    return base64.urlsafe_b64encode(json.dumps([order, digest, *after]).encode()).decode().rstrip("=")


def _is_number(value: object) -> bool:
    """Whether a value is one that rows are put in order by."""
    return (type(value) is int and abs(value) <= _MOST) or (type(value) is float and isfinite(value))


def _read_cursor(cursor: str, order: Order, digest: str) -> Position:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        made_for, made_with, value, us, id_ = json.loads(base64.urlsafe_b64decode(padded))
        position = Position(value, us, id_)
        is_place = _is_number(value) and type(us) is int and abs(us) <= _MOST and is_id(id_)
    except (ValueError, TypeError, AttributeError, RecursionError):
        is_place = False
    if not is_place:
        raise InputError("cursor is not one that an earlier answer gave.")
    if made_for != order or made_with != digest:
        raise InputError("cursor belongs to another filter or order; repeat both as in the call that gave it.")
    return position
