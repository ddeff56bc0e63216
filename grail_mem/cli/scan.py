"""`grail scan`: find secrets in what is stored already."""

from __future__ import annotations

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.keep import show_problems
from grail_mem.cli.which import which


def scan_command(directory: o.Dir = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """Find secrets in what is stored already.

    It looks through files, sources and the ledger, shows no secret and changes nothing. Text that gives orders is told as a
    warning. The exit code is 0 when there is no secret, and 1 when there is one.
    """
    with which(directory, root).keep() as memory, output.progress("looking at files") as show:
        done = memory.scan(progress=show)
    if as_json:
        output.show_json(done.to_dict())
    else:
        show_problems(done.problems)
        n_secrets = sum(problem.code == "secret" for problem in done.problems)
        n_others = len(done.problems) - n_secrets
        output.say(
            f"{output.counted(done.n_files, 'file')} looked at: {output.counted(n_secrets, 'secret')}"
            + (f", {output.counted(n_others, 'warning')}." if n_others else ".")
        )
    if not done.ok:
        raise typer.Exit(1)
