"""`grail consolidate`: look through a store and propose what is worth changing."""

from __future__ import annotations

from typing import Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.proposal_text import show_set
from grail_mem.cli.which import which


def consolidate_command(
    directory: o.Dir = None,
    *,
    kind: o.ProposalKinds = None,
    min_confidence: o.MinConfidence = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write no set of proposals.")] = False,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Propose what is worth merging, moving or settling.

    It looks through everything and changes no observation. What it finds waits in output/proposals until somebody decides:
    `grail proposals` lists, shows, applies, rejects and undoes.
    """
    place = which(directory, root)
    given = {} if min_confidence is None else {"min_confidence": o.number(min_confidence)}
    with place.keep() as memory, output.stages() as show:
        done = memory.consolidate(kinds=kind or None, dry_run=dry_run, progress=show, **given)
    if as_json:
        output.show_json(done.to_dict())
    else:
        show_set(done, place)
