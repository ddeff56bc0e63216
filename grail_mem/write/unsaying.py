"""The files of sources without what goes: turns are emptied, transcripts and documents removed.

Knows nothing of why it goes, and not of how files are written.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from grail_mem.model.observation import Evidence
from grail_mem.model.ulid import is_id, new_id
from grail_mem.query.passages import own_scope
from grail_mem.query.view import View
from grail_mem.store.documents import Document, meta_path, render_held
from grail_mem.store.receipt import EVERYWHERE, mark_of, said_digest, text_of_document, text_of_turn
from grail_mem.store.source_file import read_source
from grail_mem.store.sources import (
    Part,
    Turn,
    erased_line,
    stem_of,
    turn_in_line,
)
from grail_mem.write.held_sources import Held, Passage
from grail_mem.write.selection import Selection
from grail_mem.write.transcript import SourceFile

_BROKEN: Final = 40
"""Characters of an erased text by which a broken line that holds it is told; chosen."""


@dataclass(frozen=True, slots=True)
class Unsaid:
    """What goes of the sources, and what that does to observations.

    Attributes:
        files: Files of sources as they shall be, those that go among them.
        turns: Turns that are emptied or go with their file, as locators.
        documents: Documents that go, or go for a scope.
        kept: Turns and documents in which quotes of erased observations stand and that stay, with the ids of those that
            rest on them; none where they stay for another reason.
        going: Ids of observations that go as well, since all their evidence goes.
        losing: By id, what is left of the evidence of those that have other evidence.
        texts: Everything that goes, in words.
        said: Digests for the receipts.
        ids: By what the ledger knows files that go.
        partial: Turns that are not final and go: the name of their file, and their ids; all of it when there are none.
        salt: Of the receipts.
    """

    files: tuple[SourceFile, ...] = ()
    turns: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    kept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    going: tuple[str, ...] = ()
    losing: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    partial: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    salt: str = ""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing of the sources goes."""
        return not self.files and not self.partial


class Unsaying:
    """The files of what goes, put together."""

    def __init__(self, caller: View, held: Held, doomed: Collection[Passage], selection: Selection, salt: str) -> None:
        self._caller, self._held, self._selection = caller, held, selection
        self._layout, self._default = caller.layout, caller.access.default_scope
        self._salt = salt
        self._files: list[SourceFile] = []
        self._turns: dict[str, None] = {}
        self._documents: list[str] = []
        self._texts: list[str] = []
        self._said: dict[str, None] = {}
        self._ids: list[str] = []
        self._partial: dict[str, tuple[str, ...]] = {}
        chats: dict[str, set[str]] = {}
        for passage in doomed:
            if passage.id:
                chats.setdefault(passage.source, set()).add(passage.id)
        for stem, ids in sorted(chats.items()):
            self._empty(held.chat(stem), ids)
        whole = {passage.source for passage in doomed if not passage.id}
        for document in held.documents() if selection.ids is None or whole else ():
            self._drop(document, whole)
        self._take_partial(chats)

    def result(
        self, kept: Mapping[str, tuple[str, ...]], going: Sequence[str], losing: Mapping[str, tuple[Evidence, ...]]
    ) -> Unsaid:
        """What goes, with what that does to observations."""
        return Unsaid(
            tuple(self._files), tuple(self._turns), tuple(self._documents), dict(sorted(kept.items())), tuple(sorted(going)),
            losing, tuple(self._texts), tuple(self._said), tuple(dict.fromkeys(self._ids)), self._partial, self._salt,
        )  # fmt: skip

    def keep_out(self, quotes: Iterable[str]) -> None:
        """Note quotes that observations lose, so that an older file of one does not bring them back."""
        self._said |= {said_digest(self._salt, quote): None for quote in quotes}

    def _empty(self, parts: Sequence[Part], ids: Collection[str]) -> None:
        """Empty turns of a transcript; one without other turns goes."""
        goes = all(turn.id in ids for part in parts for turn in part.turns)
        texts = [turn.text for part in parts for turn in part.turns if turn.id in ids]
        for part in parts:
            for turn in part.turns:
                if turn.id in ids:
                    said = text_of_turn(turn.text, part.session, part.scope)
                    self._said[said_digest(self._salt, said)] = None
                    self._turns[str(turn.locator)] = None
                    self._texts += [turn.text, turn.speaker]
            if goes:
                self._remove(part.path, part.data, part.id, part.session)
            elif (data := emptied(part, ids, self._salt, texts)) != part.data:
                self._files.append(SourceFile(part.path, data, part.data, part.id if is_id(part.id) else new_id()))

    def _remove(self, path: str, data: bytes, id_: str, *texts: str) -> None:
        id_ = id_ if is_id(id_) else new_id()
        self._files.append(SourceFile(path, None, data, id_))
        self._ids.append(id_)
        self._texts += [text for text in texts if text]

    def _drop(self, document: Document, whole: Collection[str]) -> None:
        """Remove a document, or what one scope holds of it while others hold it still."""
        meant = [s for s in document.scopes if self._is_meant(document.path, s, whole)]
        if document.path not in whole and not meant:
            return
        goes = document.path in whole or len(meant) == len(document.held)
        scopes: list[str | None] = (document.scopes or [None]) if goes else meant
        digest = stem_of(document.path)
        for scope in (*(own_scope(self._caller.access, scope) for scope in scopes), *([EVERYWHERE] if goes else [])):
            self._said[said_digest(self._salt, text_of_document(digest, scope))] = None
        self._documents.append(document.path)
        meta = read_source(self._layout, meta_path(document.path))
        ids = [document.held.get(scope or "", {}).get("id", "") for scope in scopes]
        told = [
            text for s in scopes for name, text in document.held.get(s or "", {}).items() if name in ("title", "from")
        ]
        if goes:
            found = read_source(self._layout, document.path)
            self._remove(document.path, found[0] if found else b"", ids[0], document.text or "")
            if meta is not None:
                self._remove(meta_path(document.path), meta[0], ids[0], *told)
        elif meta is not None:
            left = {scope: said for scope, said in document.held.items() if (scope or None) not in meant}
            self._files.append(SourceFile(meta_path(document.path), render_held(left), meta[0]))
            self._texts += told
        self._ids += [id_ for id_ in ids if is_id(id_)]

    def _is_meant(self, path: str, scope: str | None, whole: Collection[str]) -> bool:
        if path in whole:
            return True
        access = self._caller.access
        return access.may("forget", scope) and self._selection.holds_document(path, scope or self._default)

    def _take_partial(self, chats: Mapping[str, Collection[str]]) -> None:
        """Turns that are not final, of the same sessions and speakers."""
        folder = self._layout.local / "partial"
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            kept = read_partial(path.read_bytes())
            about = kept.pop("", {})
            session, scope = about.get("session", ""), about.get("scope", "") or None
            meant = [
                id_
                for id_, said in kept.items()
                if id_ in chats.get(path.stem, ()) or self._means(id_, said, session, scope)
            ]
            if meant:
                self._partial[path.name] = () if len(meant) == len(kept) else tuple(meant)
                self._texts += [
                    text for id_ in meant for text in (kept[id_].get("text", ""), kept[id_].get("speaker", ""))
                ]

    def take_all_partial(self, names: Iterable[str]) -> None:
        """Take every turn that is not final in these files."""
        for name in names:
            said = read_partial((self._layout.local / "partial" / name).read_bytes()).values()
            self._partial[name] = ()
            self._texts += [text for one in said for text in (one.get("text", ""), one.get("speaker", ""))]

    def _means(self, id_: str, said: Mapping[str, str], session: str, scope: str | None) -> bool:
        if self._selection.source is not None or not self._caller.access.may("forget", scope):
            return False
        turn = Turn(0, id_, "user", said.get("text", ""), said.get("speaker", ""))
        return self._selection.holds_turn(turn, session, scope or self._default)


def read_partial(data: bytes) -> dict[str, dict[str, str]]:
    """Turns that are not final, by id; what somebody broke is passed over."""
    try:
        said = json.loads(data)
        return {id_: {name: text for name, text in one.items() if isinstance(text, str)} for id_, one in said.items()}
    except (ValueError, AttributeError, RecursionError):
        return {}


def emptied(part: Part, ids: Collection[str], salt: str, texts: Iterable[str]) -> bytes:
    """A file of a transcript in which lines of some turns say no more than that they were erased; other bytes stay.

    Args:
        part: The file.
        ids: The turns.
        salt: Of the receipts.
        texts: What they say; a broken line that holds some of it goes, too.
    """
    needles = [form.encode() for text in texts for form in _forms(text)]
    lines: list[bytes] = []
    for line in part.data.splitlines(keepends=True):
        turn = turn_in_line(line)
        if turn is not None and turn.id in ids:
            mark = mark_of(salt, text_of_turn(turn.text, part.session, part.scope))
            lines.append(erased_line(turn.number, mark))
        elif turn is not None or line == part.data[: len(line)] or not any(needle in line for needle in needles):
            lines.append(line)
    return b"".join(lines)


def _forms(text: str) -> tuple[str, str]:
    """The beginning of a text as it stands in JSON."""
    begin = text[:_BROKEN]
    return json.dumps(begin)[1:-1], json.dumps(begin, ensure_ascii=False)[1:-1]
