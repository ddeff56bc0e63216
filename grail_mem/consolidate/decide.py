"""Deciding on proposals: apply, reject, undo. Each proposal is one change of the store, all of it or nothing.

The write lock is held from looking at what a proposal rests on to telling the ledger. Knows nothing of how proposals are made
and shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from grail_mem.consolidate.changes import edited_by
from grail_mem.consolidate.decisions import Decided, entry_for, read_decisions
from grail_mem.consolidate.detect import listed
from grail_mem.consolidate.outcome import Outcome, file_changes
from grail_mem.consolidate.proposal import Proposal
from grail_mem.consolidate.proposal_file import read_sets
from grail_mem.consolidate.standing import changed_since, of_decision, visible, waiting_ids, withdrawn
from grail_mem.consolidate.undo_file import drop_undo, write_undo
from grail_mem.consolidate.undoing import undone
from grail_mem.errors import GrailError, InputError, NotFoundError
from grail_mem.model.observation import EPOCH
from grail_mem.model.times import format_time
from grail_mem.query.find import Known, locate_all
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.layout import Layout
from grail_mem.store.observation_file import instant_in
from grail_mem.write.edited import Edited, commit, read_all
from grail_mem.write.staged import staging, tell, writing

Progress = Callable[[int], None]


class _Asked(NamedTuple):
    """The proposals that were asked for, in order, and all that wait."""

    proposals: tuple[Proposal, ...]
    waiting: frozenset[str]


def _asked_for(view: View, ids: str | Collection[str], decided: Decided) -> _Asked:
    """The proposals with these ids, in order, each once.

    Raises:
        InputError: No id was given, or something that is none.
        NotFoundError: There is no proposal of one of them; the message names all such.
    """
    wanted = [text.strip().upper() for text in listed("ids", ids)]
    if not all(wanted) or not wanted:
        raise InputError("No proposal was named.", hint="`grail proposals list` shows those that wait.")
    stored = read_sets(view.layout)
    known = _from_ledger(decided) | dict(stored.proposals)
    there = {p.id: p for p in visible(view, [known[id_] for id_ in dict.fromkeys(wanted) if id_ in known])}
    missing = [id_ for id_ in dict.fromkeys(wanted) if id_ not in there]
    if missing:
        raise NotFoundError(
            f"There is no proposal {', '.join(missing)}.", hint="`grail proposals list` shows those that wait."
        )
    return _Asked(tuple(there[id_] for id_ in dict.fromkeys(wanted)), frozenset(waiting_ids(stored, decided)))


def _from_ledger(decided: Decided) -> dict[str, Proposal]:
    """Proposals of which only the decision is left, since `output/` was deleted."""
    return {id_: of_decision(one) for id_, one in decided.latest.items()}


def apply(
    view: View,
    ids: str | Collection[str],
    *,
    dry_run: bool,
    actor: str,
    reason: str,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Do what proposals suggest.

    Args:
        view: The store.
        ids: Which, in the order in which they are applied.
        dry_run: Only say what would happen to each file, each proposal taken by itself.
        actor: Who decides.
        reason: Why, for the ledger.
        progress: Called with how many are done.

    Raises:
        NotFoundError: There is no such proposal.
        StoreError: The disk did not take it; the proposals before that one are applied.
    """
    if dry_run:
        decided = read_decisions(view.layout)
        asked = _asked_for(view, ids, decided)
        return [_planned(view, proposal, asked, decided, create=False)[0] for proposal in asked.proposals]
    outcomes: list[Outcome] = []
    _asked_for(view, ids, read_decisions(view.layout))  # a wrong id is told before anything is made
    with staging(view.layout) as staging_fd, translated("apply the proposal", view.layout.root), writing(view):
        decided = read_decisions(view.layout)
        asked, clock = _asked_for(view, ids, decided), _Clock(decided.last_at)
        view.paths_of(
            {item.id for proposal in asked.proposals for item in proposal.affected}
        )  # asked for once, then known
        for proposal in asked.proposals:
            _require_apply(view, proposal)
            folders = _missing_folders(view.layout, proposal)
            try:
                outcome, edited = _planned(view, proposal, asked, decided, create=True)
            except OSError:  # no room for a folder
                _remove_empty(view.layout, folders)
                raise
            if outcome.done:
                write_undo(view.layout, proposal.id, edited, folders)
                entry = entry_for(
                    proposal, "apply", decided, salt=view.receipts.salt, at=clock.now(), actor=actor, reason=reason
                )
                try:
                    commit(
                        view, staging_fd, edited, actor=actor, reason=_because(proposal, reason), beside=[entry], right="apply"
                    )  # fmt: skip
                except Exception:  # the disk may have taken it and not said so
                    if read_decisions(view.layout).statuses.get(proposal.id) != "applied":
                        drop_undo(view.layout, proposal.id)
                        _remove_empty(view.layout, folders)
                    raise
                outcome = replace(outcome, status="applied")
            else:
                _remove_empty(view.layout, folders)
            outcomes.append(outcome)
            if progress:
                progress(len(outcomes))
    return outcomes


class _Clock:
    """Times for decisions, each later than all decisions before it, whatever another clone's clock said."""

    def __init__(self, last_at: str) -> None:
        self._last = instant_in(last_at, "UTC") or EPOCH  # somebody may have changed the line

    def now(self) -> str:
        """The time, or the shortest time after the last decision."""
        with suppress(OverflowError):
            self._last = max(datetime.now(UTC), self._last + timedelta(microseconds=1))
        return format_time(self._last)


def _planned(
    view: View, proposal: Proposal, asked: _Asked, decided: Decided, *, create: bool
) -> tuple[Outcome, list[Edited]]:
    """What applying a proposal comes to, and the observations as they would be; none when it cannot be applied."""
    status = decided.statuses.get(proposal.id, "pending")

    def refused(reasons: Sequence[str], status: str = status) -> tuple[Outcome, list[Edited]]:
        return Outcome(proposal.id, proposal.kind, status, done=False, reasons=tuple(reasons)), []

    if status == "applied":
        return refused([_when(decided, proposal)])
    if not proposal.changes:
        return refused([proposal.rationale])
    try:
        now = read_all(view, [item.id for item in proposal.affected])
    except (GrailError, OSError) as error:  # of this one alone; the others are gone on with
        return refused([str(error)])
    stale = tuple(changed_since(proposal.affected, _known(now), view.hidden))
    if not stale and status == "pending" and proposal.id not in asked.waiting:
        stale = withdrawn(proposal, decided).stale
    if stale:
        return refused(stale, "stale")
    try:
        edited = edited_by(view, proposal.changes, now, create=create)
    except GrailError as error:
        return refused(error.problems if isinstance(error, InputError) else [str(error)])
    warnings = tuple(dict.fromkeys(warning for one in edited for warning in one.warnings))
    return Outcome(proposal.id, proposal.kind, status, done=True, reasons=warnings, files=file_changes(edited)), edited


def _require_apply(view: View, proposal: Proposal) -> None:
    """Let pass who may decide on a proposal: the owner, or one with the right `apply` wherever it rests."""
    if view.principal is not None:
        for row in locate_all(view, [item.id for item in proposal.affected]).values():
            view.access.require("apply", row.observation.scope, id_=row.observation.id)


def _known(now: Mapping[str, Edited]) -> dict[str, Known]:
    return {id_: Known(one.was, one.row.observation.sha256) for id_, one in now.items() if one.row is not None}


def _when(decided: Decided, proposal: Proposal) -> str:
    one = decided.latest[proposal.id]
    return f"it was applied already, {one.at} by {one.actor or 'nobody named'}"


def reject(view: View, ids: str | Collection[str], *, actor: str, reason: str) -> list[Outcome]:
    """Say that proposals are wrong: no file changes, and they do not come back on the same grounds.

    Raises:
        NotFoundError: There is no such proposal.
    """
    outcomes: list[Outcome] = []
    entries = []
    _asked_for(view, ids, read_decisions(view.layout))  # a wrong id is told before anything is made
    with staging(view.layout), translated("reject the proposal", view.layout.root), writing(view):
        decided = read_decisions(view.layout)
        clock = _Clock(decided.last_at)
        for proposal in _asked_for(view, ids, decided).proposals:
            _require_apply(view, proposal)
            status = decided.statuses.get(proposal.id, "pending")
            if status in ("applied", "rejected"):
                said = "it is applied; undo it first" if status == "applied" else "it was rejected already"
                outcomes.append(Outcome(proposal.id, proposal.kind, status, done=False, reasons=(said,)))
                continue
            entries.append(
                entry_for(
                    proposal, "reject", decided, salt=view.receipts.salt, at=clock.now(), actor=actor, reason=reason
                )
            )
            outcomes.append(Outcome(proposal.id, proposal.kind, "rejected", done=True))
        if entries:
            tell(view, entries)
    return outcomes


def undo(
    view: View, ids: str | Collection[str], *, dry_run: bool, actor: str, reason: str, progress: Progress | None = None
) -> list[Outcome]:
    """Take decisions back: what was applied gets its former bytes, what was rejected waits again.

    Of several, the one applied last is undone first; the outcomes come in the order asked for.

    Args:
        view: The store.
        ids: Which.
        dry_run: Only say what would happen.
        actor: Who decides.
        reason: Why, for the ledger.
        progress: Called with how many are done.

    Raises:
        NotFoundError: There is no such proposal.
    """
    if dry_run:
        decided = read_decisions(view.layout)
        asked = _asked_for(view, ids, decided)
        return [_undoing(view, proposal, decided)[0] for proposal in asked.proposals]
    outcomes: dict[str, Outcome] = {}
    _asked_for(view, ids, read_decisions(view.layout))  # a wrong id is told before anything is made
    with staging(view.layout) as staging_fd, translated("undo the proposal", view.layout.root), writing(view):
        decided = read_decisions(view.layout)
        asked, clock = _asked_for(view, ids, decided), _Clock(decided.last_at)
        places = {id_: number for number, id_ in enumerate(decided.latest)}
        for proposal in sorted(asked.proposals, key=lambda p: -places.get(p.id, -1)):
            _require_apply(view, proposal)
            outcome, edited, folders = _undoing(view, proposal, decided)
            if outcome.done:
                entry = entry_for(
                    proposal, "undo", decided, salt=view.receipts.salt, at=clock.now(), actor=actor, reason=reason
                )
                try:
                    commit(
                        view, staging_fd, edited, actor=actor, reason=_because(proposal, reason), beside=[entry], right="apply"
                    )  # fmt: skip
                except InputError as error:  # a link stands where a folder was; nothing was changed
                    status = decided.statuses[proposal.id]
                    outcome = Outcome(proposal.id, proposal.kind, status, done=False, reasons=tuple(error.problems))
                else:
                    _remove_empty(view.layout, folders)
                    drop_undo(view.layout, proposal.id)
            outcomes[proposal.id] = outcome
            if progress:
                progress(len(outcomes))
    return [outcomes[proposal.id] for proposal in asked.proposals]


def _undoing(view: View, proposal: Proposal, decided: Decided) -> tuple[Outcome, list[Edited], tuple[str, ...]]:
    """What undoing comes to, the observations as they would be, and the folders that are no longer needed."""
    status = decided.statuses.get(proposal.id, "pending")
    if status == "rejected":
        return (
            Outcome(proposal.id, proposal.kind, "pending", done=True, reasons=("it waits for a decision again",)),
            [],
            (),
        )
    if status != "applied":
        said = "it was undone already" if status == "undone" else "nobody applied or rejected it"
        return Outcome(proposal.id, proposal.kind, status, done=False, reasons=(said,)), [], ()
    try:
        edited, remarks, folders = undone(view, proposal.id)
    except GrailError as error:
        reasons = tuple(error.problems) if isinstance(error, InputError) else (str(error),)
        return Outcome(proposal.id, proposal.kind, status, done=False, reasons=reasons), [], ()
    done = Outcome(proposal.id, proposal.kind, "undone", done=True, reasons=remarks, files=file_changes(edited))
    return done, edited, folders


def _because(proposal: Proposal, reason: str) -> str:
    return f"proposal {proposal.id} ({proposal.kind}){f': {reason}' if reason else ''}"


def _missing_folders(layout: Layout, proposal: Proposal) -> tuple[str, ...]:
    """Folders that a proposal makes, relative to the root, the deepest first."""
    missing: set[str] = set()
    for change in proposal.changes:
        category = change.get("category") or (change.get("draft") or {}).get("category") or ""
        folder = layout.folder_of(str(category))
        while folder and not os.path.isdir(layout.root / folder):
            missing.add(folder)
            folder = folder.rpartition("/")[0]
    return tuple(sorted(missing, key=lambda name: (-name.count("/"), name)))


def _remove_empty(layout: Layout, folders: Sequence[str]) -> None:
    for folder in folders:
        if layout.holds(f"{folder}/a.md"):
            with suppress(OSError):  # somebody put something there
                os.rmdir(layout.root / folder)
