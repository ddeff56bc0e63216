"""`grail retain`: transcripts whose term has ended lose the turns that no evidence needs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.asking import ask_to_erase
from grail_mem.cli.which import which

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.write.retention import Retained

_SHOWN = 10


def retain_command(
    directory: o.Dir = None,
    *,
    days: Annotated[str | None, typer.Option("--days", metavar="N", help="The term; else as grail.yaml says.")] = None,
    keep_out: Annotated[bool, typer.Option("--keep-out", help="Refuse the same turns later.")] = False,
    reason: o.Reason = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    root: o.Root = None,
    actor: o.Actor = None,
    as_json: o.AsJson = False,
) -> None:
    """Take old turns that nothing quotes out of transcripts.

    A transcript is old when its last turn is older than the setting `retention_days`, or --days. Turns on which evidence rests stay. It cannot be undone. `grail due` tells whose term ends.
    """
    term = o.number(days)
    with which(directory, root).read() as memory:
        if not dry_run and not yes:
            planned = memory.retain(days=term, keep_out=keep_out, reason=reason, dry_run=True)
            if planned.turns or planned.n_unfinished:
                what = output.counted(len(planned.turns), "turn")
                ask_to_erase(what, partial(_show, planned), as_json=as_json)
        done = memory.retain(days=term, keep_out=keep_out, reason=reason, dry_run=dry_run, actor=actor)
    if as_json:
        output.show_json(done.to_dict())
        return
    _show(done)


def _show(done: Retained) -> None:
    if not done.transcripts:
        output.say(f"No transcript is older than {output.counted(done.days, 'day')}.")
    else:
        rows = [
            [one.last_at[:10], one.path, str(one.n_turns), str(one.n_going), _quoting(one.quoted)]
            for one in done.transcripts
        ]
        output.table(["last turn", "transcript", "turns", "going", "quoted by"], rows, wide="transcript")
    would = "would go" if done.dry_run else "went"
    output.say(f"{output.counted(len(done.turns), 'turn')} {would}, {output.counted(done.n_bytes, 'byte')}.")
    if done.n_unfinished:
        output.say(f"{output.counted(done.n_unfinished, 'turn')} that never became final {would}.")
    for path in done.undated:
        output.note(f"note: nothing tells how old {path} is; it stays")
    for path in done.doubtful:
        output.note(f"note: a file that cannot be read whole may quote {path}; it stays until that is mended")
    for path in done.unreadable:
        output.note(f"note: {path} cannot be read whole and holds back transcripts; `grail check` says why")
    for place in done.beyond if done.turns else ():
        output.note(f"may still hold it: {place}")


def _quoting(quoted: dict[str, tuple[str, ...]]) -> str:
    ids = list(dict.fromkeys(id_ for some in quoted.values() for id_ in some))
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(id_[-6:] for id_ in ids[:_SHOWN]) + more
