"""Which id a file has that carries none or carries one that another file claims, among all files of the delta.

Knows nothing of how a file is read the first time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from grail_mem.model.problem import Problem
from grail_mem.model.times import from_us
from grail_mem.model.ulid import derived_id
from grail_mem.query.delta import Base, BaseRow, Delta, Known, digest_of, id_of
from grail_mem.store.files import read_file
from grail_mem.store.layout import Layout
from grail_mem.store.observation_file import Adopted, FileRow, instant_in, read_observation
from grail_mem.store.scan import settled

DUPLICATE: Final = "duplicate_id"


def follow_moves(delta: Delta, paths: Iterable[str], old: Mapping[str, Known | None]) -> None:
    """Give a file without an id of its own back the id it had under its former name, told by its bytes."""
    gone = {
        digest_of(known): known
        for path in paths
        if (known := old[path]) is not None and delta.states.get(path, 0) is None
    }
    if not gone:
        return
    for path in paths:
        row = delta.rows.get(path)
        if row is not None and not row.has_id and old[path] is None and row.observation.sha256 in gone:
            former = gone.pop(row.observation.sha256)
            delta.rows[path] = renamed(row, former)


def follow_heard_moves(
    delta: Delta,
    root: Path,
    paths: Iterable[str],
    old: Mapping[str, Known | None],
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


def settle_ids(
    delta: Delta, base: Base, layout: Layout, old: Mapping[str, Known | None], zone: str, owners: Mapping[str, str]
) -> dict[str, str]:
    """Let each id belong to one file: the one the ledger named last, else the one that had it, else the first by path.

    Others get derived ids. An edit of the file that has an id does not hand it to a copy.

    Args:
        delta: What is known beside the snapshot, the files looked at as they are now.
        base: The snapshot.
        layout: The store.
        old: The files looked at, as they were known before.
        zone: IANA name of the zone of times without one.
        owners: By id, the path that the ledger named last.

    Returns:
        By id, the former path of files that turned out to be gone.
    """
    ids = {row.observation.id for path in old if (row := delta.rows.get(path)) is not None}
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
            had = [path for path in claimants if _had(path, id_, old, below, came_first=base.came_first)]
            owner = min(named or had or claimants)
            for path in claimants:
                if path != owner:
                    _yield_id(delta, below.get(path), layout, path, zone, id_, owner)
    return left


def _had(
    path: str, id_: str, old: Mapping[str, Known | None], below: Mapping[str, BaseRow], *, came_first: bool
) -> bool:
    """Whether a file that claims an id had it before files were looked at; one of the delta that was not looked at has it."""
    if path in old:
        return (before := old[path]) is not None and id_of(before) == id_
    return came_first or path not in below


def _yield_id(delta: Delta, below: BaseRow | None, layout: Layout, path: str, zone: str, id_: str, owner: str) -> None:
    if below is not None:
        began_ns = time.time_ns()
        data, state = read_file(layout.root / path)
        delta.rows[path] = read_observation(data, path, layout.category_of(path.rpartition("/")[0]), state, zone=zone)
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


def renamed(row: FileRow, known: Known) -> FileRow:
    """A row with the id and times that it had under its former name."""
    if isinstance(known, BaseRow):
        id_, observed_at, recorded_at = known.id, from_us(known.observed_us), from_us(known.recorded_us)
    else:
        o = known.observation
        id_, observed_at, recorded_at = o.id, o.observed_at, o.recorded_at
    made = replace(row.observation, id=id_, observed_at=observed_at, recorded_at=recorded_at)
    return replace(row, observation=made)
