"""`grail proposals list|show|apply|reject|undo|review`: decide on what `grail consolidate` suggests."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.grouped import Group, grouped
from grail_mem.cli.proposal_text import show_list, show_one, show_outcomes
from grail_mem.cli.which import Which, is_folder, short_id, which
from grail_mem.errors import ConflictError, InputError, NotFoundError

if TYPE_CHECKING:  # most of a command's start-up
    from typer._click import Context

    from grail_mem.consolidate.outcome import Outcome
    from grail_mem.consolidate.proposal import Proposal
    from grail_mem.memory import Memory

_FULL: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}", re.ASCII)
_TAIL: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{4,26}", re.ASCII)
NOT_DONE: Final = 5
"""The exit code when one of the proposals was stale, refused or decided already: that of a conflict."""

Words = Annotated[list[str] | None, typer.Argument(metavar="[DIR] [ID]...", hidden=True)]
All = Annotated[bool, typer.Option("--all", help="All of them, as --kind and --min-confidence narrow them.")]
_CHOICE: Final = {"everything": All, "kind": o.ProposalKinds, "min_confidence": o.MinConfidence}
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change in each file; change nothing.")]

proposals_command = typer.Typer(
    help="Decide on what `grail consolidate` suggests.", no_args_is_help=True, rich_markup_mode=None,
    pretty_exceptions_enable=False, add_completion=False,
)  # fmt: skip


class _Accepting(o.OneCommand):
    """A command to whose ids people put `--accept`, before or behind: it says what the command does anyway."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """The words without it; `--accept=ID` is the id."""
        kept = [arg.removeprefix("--accept=") for arg in args if arg != "--accept"]
        return super().parse_args(ctx, kept)


@proposals_command.callback()
def _proposals() -> None:
    """Decide on what `grail consolidate` suggests."""


@proposals_command.command("list", cls=o.OneCommand, epilog=o.DIR)
def list_command(
    directory: o.Dir = None,
    *,
    status: Annotated[
        list[str] | None,
        typer.Option("--status", metavar="STATUS", help="pending (default), stale, applied, rejected, undone or all."),
    ] = None,
    kind: o.ProposalKinds = None,
    min_confidence: o.MinConfidence = None,
    limit: Annotated[
        str | None, typer.Option("--limit", metavar="N", help="At most so many; 50 when left out.")
    ] = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """List proposals, those that wait when nothing else is asked for.

    ID is the end of the proposal's id, enough to name it in the other commands.
    """
    place = which(directory, root)
    most = _limit(limit)
    with place.keep() as memory:
        found = memory.proposals(status=status or None, kind=kind or None, min_confidence=o.number(min_confidence))
        n_stale = len(memory.proposals(status="stale")) if not status else 0
    if as_json:
        output.show_json({"proposals": [one.to_dict() for one in found[:most]], "total": len(found)})
        return
    show_list(found[:most], with_status=bool(status))
    shown = f"the first {most} of " if len(found) > most else ""
    output.say(f"{shown}{output.counted(len(found), 'proposal')}" + ("." if status else " waiting."))
    if n_stale:
        output.note(f"{n_stale} more are stale; `{place.command('consolidate')}` looks anew.")
    if not found and not status:
        output.note(f"`{place.command('consolidate')}` looks for some.")


def _limit(text: str | None) -> int:
    if text is None:
        return 50
    n = o.number(text)
    if not isinstance(n, int) or n < 1:
        raise InputError(f"limit must be a whole number from 1, not {text!r}.")
    return n


@proposals_command.command("show", cls=o.OneCommand, epilog=o.DIR)
@grouped("choice", _CHOICE)
def show_command(
    words: Words = None,
    *,
    choice: Group,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Show all of a proposal: what speaks for it, and the lines that would change in each file."""
    place, named = _split("show", words, root)
    with place.keep() as memory:
        chosen = _chosen(memory, named, "show", choice)
        planned = {one.id: memory.apply(one.id, dry_run=True)[0] for one in chosen if one.status == "pending"}
        if as_json:
            output.show_json({"proposals": [one.to_dict() | _files(planned.get(one.id)) for one in chosen]})
            return
        for number, one in enumerate(chosen):
            if number:
                output.say()
            show_one(one, planned.get(one.id))


def _files(planned: Outcome | None) -> dict[str, Any]:
    return {} if planned is None else {"files": [file.to_dict() for file in planned.files]}


@proposals_command.command("apply", cls=_Accepting, epilog=o.DIR)
@grouped("choice", _CHOICE)
def apply_command(
    words: Words = None,
    *,
    choice: Group,
    dry_run: DryRun = False,
    reason: o.Reason = "",
    actor: o.Actor = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Do what proposals suggest; `undo` takes it back.

    Each is done wholly or not at all; one whose observations changed since is stale and is left alone. The ids may stand
    with --accept, before or behind. The exit code is 5 when one of them was not applied.
    """
    place, named = _split("apply", words, root)
    with place.keep() as memory:
        ids = [one.id for one in _chosen(memory, named, "apply", choice)]
        with output.progress("applying", len(ids)) as show:
            done = memory.apply(ids, dry_run=dry_run, reason=reason, actor=actor, progress=show) if ids else []
    _end(done, place, "apply", dry_run=dry_run, as_json=as_json)


@proposals_command.command("reject", cls=o.OneCommand, epilog=o.DIR)
@grouped("choice", _CHOICE)
def reject_command(
    words: Words = None,
    *,
    choice: Group,
    reason: o.Reason = "",
    actor: o.Actor = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Say that proposals are wrong; they do not come back on the same grounds.

    No observation changes. `grail proposals undo` lets them wait again.
    """
    place, named = _split("reject", words, root)
    with place.keep() as memory:
        ids = [one.id for one in _chosen(memory, named, "reject", choice)]
        done = memory.reject(ids, reason=reason, actor=actor) if ids else []
    _end(done, place, "reject", dry_run=False, as_json=as_json)


@proposals_command.command("undo", cls=o.OneCommand, epilog=o.DIR)
@grouped("choice", _CHOICE)
def undo_command(
    words: Words = None,
    *,
    choice: Group,
    dry_run: DryRun = False,
    reason: o.Reason = "",
    actor: o.Actor = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Take back what was applied, to the very bytes; what was rejected waits again.

    In a file that was changed since, what the proposal had changed is put back and the rest stays, which is said; where that
    cannot be done, nothing is. The exit code is 5 when one of them was not undone.
    """
    place, named = _split("undo", words, root)
    with place.keep() as memory:
        ids = [one.id for one in _chosen(memory, named, "undo", choice, status="applied")]
        with output.progress("undoing", len(ids)) as show:
            done = memory.undo(ids, dry_run=dry_run, reason=reason, actor=actor, progress=show) if ids else []
    _end(done, place, "undo", dry_run=dry_run, as_json=as_json)


@proposals_command.command("review", cls=o.OneCommand, epilog=o.DIR)
def review_command(
    words: Words = None,
    *,
    kind: o.ProposalKinds = None,
    min_confidence: o.MinConfidence = None,
    reason: o.Reason = "",
    actor: o.Actor = None,
    root: o.Root = None,
) -> None:
    """Step through what waits, one after the other, and decide on each.

    y applies it, n rejects it, s or Enter skips it, o opens its files in $VISUAL or $EDITOR, q leaves. Without an ID all that
    wait are shown, the surest of each kind first.
    """
    place, named = _split("review", words, root)
    choice = {"everything": not named, "kind": kind, "min_confidence": o.number(min_confidence)}
    counts = dict.fromkeys(("applied", "rejected", "skipped"), 0)
    with place.keep() as memory:
        chosen = _chosen(memory, named, "review", choice)
        for number, one in enumerate(chosen, start=1):
            said = _ask(memory, one, f"{number} of {len(chosen)}", _Deciding(memory, reason, actor))
            if said == "left":
                counts["skipped"] += len(chosen) - number + 1
                break
            counts[said] += 1
    output.say(", ".join(f"{n} {word}" for word, n in counts.items()) + ".")


class _Deciding:
    """What the answers of a review do."""

    def __init__(self, memory: Memory, reason: str, actor: str | None) -> None:
        self.yes: Callable[[str], Outcome] = lambda id_: memory.apply(id_, reason=reason, actor=actor)[0]
        self.no: Callable[[str], Outcome] = lambda id_: memory.reject(id_, reason=reason, actor=actor)[0]


def _ask(memory: Memory, one: Proposal, place: str, deciding: _Deciding) -> str:
    """Show a proposal and do as the answer says; returns what became of it, or `left`."""
    while True:
        planned = memory.apply(one.id, dry_run=True)[0]
        output.say(f"── {place} " + "─" * 40, style="dim")
        show_one(one, planned)
        if not planned.done:
            output.say(f"It cannot be applied: {'; '.join(planned.reasons)}", style="yellow")
        answer = output.ask("apply? [y]es [n]o [s]kip [o]pen [q]uit")
        if answer is None or answer[:1] == "q":
            return "left"
        if answer[:1] in ("", "s"):
            return "skipped"
        if answer[:1] == "o":
            _open(memory, planned)
            continue
        if answer[:1] not in ("y", "n"):
            output.note(f"{answer!r} is none of y, n, s, o, q.")
            continue
        done = deciding.yes(one.id) if answer[:1] == "y" else deciding.no(one.id)
        output.say(f"{done.status if done.done else 'not done'}  {short_id(one.id)}")
        for reason in done.reasons:
            output.say(f"  {reason}")
        return done.status if done.done and done.status in ("applied", "rejected") else "skipped"


def _open(memory: Memory, planned: Outcome) -> None:
    """Open the files that a proposal speaks of in the editor."""
    paths = [str(memory.root / file.was) for file in planned.files if file.was]
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor or not paths:
        output.note("Set $EDITOR to open files." if paths else "There is no file to open yet.")
        return
    try:
        subprocess.run([*shlex.split(editor), *dict.fromkeys(paths)], check=False)
    except (OSError, ValueError) as error:
        output.note(f"The editor {editor!r} cannot be started: {error}.")


def _end(done: Sequence[Outcome], place: Which, verb: str, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        output.show_json({"outcomes": [one.to_dict() for one in done], "dry_run": dry_run})
    elif not done:
        output.say("There is no such proposal waiting.")
    else:
        show_outcomes(done, place, verb=verb, dry_run=dry_run)
    if not all(one.done for one in done):
        raise typer.Exit(NOT_DONE)


def _split(verb: str, words: Sequence[str] | None, root: str | None) -> tuple[Which, list[str]]:
    """The store and the ids: the first word is the store when it is a folder and no whole id."""
    given = list(words or ())
    if (given and root is None and not _FULL.fullmatch(given[0].upper()) and is_folder(given[0])) or (
        given and root is None and not _TAIL.fullmatch(given[0].strip().upper())
    ):
        place, ids = which(given[0], None), given[1:]
    else:
        place, ids = which(None, root), given
    wrong = [word for word in ids if not _TAIL.fullmatch(word.strip().upper())]
    if wrong:
        raise InputError(
            f"{', '.join(map(repr, wrong))} is no id of a proposal.",
            hint=f"Write `grail proposals {verb} [DIR] ID...`; an id may be its last 4 or more characters.",
            problems=[f"{word!r} is no id of a proposal." for word in wrong],
        )
    return place, ids


def _chosen(
    memory: Memory, named: Sequence[str], verb: str, choice: Group, *, status: str = "pending"
) -> list[Proposal]:
    """The proposals that ids name, or all of a status; in the order given."""
    kind, sure = choice["kind"] or None, choice["min_confidence"]
    by_choice = choice["everything"] or kind is not None or sure is not None
    if named and by_choice:
        raise InputError("Name proposals by id, or choose them by --all, --kind and --min-confidence; not both.")
    if not named and not by_choice:
        raise InputError(
            f"`grail proposals {verb}` needs ids, or --all.", hint="`grail proposals list` shows what waits."
        )
    if not named:
        return list(memory.proposals(status=status, kind=kind, min_confidence=sure))
    there = memory.proposals(status="all")
    return [_named(there, word.strip().upper()) for word in named]


def _named(there: Sequence[Proposal], tail: str) -> Proposal:
    found = [one for one in there if one.id.endswith(tail)]
    if len(found) > 1:
        raise ConflictError(
            f"Several ids end in {tail}: {', '.join(one.id for one in found[:9])}.", hint="Give more characters."
        )
    if not found:
        raise NotFoundError(
            f"There is no proposal whose id ends in {tail}.", hint="`grail proposals list --status all` shows the ids."
        )
    return found[0]
