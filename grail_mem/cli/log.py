"""`grail log` and `grail verify-ledger`: who did what, when and why, and whether that record holds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.keep import show_problems
from grail_mem.cli.which import full_id, short_id, which
from grail_mem.model.ulid import is_id


def log_command(
    directory: o.Dir = None,
    *,
    id_: Annotated[str | None, typer.Option("--id", metavar="ID", help="Of this observation or proposal.")] = None,
    actors: Annotated[list[str] | None, typer.Option("--actor", metavar="NAME", help="By them. Repeat: any.")] = None,
    actions: Annotated[
        list[str] | None, typer.Option("--action", metavar="ACTION", help="Such as add,update. Repeat: any.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="At or after: instant, date, `7d`.")
    ] = None,
    before: Annotated[str | None, typer.Option("--before", metavar="TIME", help="Before.")] = None,
    limit: o.Limit = None,
    cursor: o.Cursor = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Print who did what to which observation, newest first."""
    with which(directory, root).keep() as memory:
        chosen = full_id(memory, id_) if id_ is not None else None
        most: Any = 50 if limit is None else o.number(limit)
        found = memory.log(
            id=chosen,
            actor=actors or None,
            action=actions or None,
            since=since,
            before=before,
            limit=most,
            cursor=cursor,
        )
    if as_json:
        output.show_json(found.to_dict())
        return
    rows = [
        [
            entry.at[:19].replace("T", " "),
            entry.actor,
            entry.action,
            short_id(entry.id) if is_id(entry.id) else "",
            entry.path,
            entry.reason,
        ]
        for entry in found.entries
    ]
    output.table(["at", "actor", "action", "id", "path", "reason"], rows, wide=("path", "reason"))
    if found.cursor is not None:
        output.note(f"There are more: repeat with --cursor {found.cursor}")


def verify_ledger_command(directory: o.Dir = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """Verify every line of the ledger.

    It changes nothing. The exit code is 1 when a chain does not hold.
    """
    with which(directory, root).keep() as memory:
        done = memory.verify_ledger()
    if as_json:
        output.show_json(done.to_dict())
    else:
        show_problems(done.problems)
        rows = [
            [chain["clone"], chain["n"], chain["at"][:19].replace("T", " "), chain["digest"][:16]]
            for chain in done.chains
        ]
        output.table(["chain", "lines", "last at", "digest"], rows)
        output.say("Every chain holds." if done.ok else "Not every chain holds.")
    if not done.ok:
        raise typer.Exit(1)
