"""Erase: take observations and what they quote out of every file under the root, for good, and leave receipts that keep them out.

select → settle what goes of the sources → find every trace → (lock) announce → take the files away and write the receipts, all or none → sweep the traces.
Knows nothing of proposals but how their files are told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from grail_mem.errors import NotFoundError, StoreError
from grail_mem.model.lineage import predecessors
from grail_mem.model.observation import Observation
from grail_mem.model.refusal import said_of
from grail_mem.model.times import format_time
from grail_mem.model.ulid import new_id
from grail_mem.query.find import locate_all
from grail_mem.query.passages import own_scope
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.layout import candidate_path
from grail_mem.store.ledger_line import ERASE, Entry
from grail_mem.store.receipt import detail_of, detail_of_said, text_of
from grail_mem.store.sources import parse_locator
from grail_mem.write.approve import declined
from grail_mem.write.candidates import drop_decided, lines_saying, meant, saying, waiting
from grail_mem.write.change import Changed
from grail_mem.write.edited import Edited, commit, read_all
from grail_mem.write.placed_sources import placings_of_sources
from grail_mem.write.selection import Selection, everything, names_of_evidence, nothing_with, selected
from grail_mem.write.staged import staging, writing
from grail_mem.write.sweep import announce, intent_of, sweep, withdraw
from grail_mem.write.traces import Traces, copies_of, traces_of, words_in, words_of
from grail_mem.write.unlinked import edits_without
from grail_mem.write.unsaid import unsaid
from grail_mem.write.unsaying import Unsaid

_AT_ONCE: Final = 500
"""Digests in one line of the ledger."""
WITHHELD: Final = "withheld"
"""Stands in place of a reason that says what was erased."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased, or would be.

    Attributes:
        ids: The observations.
        files: Their files, relative to the root.
        n_bytes: The bytes of those files, and those that go of sources.
        edited: Files of other observations that named one of them by its id, or quoted what goes, and no longer do.
        proposals: Proposals that went, since they held its words.
        undo_records: What was kept to undo applied proposals, relative to the root: they can no longer be undone.
        n_lines: Lines of the ledger that were emptied, but for those of this call.
        snapshots: Snapshots that were removed; one without the observations takes their place.
        segments: Segments of the search index that were made anew.
        n_vectors: Vectors that went, those of earlier versions of any observation among them.
        still_said: By id, other observations that say the same; the content is then not kept from coming back.
        candidates: Candidates that waited and were meant, quoted what goes, or said the same, alone or among other things; they
            are declined.
        quoting: Observations whose content holds that of an erased one; look at them.
        turns: Turns of transcripts that were emptied, as locators; those of removed transcripts among them.
        sources: Files of sources that were removed, relative to the root.
        kept: Turns and documents in which an erased observation's quotes stand and that stay, with the ids of observations
            that rest on them; without any, it is a document, or nothing that the caller may forget.
        earlier: Revisions that an erased one had taken the place of; they stay, as history.
        beyond: Known places outside the store's files that may still hold it.
        reason: As it stands in the ledger.
        warnings: What is worth knowing.
        dry_run: Whether nothing was changed.
    """

    ids: tuple[str, ...]
    files: tuple[str, ...]
    n_bytes: int
    edited: tuple[str, ...]
    proposals: tuple[str, ...]
    undo_records: tuple[str, ...]
    n_lines: int
    snapshots: tuple[str, ...]
    segments: tuple[str, ...]
    n_vectors: int
    still_said: Mapping[str, tuple[str, ...]]
    candidates: tuple[str, ...]
    quoting: tuple[str, ...]
    turns: tuple[str, ...]
    sources: tuple[str, ...]
    kept: Mapping[str, tuple[str, ...]]
    earlier: tuple[str, ...]
    beyond: tuple[str, ...]
    reason: str
    warnings: tuple[str, ...]
    dry_run: bool

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        values = {name: getattr(self, name) for name in Erased.__slots__}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        named = {"still_said": self.still_said, "kept": self.kept}
        return plain | {name: {key: list(ids) for key, ids in some.items()} for name, some in named.items()}


def erase(
    view: View, selection: Selection, *, reason: str, actor: str, with_sources: bool = False, dry_run: bool = False
) -> Erased:
    """Erase what a selection means: no file under the root holds it when this returns.

    Args:
        view: The store.
        selection: Which observations, turns and documents.
        reason: Why, for the ledger.
        actor: Who does it.
        with_sources: Whether turns and documents in which quotes of erased observations stand go in any case.
        dry_run: Only say what would go.

    Raises:
        NotFoundError: There is no such observation, or nothing is as asked for; nothing was erased.
        AccessError: The caller may not forget one of them; nothing was erased.
        StoreError: It is gone from every answer, but the disk did not let every trace be removed; the next writer goes on.
    """
    with closing(View(view.layout, view.settings)) if view.principal else nullcontext(view) as whole:
        asked = _Asked(view, whole, selection, with_sources)
        done = _erase(asked, reason=reason, actor=actor, dry_run=dry_run)
        return done if view.principal is None else _as_seen(view, done)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be erased, by whom.

    Attributes:
        caller: What the caller may see.
        view: All there is: traces lie everywhere.
        selection: What is asked for.
        with_sources: See `erase`.
    """

    caller: View
    view: View
    selection: Selection
    with_sources: bool


class Found(NamedTuple):
    """What goes, and what changes because of it.

    Attributes:
        held: Ids of candidates that go.
        suggested: What they say and no observation that stays does.
        strays: Files that carry the id of an erased observation above other words; they stay, and count no longer.
    """

    traces: Traces
    unsaid: Unsaid
    edits: list[Edited]
    held: tuple[str, ...]
    suggested: tuple[Observation, ...] = ()
    strays: tuple[str, ...] = ()


def _found(asked: _Asked, reason: str) -> Found:
    """Everything that goes; the view must be up to date."""
    view = asked.view
    targets = {o.id: o for o in _targets(asked)}
    copies = copies_of(view, targets)
    said = {_text(view, o) for o in targets.values()}
    targets |= {o.id: o for o in copies if _text(view, o) in said}
    others = [o for o in everything(view) if o.id not in targets]
    gone = unsaid(asked.caller, view, asked.selection, list(targets.values()), others, with_sources=asked.with_sources)
    along = {o.id: o for o in others if o.id in gone.going}
    held = meant(asked.caller, asked.selection, gone)
    if not targets and not along and not held and gone.is_nothing:
        raise nothing_with(asked.selection)
    going = [o for _, o in sorted((targets | along).items())]
    held = tuple(sorted({*held, *saying(view, going)}))
    stays = {_text(view, o) for o in others if o.id not in along} if held else set()
    suggested = tuple(o for o in waiting(view) if o.id in held and _text(view, o) not in stays)
    traces = traces_of(view, going, gone, reason, candidates={*held, *lines_saying(view, going)})
    edits = edits_without(view, traces, gone, asked.selection)
    strays = tuple(o.path for o in copies if o.id not in targets)
    return Found(traces, gone, edits, held, suggested, strays)


def _text(view: View, o: Observation) -> str:
    return text_of(o.title, o.content, own_scope(view.access, o.scope))


def _erase(asked: _Asked, *, reason: str, actor: str, dry_run: bool) -> Erased:
    """The same, for a caller who may see less than there is."""
    return carry_out(
        asked.view, lambda: _found(asked, reason), receipts_of, reason=reason, actor=actor, dry_run=dry_run
    )


def carry_out(
    view: View,
    find: Callable[[], Found],
    receipts: Callable[[Found, str, str], list[Entry]],
    *,
    reason: str,
    actor: str,
    dry_run: bool,
) -> Erased:
    """Take away what is found, and every trace of it, all or none.

    Args:
        view: All there is.
        find: Says what goes; asked once the view is up to date, and under the write lock when something goes.
        receipts: From what goes, who does it and why to the lines of the ledger, one at least.
        reason: Why.
        actor: Who does it.
        dry_run: Only say what would go.

    Raises:
        StoreError: It is gone from every answer, but the disk did not let every trace be removed; the next writer goes on.
    """
    if dry_run:
        view.refresh()
        return _erased(view, find(), reason, dry_run=True)
    with staging(view.layout) as staging_fd, translated("erase the observation", view.layout.root), writing(view):
        view.refresh()
        drop_decided(view)
        found = find()
        done = _erased(view, found, reason, dry_run=False)
        erased = receipts(found, actor, done.reason)
        told = [*erased, *declined(found.held, actor=actor, reason="")]
        intent = intent_of(found.traces, found.unsaid, erased, [candidate_path(id_) for id_ in found.held])
        gone = [replace(edited, data=None) for edited in read_all(view, done.ids).values()]
        files = placings_of_sources(found.unsaid.files, staging_fd, at=told[0].at, actor=actor)
        announce(view.layout, intent)
        try:
            commit(view, staging_fd, [*gone, *found.edits], actor=actor, reason="", beside=told, further=files)
        except StoreError:  # it is done, and perhaps not durable: the next writer sweeps
            raise
        except Exception:
            withdraw(view.layout)
            raise
        try:
            view.refresh()
            sweep(view, intent)
        except OSError as error:
            raise StoreError(
                f"It is gone from every answer, but traces are left: {said_of(error, view.layout.root)}.",
                hint="The next opening or write removes them; look after the disk.",
            ) from error
    return done


def _as_seen(caller: View, done: Erased) -> Erased:
    """The result without what the caller may not know of: others' observations, and how the store keeps things."""
    named = (*done.still_said.values(), *done.kept.values())
    others = {*done.quoting, *done.earlier, *(id_ for some in named for id_ in some)}
    seen = locate_all(caller, others)
    still = {id_: there for id_, some in done.still_said.items() if (there := tuple(i for i in some if i in seen))}
    quoting = tuple(id_ for id_ in done.quoting if id_ in seen)
    kept = {source: tuple(id_ for id_ in ids if id_ in seen) for source, ids in done.kept.items()}
    earlier = tuple(id_ for id_ in done.earlier if id_ in seen)
    said = _remarks(told=done.reason != WITHHELD, still=still, quoting=quoting, kept=kept, earlier=earlier)
    return replace(
        done, edited=(), proposals=(), candidates=(), undo_records=(), n_lines=0, snapshots=(), segments=(), n_vectors=0,
        still_said=still, quoting=quoting, kept=kept, earlier=earlier, warnings=tuple(said),
    )  # fmt: skip


def hide_selected(view: View, selection: Selection, *, reason: str, actor: str, dry_run: bool = False) -> list[Changed]:
    """Take everything that a selection means out of every answer; the files stay, and `restore` brings each back.

    Raises:
        NotFoundError: There is no such observation, or nothing is as asked for; nothing was hidden.
        AccessError: The caller may not forget one of them; nothing was hidden.
    """
    if dry_run:
        view.refresh()
        return [
            Changed(o.id, o.path, changed=o.id not in view.hidden)
            for o in _observations(view, selected(view, selection))
        ]
    with staging(view.layout) as staging_fd, translated("hide the observations", view.layout.root), writing(view):
        view.refresh()
        now = read_all(view, [o.id for o in _observations(view, selected(view, selection))])
        edited = [replace(one, hidden=True) for one in now.values()]
        if any(not one.was_hidden for one in edited):
            commit(view, staging_fd, edited, actor=actor, reason=reason)
        return [Changed(one.made.id, one.path, changed=not one.was_hidden) for one in edited]


def _targets(asked: _Asked) -> list[Observation]:
    """The observations that are meant themselves, as their files say now.

    What a source is asked for by its place is the source: an observation that has other evidence stays and loses the quote.

    Raises:
        NotFoundError: One is not there.
        AccessError: The caller may not forget one.
    """
    view, selection = asked.caller, asked.selection
    meant = _observations(view, selected(view, selection, may_be_none=selection.ids is None))
    source = selection.source
    if source is None or parse_locator(source) is None:
        return meant
    return [o for o in meant if all(source in names_of_evidence(e) for e in o.evidence)]


def _observations(view: View, ids: Sequence[str]) -> list[Observation]:
    """Observations by their ids, as their files say now.

    Raises:
        NotFoundError: One is not there.
        AccessError: The caller may not forget one.
    """
    rows = locate_all(view, ids)
    missing = [id_ for id_ in ids if id_ not in rows]
    found = [rows[id_].observation for id_ in ids if id_ in rows]
    for o in found:
        view.access.require("forget", o.scope, id_=o.id)
    if missing:
        erased = [id_ for id_ in missing if id_ in view.receipts]
        hint = "It was erased already." if missing == erased else "`grail list` shows what is there."
        raise NotFoundError(f"There is no observation {', '.join(missing)}.", hint=hint)
    return found


def receipts_of(found: Found, actor: str, reason: str) -> list[Entry]:
    """One receipt an observation or candidate, one a removed source, and those of the words of turns and documents.

    Where somebody else says the same as an observation, the content is not held against anybody.
    """
    at, salt = format_time(datetime.now(UTC)), found.unsaid.salt
    traces, said = found.traces, found.unsaid.said
    told = [
        (o.id, "" if o.id in traces.twins else detail_of(text_of(o.title, o.content, o.scope), salt))
        for o in (*traces.observations, *found.suggested)
    ]
    told += [(id_, "") for id_ in found.unsaid.ids]
    told += [(new_id(), detail_of_said(said[at : at + _AT_ONCE], salt)) for at in range(0, len(said), _AT_ONCE)]
    told = told or [(new_id(), "")]  # turns that were not final alone
    return [Entry(ERASE, id_, reason=reason, at=at, actor=actor, detail=detail) for id_, detail in told]


def _erased(view: View, found: Found, reason: str, *, dry_run: bool) -> Erased:
    traces, gone, edits, held, _, strays = found
    told = words_of(traces.observations).isdisjoint(words_in(reason)) and traces.alone.isdisjoint(words_in(reason))
    earlier = sorted(
        {id_ for o in traces.observations for id_ in predecessors(o)} - {o.id for o in traces.observations}
    )
    earlier = [id_ for id_ in earlier if id_ in locate_all(view, earlier)]
    removed = tuple(file.path for file in gone.files if file.data is None)
    warnings = [warning for edited in edits for warning in edited.warnings]
    warnings += _remarks(told=told, still=traces.twins, quoting=traces.quoting, kept=gone.kept, earlier=earlier)
    warnings += [
        f"{path} carries the id of an erased observation above other words, and counts no longer: delete the file, or "
        "take its id line out to keep it."
        for path in strays
    ]
    n_bytes = sum(len(edited.old) for edited in read_all(view, [o.id for o in traces.observations]).values())
    n_bytes += sum(len(file.former) - len(file.data or b"") for file in gone.files)
    return Erased(
        tuple(o.id for o in traces.observations), tuple(o.path for o in traces.observations),
        n_bytes, tuple(sorted(one.path for one in edits if one.changes_file)),
        traces.proposals, traces.undo_records, traces.n_lines, traces.snapshots, traces.stale.segments,
        traces.stale.n_vectors, traces.twins, held, traces.quoting, gone.turns, removed, gone.kept, tuple(earlier),
        _beyond(view), reason if told else WITHHELD, tuple(dict.fromkeys(warnings)), dry_run,
    )  # fmt: skip


def _remarks(
    *,
    told: bool,
    still: Collection[str],
    quoting: Collection[str],
    kept: Mapping[str, Sequence[str]],
    earlier: Sequence[str],
) -> Iterator[str]:
    if not told:
        yield "the reason says some of what was erased; it is withheld from the ledger."
    if still:
        yield "other observations say the same, so the text may be written again; erase them as well."
    if quoting:
        yield "other observations hold the text of an erased one within theirs; look at them."
    for source, ids in kept.items():
        rest = f"{', '.join(ids)} rests on it" if ids else "it is more than the quote, or not for this caller to forget"
        yield f"{source} holds a quote of an erased observation and stays: {rest}; `with_sources` takes it along."
    if earlier:
        yield f"earlier revisions stay as history, and none becomes current: {', '.join(earlier)}; erase them as well, or say one anew."


def _beyond(view: View) -> tuple[str, ...]:
    """Places that may hold it still and that are not for us to change."""
    root = view.layout.root
    git = [folder for folder in (root, *root.parents) if (folder / ".git").exists()]
    return (*(f"{folder / '.git'}: the history of git" for folder in git[:1]), "backups and other copies of the folder")
