"""Check: everything that is wrong with a store, each with its place and what to do; changes nothing.

Knows nothing of how to repair.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from grail_mem.errors import IndexUnusableError, StoreError
from grail_mem.model.category import category_key
from grail_mem.model.problem import Problem
from grail_mem.query.view import View
from grail_mem.store.documents import document_paths, is_as_named, meta_path
from grail_mem.store.filename import is_observation_file
from grail_mem.store.layout import LEDGER, OUTPUT, Layout
from grail_mem.store.ledger import verify
from grail_mem.store.snapshot import MANIFEST, is_as_written, is_of_another_version, names, read_manifest
from grail_mem.store.source_file import read_source
from grail_mem.store.sources import Head, chat_paths, heads_in, is_chat, lines_passed_over
from grail_mem.write import candidates
from grail_mem.write.leftovers import leftovers
from grail_mem.write.said_left import came_back
from grail_mem.write.undecided import undecided

_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found.

    Attributes:
        n_observations: Observations that count.
        n_files: Files looked at.
        n_unsynced: Changes by others that the ledger has not heard of.
        problems: Findings, by place.
    """

    n_observations: int
    n_files: int
    n_unsynced: int
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no finding of severity `error`."""
        return all(problem.severity != "error" for problem in self.problems)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "ok": self.ok, "n_observations": self.n_observations, "n_files": self.n_files,
            "n_unsynced": self.n_unsynced, "problems": [p.to_dict() for p in self.problems],
        }  # fmt: skip


def check(view: View, *, progress: Callable[[int], None] | None = None) -> Checked:
    """Look at files, ledger, snapshot and what killed writers left."""
    damaged = list(_snapshots(view.layout))
    try:
        view.refresh()
    except IndexUnusableError:  # named below; everything else is told from the files
        view = View(view.layout, view.settings, from_files=True)
    n_files = view.scan(whole=True, progress=progress)
    problems = [*view.problems(), *ledger_problems(view.layout), *_spellings(view), *damaged, *_leftovers(view)]
    problems += [*_said_again(view), *_sources(view.layout), *_undecided(view), *_approved_twice(view)]
    problems += [problem for _, problem in candidates.damaged(view)]
    ordered = sorted(problems, key=lambda p: (p.severity, p.where, p.line, p.code))
    return Checked(view.n_rows, n_files, len(view.unsynced()), tuple(ordered))


def ledger_problems(layout: Layout) -> Iterator[Problem]:
    """Lines of the ledger that are no links of their chains."""
    for clone, line, kind, detail in verify(layout):
        where = f"{LEDGER}/{clone}.jsonl"
        if kind == "torn":
            yield Problem(
                "torn_entry", "a writer was killed while it wrote this line; no write that returned is lost", where, line,
                remedy="nothing to do", severity="warning",
            )  # fmt: skip
        else:
            yield Problem(
                "broken_chain", f"the chain does not verify: {detail}", where, line,
                remedy="compare the file with git or a backup; the observations themselves are not touched by this",
            )  # fmt: skip


def _spellings(view: View) -> Iterator[Problem]:
    """Folders that are one on a system that does not tell upper from lower case."""
    seen: dict[str, str] = {}
    for folder in sorted(view.folders):
        other = seen.setdefault(category_key(folder), folder)
        if other != folder:
            yield Problem(
                "same_folder", f"differs from {other} only in spelling; on other systems they are one folder", folder,
                remedy="give one of them another name", severity="warning",
            )  # fmt: skip
        yield from _same_files(view.layout, folder)


def _same_files(layout: Layout, folder: str) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    with suppress(OSError):  # a folder that cannot be read is named by the scan
        for name in sorted(filter(is_observation_file, os.listdir(layout.root / folder))):
            other = seen.setdefault(category_key(name), name)
            if other != name:
                yield Problem(
                    "same_file", f"differs from {other} only in spelling; on other systems they are one file",
                    f"{folder}/{name}", remedy="give one of them another name", severity="warning",
                )  # fmt: skip


def _snapshots(layout: Layout) -> Iterator[Problem]:
    """Snapshots that are not as they were written."""
    for name in names(layout):
        place = f"{OUTPUT}/snapshots/{name}"
        manifest = read_manifest(layout.snapshots / name)
        if manifest is None and is_of_another_version(layout.snapshots / name):
            continue  # the next compaction makes one that can be read; until then files answer
        if manifest is None:
            yield _damaged(f"{place}/{MANIFEST}")
            continue
        for file in manifest.files:
            if not is_as_written(layout.snapshots / name, manifest, file):
                yield _damaged(f"{place}/{file}")


def _damaged(place: str) -> Problem:
    return Problem("damaged_snapshot", "the file is not as it was written", place, remedy="run `grail rebuild`")


def _said_again(view: View) -> Iterator[Problem]:
    """Transcripts and documents with words that were erased."""
    for path, left in came_back(view.layout, view.receipts):
        yield Problem(
            "source_came_back",
            "the file was erased and was put back by somebody else" if left is None
            else "the file holds words that were erased and that somebody else put back",
            path, remedy="run `grail sync`, which takes them out; to keep them on purpose, `grail ingest --again`",
        )  # fmt: skip


def _sources(layout: Layout) -> Iterator[Problem]:
    """Sources that cannot be read, and documents that are not as they were ingested: the name of each is the digest of its bytes."""
    documents = document_paths(layout)
    for path in (*chat_paths(layout), *documents, *map(meta_path, documents)):
        try:
            found = read_source(layout, path)
        except StoreError as error:
            said = error.message.removeprefix(f"The source {path} ").removesuffix(".")
            yield Problem("unreadable_source", f"the source {said}", path, remedy=error.hint)
            continue
        if found is not None and is_chat(path):
            yield from _transcript(path, found[0])
        if found is not None and not is_as_named(path, found[0]):
            yield Problem(
                "changed_document", "its bytes are not those that its name is the digest of; somebody changed it", path,
                remedy="ingest the original again, or take it from git or a backup; to keep the changed one, `grail ingest` a copy of it",
            )  # fmt: skip


def _transcript(path: str, data: bytes) -> Iterator[Problem]:
    """What is wrong with a file of a transcript."""
    heads = heads_in(data) or [Head(1, "", None, "")]
    has_own = any(head.fits(path) for head in heads)
    for head in heads:
        if head.fits(path):
            continue
        named = f"the session {head.session!r}, which is kept under another name" if head.session else "no session"
        yield Problem(
            "foreign_transcript", f"line {head.line} names {named}", path, head.line,
            remedy="take out that line and the turns that came with it" if has_own
            else "move the file away, or take it from git or a backup",
        )  # fmt: skip
    lines = lines_passed_over(data)
    if lines:
        more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
        said = (
            f"line {lines[0]} is no turn"
            if len(lines) == 1
            else f"lines {', '.join(map(str, lines[:_SHOWN]))}{more} are no turns"
        )
        yield Problem(
            "bad_turn", f"{said}; nothing there can be quoted", path, lines[0],
            remedy="take the file from git or a backup, or take out what is no turn", severity="warning",
        )  # fmt: skip


def _undecided(view: View) -> Iterator[Problem]:
    """Facts of which more than one statement holds now, since nobody decided: files were edited by hand or by another program."""
    for fact in undecided(view):
        first, *others = fact.statements
        named = ", ".join(o.id for o in others)
        yield Problem(
            "undecided_fact", f"{named} says otherwise of '{fact.attribute}', and both hold now", first.path,
            remedy=f"decide: `grail revise {first.id}` with supersede, correct or expire; or say it anew with `grail add`",
            severity="warning",
        )  # fmt: skip


def _approved_twice(view: View) -> Iterator[Problem]:
    """Candidates that two clones approved, so that each is two observations."""
    for id_, (first, *others) in candidates.approved_twice(view):
        yield Problem(
            "approved_twice", f"two clones approved the candidate {id_}; {', '.join(others)} says the same", first,
            remedy="`grail consolidate --kind merge_duplicates` proposes to make them one while they say the same; else `grail delete` one",
            severity="warning",
        )  # fmt: skip


def _leftovers(view: View) -> Iterator[Problem]:
    for path in leftovers(view.layout):
        yield Problem(
            "leftover", "a writer was killed before its file got a name; it never reported success",
            str(path.relative_to(view.layout.root)), remedy="nothing to do; the next write removes it", severity="warning",
        )  # fmt: skip
