"""The search page and its trace: which retriever brought what, what passed, how the answer was judged, how long it took.

Knows nothing of how a search works.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from grail_mem.errors import GrailError, InputError
from grail_mem.model.observation import Observation
from grail_mem.recall.result import Recall
from grail_mem.review_page.browse import asked_of, conditions
from grail_mem.review_page.site import Site

LIMIT: Final = 10
MODES: Final = ("cascade", "local", "global")
_COUNTS_NOTHING: Final = frozenset({"ms", "all"})


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a search.

    Attributes:
        name: Its name, as in the docs.
        ms: How long it took.
        share: How long that is of the longest, 0 to 100.
        did: What it did, in words.
    """

    name: str
    ms: float
    share: float
    did: str


@dataclass(frozen=True, slots=True)
class Traced:
    """What a trace tells, in the order in which the page shows it.

    Attributes:
        stages: In order.
        total_ms: All of them.
        by: How many passages each retriever brought.
        judged: What the answer was judged by: name, value, floor, and from where on it is sure.
        lacking: What it lacks to be sure.
        question: How the question was understood.
        groups: What scores are made of, as column names.
        added: For each hit the parts of its score.
        recipe: The weights that were used.
        gate: How many passed the margin, and which margin.
    """

    stages: tuple[Stage, ...]
    total_ms: float
    by: tuple[tuple[str, int], ...]
    judged: tuple[tuple[str, float, float | None, float | None], ...]
    lacking: tuple[str, ...]
    question: tuple[tuple[str, str], ...]
    groups: tuple[str, ...]
    added: Mapping[str, Mapping[str, float]]
    recipe: str
    gate: Mapping[str, Any]


def show_search(site: Site, request: Request) -> Response:
    """An answer to a question in words, with how it came to be."""
    query = request.query_params.get("q", "").strip()
    mode = request.query_params.get("mode", "cascade")
    asked = asked_of(request)
    found, wrong, traced = None, None, None
    if query:
        try:
            found = site.store.recall(query, mode=mode, limit=LIMIT, **_ranked(asked))
            traced = trace_of(found)
        except InputError as error:  # said above the form, which keeps what was typed
            wrong = error
    near = _near(site, found) if found is not None else []
    return site.page(
        request, "search.html", here="search", code=400 if wrong else 200, query=query, mode=mode, modes=MODES, asked=asked,
        found=found, wrong=wrong, traced=traced, near=near,
    )  # fmt: skip


def _ranked(asked: dict[str, str]) -> dict[str, Any]:
    return {name: value for name, value in conditions(asked).items() if name != "order"}


def _near(site: Site, found: Recall) -> list[Observation]:
    made = []
    for id_ in found.abstention.near_misses if found.abstention is not None else ():
        try:
            made.append(site.store.get(id_))
        except GrailError:  # it went away since
            continue
    return made


def trace_of(found: Recall) -> Traced:
    """What the trace of an answer tells."""
    trace = found.trace
    timed = [(name, said) for name, said in trace.items() if isinstance(said, Mapping) and "ms" in said]
    longest = max((said["ms"] for _, said in timed), default=0.0) or 1.0
    stages = tuple(
        Stage(name, said["ms"], round(100 * said["ms"] / longest, 1), _did(name, said)) for name, said in timed
    )
    brought = trace.get("candidates", {})
    silence, rank = trace.get("silence", {}), trace.get("rank", {})
    added = rank.get("added", {})
    return Traced(
        stages, sum(stage.ms for stage in stages),
        tuple((name, n) for name, n in brought.items() if name not in _COUNTS_NOTHING), tuple(_judged(silence)),
        tuple(silence.get("lacking", ())), tuple(_understood(trace.get("question", {}))),
        tuple(dict.fromkeys(group for parts in added.values() for group in parts)), added, rank.get("recipe", ""),
        trace.get("gate", {}),
    )  # fmt: skip


def _judged(silence: Mapping[str, Any]) -> list[tuple[str, float, float | None, float | None]]:
    made: list[tuple[str, float, float | None, float | None]] = []
    if "topic" in silence:
        made.append(("topic", silence["topic"], silence["floor"], silence["sure"]))
    if "speaker" in silence:
        made.append(("speaker", silence["speaker"], silence["speaker_floor"], None))
    return [*made, *((name, value, None, None) for name, value in silence.get("signals", {}).items())]


def _understood(said: Mapping[str, Any]) -> list[tuple[str, str]]:
    told = {name: ", ".join(map(str, value)) if isinstance(value, list) else value for name, value in said.items()}
    return [(name, str(value)) for name, value in told.items() if value not in (None, "")]


def _did(name: str, said: Mapping[str, Any]) -> str:
    """The counts of a stage, in words."""
    if name == "silence":
        return ""
    return ", ".join(
        f"{n} {what}" for what, n in said.items() if what != "ms" and isinstance(n, int | float) and what != "all"
    )
