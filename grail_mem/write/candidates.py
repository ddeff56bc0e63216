"""Candidates: observations that somebody suggests, each a file of its own that counts for nothing until it is approved.

A candidate lies under `.grail/candidates` in the form of an observation file, outside every answer; the ledger tells that it
was submitted and what was decided. When it is decided its file goes. Knows nothing of who suggests what.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from grail_mem.errors import GrailError, InputError, NotFoundError
from grail_mem.model.observation import Observation, fingerprints
from grail_mem.model.problem import Gather
from grail_mem.model.times import format_time
from grail_mem.query.view import View
from grail_mem.store.files import UNKNOWN_STATE, read_file, translated
from grail_mem.store.layout import CANDIDATES, Layout, candidate_path, is_candidate_path
from grail_mem.store.ledger import decisions
from grail_mem.store.ledger_line import CANDIDATE, SUBMIT, Entry
from grail_mem.store.observation_file import read_observation, render_observation
from grail_mem.write.add import add
from grail_mem.write.evidence import CAPS, capped, with_evidence
from grail_mem.write.permit import for_caller
from grail_mem.write.placed_facts import Written
from grail_mem.write.screening import quoting_no_secret
from grail_mem.write.staged import Placing, discard, make_durable, place, stage, staging, tell, writing
from grail_mem.write.traces import LEAST, flattened
from grail_mem.write.validate import DRAFT_FIELDS, Draft, make_observation, read_draft

ORIGINS: Final[Mapping[str, str | None]] = {
    "user": "user_statement", "agent": "agent_inference", "tool": "tool_result", "media": "tool_result", "import": None,
    "extraction": "agent_inference",
}  # fmt: skip
"""Where a candidate can come from, and the source kind that it has when its draft names none, and at most without a quote."""
STATUSES: Final = ("pending", "approved", "declined")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One suggestion.

    Attributes:
        id: ULID of the candidate; the observation that it becomes has one of its own.
        status: One of `STATUSES`.
        origin: Where it comes from: one of `ORIGINS`.
        observation: What it says, with its evidence; None when it was decided.
        submitted_at: When, in UTC.
        actor: Who submitted it.
        decided_at: When it was decided; empty while it waits.
        decided_by: Who decided.
        reason: Why.
        became: The observation that it became; empty when it did not.
        edited: Whether its file was changed after it was submitted.
    """

    id: str
    status: str
    origin: str
    observation: Observation | None
    submitted_at: str
    actor: str
    decided_at: str = ""
    decided_by: str = ""
    reason: str = ""
    became: str = ""
    edited: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The candidate as plain JSON values."""
        said = {name: getattr(self, name) for name in self.__slots__ if name != "observation"}
        return said | {"observation": None if self.observation is None else self.observation.to_dict()}


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of one submission.

    Attributes:
        id: The candidate; the one that says the same when there is one.
        created: False when the same was submitted before.
        status: `pending`, or what was decided on the same before.
        warnings: What was adjusted or is worth knowing.
    """

    id: str
    created: bool = True
    status: str = "pending"
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values."""
        return {"id": self.id, "created": self.created, "status": self.status, "warnings": list(self.warnings)}


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of one decision.

    Attributes:
        id: The candidate.
        status: What it is now.
        done: Whether this call did what was asked; in a dry run, whether it would.
        observation: The observation that it became; empty when it did not.
        reasons: Why it was not done, or what is worth knowing.
    """

    id: str
    status: str
    done: bool
    observation: str = ""
    reasons: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The outcome as plain JSON values."""
        return {
            "id": self.id, "status": self.status, "done": self.done, "observation": self.observation,
            "reasons": list(self.reasons),
        }  # fmt: skip


class _GoneError(Exception):
    """Somebody else decided meanwhile."""


def submit(view: View, drafts: Sequence[Mapping[str, Any]], *, origin: object, actor: str) -> list[Submitted]:
    """Suggest observations; none of them counts until it is approved.

    Args:
        view: The store.
        drafts: Mappings with the arguments of `add_observation`, and `evidence`.
        origin: Where they come from: one of `ORIGINS`.
        actor: Who suggests them.

    Raises:
        InputError: One or more cannot be used, or a quote stands nowhere; `problems` lists every reason. None was stored.
        AccessError: The caller may not propose there.
    """
    made = checked(view, drafts, origin)
    if not made:
        return []
    with staging(view.layout) as staging_fd, translated("store the candidates"):
        with writing(view):
            view.catch_up()
            known = {print_: one for one in _known(view).values() if (print_ := one.print_)}
            results: list[Submitted] = []
            new: dict[str, Observation] = {}
            for o, warnings in made:
                view.access.require("propose", o.scope)
                print_, *others = (f"{one:016x}" for one in fingerprints(o, view.access.default_scope))
                there = next((known[one] for one in (print_, *others) if one in known), None)
                if there is not None:
                    results.append(Submitted(there.id, created=False, status=there.status, warnings=warnings))
                    continue
                known[print_] = _Line(o.id, "pending", str(origin), print_, Entry(SUBMIT, o.id))
                new[print_] = o
                results.append(Submitted(o.id, warnings=warnings))
            _place(view, staging_fd, new, str(origin), actor)
        make_durable(view)
    return results


def checked(
    view: View, drafts: Sequence[Mapping[str, Any]], origin: object
) -> list[tuple[Observation, tuple[str, ...]]]:
    """What drafts would become, each with its warnings; nothing is stored.

    Raises:
        InputError: One or more cannot be used, or a quote stands nowhere; `problems` lists every reason.
        AccessError: The caller may not propose there.
    """
    gather, now = Gather(), datetime.now(UTC)
    if not isinstance(origin, str) or origin not in ORIGINS:
        raise InputError(f"origin must be one of {', '.join(ORIGINS)}, not {origin!r:.60}.")

    def one(values: Any) -> tuple[Observation, tuple[str, ...]]:
        draft, located = with_evidence(view, for_caller(view, read_draft(values), "propose"))
        o, warnings = make_observation(draft, now=now, settings=view.settings)
        kind, sure, lowered = _authority(o, draft, origin)
        told = (*warnings, *located, *lowered)
        return replace(o, source_kind=kind, confidence=sure, extra={"origin": origin}), told

    with quoting_no_secret():
        listed = [
            gather.read(f"candidate {number}", values if values is not None else (), one, None)
            for number, values in enumerate(drafts, start=1)
        ]
        gather.stop("Nothing was submitted.")
    return [item for item in listed if item is not None]


def _authority(o: Observation, draft: Draft, origin: str) -> tuple[str | None, float, list[str]]:
    """The kind of source and confidence of a candidate: what its quotes' speakers allow, or else what its origin does."""
    own = ORIGINS[origin]
    if o.evidence or own is None:
        sure = o.confidence if draft.confidence is not None else CAPS.get(o.source_kind or "", o.confidence)
        return o.source_kind, sure, []
    kind, most, lowered = capped(o.source_kind or own, draft.confidence, own)
    return kind, float(most), [text.replace("the quote's speaker", f"the origin {origin}") for text in lowered]


def _place(view: View, staging_fd: int, new: Mapping[str, Observation], origin: str, actor: str) -> None:
    at, data = format_time(datetime.now(UTC)), {print_: render_observation(o) for print_, o in new.items()}
    staged = stage(staging_fd, list(data.values()))
    placings = [
        Placing(name, candidate_path(o.id), data[print_], Entry(
            SUBMIT, o.id, candidate_path(o.id), digest=sha256(data[print_]).hexdigest(), fingerprint=print_,
            detail=json.dumps({"origin": origin}), at=at, actor=actor,
        )) for name, (print_, o) in zip(staged, new.items(), strict=True)
    ]  # fmt: skip
    try:
        place(view, placings, staging_fd)
    except Exception:  # not an interrupt: what is committed by then is finished by the next writer
        discard(staging_fd, staged)
        raise


@dataclass(frozen=True, slots=True)
class _Line:
    """What the ledger tells of a candidate."""

    id: str
    status: str
    origin: str
    print_: str
    submitted: Entry
    decided: Entry | None = None


def _known(view: View) -> dict[str, _Line]:
    """Every candidate of which the ledger knows, by id; one that was approved anywhere is approved."""
    found: dict[str, _Line] = {}
    entries = decisions(view.layout, CANDIDATE)
    for entry in entries:
        if entry.action == SUBMIT:
            found.setdefault(
                entry.id, _Line(entry.id, "pending", _detail(entry, "origin"), entry.fingerprint, submitted=entry)
            )
    for entry in entries:
        one = found.get(entry.id)
        if one is None or entry.action == SUBMIT or one.status == "approved":
            continue
        status = "approved" if entry.action == "approve" else "declined"
        found[entry.id] = replace(one, status=status, decided=entry)
    return found


def _detail(entry: Entry, name: str) -> str:
    with suppress(ValueError, AttributeError):
        return str(json.loads(entry.detail).get(name, ""))
    return ""


def candidates(view: View, *, status: Collection[str], origin: Collection[str]) -> tuple[Candidate, ...]:
    """Candidates in the order in which they were submitted, those that the caller may read.

    Args:
        view: The store.
        status: Of these; empty for those that wait.
        origin: From these; empty for all.

    Raises:
        InputError: A status or origin is not known.
    """
    wanted = set(status) or {"pending"}
    wanted = set(STATUSES) if "all" in wanted else wanted
    problems = [f"status must be one of {', '.join(STATUSES)} or all, not {one!r}." for one in wanted - set(STATUSES)]
    problems += [f"origin must be one of {', '.join(ORIGINS)}, not {one!r}." for one in set(origin) - set(ORIGINS)]
    if problems:
        raise InputError(" ".join(problems), problems=problems)
    view.catch_up()
    listed = (_candidate(view, one) for one in _known(view).values() if one.status in wanted)
    return tuple(
        one for one in listed if one is not None and one.status in wanted and (not origin or one.origin in origin)
    )


def _candidate(view: View, line: _Line) -> Candidate | None:
    """A candidate with what its file says; None when the caller may not see it, or its file is gone."""
    row, edited = None, False
    if line.status == "pending" and (data := _file_of(view, line.id)) is None:
        line = _known(view)[line.id]  # its file goes when somebody has just decided
    if line.status == "pending":
        if data is None:
            return None
        row = _row_of(view, line.id, data)
        edited = sha256(data).hexdigest() != line.submitted.digest
    if view.principal is not None and (row is None or not view.access.may("read", row.scope)):
        return None
    decided = line.decided or Entry("", "")
    return Candidate(
        line.id, line.status, line.origin, row, line.submitted.at, line.submitted.actor, decided.at, decided.actor,
        decided.reason, _detail(decided, "observation"), edited,
    )  # fmt: skip


def _file_of(view: View, id_: str) -> bytes | None:
    try:
        return read_file(view.layout.root / candidate_path(id_))[0]
    except OSError:
        return None


def _row_of(view: View, id_: str, data: bytes) -> Observation:
    path = candidate_path(id_)
    row = read_observation(data, path, "", UNKNOWN_STATE, zone=view.settings.zone).observation
    return replace(row, category=_category(data, row))


def _category(data: bytes, row: Observation) -> str:
    """The category that a candidate's file names, since its folder says nothing."""
    for line in data.decode(errors="replace").split("\n---", 1)[0].splitlines():
        if line.startswith("category:"):
            return line.removeprefix("category:").strip().strip("\"'")
    return row.category


def _named(view: View, ids: str | Collection[str]) -> list[Candidate]:
    """Candidates by id, each once, in the order asked for."""
    wanted = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
    there = {one.id: one for one in candidates(view, status=("all",), origin=())}
    missing = [str(id_) for id_ in wanted if id_ not in there]
    if missing:
        raise NotFoundError(
            f"There is no candidate {', '.join(missing)}.", hint="`grail candidates list` shows those that wait."
        )
    return [there[id_] for id_ in wanted]


def approve(
    view: View,
    ids: str | Collection[str],
    *,
    dry_run: bool,
    actor: str,
    reason: str,
    progress: Callable[[int], None] | None = None,
) -> list[Decided]:
    """Make candidates observations, by the way that every observation takes; its evidence is located and checked again.

    Args:
        view: The store.
        ids: Which, in the order in which they are approved.
        dry_run: Only say what would happen.
        actor: Who approves.
        reason: Why, for the ledger.
        progress: Called with how many are done.

    Raises:
        NotFoundError: There is no such candidate; none was approved.
        AccessError: The caller may not apply in the scope of one.
        StoreError: The disk did not take one; those before it are approved.
    """
    outcomes: list[Decided] = []
    for one in _named(view, ids):
        outcomes.append(_approve(view, one, dry_run=dry_run, actor=actor, reason=reason))
        if progress:
            progress(len(outcomes))
    if not dry_run:
        drop_decided(view)
    return outcomes


def _approve(view: View, one: Candidate, *, dry_run: bool, actor: str, reason: str) -> Decided:
    if one.observation is None:
        return Decided(
            one.id, one.status, done=False, observation=one.became, reasons=(f"it was {one.status} already",)
        )
    view.access.require("apply", one.observation.scope)
    draft = draft_of(one.observation)

    def beside(results: Sequence[Written]) -> list[Entry]:
        if _known(view)[one.id].status != "pending":
            raise _GoneError
        detail, at = json.dumps({"observation": results[0].id}), format_time(datetime.now(UTC))
        return [Entry("approve", one.id, reason=reason, detail=detail, at=at, actor=actor)]

    try:
        if dry_run:
            with_evidence(view, for_caller(view, draft, "apply"))
            make_observation(draft, now=datetime.now(UTC), settings=view.settings)
            return Decided(one.id, "pending", done=True)
        (written,) = add(view, [draft], actor=actor, right="apply", beside=beside)
    except _GoneError:
        there = _known(view)[one.id]
        became = _detail(there.decided or Entry("", ""), "observation")
        return Decided(
            one.id, there.status, done=False, observation=became, reasons=(f"it was {there.status} already",)
        )
    except InputError as error:
        return Decided(one.id, "pending", done=False, reasons=tuple(error.problems))
    except GrailError as error:
        if error.code != "conflict":
            raise
        return Decided(one.id, "pending", done=False, reasons=(str(error),))
    _drop(view, one.id)
    return Decided(one.id, "approved", done=True, observation=written.id, reasons=written.warnings)


def decline(view: View, ids: str | Collection[str], *, dry_run: bool, actor: str, reason: str) -> list[Decided]:
    """Say that candidates are not wanted; the same is not submitted again.

    Raises:
        NotFoundError: There is no such candidate; none was declined.
        AccessError: The caller may not apply in the scope of one; none was declined.
    """
    named = _named(view, ids)
    for one in named:
        if one.observation is not None:
            view.access.require("apply", one.observation.scope)
    if dry_run:
        return [Decided(one.id, one.status, done=one.status == "pending") for one in named]
    outcomes: list[Decided] = []
    entries: list[Entry] = []
    with staging(view.layout), translated("decline the candidates"), writing(view):
        known = _known(view)
        for one in named:
            if (status := known[one.id].status) != "pending":
                outcomes.append(Decided(one.id, status, done=False, reasons=(f"it was {status} already",)))
                continue
            entries += declined([one.id], actor=actor, reason=reason)
            outcomes.append(Decided(one.id, "declined", done=True))
        if entries:
            tell(view, entries)
        drop_decided(view)
    return outcomes


def declined(ids: Sequence[str], *, actor: str, reason: str) -> list[Entry]:
    """What the ledger is told of candidates that are not wanted."""
    at = format_time(datetime.now(UTC))
    return [Entry("decline", id_, reason=reason, at=at, actor=actor) for id_ in ids]


def _drop(view: View, id_: str) -> None:
    """Remove the file of a candidate that was decided: what it said is in the observation, or nowhere."""
    with suppress(OSError):
        (view.layout.root / candidate_path(id_)).unlink()


def drop_decided(view: View) -> None:
    """Remove the files of candidates that are decided and that a killed process, or git, left behind."""
    if not (left := ids_of_files(view.layout)):
        return
    known = _known(view)
    for id_ in left:
        if id_ in known and known[id_].status != "pending":
            _drop(view, id_)


def ids_of_files(layout: Layout) -> list[str]:
    """The ids of all candidates that have a file, in order."""
    try:
        names = os.listdir(layout.root / CANDIDATES)
    except OSError:
        return []
    return sorted(name.removesuffix(".md") for name in names if is_candidate_path(f"{CANDIDATES}/{name}"))


def waiting(view: View) -> Iterator[Observation]:
    """What candidates that wait would be, whoever may see them."""
    for id_ in ids_of_files(view.layout):
        if (data := _file_of(view, id_)) is not None:
            with suppress(InputError):  # a file that somebody broke names nothing
                yield _row_of(view, id_, data)


def saying(view: View, observations: Sequence[Observation]) -> tuple[str, ...]:
    """Ids of candidates that wait and say what one of these observations says, alone or among other things."""
    said = [flattened(o.content) for o in observations]
    found = []
    for id_ in ids_of_files(view.layout):
        if (data := _file_of(view, id_)) is None:
            continue
        row = _row_of(view, id_, data)
        texts = [flattened(text) for text in (row.content, *(item.quote for item in row.evidence))]
        if any(one == text or (len(one) >= LEAST and one in text) for one in said for text in texts):
            found.append(id_)
    return tuple(found)


def draft_of(o: Observation) -> Draft:
    """The draft that an observation could have been made of; its evidence as it was sent."""
    values: dict[str, Any] = {
        name: value
        for name in DRAFT_FIELDS
        if name not in ("slug", "evidence") and (value := getattr(o, name)) not in (None, ())
    }
    if o.evidence:
        values["evidence"] = [{"quote": item.quote, "source": item.source} for item in o.evidence]
    if o.observed_at == o.recorded_at:
        values.pop("observed_at")
    return Draft(**values)
