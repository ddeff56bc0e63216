"""Export: observations as lines of JSON, each with the very bytes of its file, and what belongs to them; or in another format.

The first line says what follows, the last one holds a digest of all before it. Knows nothing of how they are read.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final, Protocol

from grail_mem.errors import InputError
from grail_mem.keep.exported import FORMAT, Exported, adopted_times, selected, sources_of
from grail_mem.keep.place import target_of, written_whole
from grail_mem.model.filter import Filter
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.ledger import history
from grail_mem.store.ledger_line import Entry
from grail_mem.write.edited import Edited

SUFFIXES: Final = {"jsonl": ".jsonl", "markdown": ".zip", "graphml": ".graphml", "parquet": ".parquet"}
"""How a file of each format ends."""
GRANTS: Final = ("grant", "revoke")


def export(
    view: View,
    out: Path | IO[bytes],
    f: Filter,
    *,
    form: str = "jsonl",
    force: bool = False,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Exported:
    """Write observations as lines of JSON, as the folder of their files in a zip, as a graph, or as a table.

    Lines without a condition are everything: what is hidden, the tombstones, the sources and the grants, too. With one, or
    for a session, and in the other formats, it is the observations that meet it and that may be read.

    Args:
        view: The store.
        out: The file, a folder in which it gets a name with the time, or a stream.
        f: The conditions.
        form: `jsonl`, `markdown`, `graphml` or `parquet`.
        force: Replace a file that is there.
        dry_run: Only count.
        progress: Called with how many observations are written.

    Raises:
        ConflictError: The file is there already.
        InputError: The file would lie inside the store, or the format is not known.
        StoreError: The disk did not take it; then there is no file.
    """
    if form not in SUFFIXES:
        raise InputError(f"{str(form)[:60]!r} is no format of exports.", hint=f"The formats are {', '.join(SUFFIXES)}.")
    writing = _writing(form, progress or (lambda _: None))
    if dry_run:
        return writing.run(view, f, _Nowhere(), path=str(out) if isinstance(out, Path) else "", dry_run=True)
    if not isinstance(out, Path):
        return writing.run(view, f, out)
    target = target_of(view.layout, out, suffix=SUFFIXES[form], force=force)
    with translated(f"write {target.name}", target), written_whole(target, force=force) as file:
        return writing.run(view, f, file, path=str(target))


class Writing(Protocol):
    """An export on its way, of one format."""

    def run(self, view: View, f: Filter, file: Any, *, path: str = "", dry_run: bool = False) -> Exported:
        """Write what meets the conditions into a file."""
        ...


def _writing(form: str, progress: Callable[[int], None]) -> Writing:
    if form == "jsonl":
        return _Writing(progress)
    from grail_mem.keep.export_graph import GraphWriting
    from grail_mem.keep.export_table import TableWriting
    from grail_mem.keep.export_zip import ZipWriting

    made: dict[str, Callable[[Callable[[int], None]], Writing]]
    made = {"markdown": ZipWriting, "graphml": GraphWriting, "parquet": TableWriting}
    return made[form](progress)


class _Nowhere:
    """Takes bytes and keeps none."""

    closed: Final = False

    def write(self, data: bytes) -> int:
        return len(memoryview(data))

    def flush(self) -> None:
        """Nothing is kept back."""


class _Writing:
    """An export on its way: what it counts, and the digest of its lines."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        self._progress = progress
        self._digest = sha256()
        self.counts: dict[str, Any] = dict.fromkeys(
            ("n_observations", "n_hidden", "n_tombstones", "n_sources", "n_grants"), 0
        )
        self.skipped: dict[str, str] = {}

    def run(self, view: View, f: Filter, file: Any, *, path: str = "", dry_run: bool = False) -> Exported:
        whole = view.access.principal is None and not f.conditions()
        self._put(file, {"type": "grail_export", "version": FORMAT, "notes": view.layout.notes, "whole": whole})
        if whole:
            for source, data in sources_of(view):
                said = {"type": "source", "path": source, **_bytes(data), "sha256": sha256(data).hexdigest()}
                self._put(file, said, "n_sources")
        for edited in selected(view, f, whole=whole, skipped=self.skipped):
            self._put(file, _record(edited), "n_observations")
            self.counts["n_hidden"] += edited.hidden
            self._progress(self.counts["n_observations"])
        for kind, record in _entries(view) if whole else ():
            self._put(file, record, kind)
        digest = self._digest.hexdigest()
        self._put(file, {"type": "end", **self.counts, "sha256": digest})
        return Exported(path, **self.counts, digest=digest, skipped=self.skipped, dry_run=dry_run)

    def _put(self, file: Any, record: Mapping[str, Any], kind: str = "") -> None:
        line = json.dumps(_plain(record), ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        self._digest.update(line)
        file.write(line)
        if kind:
            self.counts[kind] += 1


def _record(edited: Edited) -> dict[str, Any]:
    """One observation: its fields for whoever reads them, and the bytes of its file, which count."""
    record: dict[str, Any] = {"type": "observation", **edited.made.to_dict(), **_bytes(edited.old)}
    record["sha256"] = sha256(edited.old).hexdigest()
    if edited.hidden:
        record["hidden"] = True
    if times := adopted_times(edited):
        record["adopted"] = times
    return record


def _bytes(data: bytes) -> dict[str, str]:
    """Bytes as text where they are text."""
    try:
        return {"file": data.decode()}
    except UnicodeDecodeError:
        return {"file_base64": b64encode(data).decode()}


def _entries(view: View) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tombstones that hold, and what was granted and revoked, as the ledger has them."""
    latest: dict[str, Entry] = {}
    for entry in history(view.layout):
        if entry.action in GRANTS:
            yield (
                "n_grants",
                {"type": "grant", "action": entry.action, "id": entry.id, "at": entry.at, "actor": entry.actor,
                 "reason": entry.reason, "detail": entry.detail},
            )  # fmt: skip
        elif entry.action in ("hide", "restore"):
            latest[entry.id] = entry
    for id_, entry in sorted(latest.items()):
        if id_ in view.hidden:
            yield (
                "n_tombstones",
                {"type": "tombstone", "id": id_, "at": entry.at, "actor": entry.actor, "reason": entry.reason},
            )  # fmt: skip


def _plain(value: Any) -> Any:
    """A value as JSON has a form for it; those of a person's own frontmatter may have none."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)
