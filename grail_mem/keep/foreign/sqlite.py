"""A SQLite database of memories, whatever program made it: a row with a text is a statement, with where it came from.

`retold` is the same reader with some names more: no public description of the database of Retold is known. Knows nothing of
the store that takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from typing import Any, Final

from grail_mem.errors import GrailError, InputError
from grail_mem.keep.foreign.columns import Choice, Mapped, mapped, told
from grail_mem.keep.foreign.database import LONGEST, Broken, Database, UnreadableError, databases, opened
from grail_mem.keep.foreign.place import Place
from grail_mem.keep.foreign.row_values import (
    entities_in,
    flag,
    is_well_formed,
    kept_value,
    label,
    number,
    share,
    tags_in,
    time_in,
)
from grail_mem.keep.foreign.said import TITLE, Said, category_of, draft, key_id, relation, scope_of, skip
from grail_mem.keep.foreign.streamed import READING
from grail_mem.model.observation import KINDS as KINDS_OF_OBSERVATIONS

KIND: Final = "sqlite"
RETOLD: Final = "retold"
FORMS: Final = (KIND, RETOLD)
_FIRST: Final = 3
_GONE: Final = ("deleted", "removed", "forgotten", "erased", "invalid", "invalidated", "rejected")
_STATUSES: Final = {
    "superseded": "superseded", "replaced": "superseded", "outdated": "superseded", "obsolete": "superseded", "archived": "archived",
    "inactive": "archived", "expired": "archived", "provisional": "provisional", "pending": "provisional", "candidate": "provisional",
    "proposed": "provisional", "unverified": "provisional",
}  # fmt: skip
_NO_DATABASE: Final = "it is no SQLite database, or it is encrypted"
_SHOWN: Final = ("title", "content", "observed_at", "scope", "tags", "category", "kind", "status", "confidence")
_NAME: Final = 80
_MOST_RELATED: Final = 100
_OWN: Final = ("from", "id", "file", "table", "key")


def is_store(place: Place) -> bool:
    """Whether a place holds a SQLite database."""
    return bool(databases(place))


def read(place: Place, *, form: str = KIND, choice: Choice | None = None) -> Iterator[Said]:
    """The rows as drafts, and everything that is none.

    Args:
        place: The database, or a folder or zip with some.
        form: `sqlite` or `retold`.
        choice: What the caller says of tables and columns.

    Raises:
        InputError: The caller names a table or columns that are not there.
    """
    names = databases(place) or list(place.files)[: place.shape == "file"]
    for name in names:
        yield from _of_file(place, name, form, choice or Choice())
    logs = {f"{name}{ending}" for name in names for ending in ("-wal", "-shm", "-journal")}
    for name in sorted(set(place.files).difference(names, logs)):
        yield skip(name, "", _NO_DATABASE)


def _of_file(place: Place, name: str, form: str, choice: Choice) -> Iterator[Said]:
    try:
        with opened(place, name) as database:
            found, left = mapped(database.tables(), choice, form=form)
            for table, reason in left.items():
                yield skip(f"{name}, table {_short(table)}", table, reason)
            for one in found:
                for column, reason in one.left.items():
                    yield skip(
                        f"{name}, {_short(one.table.name)}.{_short(column)}",
                        column,
                        f"a column that is not taken: {reason}",
                    )
                yield from _Rows(database, one, name, place.times.get(name, ""), form).read()
    except (Broken, UnreadableError, *READING) as error:
        yield skip(name, "", _unread(error))


def look(place: Place, *, form: str = KIND, choice: Choice | None = None) -> list[dict[str, Any]]:
    """What is read of each database and how: tables, rows, what each column is, and the first rows, as plain values.

    Raises:
        InputError: The caller names a table or columns that are not there.
    """
    made: list[dict[str, Any]] = []
    for name in databases(place):
        with suppress(Broken, UnreadableError, *READING), opened(place, name) as database:
            for one in mapped(database.tables(), choice or Choice(), form=form)[0]:
                rows = _Rows(database, one, name, place.times.get(name, ""), form)
                said = islice((row for row in rows.read() if not row.reason), _FIRST)
                first = [{"where": row.where, **{n: row.fields[n] for n in _SHOWN if n in row.fields}} for row in said]
                made.append({"file": name} | told(one, database.count(one.table), first))
    return made


class _Rows:
    """The rows of one table on their way to drafts.

    Args:
        database: The database.
        mapped: The table, with what its columns are.
        file: What the database is called.
        time: When it was changed last: the time of rows that have none.
        form: `sqlite` or `retold`.
    """

    def __init__(self, database: Database, mapped: Mapped, file: str, time: str, form: str) -> None:
        self._database, self._mapped = database, mapped
        self._file, self._time, self._form = file, time, form
        self._table = mapped.table
        self._fields = ["content", *(name for name in mapped.columns if name != "content")]
        self._key = [c.name for c in sorted(self._table.columns, key=lambda c: c.in_key) if c.in_key]
        self._key = self._key or [mapped.columns[name] for name in ("id",) if name in mapped.columns]
        self._whole = [*(mapped.columns[name] for name in self._fields), *self._key]
        self._replaced: dict[str, list[str]] = {}

    def read(self) -> Iterator[Said]:
        """Every row as a draft, or why it is none."""
        at = 0
        try:
            self._replaced = self._older()
            for at, row in enumerate(self._rows(), start=1):
                yield self._said(at, row)
        except Broken as error:
            yield skip(f"{_short(self._table.name)}, after row {at}", "", _unread(error))

    def _rows(self) -> Iterator[Sequence[Any]]:
        return self._database.rows(self._table, self._whole, self._mapped.kept)

    def _older(self) -> dict[str, list[str]]:
        """By the key of a row, the ids here of the rows that it took the place of."""
        if not self._mapped.columns.keys() & {"superseded_by", "supersedes"}:
            return {}
        newer: dict[str, list[str]] = {}
        for row in self._rows():
            values, key = self._values(row), self._key_of(row)
            for old, new in ((key, label(values.get("superseded_by"))), (label(values.get("supersedes")), key)):
                if old and new and old != new:
                    newer.setdefault(old, []).append(new)
        older: dict[str, list[str]] = {}
        for at, row in enumerate(self._rows() if newer else (), start=1):
            if (key := self._key_of(row)) in newer and not (made := self._said(at, row)).reason:
                id_ = key_id(made.key, made.fields["content"])
                for new in dict.fromkeys(newer[key]):
                    older.setdefault(new, []).append(id_)
        return older

    def _values(self, row: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self._fields, row[1:], strict=False))

    def _key_of(self, row: Sequence[Any]) -> str:
        """What a row is called: its primary key, its id or its number; without any, what it says."""
        first = 1 + len(self._fields)
        parts = [
            value.hex() if isinstance(value, bytes) else label(value) for value in row[first : first + len(self._key)]
        ]
        if parts and all(parts):
            return "\0".join(parts)
        return str(row[0]) if row[0] is not None else sha256(repr(row).encode(errors="replace")).hexdigest()[:16]

    def _said(self, at: int, row: Sequence[Any]) -> Said:
        """A row as a draft, or why it is none."""
        values, key = self._values(row), self._key_of(row)
        where, name = f"{_short(self._table.name)}, row {at}", label(values.get("title"))
        content, reason = _content(values, row[-1])
        reason = reason or self._why_gone(values)
        try:
            scope = "" if reason else scope_of(label(values.get("user")))
        except InputError as error:
            reason = error.message
        if reason:
            return skip(where, name or key, reason)
        kept: dict[str, object] = {
            "file": self._file,
            "table": self._table.name,
            "agent_id": label(values.get("agent")),
        }
        times = self._times(values, kept)
        if "quote" in values:
            kept["quote"] = kept_value(values["quote"])
        begin = 1 + len(self._whole)
        for column, value in zip(self._mapped.kept, row[begin:], strict=False):
            kept[f"column {column}" if column in kept or column in _OWN else column] = kept_value(value)
        return draft(
            self._form, where, "\0".join((self._table.name, key, scope, label(values.get("session")))), content, origin=key,
            category=self._category(values), title=label(values.get("title")), scope=scope, kept=kept,
            session=label(values.get("session")), turn=number(values.get("turn")), speaker=label(values.get("speaker")),
            source=label(values.get("source")) or f"{self._file}, {self._table.name}", source_kind="agent_inference",
            confidence=self._confidence(values, kept), status=self._status(values, kept), **self._kind(values),
            entities=entities_in(values.get("entities")), relationships=_triple(values), **self._followed(key), **times,
        )  # fmt: skip

    def _why_gone(self, values: Mapping[str, Any]) -> str:
        gone = flag(values.get("deleted")) or label(values.get("status")).lower() in _GONE
        return "it was deleted there" if gone else ""

    def _times(self, values: Mapping[str, Any], kept: dict[str, object]) -> dict[str, str]:
        """The times of a row; what is none is kept as it stands, and a row without one has that of its file."""
        found: dict[str, str] = {}
        for name in ("observed_at", "valid_from", "valid_until", "expires_at"):
            try:
                found[name] = time_in(values.get(name))
            except GrailError:
                kept[self._mapped.columns[name]] = kept_value(values[name])
        found["observed_at"] = found.get("observed_at") or self._time
        return found

    def _category(self, values: Mapping[str, Any]) -> str:
        return category_of(f"imported/{self._form}", self._table.name, label(values.get("category")))

    def _kind(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Its kind when it is one that is known here, else what it is called there as a tag; its own tags."""
        tags, kind = tags_in(values.get("tags")), label(values.get("kind"))
        if kind.lower() in KINDS_OF_OBSERVATIONS:
            return {"kind": kind.lower(), "tags": tags}
        return {"tags": list(dict.fromkeys([*tags, *tags_in(kind)]))}

    def _confidence(self, values: Mapping[str, Any], kept: dict[str, object]) -> float | None:
        found = share(values.get("confidence"))
        if found is None and "confidence" in values:
            kept[self._mapped.columns["confidence"]] = kept_value(values["confidence"])
        return found

    def _status(self, values: Mapping[str, Any], kept: dict[str, object]) -> str:
        if label(values.get("superseded_by")):
            return "superseded"
        said = label(values.get("status"))
        if said and said.lower() not in _STATUSES:
            kept[self._mapped.columns["status"]] = kept_value(said)
        return _STATUSES.get(said.lower(), "")

    def _followed(self, key: str) -> dict[str, Any]:
        """What a row took the place of: the last one, and what else is related to it."""
        older = self._replaced.get(key, [])
        return {"supersedes": older[-1], "related_to": older[:-1][-_MOST_RELATED:]} if older else {}


def _content(values: Mapping[str, Any], length: object) -> tuple[str, str]:
    """The text of a row, or why there is none."""
    value = values.get("content")
    if value is None:
        long = isinstance(length, int) and length > LONGEST
        return "", f"its text is longer than {LONGEST} characters" if long else "it holds no text"
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            return "", "its text is bytes that are no UTF-8"
    said = value if isinstance(value, str) else label(value)
    if not is_well_formed(said):
        return "", "its text is no UTF-8"
    before = [label(values.get(name)) for name in ("subject", "predicate") if values.get(name) is not None]
    return (" ".join((*before, said)), "") if said.strip() else ("", "it holds no text")


def _triple(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Subject, predicate and object as a relationship, when the object can be a name."""
    said = [label(values.get(name)) for name in ("subject", "predicate", "content")]
    short = all(said) and all(len(text) <= TITLE and text.isprintable() for text in said)
    return [relation(*said)] if short and any(map(str.isalpha, said[-1])) else []


def _short(name: str) -> str:
    return ascii(name)[1:-1][:_NAME] if not name.isprintable() else name[:_NAME]


def _unread(error: Exception) -> str:
    if isinstance(error, UnreadableError):
        return str(error)
    said = "reading one row takes too long" if str(error) == "interrupted" else str(error)
    return f"it cannot be read: {said}"
