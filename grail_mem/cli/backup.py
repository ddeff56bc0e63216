"""`grail backup create|verify|restore`: everything that is truth in one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.keep import show_problems
from grail_mem.cli.which import split, which

Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]

backup_command = typer.Typer(
    help="Write a store into one file; verify and restore it.", no_args_is_help=True, rich_markup_mode=None,
    pretty_exceptions_enable=False, add_completion=False,
)  # fmt: skip


@backup_command.callback()
def _backup() -> None:
    """Write a store into one file; verify and restore it."""


@backup_command.command("create", cls=o.OneCommand, epilog=o.DIR)
def create_command(
    directory: o.Dir = None,
    *,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="The file, or a folder; without it, this folder. Outside the store."
        ),
    ] = None,
    include_derived: Annotated[bool, typer.Option("--include-derived", help="Take output/ along, too.")] = False,
    force: Force = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be in it.")] = False,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Write everything that is truth into one file; others may go on writing."""
    with which(directory, root).keep() as memory, output.stages() as show:
        done = memory.backup(out or ".", include_derived=include_derived, force=force, dry_run=dry_run, progress=show)
    if as_json:
        output.show_json(done.to_dict())
        return
    show_problems(done.problems)
    held = f"{output.counted(done.n_observations, 'observation')}, {output.counted(done.n_files, 'file')}"
    if dry_run:
        output.say(f"would hold {held}, {done.n_bytes} bytes: {done.path}")
        return
    output.say(f"{done.path}: {held}, {done.size_bytes} bytes")
    output.say(f"digest {done.digest}")


@backup_command.command("verify", cls=o.OneCommand)
def verify_command(
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)], *, as_json: o.AsJson = False
) -> None:
    """Read a backup from front to back and say what is wrong with it.

    It writes nothing and needs no store. The exit code is 1 when it cannot be restored.
    """
    from grail_mem.keep.verify import verify

    with output.progress("verifying") as show:
        done = verify(Path(file), progress=show)
    if as_json:
        output.show_json(done.to_dict())
    else:
        show_problems(done.problems)
        held = f"{output.counted(done.n_observations, 'observation')}, {output.counted(done.n_files, 'file')}"
        output.say(f"{held}: {'nothing wrong' if not done.problems else 'sound' if done.ok else 'not sound'}.")
        output.say(f"digest {done.digest}")
    if not done.ok:
        raise typer.Exit(1)


@backup_command.command("restore", cls=o.OneCommand, epilog=o.DIR)
def restore_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] FILE", hidden=True)] = None,
    *,
    force: Force = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Verify it, and say what would change.")] = False,
    reason: o.Reason = "",
    actor: o.Actor = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Make DIR what a backup says; what was hidden or erased since stays so.

    The backup is verified wholly first. A store that is there is replaced with --force alone, at once or not at all.
    """
    place, own = split("backup restore", words, root, ["FILE"])
    with place.open() as memory, output.progress("restoring") as show:
        done = memory.restore_backup(own[0], force=force, dry_run=dry_run, reason=reason, actor=actor, progress=show)
        where = str(memory.root)
    if as_json:
        output.show_json(done.to_dict())
        return
    would = "would be" if dry_run else "is"
    output.say(f"{where} {would} as the backup says: {output.counted(done.n_observations, 'observation')}.")
    output.say(f"files: {done.n_new} new, {done.n_changed} changed, {done.n_gone} gone")
    for path in done.left_out:
        output.say(f"left out, since it was erased: {path}")
    if done.hidden:
        output.say(f"hidden since the backup, and still: {', '.join(done.hidden)}")
