"""`grail candidates list|show|extract|submit|approve|decline`: decide on observations that somebody suggests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.drafts import read_lines
from grail_mem.cli.grouped import Group, grouped
from grail_mem.cli.which import Which, is_folder, short_id, split, which
from grail_mem.errors import InputError, NotFoundError

if TYPE_CHECKING:  # most of a command's start-up
    from collections.abc import Sequence

    from grail_mem.memory import Memory
    from grail_mem.write.approve import Decided
    from grail_mem.write.candidates import Candidate

NOT_DONE: Final = 5
"""The exit code when one of the candidates was not approved or declined: that of a conflict."""

Words = Annotated[list[str] | None, typer.Argument(metavar="[DIR] [ID]...", hidden=True)]
All = Annotated[bool, typer.Option("--all", help="All that wait, as --origin narrows them.")]
Origins = Annotated[
    list[str] | None,
    typer.Option("--origin", metavar="ORIGIN", help="user, agent, tool, media, import or extraction; repeatable."),
]
_CHOICE: Final = {"everything": All, "origin": Origins}
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")]

candidates_command = typer.Typer(
    help="Decide on observations that somebody suggests.", no_args_is_help=True, rich_markup_mode=None,
    pretty_exceptions_enable=False, add_completion=False,
)  # fmt: skip


@candidates_command.callback()
def _candidates() -> None:
    """Decide on observations that somebody suggests."""


@candidates_command.command("list", cls=o.OneCommand, epilog=o.DIR)
def list_command(
    directory: o.Dir = None,
    *,
    status: Annotated[
        list[str] | None,
        typer.Option("--status", metavar="STATUS", help="pending (default), approved, declined or all."),
    ] = None,
    origin: Origins = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """List candidates, those that wait when nothing else is asked for."""
    with which(directory, root).keep() as memory:
        found = memory.candidates(status=status or None, origin=origin or None)
    if as_json:
        output.show_json({"candidates": [one.to_dict() for one in found], "total": len(found)})
        return
    if found:
        rows = [
            [short_id(one.id), one.status, one.origin, one.observation.title if one.observation else one.became]
            for one in found
        ]
        output.table(["id", "status", "origin", "title"], rows)
    output.say(output.counted(len(found), "candidate") + ("." if status else " waiting."))


@candidates_command.command("show", cls=o.OneCommand, epilog=o.DIR)
@grouped("choice", _CHOICE)
def show_command(
    words: Words = None,
    *,
    choice: Group,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Show all of a candidate, with the quotes it rests on."""
    place, named = _split(words, root)
    with place.keep() as memory:
        chosen = _chosen(memory, named, "show", choice)
    if as_json:
        output.show_json({"candidates": [one.to_dict() for one in chosen]})
        return
    for one in chosen:
        output.say(f"{one.id}  {one.status}  from {one.origin}, {one.submitted_at} by {one.actor}")
        if one.edited:
            output.say("Its file was changed since.")
        if one.damaged:
            output.say(f"Its file cannot be read: {one.damaged}")
        if one.observation is not None:
            made = one.observation
            where = f"{made.category}  {made.scope or ''}".rstrip()
            output.say(f"{made.title}\n{where}\n\n{made.content}")
            for quoted in made.evidence:
                output.say(f'> "{quoted.quote}"  {quoted.source}')


@candidates_command.command("extract", cls=o.OneCommand, epilog=o.DIR)
def extract_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] SESSION", hidden=True)] = None,
    *,
    scope: o.Scope = None,
    actor: o.Actor = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Suggest what people state in a conversation, found by rules.

    SESSION is a conversation, as `grail ingest --session` named it: its preferences, decisions, commitments, facts and corrections.
    """
    place, (session,) = split("candidates extract", words, root, ["SESSION"])
    with place.keep() as memory:
        done = memory.extract(session, scope=scope, actor=actor)
    if as_json:
        output.show_json(done.to_dict())
        return
    for one in done:
        output.say(f"{'submitted' if one.created else one.status}  {one.id}")
    output.say(f"suggested {output.counted(sum(one.created for one in done), 'new candidate')}")
    for warning in done.warnings:
        output.note(f"note: {warning}")


@candidates_command.command("submit", cls=o.OneCommand, epilog=o.DIR)
def submit_command(
    directory: o.Dir = None,
    *,
    file: Annotated[str, typer.Option("--file", metavar="FILE", help="JSON lines, one draft each; - is stdin.")] = "-",
    origin: Annotated[str, typer.Option("--origin", help="user, agent, tool, media, import or extraction.")] = "agent",
    actor: o.Actor = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Suggest observations; none counts until it is approved.

    A line holds the arguments of `add_observation` as JSON and, optionally, `evidence`.
    """
    drafts = read_lines(file)
    with which(directory, root).write(as_json=as_json) as memory:
        done = memory.submit(drafts, origin=origin, actor=actor)
    if as_json:
        output.show_json({"candidates": [one.to_dict() for one in done]})
        return
    for one in done:
        output.say(f"{'submitted' if one.created else one.status}  {one.id}")
        for warning in one.warnings:
            output.note(warning)


@candidates_command.command("approve", cls=o.OneCommand, epilog=o.DIR)
@grouped("choice", _CHOICE)
def approve_command(
    words: Words = None,
    *,
    choice: Group,
    dry_run: DryRun = False,
    reason: o.Reason = "",
    actor: o.Actor = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Make candidates observations.

    Their quotes are looked up and checked again. The exit code is 5 when one of them was not approved.
    """
    place, named = _split(words, root)
    with place.keep() as memory:
        ids = [one.id for one in _chosen(memory, named, "approve", choice)]
        with output.progress("approving", len(ids)) as show:
            done = memory.approve(ids, dry_run=dry_run, reason=reason, actor=actor, progress=show) if ids else []
    _end(done, as_json=as_json)


@candidates_command.command("decline", cls=o.OneCommand, epilog=o.DIR)
@grouped("choice", _CHOICE)
def decline_command(
    words: Words = None,
    *,
    choice: Group,
    dry_run: DryRun = False,
    reason: o.Reason = "",
    actor: o.Actor = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Say that candidates are not wanted; the same does not come back.

    The exit code is 5 when one of them was not declined.
    """
    place, named = _split(words, root)
    with place.keep() as memory:
        ids = [one.id for one in _chosen(memory, named, "decline", choice)]
        done = memory.decline(ids, dry_run=dry_run, reason=reason, actor=actor) if ids else []
    _end(done, as_json=as_json)


def _split(words: list[str] | None, root: str | None) -> tuple[Which, list[str]]:
    """The store and the ids that the words of a command name."""
    listed = list(words or ())
    if not root and listed and is_folder(listed[0]):
        return which(listed[0], None), listed[1:]
    return which(None, root), listed


def _chosen(memory: Memory, named: list[str], verb: str, choice: Group) -> list[Candidate]:
    if bool(named) == bool(choice["everything"]):
        raise InputError(f"Name the candidates to {verb}, or say --all.", hint="`grail candidates list` shows them.")
    if not named:
        return list(memory.candidates(origin=choice["origin"] or None))
    there = memory.candidates(status="all")
    chosen: list[Candidate] = []
    for tail in named:
        found = [one for one in there if one.id.endswith(tail.upper())]
        if len(found) != 1:
            said = "There is no candidate" if not found else "More than one candidate ends on"
            raise NotFoundError(f"{said} {tail}.", hint="`grail candidates list` shows them.")
        chosen += found
    return chosen


def _end(done: Sequence[Decided], *, as_json: bool) -> None:
    if as_json:
        output.show_json({"candidates": [one.to_dict() for one in done]})
    else:
        for one in done:
            said = one.status if one.done else "left"
            output.say(f"{said:<9} {one.id}  {one.observation}".rstrip())
            for text in one.reasons:
                output.note(text)
    if not all(one.done for one in done):
        raise typer.Exit(NOT_DONE)
