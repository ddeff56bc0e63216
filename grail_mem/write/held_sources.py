"""All sources of a store, as they are while it is settled what goes of them, and where in them a quote stands.

Knows nothing of what goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from grail_mem.model.observation import Evidence
from grail_mem.model.quote import find
from grail_mem.store.documents import Document, document_paths, read_document
from grail_mem.store.layout import Layout
from grail_mem.store.sources import (
    Locator,
    Part,
    Turn,
    chat_paths,
    is_chat,
    parse_locator,
    read_part,
    stem_of,
)


class Passage(NamedTuple):
    """A turn by the name of its transcript's files and its id, or a document by its path, with no id."""

    source: str
    id: str = ""


class Held:
    """All sources of a store, as they are while it is settled what goes."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._chats: dict[str, list[Part]] = {}
        self._paths: dict[str, list[str]] = {}
        for path in chat_paths(layout):
            self._paths.setdefault(stem_of(path), []).append(path)

    def chats(self) -> Iterator[tuple[str, Sequence[Part]]]:
        """Every transcript, by the name of its files."""
        return ((stem, self.chat(stem)) for stem in self._paths)

    def chat(self, stem: str) -> Sequence[Part]:
        """The files of a transcript; none when there is none."""
        if stem not in self._chats:
            found = (read_part(self.layout, path) for path in self._paths.get(stem, ()))
            self._chats[stem] = [part for part in found if part is not None]
        return self._chats[stem]

    def documents(self) -> Iterator[Document]:
        """Every document."""
        for path in document_paths(self.layout):
            if (document := read_document(self.layout, path)) is not None:
                yield document

    def scope_of(self, passage: Passage) -> str | None:
        """Whose a turn is."""
        return next((part.scope for part in self.chat(passage.source)), None)

    def under(self, locator: Locator) -> list[Turn]:
        """Every wording of every turn that a locator may mean."""
        parts = self.chat(stem_of(locator.path))
        return [turn for part in parts for turn in part.turns if locator.turn in (None, turn.number)]

    def passages(self, evidence: Evidence, among: Collection[str] | None = None) -> frozenset[Passage]:
        """Where a quote stands: turns, in any wording that they had, or a document.

        Args:
            evidence: The quote.
            among: Names of transcripts and documents to look at; None for all.
        """
        locator = parse_locator(evidence.source)
        if locator is None:
            return frozenset()
        if among is not None and (stem_of(locator.path) if is_chat(locator.path) else locator.path) not in among:
            return frozenset()
        if not is_chat(locator.path):
            return frozenset({Passage(locator.path)})
        stem, there = stem_of(locator.path), self.under(locator)
        return frozenset(Passage(stem, turn.id) for turn in there if find(turn.text, evidence.quote) is not None)
