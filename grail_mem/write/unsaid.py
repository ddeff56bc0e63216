"""What goes of the sources when something is erased: turns are emptied, transcripts and documents removed.

A turn goes when it is asked for, or when a quote of an erased observation stands in it and nobody else rests on it.
Knows nothing of how files are written.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from grail_mem.model.observation import Evidence, Observation
from grail_mem.model.quote import find
from grail_mem.model.ulid import is_id, new_id
from grail_mem.query.passages import own_scope
from grail_mem.query.view import View
from grail_mem.store.documents import Document, document_paths, meta_path, read_document, render_held
from grail_mem.store.layout import Layout
from grail_mem.store.receipt import EVERYWHERE, mark_of, said_digest, text_of_document, text_of_quote, text_of_turn
from grail_mem.store.source_file import read_source
from grail_mem.store.sources import (
    Locator,
    Part,
    Turn,
    chat_paths,
    chat_stem,
    erased_line,
    is_chat,
    parse_locator,
    read_part,
    stem_of,
    turn_in_line,
)
from grail_mem.write.selection import Selection
from grail_mem.write.transcript import SourceFile

_BROKEN: Final = 40
"""Characters of an erased text by which a broken line that holds it is told; chosen."""


class Passage(NamedTuple):
    """A turn by the name of its transcript's files and its id, or a document by its path, with no id."""

    source: str
    id: str = ""


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


def unsaid(
    caller: View,
    view: View,
    selection: Selection,
    targets: Sequence[Observation],
    others: Sequence[Observation],
    *,
    with_sources: bool,
) -> Unsaid:
    """What goes of the sources.

    Args:
        caller: What the caller may see and do.
        view: All there is.
        selection: What is asked for.
        targets: The observations that go because of it.
        others: All others.
        with_sources: Whether what their quotes stand in goes though others rest on it, and documents as well.

    Raises:
        AccessError: The caller may not forget what is asked for.
    """
    held = Held(caller.layout)
    asked = set(_asked(caller, selection, held))
    quoted = {passage for o in targets for e in o.evidence for passage in held.passages(e)} - asked
    sources = {passage.source for passage in asked | quoted}
    resting: dict[Passage, list[Observation]] = {}
    found: dict[str, list[frozenset[Passage]]] = {}
    for o in others:
        if o.evidence:
            found[o.id] = [held.passages(e, sources) for e in o.evidence]
            for passage in frozenset().union(*found[o.id]):
                resting.setdefault(passage, []).append(o)
    kept = {
        p: resting.get(p, [])
        for p in quoted
        if not _may_go(caller, held, p, resting.get(p, []), with_sources=with_sources)
    }
    kept |= {p: resting[p] for p in asked if not all(_may_change(caller, o) for o in resting.get(p, []))}
    doomed = (asked | quoted) - kept.keys()
    going, losing = [], {}
    lost: list[str] = []
    for o in others:
        gone = [bool(places) and places <= doomed for places in found.get(o.id, ())]
        if gone and all(gone):
            going.append(o.id)
        elif any(gone):
            losing[o.id] = tuple(e for e, is_gone in zip(o.evidence, gone, strict=True) if not is_gone)
            lost += [
                text_of_quote(e.quote, e.source, own_scope(view.access, o.scope))
                for e, is_gone in zip(o.evidence, gone, strict=True)
                if is_gone
            ]
    made = _Made(caller, held, doomed, selection, view.receipts.salt)
    made.keep_out(lost)
    return made.result({_named(held, p): tuple(o.id for o in some) for p, some in kept.items()}, going, losing)


def unneeded(
    view: View, stems: Collection[str], partial: Iterable[str], resting: Iterable[Observation], *, keep_out: bool
) -> Unsaid:
    """What goes of whole transcripts of which nobody asked for a turn: every turn on which no evidence rests.

    Args:
        view: All there is.
        stems: The transcripts, by the names of their files.
        partial: Names of files of turns that are not final, which go as well.
        resting: Whatever has evidence, candidates that wait among it.
        keep_out: Whether receipts shall keep the turns out.

    Returns:
        What goes; `kept` names turns that stay, with the ids of what rests on them.
    """
    held = Held(view.layout)
    needed: dict[Passage, dict[str, None]] = {}
    for o in resting:
        for passage in (passage for e in o.evidence for passage in _needed(view, held, o, e, stems)):
            needed.setdefault(passage, {})[o.id] = None
    turns = {Passage(stem, turn.id) for stem in stems for part in held.chat(stem) for turn in part.turns}
    made = _Made(view, held, turns - needed.keys(), Selection(ids=()), view.receipts.salt)
    made.take_all_partial(partial)
    kept = {_named(held, passage): tuple(sorted(ids)) for passage, ids in needed.items() if passage in turns}
    gone = made.result(kept, (), {})
    return gone if keep_out else replace(gone, said=())


def _needed(view: View, held: Held, o: Observation, evidence: Evidence, stems: Collection[str]) -> Iterator[Passage]:
    """What evidence needs of transcripts: where its quote stands, and the turn that it names though the quote is not there."""
    locator = parse_locator(evidence.source)
    if locator is None and o.session:  # of a candidate: it is located when that is approved
        stem = chat_stem(o.session, own_scope(view.access, o.scope))
        found = (turn for part in held.chat(stem) for turn in part.turns if find(turn.text, evidence.quote) is not None)
        yield from (Passage(stem, turn.id) for turn in found)
    elif locator is not None and is_chat(locator.path) and (stem := stem_of(locator.path)) in stems:
        yield from held.passages(evidence)
        if locator.turn is not None:
            yield from (Passage(stem, turn.id) for turn in held.under(locator))


def _named(held: Held, passage: Passage) -> str:
    """A passage as evidence names it."""
    if not passage.id:
        return passage.source
    turns = (turn for part in held.chat(passage.source) for turn in part.turns if turn.id == passage.id)
    return str(next(turns).locator)


def _asked(caller: View, selection: Selection, held: Held) -> Iterator[Passage]:
    """The turns and documents that conditions mean; what the caller may not read is passed over."""
    if selection.ids is not None:
        return
    access, default = caller.access, caller.access.default_scope
    for stem, parts in held.chats():
        for part in parts:
            if not access.may("read", part.scope):
                continue
            for turn in part.turns:
                if selection.holds_turn(turn, part.session, part.scope or default):
                    access.require("forget", part.scope)
                    yield Passage(stem, turn.id)
    for document in held.documents():
        scopes = [scope for scope in document.scopes or [None] if access.may("read", scope)]
        meant = [scope for scope in scopes if selection.holds_document(document.path, scope or default)]
        for scope in meant:
            access.require("forget", scope)
        if meant and len(meant) == len(document.scopes or [None]):
            yield Passage(document.path)


def _may_go(caller: View, held: Held, passage: Passage, resting: Sequence[Observation], *, with_sources: bool) -> bool:
    """Whether what a quote stands in goes with the observation that quotes it."""
    if not passage.id:
        document = read_document(caller.layout, passage.source)
        scopes = document.scopes if document is not None else []
    else:
        scopes = [held.scope_of(passage)]
    if not all(caller.access.may("forget", scope) for scope in scopes):
        return False
    return all(_may_change(caller, o) for o in resting) if with_sources else bool(passage.id) and not resting


def _may_change(caller: View, o: Observation) -> bool:
    return caller.access.may("forget", o.scope) and caller.access.may("write", o.scope)


class _Made:
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
