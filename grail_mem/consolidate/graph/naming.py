"""Names of folders made from names of entities.

Knows nothing of why a folder is to be made.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from grail_mem.errors import InputError
from grail_mem.model.category import category_key, clean_category

_MOST_CHARS: Final = 40
"""Characters that one name gives to a folder's name; chosen, so that two of them can be read at a glance."""
_DATED: Final = re.compile(r"(?:(?:session|sprint|week|day|month|year|kw|q|w)[\W_]*)?\d[\d\W_]*(?:q\d|w\d+)?")
_NOT_IN_NAMES: Final = re.compile(r"[\W_]+")


def free_category(parent: str, names: Sequence[str], taken: Collection[str]) -> str:
    """A category below a parent, named after the first things, that is not there yet; empty when none can be made.

    Args:
        parent: The folder above it.
        names: Names of things, the most telling first.
        taken: Categories that there are; those below them count as well.

    Example:
        >>> free_category("topics", ["Postgres 17", "Dana"], ["topics/postgres-17/old"])
        'topics/postgres-17-dana'
    """
    used = {category_key("/".join(path.split("/")[: n + 1])) for path in taken for n in range(path.count("/") + 1)}
    slugs = [slug for name in names if (slug := _slug(name))] or ["group"]
    tries = ["-".join(slugs[: n + 1]) for n in range(min(3, len(slugs)))]
    last = tries[-1]
    tries += [f"{last}-{n}" for n in range(2, len(used) + 3)]
    paths = (_clean(f"{parent}/{name}") for name in tries)
    return next((path for path in paths if path and category_key(path) not in used), "")


def is_dated(category: str) -> bool:
    """Whether a folder on the path is called after a time or a number, so that what lies there is there by its date.

    Example:
        >>> is_dated("journal/2026-06"), is_dated("talks/session-3"), is_dated("clients/acme")
        (True, True, False)
    """
    return any(_DATED.fullmatch(segment.casefold()) for segment in category.split("/"))


def _slug(name: str) -> str:
    return _NOT_IN_NAMES.sub("-", name.casefold()).strip("-")[:_MOST_CHARS].strip("-")


def _clean(path: str) -> str:
    """The category, or nothing where it cannot be one."""
    try:
        return clean_category(path)
    except InputError:
        return ""
