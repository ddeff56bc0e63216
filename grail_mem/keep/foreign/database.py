"""A SQLite database as tables, columns and rows, read from a copy so that the original is neither locked nor written to.

No name is pasted into a statement: what a caller names is looked up in the schema first. Nothing of the database runs but
its reading: no extension is loaded, and no statement that changes anything is let through. Knows nothing of what is meant.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from grail_mem.keep.foreign.place import Place
from grail_mem.keep.foreign.streamed import READING

MAGIC: Final = b"SQLite format 3\0"
ENDINGS: Final = (".db", ".db3", ".sqlite", ".sqlite3", ".s3db")
LONGEST: Final = 16 << 20
"""Longest value that is read, in characters; chosen: as long as a note may be."""
KEPT: Final = 500
"""How much of a value is kept beside a statement, in characters; chosen."""
_LOG: Final = "-wal"
_JOURNAL: Final = "-journal"
_HOT: Final = bytes.fromhex("d9d505f920a163d7")
"""How a journal begins that holds what a change overwrote. It is never played back: it may name files to be removed."""
_TRIES: Final = 5
_WAIT_S: Final = 0.2
_STEPS: Final = 10_000
_MOST_STEPS: Final = 20_000
"""Instructions between two rows, in `_STEPS`; chosen: a minute, so that a view that never ends is given up."""
_READ_ONLY: Final = frozenset(
    (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
)
Broken = sqlite3.Error


class UnreadableError(Exception):
    """A file is no database that can be read now."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its declared type in small letters, and its place in the primary key, 0 for none."""

    name: str
    type: str
    in_key: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A table or a view.

    Attributes:
        name: Its name.
        columns: Its columns in order; none when it cannot be read.
        kind: `table`, `view`, `virtual`, or `shadow` for what a virtual table keeps its rows in.
        fault: Why it cannot be read; empty when it can.
        has_rowid: Whether its rows have a number of their own.
    """

    name: str
    columns: tuple[Column, ...]
    kind: str = "table"
    fault: str = ""
    has_rowid: bool = False


def databases(place: Place) -> list[str]:
    """The names of the files of a place that begin as a SQLite database does."""
    names = list(place.files) if place.shape == "file" else [n for n in place.files if n.lower().endswith(ENDINGS)]
    return [name for name in sorted(names) if _begins(place, name)]


def _begins(place: Place, name: str) -> bool:
    try:
        with place.open(name) as file:
            return file.read(len(MAGIC)) == MAGIC
    except READING:
        return False


class Database:
    """A database that is open for reading; made by `opened`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._steps = 0
        connection.set_progress_handler(self._is_enough, _STEPS)

    def _is_enough(self) -> int:
        self._steps += 1
        return int(self._steps > _MOST_STEPS)

    def tables(self) -> list[Table]:
        """Its tables and views, in order of their names.

        Raises:
            Broken: The schema cannot be read.
        """
        found = self._connection.execute(
            "SELECT name, type, coalesce(sql, '') FROM sqlite_schema WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        ).fetchall()
        virtual = [f"{name}_" for name, _, sql in found if _is_virtual(sql)]
        return [self._table(name, _kind(name, kind, sql, virtual)) for name, kind, sql in found]

    def _table(self, name: str, kind: str) -> Table:
        try:
            told = self._connection.execute(
                "SELECT name, lower(type), pk FROM pragma_table_xinfo(?) WHERE hidden <> 1", (name,)
            ).fetchall()
        except Broken as error:
            return Table(name, (), kind, f"it cannot be read: {error}")
        columns = tuple(Column(*row) for row in told)
        return Table(name, columns, kind, "" if columns else "it has no columns", self._has_rowid(name, kind, columns))

    def _has_rowid(self, name: str, kind: str, columns: Sequence[Column]) -> bool:
        if kind != "table" or any(column.name.lower() == "rowid" for column in columns):
            return False
        with suppress(Broken):
            self._connection.execute(f"SELECT rowid FROM {quoted(name)} LIMIT 0")  # noqa: S608  a name of the schema
            return True
        return False

    def count(self, table: Table) -> int | None:
        """How many rows a table has; None when that cannot be told."""
        with suppress(Broken):
            self._steps = 0
            found = self._connection.execute(f"SELECT count(*) FROM {quoted(table.name)}")  # noqa: S608  a name of the schema
            return int(found.fetchone()[0])
        return None

    def rows(
        self, table: Table, whole: Sequence[str], cut: Sequence[str], *, limit: int = -1
    ) -> Iterator[Sequence[Any]]:
        """The rows of a table, each as its number or None, the whole values, the cut ones, and the length of the first.

        Args:
            table: The table, of `tables`.
            whole: Columns of the table whose values are needed as they are; what is longer than `LONGEST` is None.
            cut: Columns whose values are only kept: texts cut to `KEPT`, bytes as None.
            limit: How many rows at most; -1 for all.

        Raises:
            Broken: What follows cannot be read.
        """
        names = [_whole(quoted(name)) for name in whole] + [_cut(quoted(name)) for name in cut]
        first = "rowid" if table.has_rowid else "NULL"
        length = f"length({quoted(whole[0])})" if whole else "0"
        chosen = ", ".join((first, *names, length))
        with closing(self._connection.cursor()) as cursor:
            self._steps = 0
            cursor.execute(f"SELECT {chosen} FROM {quoted(table.name)} LIMIT ?", (limit,))  # noqa: S608  names of the schema
            for row in cursor:
                self._steps = 0
                yield row


def _whole(name: str) -> str:
    return f"CASE WHEN length({name}) > {LONGEST} THEN NULL ELSE {name} END"


def _cut(name: str) -> str:
    return f"CASE typeof({name}) WHEN 'text' THEN substr({name}, 1, {KEPT}) WHEN 'blob' THEN NULL ELSE {name} END"


def quoted(name: str) -> str:
    """A name of the schema as a statement has it."""
    return '"' + name.replace('"', '""') + '"'


def _is_virtual(sql: str) -> bool:
    return sql.lstrip()[:20].upper().split()[:2] == ["CREATE", "VIRTUAL"]


def _kind(name: str, kind: str, sql: str, virtual: Sequence[str]) -> str:
    if _is_virtual(sql):
        return "virtual"
    return "shadow" if kind == "table" and name.startswith(tuple(virtual)) else kind


@contextmanager
def opened(place: Place, name: str) -> Iterator[Database]:
    """One of the databases of a place, as it is now: its copy, with what its log holds.

    Raises:
        UnreadableError: It is no database, is encrypted, or is written all the time.
        OSError: It cannot be copied.
        Broken: It cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="grail-import-") as folder:
        copy = Path(folder) / "copy.db"
        _copy(place, name, copy)
        if copy.stat().st_size and not _is_database(copy):
            raise UnreadableError("it is no SQLite database, or it is encrypted")
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.text_factory = _text
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA writable_schema = ON")  # else nothing is read of a file that was cut off
            connection.execute("PRAGMA cell_size_check = ON")
            connection.set_authorizer(_may)
            yield Database(connection)


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _may(action: int, first: str | None, second: str | None, _database: str | None, _source: str | None) -> int:
    """Whether a step of a statement only reads."""
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_OK if first in ("table_xinfo", "data_version") else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_UPDATE:  # what the schema is read by; the copy takes no change all the same
        return sqlite3.SQLITE_OK if first == "sqlite_master" else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in ("load_extension", "fts3_tokenizer"):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READ_ONLY else sqlite3.SQLITE_DENY


def _text(data: bytes) -> str:
    """A text; bytes that are no UTF-8 stay known as such."""
    return data.decode("utf-8", "surrogateescape")


def _copy(place: Place, name: str, to: Path) -> None:
    """Copy a database with its log; anew when somebody wrote meanwhile."""
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_WAIT_S)
        before = _states(place, name)
        _copy_file(place, name, "", to)
        _copy_file(place, name, _LOG, Path(f"{to}{_LOG}"))
        is_changing = _is_changing(place, name)
        if not is_changing and _states(place, name) == before:
            return
    raise UnreadableError(
        "it is in the middle of a change; close the program that writes it, or open it once with that program, "
        "and repeat the import"
    )


def _copy_file(place: Place, name: str, ending: str, to: Path) -> None:
    to.unlink(missing_ok=True)
    absent = suppress(FileNotFoundError) if ending else nullcontext()
    with absent, _beside(place, name, ending) as file, to.open("wb") as out:
        shutil.copyfileobj(file, out, 1 << 20)


def _is_changing(place: Place, name: str) -> bool:
    with suppress(FileNotFoundError), _beside(place, name, _JOURNAL) as file:
        return bool(file.read(len(_HOT)) == _HOT)
    return False


@contextmanager
def _beside(place: Place, name: str, ending: str) -> Iterator[IO[bytes]]:
    """A file beside a database: what is named as it is with an ending.

    Raises:
        FileNotFoundError: There is none.
    """
    if place.shape == "file" and ending:
        with os.fdopen(os.open(f"{place.path}{ending}", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as file:
            yield file
    elif ending and name + ending not in place.files:
        raise FileNotFoundError(name + ending)
    else:
        with place.open(name + ending) as inner:
            yield inner


def _states(place: Place, name: str) -> list[tuple[int, int] | None]:
    """Size and time of a database and its log; nothing for members of a zip, which nobody writes."""
    if place.shape == "zip":
        return []
    path = place.path if place.shape == "file" else place.path / name
    found: list[tuple[int, int] | None] = []
    for ending in ("", _LOG, _JOURNAL):
        try:
            told = os.stat(f"{path}{ending}")
            found.append((told.st_size, told.st_mtime_ns))
        except FileNotFoundError:
            found.append(None)
    return found
