"""The history of a store: who did what to which observation, when and why, newest first; and whether it holds.

Knows nothing of how entries are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, islice
from typing import Any, Final, NamedTuple

from grail_mem.errors import InputError
from grail_mem.keep.owner import require_owner
from grail_mem.model.filter import Time
from grail_mem.model.problem import Gather, Problem
from grail_mem.model.scope import Access
from grail_mem.model.times import format_time, parse_when
from grail_mem.model.ulid import is_id
from grail_mem.query.find import locate_all
from grail_mem.query.view import View
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import about, chains, newest, read_chain
from grail_mem.store.ledger_line import Entry
from grail_mem.write.check import ledger_problems

MAX_LIMIT: Final = 100_000
_SEQ: Final = re.compile(r"[0-9]{1,16}")
_MOST_AT_ONCE: Final = 10**15
"""More entries than one chain has of one moment, and more than it has at all."""
_PAGE: Final = 200
"""Entries whose observations are looked up at a time for a caller who may not read everything."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A page of the history, newest first.

    Attributes:
        entries: The entries; for a caller who may not read everything without their numbers, which would tell how many
            others there are.
        cursor: Gives the next page; None when there is none.
    """

    entries: tuple[Entry, ...]
    cursor: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The page as plain JSON values."""
        return {"entries": [entry_dict(entry) for entry in self.entries], "cursor": self.cursor}


def entry_dict(entry: Entry) -> dict[str, Any]:
    """An entry as plain JSON values, without what is absent."""
    named = {
        "at": entry.at, "actor": entry.actor, "action": entry.action, "id": entry.id, "path": entry.path, "was": entry.was,
        "reason": entry.reason, "digest": entry.digest, "detail": _detail(entry.detail), "clone": entry.clone, "seq": entry.seq,
    }  # fmt: skip
    return {name: value for name, value in named.items() if value != ""}


def _detail(text: str) -> Any:
    try:
        return json.loads(text) if text else ""
    except (ValueError, RecursionError):
        return text


class _Wish(NamedTuple):
    """What is asked for, checked."""

    id: str | None
    actors: frozenset[str]
    actions: frozenset[str]
    since: str
    before: str
    limit: int
    after: tuple[str, str, int] | None


def log(
    view: View,
    *,
    id_: str | None = None,
    actor: str | Collection[str] | None = None,
    action: str | Collection[str] | None = None,
    since: Time | None = None,
    before: Time | None = None,
    limit: int = 50,
    cursor: str | None = None,
    now: datetime,
) -> Logged:
    """What was done, newest first.

    A caller who may not read everything is told of the observations that it may read now, and of nothing else.

    Args:
        view: The store.
        id_: Of this observation or proposal.
        actor: By any of these.
        action: Any of these, such as `update`.
        since: At or after.
        before: Before.
        limit: At most so many, 1 to 100000.
        cursor: Continues an earlier page.
        now: What relative times are counted from.

    Raises:
        InputError: A value cannot be used; `problems` lists every reason.
    """
    wish = _wish(id_, actor, action, since, before, limit, cursor, now=now, zone=view.settings.zone)
    every = newest(view.layout, wish.actions) if wish.id is None else reversed(about(view.layout, {wish.id}))
    wanted = (entry for entry in every if _is_wanted(entry, wish))
    sees_all = view.access.principal is None
    found = list(islice(wanted if sees_all else _counted(_allowed(view, wanted), wish.after), wish.limit + 1))
    more = len(found) > wish.limit
    page = tuple(found[: wish.limit])
    cursor = _cursor(page[-1]) if more else None
    return Logged(page if sees_all else tuple(replace(entry, seq=0) for entry in page), cursor)


def _is_wanted(entry: Entry, wish: _Wish) -> bool:
    return (
        (wish.id is None or entry.id == wish.id)
        and (not wish.actors or entry.actor in wish.actors)
        and (not wish.actions or entry.action in wish.actions)
        and (not wish.since or entry.at >= wish.since)
        and (not wish.before or entry.at < wish.before)
        and (wish.after is None or entry.order < wish.after)
    )


def _counted(entries: Iterable[Entry], after: tuple[str, str, int] | None) -> Iterator[Entry]:
    """Entries behind a place, numbered down among those of one time and chain that the caller may see.

    Their own numbers would tell how many there are that it may not see.
    """
    for _, some in groupby(entries, lambda entry: (entry.at, entry.clone)):
        for number, entry in enumerate(some):
            told = replace(entry, seq=_MOST_AT_ONCE - number)
            if after is None or told.order < after:
                yield told


def _allowed(view: View, entries: Iterable[Entry]) -> Iterable[Entry]:
    """The entries that the caller may see."""
    if view.access.principal is None:
        yield from entries
        return
    waiting: list[Entry] = []
    for entry in entries:
        waiting.append(entry)
        if len(waiting) == _PAGE:
            yield from _readable(view, waiting)
            waiting = []
    yield from _readable(view, waiting)


def _readable(view: View, entries: list[Entry]) -> list[Entry]:
    rows = locate_all(view, {entry.id for entry in entries if is_id(entry.id)})
    access: Access = view.access  # as it is now that the ledger was heard
    scopes = {id_: row.observation.scope for id_, row in rows.items() if id_ not in view.hidden}
    return [entry for entry in entries if entry.id in scopes and access.may("read", scopes[entry.id])]


def _wish(
    id_: object,
    actor: object,
    action: object,
    since: Any,
    before: Any,
    limit: object,
    cursor: object,
    *,
    now: datetime,
    zone: str,
) -> _Wish:
    gather = Gather()
    made = _Wish(
        gather.read("id", id_, _id, None),
        gather.read("actor", actor, _texts, frozenset()),
        gather.read("action", action, _texts, frozenset()),
        gather.read("since", since, _time(now, zone), ""),
        gather.read("before", before, _time(now, zone), ""),
        gather.read("limit", limit, _limit, 1),
        gather.read("cursor", cursor, _position, None),
    )
    gather.stop("The history cannot be listed.")
    return made


def _id(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{value!r} is no id.")
    return value.strip().upper() if is_id(value.strip().upper()) else value.strip()


def _texts(value: Any) -> frozenset[str]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple | set | frozenset) or not all(isinstance(item, str) for item in listed):
        raise InputError(f"{value!r} is no text or list of texts.")
    return frozenset(part.strip() for item in listed for part in item.split(",") if part.strip())


def _time(now: datetime, zone: str) -> Callable[[Any], str]:
    return lambda value: _ledger_time(parse_when(value, now=now, zone=zone))


def _ledger_time(time: datetime) -> str:
    """A time as lines have it: with a fraction, which sorts behind the same second without one."""
    return format_time(time).removesuffix("Z")


def _limit(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_LIMIT:
        raise InputError(f"must be a whole number from 1 to {MAX_LIMIT}, not {value!r}.")
    return value


def _cursor(entry: Entry) -> str:
    return f"{entry.at}/{entry.seq}/{entry.clone}"


def _position(value: Any) -> tuple[str, str, int]:
    parts = value.split("/", 2) if isinstance(value, str) else ()
    if len(parts) != 3 or not _SEQ.fullmatch(parts[1]):  # noqa: PLR2004  time, number, chain
        raise InputError("is none that an earlier page gave.")
    return parts[0], parts[2], int(parts[1])


@dataclass(frozen=True, slots=True)
class LedgerChecked:
    """Whether the ledger holds.

    Attributes:
        chains: Every chain: its name, how many lines it has, the number, the time and the digest of its last one.
        problems: What is wrong, each with its place and what to do.
    """

    chains: tuple[Mapping[str, Any], ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether every chain holds."""
        return all(problem.severity != "error" for problem in self.problems)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "ok": self.ok, "chains": [dict(chain) for chain in self.chains], "problems": [p.to_dict() for p in self.problems],
        }  # fmt: skip


def verify_ledger(view: View) -> LedgerChecked:
    """Read every chain of the ledger and look whether each line is what was written and follows the one before.

    Raises:
        AccessError: The caller is a session.
    """
    require_owner(view.access, "verify the ledger")
    return LedgerChecked(_ends(view.layout), tuple(ledger_problems(view.layout)))


def _ends(layout: Layout) -> tuple[dict[str, Any], ...]:
    ends = []
    for path in chains(layout):
        entries, head, _ = read_chain(path)
        ends.append({"clone": path.stem, "n": len(entries), "seq": head.seq, "at": head.at, "digest": head.digest})
    return tuple(ends)
