"""`grail grant`, `revoke`, `grants`: who may do what in which scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.which import split, which
from grail_mem.model.times import format_time

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.model.scope import Grant


def grant_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] WHO SCOPE", hidden=True)] = None,
    *,
    right: Annotated[
        list[str] | None,
        typer.Option(
            "--right", metavar="RIGHT", help="read, write, propose, apply or forget; repeatable. [default: read]"
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="When it ends: a date, an instant, or a span such as 30d."),
    ] = None,
    root: o.Root = None,
    actor: o.Actor = None,
    reason: o.Reason = "",
    as_json: o.AsJson = False,
) -> None:
    """Let somebody read or change what is in a scope.

    WHO is user:ID, agent:ID, agent:AGENT/USER, project:ID, or * for anybody. SCOPE is user:ID, project:ID, org:ID,
    agent:AGENT/USER, or a kind of your own. Every right comes with read.
    """
    place, (whom, scope) = split("grant", words, root, ["WHO", "SCOPE"])
    with place.keep() as memory:
        made = memory.grant(whom, scope, right or ["read"], until=until, reason=reason, actor=actor)
    if as_json:
        output.show_json(made.to_dict())
    else:
        output.say(f"granted  {made.id}  {_said(made)}")
        output.note(f"`{place.command('revoke', made.id)}` takes it back.")


def revoke_command(
    words: o.IdWords = None,
    *,
    root: o.Root = None,
    actor: o.Actor = None,
    reason: o.Reason = "",
    as_json: o.AsJson = False,
) -> None:
    """Take a grant back.

    It counts no longer from the next question on, in every process. ID is that of the grant, as `grail grants` lists it.
    """
    place, (named,) = split("revoke", words, root, ["ID"])
    with place.keep() as memory:
        gone = memory.revoke(named, reason=reason, actor=actor)
    if as_json:
        output.show_json(gone.to_dict())
    else:
        output.say(f"revoked  {gone.id}  {_said(gone)}")


def grants_command(
    directory: o.Dir = None,
    *,
    grantee: Annotated[str | None, typer.Option("--to", metavar="WHO", help="Only those to this one.")] = None,
    scope: Annotated[str | None, typer.Option("--scope", metavar="SCOPE", help="Only those in this scope.")] = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """List what is granted to whom.

    Nobody needs a grant for the scope that an agent and a person have to themselves.
    """
    place = which(directory, root)
    with place.keep() as memory:
        found = memory.grants(grantee=grantee, scope=scope)
        default = memory.settings.default_scope
    if as_json:
        output.show_json({"default_scope": default, "grants": [grant.to_dict() for grant in found]})
        return
    if found:
        columns = ["to", "scope", "rights", "until", "granted", "by", "id"]
        output.table(columns, [_row(grant) for grant in found])
    else:
        output.say("Nothing is granted: every session sees its own scope alone.")
    output.note(f"Observations that name no scope are in {default}.")


def _row(grant: Grant) -> list[str]:
    until = format_time(grant.expires_at) if grant.expires_at else "revoked"
    return [grant.grantee, grant.scope, ", ".join(grant.rights), until, grant.granted_at[:10], grant.actor, grant.id]


def _said(grant: Grant) -> str:
    until = f" until {format_time(grant.expires_at)}" if grant.expires_at else ""
    return f"{grant.grantee} may {', '.join(grant.rights)} in {grant.scope}{until}"
