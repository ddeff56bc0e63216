"""An opened snapshot: its rows by filter, by id, by path and by folder.

Holds one attached index file; knows nothing of what came after the snapshot except the row numbers that no longer count.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from grail_mem.errors import IndexUnusableError
from grail_mem.model.category import category_key
from grail_mem.model.filter import Filter, Page
from grail_mem.model.observation import Observation
from grail_mem.model.validity import FOREVER
from grail_mem.query.delta import BaseRow
from grail_mem.query.engine import engine, index_errors
from grail_mem.query.filter_sql import ATTRIBUTE, Plan, Term, TermPlace, plan
from grail_mem.query.index_file import DIMENSIONS, VERSION, quoted, term_digest
from grail_mem.query.met_rows import MetRows
from grail_mem.store.files import FileState
from grail_mem.store.schema import observation_of

if TYPE_CHECKING:  # a tenth of a second, spent when the first question is asked
    import duckdb
    import numpy as np

OVERVIEW_FILE: Final = r"(^|[/_])(readme|overview|index)([-_][^/]*)?\.(md|markdown)$"
"""The path, in lower case, of a file that by its name tells about its folder."""
_GROWTH: Final = 4
"""How much larger the next page is when dead rows left too few; measured: a thousand dead rows take two more pages."""
_decoded: Final = json.JSONDecoder().raw_decode
_FILE_COLUMNS: Final = "rid, id, path, sha256, size_bytes, mtime_ns, ctime_ns, has_id, observed_us, recorded_us"


class Found(NamedTuple):
    """One row that a filter picked: its place in the order and its payload."""

    value: float
    us: int
    rid: int
    payload: list[Any]


class SnapshotReader:
    """One attached index file; `close` detaches it."""

    came_first = True

    def __init__(self, path: Path, payloads: Path) -> None:
        self.path = path
        with index_errors(path):
            self._engine = engine()
            self.con: duckdb.DuckDBPyConnection = self._engine.con
            self.con.execute(f"ATTACH '{quoted(path)}' AS x (READ_ONLY)")
            meta = json.loads(self.con.execute("SELECT json FROM x.meta").fetchall()[0][0])
            self._payload_fd = os.open(payloads, os.O_RDONLY | os.O_CLOEXEC)
        if meta.get("version") != VERSION:
            raise IndexUnusableError(
                f"The index file {path} has version {meta.get('version')}, this program reads {VERSION}.",
                hint="`grail rebuild` makes it anew from the files.",
            )
        self.n_rows: int = meta["n_rows"]
        self.categories: list[str] = meta["categories"]
        self.n_in_category: list[int] = meta["n_in_category"]
        self.dimensions = {name: {text: i for i, text in enumerate(meta["dimensions"][name])} for name in DIMENSIONS}
        self.first_end: int = meta["first_end"]
        self.last_begin: int = meta["last_begin"]
        self._terms: dict[Term, TermPlace] = {(kind, key): TermPlace(n, 0, bit) for kind, key, n, bit in meta["hot"]}
        self._parts = [category_key(category).split("/") for category in self.categories]
        self.dead: frozenset[int] = frozenset()
        self.scopes: frozenset[str] | None = None
        self._n_in_scopes = 0
        self._first_live = 0
        self._dead_in_table = False
        self._met = MetRows(self._file_rows)

    def close(self) -> None:
        """Let go of the files."""
        self._engine.close()
        os.close(self._payload_fd)

    def set_dead(self, rids: Collection[int]) -> None:
        """Let these rows count no longer (and all others count)."""
        self.dead = frozenset(rids)
        self._first_live = next(rid for rid in range(self.n_rows + 1) if rid not in self.dead)
        self._dead_in_table = False

    def restrict(self, scopes: frozenset[str] | None) -> None:
        """Let only rows of these scopes be found by filters, and None all; empty text is a scope that no file names."""
        self.scopes = scopes
        self._n_in_scopes = 0
        if scopes is not None:
            self._n_in_scopes = self.count(Filter())

    def counting(self) -> np.ndarray:
        """Which rows count, bool, by number."""
        import numpy as np

        counts = np.ones(self.n_rows, bool)
        if self.scopes is not None:
            counts[:] = False
            counts[self.rids(Filter())] = True
        counts[list(self.dead)] = False
        return counts

    def _without_dead(self) -> str:
        """The condition that a row is not dead; the table it reads is made only when it is asked for."""
        if not self._dead_in_table:
            self.con.execute("CREATE OR REPLACE TEMP TABLE dead(rid INTEGER)")
            self.con.execute("INSERT INTO dead SELECT unnest(?::INTEGER[])", [list(self.dead)])
            self._dead_in_table = True
        return "rid NOT IN (SELECT rid FROM dead)"

    @property
    def n_live(self) -> int:
        """Rows that count."""
        return self.n_rows - len(self.dead) if self.scopes is None else self._n_in_scopes

    # -- by filter ---------------------------------------------------------------------------------------------------

    def plan(self, f: Filter) -> Plan | None:
        """How the filter is asked; None when its terms already say that no row can match."""
        return plan(f if self.scopes is None else f.within(self.scopes), self)

    def place(self, terms: Sequence[Term]) -> list[TermPlace]:
        """Where terms have their rows; looked up once and kept."""
        missing = [term for term in dict.fromkeys(terms) if term not in self._terms]
        if missing:
            where = " OR ".join("digest = ?" for _ in missing)
            values = [term_digest(*term) for term in missing]
            found = self._all(f"SELECT kind, key, n, first, bit FROM x.terms WHERE {where}", values)
            self._terms |= dict.fromkeys(missing, TermPlace(0, 0, -1))
            self._terms |= {(kind, key): TermPlace(n, first, bit) for kind, key, n, first, bit in found}
        return [self._terms[term] for term in terms]

    def select(self, f: Filter, page: Page, limit: int) -> list[Found]:
        """The first rows that match, in the page's order.

        Returns:
            At most `limit` rows, none of them dead.
        """
        made = self.plan(f)
        if made is None:
            return []
        order = _ORDERS[page.order]
        by = "" if order.natural and not made.unordered else order.by
        conditions, values = made.conditions, made.values
        if page.after is not None:
            before, through = self._rank(page.after.us, page.after.id)
            start = _start(order, page.after.value, before if page.order == "oldest" else through)
            conditions, values = (*made.conditions, order.after), (*made.values, *start)
        elif self._first_live and page.order == "newest":
            conditions, values = (*made.conditions, order.after), (*made.values, self._first_live)
        size = limit + (4 + limit * 2 * len(self.dead) // max(self.n_rows, 1) if self.dead else 0)
        if made.repeats:
            size *= 2  # enough unless most rows have more than two of the terms
        found: list[tuple[Any, ...]] = []
        while True:  # dead rows are dropped here: to exclude them in SQL costs more when the newest rows are the dead
            rows = self._rows(made, conditions, values, by, order.value, size)
            found += [row for row in (dict.fromkeys(rows) if made.repeats else rows) if row[2] not in self.dead]
            if len(found) >= limit or len(rows) < size:
                break
            value, _, rid, *_ = rows[-1]
            start = _start(order, value, rid if page.order == "oldest" else rid + 1)
            conditions, values = (*made.conditions, order.after), (*made.values, *start)
            size *= _GROWTH
        return [Found(value, us, rid, self._payload(first, n)) for value, us, rid, first, n in found[:limit]]

    def rids(self, f: Filter) -> np.ndarray:
        """The numbers of the rows that match, dead ones included, int32."""
        import numpy as np

        made = self.plan(f)
        if made is None:
            return np.zeros(0, np.int32)
        sql = f"SELECT rid FROM {made.table} {_where(list(made.conditions))}"
        with index_errors(self.path):
            return np.asarray(self.con.execute(sql, list(made.values)).fetchnumpy()["rid"])

    def rids_not_holding(self, at_us: int) -> np.ndarray:
        """The numbers of the rows that do not hold at an instant, dead ones included, int32."""
        import numpy as np

        ended = np.zeros(0, np.int32)
        if self.first_end <= at_us:
            ends, rids = self._ends
            ended = rids[: np.searchsorted(ends, at_us, side="right")]
        if self.last_begin <= at_us:
            return ended
        with index_errors(self.path):
            late = self.con.execute("SELECT rid FROM x.obs WHERE valid_from > ?", [at_us]).fetchnumpy()["rid"]
        return np.concatenate([ended, np.asarray(late)])

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """When rows end that do, ascending, and which they are: nearly every question asks, and each at another instant."""
        import numpy as np

        with index_errors(self.path):
            found = self.con.execute("SELECT ends, rid FROM x.obs WHERE ends < ?", [FOREVER]).fetchnumpy()
        ends, rids = np.asarray(found["ends"]), np.asarray(found["rid"])
        order = np.argsort(ends, kind="stable")
        return ends[order], rids[order]

    def attributes(self) -> list[str]:
        """The keys of the attributes that rows state, dead ones included."""
        return [key for (key,) in self._all("SELECT key FROM x.terms WHERE kind = ?", [ATTRIBUTE])]

    def keys_and_times(self) -> tuple[np.ndarray, np.ndarray]:
        """By row, the first 64 bits of its file's digest, uint64, and when it was observed, microseconds, int64."""
        import numpy as np

        sql = "SELECT ('0x' || sha256[1:16])::UBIGINT AS key, observed_us FROM x.files ORDER BY rid"
        with index_errors(self.path):
            found = self.con.execute(sql).fetchnumpy()
        return np.asarray(found["key"]), np.asarray(found["observed_us"])

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """By row, the number of its category in `categories`, int32, and whether it is an overview of its folder, bool."""
        import numpy as np

        sql = """SELECT o.cid, o.kind IS NOT DISTINCT FROM ? OR regexp_matches(lower(f.path), ?) AS is_overview
                 FROM x.obs o JOIN x.files f ON f.rid = o.rid ORDER BY o.rid"""
        with index_errors(self.path):
            found = self.con.execute(sql, [self.dimensions["kind"].get("summary", -2), OVERVIEW_FILE]).fetchnumpy()
        return np.asarray(found["cid"]), np.asarray(found["is_overview"], bool)

    def payloads(self, rids: Sequence[int]) -> list[list[Any]]:
        """The payloads of rows, in the order asked for."""
        first, n = self._places
        return [self._payload(int(first[rid]), int(n[rid])) for rid in rids]

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the payload of each row begins and how many bytes it has: 12 bytes a row, and no SQL for each answer."""
        import numpy as np

        with index_errors(self.path):
            found = self.con.execute("SELECT first_byte, n_bytes FROM x.obs ORDER BY rid").fetchnumpy()
        return np.asarray(found["first_byte"]), np.asarray(found["n_bytes"])

    def observations(self, rids: Sequence[int]) -> list[Observation]:
        """The observations that rows are, in the order asked for."""
        return list(map(observation_of, self.payloads(rids)))

    def count(self, f: Filter) -> int:
        """How many rows match."""
        made = self.plan(f)
        if made is None:
            return 0
        where = [*made.conditions, self._without_dead()] if self.dead else list(made.conditions)
        sql = f"SELECT count({'DISTINCT rid' if made.repeats else '*'}) FROM {made.table} {_where(where)}"
        return int(self._all(sql, made.values)[0][0])

    def _rows(
        self, made: Plan, conditions: Sequence[str], values: Sequence[Any], by: str, value: str, limit: int
    ) -> list[tuple[Any, ...]]:
        sql = (
            f"SELECT {value}, us, rid, first_byte, n_bytes FROM {made.table} {_where(conditions)} {by} LIMIT {limit:d}"
        )
        return self._all(sql, values)

    def _payload(self, first_byte: int, n_bytes: int) -> list[Any]:
        try:
            text = os.pread(self._payload_fd, n_bytes, first_byte).decode()
            payload: list[Any]
            payload, end = _decoded(text)
            if end != len(text):
                raise ValueError("a payload is one array")
        except (ValueError, OSError) as error:
            raise IndexUnusableError(
                f"The payload file beside {self.path} is damaged at byte {first_byte}.",
                hint="`grail rebuild` makes it anew from the files.",
            ) from error
        return payload

    def payload_sizes(self) -> np.ndarray:
        """How many bytes the payload of each row has, in order."""
        with index_errors(self.path):
            sizes: np.ndarray = self.con.sql("SELECT n_bytes FROM x.obs ORDER BY rid").fetchnumpy()["n_bytes"]
        return sizes

    def _rank(self, us: int, id_: str) -> tuple[int, int]:
        """How many rows stand before a place in the order newest first, and how many before or at it."""
        known = self.by_id([id_]).get(id_)
        if known is not None and known.observed_us == us:
            return known.rid, known.rid + 1
        before, same = self._all("SELECT count(*) FILTER (us > ?), count(*) FILTER (us = ?) FROM x.obs", [us, us])[0]
        if same:
            before += self._all("SELECT count(*) FROM x.files WHERE observed_us = ? AND id > ?", [us, id_])[0][0]
        return int(before), int(before)

    # -- by id, path, folder -----------------------------------------------------------------------------------------

    def by_id(self, ids: Collection[str]) -> dict[str, BaseRow]:
        """Rows by id, dead ones included."""
        return self._met.of("ids", ids)

    def ids_ending(self, tail: str) -> list[tuple[int, str]]:
        """Row number and id of the rows whose id ends so, those that do not count included."""
        return self._all("SELECT rid, id FROM x.files WHERE ends_with(id, ?)", [tail])

    def by_path(self, paths: Collection[str]) -> dict[str, BaseRow]:
        """Rows by path, dead ones included."""
        return self._met.of("paths", paths)

    def by_fingerprint(self, prints: Collection[int]) -> list[tuple[int, str]]:
        """Fingerprint and id of rows, dead ones included, that say the same, or once in 2^64 something else."""
        sql = """SELECT p.fingerprint, f.id FROM x.prints p JOIN x.files f ON f.rid = p.rid
                 WHERE p.fingerprint IN (SELECT unnest(?::UBIGINT[]))"""
        return [(print_, id_) for print_, id_ in self._all(sql, [list(prints)])]

    def files_in(self, category: str) -> dict[str, FileState]:
        """States of the files directly in a category's folder, by name."""
        if category not in self.categories:
            return {}
        sql = """SELECT f.path, f.size_bytes, f.mtime_ns, f.ctime_ns FROM x.obs o JOIN x.files f ON f.rid = o.rid
                 WHERE o.cid = ?"""
        rows = self._all(sql, [self.categories.index(category)])
        return {path.rpartition("/")[2]: FileState(*state) for path, *state in rows}

    def without_id(self) -> list[BaseRow]:
        """Live rows whose file does not carry the id."""
        rows = self._all(f"SELECT {_FILE_COLUMNS} FROM x.files WHERE NOT has_id")
        return [row for row in map(_base_row, rows) if row.rid not in self.dead]

    def category_range(self, key: list[str]) -> tuple[int, int]:
        """First code and code after the last of a folder and everything below it, by the parts of its key."""
        return bisect_left(self._parts, key), bisect_left(self._parts, [*key[:-1], f"{key[-1]}\0"])

    def _file_rows(self, table: str, keys: Collection[str]) -> Iterable[BaseRow]:
        """Rows of `files` whose id or path has the digest of one of the keys."""
        if not keys:
            return ()
        digests = "hash(?::VARCHAR)" if len(keys) == 1 else "SELECT hash(unnest(?::VARCHAR[]))"
        values = list(keys) if len(keys) == 1 else [list(keys)]
        rids = [rid for (rid,) in self._all(f"SELECT rid FROM x.{table} WHERE digest IN ({digests})", values)]
        if not rids:
            return ()
        where = "rowid = ?" if len(rids) == 1 else "rowid IN (SELECT unnest(?::BIGINT[]))"
        sql = f"SELECT {_FILE_COLUMNS} FROM x.files WHERE {where}"
        return map(_base_row, self._all(sql, rids if len(rids) == 1 else [rids]))

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with index_errors(self.path):
            return self.con.execute(sql, list(values)).fetchall()


def _base_row(row: tuple[Any, ...]) -> BaseRow:
    rid, id_, path, sha256, size, mtime, ctime, has_id, observed, recorded = row
    return BaseRow(rid, id_, path, sha256, FileState(size, mtime, ctime), has_id, observed, recorded)


def _start(order: _Order, value: float, rid: int) -> list[Any]:
    """The parameters of what comes after a place in an order."""
    return [rid] if order.value == "us" else [value, value, rid]


def _where(conditions: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""


class _Order(NamedTuple):
    """An order in SQL: the column it goes by, the clause, what comes after a place, and whether rows lie so already."""

    value: str
    by: str
    after: str
    natural: bool = False


_ORDERS: Final = {
    "newest": _Order("us", "ORDER BY rid", "rid >= ?", natural=True),
    "oldest": _Order("us", "ORDER BY rid DESC", "rid < ?"),
    "recorded": _Order(
        "recorded_at", "ORDER BY recorded_at DESC, rid", "(recorded_at < ? OR (recorded_at = ? AND rid >= ?))"
    ),
    "confidence": _Order(
        "confidence", "ORDER BY confidence DESC, rid", "(confidence < ? OR (confidence = ? AND rid >= ?))"
    ),
}
