"""Document recall: one file, one source or one session: its passages that answer a question, or all of it in order.

Knows nothing of how passages are weighed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from grail_mem.index.corpus import observations_at
from grail_mem.model.filter import Filter
from grail_mem.model.names import session_key
from grail_mem.model.times import from_us
from grail_mem.model.ulid import is_id
from grail_mem.query.sql import SqlSession
from grail_mem.query.view import View
from grail_mem.recall.cascade import ask
from grail_mem.recall.exact import entities_of, explain, relationships_of
from grail_mem.recall.gather import answered
from grail_mem.recall.hit import hit_of
from grail_mem.recall.overview import DocumentCard
from grail_mem.recall.ranked import Searcher
from grail_mem.recall.result import Abstention, Citation, Recall
from grail_mem.recall.timed import timed
from grail_mem.recall.wish import Wish
from grail_mem.store.files import FileState

if TYPE_CHECKING:
    import numpy as np

_HEADINGS: Final = 40
_PASSAGES: Final = 10
"""Passages of one observation that are shown for a question; chosen."""
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)


def document(
    view: View,
    searcher: Searcher,
    sql: Callable[[], SqlSession],
    named: str,
    questions: Sequence[str],
    f: Filter,
    wish: Wish,
) -> Recall:
    """What a document says about a question; without one, the document.

    Args:
        view: The store.
        searcher: Its corpus and vectors.
        sql: Gives the tables of the view as it is.
        named: An id, a path relative to the root, the text of a source, or the name of a session; tried in this order.
        questions: Up to three wordings; none for all of it.
        f: Conditions, all of which hold on everything returned and counted.
        wish: How the answer is wanted.
    """
    return answered(view, lambda trace: _ask(view, searcher, sql(), named, questions, f, wish, trace))


def _ask(
    view: View,
    searcher: Searcher,
    session: SqlSession,
    named: str,
    questions: Sequence[str],
    f: Filter,
    wish: Wish,
    trace: dict[str, Any],
) -> tuple[Recall, dict[str, FileState]]:
    timed(trace, "index", searcher.refresh)
    found_as, documents = timed(trace, "document", lambda: _found(view, searcher, session, named))
    trace["document"] |= {"found as": found_as or "nothing", "observations": int(documents.sum())}
    allowed = timed(trace, "filter", lambda: searcher.allowed(f))
    columns = searcher.corpus.columns
    may = documents & allowed[columns.first_passage[:-1]]
    if not may.any():
        return Recall(abstention=_nothing(view, named, f, is_there=bool(documents.any()))), {}
    card, order = timed(trace, "overview", lambda: _card(view, searcher, named, found_as, may))
    if questions:
        some = replace(wish, n_passages=_PASSAGES)
        answer, states = ask(view, searcher, questions, f, some, trace, may[columns.doc])
        return replace(answer, overview=(card,)), states
    read, states = timed(trace, "gather", lambda: observations_at(view, searcher.corpus, order[: wish.limit]))
    more = len(order) - len(read)
    return Recall(
        observations=tuple(map(hit_of, read)),
        entities=entities_of(read, f),
        relationships=relationships_of(read, f),
        citations=tuple(Citation(o.id, o.path, o.title, o.evidence) for o in read),
        overview=(card,),
        budget=wish.budget,
        counter=wish.counter,
        warnings=(f"{more} more observations of it follow; a larger limit shows them.",) if more else (),
    ), states


def _found(view: View, searcher: Searcher, session: SqlSession, named: str) -> tuple[str, np.ndarray]:
    """What a document was found as, and which documents of the corpus it is, bool."""
    import numpy as np

    columns = searcher.corpus.columns
    if is_id(named.strip().upper()) and (found := _of_ids(view, searcher, [named.strip().upper()])).any():
        return "id", found
    sql = "SELECT id FROM observations WHERE {} = ?"
    for found_as, column, value in (
        ("path", "path", named.strip().replace("\\", "/").removeprefix("./")),
        ("source", "lower(source)", unicodedata.normalize("NFC", named).lower()),
    ):
        ids = session.ask(sql.format(column), [value]).column("id").to_pylist()
        if ids and (found := _of_ids(view, searcher, ids)).any():
            return found_as, found
    key = session_key(named)
    mine = searcher.allowed(Filter(session=(key,)))[columns.first_passage[:-1]] if key else np.zeros(0, bool)
    if key and mine.any():
        return "session", mine
    return "", np.zeros(len(columns.key), bool)


def _of_ids(view: View, searcher: Searcher, ids: Iterable[str]) -> np.ndarray:
    """The documents that observations are, bool."""
    import numpy as np

    wanted, reader = set(ids), view.live_base()
    below = [row.rid for row in reader.by_id(wanted).values()] if reader is not None else []
    loose = [-2 - i for i, o in enumerate(searcher.corpus.delta) if o.id in wanted]
    made: np.ndarray = np.isin(searcher.corpus.columns.row, np.array([*below, *loose], np.int64))
    return made


def _card(
    view: View, searcher: Searcher, named: str, found_as: str, documents: np.ndarray
) -> tuple[DocumentCard, list[int]]:
    """The card, and the documents in the order in which they are read: by session and turn, then by time."""
    import numpy as np

    corpus, columns = searcher.corpus, searcher.corpus.columns
    listed = np.flatnonzero(documents)
    first, us = columns.first_passage[listed], columns.us[listed]
    session, place = columns.session[first], columns.place[first]
    begins = np.full(int(session.max()) + 1, us.max())
    np.minimum.at(begins, session, us)
    order = [int(d) for d in listed[np.lexsort((place, session, begins[session]))]]
    read, _ = observations_at(view, searcher.corpus, order[:_HEADINGS])
    n_characters = corpus.n_characters_of(corpus.passages_of(listed))
    headings = _HEADING.findall(read[0].content) if len(order) == 1 else [o.title for o in read]
    return DocumentCard(
        named if found_as != "id" else read[0].title, found_as, len(order), n_characters,
        from_us(int(us.min())), from_us(int(us.max())), tuple(headings[:_HEADINGS]),
    ), order  # fmt: skip


def _nothing(view: View, named: str, f: Filter, *, is_there: bool) -> Abstention:
    if not view.n_rows:
        return explain(view, f)
    if is_there:
        return Abstention("no_match", f"Nothing of {named!r} meets {', '.join(f.conditions())}.")
    return Abstention("no_match", f"No observation has the id, path, source or session {named!r}.")
