"""The catalog: the segments on disk that together hold the rows of snapshots, and how they keep up with them.

Derived and disposable: what the catalog lacks is indexed in memory by whoever asks. Knows nothing of the delta.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from grail_mem.errors import IndexUnusableError
from grail_mem.index import document as documents
from grail_mem.index import passages, tokens, traits
from grail_mem.index.placed import drop_placed, load_placed, placed, save_placed
from grail_mem.index.rows import documents_of_rows, matched
from grail_mem.index.segment import Segment, indexed, load_segment, merged, save_segment, segment_of
from grail_mem.query.view import View
from grail_mem.store.files import FOLDER_MODE, replace_file, translated
from grail_mem.store.layout import Layout
from grail_mem.store.lock import exclusive

if TYPE_CHECKING:
    import numpy as np

VERSION: Final = 1
LOCK: Final = "index.lock"
_CATALOG: Final = "catalog.json"
_BATCH: Final = 5_000
"""Documents that are held in memory at a time while segments are made; chosen, about 100 MB."""
_GROWTH: Final = 4
"""A segment is merged with its neighbour unless that one has so many times its documents; chosen: each document is
written about log4(N) times."""
_DEAD_SHARE: Final = 0.25
"""Of the documents of a segment, those that may have gone before it is made anew; chosen."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What bringing the index up to date did.

    Attributes:
        n_documents: Observations of the snapshot that it holds now.
        n_added: Those that were added.
        n_segments: Segments it consists of.
        n_embedded: Passages of which vectors were made.
        model: By which embedder; `none` for none.
    """

    n_documents: int
    n_added: int
    n_segments: int
    n_embedded: int = 0
    model: str = "none"

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def identity() -> dict[str, int]:
    """What a segment is made by; one made by anything else is not used."""
    return {
        "version": VERSION, "tokens": tokens.VERSION, "passages": passages.VERSION, "document": documents.VERSION,
        "traits": traits.VERSION,
    }  # fmt: skip


def load_catalog(layout: Layout) -> dict[str, Segment]:
    """The segments that count now, by name; none when there is no catalog or it was made by other versions.

    Raises:
        IndexUnusableError: A file of it is damaged.
    """
    while True:
        names = _names(layout)
        try:
            return {name: load_segment(layout.index / name) for name in names}
        except Exception:
            if names == _names(layout):  # else another process made one of many meanwhile
                raise


def _names(layout: Layout) -> list[str]:
    try:
        said = json.loads((layout.index / _CATALOG).read_bytes())
        names = [str(name) for name in said["segments"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return names if said.get("identity") == identity() else []


def has_catalog(layout: Layout) -> bool:
    """Whether somebody had the snapshot indexed: who never searches pays nothing for it."""
    return (layout.index / _CATALOG).is_file()


def update_catalog(view: View, *, progress: Callable[[str, int, int], None] | None = None) -> Indexed:
    """Take the rows of the view's snapshot that no segment holds into a new one, and merge small segments.

    Args:
        view: The store; its snapshot counts, not its delta.
        progress: Called with what is being done, how much of it is done, and how much there is.
    """
    layout = view.layout
    with translated("write the search index", layout.root), exclusive(layout.local / LOCK):
        layout.index.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        usable = _usable(layout)
        names, held = list(usable), list(usable.values())
        reader = view.live_base()
        if reader is None or not (layout.snapshots / view.manifest.name).is_dir():  # replaced, perhaps to forget
            return Indexed(0, 0, 0)
        keys, us = reader.keys_and_times()
        row, missing = matched([segment.said.key for segment in held], keys)
        groups = [
            _Group(name, segment, kept) for name, segment, kept in zip(names, held, _split(row >= 0, held), strict=True)
        ]
        for start in range(0, len(missing), _BATCH):
            chosen = [int(rid) for rid in missing[start : start + _BATCH]]
            made = segment_of(documents_of_rows(view, chosen))
            groups.append(_Group("", made, None))
            if progress:
                progress("indexing", start + len(chosen), len(missing))
        groups = [group for group in groups if group.n_kept]
        groups = [
            some[0] if len(some) == 1 and not some[0].is_sparse else _Group("", _merge(some), None)
            for some in _together(groups)
        ]
        names = [group.name or _saved(layout, group.segment) for group in groups]
        replace_file(layout.index / _CATALOG, json.dumps({"identity": identity(), "segments": names}).encode())
        _place(view, dict(zip(names, (group.segment for group in groups), strict=True)), keys, us)
        _remove_others(layout, names)
        return Indexed(sum(group.n_kept for group in groups), len(missing), len(groups))


def follow_snapshot(view: View) -> None:
    """Index what a compaction took in and where it stands now, in a store whose search index somebody began."""
    if has_catalog(view.layout):
        view.absorb()
        update_catalog(view)


def remake_catalog(view: View, *, progress: Callable[[str, int, int], None] | None = None) -> Indexed:
    """Make every segment anew from the view's snapshot, whatever is there."""
    with (
        translated("write the search index", view.layout.root),
        exclusive(view.layout.local / LOCK),
        suppress(FileNotFoundError),
    ):
        os.unlink(view.layout.index / _CATALOG)
    return update_catalog(view, progress=progress)


@dataclass(frozen=True, slots=True)
class Held:
    """What segments hold of the rows that are left.

    Attributes:
        kept: By segment, which of its documents are such rows, bool.
        segments: The segments, by name.
        missing: Rows of the snapshot that no segment holds.
    """

    kept: tuple[np.ndarray, ...]
    segments: dict[str, Segment]
    missing: tuple[int, ...]

    @property
    def stale(self) -> list[str]:
        """Segments with documents that are not left."""
        return [name for name, kept in zip(self.segments, self.kept, strict=True) if not kept.all()]


def held(view: View, without: Collection[str] = ()) -> Held:
    """Which documents are rows of the view's snapshot that count, without those of some ids."""
    import numpy as np

    usable = _usable(view.layout)
    reader = view.reader
    if reader is None:
        return Held(tuple(np.zeros(s.n_documents, bool) for s in usable.values()), usable, ())
    keys, _ = reader.keys_and_times()
    left = np.ones(len(keys) + 1, bool)  # the last stands for documents that are no row
    left[[*view.delta.dead, *(row.rid for row in reader.by_id(without).values()), len(keys)]] = False
    row, missing = matched([segment.said.key for segment in usable.values()], keys)
    kept = left[row]
    return Held(tuple(_split(kept, list(usable.values()))), usable, tuple(rid for rid in missing.tolist() if left[rid]))


def purge_catalog(view: View) -> None:
    """Make segments anew without the documents that are no rows of the view's snapshot, and remove every other file."""
    layout = view.layout
    if not layout.index.is_dir():
        return
    with translated("write the search index", layout.root), exclusive(layout.local / LOCK):
        was = held(view)
        if has_catalog(layout):
            groups = [_Group(n, s, k) for (n, s), k in zip(was.segments.items(), was.kept, strict=True)]
            names = [
                group.name if group.n_kept == group.segment.n_documents else _saved(layout, _merge([group]))
                for group in groups
                if group.n_kept
            ]
            replace_file(layout.index / _CATALOG, json.dumps({"identity": identity(), "segments": names}).encode())
            if view.reader is not None:
                _place(view, load_catalog(layout), *view.reader.keys_and_times())
        else:
            names = []
            drop_placed(layout)
        for path in layout.index.iterdir():
            if (path.name.isdigit() and path.name not in names) or path.name == "draft":
                shutil.rmtree(path)


def _place(view: View, segments: dict[str, Segment], keys: np.ndarray, us: np.ndarray) -> None:
    """Write down where the documents stand in the view's snapshot, unless it is there."""
    if load_placed(view.layout, view.manifest, segments) is None:
        save_placed(view.layout, view.manifest, segments, placed(list(segments.values()), keys, us))


def _usable(layout: Layout) -> dict[str, Segment]:
    """The segments that count, by name, without the damaged ones: their rows are indexed again."""
    found: dict[str, Segment] = {}
    for name in _names(layout):
        with suppress(IndexUnusableError):
            found[name] = load_segment(layout.index / name)
    return found


@dataclass(frozen=True, slots=True)
class _Group:
    """A segment, its name when it is on disk, and which of its documents still are rows; None for all."""

    name: str
    segment: Segment
    kept: np.ndarray | None

    @property
    def n_kept(self) -> int:
        return self.segment.n_documents if self.kept is None else int(self.kept.sum())

    @property
    def is_sparse(self) -> bool:
        return self.n_kept < self.segment.n_documents * (1 - _DEAD_SHARE)


def _split(kept: np.ndarray, held: Sequence[Segment]) -> list[np.ndarray]:
    import numpy as np

    return np.split(kept, np.cumsum([segment.n_documents for segment in held])[:-1]) if held else []


def _together(groups: Sequence[_Group]) -> list[list[_Group]]:
    """Which neighbours are to be one segment: until none is less than `_GROWTH` times as large as the next.

    All are told before any is merged: one after the other, a store that is indexed at once would be merged once a batch.
    """
    runs = [[group] for group in groups]
    sizes = [group.n_kept for group in groups]
    place = len(runs) - 2
    while place >= 0:
        if sizes[place] < _GROWTH * sizes[place + 1]:
            runs[place : place + 2] = [runs[place] + runs[place + 1]]
            sizes[place : place + 2] = [sizes[place] + sizes[place + 1]]
            place = min(place, len(runs) - 2)
        else:
            place -= 1
    return runs


def _merge(groups: Sequence[_Group]) -> Segment:
    import numpy as np

    kept = [np.ones(g.segment.n_documents, bool) if g.kept is None else g.kept for g in groups]
    return indexed(merged([g.segment.said for g in groups], kept))


def _saved(layout: Layout, segment: Segment) -> str:
    """Write a segment under a name that none has, whole before it has it."""
    taken = [int(path.name) for path in layout.index.iterdir() if path.name.isdigit()]
    name = f"{max(taken, default=0) + 1:06d}"
    draft = layout.index / "draft"
    with suppress(FileNotFoundError):
        shutil.rmtree(draft)
    save_segment(segment, draft)
    os.rename(draft, layout.index / name)
    return name


def _remove_others(layout: Layout, names: Sequence[str]) -> None:
    """Remove segments that count no longer; whoever has them mapped keeps them."""
    for path in layout.index.iterdir():
        if (path.name.isdigit() and path.name not in names) or path.name == "draft":
            with suppress(OSError):
                shutil.rmtree(path)
