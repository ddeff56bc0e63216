"""What goes of the sources when something is erased, or when nobody needs it any more.

A turn goes when it is asked for, or when a quote of an erased observation stands in it and nobody else rests on it.
Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from grail_mem.model.observation import Evidence, Observation
from grail_mem.model.quote import find
from grail_mem.query.passages import own_scope
from grail_mem.query.view import View
from grail_mem.store.documents import read_document
from grail_mem.store.receipt import text_of_quote
from grail_mem.store.sources import (
    chat_stem,
    is_chat,
    parse_locator,
    stem_of,
)
from grail_mem.write.held_sources import Held, Passage
from grail_mem.write.selection import Selection
from grail_mem.write.unsaying import Unsaid, Unsaying


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
    made = Unsaying(caller, held, doomed, selection, view.receipts.salt)
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
    made = Unsaying(view, held, turns - needed.keys(), Selection(ids=()), view.receipts.salt)
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
