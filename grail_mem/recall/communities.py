"""Global recall: the store as a map of its communities: how large, what they name, what is central, new and summed up there.

Communities are folders. Shown are those directly below the deepest folder that holds everything that meets the filter, so
that a filter by category looks one level further down. Knows nothing of how passages are weighed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, Final

from grail_mem.index.corpus import observations_at
from grail_mem.index.document import DECLARED, OTHER_NAME, name_hash
from grail_mem.index.traits import capitalised
from grail_mem.model.filter import Filter
from grail_mem.model.observation import Observation
from grail_mem.model.times import from_us
from grail_mem.query.snapshot_reader import OVERVIEW_FILE
from grail_mem.query.view import View
from grail_mem.recall.cascade import ask
from grail_mem.recall.exact import entities_of, explain, relationships_of
from grail_mem.recall.gather import answered
from grail_mem.recall.hit import Hit, hit_of
from grail_mem.recall.overview import Brief, CommunityCard, Counted
from grail_mem.recall.ranked import Searcher
from grail_mem.recall.result import Citation, Recall
from grail_mem.recall.timed import timed
from grail_mem.recall.wish import Wish
from grail_mem.store.files import FileState

if TYPE_CHECKING:
    import numpy as np

_CARDS: Final = 30
_ENTITIES: Final = 6
_RECENT: Final = 3
_CENTRAL: Final = 3
_OVERVIEWS: Final = 2
"""How much a card holds; chosen, so that a map of thirty communities is a page or two."""
_FOUND: Final = 200
"""Observations that a question ranks communities by."""
_K: Final = 60
"""How fast a rank loses weight. Source: Cormack, Clarke and Büttcher, Reciprocal Rank Fusion, 2009."""


def communities(view: View, searcher: Searcher, questions: Sequence[str], f: Filter, wish: Wish) -> Recall:
    """The communities of everything that meets a filter; with a question, those first in which most of it is answered.

    Args:
        view: The store.
        searcher: Its corpus and vectors.
        questions: Up to three wordings; none for all communities, largest first.
        f: Conditions, all of which hold on everything returned and counted.
        wish: How the answer is wanted.
    """
    return answered(view, lambda trace: _ask(view, searcher, questions, f, wish, trace))


def _ask(
    view: View, searcher: Searcher, questions: Sequence[str], f: Filter, wish: Wish, trace: dict[str, Any]
) -> tuple[Recall, dict[str, FileState]]:
    timed(trace, "index", searcher.refresh)
    allowed = timed(trace, "filter", lambda: searcher.allowed(f))
    if not allowed.any():
        return Recall(abstention=explain(view, f)), {}
    found = timed(trace, "communities", lambda: _folders(view, searcher, allowed))
    trace["communities"] |= {"found": len(found.paths)}
    order = list(found.largest)
    hits: dict[int, list[Hit]] = {}
    answer = Recall(budget=wish.budget, counter=wish.counter)
    states: dict[str, FileState] = {}
    if questions:
        all_found = replace(wish, limit=_FOUND, withhold=False, context=0)
        answer, states = ask(view, searcher, questions, f, all_found, trace)
        if answer.abstention is not None:
            return answer, states
        hits = _by_folder(found, [o for o in answer.observations if isinstance(o, Hit)])
        order = sorted(hits, key=lambda folder: (-_weight(hits[folder], answer.observations), folder))
    order = order[:_CARDS]
    chosen = timed(trace, "central", lambda: {folder: found.heads(folder) for folder in order})
    read, more = timed(trace, "gather", lambda: _read(view, searcher, chosen))
    cards = {folder: _card(found, folder, chosen[folder], read) for folder in order}
    lists = (
        [hits[folder] for folder in order]
        if questions
        else [list(_speaking_for(found.paths[folder], chosen[folder], read)) for folder in order]
    )
    shown = list(_in_turn(lists))[: wish.limit]
    left = len(found.paths) - len(order)
    return replace(
        answer,
        observations=tuple(shown),
        entities=entities_of(shown, f),
        relationships=relationships_of(shown, f),
        citations=tuple(Citation(o.id, o.path, o.title, o.evidence) for o in shown),
        overview=tuple(cards.values()),
        question=questions[0] if questions else None,
        warnings=(*answer.warnings, *((f"{left} more communities are not shown.",) if left and not questions else ())),
    ), states | {o.path: more[o.path] for o in shown if o.path in more}


def _weight(hits: Iterable[Hit], ranked: Sequence[Observation]) -> float:
    place = {o.id: number for number, o in enumerate(ranked)}
    return sum(1 / (_K + place[hit.id]) for hit in hits)


def _in_turn(lists: Iterable[Sequence[Hit]]) -> Iterator[Hit]:
    """The first of each, then the second of each, and so on."""
    return (hit for hit in chain.from_iterable(zip_longest(*lists)) if hit is not None)


def _by_folder(found: _Folders, hits: Sequence[Hit]) -> dict[int, list[Hit]]:
    number = {path: i for i, path in enumerate(found.paths)}
    made: dict[int, list[Hit]] = {}
    for hit in hits:
        made.setdefault(number[below(hit.category, found.top)], []).append(hit)
    return made


# -- folders ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Heads:
    """The documents that stand for a folder, and its names.

    Attributes:
        names: Hashes of the names that most observations have, and how many.
        example: For each, a document that has it.
    """

    recent: list[int]
    central: list[int]
    overviews: list[int]
    names: list[tuple[int, int]]
    example: list[int]

    def all(self) -> list[int]:
        """Every document that is read for the card."""
        return [*self.recent, *self.central, *self.overviews, *self.example]


class _Folders:
    """The folders of what meets a filter, as arrays over its documents.

    Args:
        searcher: The corpus.
        documents: Its documents that meet the filter.
        categories: Categories.
        code: Which of them each is in.
        is_overview: Whether each tells about its folder, bool.
    """

    def __init__(
        self,
        searcher: Searcher,
        documents: np.ndarray,
        categories: Sequence[str],
        code: np.ndarray,
        is_overview: np.ndarray,
    ) -> None:
        import numpy as np

        self._searcher, self._documents, self._is_overview = searcher, documents, is_overview
        used = [categories[c] for c in np.unique(code).tolist()]
        self.top = shared_top(used)
        self.paths = sorted({below(path, self.top) for path in used})
        number = {path: i for i, path in enumerate(self.paths)}
        folder_of = [number.get(below(path, self.top), -1) for path in categories]
        is_direct = [path == below(path, self.top) for path in categories]
        self._folder, self._is_direct = np.array(folder_of)[code], np.array(is_direct, bool)[code]
        self.n = np.bincount(self._folder, minlength=len(self.paths))
        self.n_directly = np.bincount(self._folder[self._is_direct], minlength=len(self.paths))
        self.us, self._key = searcher.corpus.columns.us[documents], searcher.corpus.columns.key[documents]
        self.last = np.full(len(self.paths), np.iinfo(np.int64).min)
        np.maximum.at(self.last, self._folder, self.us)
        self._owner, self._name, self._are_listed = _names(searcher, documents)

    @property
    def largest(self) -> Iterable[int]:
        """The folders, largest first."""
        return sorted(range(len(self.paths)), key=lambda i: (-int(self.n[i]), self.paths[i]))

    def heads(self, folder: int) -> _Heads:
        """What stands for a folder."""
        import numpy as np

        mine = self._folder == folder
        inside = mine[self._owner]
        owner, names = self._owner[inside], self._name[inside]
        values, code, n = np.unique(names, return_inverse=True, return_counts=True)
        most = np.lexsort((values, -n))[:_ENTITIES]
        most = most if self._are_listed else most[n[most] > 1]  # what one text alone writes so may be no name
        score = np.zeros(len(mine))
        # an observation is central by how many others share each of its names, for the root of how many names it has
        np.add.at(score, owner, n[code] - 1)
        score /= np.sqrt(np.maximum(np.bincount(owner, minlength=len(mine)), 1))
        at = np.flatnonzero(mine)
        newest = at[np.lexsort((self._documents[at], self._key[at], -self.us[at]))]
        central = newest[np.argsort(-score[newest], kind="stable")]
        overviews = newest[self._is_overview[newest]]
        overviews = overviews[np.argsort(~self._is_direct[overviews], kind="stable")][:_OVERVIEWS]
        central = central[(score[central] > 0) & ~np.isin(central, overviews)][:_CENTRAL]
        naming = [
            owner[code == value] for value in most
        ]  # which one is read for the name depends on no order of writing
        first = [int(owners[np.argmin(self._key[owners])]) for owners in naming]
        listed = self._documents
        return _Heads(
            [int(listed[i]) for i in newest[:_RECENT]], [int(listed[i]) for i in central],
            [int(listed[i]) for i in overviews], [(int(values[i]), int(n[i])) for i in most],
            [int(listed[i]) for i in first],
        )  # fmt: skip


def _folders(view: View, searcher: Searcher, allowed: np.ndarray) -> _Folders:
    import numpy as np

    corpus, columns = searcher.corpus, searcher.corpus.columns
    documents = np.flatnonzero(allowed[columns.first_passage[:-1]])
    row = columns.row[documents]
    reader = view.live_base()
    code, is_overview = reader.places() if reader is not None else (np.zeros(0, np.int32), np.zeros(0, bool))
    categories = list(reader.categories) if reader is not None else []
    known = {path: i for i, path in enumerate(categories)}
    for o in corpus.delta:
        if o.category not in known:
            known[o.category] = len(categories)
            categories.append(o.category)
    loose = np.array([known[o.category] for o in corpus.delta], np.int64)
    tells = np.array(
        [o.kind == "summary" or bool(re.search(OVERVIEW_FILE, o.path.lower())) for o in corpus.delta], bool
    )
    return _Folders(
        searcher, documents, categories, _by_row(row, code.astype(np.int64), loose), _by_row(row, is_overview, tells)
    )


def _by_row(row: np.ndarray, below_: np.ndarray, loose: np.ndarray) -> np.ndarray:
    """The values of rows of the snapshot (0 and up) and of the delta (-2 and down)."""
    import numpy as np

    both = np.concatenate([below_, loose])
    made: np.ndarray = both[np.where(row >= 0, row, len(below_) - 2 - row)]
    return made


def shared_top(categories: Sequence[str]) -> str:
    """The deepest folder that holds all of these, empty for none.

    Example:
        >>> shared_top(["work/acme/api", "work/acme", "work/acme/web/ui"])
        'work/acme'
    """
    if not categories:
        return ""
    first, last = (path.split("/") for path in (min(categories), max(categories)))
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return "/".join(first[:same])


def below(category: str, top: str) -> str:
    """The folder directly below a top that a category lies in; the top itself for what lies in it.

    Example:
        >>> below("work/acme/web/ui", "work/acme"), below("work/acme", "work/acme"), below("home/garden", "")
        ('work/acme/web', 'work/acme', 'home')
    """
    depth = len(top.split("/")) if top else 0
    return "/".join(category.split("/")[: depth + 1])


def _names(searcher: Searcher, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Names and whose they are, each once a document: those that files list; where none lists any, those in the text.

    Returns:
        Places in `documents`, int64, name hashes, uint64, of the same length, and whether files list them.
    """
    import numpy as np

    corpus = searcher.corpus
    passages = corpus.passages_of(documents)
    columns = corpus.columns
    lengths = columns.first_passage[documents + 1] - columns.first_passage[documents]
    owner_of = np.repeat(np.arange(len(documents)), lengths)
    names, flags, place = corpus.names_of(passages)
    listed = (flags & (DECLARED | OTHER_NAME)) == DECLARED
    are_listed = bool(listed.any())
    if are_listed:
        names, place = names[listed], place[listed]
    owner = owner_of[place]
    order = np.lexsort((names, owner))
    owner, names = owner[order], names[order]
    new = np.ones(len(owner), bool)
    new[1:] = (owner[1:] != owner[:-1]) | (names[1:] != names[:-1])
    return owner[new], names[new], are_listed


# -- what is read ----------------------------------------------------------------------------------------------------------


def _read(
    view: View, searcher: Searcher, chosen: dict[int, _Heads]
) -> tuple[dict[int, Observation], dict[str, FileState]]:
    documents = sorted({d for heads in chosen.values() for d in heads.all()})
    read, states = observations_at(view, searcher.corpus, documents)
    return dict(zip(documents, read, strict=True)), states


def _card(found: _Folders, folder: int, heads: _Heads, read: dict[int, Observation]) -> CommunityCard:
    def briefs(documents: Iterable[int]) -> tuple[Brief, ...]:
        return tuple(Brief(o.id, o.title, o.observed_at) for o in map(read.__getitem__, documents))

    written = [(_as_written(read[d], value), n) for d, (value, n) in zip(heads.example, heads.names, strict=True)]
    return CommunityCard(
        found.paths[folder], int(found.n[folder]), int(found.n_directly[folder]), from_us(int(found.last[folder])),
        tuple(Counted(name, n) for name, n in written if name), briefs(heads.recent), briefs(heads.central), briefs(heads.overviews),
    )  # fmt: skip


def _as_written(o: Observation, value: int) -> str:
    """The name with a hash as an observation writes it."""
    listed = (e.name for e in o.entities)
    ends = (name for r in o.relationships for name in (r.source, r.target))
    said = (name for text in (o.title, o.content) for at in (True, False) for name in capitalised(text, at_start=at))
    return next((name for name in chain(listed, ends, said, [o.title]) if name_hash(name) == value), "")


def _speaking_for(path: str, heads: _Heads, read: dict[int, Observation]) -> Iterator[Hit]:
    """The observations that stand for a folder, each once with its reason: overviews, central ones, the latest."""
    folder = path or "the store"
    told: set[int] = set()
    for said, documents in (
        (f"tells about {folder}", heads.overviews),
        (f"central in {folder}", heads.central),
        (f"latest in {folder}", heads.recent),
    ):
        for d in documents:
            if d not in told:
                told.add(d)
                yield hit_of(read[d], reasons=(said,), via=("community",))
