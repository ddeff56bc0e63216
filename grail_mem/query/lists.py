"""Lists with paging over what holds now, or with history: categories, communities, entities, tags; and the graph.

Each is one SELECT over the views of `query.sql`. Knows nothing of filters.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import InputError
from grail_mem.model.names import entity_key
from grail_mem.query.sql import TWIN, SqlSession

if TYPE_CHECKING:  # a quarter of a second, for those who ask for a graph
    import networkx as nx

MAX_LIMIT = 100_000
_MOST: Final = 2**63 - 1
"""No count in DuckDB is higher."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of a list.

    Attributes:
        items: Rows as mappings, in order.
        total: How many there are over all pages.
        cursor: Continues the list; None at its end.
    """

    items: tuple[dict[str, Any], ...]
    total: int
    cursor: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The page as plain JSON values."""
        return {"items": [_plain(item) for item in self.items], "total": self.total, "cursor": self.cursor}


def categories(session: SqlSession, *, limit: int, cursor: str | None, include_history: bool = False) -> Listed:
    """Every folder with how many observations are in it and below (`n_observations`) and in it (`n_directly`)."""
    text = f"SELECT community AS category, level, n_observations, n_directly FROM {_of(include_history)}communities"
    return _page(session, text, "category", ("category",), limit, cursor)


def communities(session: SqlSession, *, limit: int, cursor: str | None, include_history: bool = False) -> Listed:
    """Every community with the figures of the view, largest first."""
    columns = "community, level, n_observations, n_directly, n_entities, last_observed_at"
    text = f"SELECT {columns} FROM {_of(include_history)}communities"
    return _page(session, text, "n_observations DESC, community", ("n_observations", "community"), limit, cursor)


def entities(session: SqlSession, *, limit: int, cursor: str | None, include_history: bool = False) -> Listed:
    """Every entity, most mentioned first."""
    columns = "key, name, types, n_observations, first_observed_at, last_observed_at"
    text = f"SELECT {columns} FROM {_of(include_history)}entities"
    return _page(session, text, "n_observations DESC, key", ("n_observations", "key"), limit, cursor)


def tags(session: SqlSession, *, limit: int, cursor: str | None, include_history: bool = False) -> Listed:
    """Every tag, most used first."""
    text = f"SELECT tag, count(DISTINCT observation_id) AS n_observations FROM {_of(include_history)}tags GROUP BY tag"
    return _page(session, text, "n_observations DESC, tag", ("n_observations", "tag"), limit, cursor)


def _of(include_history: object) -> str:
    """What the names of the views begin with: those of what holds now, or of everything.

    Raises:
        InputError: It is neither true nor false.
    """
    if not isinstance(include_history, bool):
        raise InputError(f"include_history must be true or false, not {include_history!r}.")
    return "" if include_history else TWIN


def _page(session: SqlSession, text: str, order: str, place: tuple[str, ...], limit: int, cursor: str | None) -> Listed:
    refuse_limit(limit)
    after = place_in(cursor, place) if cursor is not None else None
    where, values = "", []
    if after is not None and len(place) == 1:
        where, values = f"WHERE {place[0]} > ?", after
    elif after is not None:
        where, values = f"WHERE {place[0]} < ? OR ({place[0]} = ? AND {place[1]} > ?)", [after[0], *after]
    rows = session.ask(f"SELECT * FROM ({text}) {where} ORDER BY {order} LIMIT {limit + 1:d}", values).to_pylist()
    total = session.ask(f"SELECT count(*) AS n FROM ({text})").column("n")[0].as_py()
    more, rows = len(rows) > limit, rows[:limit]
    return Listed(tuple(rows), total, cursor_of([rows[-1][name] for name in place], place) if more else None)


def refuse_limit(limit: object) -> None:
    """Refuse what cannot be the length of a page.

    Raises:
        InputError: It is no whole number, or out of range.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise InputError(f"limit must be a whole number from 1 to {MAX_LIMIT}, not {limit!r}.")


def cursor_of(values: Sequence[Any], place: tuple[str, ...]) -> str:
    """The cursor that continues a list behind a row.

    Args:
        values: What the row has in the columns that order the list.
        place: Those columns.
    """
    return base64.urlsafe_b64encode(json.dumps([place, values]).encode()).decode()


def place_in(cursor: str, place: tuple[str, ...]) -> list[Any]:
    """The place in a list that a cursor names: a text, behind a number where the list goes by one first.

    Raises:
        InputError: It is none that `cursor_of` could have made for this list.
    """
    try:
        made_for, values = json.loads(base64.urlsafe_b64decode(cursor))
        *numbers, text = values
        text.encode()  # half a surrogate pair is no text
        is_place = made_for == list(place) and len(values) == len(place) and cursor_of(values, place) == cursor
        if is_place and all(type(number) is int and 0 <= number <= _MOST for number in numbers):
            return [*numbers, text]
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    raise InputError(
        "cursor is not one that an earlier page of this list gave.", hint="Leave it out to begin with the first page."
    )


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.isoformat().replace("+00:00", "Z") if hasattr(value, "isoformat") else value
        for name, value in row.items()
    }


def graph(session: SqlSession) -> nx.MultiDiGraph:
    """Entities and their relationships as a networkx graph; see `Memory.graph`."""
    import networkx as nx

    made: nx.MultiDiGraph = nx.MultiDiGraph()
    nodes = f"SELECT key, name, types, n_observations FROM {TWIN}entities ORDER BY key"
    for row in session.ask(nodes).to_pylist():
        made.add_node(row["key"], name=row["name"], types=row["types"] or [], n_observations=row["n_observations"])
    # networkx takes an edge whose weight is None for one that is not there
    text = f"""SELECT source, target, relationship_type, observation_id, coalesce(weight, 1) AS weight, confidence
              FROM {TWIN}relationships ORDER BY observation_id, source, target, relationship_type"""
    for row in session.ask(text).to_pylist():
        made.add_edge(
            entity_key(row["source"]), entity_key(row["target"]), relationship_type=row["relationship_type"],
            observation_id=row["observation_id"], weight=row["weight"], confidence=row["confidence"],
        )  # fmt: skip
    return made
