"""The pages to look around: observations by filter, folders as communities, entities, tags.

Knows nothing of how filters are applied.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from grail_mem.errors import InputError
from grail_mem.model.filter import ORDERS
from grail_mem.model.observation import KINDS, SOURCE_KINDS, STATUSES
from grail_mem.recall.result import Recall
from grail_mem.review_page.site import Site

ON_A_PAGE: Final = 30
TEXTS: Final = (
    "text", "category", "tags", "entity_names", "entity_types", "relationship_type", "attribute", "since", "before",
    "as_of", "believed_at", "speaker", "session", "scope", "min_confidence",
)  # fmt: skip
"""Conditions that are typed; several values of one are told apart by commas, but for times, text and the number."""
CHOICES: Final = {"kind": KINDS, "status": STATUSES, "source_kind": SOURCE_KINDS, "order": ORDERS}
"""Conditions that are chosen from a list."""
_SINGLE: Final = frozenset({"text", "since", "before", "as_of", "believed_at", "session"})
_BELOW: Final = """
SELECT community, n_observations, n_directly, n_entities, last_observed_at FROM communities
WHERE level = $level AND ($above = '' OR starts_with(community, $above || '/')) ORDER BY n_observations DESC, community
LIMIT $most
"""
_MOST_FOLDERS: Final = 200


def show_observations(site: Site, request: Request) -> Response:
    """The observations that meet a filter, newest first unless asked otherwise, a page at a time."""
    asked = asked_of(request)
    wrong: InputError | None = None
    found = Recall()
    try:
        found = site.store.recall(
            **conditions(asked), limit=ON_A_PAGE, cursor=request.query_params.get("cursor") or None
        )
    except InputError as error:  # said above the form, which keeps what was typed
        wrong = error
    return site.page(
        request, "browse.html", here="browse", code=400 if wrong else 200, asked=asked, found=found, wrong=wrong,
        choices=CHOICES, active={name: value for name, value in asked.items() if name != "order"},
        is_next=bool(request.query_params.get("cursor")), folder=_folder(site, asked.get("category", ""), beside=True),
    )  # fmt: skip


def asked_of(request: Request) -> dict[str, str]:
    """The conditions of an address, as typed; empty ones left out."""
    names = (*TEXTS, *CHOICES, "include_history")
    return {name: value for name in names if (value := request.query_params.get(name, "").strip())}


def conditions(asked: dict[str, str]) -> dict[str, Any]:
    """The arguments of `recall` that typed conditions mean."""
    made: dict[str, Any] = {}
    for name, value in asked.items():
        if name == "include_history":
            made[name] = True
        elif name == "min_confidence":
            made[name] = _number(value)
        elif name in _SINGLE or name in CHOICES:
            made[name] = value
        else:
            made[name] = [part.strip() for part in value.split(",") if part.strip()] or value
    return made


def show_communities(site: Site, request: Request) -> Response:
    """The folders below one, the largest first."""
    above = request.query_params.get("in", "").strip().strip("/")
    folder = _folder(site, above)
    return site.page(request, "communities.html", here="communities", folder=folder)


def show_entities(site: Site, request: Request) -> Response:
    """Every entity, most mentioned first, or those whose name has a text in it."""
    text = request.query_params.get("text", "").strip()
    cursor = request.query_params.get("cursor") or None
    if text:
        rows = site.store.sql(_ENTITIES, {"text": text, "most": 200}).to_pylist()
        return site.page(
            request,
            "entities.html",
            here="entities",
            items=rows,
            total=len(rows),
            cursor=None,
            text=text,
            is_next=False,
        )
    listed = site.store.list_entities(limit=60, cursor=cursor, include_history=True)
    return site.page(
        request, "entities.html", here="entities", items=listed.items, total=listed.total, cursor=listed.cursor, text="",
        is_next=cursor is not None,
    )  # fmt: skip


_ENTITIES: Final = """
SELECT key, name, types, n_observations, first_observed_at, last_observed_at FROM entities
WHERE contains(lower(name), lower($text)) ORDER BY n_observations DESC, key LIMIT $most
"""


def _folder(site: Site, above: str, *, beside: bool = False) -> dict[str, Any]:
    """A folder with the way to it and what lies below; nothing below when a pattern or several are asked for.

    Args:
        site: The page.
        above: The folder; empty for all.
        beside: Whether the folders only stand beside observations, which those below no folder do not.
    """
    above = above.removesuffix("/**")
    plain = not any(mark in above for mark in "*,") and bool(above or not beside)
    below = []
    if plain:
        values = {"level": above.count("/") + 2 if above else 1, "above": above, "most": _MOST_FOLDERS}
        below = site.store.sql(_BELOW, values).to_pylist()
    parts = above.split("/") if above and plain else []
    way = [("/".join(parts[: at + 1]), part) for at, part in enumerate(parts)]
    return {"path": above if plain else "", "way": way, "below": below, "is_cut": len(below) == _MOST_FOLDERS}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # which the filter refuses in its own words
