"""Rows that meet a filter: the snapshot's by SQL, the delta's by the rule itself, put together in one order.

Knows nothing of how a view keeps up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from grail_mem.model.filter import Filter, Page
from grail_mem.model.observation import Observation
from grail_mem.model.times import to_us
from grail_mem.query.view import View
from grail_mem.store.files import UNKNOWN_STATE, FileState, read_file, state_of
from grail_mem.store.scan import settled
from grail_mem.store.schema import observation_of, state_in

T = TypeVar("T")

_TRIES: Final = 3  # files that change as fast as they are read must not keep an answer waiting
_BY_TIME: Final = ("newest", "oldest")  # the orders in which the delta's rows lie already


class Row(NamedTuple):
    """One row of an answer: its place in the order, and the observation."""

    value: float
    us: int
    id: str
    observation: Observation


def select(view: View, f: Filter, page: Page) -> list[Row]:
    """The rows that match, in the page's order, at most one more than its limit.

    Every file behind a returned row is checked to be as it was read; a row that went stale is read anew.
    """
    return as_files_say(view, lambda: _select(view, f, page), lambda rows: [row.observation for row in rows])


def as_files_say(
    view: View, ask: Callable[[], tuple[T, dict[str, FileState]]], shown: Callable[[T], Sequence[Observation]]
) -> T:
    """An answer of which every observation is as its file says now; asked anew while it is not.

    Args:
        view: What is asked; it learns of the files that changed.
        ask: Gives an answer, and the states of the files of the snapshot's rows in it when they were read, by path.
        shown: The observations in an answer.
    """
    for _ in range(_TRIES):
        answer, states = ask()
        observations = shown(answer)
        stale = _stale(view, observations, states)
        if not stale:
            break
        gone = {path for path in stale if not os.path.lexists(view.layout.root / path)}
        if gone:
            view.lose(o.id for o in observations if o.path in gone)
        changes = view.look_at(stale)
        for change in changes:
            view.note(change)
        moved_since = [change.id for change in changes if change.kind == "vanish"]
        if moved_since:
            view.lose(moved_since)
    return answer


def _select(view: View, f: Filter, page: Page) -> tuple[list[Row], dict[str, FileState]]:
    limit = page.limit + 1
    rows: list[Row] = []
    states: dict[str, FileState] = {}
    base = view.live_base()
    for found in base.select(f, page, limit) if base else ():
        observation = observation_of(found.payload)
        rows.append(Row(found.value, found.us, observation.id, observation))
        states[observation.path] = state_in(found.payload)
    delta = list(islice(_matching(view, f, page), limit if page.order in _BY_TIME else None))
    if delta:
        rows = _in_order([*rows, *delta], page)
    return rows[:limit], states


def _matching(view: View, f: Filter, page: Page) -> Iterator[Row]:
    """The delta's rows that match and come after the page's place, newest first, or oldest first when so asked."""
    for us, id_, row, _ in view.loose().matching(f, oldest_first=page.order == "oldest"):
        found = Row(_value(page.order, row.observation, us), us, id_, row.observation)
        if _comes_after(found, page):
            yield found


def _stale(view: View, observations: Iterable[Observation], states: dict[str, FileState]) -> list[str]:
    """Paths of observations whose file is not as it was read."""
    stale: list[str] = []
    began_ns = time.time_ns()
    seen, root = view.delta.states, f"{view.layout.root}/"
    for o in observations:
        path = o.path
        try:
            now: FileState | None = state_of(os.lstat(root + path))
        except FileNotFoundError:
            now = None
        except OSError:
            continue
        expected = seen[path] if path in seen else states.get(path, UNKNOWN_STATE)
        if now == expected:
            continue
        if now is not None and expected == UNKNOWN_STATE and _same_bytes(view, o):
            seen[path] = settled(now, began_ns)
        else:
            stale.append(path)
    return stale


def _same_bytes(view: View, o: Observation) -> bool:
    """Whether a file that was read too soon after its last change still holds what was read."""
    try:
        data, _ = read_file(view.layout.root / o.path)
    except OSError:
        return False
    return sha256(data).hexdigest() == o.sha256


def count(view: View, f: Filter) -> int:
    """How many rows match."""
    base = view.live_base()
    return (base.count(f) if base else 0) + sum(1 for _ in view.loose().matching(f))


def _value(order: str, o: Observation, us: int) -> float:
    if order == "confidence":
        return o.confidence
    return to_us(o.recorded_at) if order == "recorded" else us


def _in_order(rows: list[Row], page: Page) -> list[Row]:
    if page.order == "oldest":
        return sorted(rows, key=lambda row: row[1:3])
    return sorted(rows, key=lambda row: row[:3], reverse=True)


def _comes_after(row: Row, page: Page) -> bool:
    after = page.after
    if after is None:
        return True
    if page.order == "oldest":
        return row[1:3] > (after.us, after.id)
    return row[:3] < (after.value, after.us, after.id)
