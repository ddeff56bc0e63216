"""Passages: what evidence can point to, which is one turn of a conversation or one document, as the sources say it now.

Knows nothing of quotes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from grail_mem.model.scope import Access
from grail_mem.query.view import View
from grail_mem.store.layout import Layout
from grail_mem.store.sources import (
    Locator,
    Part,
    Turn,
    current_turns,
    is_chat,
    read_document,
    read_part,
    read_session,
    session_at,
)

DOCUMENT: Final = "document"
"""The role of what no speaker said."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One turn or one document.

    Attributes:
        locator: Where it stands.
        text: What it says.
        role: Who spoke: a role, or `document`.
        at: When, in UTC; empty when not known.
        quoted: Whether it was recorded from a quote alone.
    """

    locator: Locator
    text: str
    role: str
    speaker: str = ""
    at: str = ""
    quoted: bool = False


def own_scope(access: Access, scope: str | None) -> str | None:
    """A scope as sources name it: None for the default scope."""
    return None if scope == access.default_scope else scope


def in_session(view: View, session: str, scope: str | None) -> list[Passage]:
    """The turns of a session; none when there are none, or the caller may not read them."""
    scope = own_scope(view.access, scope)
    if not view.access.may("read", scope):
        return []
    parts = read_session(view.layout, session, scope)
    return [_passage(turn) for turn in current_turns(parts)]


def in_source(view: View, locator: Locator) -> list[Passage]:
    """What stands where a locator points; nothing when it is not there, or the caller may not read it."""
    scopes = scopes_of(view.layout, locator.path)
    return at(view.layout, locator) if any(view.access.may("read", scope) for scope in scopes) else []


def scopes_of(layout: Layout, path: str) -> list[str | None]:
    """Whose a source is; empty when there is none."""
    if is_chat(path):
        part = read_part(layout, path)
        return [] if part is None else [part.scope]
    document = read_document(layout, path)
    return [] if document is None else document.scopes


def at(layout: Layout, locator: Locator) -> list[Passage]:
    """What stands where a locator points, whoever asks; a turn as it was last worded, wherever that is written."""
    if not is_chat(locator.path):
        document = read_document(layout, locator.path)
        return [] if document is None or document.text is None else [Passage(locator, document.text, DOCUMENT)]
    return [_passage(turn) for turn in current_turns(_narrowed(_parts(layout, locator.path), locator.turn))]


def _parts(layout: Layout, path: str) -> list[Part]:
    parts = session_at(layout, path)
    own = None if any(part.path == path for part in parts) else read_part(layout, path)
    return parts if own is None else [*parts, own]


def _narrowed(parts: Iterable[Part], number: int | None) -> list[Part]:
    """The parts with the lines of one turn alone, so that a long session is not put in order for it."""
    if number is None:
        return list(parts)
    return [Part(part.path, part.session, part.scope, part.numbered.get(number, ()), b"") for part in parts]


def _passage(turn: Turn) -> Passage:
    return Passage(turn.locator, turn.text, turn.role, turn.speaker, turn.at, turn.quoted)
