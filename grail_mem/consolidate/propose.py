"""From findings to a set of proposals: what is new, what waits already, and what was declined.

Changes no observation. Knows nothing of how a finding is made and of how a proposal is applied.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from grail_mem.consolidate.answers import FOLDER, Answers
from grail_mem.consolidate.decisions import Decided, read_decisions, what_changed
from grail_mem.consolidate.detect import Detected, check_kinds, detect
from grail_mem.consolidate.finding import LEAST_CONFIDENCE, Finding, in_scopes
from grail_mem.consolidate.listing import in_order, share
from grail_mem.consolidate.proposal import Affected, Evidence, Proposal, read_proposal, written
from grail_mem.consolidate.proposal_file import Stored, drop_replaced, read_sets, write_set
from grail_mem.consolidate.reading import Reading
from grail_mem.consolidate.standing import standing, visible, waiting_ids
from grail_mem.errors import AccessError, IndexUnusableError, InputError
from grail_mem.index.embedder import LOCAL_MODEL
from grail_mem.index.vectors import stored_vectors
from grail_mem.model.problem import Problem
from grail_mem.model.scope import Principal
from grail_mem.model.times import format_time
from grail_mem.model.ulid import new_id
from grail_mem.query.sql import SqlSession
from grail_mem.query.view import View
from grail_mem.settings import Settings
from grail_mem.store.files import translated
from grail_mem.store.layout import Layout
from grail_mem.store.lock import exclusive
from grail_mem.support.entailment import EntailmentModel

LOCK: Final = "consolidate.lock"
_BY_NAME: Final = frozenset({"discover_community", "split_folder", "move_entity"})
"""Kinds whose findings are told apart by names alone, which two scopes may share."""


@dataclass(frozen=True, slots=True)
class ProposalSet:
    """What one run came to.

    Attributes:
        proposals: Everything that waits for a decision, the new ones among them; by kind, the surest first.
        new: Ids of those that this run added.
        path: The file of the set, relative to the root; empty when nothing was written, since nothing is new.
        ran: Kinds that were looked for.
        skipped: Kinds that could not be looked for, with the reason.
        n_declined: Findings left out because somebody rejected or undid them and their grounds are the same.
        problems: What could not be read or used; for a session without files of proposals, which all share.
        took_s: How long it took, in seconds.
    """

    proposals: tuple[Proposal, ...]
    new: tuple[str, ...] = ()
    path: str = ""
    ran: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    n_declined: int = 0
    problems: tuple[Problem, ...] = ()
    took_s: float = 0.0

    def __iter__(self) -> Iterator[Proposal]:
        return iter(self.proposals)

    def __len__(self) -> int:
        return len(self.proposals)

    def to_dict(self) -> dict[str, Any]:
        """The set as plain JSON values."""
        return {
            "proposals": [proposal.to_dict() for proposal in self.proposals], "new": list(self.new), "path": self.path,
            "ran": list(self.ran), "skipped": dict(self.skipped), "n_declined": self.n_declined,
            "problems": [problem.to_dict() for problem in self.problems], "took_s": round(self.took_s, 3),
        }  # fmt: skip


def consolidate(
    layout: Layout,
    settings: Settings,
    *,
    kinds: Collection[str] | None = None,
    min_confidence: float = LEAST_CONFIDENCE,
    dry_run: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    principal: Principal | None = None,
    entailment: Callable[[], EntailmentModel | None] | None = None,
) -> ProposalSet:
    """Look through everything that counts and propose what is worth changing; nothing is changed.

    Args:
        layout: Where the store is.
        settings: Its settings.
        kinds: What to look for; None looks for everything.
        min_confidence: The least that a proposal must be sure of, 0 to 1.
        dry_run: Write no set.
        progress: Called with the kind, how much of it is done, and how much there is.
        principal: Who asks; only scopes are looked through where that one may propose. None is the owner.
        entailment: Makes the model that reads contradictions in other words; None does without.

    Raises:
        AccessError: The caller may propose nowhere.
        InputError: A kind is not known, or the confidence is no number from 0 to 1.
        MissingDependencyError: The model needs a package that is not installed.
    """
    asked = check_kinds(kinds)
    share("min_confidence", min_confidence)
    model = entailment() if entailment is not None and "resolve_contradiction" in asked else None
    if not layout.is_store():
        return ProposalSet((), ran=asked)
    began = time.monotonic()
    with (
        translated("look through the store", layout.root),
        exclusive(layout.local / LOCK),  # two runs at once would each propose the same
        closing(
            View(layout, settings, principal=principal, right="propose")
        ) as view,  # a view of its own, so that the caller's goes on answering
        closing(_session(view)) as session,
    ):
        if view.scopes is not None and not view.scopes:
            raise AccessError(
                "This session may not propose anything.", hint="The owner can allow it: `grail grant`, right `propose`."
            )
        at, n_erased = datetime.now(UTC), len(view.receipts)
        decided, stored = read_decisions(view.layout), read_sets(view.layout)
        now_us = int(at.timestamp() * 1_000_000)
        vectors = stored_vectors(layout.vectors, LOCAL_MODEL)
        reading = Reading(
            session, now_us, decided.forbidden, inbox=settings.default_category, vectors=vectors, entailment=model,
            answers=None if model is None else Answers(layout.output / FOLDER, model.name),
        )  # fmt: skip
        try:
            detected = detect(reading, asked, progress=progress)
        finally:  # what a model was asked for a minute is not asked again because the run was stopped
            if reading.answers is not None and not dry_run:
                reading.answers.write()
        made = _Run(session, decided, stored, format_time(at), settings.default_scope).proposals(
            detected, min_confidence
        )
        kept = _kept(view, stored, decided, made, detected.ran)
        waiting = in_order([*made.proposals, *kept])
        fresh = [p.id for p in made.proposals if p.id not in stored.proposals]
        path = ""
        if not dry_run and [written(p) for p in waiting] != [written(stored.proposals[i]) for i in stored.newest]:
            path = write_set(view.layout, waiting, made_at=format_time(at), about=_about(detected))
            drop_replaced(view.layout, stored, waiting)
            view.catch_up()
            if (
                len(view.receipts) > n_erased
            ):  # it may quote what was erased meanwhile; the next run finds the rest again
                (view.layout.root / path).unlink(missing_ok=True)
                path, waiting, fresh = "", [], []
        if principal is not None and not fresh:  # written for what became of others' proposals
            path = ""
    return ProposalSet(
        tuple(standing(view, visible(view, waiting), decided)), tuple(fresh), path, tuple(detected.ran), detected.skipped, made.n_declined,
        (*(stored.problems if principal is None else ()), *reading.problems, *made.problems), time.monotonic() - began,
    )  # fmt: skip


def _session(view: View) -> SqlSession:
    """SQL over the present state; a snapshot that was removed for a newer one meanwhile is no error."""
    view.refresh()
    while True:
        try:
            return SqlSession(view)
        except IndexUnusableError:
            if (view.layout.snapshots / view.manifest.name).is_dir():
                raise
            view.refresh()


def _about(detected: Detected) -> dict[str, Any]:
    return {"ran": detected.ran, "skipped": detected.skipped}


def _kept(view: View, stored: Stored, decided: Decided, made: _Made, ran: Collection[str]) -> list[Proposal]:
    """Those that waited and were not found again: they stay, unless they were looked for and what they rest on changed."""
    again = {proposal.id for proposal in made.proposals}
    prints = {proposal.fingerprint for proposal in made.proposals}
    waiting = [
        proposal
        for id_ in waiting_ids(stored, decided)
        if (proposal := stored.proposals[id_]).id not in again and proposal.fingerprint not in prints
    ]
    mine = {proposal.id for proposal in visible(view, waiting)}
    stands = standing(view, waiting, decided)
    return [
        old
        for old, now in zip(waiting, stands, strict=True)
        if old.id not in mine or not now.stale or old.kind not in ran
    ]


@dataclass(slots=True)
class _Made:
    """Proposals of one run, how many findings were declined before, and what could not be used."""

    proposals: list[Proposal] = field(default_factory=list)
    n_declined: int = 0
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Run:
    """What findings are held against."""

    session: SqlSession
    decided: Decided
    stored: Stored
    at: str
    default_scope: str

    def proposals(self, detected: Detected, min_confidence: float) -> _Made:
        """The proposals that findings become; a finding twice is one."""
        sure = self._placed([one for one in reversed(detected.findings) if one.confidence >= min_confidence])
        found = {one.fingerprint: one for one in sure}
        now = self._as_they_are({id_ for one in found.values() for id_ in one.affected})
        waiting = {
            proposal.fingerprint: proposal
            for id_ in reversed(waiting_ids(self.stored, self.decided))
            for proposal in [self.stored.proposals[id_]]
        }
        made = _Made()
        for one in reversed(found.values()):
            before = self.decided.decline_of(one.fingerprint)
            if self.decided.declines(one.fingerprint, one.grounds):
                made.n_declined += 1
                continue
            again = () if before is None else what_changed(before.grounds, one.grounds)
            try:
                proposal = self._proposal(one, now, again, waiting.get(one.fingerprint))
            except InputError as error:
                made.problems.append(
                    Problem("bad_finding", f"a finding was left out: {'; '.join(error.problems)}", one.kind, severity="warning")
                )  # fmt: skip
                continue
            made.proposals.append(proposal)
        return made

    def _placed(self, findings: Sequence[Finding]) -> list[Finding]:
        """Findings; those that go by names of entities and folders are about these in the scopes in which they are found.

        So what somebody decides where a caller may not read changes nothing of what that caller is told.
        """
        ids = {id_ for one in findings if one.kind in _BY_NAME for id_ in one.affected}
        text = "SELECT id, coalesce(scope, '') AS scope FROM rows WHERE id IN (SELECT unnest($ids::VARCHAR[]))"
        rows = self.session.ask(text, {"ids": sorted(ids)}).to_pylist() if ids else []
        scopes = {row["id"]: "" if row["scope"] == self.default_scope else row["scope"] for row in rows}
        return [
            replace(one, meaning=(*one.meaning, *in_scopes(scopes.get(id_, "") for id_ in one.affected)))
            if one.kind in _BY_NAME
            else one
            for one in findings
        ]

    def _as_they_are(self, ids: Collection[str]) -> dict[str, Affected]:
        text = "SELECT id, path, sha256 FROM rows WHERE id IN (SELECT unnest($ids::VARCHAR[]))"
        rows = self.session.ask(text, {"ids": sorted(ids)}).to_pylist()
        return {row["id"]: Affected(row["id"], row["path"], row["sha256"]) for row in rows}

    def _proposal(
        self, one: Finding, now: Mapping[str, Affected], again: Sequence[str], waiting: Proposal | None
    ) -> Proposal:
        made = Proposal(
            waiting.id if waiting else new_id(), one.kind, round(one.confidence, 4), one.rationale, one.payload, one.changes,
            Evidence(one.figures, one.quotes), tuple(now[id_] for id_ in sorted(set(one.affected)) if id_ in now),
            one.fingerprint, one.grounds, one.pairs, waiting.created_at if waiting else self.at, tuple(again),
        )  # fmt: skip
        return read_proposal(_as_json(written(made)))  # as it will be read: what a detector gave is checked, too


def _as_json(value: Mapping[str, Any]) -> Any:
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise InputError(f"it holds a value that is not JSON: {error}") from error
