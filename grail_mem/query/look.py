"""Looking at files: what each says now is let into the delta, and what differs from what was known comes out as changes.

One way in for every change: a path is looked at, and its file decides. Knows nothing of why a path is looked at.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from grail_mem.errors import InputError
from grail_mem.model.problem import Problem
from grail_mem.query.claims import DUPLICATE, follow_heard_moves, follow_moves, renamed, settle_ids
from grail_mem.query.delta import Base, BaseRow, Change, Delta, Known, adopted_as, digest_of, id_of
from grail_mem.store.files import read_file
from grail_mem.store.layout import Layout
from grail_mem.store.observation_file import Adopted, FileRow, read_observation
from grail_mem.store.receipt import Receipt, Receipts
from grail_mem.store.scan import settled

TORN: Final = "torn_file"
UNREADABLE: Final = "unreadable_file"
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
    follow_moves(delta, wanted, old)
    left = follow_heard_moves(delta, layout.root, wanted, old, adopted, zone)
    left |= settle_ids(delta, base, layout, old, zone, owners)
    delta.moved()
    return _changes(delta, wanted, old, left)


def _is_below_link(root: Path, folder: str, known: dict[str, bool]) -> bool:
    """Whether a folder or one above it, below the root, is a link: what lies behind it is not of this store."""
    if not folder:
        return False
    if folder not in known:
        known[folder] = _is_below_link(root, folder.rpartition("/")[0], known) or os.path.islink(root / folder)
    return known[folder]


def _known(delta: Delta, before: Mapping[str, BaseRow], path: str) -> Known | None:
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
        row = read_observation(
            data, path, layout.category_of(path.rpartition("/")[0]), state, zone=zone, adopted=adopted
        )
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
    if known is None or known.has_id or row.has_id or digest_of(known) != digest_of(row):
        return row
    return renamed(row, known)


def _drop(delta: Delta, before: BaseRow | None, path: str) -> None:
    delta.rows.pop(path, None)
    if before is not None:
        delta.dead.add(before.rid)


def _unreadable(path: str, error: OSError) -> Problem:
    return Problem(
        UNREADABLE, f"the file cannot be read ({error.strerror}); what was known of it is kept", path,
        remedy="put a file itself there" if error.errno == errno.EINVAL else "give back the right to read it, then run `grail sync`",
    )  # fmt: skip


def _unusable(path: str, error: InputError, data: bytes) -> Problem:
    line = getattr(error, "line", 0) or 0
    if not data.strip(b"\0"):
        return Problem(
            TORN, "the file is empty: a write was cut off here", path,
            remedy="take it from git or a backup, or delete it",
        )  # fmt: skip
    return Problem("unusable_file", error.message, path, line, getattr(error, "remedy", "") or error.hint)


def _changes(
    delta: Delta, paths: Iterable[str], old: Mapping[str, Known | None], left: Mapping[str, str]
) -> list[Change]:
    changes: list[Change] = []
    gone = dict(left)
    gone |= {
        id_of(known): path for path in paths if (known := old[path]) is not None and delta.states.get(path, 0) is None
    }
    for path in paths:
        row, known = delta.rows.get(path), old[path]
        if row is None:
            continue
        id_ = row.observation.id
        if known is not None and id_of(known) == id_:
            if digest_of(known) != row.observation.sha256:
                changes.append(Change("edit", id_, path, row=row))
        elif id_ in gone:
            changes.append(Change("relocate", id_, path, was=gone.pop(id_), row=row))
        else:
            changes.append(Change("adopt", id_, path, row=row))
    changes += [Change("vanish", id_, path) for id_, path in gone.items()]
    return changes
