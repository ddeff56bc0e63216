"""The page that says how the store is: what waits, what is due, what disagrees, and whether files and ledger hold.

Knows nothing of how any of it is mended.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from grail_mem.index.catalog import has_catalog
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.review_page.rights import denied_anywhere
from grail_mem.review_page.site import Form, Said, Site
from grail_mem.review_page.work import Told
from grail_mem.store.layout import Layout

ON_A_PAGE: Final = 50
_MOST: Final = 200
"""Findings of a kind that the page lists."""
_FIGURES: Final = """
SELECT count(*) AS n, count(DISTINCT category) AS n_folders, count(*) FILTER (status = 'provisional') AS n_provisional,
       count(*) FILTER (status = 'superseded') AS n_superseded, count(*) FILTER (status = 'archived') AS n_archived,
       count(*) FILTER (coalesce(json_array_length(more, '$.evidence'), 0) > 0) AS n_evidence,
       max(recorded_at) AS last_at
FROM observations
"""
_CONFLICTS: Final = """
SELECT id, title, category, observed_at FROM observations
WHERE json_array_length(more, '$.conflicts_with') > 0 AND status IN ('confirmed', 'provisional')
ORDER BY observed_at DESC, id LIMIT 51
"""
_SIZES: Final = (
    ("Observations", ""), ("Sources", "sources"), ("Ledger and grants", ".grail"), ("Derived: snapshots, index, proposals", "output"),
)  # fmt: skip


def show_health(site: Site, request: Request) -> Response:
    """How the store is."""
    store = site.store
    (figures,) = store.sql(_FIGURES).to_pylist()
    conflicts = store.sql(_CONFLICTS).to_pylist()
    first = store.recall(limit=1, include_history=True)
    return site.page(
        request, "health.html", here="health", figures=figures, conflicts=conflicts[:ON_A_PAGE],
        more_conflicts=len(conflicts) > ON_A_PAGE, due=store.due(within="14d")[: ON_A_PAGE + 1], most=ON_A_PAGE,
        n_candidates=len(store.candidates()), n_proposals=len(store.proposals()), warnings=first.warnings,
        check=site.work.of("check"),
    )  # fmt: skip


def start_check(site: Site, request: Request, form: Form) -> Response:  # noqa: ARG001  as every form is taken
    """Look at every file, quote and line of the ledger, beside the pages; nothing is changed."""
    began = site.work.start("check", lambda told: _apart(site.store, told))
    said = Said("Looking at everything.") if began else Said("Something is under way already.", tone="mixed")
    return site.back(form, said, to="/health")


def _apart(store: Memory | Session, told: Told) -> dict[str, Any]:
    """The same; the owner's store is opened once more for it, so that no page waits."""
    if isinstance(store, Session):
        return checked(store, told)
    with Memory(store.root) as own:
        return checked(own, told)


def checked(store: Memory | Session, told: Told) -> dict[str, Any]:
    """What a look at everything finds: as its owner at files, ledger and sizes too."""
    made: dict[str, Any] = {}
    if isinstance(store, Memory):
        found = store.check(progress=lambda n: told("looking at files", n, 0))
        told("checking the ledger", 0, 0)
        ledger = store.verify_ledger()
        told("adding up sizes", 0, 0)
        made = {
            "problems": found.problems[:_MOST], "n_problems": len(found.problems), "n_files": found.n_files,
            "n_unsynced": found.n_unsynced, "ledger": ledger, "sizes": _sizes(store.root, store.settings.notes),
        }  # fmt: skip
    told("looking up quotes", 0, 0)
    verified = store.verify(dry_run=True)
    gone = [quote for quote in verified.quotes if quote.status in ("source changed", "source missing")]
    told("looking at the search index", 0, 0)
    made["behind"] = _behind(store)
    return made | {"quotes": verified.counts, "gone": gone[:_MOST], "n_gone": len(gone)}


def _behind(store: Memory | Session) -> list[str]:
    """What the search index lacks, in the words of a search; one that is not there is not made for it."""
    if not has_catalog(Layout(store.root)):
        return ["There is no search index on disk; `grail index` makes it, and the first search fast."]
    return [text for text in store.search("what changed", limit=1).warnings if "index" in text]


def show_log(site: Site, request: Request) -> Response:
    """Who did what, when and why, newest first."""
    action = request.query_params.get("action", "").strip() or None
    cursor = request.query_params.get("cursor") or None
    found = site.store.log(action=action, limit=ON_A_PAGE, cursor=cursor)
    return site.page(
        request, "log.html", here="log", entries=found.entries, cursor=found.cursor, action=action or "",
        is_next=cursor is not None, restore_denied=denied_anywhere(site, "forget"),
    )  # fmt: skip


def _sizes(root: Path, notes: str) -> list[tuple[str, int, int]]:
    """What the parts of a store take: name, number of files, bytes."""
    return [(name, *_size(root / (folder or notes))) for name, folder in _SIZES]


def _size(folder: Path) -> tuple[int, int]:
    n_files = n_bytes = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(place, name))]
        for name in names:
            try:
                n_bytes += os.lstat(os.path.join(place, name)).st_size
                n_files += 1
            except OSError:  # it went meanwhile
                continue
    return n_files, n_bytes
