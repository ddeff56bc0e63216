"""The list of sources that the caller may read: transcripts and documents, each with what it is and when.

A file that cannot be read hinders no other. Knows nothing of quotes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from grail_mem.errors import StoreError
from grail_mem.query.lists import Listed, cursor_of, place_in, refuse_limit
from grail_mem.query.passages import DOCUMENT, is_erased
from grail_mem.query.view import View
from grail_mem.store.documents import Document, document_paths, read_document
from grail_mem.store.sources import Part, Turn, chat_paths, current_turns, read_part, stem_of

CHAT = "chat"
_PLACE = ("source",)


class _Found(NamedTuple):
    """A source: the file that names it, and every file of it."""

    path: str
    files: tuple[str, ...]
    kind: str


def sources(view: View, *, limit: int, cursor: str | None) -> Listed:
    """Every transcript and document that the caller may read, in order of path.

    Each has `source` (as evidence names it), `kind` (`chat` or `document`), `name` (the session, or the title), `n_turns` (None
    for a document), `first_at`, `last_at`, `scopes`, and `problem` (why it cannot be read; empty for most).

    Args:
        view: The store; brought up to date first.
        limit: At most so many.
        cursor: Continues an earlier page.

    Raises:
        InputError: Limit or cursor cannot be used.
    """
    refuse_limit(limit)
    after = place_in(cursor, _PLACE)[0] if cursor is not None else ""
    view.catch_up()
    every = list(_readable(view))
    rest = [found for found in every if found.path > after]
    page = tuple(_told(view, found) for found in rest[:limit])
    return Listed(page, len(every), cursor_of([page[-1]["source"]], _PLACE) if len(rest) > limit else None)


def count_sources(view: View) -> tuple[int, int]:
    """How many transcripts and how many documents the caller may read."""
    kinds = [found.kind for found in _readable(view)]
    return kinds.count(CHAT), kinds.count(DOCUMENT)


def _readable(view: View) -> Iterator[_Found]:
    """What the caller may read, in order of path; files are looked into only where something may stand against it."""
    files: dict[str, list[str]] = {}
    for path in chat_paths(view.layout):
        files.setdefault(stem_of(path), []).append(path)
    chats = (_Found(min(paths, key=lambda p: (len(p), p)), tuple(paths), CHAT) for paths in files.values())
    documents = (_Found(path, (path,), DOCUMENT) for path in document_paths(view.layout))
    looks = view.principal is not None or view.receipts.tells_of_sources
    for found in sorted((*chats, *documents)):
        if not looks or _may_read(view, found):
            yield found


def _may_read(view: View, found: _Found) -> bool:
    """Whether something of it is left that the caller may read; of what cannot be read only the owner hears."""
    try:
        return bool(_turns(view, _parts(view, found)) if found.kind == CHAT else _document(view, found.path))
    except StoreError:
        return view.principal is None


def _told(view: View, found: _Found) -> dict[str, Any]:
    item: dict[str, Any] = {
        "source": found.path, "kind": found.kind, "name": "", "n_turns": None, "first_at": None, "last_at": None,
        "scopes": [], "problem": "",
    }  # fmt: skip
    try:
        return item | (_of_chat(view, found) if found.kind == CHAT else _of_document(view, found))
    except StoreError as error:
        return item | {"problem": str(error)}


def _of_chat(view: View, found: _Found) -> dict[str, Any]:
    parts = _parts(view, found)
    turns = _turns(view, parts)
    times = sorted(_times(turn.at for turn in turns))
    return {
        "name": next((part.session for part in parts if part.session), ""),
        "n_turns": len(turns),
        "first_at": times[0] if times else None,
        "last_at": times[-1] if times else None,
        "scopes": sorted({part.scope or view.access.default_scope for part in parts}),
    }


def _of_document(view: View, found: _Found) -> dict[str, Any]:
    document = _document(view, found.path)
    held = _held(view, document) if document is not None else {}
    times = sorted(_times(said.get("at", "") for said in held.values()))
    return {
        "name": next((said["title"] for said in held.values() if said.get("title")), ""),
        "first_at": times[0] if times else None,
        "last_at": times[-1] if times else None,
        "scopes": sorted(scope or view.access.default_scope for scope in held),
    }


def _parts(view: View, found: _Found) -> list[Part]:
    """The files of a transcript that the caller may read."""
    read = (read_part(view.layout, path) for path in found.files)
    return [part for part in read if part is not None and view.access.may("read", part.scope)]


def _turns(view: View, parts: list[Part]) -> list[Turn]:
    turns = current_turns(parts)
    return [turn for turn in turns if not is_erased(view, turn)] if view.receipts.tells_of_sources else turns


def _document(view: View, path: str) -> Document | None:
    """A document that is left and that the caller may read."""
    document = read_document(view.layout, path)
    if document is None or is_erased(view, Turn(-1, "", DOCUMENT, document.text or "", path=path)):
        return None
    return document if view.principal is None or _held(view, document) else None


def _held(view: View, document: Document) -> dict[str, Any]:
    """What is known of a document in the scopes that the caller may read."""
    return {scope: said for scope, said in document.held.items() if view.access.may("read", scope or None)}


def _times(texts: Iterator[str]) -> Iterator[datetime]:
    for text in texts:
        with suppress(ValueError):  # empty where nobody said when
            yield datetime.fromisoformat(text)
