"""The delta: what files say now where that differs from the snapshot, and which rows of the snapshot no longer count.

Plain values in memory, changed by looking at files; knows nothing of DuckDB. One way in for every change: a path is
looked at, and its file decides.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

from grail_mem.errors import InputError
from grail_mem.model.problem import Problem
from grail_mem.model.times import format_time, from_us
from grail_mem.model.ulid import derived_id
from grail_mem.store.files import FileState, read_file
from grail_mem.store.layout import Layout
from grail_mem.store.observation_file import Adopted, FileRow, instant_in, read_observation
from grail_mem.store.receipt import Receipt, Receipts
from grail_mem.store.scan import settled


class BaseRow(NamedTuple):
    """What the delta needs to know of a row of the snapshot."""

    rid: int
    id: str
    path: str
    sha256: str
    state: FileState
    has_id: bool
    observed_us: int
    recorded_us: int


class Base(Protocol):
    """The rows below the delta.

    Attributes:
        came_first: Whether its rows were known before the files that are looked at now, and so keep their ids.
    """

    came_first: bool

    def by_path(self, paths: Collection[str]) -> dict[str, BaseRow]:
        """Rows by path, those that no longer count included."""
        ...

    def by_id(self, ids: Collection[str]) -> dict[str, BaseRow]:
        """Rows by id, those that no longer count included."""
        ...


Kind = Literal["adopt", "edit", "relocate", "vanish"]


@dataclass(frozen=True, slots=True)
class Change:
    """What somebody else did to a file, found by looking: the ledger has not heard of it."""

    kind: Kind
    id: str
    path: str
    was: str = ""
    row: FileRow | None = None


@dataclass(slots=True)
class Delta:
    """Rows by path, dead rows of the snapshot, and what was seen of each file looked at.

    Attributes:
        rows: What files say that the snapshot does not hold.
        dead: Row numbers of the snapshot that no longer count.
        states: Every path looked at and its state; None when the file is gone.
        problems: By path, why a file is not used or which of its fields are not.
        version: Moves with every change of rows or dead rows.
    """

    rows: dict[str, FileRow] = field(default_factory=dict)
    dead: set[int] = field(default_factory=set)
    states: dict[str, FileState | None] = field(default_factory=dict)
    problems: dict[str, tuple[Problem, ...]] = field(default_factory=dict)
    version: int = 0


TORN: Final = "torn_file"
UNREADABLE: Final = "unreadable_file"
DUPLICATE: Final = "duplicate_id"
CAME_BACK: Final = "erased_came_back"


def look(
    delta: Delta,
    base: Base,
    layout: Layout,
    paths: Collection[str],
    *,
    zone: str,
    adopted: Mapping[str, Adopted],
    owners: Mapping[str, str],
    told: Mapping[str, tuple[str, str]],
    receipts: Receipts,
    progress: Callable[[int], None] | None = None,
) -> list[Change]:
    """Look at files and let what they say now count.

    Args:
        delta: Changed in place.
        base: The snapshot below it.
        layout: Where the store is.
        paths: Files to look at, whether they exist or not.
        zone: IANA zone of times without an offset.
        adopted: By path, what the ledger says of files that carry no id.
        owners: By id, the path that the ledger last named; decides when two files carry one id.
        told: By path, the id and the digest that the ledger told last; such a file was let in when it was written.
        receipts: What was erased and does not come back.
        progress: Called with the number of files looked at, every now and then.

    Returns:
        What differs from what was known, one change a file.
    """
    disputed = {path for path, found in delta.problems.items() if any(p.code == DUPLICATE for p in found)}
    wanted = sorted({*paths, *disputed})
    before = base.by_path(wanted)
    old = {path: _known(delta, before, path) for path in wanted}
    links: dict[str, bool] = {}
    for number, path in enumerate(wanted, start=1):
        if _is_below_link(layout.root, path.rpartition("/")[0], links):
            delta.problems[path] = (_unreadable(path, OSError(errno.ELOOP, "a folder on the way to it is a link")),)
        else:
            _look_at(
                delta, before.get(path), layout, path, zone, adopted.get(path), told.get(path, ("", ""))[1], receipts
            )
        if progress and number % 500 == 0:
            progress(number)
    _follow_moves(delta, wanted, old)
    left = _follow_heard_moves(delta, layout.root, wanted, old, adopted, zone)
    left |= _settle_ids(delta, base, layout, wanted, zone, owners)
    delta.version += 1
    return _changes(delta, wanted, old, left)


def _category(layout: Layout, path: str) -> str:
    return layout.category_of(path.rpartition("/")[0])


def _is_below_link(root: Path, folder: str, known: dict[str, bool]) -> bool:
    """Whether a folder or one above it, below the root, is a link: what lies behind it is not of this store."""
    if not folder:
        return False
    if folder not in known:
        known[folder] = _is_below_link(root, folder.rpartition("/")[0], known) or os.path.islink(root / folder)
    return known[folder]


def _known(delta: Delta, before: Mapping[str, BaseRow], path: str) -> BaseRow | FileRow | None:
    if path in delta.rows:
        return delta.rows[path]
    row = before.get(path)
    return row if row is not None and row.rid not in delta.dead else None


def _look_at(
    delta: Delta,
    before: BaseRow | None,
    layout: Layout,
    path: str,
    zone: str,
    adopted: Adopted | None,
    told: str,
    receipts: Receipts,
) -> None:
    delta.problems.pop(path, None)
    began_ns = time.time_ns()
    try:
        data, state = read_file(f"{layout.root}/{path}")
    except (FileNotFoundError, NotADirectoryError):
        delta.states[path] = None
        _drop(delta, before, path)
        return
    except OSError as error:
        delta.problems[path] = (_unreadable(path, error),)
        return
    delta.states[path] = settled(state, began_ns)
    if before is not None and not adopted and not before.has_id:
        adopted = adopted_as(before)
    try:
        row = read_observation(data, path, _category(layout, path), state, zone=zone, adopted=adopted)
    except InputError as error:
        delta.problems[path] = (_unusable(path, error, data),)
        if data.strip(b"\0"):  # an empty file is a torn write, not what somebody wrote: what was known stays
            _drop(delta, before, path)
        return
    if _is_refused(delta, before, row, path, told, receipts):
        return
    if row.problems:
        delta.problems[path] = row.problems
    if before is not None and row.observation.sha256 == before.sha256 and row.observation.id == before.id:
        delta.rows.pop(path, None)
        delta.dead.discard(before.rid)
        return
    known = delta.rows.get(path)
    _drop(delta, before, path)
    if not adopted:
        row = _still(known, row)
    delta.rows[path] = replace(row, state=delta.states[path] or row.state)


def _digests(delta: Delta, before: BaseRow | None, path: str) -> Iterable[str]:
    """Digests of the bytes with which a file counts already."""
    known = delta.rows.get(path)
    return (*((known.observation.sha256,) if known else ()), *((before.sha256,) if before else ()))


def _is_refused(delta: Delta, before: BaseRow | None, row: FileRow, path: str, told: str, receipts: Receipts) -> bool:
    """Keep a file out whose id was erased, or that somebody else than grail_mem wrote and that says what was erased."""
    if not len(receipts):
        return False
    o = row.observation
    receipt = receipts.get(o.id)
    if receipt is None and o.sha256 not in (told, *_digests(delta, before, path)):
        receipt = receipts.of(o.title, o.content, o.scope)
    if receipt is None:
        return False
    delta.problems[path] = (_came_back(path, receipt),)
    _drop(delta, before, path)
    return True


def _came_back(path: str, receipt: Receipt) -> Problem:
    return Problem(
        CAME_BACK, f"this was erased as {receipt.id} on {receipt.at[:10]} and came back; it is not used", path,
        remedy="delete the file; to remember it on purpose, add the same text anew with `grail add --again`, then delete it",
    )  # fmt: skip


def _still(known: FileRow | None, row: FileRow) -> FileRow:
    """The row with the id it was known by, which it may have had under another name, as long as its bytes are the same."""
    if known is None or known.has_id or row.has_id or _sha(known) != _sha(row):
        return row
    return _renamed(row, known)


def _drop(delta: Delta, before: BaseRow | None, path: str) -> None:
    delta.rows.pop(path, None)
    if before is not None:
        delta.dead.add(before.rid)


def adopted_as(before: BaseRow) -> Adopted:
    """What a row of the snapshot keeps for a file that does not carry it itself."""
    return Adopted(before.id, format_time(from_us(before.observed_us)), format_time(from_us(before.recorded_us)))


def _unreadable(path: str, error: OSError) -> Problem:
    return Problem(
        UNREADABLE, f"the file cannot be read ({error.strerror}); what was known of it is kept", path,
        remedy="give back the right to read it, then run `grail sync`",
    )  # fmt: skip


def _unusable(path: str, error: InputError, data: bytes) -> Problem:
    line = getattr(error, "line", 0) or 0
    if not data.strip(b"\0"):
        return Problem(
            TORN, "the file is empty: a write was cut off here", path,
            remedy="take it from git or a backup, or delete it",
        )  # fmt: skip
    return Problem("unusable_file", error.message, path, line, getattr(error, "remedy", "") or error.hint)


def _follow_moves(delta: Delta, paths: Iterable[str], old: Mapping[str, BaseRow | FileRow | None]) -> None:
    """Give a file without an id of its own back the id it had under its former name, told by its bytes."""
    gone = {
        _sha(known): known for path in paths if (known := old[path]) is not None and delta.states.get(path, 0) is None
    }
    if not gone:
        return
    for path in paths:
        row = delta.rows.get(path)
        if row is not None and not row.has_id and old[path] is None and row.observation.sha256 in gone:
            former = gone.pop(row.observation.sha256)
            delta.rows[path] = _renamed(row, former)


def _follow_heard_moves(
    delta: Delta,
    root: Path,
    paths: Iterable[str],
    old: Mapping[str, BaseRow | FileRow | None],
    adopted: Mapping[str, Adopted],
    zone: str,
) -> dict[str, str]:
    """The same for a former name of which only the ledger tells: its file was gone when this process began to look.

    Returns:
        By id, the former path.
    """
    new = {
        path: row.observation.sha256
        for path in paths
        if (row := delta.rows.get(path)) is not None and not row.has_id and old[path] is None and path not in adopted
        and row.observation.id == derived_id(path, row.observation.sha256)
    }  # fmt: skip
    if not new:
        return {}
    digests, claimed = set(new.values()), {row.observation.id for row in delta.rows.values()}
    heard = {
        word.sha256: (path, word)
        for path, word in adopted.items()
        if word.sha256 in digests and word.id not in claimed and not os.path.lexists(f"{root}/{path}")
    }
    left: dict[str, str] = {}
    for path, digest in new.items():
        former, word = heard.pop(digest, ("", None))
        if word is None:
            continue
        row = delta.rows[path]
        left[word.id] = former
        o = row.observation
        observed, recorded = instant_in(word.observed_at, zone), instant_in(word.recorded_at, zone)
        named = replace(o, id=word.id, observed_at=observed or o.observed_at, recorded_at=recorded or o.recorded_at)
        delta.rows[path] = replace(row, observation=named)
    return left


def _sha(known: BaseRow | FileRow) -> str:
    return known.sha256 if isinstance(known, BaseRow) else known.observation.sha256


def _id(known: BaseRow | FileRow) -> str:
    return known.id if isinstance(known, BaseRow) else known.observation.id


def _renamed(row: FileRow, known: BaseRow | FileRow) -> FileRow:
    """A row with the id and times that it had under its former name."""
    if isinstance(known, BaseRow):
        id_, observed_at, recorded_at = known.id, from_us(known.observed_us), from_us(known.recorded_us)
    else:
        o = known.observation
        id_, observed_at, recorded_at = o.id, o.observed_at, o.recorded_at
    made = replace(row.observation, id=id_, observed_at=observed_at, recorded_at=recorded_at)
    return replace(row, observation=made)


def _settle_ids(
    delta: Delta, base: Base, layout: Layout, paths: Collection[str], zone: str, owners: Mapping[str, str]
) -> dict[str, str]:
    """Let each id belong to one file: the one the ledger named last, else the first by path; others get derived ids.

    Returns:
        By id, the former path of files that turned out to be gone.
    """
    ids = {row.observation.id for path in paths if (row := delta.rows.get(path)) is not None}
    claims: dict[str, list[str]] = {}
    for path, row in delta.rows.items():
        if row.observation.id in ids:
            claims.setdefault(row.observation.id, []).append(path)
    left: dict[str, str] = {}
    below: dict[str, BaseRow] = {}
    for id_, known in (base.by_id(ids) if ids else {}).items():
        if known.rid in delta.dead or known.path in delta.rows:
            continue
        if os.path.lexists(layout.root / known.path):
            claims[id_].append(known.path)
            below[known.path] = known
        else:
            delta.dead.add(known.rid)
            delta.states[known.path] = None
            left[id_] = known.path
    for id_, claimants in claims.items():
        if len(claimants) > 1:
            named = [path for path in claimants if path == owners.get(id_)]
            earlier = [path for path in claimants if path in below] if base.came_first else []
            owner = min(named or earlier or claimants)
            for path in claimants:
                if path != owner:
                    _yield_id(delta, below.get(path), layout, path, zone, id_, owner)
    return left


def _yield_id(delta: Delta, below: BaseRow | None, layout: Layout, path: str, zone: str, id_: str, owner: str) -> None:
    if below is not None:
        began_ns = time.time_ns()
        data, state = read_file(layout.root / path)
        delta.rows[path] = read_observation(data, path, _category(layout, path), state, zone=zone)
        delta.states[path] = settled(state, began_ns)
        delta.dead.add(below.rid)
    row = delta.rows[path]
    o = row.observation
    delta.rows[path] = replace(row, observation=replace(o, id=derived_id(path, o.sha256)), has_id=False)
    problem = Problem(
        DUPLICATE, f"id {id_} belongs to {owner}", path,
        remedy="remove the id line to keep both, or delete one of the files", severity="warning",
    )  # fmt: skip
    delta.problems[path] = (*delta.problems.get(path, ()), problem)


def _changes(
    delta: Delta, paths: Iterable[str], old: Mapping[str, BaseRow | FileRow | None], left: Mapping[str, str]
) -> list[Change]:
    changes: list[Change] = []
    gone = dict(left)
    gone |= {
        _id(known): path for path in paths if (known := old[path]) is not None and delta.states.get(path, 0) is None
    }
    for path in paths:
        row, known = delta.rows.get(path), old[path]
        if row is None:
            continue
        id_ = row.observation.id
        if known is not None and _id(known) == id_:
            if _sha(known) != row.observation.sha256:
                changes.append(Change("edit", id_, path, row=row))
        elif id_ in gone:
            changes.append(Change("relocate", id_, path, was=gone.pop(id_), row=row))
        else:
            changes.append(Change("adopt", id_, path, row=row))
    changes += [Change("vanish", id_, path) for id_, path in gone.items()]
    return changes
