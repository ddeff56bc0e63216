"""Local recall: what is known about an entity: its observations, relationships, neighbours and timeline.

An entity is meant by its name or by one of its other names, exactly; a name that several entities have gives all of them.
Knows nothing of how passages are weighed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from grail_mem.index.corpus import observations_at
from grail_mem.index.phrases import passages_saying
from grail_mem.index.tokens import terms
from grail_mem.model.filter import Filter
from grail_mem.model.names import entity_key
from grail_mem.model.observation import Observation
from grail_mem.model.times import from_us
from grail_mem.query.names import Named, alike, called, named_in, says_name
from grail_mem.query.sql import SqlSession
from grail_mem.query.view import View
from grail_mem.recall.cascade import ask
from grail_mem.recall.companions import with_companions
from grail_mem.recall.exact import entities_of, explain, relationships_of
from grail_mem.recall.gather import answered
from grail_mem.recall.hit import Hit, hit_of
from grail_mem.recall.overview import Counted, EntityCard, Tie
from grail_mem.recall.ranked import Searcher
from grail_mem.recall.result import Abstention, Citation, Recall
from grail_mem.recall.timed import timed
from grail_mem.recall.wish import Wish
from grail_mem.store.files import FileState

if TYPE_CHECKING:
    import numpy as np

_READ: Final = 2_000
"""Observations of an entity that are read for its card, the latest; counts and times are of all."""
_TIES: Final = 12
_NEIGHBOURS: Final = 12
_MONTHS: Final = 24
_ENTITIES: Final = 5
"""Entities that one answer is about, at most; chosen, as are the three above, so that a card can be read at a glance."""


class _About:
    """An entity with its documents: which name it, and which of them list it."""

    def __init__(self, named: Named, says: np.ndarray, declares: np.ndarray) -> None:
        self.named, self.says, self.declares = named, says, declares


def local(
    view: View, searcher: Searcher, sql: Callable[[], SqlSession], questions: Sequence[str], f: Filter, wish: Wish
) -> Recall:
    """What is known about the entities that a question names, or that the filter asks for.

    Args:
        view: The store.
        searcher: Its corpus and vectors.
        sql: Gives the tables of the view as it is.
        questions: Up to three wordings; none to ask for the entities of the filter as a whole.
        f: Conditions, all of which hold on everything returned and counted.
        wish: How the answer is wanted.
    """
    return answered(view, lambda trace: _ask(view, searcher, sql(), questions, f, wish, trace))


def _ask(
    view: View,
    searcher: Searcher,
    session: SqlSession,
    questions: Sequence[str],
    f: Filter,
    wish: Wish,
    trace: dict[str, Any],
) -> tuple[Recall, dict[str, FileState]]:
    timed(trace, "index", searcher.refresh)
    named = timed(trace, "entities", lambda: _named(session, questions, f))
    trace["entities"] |= {"named": [it.name for it in named]}
    if not named:
        return Recall(abstention=_nobody(view, session, questions, f)), {}
    allowed = timed(trace, "filter", lambda: searcher.allowed(f))
    about = timed(trace, "mentions", lambda: [_about(searcher, it, allowed) for it in named[:_ENTITIES]])
    together = _any_of([it.says for it in about])
    trace["mentions"] |= {it.named.name: int(it.says.sum()) for it in about}
    if not together.any():
        return Recall(abstention=_none_meets(view, named, f)), {}
    answer = Recall(budget=wish.budget, counter=wish.counter)
    states: dict[str, FileState] = {}
    hits: list[Hit] = []
    if _asks_more(questions, named):
        within = together[searcher.corpus.columns.doc]
        answer, states = ask(view, searcher, questions, f, replace(wish, withhold=False), trace, within)
        hits = [o for o in answer.observations if isinstance(o, Hit)]
        answer = replace(answer, abstention=None, coverage=answer.coverage if hits else "none")
    documents = _latest(searcher, together)[: wish.limit]
    read, more = timed(trace, "gather", lambda: observations_at(view, searcher.corpus, documents))
    ranked = {hit.id for hit in hits}
    hits += [hit_of(o, via=("entity",)) for o in read if o.id not in ranked][: wish.limit - len(hits)]
    hits, beside = timed(trace, "companions", lambda: with_companions(view, searcher, hits, allowed))
    states, hits = states | more | beside, [_said(hit, about) for hit in hits]
    cards = timed(trace, "overview", lambda: [_card(view, searcher, session, it) for it in about])
    return replace(
        answer,
        observations=tuple(hits),
        entities=_first(entities_of(hits, f), named),
        relationships=relationships_of(hits, f),
        citations=tuple(Citation(o.id, o.path, o.title, o.evidence) for o in hits),
        overview=tuple(cards),
        question=questions[0] if questions else None,
        warnings=(*answer.warnings, *_doubts(named)),
    ), states


def _named(session: SqlSession, questions: Sequence[str], f: Filter) -> list[Named]:
    """The entities that are asked about, each once."""
    found = (
        [it for text in questions for it in named_in(session, text)] if questions else called(session, f.entity_names)
    )
    return list({it.key: it for it in found}.values())


def _about(searcher: Searcher, named: Named, allowed: np.ndarray) -> _About:
    """The documents that may be returned and name an entity."""
    import numpy as np

    corpus, columns = searcher.corpus, searcher.corpus.columns
    first = columns.first_passage[:-1]
    may = allowed[first] if len(first) else np.zeros(0, bool)
    declares = may & searcher.allowed(Filter(entity_names=named.unshared))[first]
    says = declares.copy()
    for name in (named.name, *named.aliases):
        passages = passages_saying(corpus, name)
        says[columns.doc[passages[allowed[passages]]]] = True
    return _About(named, says, declares)


def _any_of(masks: Sequence[np.ndarray]) -> np.ndarray:
    import numpy as np

    made: np.ndarray = np.logical_or.reduce(masks)
    return made


def _asks_more(questions: Sequence[str], named: Iterable[Named]) -> bool:
    """Whether a question asks for more than the entities themselves."""
    of_names = {term for it in named for name in (it.name, it.asked, *it.aliases) for term in terms(name)}
    return any(set(terms(text)) - of_names - _ABOUT for text in questions)


_ABOUT: Final = frozenset(
    terms("tell know about known everything anything all info information overview summary happened new")
)
"""Terms of questions that ask for an entity as a whole, as people put them."""


def _latest(searcher: Searcher, documents: np.ndarray) -> list[int]:
    import numpy as np

    columns = searcher.corpus.columns
    listed = np.flatnonzero(documents)
    order = np.lexsort((listed, columns.key[listed], -columns.us[listed]))
    return [int(d) for d in listed[order]]


def _said(hit: Hit, about: Sequence[_About]) -> Hit:
    """A hit that says which of the entities it names."""
    keys = {e.key for e in hit.entities}
    lists = [it.named.name for it in about if not keys.isdisjoint(it.named.spellings)]
    text = entity_key(f"{hit.title}\n{hit.content}")
    says = [
        it.named.name
        for it in about
        if it.named.name not in lists and any(says_name(text, name) for name in it.named.spellings)
    ]
    reasons = (*((f"lists {', '.join(lists)}",) if lists else ()), *((f"says {', '.join(says)}",) if says else ()))
    return replace(hit, reasons=(*hit.reasons, *(reason for reason in reasons if reason not in hit.reasons)))


def _first(entities: Sequence[Any], named: Iterable[Named]) -> tuple[Any, ...]:
    """Entities with those that were asked about first."""
    keys = {it.key for it in named}
    return tuple(sorted(entities, key=lambda e: e.key not in keys))


def _doubts(named: Sequence[Named]) -> Iterable[str]:
    """What of the names is not certain or was left out."""
    by_asked: dict[str, list[str]] = {}
    for it in named:
        by_asked.setdefault(it.asked, []).append(it.name)
    for asked, names in by_asked.items():
        if len(names) > 1:
            yield f"{asked!r} is another name of {' and of '.join(names)}; all are shown. Name one of them to see it alone."
    if len(named) > _ENTITIES:
        left = ", ".join(it.name for it in named[_ENTITIES:])
        yield f"The question names {len(named)} entities; the first {_ENTITIES} are shown, without {left}."


def _nobody(view: View, session: SqlSession, questions: Sequence[str], f: Filter) -> Abstention:
    if not view.n_rows:
        return explain(view, f)
    asked = " ".join(questions) or ", ".join(f.entity_names)
    near = alike(session, asked)
    hint = f" Names like it: {', '.join(near)}." if near else " `grail list entities` shows the names."
    return Abstention("no_match", f"{asked!r} names no entity that is known here.{hint}")


def _none_meets(view: View, named: Sequence[Named], f: Filter) -> Abstention:
    names = ", ".join(it.name for it in named)
    if f.conditions():
        return Abstention("no_match", f"No observation that names {names} meets {', '.join(f.conditions())}.")
    return explain(view, f)


# -- the card --------------------------------------------------------------------------------------------------------------


def _card(view: View, searcher: Searcher, session: SqlSession, about: _About) -> EntityCard:
    import numpy as np

    columns = searcher.corpus.columns
    us = np.sort(columns.us[about.says]) if about.says.any() else np.zeros(1, np.int64)
    read, _ = observations_at(view, searcher.corpus, _latest(searcher, about.says)[:_READ])
    named = about.named
    months = np.unique(us.astype("datetime64[us]").astype("datetime64[M]"), return_counts=True)
    timeline = [Counted(str(month), int(n)) for month, n in zip(*months, strict=True)]
    return EntityCard(
        named.name, named.types, named.aliases, named.description,
        int(about.says.sum()), int(about.declares.sum()), from_us(int(us[0])), from_us(int(us[-1])),
        _ties(read, named), _neighbours(read, named, session), tuple(timeline[-_MONTHS:]),
    )  # fmt: skip


def _ties(read: Iterable[Observation], named: Named) -> tuple[Tie, ...]:
    own = set(named.spellings)
    counted: Counter[tuple[str, str, bool]] = Counter()
    written: dict[str, str] = {}
    for o in read:
        for r in dict.fromkeys(o.relationships):
            ends = entity_key(r.source), entity_key(r.target)
            for here, there, name, is_outward in ((*ends, r.target, True), (ends[1], ends[0], r.source, False)):
                if here in own and there not in own:
                    written.setdefault(there, name)
                    counted[r.relationship_type, there, is_outward] += 1
    order = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Tie(type_, written[other], outward, n) for (type_, other, outward), n in order[:_TIES])


def _neighbours(read: Iterable[Observation], named: Named, session: SqlSession) -> tuple[Counted, ...]:
    """Entities named in the same observations: by how often, divided by the root of how often they are named at all."""
    own = set(named.spellings)
    together: Counter[str] = Counter()
    written: dict[str, str] = {}
    for o in read:
        for key, name in {e.key: e.name for e in o.entities if e.key not in own}.items():
            together[key] += 1
            written.setdefault(key, name)
    at_all = _named_at_all(session, list(together))
    order = sorted(together, key=lambda key: (-together[key] / max(at_all.get(key, 1), 1) ** 0.5, key))
    return tuple(Counted(written[key], together[key]) for key in order[:_NEIGHBOURS])


def _named_at_all(session: SqlSession, keys: Sequence[str]) -> Mapping[str, int]:
    if not keys:
        return {}
    sql = """SELECT key, count(DISTINCT observation_id) AS n FROM mentions
             WHERE key IN (SELECT unnest(?)) GROUP BY key"""
    return {row["key"]: row["n"] for row in session.ask(sql, [list(keys)]).to_pylist()}
