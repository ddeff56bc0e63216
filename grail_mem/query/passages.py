"""Passages: what evidence can point to, one turn of a conversation or one document, as the sources say it now.

Knows nothing of quotes.
"""

from __future__ import annotations

from typing import Final

from grail_mem.model.scope import Access
from grail_mem.query.view import View
from grail_mem.store.documents import Document, read_document
from grail_mem.store.layout import Layout
from grail_mem.store.receipt import EVERYWHERE, text_of_document, text_of_turn
from grail_mem.store.sources import Locator, Part, Turn, current_turns, is_chat, read_part, read_session, session_at

DOCUMENT: Final = "document"
"""The role of what no speaker said."""


def own_scope(access: Access, scope: str | None) -> str | None:
    """A scope as sources name it: None for the default scope."""
    return None if scope == access.default_scope else scope


def in_session(view: View, session: str, scope: str | None) -> list[Turn]:
    """The turns of a session; none when there are none, or the caller may not read them."""
    scope = own_scope(view.access, scope)
    if not view.access.may("read", scope):
        return []
    return current_turns([part for part in read_session(view.layout, session, scope) if part.scope == scope])


def in_source(view: View, locator: Locator) -> list[Turn]:
    """What stands where a locator points; nothing when it is not there, or the caller may not read it."""
    scopes = scopes_of(view.layout, locator.path)
    if not any(view.access.may("read", scope) for scope in scopes):
        return []
    return Sources(view.layout).at(locator)


def is_erased(view: View, turn: Turn) -> bool:
    """Whether a turn or document is one that was erased, put back by git, a backup or a person and not yet taken out by a sync."""
    receipts = view.receipts
    if not receipts.tells_of_sources:
        return False
    if is_chat(turn.path):
        part = read_part(view.layout, turn.path)
        if part is None:
            return False
        return part.id in receipts or receipts.tells(text_of_turn(turn.text, part.session, part.scope))
    name = turn.path.rpartition("/")[2].partition(".")[0]
    scopes = [scope for scope in scopes_of(view.layout, turn.path) if view.access.may("read", scope)]
    held = (text_of_document(name, scope) for scope in scopes)
    return receipts.tells(text_of_document(name, EVERYWHERE)) or all(map(receipts.tells, held))


def scopes_of(layout: Layout, path: str) -> list[str | None]:
    """Whose a source is; empty when there is none."""
    if is_chat(path):
        part = read_part(layout, path)
        return [] if part is None else [part.scope]
    document = read_document(layout, path)
    return [] if document is None else document.scopes


class Sources:
    """The sources of a store as they are while several quotes are looked up, whoever asks; each is looked at once."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._parts: dict[str, list[Part]] = {}
        self._documents: dict[str, Document | None] = {}

    def at(self, locator: Locator) -> list[Turn]:
        """What stands where a locator points; a turn as it was last worded, wherever that is written.

        Raises:
            StoreError: It is there and cannot be read.
        """
        path = locator.path
        if not is_chat(path):
            if path not in self._documents:
                self._documents[path] = read_document(self.layout, path)
            document = self._documents[path]
            return (
                [] if document is None or document.text is None else [Turn(-1, "", DOCUMENT, document.text, path=path)]
            )
        if path not in self._parts:
            self._parts[path] = _parts(self.layout, path)
        return current_turns(_narrowed(self._parts[path], locator.turn))


def _parts(layout: Layout, path: str) -> list[Part]:
    parts = session_at(layout, path)
    own = None if any(part.path == path for part in parts) else read_part(layout, path)
    return parts if own is None else [*parts, own]


def _narrowed(parts: list[Part], number: int | None) -> list[Part]:
    """The parts with the lines of one turn alone, so that a long session is not put in order for it."""
    if number is None:
        return parts
    return [Part(p.path, p.session, p.scope, lines, b"") for p in parts if (lines := p.numbered.get(number))]
