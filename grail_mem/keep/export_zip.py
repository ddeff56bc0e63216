"""Export as a zip: the folder of observation files as it is, and a header with what the files do not tell.

Knows nothing of how it is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from grail_mem.keep.exported import FORMAT, Exported, adopted_times, selected, sources_of
from grail_mem.keep.markdown import HEADER
from grail_mem.model.filter import Filter
from grail_mem.query.view import View

_BEGINNING: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every member, so that the same observations make the same zip."""


class ZipWriting:
    """A zip on its way."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        self._progress = progress

    def run(self, view: View, f: Filter, file: Any, *, path: str = "", dry_run: bool = False) -> Exported:
        """Write the files of what meets the conditions; without one, the sources, too. What is hidden is left out."""
        whole = view.access.principal is None and not f.conditions()
        skipped: dict[str, str] = {}
        adopted: dict[str, dict[str, str]] = {}
        n_observations = n_sources = 0
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for edited in selected(view, f, whole=False, skipped=skipped):
                archive.writestr(_member(edited.made.path), edited.old)
                if times := adopted_times(edited):
                    adopted[edited.made.path] = {"id": edited.made.id, **times}
                n_observations += 1
                self._progress(n_observations)
            for source, data in sources_of(view) if whole else ():
                archive.writestr(_member(source), data)
                n_sources += 1
            header = {"type": "grail_markdown", "version": FORMAT, "notes": view.layout.notes, "adopted": adopted}
            archive.writestr(_member(HEADER), json.dumps(header, indent=1, sort_keys=True) + "\n")
        return Exported(path, n_observations, n_sources=n_sources, skipped=skipped, dry_run=dry_run, format="markdown")


def _member(name: str) -> ZipInfo:
    made = ZipInfo(name, _BEGINNING)
    made.compress_type = ZIP_DEFLATED
    made.external_attr = 0o644 << 16
    return made
