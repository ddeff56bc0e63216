"""What is exported, whatever the format: observations with the bytes of their files, sources, and what an export came to.

Knows nothing of how it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.keep.members import SOURCES, members
from grail_mem.model.filter import Filter, Page, Position
from grail_mem.model.times import format_time
from grail_mem.query.select import select
from grail_mem.query.view import View
from grail_mem.store.files import open_folder, read_file
from grail_mem.write.edited import Edited, read_all

FORMAT: Final = 1
_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds.

    Attributes:
        path: The file; empty when it went elsewhere.
        n_observations: Observations, those that are hidden included.
        n_hidden: Those that are hidden.
        n_tombstones: What says that an observation is hidden.
        n_sources: Files under `sources/`.
        n_grants: Entries that grant or revoke.
        n_entities: Entities, of a graph.
        n_relationships: Relationships, of a graph.
        digest: SHA-256 over all lines but the last, of lines.
        skipped: Paths that could not be read, each with the reason.
        dry_run: Whether nothing was written.
        format: `jsonl`, `markdown`, `graphml` or `parquet`.
    """

    path: str = ""
    n_observations: int = 0
    n_hidden: int = 0
    n_tombstones: int = 0
    n_sources: int = 0
    n_grants: int = 0
    n_entities: int = 0
    n_relationships: int = 0
    digest: str = ""
    skipped: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False
    format: str = "jsonl"

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "path": self.path, "format": self.format, "n_observations": self.n_observations, "n_hidden": self.n_hidden,
            "n_tombstones": self.n_tombstones, "n_sources": self.n_sources, "n_grants": self.n_grants,
            "n_entities": self.n_entities, "n_relationships": self.n_relationships, "digest": self.digest,
            "skipped": dict(self.skipped), "dry_run": self.dry_run,
        }  # fmt: skip


def selected(view: View, f: Filter, *, whole: bool, skipped: dict[str, str]) -> Iterator[Edited]:
    """The observations with the bytes of their files, by pages, newest first; those that are out of answers last.

    Args:
        view: The store.
        f: The conditions.
        whole: Whether those come, too, that are hidden or whose evidence is gone.
        skipped: Gets the paths of those that cannot be read, with the reasons.
    """
    view.refresh()
    seen: set[str] = set()
    after: Position | None = None
    while True:
        rows = select(view, f, Page(limit=_BATCH, order="newest", after=after))
        yield from _read(view, [row.observation.id for row in rows[:_BATCH]], seen, skipped)
        if len(rows) <= _BATCH:
            break
        after = Position(*rows[_BATCH - 1][:3])
    silent = sorted(view.silent - seen) if whole else []
    for start in range(0, len(silent), _BATCH):
        yield from _read(view, silent[start : start + _BATCH], seen, skipped)


def _read(view: View, ids: list[str], seen: set[str], skipped: dict[str, str]) -> Iterator[Edited]:
    wanted = [id_ for id_ in ids if id_ not in seen]
    seen.update(wanted)
    try:
        found = read_all(view, wanted)
    except OSError:  # one of them cannot be read: which one is found out one by one
        found = {}
        for id_ in wanted:
            try:
                found |= read_all(view, [id_])
            except OSError as error:
                skipped[view.paths_of([id_]).get(id_, id_)] = str(error)
    for edited in found.values():
        if view.access.may("read", edited.made.scope):
            yield edited


def adopted_times(edited: Edited) -> dict[str, str]:
    """The times that the file of an observation does not tell; none when it tells its id."""
    if edited.row is None or edited.row.has_id:
        return {}
    return {"observed_at": format_time(edited.made.observed_at), "recorded_at": format_time(edited.made.recorded_at)}


def sources_of(view: View) -> Iterator[tuple[str, bytes]]:
    """The files under `sources/` by their paths, with their bytes."""
    for member in members(view.layout).files:
        if member.path.startswith(f"{SOURCES}/"):
            folder, _, name = member.path.rpartition("/")
            try:
                with open_folder(view.layout.root, folder) as (descriptor, _):
                    data, _ = read_file(name, dir_fd=descriptor)
            except (FileNotFoundError, InputError):
                continue
            yield member.path, data
