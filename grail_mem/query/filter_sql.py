"""From a filter to SQL: pure functions, every value that a caller sent bound as a parameter.

The only numbers written into the SQL text are our own codes, bits and row ranges. Knows nothing of connections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from grail_mem.model.filter import Filter
from grail_mem.query.match import text_key

Term = tuple[int, str]
TAG, ENTITY, ENTITY_TYPE, RELATIONSHIP_TYPE, SESSION, SPEAKER, SCOPE, ATTRIBUTE = range(8)


class TermPlace(NamedTuple):
    """Where a term's rows are: how many, the first of its postings, or its bit (-1: postings)."""

    n: int
    first: int
    bit: int


class Dictionary(Protocol):
    """What planning needs to know of a snapshot."""

    categories: list[str]
    dimensions: dict[str, dict[str, int]]
    first_end: int
    last_begin: int

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
        repeats: True when a row may be there more than once: it is in `x.postings` once for each of its terms.
    """

    table: str
    conditions: tuple[str, ...]
    values: tuple[Any, ...]
    unordered: bool
    repeats: bool = False


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
    for text, bound in [*_bounds(f), *_validity(f, dictionary)]:
        conditions += [text]
        values += bound
    if f.category:
        conditions.append(_categories(f, dictionary))
    for name in ("kind", "status", "source_kind"):
        if wanted := getattr(f, name):
            conditions.append(_dimension(name, wanted, dictionary))
    read = _terms(f, dictionary)
    return replace(read, conditions=(*read.conditions, *conditions), values=tuple(values))


def _bounds(f: Filter) -> list[tuple[str, list[Any]]]:
    bounds: list[tuple[str, list[Any]]] = []
    if f.since_us is not None:
        bounds.append(("us >= ?", [f.since_us]))
    if f.before_us is not None:
        bounds.append(("us < ?", [f.before_us]))
    if f.min_confidence is not None:
        bounds.append(("confidence >= ?", [f.min_confidence]))
    if f.text is not None:
        bounds.append(("contains(text_key, ?)", [text_key(f.text)]))
    return bounds


def _validity(f: Filter, dictionary: Dictionary) -> list[tuple[str, list[Any]]]:
    """Conditions on when a row holds; what every row of the snapshot meets now is not asked."""
    now, at, known = f.current_us, f.as_of_us, f.known_us
    bounds: list[tuple[str, list[Any]]] = []
    if now is not None and dictionary.first_end <= now:
        bounds.append(("ends > ?", [now]))
    if now is not None and dictionary.last_begin > now:
        bounds.append(("(valid_from IS NULL OR valid_from <= ?)", [now]))
    if at is not None:
        bounds.append(("coalesce(valid_from, us) <= ?", [at]))
        if known is None:
            bounds.append(("ends > ?", [at]))
        else:
            bounds.append(("recorded_at <= ?", [known]))
            bounds.append(("(CASE WHEN replaced > ? THEN stood ELSE ends END) > ?", [known, at]))
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


def _terms(f: Filter, dictionary: Dictionary) -> Plan:
    """The table to read, and conditions on terms: all of `tags_all`, and one at least of every other list."""
    masks: dict[int, int] = {}
    rare: list[list[TermPlace]] = []
    others: list[list[TermPlace]] = []
    for group in _groups(f, dictionary):
        if all(place.bit < 0 for place in group):
            rare.append(group)
        elif len(group) > 1:
            others.append(group)
        else:
            word, bit = divmod(group[0].bit, 64)
            masks[word] = masks.get(word, 0) | 1 << bit
    rare.sort(key=lambda group: sum(place.n for place in group))
    conditions = [*(f"(b{word} & {mask}) = {mask}" for word, mask in masks.items()), *map(_any_of, others)]
    joined = any(place.bit < 0 for group in others for place in group)
    if not rare or f.text is not None:  # only `obs` has the text
        return Plan("x.obs", (*conditions, *map(_among, rare)), (), unordered=joined or bool(rare))
    rarest, *rare = rare
    repeats = len(rarest) > 1
    conditions = [_in_ranges(rarest), *conditions, *map(_among, rare)]
    return Plan("x.postings", tuple(conditions), (), joined or bool(rare) or repeats, repeats)


def _groups(f: Filter, dictionary: Dictionary) -> list[list[TermPlace]]:
    """Lists of terms of each of which a row must have one; terms that no row has are left out."""
    groups: list[list[Term]] = [[(TAG, key)] for key in f.tags_all]
    for kind, keys in (
        (TAG, f.tags), (ENTITY, f.entity_names), (ENTITY_TYPE, f.entity_types),
        (RELATIONSHIP_TYPE, f.relationship_type), (SESSION, f.session), (SPEAKER, f.speaker),
        (SCOPE, f.scope), (ATTRIBUTE, f.attribute),
    ):  # fmt: skip
        if keys:
            groups.append([(kind, key) for key in keys])
    places = iter(dictionary.place([term for group in groups for term in group]))
    found = [[place for _ in group if (place := next(places)).n] for group in groups]
    if not all(found):
        raise _NothingMatchesError
    return found


def _any_of(group: Sequence[TermPlace]) -> str:
    masks: dict[int, int] = {}
    for place in group:
        if place.bit >= 0:
            masks[place.bit // 64] = masks.get(place.bit // 64, 0) | 1 << (place.bit % 64)
    texts = [f"(b{word} & {mask}) <> 0" for word, mask in masks.items()]
    rare = [place for place in group if place.bit < 0]
    return f"({' OR '.join([*texts, *map(_among, [rare] if rare else [])])})"


def _among(places: Sequence[TermPlace]) -> str:
    return f"rid IN (SELECT rid FROM x.postings WHERE {_in_ranges(places)})"


def _in_ranges(places: Sequence[TermPlace]) -> str:
    texts = [f"rowid BETWEEN {place.first} AND {place.first + place.n - 1}" for place in places]
    return f"({' OR '.join(texts)})" if len(texts) > 1 else texts[0]
