"""Candidates: observations that somebody suggests, each a file of its own that counts for nothing until it is approved.

A candidate lies under `.grail/candidates` in the form of an observation file, outside every answer; the ledger tells that it
was submitted and what was decided. When it is decided its file goes. Knows nothing of who suggests what, and of how it is decided.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from grail_mem.errors import InputError, NotFoundError
from grail_mem.model.observation import Observation, fingerprints
from grail_mem.model.problem import Problem
from grail_mem.model.quote import find
from grail_mem.query.passages import own_scope
from grail_mem.query.view import View
from grail_mem.store.files import UNKNOWN_STATE, read_file
from grail_mem.store.layout import CANDIDATES, Layout, candidate_path, is_candidate_path
from grail_mem.store.ledger import decisions
from grail_mem.store.ledger_line import CANDIDATE, SUBMIT, Entry
from grail_mem.store.observation_file import read_observation
from grail_mem.store.sources import chat_stem, parse_locator, stem_of
from grail_mem.write.selection import Selection
from grail_mem.write.traces import LEAST, flattened
from grail_mem.write.unsaying import Unsaid

UNCLOSED: Final = "unclosed_frontmatter"
"""The problem of a file whose frontmatter has no end, so that its end, evidence included, may be lost."""
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
        observation: What it says, with its evidence; None when it was decided, or its file cannot be read.
        submitted_at: When, in UTC.
        actor: Who submitted it.
        decided_at: When it was decided; empty while it waits.
        decided_by: Who decided.
        reason: Why.
        became: The observation that it became; empty when it did not.
        edited: Whether its file was changed after it was submitted.
        damaged: Why its file cannot be read; empty when it can.
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
    damaged: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The candidate as plain JSON values."""
        said = {name: getattr(self, name) for name in self.__slots__ if name != "observation"}
        return said | {"observation": None if self.observation is None else self.observation.to_dict()}


@dataclass(frozen=True, slots=True)
class Told:
    """What the ledger tells of a candidate."""

    id: str
    status: str
    origin: str
    print_: str
    submitted: Entry
    decided: Entry | None = None


def told(view: View) -> dict[str, Told]:
    """Every candidate of which the ledger knows, by id; one that was approved anywhere is approved."""
    found: dict[str, Told] = {}
    entries = decisions(view.layout, CANDIDATE)
    for entry in entries:
        if entry.action == SUBMIT:
            found.setdefault(
                entry.id, Told(entry.id, "pending", detail_in(entry, "origin"), entry.fingerprint, submitted=entry)
            )
    for entry in entries:
        one = found.get(entry.id)
        if one is None or entry.action == SUBMIT or one.status == "approved":
            continue
        status = "approved" if entry.action == "approve" else "declined"
        found[entry.id] = replace(one, status=status, decided=entry)
    return found


def approved_twice(view: View) -> Iterator[tuple[str, list[str]]]:
    """Candidates that two clones approved, each with the paths of the observations that it became and that still count."""
    became: dict[str, set[str]] = {}
    for entry in decisions(view.layout, CANDIDATE):
        if entry.action == "approve" and (made := detail_in(entry, "observation")):
            became.setdefault(entry.id, set()).add(made)
    for id_, made_of in became.items():
        paths = view.paths_of(made_of).items() if len(made_of) > 1 else ()
        if len(there := sorted(path for one, path in paths if one not in view.hidden)) > 1:
            yield id_, there


def detail_in(entry: Entry, name: str) -> str:
    """A value that a line of the ledger tells beside its own; empty when it tells none."""
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
    listed = (_candidate(view, one) for one in told(view).values() if one.status in wanted)
    return tuple(
        one for one in listed if one is not None and one.status in wanted and (not origin or one.origin in origin)
    )


def _candidate(view: View, line: Told) -> Candidate | None:
    """A candidate with what its file says; None when the caller may not see it, or its file is gone."""
    row, edited, damaged = None, False, ""
    if line.status == "pending" and (data := _file_of(view, line.id)) is None:
        line = told(view)[line.id]  # its file goes when somebody has just decided
    if line.status == "pending":
        if data is None:
            return None
        try:
            row = _row_of(view, line.id, data)
        except InputError as error:  # the others are listed all the same
            damaged = error.message
        edited = sha256(data).hexdigest() != line.submitted.digest
    if view.principal is not None and (row is None or not view.access.may("read", row.scope)):
        return None
    decided = line.decided or Entry("", "")
    return Candidate(
        line.id, line.status, line.origin, row, line.submitted.at, line.submitted.actor, decided.at, decided.actor,
        decided.reason, detail_in(decided, "observation"), edited, damaged,
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


def named(view: View, ids: str | Collection[str]) -> list[Candidate]:
    """Candidates by id, each once, in the order asked for."""
    wanted = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
    there = {one.id: one for one in candidates(view, status=("all",), origin=())}
    missing = [str(id_) for id_ in wanted if id_ not in there]
    if missing:
        raise NotFoundError(
            f"There is no candidate {', '.join(missing)}.", hint="`grail candidates list` shows those that wait."
        )
    return [there[id_] for id_ in wanted]


def drop(view: View, id_: str) -> None:
    """Remove the file of a candidate that was decided: what it said is in the observation, or nowhere."""
    with suppress(OSError):
        (view.layout.root / candidate_path(id_)).unlink()


def drop_decided(view: View) -> None:
    """Remove the files of candidates that are decided and that a killed process, or git, left behind."""
    if not (left := ids_of_files(view.layout)):
        return
    known = told(view)
    for id_ in left:
        if id_ in known and known[id_].status != "pending":
            drop(view, id_)


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


def meant(caller: View, selection: Selection, gone: Unsaid) -> tuple[str, ...]:
    """Ids of candidates that wait and that conditions mean, or that quote what goes of the sources.

    Args:
        caller: What the caller may see and do; a candidate that may not be forgotten is none that the conditions mean.
        selection: The conditions; ids mean observations alone.
        gone: What goes of the sources.
    """
    default, access = caller.access.default_scope, caller.access
    named = (parse_locator(source) for source in (*gone.turns, *gone.documents))
    places = {stem_of(locator.path) for locator in named if locator is not None}

    def quotes(o: Observation) -> bool:
        at = ((item.quote, parse_locator(item.source)) for item in o.evidence)
        talk = chat_stem(o.session, own_scope(access, o.scope)) if o.session else ""
        found = (quote for quote, locator in at if (talk if locator is None else stem_of(locator.path)) in places)
        return any(find(text, quote) is not None for quote in found for text in gone.texts)

    def asked(o: Observation) -> bool:
        return selection.ids is None and access.may("forget", o.scope) and selection.holds(o, default)

    return tuple(o.id for o in waiting(caller) if asked(o) or quotes(o))


def lines_saying(view: View, observations: Sequence[Observation]) -> tuple[str, ...]:
    """Ids of candidates that became one of these observations or said the same, decided ones among them.

    What the ledger tells of them is a digest of the words, by which they could be guessed.
    """
    ids = {o.id for o in observations}
    prints = {f"{one:016x}" for o in observations for one in fingerprints(o, view.access.default_scope)}
    return tuple(
        one.id
        for one in told(view).values()
        if one.print_ in prints or (one.decided is not None and detail_in(one.decided, "observation") in ids)
    )


def damaged(view: View) -> Iterator[tuple[str, Problem]]:
    """Files of candidates that wait and cannot be read whole, with what is wrong."""
    for id_ in ids_of_files(view.layout):
        path = candidate_path(id_)
        try:
            data = read_file(view.layout.root / path)[0]
            found = read_observation(data, path, "", UNKNOWN_STATE, zone=view.settings.zone).problems
            wrong = [one.message for one in found if one.severity == "error" or one.code == UNCLOSED]
        except FileNotFoundError:  # it was decided meanwhile
            continue
        except InputError as error:
            wrong = [error.message]
        except OSError as error:
            wrong = [f"it cannot be read ({error.strerror})"]
        if wrong:
            yield (
                path,
                Problem("bad_candidate", f"the candidate is not as it was submitted: {wrong[0]}", path, remedy=_REMEDY),
            )


_REMEDY: Final = "correct the file, or decline it: `grail candidates decline`"


def saying(view: View, observations: Sequence[Observation]) -> tuple[str, ...]:
    """Ids of candidates that wait and say what one of these observations says, alone or among other things."""
    said = [flattened(o.content) for o in observations]
    found = []
    for id_ in ids_of_files(view.layout):
        if (data := _file_of(view, id_)) is None:
            continue
        try:
            row = _row_of(view, id_, data)
            texts = [flattened(text) for text in (row.content, *(item.quote for item in row.evidence))]
        except InputError:  # whatever is left of it may say it
            texts = [flattened(data.decode(errors="replace"))]
        if any(one == text or (len(one) >= LEAST and one in text) for one in said for text in texts):
            found.append(id_)
    return tuple(found)
