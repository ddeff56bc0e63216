"""The delta's rows in memory, ordered and by term, so that a question looks at few of them.

Kept as the delta changes; knows nothing of files and of the snapshot.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from grail_mem.model.filter import Filter
from grail_mem.model.observation import Observation
from grail_mem.model.validity import FOREVER
from grail_mem.query.match import Keys, conditions, keys_of
from grail_mem.store.observation_file import FileRow

Place = tuple[int, str, str]
"""Time in microseconds, id and path of a row: places in ascending order are oldest first."""
Term = tuple[str, str]
"""A condition of a filter that lists values, and a value."""

_LISTS: Final = (
    "tags",
    "entity_names",
    "entity_types",
    "relationship_type",
    "kind",
    "status",
    "source_kind",
    "session",
    "speaker",
    "scope",
    "attribute",
)
_FEW: Final = 4
"""Of all rows, one in so many at most is worth sorting anew; chosen."""
_NONE: Final[frozenset[Place]] = frozenset()
K = TypeVar("K")


class LooseRow(NamedTuple):
    """A row of the delta with its terms."""

    us: int
    id: str
    row: FileRow
    keys: Keys


class Loose:
    """The delta's rows that count."""

    def __init__(self) -> None:
        self._rows: dict[Place, LooseRow] = {}
        self._places: dict[str, Place] = {}
        self._ordered: list[Place] = []
        self._having: dict[Term, set[Place]] = {}
        self._inside: dict[str, set[Place]] = {}
        self._bounded: set[Place] = set()

    def __len__(self) -> int:
        return len(self._rows)

    def update(self, rows: Mapping[str, FileRow], hidden: Collection[str], sees: Callable[[Observation], bool]) -> None:
        """Hold these rows, by path, but for those whose id is hidden and those that are not seen.

        Rows held already cost next to nothing.
        """
        wanted = {path: row for path, row in rows.items() if row.observation.id not in hidden and sees(row.observation)}
        gone = [place for path, place in self._places.items() if wanted.get(path) is not self._rows[place].row]
        for place in gone:
            self._remove(place)
        if gone:
            self._ordered = [place for place in self._ordered if place in self._rows]
        new = [self._add(path, row) for path, row in wanted.items() if path not in self._places]
        if new:
            self._ordered += new
            self._ordered.sort()

    def _add(self, path: str, row: FileRow) -> Place:
        o, keys = row.observation, keys_of(row.observation)
        place = (keys.us, o.id, path)
        self._places[path] = place
        self._rows[place] = LooseRow(keys.us, o.id, row, keys)
        self._inside.setdefault(o.category, set()).add(place)
        if keys.span.begins is not None or keys.span.ends != FOREVER:
            self._bounded.add(place)
        for term in _terms(row, keys):
            self._having.setdefault(term, set()).add(place)
        return place

    def _remove(self, place: Place) -> None:
        found = self._rows.pop(place)
        del self._places[place[2]]
        self._bounded.discard(place)
        _discard(self._inside, found.row.observation.category, place)
        for term in _terms(found.row, found.keys):
            _discard(self._having, term, place)

    def matching(self, f: Filter, *, oldest_first: bool = False) -> Iterator[LooseRow]:
        """The rows that meet a filter, newest first unless asked otherwise."""
        places, asked = self._candidates(f), conditions(f)
        first = 0 if f.since_us is None else bisect_left(places, (f.since_us,))
        end = len(places) if f.before_us is None else bisect_left(places, (f.before_us,))
        within = range(first, end)
        for i in within if oldest_first else reversed(within):
            found = self._rows[places[i]]
            o, keys = found.row.observation, found.keys
            for holds in asked:
                if not holds(o, keys):
                    break
            else:
                yield found

    def not_holding(self, at_us: int) -> set[str]:
        """The ids of the rows that do not hold at an instant."""
        return {place[1] for place in self._bounded if not self._rows[place].keys.span.holds(at_us)}

    def attributes(self) -> set[str]:
        """The keys of the attributes that rows state."""
        return {key for name, key in self._having if name == "attribute"}

    def _candidates(self, f: Filter) -> Sequence[Place]:
        """Places in order, among them all that match: of the condition that the fewest rows meet."""
        groups: list[list[Collection[Place]]] = [[self._rows]]
        groups += ([self._having.get(("tags", key), _NONE)] for key in f.tags_all)
        for name in _LISTS:
            if values := getattr(f, name):
                groups.append([self._having.get((name, value), _NONE) for value in values])
        fewest = min(groups, key=_size)
        if f.category and _size(fewest) > len(self._inside):  # else going through the categories takes longer
            inside: list[Collection[Place]] = [
                held for name, held in self._inside.items() if any(glob.matches(name) for glob in f.category)
            ]
            fewest = min(fewest, inside, key=_size)
        return self._ordered if _size(fewest) * _FEW >= len(self) else sorted(set().union(*fewest))


def _size(group: Iterable[Collection[Place]]) -> int:
    return sum(map(len, group))


def _terms(row: FileRow, keys: Keys) -> list[Term]:
    """What lists of a filter may ask for and this row has."""
    o = row.observation
    held = (
        keys.tags,
        keys.names,
        keys.types,
        keys.relations,
        (o.kind,),
        (o.status,),
        (o.source_kind,),
        (keys.session,),
        (keys.speaker,),
        (o.scope or "",),
        (keys.attribute,) if keys.attribute else (),
    )
    return [(name, value) for name, values in zip(_LISTS, held, strict=True) for value in values if value is not None]


def _discard(held: dict[K, set[Place]], key: K, place: Place) -> None:
    held[key].discard(place)
    if not held[key]:
        del held[key]
