"""Sync: tell the ledger what people, git and other tools did to the files, and give files without an id one.

Knows nothing of how changes are found beyond asking the view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from grail_mem.errors import InputError
from grail_mem.model.observation import fingerprint
from grail_mem.model.problem import Problem
from grail_mem.model.times import format_time
from grail_mem.query.delta import Change
from grail_mem.query.view import View
from grail_mem.store.files import read_file, translated
from grail_mem.store.frontmatter_edit import edit
from grail_mem.store.frontmatter_read import parse
from grail_mem.store.ledger_line import Entry
from grail_mem.store.observation_file import FileRow, instant_in
from grail_mem.write.candidates import drop_decided
from grail_mem.write.secret_scan import problems_in
from grail_mem.write.staged import Placing, discard, make_durable, place, stage, staging, tell, writing
from grail_mem.write.sweep import sweep_heard

BATCH = 500


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync found and did.

    Attributes:
        n_files: Files looked at.
        adopted: Paths of files that are new.
        edited: Paths of files that say something else.
        moved: Pairs of former and present path.
        vanished: Paths of files that are gone.
        stamped: Paths of files that were given an id.
        problems: What could not be used, or not all of it.
        dry_run: Whether nothing was changed.
    """

    n_files: int = 0
    adopted: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    vanished: tuple[str, ...] = ()
    stamped: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    dry_run: bool = False

    @property
    def changed(self) -> bool:
        """Whether anything differed from what was known."""
        return bool(self.adopted or self.edited or self.moved or self.vanished or self.stamped)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "n_files": self.n_files, "adopted": list(self.adopted), "edited": list(self.edited),
            "moved": [list(pair) for pair in self.moved], "vanished": list(self.vanished),
            "stamped": list(self.stamped), "problems": [p.to_dict() for p in self.problems], "dry_run": self.dry_run,
        }  # fmt: skip


def sync(
    view: View,
    *,
    actor: str,
    stamp: bool | None = None,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Synced:
    """Look at every file and record what others did.

    Args:
        view: The store.
        actor: Who runs it.
        stamp: Write id and times into files without an id; None does as the settings say.
        dry_run: Only report.
        progress: Called with the number of files seen so far.
    """
    n_files = view.scan(whole=True, progress=progress)
    stamping = view.settings.stamp == "sync" if stamp is None else stamp
    if dry_run:
        return _report(view, n_files, view.unsynced(), stamped=_unstamped(view) if stamping else (), dry_run=True)
    with translated("record what changed", view.layout.root), writing(view):
        view.absorb()
        changes = view.unsynced()
        _tell(view, changes, actor)
        sweep_heard(view)
        drop_decided(view)
    stamped = _stamp(view, actor) if stamping else ()
    return _report(view, n_files, changes, stamped=stamped, dry_run=False, found=_screened(view, changes))


def _report(
    view: View,
    n_files: int,
    changes: Sequence[Change],
    *,
    stamped: Sequence[str],
    dry_run: bool,
    found: Sequence[Problem] = (),
) -> Synced:
    def paths(kind: str) -> tuple[str, ...]:
        return tuple(sorted(change.path for change in changes if change.kind == kind))

    moved = tuple(sorted((change.was, change.path) for change in changes if change.kind == "relocate"))
    return Synced(
        n_files,
        paths("adopt"),
        paths("edit"),
        moved,
        paths("vanish"),
        tuple(sorted(stamped)),
        (*view.problems(), *found),
        dry_run,
    )


def _screened(view: View, changes: Sequence[Change]) -> list[Problem]:
    """Secrets and orders in files that others wrote, which are told and left as they are."""
    if (view.settings.screening, view.settings.screening_orders) == ("off", "off"):
        return []
    wanted = {"secret": view.settings.screening != "off", "order": view.settings.screening_orders != "off"}
    found: list[Problem] = []
    for change in changes:
        if change.kind in ("adopt", "edit"):
            with suppress(OSError):  # gone again; the next sync tells
                text = read_file(view.layout.root / change.path)[0].decode(errors="replace")
                found += [replace(p, severity="warning") for p in problems_in(change.path, text) if wanted[p.code]]
    return found


def _tell(view: View, changes: Sequence[Change], actor: str) -> None:
    """Append one entry a change, durably."""
    if not changes:
        return
    at = format_time(datetime.now(UTC))
    entries = [_entry(change, at, actor) for change in changes]
    tell(view, entries)
    view.synced(changes)


def _entry(change: Change, at: str, actor: str) -> Entry:
    if change.row is None:
        return Entry(change.kind, change.id, change.path, at=at, actor=actor)
    o = change.row.observation
    times = ("", "") if change.row.has_id else (format_time(o.observed_at), format_time(o.recorded_at))
    return Entry(
        change.kind, change.id, change.path, was=change.was, digest=o.sha256, observed_at=times[0],
        recorded_at=times[1], fingerprint=f"{fingerprint(o):016x}", at=at, actor=actor,
    )  # fmt: skip


def _unstamped(view: View) -> tuple[str, ...]:
    return tuple(row.observation.path for row in _to_stamp(view))


def _to_stamp(view: View) -> list[FileRow]:
    """The rows whose file is given an id; not one whose frontmatter has no end, which would become text for good.

    Whoever closes it again finds the id that it had, and everything else that it said.
    """
    return [row for row in view.rows_without_id() if not _is_open(view, row)]


def _is_open(view: View, row: FileRow) -> bool:
    if not row.observation.content.startswith("---"):
        return False
    try:
        return not parse(read_file(view.layout.root / row.observation.path)[0]).has_frontmatter
    except (FileNotFoundError, InputError):  # it went or was edited meanwhile; the next sync looks at it
        return True


def _stamp(view: View, actor: str) -> tuple[str, ...]:
    """Write id and times into every file that carries no id, by an edit that touches nothing else."""
    rows = _to_stamp(view)
    stamped: list[str] = []
    for start in range(0, len(rows), BATCH):
        with staging(view.layout) as staging_fd, translated("write ids into files", view.layout.root), writing(view):
            view.catch_up()
            stamped += _stamp_some(view, rows[start : start + BATCH], staging_fd, actor)
    return tuple(stamped)


def _stamp_some(view: View, rows: Sequence[FileRow], staging_fd: int, actor: str) -> list[str]:
    ready: list[tuple[FileRow, bytes]] = []
    for row in rows:
        data, _ = read_file(view.layout.root / row.observation.path)
        if sha256(data).hexdigest() == row.observation.sha256:
            ready.append((row, edit(data, stamp_of(row, parse(data).fields))))
    names = stage(staging_fd, [data for _, data in ready])
    placings = [
        Placing(name, row.observation.path, data, _stamp_entry(row, data, actor), row.observation.sha256)
        for name, (row, data) in zip(names, ready, strict=True)
    ]
    try:
        place(view, placings, staging_fd)
    except Exception:
        discard(staging_fd, names)
        raise
    make_durable(view)
    return [placing.path for placing in placings]


def stamp_of(row: FileRow, stated: Mapping[str, object]) -> dict[str, Any]:
    """The frontmatter keys that a file without an id is given; what it states under one of them goes on under another name."""
    o = row.observation
    keys: dict[str, Any] = {"id": o.id, "recorded_at": format_time(o.recorded_at)}
    if not row.has_time:
        keys["observed_at"] = format_time(o.observed_at)
    unread = [key for key in keys if stated.get(key) and (key != "recorded_at" or not _is_time(stated[key]))]
    return keys | {f"stated_{key}": stated[key] for key in unread if f"stated_{key}" not in stated}


def _is_time(value: object) -> bool:
    return instant_in(str(value), "UTC") is not None


def _stamp_entry(row: FileRow, data: bytes, actor: str) -> Entry:
    o = replace(row.observation, sha256=sha256(data).hexdigest())
    return Entry(
        "stamp", o.id, o.path, digest=o.sha256, fingerprint=f"{fingerprint(o):016x}",
        at=format_time(datetime.now(UTC)), actor=actor,
    )  # fmt: skip
