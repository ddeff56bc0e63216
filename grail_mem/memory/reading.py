"""The verbs of Memory that show what is there: one observation, lists, SQL, the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grail_mem.errors import InputError, NotFoundError
from grail_mem.memory.opened import Opened, as_id
from grail_mem.model.observation import Observation

if TYPE_CHECKING:  # heavy packages that only their own verbs load
    import networkx as nx
    import pyarrow as pa

    from grail_mem.query.lists import Listed


class Reading(Opened):
    """One observation, lists, SQL and the graph."""

    def get(self, id: str) -> Observation:  # noqa: A002  the word of the design
        """One observation, as its file says now.

        Raises:
            NotFoundError: There is none, or it is hidden.
        """
        from grail_mem.query import find

        with self._lock:
            view = self._open()
            row = find.locate(view, as_id(id))
            if row.observation.id in view.hidden:
                raise NotFoundError(f"There is no observation {id}.", hint="`grail list` shows what is there.")
            self._note_recalled([row.observation.id])
            return row.observation

    def ids_ending(self, tail: str) -> list[str]:
        """The ids of the observations whose id ends in these characters, hidden ones included, in order.

        Args:
            tail: One or more characters of an id, such as the six in a file's name.

        Raises:
            InputError: It is empty.
        """
        from grail_mem.query import find

        if not tail.strip():
            raise InputError(
                "The end of an id is empty.", hint="Give at least one character, such as the six in a file's name."
            )
        with self._lock:
            return find.ids_ending(self._open(), tail.strip().upper())

    def list_categories(self, *, limit: int = 1000, cursor: str | None = None, include_history: bool = False) -> Listed:
        """Every folder with how many observations are in it and below, in order of path; what was counts with `include_history`."""
        from grail_mem.query import lists

        return self._list(lists.categories, limit, cursor, include_history=include_history)

    def list_communities(self, *, limit: int = 50, cursor: str | None = None, include_history: bool = False) -> Listed:
        """Every community, largest first, with its entities; a folder is a community with everything below it. What was counts with `include_history`."""
        from grail_mem.query import lists

        return self._list(lists.communities, limit, cursor, include_history=include_history)

    def list_entities(self, *, limit: int = 50, cursor: str | None = None, include_history: bool = False) -> Listed:
        """Every entity, most mentioned first; what was counts with `include_history`."""
        from grail_mem.query import lists

        return self._list(lists.entities, limit, cursor, include_history=include_history)

    def list_tags(self, *, limit: int = 50, cursor: str | None = None, include_history: bool = False) -> Listed:
        """Every tag, most used first; what was counts with `include_history`."""
        from grail_mem.query import lists

        return self._list(lists.tags, limit, cursor, include_history=include_history)

    def list_sources(self, *, limit: int = 50, cursor: str | None = None) -> Listed:
        """Every transcript and document that evidence can quote, in order of path.

        Each item has `source`, `kind` (`chat` or `document`), `name`, `n_turns`, `first_at`, `last_at`, `scopes` and `problem`,
        which says why a file cannot be read.
        """
        from grail_mem.query import source_list

        with self._lock:
            return source_list.sources(self._open(), limit=limit, cursor=cursor)

    def _list(self, lister: Callable[..., Listed], limit: int, cursor: str | None, *, include_history: bool) -> Listed:
        with self._lock:
            return self._asked(
                lambda session: lister(session, limit=limit, cursor=cursor, include_history=include_history)
            )

    def sql(self, text: str, params: Sequence[Any] | Mapping[str, Any] | None = None) -> pa.Table:
        """The answer to one SELECT over the views observations, entities, mentions, relationships, tags, communities.

        They hold everything, history included; with `current_` before its name each holds what recall gives by itself.

        Args:
            text: One statement that reads; it cannot write, attach, read files or load anything.
            params: Values for `?` or `$name`.

        Raises:
            InputError: The text is not one reading statement, or is not accepted.
        """
        with self._lock:
            return self._asked(lambda session: session.ask(text, params))

    def graph(self) -> nx.MultiDiGraph:
        """Entities and the relationships between them that hold now, as a networkx graph.

        Returns:
            Nodes are normalised names with `name`, `types` and `n_observations`; edges go from source to target with
            `relationship_type`, `observation_id`, `weight` (1 when the file says none) and `confidence`.
        """
        from grail_mem.query import lists

        with self._lock:
            return self._asked(lists.graph)
