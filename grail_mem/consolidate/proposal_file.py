"""The files of proposals under `output/proposals/`: one set a run, readable, derived.

A file that cannot be read, or an item in one, is a problem and never an error: nothing is done because of it. Knows nothing
of decisions.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from grail_mem.consolidate.proposal import Proposal, read_proposal, written
from grail_mem.errors import InputError
from grail_mem.model.problem import Problem
from grail_mem.store.files import read_file, replace_file
from grail_mem.store.layout import OUTPUT, Layout

VERSION: Final = 1
FOLDER: Final = f"{OUTPUT}/proposals"
MAX_BYTES: Final = 256 * 2**20
"""Larger files are not read; chosen, ten times what 100,000 observations were seen to give."""


@dataclass(frozen=True, slots=True)
class Stored:
    """All proposals in files.

    Attributes:
        proposals: By id; of several that have one id, that of the newest file.
        problems: What could not be read.
        newest: The ids of the newest set, in its order.
        sets: The ids in each set, by path relative to the root.
    """

    proposals: Mapping[str, Proposal] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    newest: tuple[str, ...] = ()
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_sets(layout: Layout) -> Stored:
    """Every proposal in every set that is there."""
    found: dict[str, Proposal] = {}
    problems: list[Problem] = []
    sets: dict[str, tuple[str, ...]] = {}
    for name in reversed(_names(layout)):
        where = f"{FOLDER}/{name}"
        items = _items(layout, where, problems)
        if items is None:
            continue
        ids: list[str] = []
        for number, item in enumerate(items, start=1):
            try:
                proposal = read_proposal(item)
            except InputError as error:
                problems.append(_bad(where, f"item {number}: {'; '.join(error.problems)}"))
                continue
            ids.append(proposal.id)
            found.setdefault(proposal.id, proposal)
        sets[where] = tuple(dict.fromkeys(ids))
    newest = next(iter(sets.values()), ())
    return Stored(found, tuple(problems), newest, sets)


def write_set(layout: Layout, proposals: Sequence[Proposal], *, made_at: str, about: Mapping[str, Any]) -> str:
    """Write a set; returns its path relative to the root.

    Args:
        layout: Where the store is.
        proposals: Those that wait, the new ones among them.
        made_at: When the run began, `2026-06-02T14:23:00.123456Z`.
        about: What else is worth knowing of the run, as JSON values.
    """
    where = f"{FOLDER}/{_file_name(made_at, _names(layout))}"
    document = {"version": VERSION, "made_at": made_at, **about, "proposals": [written(p) for p in proposals]}
    text = json.dumps(document, ensure_ascii=False, indent=1)
    try:
        data = text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can write
        data = json.dumps(document, indent=1).encode()
    replace_file(layout.root / where, data + b"\n")
    return where


def drop_replaced(layout: Layout, stored: Stored, proposals: Sequence[Proposal]) -> None:
    """Remove the sets of which every proposal stands in a newer one as well; what holds decided ones or odd things stays."""
    now = {proposal.id for proposal in proposals}
    odd = {problem.where for problem in stored.problems}
    for where, ids in stored.sets.items():
        if now.issuperset(ids) and where not in odd:
            with suppress(OSError):
                (layout.root / where).unlink()


_NAME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d{6}(?:\.\d+)?Z)(?:-(\d{1,9}))?\.json")


def _file_name(made_at: str, names: Sequence[str]) -> str:
    """A name that every system takes, and that stands behind all others, also when the clock was set back."""
    plain = f"{made_at.replace(':', '').removesuffix('Z')}Z"
    last, number = max((_place(name) for name in names), default=("", 0))
    return f"{plain}.json" if plain > last else f"{last}-{number + 1}.json"


def _place(name: str) -> tuple[str, int]:
    """Where a set stands among the others, by its name; one that is named otherwise comes first."""
    found = _NAME.fullmatch(name)
    return (found[1], int(found[2] or 1)) if found else ("", 0)


def _names(layout: Layout) -> list[str]:
    """The names of the sets, oldest first."""
    try:
        there = [name for name in os.listdir(layout.root / FOLDER) if name.endswith(".json")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(there, key=lambda name: (_place(name), name))


def _items(layout: Layout, where: str, problems: list[Problem]) -> list[Any] | None:
    """The items of a set; None when it is none, which is a problem unless it is gone."""
    try:
        if os.stat(layout.root / where).st_size > MAX_BYTES:
            raise ValueError("it is too large")
        document = json.loads(read_file(layout.root / where)[0])
        if not isinstance(document, dict) or not isinstance(document.get("proposals"), list):
            raise ValueError("it holds no list `proposals`")  # noqa: TRY004  a file is wrong, not an argument
        if document.get("version") != VERSION:
            raise ValueError(f"it is of version {document.get('version')!r}, not {VERSION}")
    except FileNotFoundError:  # a run replaced it just now
        return None
    except (OSError, ValueError, RecursionError) as error:
        problems.append(_bad(where, str(error)))
        return None
    return list(document["proposals"])


def _bad(where: str, reason: str) -> Problem:
    return Problem(
        "bad_proposal", f"this is not used: {reason}", where,
        remedy="delete it and run `grail consolidate`", severity="warning",
    )  # fmt: skip
