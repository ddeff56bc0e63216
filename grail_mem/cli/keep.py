"""`grail init`, `sync`, `compact`, `rebuild`, `index`, `check`: keep a store in order."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.which import Which, which

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.model.problem import Problem
    from grail_mem.query.compaction import Compacted
    from grail_mem.write.sync import Synced


def init_command(directory: o.Dir = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """Make a folder a store, whatever it holds.

    Without DIR it is $GRAIL_ROOT or this folder. Notes under its memories/ become observations without a byte of them being changed.
    """
    here = None if root else os.environ.get("GRAIL_ROOT") or "."
    with which(directory or here, root).open() as memory:
        made = memory.init()
        n_found = len(memory.sync(stamp=False, dry_run=True).adopted)
        where = str(memory.root)
    if as_json:
        output.show_json({"root": where, "made": made, "n_found": n_found})
        return
    output.say(f"{where} is a store" + (f"; made {', '.join(made)}" if made else " already"))
    if n_found:
        output.say(f"What was there counts: {output.counted(n_found, 'observation')}; nothing was written into a file.")


def sync_command(
    directory: o.Dir = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report.")] = False,
    stamp: Annotated[
        bool | None,
        typer.Option("--stamp/--no-stamp", help="Write ids into files without one, or not; else as grail.yaml says."),
    ] = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Record what people, git and other tools did to the files."""
    with which(directory, root).keep() as memory, output.progress("looking at files") as show:
        done = memory.sync(stamp=stamp, dry_run=dry_run, progress=show)
    if as_json:
        output.show_json(done.to_dict())
        return
    for change, path, was in changes(done):
        output.say(f"{change:<9} {f'{was} → ' if was else ''}{path}")
    said = "would be recorded" if dry_run else "recorded"
    summary = f"changes {said}" if done.changed else "nothing changed"
    output.say(f"{output.counted(done.n_files, 'file')} looked at; {summary}.")
    show_problems(done.problems)


def changes(done: Synced) -> list[tuple[str, str, str]]:
    """What a sync did, in the order in which people want to know: a word, the path, and the path before a move."""
    return [
        *(("adopted", path, "") for path in done.adopted),
        *(("edited", path, "") for path in done.edited),
        *(("moved", path, was) for was, path in done.moved),
        *(("vanished", path, "") for path in done.vanished),
        *(("stamped", path, "") for path in done.stamped),
    ]


def compact_command(directory: o.Dir = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """Write what changed into a new snapshot; no answer changes."""
    with which(directory, root).keep() as memory:
        done = memory.compact()
    _show_compacted(done, as_json=as_json)


def rebuild_command(directory: o.Dir = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """Make output/ anew from files and ledger; no answer changes."""
    with which(directory, root).keep() as memory, output.progress("reading files") as show:
        done = memory.rebuild(progress=show)
    _show_compacted(done, as_json=as_json)


def index_command(
    directory: o.Dir = None, *, embedder: o.EmbedderName = None, root: o.Root = None, as_json: o.AsJson = False
) -> None:
    """Prepare what `grail search` looks in.

    These are words, names, and vectors of what has none yet. `grail search` answers without it, but more slowly the first
    time, and what has no vector is not found by meaning.
    """
    with which(directory, root).keep(embedder=embedder) as memory, output.stages() as show:
        done = memory.index(progress=show)
    if as_json:
        output.show_json(done.to_dict())
        return
    said = f"{output.counted(done.n_documents, 'observation')} of the snapshot indexed, {done.n_added} of them now."
    output.say(said)
    if done.model == "none":
        output.say("No embedder: `grail search` goes by words, names and links.")
    else:
        output.say(f"{output.counted(done.n_embedded, 'passage')} embedded now by {done.model}.")


def _show_compacted(done: Compacted, *, as_json: bool) -> None:
    rows = output.counted(done.n_rows, "observation")
    if as_json:
        output.show_json(done.to_dict())
    elif done.written:
        output.say(f"snapshot {done.snapshot}: {rows}, {done.n_taken} of them from files.")
    else:
        output.say(f"snapshot {done.snapshot}: {rows}; there was nothing to take in.")


def check_command(directory: o.Dir = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """List what is wrong with files, ledger and snapshot.

    It changes nothing. The exit code is 0 when there is no error, warnings or not, and 1 when there is one.
    """
    place = which(directory, root)
    with place.keep() as memory, output.progress("looking at files") as show:
        done = memory.check(progress=show)
    if as_json:
        output.show_json(done.to_dict())
    else:
        show_problems(done.problems)
        _summarise(place, done.n_observations, done.n_files, done.n_unsynced, done.problems)
    if not done.ok:
        raise typer.Exit(1)


def _summarise(place: Which, n_observations: int, n_files: int, n_unsynced: int, problems: tuple[Problem, ...]) -> None:
    n_errors = sum(problem.severity == "error" for problem in problems)
    counted = f"{output.counted(n_errors, 'error')}, {output.counted(len(problems) - n_errors, 'warning')}"
    stored = f"{output.counted(n_observations, 'observation')} in {output.counted(n_files, 'file')}"
    output.say(f"{stored}: {counted if problems else 'nothing wrong'}.")
    if n_unsynced:
        output.say(f"Not in the ledger yet: {output.counted(n_unsynced, 'change')}; see `{place.command('sync')}`.")


def show_problems(problems: tuple[Problem, ...]) -> None:
    """Print findings as a table with place, what is wrong, and what to do."""
    if problems:
        rows = [[problem.severity, problem.place, problem.message, problem.remedy] for problem in problems]
        output.table(["severity", "place", "what", "remedy"], rows)
