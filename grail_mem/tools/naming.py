"""Names of arguments as models guess them: which field each means, and which mean none.

Knows nothing of values, but whether there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class FieldProblem(NamedTuple):
    """What is wrong with one argument, and what to send."""

    field: str
    problem: str
    remedy: str

    def to_dict(self) -> dict[str, str]:
        """The problem as plain JSON values."""
        return self._asdict()


def is_absent(value: Any) -> bool:
    """Whether a model said nothing: null, empty or blank text, an empty list."""
    return value is None or (isinstance(value, str) and not value.strip()) or value == []


def key_of(name: str) -> str:
    """A name in the form in which names are compared.

    Example:
        >>> key_of("topK"), key_of("Top-K ")
        ('top_k', 'top_k')
    """
    return re.sub(r"[\s\-]+", "_", _HUMP.sub("_", name.strip())).casefold()


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like one; empty when none is."""
    return next(iter(get_close_matches(key_of(name)[:80], list(known), n=1, cutoff=0.5)), "")


def named(meant: Mapping[str, str], sent: Mapping[Any, Any]) -> tuple[dict[str, Any], list[FieldProblem]]:
    """What was sent, by the names of fields, and a problem for each name that means none or one that has a value already.

    Args:
        meant: By every name that a field goes by, the name of the field.
        sent: What a model sent.
    """
    given: dict[str, Any] = {}
    under: dict[str, str] = {}
    problems: list[FieldProblem] = []
    for name, value in sent.items():
        text = str(name)
        to = meant.get(key_of(text))
        if to is None:
            near = meant.get(nearest(text, meant), "")
            hint = f"Did you mean {near}? " if near else ""
            names = ", ".join(dict.fromkeys(meant.values()))
            problems.append(FieldProblem(text[:80], "is no argument here.", f"{hint}The arguments are {names}."))
        elif is_absent(value):
            continue
        elif to in given:
            problems.append(FieldProblem(to, f"was sent twice, as {under[to]} and as {text[:80]}.", f"Send {to} once."))
        else:
            given[to], under[to] = value, text[:80]
    return given, problems
