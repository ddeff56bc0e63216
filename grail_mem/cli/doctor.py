"""`grail doctor`: say why a set-up does not work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.which import Which, which
from grail_mem.errors import GrailError, NotFoundError

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.keep.doctor import Finding

_MARKS = {"fine": "ok", "note": "note", "broken": "BROKEN"}


def doctor_command(directory: o.Dir = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """Say what a set-up lacks, and how to mend it.

    It looks at Python, packages, the folder, its settings and its contents, and changes nothing. The exit code is 0 when nothing is broken,
    notes or not, and 1 when something is.
    """
    from grail_mem.keep.doctor import examine

    place = _place(directory, root)
    with output.progress("looking"):
        found = examine(place.root if place else None)
        if place is None:
            found += _no_store()
        elif not any(one.about == "settings" and one.standing == "broken" for one in found):
            found += _stored(place)
    n_broken = sum(finding.standing == "broken" for finding in found)
    if as_json:
        output.show_json({"ok": not n_broken, "findings": [finding.to_dict() for finding in found]})
    else:
        output.table(["", "about", "what"], list(_rows(found)))
        output.say("Nothing is broken." if not n_broken else f"{output.counted(n_broken, 'thing')} to mend.")
    if n_broken:
        raise typer.Exit(1)


def _rows(found: list[Finding]) -> Iterator[list[str]]:
    """The findings as lines of a table; the extras that are not there share one."""
    lacking = [one for one in found if one.standing == "note" and one.about.startswith("extra ")]
    for one in found:
        if one not in lacking:
            said = one.said if not one.remedy or one.said.endswith((".", "!", "?")) else f"{one.said}."
            yield [_MARKS[one.standing], one.about, f"{said} {one.remedy}".rstrip()]
        elif one is lacking[0]:
            names = ", ".join(it.about.removeprefix("extra ") for it in lacking)
            yield [_MARKS["note"], "extras", f"not installed: {names}. If you want one: pip install 'grail-mem[NAME]'."]


def _place(directory: str | None, root: str | None) -> Which | None:
    """The store that is meant; None when none is named and none is found."""
    try:
        return which(directory, root)
    except NotFoundError:
        return None


def _no_store() -> list[Finding]:
    from grail_mem.keep.doctor import Finding

    said = f"none is named, and there is no grail.yaml in {Path.cwd()} or above it."
    return [Finding("store", "note", said, "`grail init DIR` makes one.")]


def _stored(place: Which) -> list[Finding]:
    """What `check` finds in the store, counted."""
    from grail_mem.keep.doctor import Finding
    from grail_mem.store.layout import Layout

    if not Layout(place.root.resolve()).is_store():
        return []  # which is a finding already
    try:
        with place.keep() as memory:
            done = memory.check()
    except (GrailError, OSError) as error:
        said = error.message if isinstance(error, GrailError) else str(error)
        return [Finding("contents", "broken", said, getattr(error, "hint", ""))]
    n_errors = sum(problem.severity == "error" for problem in done.problems)
    said = f"{output.counted(done.n_observations, 'observation')}, {output.counted(n_errors, 'error')}, {output.counted(len(done.problems) - n_errors, 'warning')}."
    remedy = f"`{place.command('check')}` lists them." if done.problems else ""
    return [Finding("contents", "broken" if n_errors else "note" if done.problems else "fine", said, remedy)]
