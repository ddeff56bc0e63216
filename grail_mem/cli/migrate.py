"""`grail migrate`: a store that an earlier version wrote comes to the present form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.which import which

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.keep.migrate import Migrated


def migrate_command(
    directory: o.Dir = None,
    *,
    out: Annotated[
        str | None, typer.Option("--out", metavar="PATH", help="Where the backup goes; else above the store.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    root: o.Root = None,
    actor: o.Actor = None,
    as_json: o.AsJson = False,
) -> None:
    """Bring a store of an older version up to date.

    A backup is made first, outside the store, when something changes. What was cut off goes on with the next call. Older stores can be used as they are.
    """
    with which(directory, root).keep() as memory, output.stages() as show:
        done = memory.migrate(out=out, dry_run=dry_run, actor=actor, progress=show)
    if as_json:
        output.show_json(done.to_dict())
        return
    _show(done)


def _show(done: Migrated) -> None:
    for step in done.steps:
        output.say(f"{step.to}: {step.about}")
        for change in step.changes:
            output.say(f"  {change.where} {change.what}")
    changed = output.counted(done.n_changes, "change")
    if done.dry_run:
        output.say(f"{changed} would be made; version {done.was} would become {done.now}.")
    elif not done.n_changes and done.was == done.now:
        output.say(f"Nothing to do: the store has version {done.now}.")
    else:
        went_on = ", going on where it was cut off" if done.went_on else ""
        output.say(f"{changed} made{went_on}; version {done.was} became {done.now}.")
    if done.backup:
        output.say(f"As it was before: {done.backup}")
