"""`grail watch`: record what others do to the files as it happens."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.keep import changes
from grail_mem.cli.which import which

if TYPE_CHECKING:  # most of a command's start-up
    from pathlib import Path

    from grail_mem.model.problem import Problem
    from grail_mem.write.sync import Synced

DEBOUNCE_MS: Final = 500  # chosen: an editor's write and rename are one change, and nobody waits


def watch_command(
    directory: o.Dir = None,
    *,
    stamp: Annotated[
        bool | None,
        typer.Option("--stamp/--no-stamp", help="Write ids into files without one, or not; else as grail.yaml says."),
    ] = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Do as sync does, continuously, until Ctrl-C.

    Prints one line a change; with --json one JSON document a line.
    """
    told: set[Problem] = set()
    with which(directory, root).keep() as memory:
        memory.init()
        if not as_json:
            output.note(f"Watching {memory.root}; Ctrl-C ends it.")
        try:
            for _ in _moments(memory.root / memory.settings.notes):
                _tell(memory.sync(stamp=stamp), told, as_json=as_json)
        except KeyboardInterrupt:
            return


def _moments(folder: Path) -> Iterator[None]:
    """Now, and then whenever something changed below the folder, until the process is asked to end."""
    from watchfiles import watch

    stop = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        yield
        for _ in watch(folder, debounce=DEBOUNCE_MS, stop_event=stop):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _tell(done: Synced, told: set[Problem], *, as_json: bool) -> None:
    at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    new = [problem for problem in done.problems if problem not in told]
    told.clear()
    told.update(done.problems)
    for change, path, was in changes(done):
        if as_json:
            output.show_json_line({"at": at, "change": change, "path": path} | ({"was": was} if was else {}))
        else:
            output.say(f"{at}  {change:<9} {f'{was} → ' if was else ''}{path}")
    for problem in new:
        if as_json:
            output.show_json_line({"at": at, "change": "problem", "path": problem.where, "problem": problem.to_dict()})
        else:
            output.say(f"{at}  {problem.severity:<9} {problem}")
    output.flush()
