"""The timeline of an entity or an attribute: what held when, what took whose place.

Knows nothing of how facts are settled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grail_mem.model.observation import Observation
from grail_mem.review_page.site import Site

ON_A_PAGE: Final = 60
_WIDTH: Final = 1000.0
_LEAST: Final = 6.0
"""Width of a bar at least, so that it can be seen."""
_ATTRIBUTES: Final = """
SELECT attribute, count(*) AS n FROM observations WHERE attribute IS NOT NULL
GROUP BY attribute ORDER BY n DESC, attribute LIMIT 40
"""
_MOST_TICKS: Final = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """One observation on the timeline.

    Attributes:
        o: The observation.
        begins: Since when it holds.
        ends: Until when; None when it holds still.
        x: Where its bar begins, from 0 to 1000.
        width: How wide it is.
        state: `holds`, `over`, `superseded`, `archived` or `to come`.
    """

    o: Observation
    begins: datetime
    ends: datetime | None
    x: float
    width: float
    state: str


def show_timeline(site: Site, request: Request) -> Response:
    """What is known of an entity or of an attribute, by the time since when it holds."""
    entity = request.query_params.get("entity", "").strip()
    attribute = request.query_params.get("attribute", "").strip()
    cursor = request.query_params.get("cursor") or None
    if not entity and not attribute:
        return site.page(
            request, "timeline.html", here="timeline", entity="", attribute="", bars=[], ticks=[], cursor=None,
            entities=site.store.list_entities(limit=24).items, attributes=site.store.sql(_ATTRIBUTES).to_pylist(),
            abstention=None,
        )  # fmt: skip
    found = site.store.recall(
        entity_names=[entity] if entity else None, attribute=[attribute] if attribute else None, include_history=True,
        order="oldest", limit=ON_A_PAGE, cursor=cursor,
    )  # fmt: skip
    bars, ticks = _drawn(found.observations, datetime.now(UTC))
    return site.page(
        request, "timeline.html", here="timeline", entity=entity, attribute=attribute, bars=bars, ticks=ticks,
        cursor=found.cursor, entities=(), attributes=(), abstention=found.abstention,
    )  # fmt: skip


def _drawn(some: Sequence[Observation], now: datetime) -> tuple[list[Bar], list[tuple[float, str]]]:
    """Bars in the order in which they begin, and the days along the axis."""
    spans = sorted(((o.valid_from or o.observed_at, _end(o, some), o) for o in some), key=lambda s: (s[0], s[2].id))
    if not spans:
        return [], []
    first = spans[0][0]
    last = max(now, *(end or begin for begin, end, _ in spans))
    whole = max((last - first).total_seconds(), 1.0)

    def at(time: datetime) -> float:
        return round((time - first).total_seconds() / whole * _WIDTH, 1)

    bars = []
    for begins, ends, o in spans:
        x = min(at(begins), _WIDTH - _LEAST)
        width = round(max(at(ends or last) - x, _LEAST), 1)
        bars.append(Bar(o, begins, ends, x, min(width, _WIDTH - x), _state(o, begins, ends, now)))
    step = (last - first) / (_MOST_TICKS - 1)
    form = "%Y" if whole > 6 * 31_557_600 else "%b %Y" if whole > 60 * 86_400 else "%d %b"
    named = [(at(first + step * n), f"{first + step * n:{form}}") for n in range(_MOST_TICKS)]
    return bars, [tick for n, tick in enumerate(named) if n == 0 or tick[1] != named[n - 1][1]]


def _end(o: Observation, some: Sequence[Observation]) -> datetime | None:
    """When an observation ceased to hold: as it says, or when what took its place began."""
    ends = [time for time in (o.valid_until, o.expires_at) if time is not None]
    if o.superseded_by:
        ends += [it.valid_from or it.observed_at for it in some if it.id == o.superseded_by]
    return min(ends) if ends else None


def _state(o: Observation, begins: datetime, ends: datetime | None, now: datetime) -> str:
    if o.status in ("superseded", "archived"):
        return o.status
    return "to come" if begins > now else "over" if ends is not None and ends <= now else "holds"
