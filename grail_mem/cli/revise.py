"""`grail revise`, `history`, `due`, `pin`, `unpin`, `archive`, `unarchive`: judge what is there and keep it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.change import show_changed
from grail_mem.cli.drafts import read_content
from grail_mem.cli.which import full_id, short_id, split, which
from grail_mem.errors import InputError

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.model.observation import Observation
    from grail_mem.query.history import History, Step

_MOST_REASON = 60


def revise_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] ID ACTION", hidden=True)] = None,
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; needed.", show_default=False)] = "",
    content: Annotated[str | None, typer.Option("--content", metavar="TEXT", help="What is so instead.")] = None,
    file: o.File = None,
    title: o.Title = None,
    evidence: Annotated[
        list[str] | None, typer.Option("--evidence", metavar="QUOTE", help="A quote that speaks for it; repeatable.")
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="When it changed or ended; now if left out.")
    ] = None,
    root: o.Root = None,
    actor: o.Actor = None,
    as_json: o.AsJson = False,
) -> None:
    """Confirm, correct, replace, end or dispute an observation.

    ACTION is confirm (it is so), correct (it never was; the content is), supersede (it was so until --at; now the content is), expire (it is so no longer) or dispute (somebody says otherwise). What was said before stays: `grail history` shows it.
    """
    place, (named, action) = split("revise", words, root, ["ID", "ACTION"])
    if file is not None and content is not None:
        raise InputError("--content and --file cannot be given together.")
    said = content if file is None else read_content(file)
    with place.read() as memory:
        done = memory.revise(
            full_id(memory, named), action=action, reason=reason, content=said, title=title,
            evidence=evidence or None, at=at, actor=actor,
        )  # fmt: skip
    if as_json:
        output.show_json(done.to_dict())
        return
    output.say(f"{done.action}  {done.new_id or done.id}  {done.path}")
    for warning in done.warnings:
        output.note(f"note: {warning}")


def history_command(words: o.IdWords = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """Print the revisions of an observation, and who made them.

    With when and why. The revisions stand in the order of the times they tell of; > marks the one asked for. ID may be the last 4 or more characters of it.
    """
    place, (named,) = split("history", words, root, ["ID"])
    with place.read() as memory:
        found = memory.history(full_id(memory, named))
    if as_json:
        output.show_json(found.to_dict())
        return
    for revision in found.revisions:
        _show_revision(found, revision)


def _show_revision(found: History, revision: Observation) -> None:
    """One revision as a branch, with what was done to it below."""
    mark = ">" if revision.id == found.id else " "
    output.say(
        f"{mark} {short_id(revision.id)}  {_when(revision)}  {_standing(revision)}  {output.safe(revision.title)}"
    )
    steps = [step for step in found.steps if step.id == revision.id]
    for number, step in enumerate(steps, start=1):
        output.say(f"    {'└─' if number == len(steps) else '├─'} {_told(step)}", style="dim")


def _when(revision: Observation) -> str:
    begins = revision.valid_from or revision.observed_at
    return f"{begins:%Y-%m-%d}" + (f" to {revision.valid_until:%Y-%m-%d}" if revision.valid_until else "")


def _standing(revision: Observation) -> str:
    if revision.superseded_by is not None:
        return f"superseded by {short_id(revision.superseded_by)}"
    if revision.conflicts_with:
        return f"in conflict with {', '.join(map(short_id, revision.conflicts_with))}"
    return revision.status


def _told(step: Step) -> str:
    reason = output.safe(step.reason)
    why = f": {reason[:_MOST_REASON]}{'…' if len(reason) > _MOST_REASON else ''}" if reason else ""
    return f"{step.at[:16].replace('T', ' ')}  {step.action} by {output.safe(step.actor)}{why}"


def due_command(
    directory: o.Dir = None,
    *,
    within: Annotated[str, typer.Option("--within", metavar="SPAN", help="How far ahead, such as 7d.")] = "7d",
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """List what is due: reviews, ends, tasks to come, open facts.

    Nothing is changed; `grail revise … confirm` answers a review.
    """
    with which(directory, root).read() as memory:
        found = memory.due(within=within)
    if as_json:
        output.show_json({"due": [it.to_dict() for it in found]})
    elif not found:
        output.say("Nothing is due.")
    else:
        rows = [
            [", ".join(f"{name} {at[:10]}" for name, at in it.why), it.category, it.title, short_id(it.id)]
            for it in found
        ]
        output.table(["due", "category", "title", "id"], rows, wide="title")


def _keeping(verb: str, about: str, done: str, was_so: str) -> Callable[..., None]:
    """A command that does one thing to one observation.

    Args:
        verb: The command, and the verb of Memory.
        about: The first line of its help.
        done: What is said when it is done.
        was_so: What is said when there was nothing to do.
    """

    def command(
        words: o.IdWords = None, *, root: o.Root = None, actor: o.Actor = None, reason: o.Reason = "",
        as_json: o.AsJson = False,
    ) -> None:  # fmt: skip
        place, (named,) = split(verb, words, root, ["ID"])
        with place.read() as memory:
            changed = getattr(memory, verb)(full_id(memory, named), reason=reason, actor=actor)
        show_changed(changed, done, was_so, as_json=as_json)

    command.__doc__ = f"{about}\n\nID may be the last 4 or more characters of it."
    return command


pin_command = _keeping("pin", "Keep age from lowering an observation in a ranking.", "pinned", "pinned already")
unpin_command = _keeping("unpin", "Let a pinned observation age as others do.", "unpinned", "it was not pinned")
archive_command = _keeping(
    "archive", "Put an observation away; --history still shows it.", "archived", "archived already"
)
unarchive_command = _keeping("unarchive", "Bring an archived observation back.", "back", "it was not archived")
