"""Names in a question that nothing here has, with the nearest ones that something has.

Knows nothing of how a question is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from grail_mem.cli.grouped import Group

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.memory import Memory
    from grail_mem.memory.session import Session
    from grail_mem.recall.result import Recall

_LOOKED_AT: Final = 1000
"""Names of each kind that a misspelt one is held against; chosen."""
_NEAR: Final = 0.75
"""How alike they must be, from 0 to 1; chosen: one or two letters of a word."""


def misnamed(
    memory: Memory | Session,
    found: Recall,
    conditions: Group,
) -> list[str]:
    """A sentence for each name that nothing has and that is nearly one that something has; none when anything was found."""
    if found.abstention is None or found.abstention.reason != "no_match":
        return []
    category, tags, tags_all, entity_names = (
        conditions[name] or () for name in ("category", "tags", "tags_all", "entity_names")
    )
    folders = [name.removesuffix("/**") for name in category]
    asked: tuple[tuple[str, Iterable[str], Callable[..., Any], str], ...] = (
        ("category", (name for name in folders if "*" not in name), memory.list_categories, "category"),
        ("tag", (*tags, *tags_all), memory.list_tags, "tag"),
        ("entity", entity_names, memory.list_entities, "name"),
    )
    return [
        f"There is no {what} {name!r}. Did you mean {near!r}?"
        for what, names, listing, column in asked
        if (wanted := list(names))
        for known in [{str(row[column]).casefold(): str(row[column]) for row in listing(limit=_LOOKED_AT).items}]
        for name in wanted
        if (near := _nearest(name, known)) is not None
    ]


def _nearest(name: str, known: dict[str, str]) -> str | None:
    """The known name that is nearest; None when the name is known itself or nothing is near."""
    if name.casefold() in known:
        return None
    near = get_close_matches(name.casefold(), known, n=1, cutoff=_NEAR)
    return known[near[0]] if near else None
