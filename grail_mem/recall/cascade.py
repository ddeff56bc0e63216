"""The cascade: one to three questions in words to a ranked, explained, budgeted answer, or to a reasoned silence.

refresh → filter → search → candidates → features → rank → silence → gather → freshness → duplicates → rerank →
reasons → context → companions. Every stage stands in the trace. Knows nothing of how passages are found and weighed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from grail_mem.index.corpus import observations_at
from grail_mem.index.phrases import passages_saying
from grail_mem.model.filter import Filter
from grail_mem.model.observation import Observation
from grail_mem.query.view import View
from grail_mem.recall.best import MARGIN, Best, added, best_of, explained, passage_of
from grail_mem.recall.companions import with_companions
from grail_mem.recall.date_fit import local_days
from grail_mem.recall.date_fit import within as within_days
from grail_mem.recall.events import with_events
from grail_mem.recall.exact import entities_of, explain, relationships_of
from grail_mem.recall.gather import answered, fresh, unlike, with_context
from grail_mem.recall.hit import Hit, hit_of
from grail_mem.recall.question import Question, wordings
from grail_mem.recall.ranked import Ranked, Searcher
from grail_mem.recall.reranking import N_RERANKED, rerank
from grail_mem.recall.result import Abstention, Citation, Recall
from grail_mem.recall.timed import timed
from grail_mem.recall.tuning import gates_name, read_tuning
from grail_mem.recall.verdict import judge, silent
from grail_mem.recall.wish import MAX_QUESTIONS, Wish
from grail_mem.store.files import FileState

if TYPE_CHECKING:
    import numpy as np

_POOL: Final = 3
"""How many times the wanted observations are gathered before freshness and duplicates are looked at; chosen."""
_NEAR_MISSES: Final = 3
_MANY: Final = 2_000
"""Observations that take a second or so to index in memory."""
_EVENTS: Final = 200
"""Observations that may say a word for it still to name one event; chosen."""


def cascade(view: View, searcher: Searcher, questions: Sequence[str], f: Filter, wish: Wish) -> Recall:
    """The observations that answer questions best, or why none does.

    Args:
        view: The store.
        searcher: Its corpus and vectors.
        questions: One to three wordings of what is asked.
        f: Conditions, all of which hold on everything returned.
        wish: How the answer is wanted.
    """
    return answered(view, lambda trace: ask(view, searcher, questions, f, wish, trace))


def ask(
    view: View,
    searcher: Searcher,
    questions: Sequence[str],
    f: Filter,
    wish: Wish,
    trace: dict[str, Any],
    within: np.ndarray | None = None,
) -> tuple[Recall, dict[str, FileState]]:
    """The answer as files said when they were read, and their states then, by path.

    Args:
        view: The store, up to date.
        searcher: Its corpus and vectors.
        questions: One to three wordings of what is asked.
        f: The conditions.
        wish: How the answer is wanted.
        trace: Takes what each stage did.
        within: The passages that may be returned if they meet the conditions too, bool, by number; None for all.
    """
    timed(trace, "index", searcher.refresh)
    allowed = timed(trace, "filter", lambda: searcher.allowed(f))
    if within is not None:
        allowed = allowed & within
    asked = [_read(view, searcher, text, allowed, wish) for text in wordings(questions, MAX_QUESTIONS)]
    if wish.dates == "filter":
        allowed = allowed & _from_days(searcher, asked)
    elif wish.dates == "off":
        asked = [replace(question, dates=()) for question in asked]
    n_allowed = int(allowed.sum())
    trace["filter"] |= {"passages": n_allowed}
    warnings = _warnings(searcher, wish)
    if not n_allowed:
        return Recall(abstention=_none_allowed(view, f, asked, wish), warnings=warnings), {}
    tuning = read_tuning(view.layout)
    ranked = [
        searcher.rank(
            question, allowed, tuning.weights_in_force, stage=lambda name, work: timed(trace, name, work),
            ranking=wish.ranking,
        )
        for question in asked
    ]  # fmt: skip
    main = max(ranked, key=lambda r: r.score[r.order[0]] if len(r.order) else -math.inf)
    trace["candidates"] |= {name: len(rows) for name, rows in main.found.by.items()} | {"all": len(main.found.passages)}
    trace["question"] = _understood(main)
    n_pool = max(wish.limit * _POOL, N_RERANKED if wish.reranker is not None else 0)
    gates, why_none = tuning.gates_in_force(gates_name(searcher, main.weights), main.weights)
    judged = timed(trace, "silence", lambda: judge(main, gates, strict=wish.strict))
    trace["silence"] |= judged.said
    warnings = (*warnings, *([why_none] if why_none else []))
    distinct = _distinct(view, searcher, ranked, wish, n_pool, trace)
    hits, states, behind_hit = distinct.hits, distinct.states, distinct.behind_hit
    trace["rank"] = {"recipe": main.weights.recipe, "observations": distinct.n_ranked}
    shares = {hit.id: added(behind_hit[hit.id]) for hit in hits[: wish.limit]}
    trace["rank"] |= {"added": {id_: share for id_, share in shares.items() if share}}
    if judged.coverage == "none" and (wish.withhold or not hits):
        near = tuple(hit.id for hit in hits[:_NEAR_MISSES])
        return Recall(
            abstention=silent(judged, searcher, wish.ranking, near),
            coverage="none",
            question=questions[0],
            warnings=warnings,
        ), states
    if wish.reranker is not None:
        reranker = wish.reranker
        hits, scores = timed(trace, "rerank", lambda: rerank(reranker, questions[0], hits))
        trace["rerank"] |= {"reranked": len(scores), "scores": scores}
    hits = timed(trace, "reasons", lambda: [explained(hit, behind_hit[hit.id]) for hit in hits[: wish.limit]])
    if wish.context:
        document = {hit.id: behind_hit[hit.id].document for hit in hits}
        hits, more = timed(
            trace, "context", lambda: with_context(searcher, hits, document, allowed, wish.context, view)
        )
        states |= more
    hits, more = timed(trace, "companions", lambda: with_companions(view, searcher, hits, allowed))
    states |= more
    made = Recall(
        observations=tuple(hits),
        entities=entities_of(hits, f),
        relationships=relationships_of(hits, f),
        citations=tuple(Citation(o.id, o.path, o.title, o.evidence) for o in hits),
        coverage=judged.coverage,
        question=questions[0],
        budget=wish.budget,
        counter=wish.counter,
        warnings=warnings,
    )
    return made, states


def _read(view: View, searcher: Searcher, text: str, allowed: np.ndarray, wish: Wish) -> Question:
    """A question, with the days of the events that it counts time by, of those that may be returned."""
    zone = ZoneInfo(view.settings.zone)

    def titled(name: str) -> list[tuple[Observation, date]]:
        passages = passages_saying(searcher.corpus, name)
        documents = dict.fromkeys(searcher.corpus.columns.doc[passages[allowed[passages]]].tolist())
        if len(documents) > _EVENTS:
            return []
        read, _ = observations_at(view, searcher.corpus, list(documents))
        return [(o, o.observed_at.astimezone(zone).date()) for o in read]

    return with_events(searcher.read(text, wish.asked_at), titled)


def _from_days(searcher: Searcher, asked: Sequence[Question]) -> np.ndarray:
    """The passages of days that a question names, bool; all when none names any."""
    columns = searcher.corpus.columns
    dates = [date for question in asked for date in question.dates]
    met: np.ndarray = within_days(dates, local_days(columns.us, ZoneInfo(searcher.view.settings.zone)))[columns.doc]
    return met


def _none_allowed(view: View, f: Filter, asked: Sequence[Question], wish: Wish) -> Abstention:
    days = [date.text for question in asked for date in question.dates]
    if wish.dates == "filter" and days:
        return Abstention("no_match", f"No observation that meets the conditions is from {', '.join(days)}.")
    return explain(view, f)


def _warnings(searcher: Searcher, wish: Wish) -> tuple[str, ...]:
    """What makes an answer slower or poorer than it could be."""
    made = []
    if searcher.n_behind and wish.ranking != "lexical":
        made.append(
            f"{searcher.n_behind} passages have no vector yet and are found by words and links alone; "
            "`grail index` makes them."
        )
    if len(searcher.view.delta.rows) >= _MANY:
        made.append(
            f"{len(searcher.view.delta.rows)} observations are in no snapshot, so that each process reads their files; "
            "`grail compact` takes them in, and `grail index` then indexes their words."
        )
    if searcher.corpus.n_unindexed >= _MANY:
        made.append(
            f"{searcher.corpus.n_unindexed} observations are not in the search index on disk; `grail index` makes the "
            "first search fast again."
        )
    return tuple(made)


def _understood(main: Ranked) -> dict[str, Any]:
    question = main.asked.question
    return {
        "terms": list(question.terms), "kind": question.kind, "speaker": question.subject,
        "dates": [date.text for date in question.dates], "names": list(question.names),
    }  # fmt: skip


class _Distinct(NamedTuple):
    """Hits that say different things, the best first, and where they are from."""

    hits: list[Hit]
    states: dict[str, FileState]
    behind_hit: dict[str, Best]
    n_ranked: int


def _distinct(
    view: View, searcher: Searcher, ranked: Sequence[Ranked], wish: Wish, n_pool: int, trace: dict[str, Any]
) -> _Distinct:
    """The best hits without near-duplicates; more of the ranking is read while repetitions leave too few.

    So whoever says one thing a hundred times takes one place, and pushes nothing else out of the answer.
    """
    while True:
        every = best_of(ranked, n_pool, wish.n_passages)
        pool = [b for b in every if b.score >= every[0].score - MARGIN] if wish.withhold else every
        trace["gate"] = {"margin": MARGIN, "passed": len(pool)}
        read, states = timed(trace, "gather", partial(_gather, view, searcher, pool))
        behind_hit = {hit.id: best for hit, best in zip(read, pool, strict=True)}
        aged = timed(trace, "freshness", partial(fresh, read, wish.asked_at, wish.half_life_days, wish.freshness_floor))
        hits, n_same = timed(trace, "duplicates", partial(unlike, aged))
        trace["duplicates"] |= {"collapsed": n_same}
        if len(hits) >= wish.limit or len(pool) < n_pool:
            return _Distinct(hits, states, behind_hit, len(every))
        n_pool *= _POOL


def _gather(view: View, searcher: Searcher, pool: Sequence[Best]) -> tuple[list[Hit], dict[str, FileState]]:
    """The observations of the pool, with what of each matched; why is said of those that are returned."""
    found, states = observations_at(view, searcher.corpus, [b.document for b in pool])
    return [
        hit_of(o, score=round(b.score, 3), passage=passage_of(o, b, searcher)) for o, b in zip(found, pool, strict=True)
    ], states
