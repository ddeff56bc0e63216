"""Read-only SQL over documented views of everything that counts, on a connection that can do nothing else.

The views read the snapshot's Parquet file and a copy of the delta. Knows nothing of filters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import InputError
from grail_mem.model.filter import Filter
from grail_mem.query.engine import connect, index_errors
from grail_mem.query.index_file import quoted
from grail_mem.query.snapshot_reader import SnapshotReader
from grail_mem.query.view import View
from grail_mem.store.schema import PUBLIC, arrow_schema, observations_table
from grail_mem.store.snapshot import ROWS

if TYPE_CHECKING:  # a quarter of a second, spent when the first SQL is asked
    import duckdb
    import pyarrow as pa

_ALL: Final = {
    "observations": (f"SELECT {', '.join(PUBLIC)} FROM rows", "one row an observation"),
    "tags": (
        "SELECT id AS observation_id, unnest(tags) AS tag, category, observed_at FROM rows",
        "one row a tag of an observation",
    ),
    "mentions": (
        """SELECT observation_id, e.key AS key, e.name AS name, nullif(e.type, '') AS type,
                  nullif(e.description, '') AS description, category, observed_at
           FROM (SELECT id AS observation_id, unnest(entities) AS e, category, observed_at FROM rows)""",
        "one row an entity that an observation mentions; `key` is the normalised name",
    ),
    "relationships": (
        """SELECT observation_id, r.source AS source, r.relationship_type AS relationship_type, r.target AS target,
                  nullif(r.description, '') AS description, r.weight AS weight, r.confidence AS confidence, category,
                  observed_at
           FROM (SELECT id AS observation_id, unnest(relationships) AS r, category, observed_at FROM rows)""",
        "one row a relationship that an observation states",
    ),
    "entities": (
        """SELECT key, min(name) AS name, list_sort(list(DISTINCT type) FILTER (type IS NOT NULL)) AS types,
                  count(DISTINCT observation_id) AS n_observations, min(observed_at) AS first_observed_at,
                  max(observed_at) AS last_observed_at
           FROM mentions GROUP BY key""",
        "one row an entity, over all observations that mention it",
    ),
    "communities": (
        """SELECT community, len(string_split(community, '/')) AS level,
                  count(DISTINCT o.id) AS n_observations,
                  count(DISTINCT o.id) FILTER (o.category = community) AS n_directly,
                  count(DISTINCT m.key) AS n_entities,
                  max(o.observed_at) AS last_observed_at
           FROM (SELECT id, category, observed_at, unnest(list_transform(range(1, len(string_split(category, '/')) + 1),
                        lambda i: array_to_string(string_split(category, '/')[1:i], '/'))) AS community
                 FROM rows WHERE category <> '') o
           LEFT JOIN mentions m ON m.observation_id = o.id
           GROUP BY community""",
        "one row a folder, over everything in it and below",
    ),
}
TWIN: Final = "current_"
"""Before the name of a view: the same of what recall gives when history is not asked for."""
_KEPT: Final = ("mentions", "relationships", "entities", "communities")
"""Views that unpack lists of every row or sum them up, whatever the time is; they become tables when a second question rests on them."""
_RESTS_ON: Final = {
    "mentions": re.compile(r"\b(mentions|entities|communities)\b", re.IGNORECASE),
    "relationships": re.compile(r"\brelationships\b", re.IGNORECASE),
    "entities": re.compile(r"\bentities\b", re.IGNORECASE),
    "communities": re.compile(r"\bcommunities\b", re.IGNORECASE),
}
_MOST_KEPT: Final = 3_000_000
"""Rows of such a table; unpacking more takes memory that a process may not have. Chosen: some 300 MB."""
_CURRENT: Final = """
SELECT * FROM rows
WHERE status <> 'archived' AND (status <> 'superseded' OR valid_until IS NOT NULL)
  AND coalesce(valid_from <= now(), true) AND coalesce(valid_until > now(), true) AND coalesce(expires_at > now(), true)
"""
"""The rule of `model.validity` at the instant of the asking."""


def _twin(text: str) -> str:
    return re.sub(r"\b(FROM|JOIN) (rows|mentions)\b", rf"\1 {TWIN}\2", text)


VIEWS: Final = _ALL | {
    f"{TWIN}{name}": (_twin(text), f"the same of what holds now: {about}") for name, (text, about) in _ALL.items()
}
"""The views by name: their SQL over the internal views `rows` and `current_rows`, and what a row is."""


class SqlSession:
    """A locked-down connection over one state of a view; `is_current` tells when it must be made anew."""

    def __init__(self, view: View) -> None:
        self._made_from = view.state
        self._asked: dict[str, int] = {}
        self._kept: set[str] = set()
        self.path = view.layout.snapshots / view.manifest.name / ROWS
        self.con: duckdb.DuckDBPyConnection = connect(threads=2)
        with index_errors(self.path):
            self._make_views(view)
            self.con.execute("SET enable_external_access = false")
            self.con.execute("SET lock_configuration = true")

    def _make_views(self, view: View) -> None:
        rows = [found.row for found in view.loose().matching(Filter())]
        self.con.register("delta_arrow", observations_table(rows))
        self.con.execute("CREATE TABLE delta AS SELECT * FROM delta_arrow")
        self.con.unregister("delta_arrow")
        self._make_public_views()
        parts = ["SELECT * FROM delta"]
        reader = view.live_base()
        if reader is not None:
            columns = ", ".join(f'"{name}"' for name in arrow_schema().names)
            path = quoted(self.path)
            parts.append(
                f"SELECT {columns} FROM read_parquet('{path}', file_row_number = true) WHERE {self._counts(reader)}"
            )
            if view.principal is None:
                self.con.execute(f"SET allowed_paths = ['{path}']")
        kind = "VIEW" if view.principal is None else "TABLE"  # SQL can read whatever a view is made of
        self.con.execute(f"DROP VIEW rows; CREATE {kind} rows AS {' UNION ALL '.join(parts)}")
        if view.principal is not None:
            self.con.execute("DROP TABLE IF EXISTS counting")

    def _make_public_views(self) -> None:
        """All of them over the delta, with its columns, which is looked at for each; what they read is put below them later."""
        self.con.execute("CREATE VIEW rows AS SELECT * FROM delta")
        self.con.execute(f"CREATE VIEW {TWIN}rows AS {_CURRENT}")
        for name, (text, _) in VIEWS.items():
            self.con.execute(f"CREATE VIEW {name} AS {text}")

    def _counts(self, reader: SnapshotReader) -> str:
        """The condition that a row of the snapshot counts; the fewer are listed: those that do or those that do not."""
        import numpy as np

        counts = reader.counting()
        some = counts if reader.scopes is not None else ~counts
        self.con.execute("CREATE TABLE counting(rid BIGINT)")
        self.con.execute("INSERT INTO counting SELECT unnest(?::BIGINT[])", [np.flatnonzero(some).tolist()])
        return f"file_row_number {'IN' if reader.scopes is not None else 'NOT IN'} (SELECT rid FROM counting)"

    def _keep_what_is_asked_again(self, text: str) -> None:
        """Make a table of a view that unpacks lists, once a second question rests on it in this state."""
        import duckdb

        for name in _KEPT:
            if name in self._kept or not _RESTS_ON[name].search(text):
                continue
            self._asked[name] = self._asked.get(name, 0) + 1
            if self._asked[name] < 2:  # noqa: PLR2004  the first may be the only one
                continue
            self._kept.add(name)
            with suppress(
                duckdb.Error
            ):  # the view stays as it is, and whatever is wrong is told by the question itself
                found = self.con.execute(f"SELECT count(*) FROM {name}").fetchone()
                if found is not None and found[0] <= _MOST_KEPT:
                    self.con.execute(f"CREATE TABLE kept_{name} AS SELECT * FROM {name}")
                    self.con.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM kept_{name}")

    def is_current(self, view: View) -> bool:
        """Whether the view still says what this was made from."""
        return self._made_from == view.state

    def close(self) -> None:
        """Let go of the connection."""
        self.con.close()

    def ask(self, text: str, params: Sequence[Any] | Mapping[str, Any] | None = None) -> pa.Table:
        """The answer to one SELECT.

        Args:
            text: One statement that reads.
            params: Values for `?` or `$name` in it.

        Raises:
            InputError: The text is not one reading statement, or DuckDB does not accept it.
        """
        import duckdb

        try:
            statements = self.con.extract_statements(text)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise InputError(
                    "Only one SELECT statement can be asked.", hint=f"The views are {', '.join(sorted(VIEWS))}."
                )
            self._keep_what_is_asked_again(text)
            self.con.execute("BEGIN TRANSACTION READ ONLY")  # a SELECT may hold an INSERT inside
            try:
                return self.con.sql(text, params=params).to_arrow_table()
            finally:
                self.con.execute("ROLLBACK")
        except duckdb.Error as error:
            is_gone = self._made_from[0] and not self.path.exists()  # removed for a newer one; DuckDB may say anything
            if is_gone or isinstance(error, duckdb.IOException):
                with index_errors(self.path):
                    raise
            raise InputError(f"The SQL was not accepted: {str(error).strip()}") from error
