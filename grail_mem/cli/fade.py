"""`grail fade`: observations that nobody recalled for long, as a list or into the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.which import which

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.write.fade import Faded

_WHY = {
    "pinned": "pinned", "dated": "with a date ahead", "user_statement": "said by a user and confirmed",
    "relied_on": "named by another observation",
}  # fmt: skip


def fade_command(
    directory: o.Dir = None,
    *,
    below: Annotated[
        str | None, typer.Option("--below", metavar="N", help="Weak is below this; else as grail.yaml says.")
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Archive what is listed.")] = False,
    reason: o.Reason = "",
    root: o.Root = None,
    actor: o.Actor = None,
    as_json: o.AsJson = False,
) -> None:
    """List what nobody recalled for long; --apply archives it.

    Without --apply nothing is changed. It needs the setting `access_log: on`, and counts from then on. `grail unarchive` brings an observation back.
    """
    with which(directory, root).read() as memory:
        done = memory.fade(below=o.number(below), apply=apply, reason=reason, actor=actor)
    if as_json:
        output.show_json(done.to_dict())
        return
    _show(done, applied=apply)


def _show(done: Faded, *, applied: bool) -> None:
    if done.weak:
        rows = [[f"{one.strength:.3f}", one.category, one.title, one.id[-6:], one.reason] for one in done.weak]
        output.table(["strength", "category", "title", "id", "why"], rows, wide="title")
    n_weak = output.counted(len(done.weak), "observation")
    if done.counted_since is None:
        output.say("No recall was noted yet, so nothing has faded.")
    elif applied:
        output.say(f"{output.counted(len(done.archived), 'observation')} archived.")
    else:
        output.say(f"{n_weak} of {done.n_observations} below {done.below:g}; recalls count since {done.counted_since}.")
    for why, n in done.kept.items():
        output.note(f"note: {output.counted(n, 'observation')} {_WHY[why]}: never fades")
