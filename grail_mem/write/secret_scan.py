"""Scan: where a store holds secrets or text that gives orders already; changes nothing and quotes no secret.

Looks at files as they lie there, what is hidden or cannot be read as an observation included. Knows nothing of how to remove
what it finds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grail_mem.model.orders import MEANINGS
from grail_mem.model.problem import Problem
from grail_mem.model.secret import marked, secrets_in
from grail_mem.query.view import View
from grail_mem.store.files import UNKNOWN_STATE, read_file
from grail_mem.store.layout import LEDGER, SETTINGS_FILE
from grail_mem.store.observation_file import read_observation
from grail_mem.store.scan import scan_all
from grail_mem.write.screening import order_flags

BESIDE: Final = ("sources", LEDGER, ".grail/undo", ".grail/candidates")
"""Folders other than that of the observations whose files are truth."""
MAX_BYTES: Final = 64_000_000
_AROUND: Final = 40
"""Characters of a line shown before and after what was found."""
IN_FILE: Final = "change it where it is used, take it out of the file, and run `grail rebuild`"
IN_LEDGER: Final = "change it where it is used; lines of the ledger stay"
ORDER: Final = "nothing, when it is meant as data; else correct the file"


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan found.

    Attributes:
        n_files: Files looked at.
        problems: Findings by place: `secret` of severity error, `order` and `not_scanned` of severity warning.
    """

    n_files: int
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether no secret was found."""
        return all(problem.severity != "error" for problem in self.problems)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {"ok": self.ok, "n_files": self.n_files, "problems": [p.to_dict() for p in self.problems]}


def scan(view: View, *, progress: Callable[[int], None] | None = None) -> Scanned:
    """Look through every file that holds truth; of a session, through the observations that it may read.

    Args:
        view: The store.
        progress: Called with the number of files looked at so far.
    """
    view.catch_up()
    problems: list[Problem] = []
    n_files = 0
    for path in _paths(view):
        found = _look(view, path)
        if found is None:
            continue
        n_files += 1
        problems += found
        if progress is not None:
            progress(n_files)
    return Scanned(n_files, tuple(sorted(problems, key=lambda p: (p.severity, p.where, p.line, p.message))))


def problems_in(path: str, text: str, *, orders: bool = True) -> Iterator[Problem]:
    """What one file holds that should not be there, or should be known to be.

    Args:
        path: The file, relative to the root.
        text: What it holds.
        orders: Whether to look for orders, too.
    """
    remedy = IN_LEDGER if path.startswith(f"{LEDGER}/") else IN_FILE
    secrets = secrets_in(text)
    for one in secrets:
        line = text.count("\n", 0, one.start) + 1
        begin, end = text.rfind("\n", 0, one.start) + 1, text.find("\n", one.end)
        begin, end = max(begin, one.start - _AROUND), min(len(text) if end < 0 else end, one.end + _AROUND)
        cut = tuple(
            type(one)(s.kind, max(s.start, begin) - begin, min(s.end, end) - begin)
            for s in secrets
            if s.end > begin and s.start < end
        )
        excerpt = " ".join(marked(text[begin:end], cut).split())
        yield Problem("secret", f"holds what looks like a secret ({one.kind}): {excerpt}", path, line, remedy=remedy)
    if orders and order_flags(text):
        for number, said in _prose(text):
            for flag in order_flags(said):
                yield Problem(
                    "order", f"holds text that {MEANINGS[flag]}", path, number, remedy=ORDER, severity="warning"
                )


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of an observation file that hold prose, with their numbers: title and body; other fields are labels by right."""
    lines = text.split("\n")
    end = (
        next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), 0)
        if lines[0].rstrip() == "---"
        else 0
    )
    for number, line in enumerate(lines, start=1):
        if number > end + 1 or not end:
            yield number, line
        elif line.startswith("title:"):
            yield number, line.removeprefix("title:").strip()


def _paths(view: View) -> Iterator[str]:
    """Every file to look at, relative to the root; links are not followed."""
    yield from sorted(scan_all(view.layout, {}, lambda _: {}).changed)
    if view.principal is not None:
        return
    root = view.layout.root
    for folder in BESIDE:
        for place, folders, names in os.walk(root / folder):
            folders.sort()
            for name in sorted(names):
                path = Path(place) / name
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(root).as_posix()
    if (root / SETTINGS_FILE).is_file():
        yield SETTINGS_FILE


def _look(view: View, path: str) -> list[Problem] | None:
    """What a file holds; None for one that the caller may not read, or that is none of text."""
    whole = view.layout.root / path
    try:
        if whole.stat().st_size > MAX_BYTES:
            remedy = "look at it by other means"
            big = Problem("not_scanned", "is larger than a scan looks at", path, remedy=remedy, severity="warning")
            return [big] if view.principal is None else None
        data, _ = read_file(whole)
    except OSError as error:
        if view.principal is not None or isinstance(error, FileNotFoundError):
            return None
        why = error.strerror or str(error)
        return [Problem("not_scanned", f"cannot be read: {why}", path, remedy="look at its rights", severity="warning")]
    if b"\0" in data[:8192] or (view.principal is not None and not _may_read(view, path, data)):
        return None
    return list(problems_in(path, data.decode(errors="replace"), orders=view.layout.holds(path)))


def _may_read(view: View, path: str, data: bytes) -> bool:
    category = view.layout.category_of(path.rpartition("/")[0])
    made = read_observation(data, path, category, UNKNOWN_STATE, zone=view.settings.zone).observation
    return view.sees(made) and made.id not in view.hidden
