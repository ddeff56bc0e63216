"""The cascade: one to three questions in words to a ranked, explained, budgeted answer, or to a reasoned silence.

refresh → filter → search → candidates → features → rank → silence → gather → freshness → duplicates → rerank → context.
Every stage stands in the trace. Knows nothing of how passages are found and weighed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal
from zoneinfo import ZoneInfo

from grail_mem.index.document import own_title
from grail_mem.index.phrases import passages_saying
from grail_mem.index.tokens import terms
from grail_mem.model.filter import Filter
from grail_mem.model.observation import Observation
from grail_mem.query.select import as_files_say
from grail_mem.query.view import View
from grail_mem.recall.budget import Counter
from grail_mem.recall.dates import local_days
from grail_mem.recall.dates import within as within_days
from grail_mem.recall.events import with_events
from grail_mem.recall.exact import behind, entities_of, explain, relationships_of
from grail_mem.recall.hit import Hit, hit_of
from grail_mem.recall.question import Question
from grail_mem.recall.ranked import Ranked, Searcher, timed
from grail_mem.recall.reranking import N_RERANKED, Reranker, rerank
from grail_mem.recall.result import Abstention, Citation, Coverage, Recall
from grail_mem.recall.silence import Gates, Signals, signals_of, speaker_signals_of
from grail_mem.recall.tuning import gates_name, read_tuning
from grail_mem.store.files import FileState
from grail_mem.store.schema import observation_of, state_in

if TYPE_CHECKING:
    import numpy as np

MAX_QUESTIONS: Final = 3
_POOL: Final = 3
"""How many times the wanted observations are gathered before freshness and duplicates are looked at; chosen."""
_ALIKE: Final = 0.9
"""Share of terms from which on two texts say the same; chosen, well above what rewording leaves."""
_NEAR_MISSES: Final = 3
_MANY_WORDINGS: Final = 16
_MANY: Final = 2_000
"""Observations that take a second or so to index in memory."""
_MARGIN: Final = 10.0
"""How far below the best a hit may score. On the development data, 10 of LoCoMo's 10 best golds and 96 of 100 of MuSiQue's
and HotpotQA's are within 8."""
_BESIDE: Final = ("beside a better hit in its session",)
_EVENTS: Final = 200
"""Observations that may say a word for it still to name one event; chosen."""
Dates = Literal["boost", "filter", "off"]
_RETRIEVERS: Final = frozenset({"lexical", "vector", "entity", "graph"})


@dataclass(frozen=True, slots=True)
class Wish:
    """How an answer is wanted.

    Attributes:
        limit: Observations at most.
        asked_at: When the question is asked.
        half_life_days: After so many days an episode counts half; 0 for never.
        freshness_floor: The least that an old episode still counts.
        context: Turns before and after a hit of a conversation that come along.
        strict: Be silent also when somebody else said it.
        withhold: Be silent at all.
        budget: Tokens of the pack.
        counter: Counts them.
        n_passages: Passages of one observation that are shown, at most.
        dates: What the days do that a question names: `boost`, `filter` or `off`.
        ranking: One of `RANKINGS`.
        reranker: Orders the best hits anew, unless None.
    """

    limit: int
    asked_at: datetime
    half_life_days: float = 30.0
    freshness_floor: float = 0.5
    context: int = 0
    strict: bool = False
    withhold: bool = True
    budget: int | None = None
    counter: Counter | Callable[[str], int] | None = None
    n_passages: int = 1
    dates: Dates = "boost"
    ranking: str = "weighted"
    reranker: Reranker | None = None


@dataclass(slots=True)
class _Best:
    """One observation's best passage, over all questions, and all of its passages that are shown, in order."""

    document: int
    passage: int
    shown: list[int]
    score: float
    ranked: Ranked
    place: int
    _shares: dict[str, float] | None = None

    @property
    def shares(self) -> dict[str, float]:
        """What each group of features adds to the score."""
        if self._shares is None:
            self._shares = self.ranked.weights.shares(self.ranked.columns[self.place])
        return self._shares


def cascade(view: View, searcher: Searcher, questions: Sequence[str], f: Filter, wish: Wish) -> Recall:
    """The observations that answer questions best, or why none does.

    Args:
        view: The store.
        searcher: Its corpus and vectors.
        questions: One to three wordings of what is asked.
        f: Conditions, all of which hold on everything returned.
        wish: How the answer is wanted.
    """
    trace: dict[str, Any] = {}
    timed(trace, "refresh", view.refresh)
    found = as_files_say(
        view, lambda: ask(view, searcher, questions, f, wish, trace), lambda answer: answer.observations
    )
    return replace(found, trace=trace, warnings=(*found.warnings, *view.warnings, *behind(view)))


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
    asked = [_read(view, searcher, text, allowed, wish) for text in questions]
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
    pool = _pool(ranked, n_pool, wish.n_passages)
    trace["rank"] = {"recipe": main.weights.recipe, "observations": len(pool)}
    gates, why_none = tuning.gates_in_force(gates_name(searcher, main.weights), main.weights)
    judged = timed(trace, "silence", lambda: _judge(main, gates, wish))
    trace["silence"] |= judged.said
    warnings = (*warnings, *([why_none] if why_none else []))
    pool = [best for best in pool if best.score >= pool[0].score - _MARGIN] if wish.withhold else pool
    trace["gate"] = {"margin": _MARGIN, "passed": len(pool)}
    hits, states = timed(trace, "gather", lambda: _gather(view, searcher, pool))
    added = {hit.id: _added(best) for hit, best in zip(hits, pool, strict=True)}
    document = {hit.id: best.document for hit, best in zip(hits, pool, strict=True)}
    hits = timed(trace, "freshness", lambda: _fresh(hits, wish))
    hits, n_same = timed(trace, "duplicates", lambda: _unlike(hits))
    trace["duplicates"] |= {"collapsed": n_same}
    trace["rank"] |= {"added": {hit.id: added[hit.id] for hit in hits[: wish.limit] if added[hit.id]}}
    if judged.coverage == "none" and (wish.withhold or not hits):
        near = tuple(hit.id for hit in hits[:_NEAR_MISSES])
        return Recall(
            abstention=_silent(judged, searcher, wish, near), coverage="none", question=questions[0], warnings=warnings
        ), states
    if wish.reranker is not None:
        reranker = wish.reranker
        hits, scores = timed(trace, "rerank", lambda: rerank(reranker, questions[0], hits))
        trace["rerank"] |= {"reranked": len(scores), "scores": scores}
    hits = hits[: wish.limit]
    if wish.context:
        hits, more = timed(
            trace, "context", lambda: _with_context(searcher, hits, document, allowed, wish.context, view)
        )
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
        read, _ = observations_at(view, searcher, list(documents))
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


def _silent(judged: _Judged, searcher: Searcher, wish: Wish, near: tuple[str, ...]) -> Abstention:
    """Nothing is returned: because nothing is good enough, or perhaps because much cannot be found by meaning yet."""
    if searcher.n_behind and wish.ranking != "lexical":
        detail = f"{judged.detail} {searcher.n_behind} passages have no vector yet; `grail index` makes them."
        return Abstention("index_behind", detail, near)
    return Abstention("below_floor" if near else "no_match", judged.detail, near)


def _warnings(searcher: Searcher, wish: Wish) -> tuple[str, ...]:
    """What makes an answer slower or poorer than it could be."""
    made = []
    if searcher.n_behind and wish.ranking != "lexical":
        made.append(
            f"{searcher.n_behind} passages have no vector yet and are found by words and links alone; "
            "`grail index` makes them."
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


def _pool(ranked: Sequence[Ranked], limit: int, n_passages: int) -> list[_Best]:
    """The best passage of each of the best observations, best first."""
    import numpy as np

    best: dict[int, _Best] = {}
    for r in ranked:
        doc = r.asked.corpus.columns.doc
        _, first = np.unique(doc[r.found.passages[r.order]], return_index=True)
        for place in r.order[np.sort(first)[:limit]].tolist():
            passage = int(r.found.passages[place])
            document, score = int(doc[passage]), float(r.score[place])
            if document not in best or score > best[document].score:
                best[document] = _Best(document, passage, [passage], score, r, place)
    columns = ranked[0].asked.corpus.columns
    order = sorted(
        best.values(), key=lambda b: (-b.score, -int(columns.us[b.document]), int(columns.key[b.document]), b.document)
    )
    if n_passages > 1:
        for found in order[:limit]:
            found.shown = _passages_shown(found, n_passages)
    return order[:limit]


def _passages_shown(best: _Best, most: int) -> list[int]:
    """The passages of an observation that are not far worse than its best, in the order of its text."""
    r = best.ranked
    passages = r.found.passages[r.order]
    good = (r.asked.corpus.columns.doc[passages] == best.document) & (r.score[r.order] >= best.score - _MARGIN)
    return sorted(map(int, passages[good][:most]))


@dataclass(frozen=True, slots=True)
class _Judged:
    coverage: Coverage
    detail: str
    said: dict[str, Any]


def _judge(main: Ranked, gates: Gates | None, wish: Wish) -> _Judged:
    """How far the best passages answer the question, and why not further."""
    signals = signals_of(main)
    said: dict[str, Any] = {"signals": {name: round(value, 3) for name, value in signals._asdict().items()}}
    if not len(main.order):
        return _Judged("none", "Nothing here shares a word, a meaning or a name with the question.", said)
    if gates is None:
        return _Judged("partial", "", said)
    topic = gates.topic.score(signals)
    said |= {"topic": topic, "floor": gates.topic.floor, "sure": gates.topic.sure}
    if topic < gates.topic.floor:
        return _Judged("none", _why(main, topic, gates.topic.floor), said)
    lacking = _lacking(main, signals)
    speaker = speaker_signals_of(main)
    if speaker is not None and gates.speaker is not None:
        whom = gates.speaker.score(speaker)
        said |= {"speaker": whom, "speaker_floor": gates.speaker.floor}
        if whom < gates.speaker.floor:
            name = main.asked.question.subject
            lacking.append(f"what comes closest was not said by {name}")
            if wish.strict:
                return _Judged("none", f"The question asks for {name}; {lacking[-1]}.", said)
    if topic < gates.topic.sure:
        lacking.append(f"the score {topic:.2f} is not above {gates.topic.sure:.2f}, from where on nothing is doubtful")
    said["lacking"] = lacking
    return _Judged("partial" if lacking else "supported", "; ".join(lacking), said)


def _lacking(main: Ranked, signals: Signals) -> list[str]:
    """What the question asks for and the best passages do not have."""
    lacking = []
    if signals.names < 1:
        lacking.append("a name of the question is not in the best passages")
    kind = main.asked.question.kind
    wanted = {"time": "times", "number": "numbers", "name": "capitals"}.get(kind)
    best = main.found.passages[main.order[:5]]
    columns = main.asked.corpus.columns
    if kind == "number" and wanted and not columns.traits[best, 4].any():
        lacking.append("it asks how many and no number is in the best passages")
    return lacking


def _why(main: Ranked, score: float, floor: float) -> str:
    question = main.asked.question
    evidence = main.found.evidence
    best = evidence.places(main.found.passages[main.order[:5]])
    has = evidence.has[best].max(axis=0, initial=0)
    wanted = [term if term not in question.date_terms else "" for term in dict.fromkeys(question.terms)]
    known = main.asked.lexical.is_known
    unknown = as_asked(question.text, {t for t, k in zip(wanted, known, strict=True) if not k})
    absent = as_asked(question.text, {t for t, h, k in zip(wanted, has, known, strict=True) if k and not h})
    parts = [f"The best passages score {score:.2f} together and would need {floor:.2f}."]
    if unknown:
        parts.append(f"Nothing here says {', '.join(unknown[:4])}.")
    if missing := [word for word in absent if word not in unknown]:
        parts.append(f"The best passages do not say {', '.join(missing[:4])}.")
    return " ".join(parts)


def _gather(view: View, searcher: Searcher, pool: Sequence[_Best]) -> tuple[list[Hit], dict[str, FileState]]:
    """The observations of the pool with what speaks for each."""
    found, states = observations_at(view, searcher, [b.document for b in pool])
    return [_hit(o, b, searcher) for o, b in zip(found, pool, strict=True)], states


def observations_at(
    view: View, searcher: Searcher, documents: Sequence[int]
) -> tuple[list[Observation], dict[str, FileState]]:
    """The observations that documents are, and the states of the files of the snapshot's rows, by path."""
    rows = [int(searcher.corpus.columns.row[d]) for d in documents]
    reader = view.live_base()
    below = [row for row in rows if row >= 0]
    payloads = dict(zip(below, reader.payloads(below), strict=True)) if reader is not None and below else {}
    read = {row: observation_of(payload) for row, payload in payloads.items()}
    states = {read[row].path: state_in(payload) for row, payload in payloads.items()}
    return [read[row] if row >= 0 else searcher.corpus.delta[-2 - row] for row in rows], states


def _hit(o: Observation, best: _Best, searcher: Searcher) -> Hit:
    brought = {name for name, rows in best.ranked.found.by.items() if _is_in(rows, best.passage)}
    if brought & _RETRIEVERS:  # what stands beside a hit, itself included, is only told where nothing else brought it
        brought &= _RETRIEVERS
    via = tuple(name for name in best.ranked.found.by if name in brought)
    return hit_of(
        o,
        score=round(best.score, 3),
        reasons=tuple(_reasons(o, best)) or _BESIDE,
        via=via,
        passage=_passage(o, best, searcher),
    )


def _added(best: _Best) -> dict[str, float]:
    """What each group of features adds to a score, with the bias; empty for what was weighed by other weights."""
    shares = {"bias": best.ranked.weights.bias} | best.shares
    is_so = math.isclose(sum(shares.values()), best.score, abs_tol=0.01)
    return {group: round(value, 3) for group, value in shares.items() if value} if is_so else {}


def _is_in(rows: np.ndarray, value: int) -> bool:
    at = int(rows.searchsorted(value))
    return at < len(rows) and int(rows[at]) == value


def _passage(o: Observation, best: _Best, searcher: Searcher) -> str:
    """The parts of the content that matched, when the content has several."""
    columns = searcher.corpus.columns
    first, end = columns.first_passage[best.document], columns.first_passage[best.document + 1]
    if end - first <= len(best.shown):
        return ""
    spans: list[list[int]] = []
    for passage in best.shown:
        begin, stop = searcher.corpus.span_of(passage)
        if spans and not o.content[spans[-1][1] : begin].strip():
            spans[-1][1] = stop
        else:
            spans.append([begin, stop])
    return "\n\n…\n\n".join(o.content[begin:stop] for begin, stop in spans)


def _reasons(o: Observation, best: _Best) -> Iterable[str]:
    """What speaks for a hit, in words, the strongest first."""
    ranked = best.ranked
    asked, evidence = ranked.asked, ranked.found.evidence
    at = int(evidence.places(_array(best.passage))[0])
    shares = best.shares
    said: dict[str, str] = {}
    wanted = dict.fromkeys(asked.question.terms)
    has = {term for term, there in zip(wanted, evidence.has[at], strict=True) if there}
    if words := as_asked(asked.question.text, has):
        said["lexical"] = f"says {', '.join(words[:6])}"
    if asked.vectors is not None and evidence.cosine[at] > 0:
        said["meaning"] = f"meaning {evidence.cosine[at]:.2f}"
    if shares.get("speaker", 0) > 0 and o.speaker:
        said["speaker"] = f"said by {o.speaker}"
    if shares.get("date", 0) > 0:
        said["date"] = f"from {o.observed_at:%Y-%m-%d}, when asked for"
    if evidence.titled[at]:
        said["graph"] = "its title is in the question"
    elif shares.get("graph", 0) > 0:
        said["graph"] = "linked with other hits"
    return (said[group] for group in sorted(said, key=lambda group: -shares.get(group, 0)))


def as_asked(text: str, said: set[str]) -> list[str]:
    """The words of a text that have one of some terms, each once, in order."""
    return list(dict.fromkeys(word for word, has in _words_of(text) if not said.isdisjoint(has)))


@lru_cache(maxsize=_MANY_WORDINGS)
def _words_of(text: str) -> list[tuple[str, list[str]]]:
    """The words of a text without the marks around them, each with its terms."""
    return [(word.strip(".,;:?!\"'()[]“”‘’"), terms(word, stop_words=False)) for word in text.split()]


def _array(value: int) -> np.ndarray:
    import numpy as np

    return np.array([value])


def _fresh(hits: Sequence[Hit], wish: Wish) -> list[Hit]:
    """Hits in order when episodes count the less the older they are."""
    if not wish.half_life_days:
        return list(hits)
    made = []
    for hit in hits:
        days = (wish.asked_at - hit.observed_at).total_seconds() / 86_400
        share = (
            max(0.5 ** (max(days, 0) / wish.half_life_days), wish.freshness_floor) if hit.kind == "episodic" else 1.0
        )
        if share < 1:
            said = (*hit.reasons, f"{days:.0f} days old: counts {share:.2f}")
            hit = replace(hit, score=round(hit.score + math.log(share), 3), reasons=said)  # noqa: PLW2901
        made.append(hit)
    return sorted(made, key=lambda hit: -hit.score)


def _unlike(hits: Sequence[Hit]) -> tuple[list[Hit], int]:
    """Hits without those that say the same as a better one of the same speaker; with another number, they do not."""
    kept: list[Hit] = []
    words: list[set[str]] = []
    same: dict[str, list[str]] = {}
    for hit in hits:
        mine = set(f"{own_title(hit)} {hit.passage or hit.content}".casefold().split())
        twin = next(
            (k for k, other in zip(kept, words, strict=True)
             if k.speaker == hit.speaker and _are_alike(mine, other)), None,
        )  # fmt: skip
        if twin is not None:
            same.setdefault(twin.id, []).append(hit.id)
            continue
        kept.append(hit)
        words.append(mine)
    n_same = sum(map(len, same.values()))
    return [_with_twins(hit, same.get(hit.id, [])) for hit in kept], n_same


def _are_alike(one: set[str], other: set[str]) -> bool:
    """Whether two texts have nearly the same words, and the same numbers."""
    fewer, more = sorted((len(one), len(other)))
    if fewer < _ALIKE * more or len(one & other) < _ALIKE * len(one | other):  # the first is told at once
        return False
    return not any(any(map(str.isdigit, word)) for word in one ^ other)


def _with_twins(hit: Hit, twins: Sequence[str]) -> Hit:
    if not twins:
        return hit
    more = f" and {len(twins) - 1} more" if len(twins) > 1 else ""
    return replace(hit, reasons=(*hit.reasons, f"also said in {twins[0]}{more}"))


def _with_context(
    searcher: Searcher, hits: Sequence[Hit], document: Mapping[str, int], allowed: np.ndarray, reach: int, view: View
) -> tuple[list[Hit], dict[str, FileState]]:
    """Hits with the turns around them that may be returned."""
    import numpy as np

    corpus = searcher.corpus
    columns = corpus.columns
    made: list[Hit] = []
    states: dict[str, FileState] = {}
    for hit in hits:
        if hit.session is None:
            made.append(hit)
            continue
        own = document[hit.id]
        first, last = columns.first_passage[own], columns.first_passage[own + 1] - 1
        begin, end = columns.place[first], columns.place[last]
        near = np.arange(max(begin - 40, 0), min(end + 41, len(columns.at)))
        docs = columns.doc[columns.at[near]]
        keep = allowed[columns.at[near]] & (columns.session[columns.at[near]] == columns.session[first])
        listed = list(dict.fromkeys(docs[keep].tolist()))
        place = listed.index(own)
        around = [d for d in listed[max(place - reach, 0) : place + reach + 1] if d != own]
        turns, more = observations_at(view, searcher, around)
        states |= more
        made.append(replace(hit, context=tuple(turns)))
    return made, states
