"""From a filter to SQL: pure functions, every value that a caller sent bound as a parameter.

The only numbers written into the SQL text are our own codes, bits and row ranges. Knows nothing of connections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from grail_mem.model.filter import Filter
from grail_mem.query.match import text_key

Term = tuple[int, str]
TAG, ENTITY, ENTITY_TYPE, RELATIONSHIP_TYPE = range(4)


class TermPlace(NamedTuple):
    """Where a term's rows are: how many, the first of its postings, or its bit (-1: postings)."""

    n: int
    first: int
    bit: int


class Dictionary(Protocol):
    """What planning needs to know of a snapshot."""

    categories: list[str]
    dimensions: dict[str, dict[str, int]]

    def place(self, terms: Sequence[Term]) -> list[TermPlace]:
        """Where terms have their rows, in the same order."""
        ...

    def category_range(self, key: list[str]) -> tuple[int, int]:
        """First code and code after the last of a folder and everything below it."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """A filter in SQL over one table.

    Attributes:
        table: `x.obs`, or `x.postings` when a rare term narrows the rows most.
        conditions: SQL texts, all of which must hold.
        values: Their parameters, in order.
        unordered: True when the rows may come in another order than they lie.
    """

    table: str
    conditions: tuple[str, ...]
    values: tuple[Any, ...]
    unordered: bool


class _NothingMatchesError(Exception):
    """A condition that no row can meet was found while planning."""


def plan(f: Filter, dictionary: Dictionary) -> Plan | None:
    """How a filter is asked of a snapshot; None when no row can match."""
    try:
        return _plan(f, dictionary)
    except _NothingMatchesError:
        return None


def _plan(f: Filter, dictionary: Dictionary) -> Plan:
    conditions: list[str] = []
    values: list[Any] = []
    for text, bound in _bounds(f):
        conditions += [text]
        values += bound
    if f.category:
        conditions.append(_categories(f, dictionary))
    for name in ("kind", "status", "source_kind"):
        if wanted := getattr(f, name):
            conditions.append(_dimension(name, wanted, dictionary))
    table, terms, unordered = _terms(f, dictionary)
    return Plan(table, (*terms, *conditions), tuple(values), unordered)


def _bounds(f: Filter) -> list[tuple[str, list[Any]]]:
    bounds: list[tuple[str, list[Any]]] = []
    if f.since_us is not None:
        bounds.append(("us >= ?", [f.since_us]))
    if f.before_us is not None:
        bounds.append(("us < ?", [f.before_us]))
    if f.min_confidence is not None:
        bounds.append(("confidence >= ?", [f.min_confidence]))
    if f.as_of_us is not None:
        at = f.as_of_us
        bounds.append(("coalesce(valid_from, us) <= ?", [at]))
        bounds.append(("(valid_until IS NULL OR valid_until > ?)", [at]))
        bounds.append(("(expires_at IS NULL OR expires_at > ?)", [at]))
    if f.text is not None:
        bounds.append(("contains(text_key, ?)", [text_key(f.text)]))
    return bounds


def _categories(f: Filter, dictionary: Dictionary) -> str:
    ranges: set[tuple[int, int]] = set()
    for glob in f.category:
        if glob.is_subtree:
            ranges.add(dictionary.category_range(glob.prefix.split("/")))
        else:
            ranges |= {(code, code + 1) for code, name in enumerate(dictionary.categories) if glob.matches(name)}
    merged = _merged(sorted((first, end) for first, end in ranges if first < end))
    if not merged:
        raise _NothingMatchesError
    texts = [f"cid = {first}" if end == first + 1 else f"cid BETWEEN {first} AND {end - 1}" for first, end in merged]
    return f"({' OR '.join(texts)})" if len(texts) > 1 else texts[0]


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, end in ranges:
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return merged


def _dimension(name: str, wanted: Sequence[str], dictionary: Dictionary) -> str:
    codes = [code for text in wanted if (code := dictionary.dimensions[name].get(text)) is not None]
    if not codes:
        raise _NothingMatchesError
    return f"{name} = {codes[0]}" if len(codes) == 1 else f"{name} IN ({', '.join(map(str, codes))})"


def _terms(f: Filter, dictionary: Dictionary) -> tuple[str, list[str], bool]:
    """The table to read, and conditions on terms: all of `tags_all`, and one at least of every other list."""
    groups: list[list[Term]] = [[(TAG, key)] for key in f.tags_all]
    for kind, keys in (
        (TAG, f.tags), (ENTITY, f.entity_names), (ENTITY_TYPE, f.entity_types),
        (RELATIONSHIP_TYPE, f.relationship_type),
    ):  # fmt: skip
        if keys:
            groups.append([(kind, key) for key in keys])
    places = iter(dictionary.place([term for group in groups for term in group]))
    found = [[place for _ in group if (place := next(places)).n] for group in groups]
    if not all(found):
        raise _NothingMatchesError
    masks: dict[int, int] = {}
    rare: list[TermPlace] = []
    conditions: list[str] = []
    unordered = False
    for group in found:
        if len(group) > 1:
            text, listed = _any_of(group)
            conditions.append(text)
            unordered |= listed
        elif group[0].bit < 0:
            rare.append(group[0])
        else:
            word, bit = divmod(group[0].bit, 64)
            masks[word] = masks.get(word, 0) | 1 << bit
    conditions = [f"(b{word} & {mask}) = {mask}" for word, mask in masks.items()] + conditions
    if f.text is not None:  # only `obs` has the text
        return "x.obs", conditions + [f"rid IN ({_rids([place])})" for place in rare], unordered or bool(rare)
    if not rare:
        return "x.obs", conditions, unordered
    rarest, *others = sorted(rare)
    conditions += [f"rid IN ({_rids([place])})" for place in others]
    return "x.postings", [_range(rarest), *conditions], unordered or bool(others)


def _any_of(group: Sequence[TermPlace]) -> tuple[str, bool]:
    masks: dict[int, int] = {}
    for place in group:
        if place.bit >= 0:
            masks[place.bit // 64] = masks.get(place.bit // 64, 0) | 1 << (place.bit % 64)
    texts = [f"(b{word} & {mask}) <> 0" for word, mask in masks.items()]
    rare = [place for place in group if place.bit < 0]
    if rare:
        texts.append(f"rid IN ({_rids(rare)})")
    return f"({' OR '.join(texts)})", bool(rare)


def _rids(places: Sequence[TermPlace]) -> str:
    return f"SELECT rid FROM x.postings WHERE {' OR '.join(map(_range, places))}"


def _range(place: TermPlace) -> str:
    return f"rowid BETWEEN {place.first} AND {place.first + place.n - 1}"
