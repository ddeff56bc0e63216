"""`grail erase`: take observations out of every file of the store, for good."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.asking import ask_to_erase
from grail_mem.cli.which import is_folder, which
from grail_mem.errors import InputError
from grail_mem.model.ulid import is_id

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.write.erase import Erased

_SHOWN = 10


def erase_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] [ID…]", hidden=True)] = None,
    *,
    source: o.OfSource = None,
    session: o.OfSession = None,
    speaker: o.OfSpeaker = None,
    user: o.OfUser = None,
    scope: o.OfScope = None,
    reason: o.Reason = "",
    with_sources: Annotated[bool, typer.Option("--with-sources", help="Take what its quotes stand in, too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    root: o.Root = None,
    actor: o.Actor = None,
    as_json: o.AsJson = False,
) -> None:
    """Erase observations for good, from every file.

    Each ID is whole. Of several conditions all must hold. What they mean of transcripts and documents goes, too. It cannot be undone: `grail delete` hides instead. The text is kept from coming back by import, sync or git; `grail add --again` remembers it on purpose.
    """
    given = list(words or ())
    named = (
        given.pop(0) if given and root is None and not is_id(given[0].strip().upper()) and is_folder(given[0]) else None
    )
    if not reason.strip():
        raise InputError("`grail erase` needs --reason.", hint="Say why; it stands in the ledger.")
    chosen = {"source": source, "session": session, "speaker": speaker, "user": user, "scope": scope}
    ids = given or None
    with which(named, root).read() as memory:
        if not dry_run and not yes:
            planned = memory.erase(ids, reason=reason, with_sources=with_sources, dry_run=True, **chosen)
            what = f"{output.counted(len(planned.ids), 'observation')} and {output.counted(len(planned.turns), 'turn')}"
            ask_to_erase(what, partial(_show, planned), as_json=as_json)
        done = memory.erase(ids, reason=reason, with_sources=with_sources, dry_run=dry_run, actor=actor, **chosen)
    if as_json:
        output.show_json(done.to_dict())
        return
    _show(done)


def _show(done: Erased) -> None:
    would = "would be erased" if done.dry_run else "erased"
    output.say(f"{output.counted(len(done.ids), 'observation')} {would}, {output.counted(done.n_bytes, 'byte')}")
    parts = (
        ("file", done.files), ("reference taken out of", done.edited), ("proposal", done.proposals),
        ("candidate", done.candidates), ("source", done.sources), ("turn", done.turns),
        ("undo record", done.undo_records), ("snapshot", done.snapshots), ("index segment", done.segments),
    )  # fmt: skip
    for name, values in parts:
        for value in values[:_SHOWN]:
            output.say(f"  {name}  {value}")
        if len(values) > _SHOWN:
            output.say(f"  {name}  and {len(values) - _SHOWN} more")
    output.say(f"  {output.counted(done.n_vectors, 'vector')}, {output.counted(done.n_lines, 'line')} of the ledger")
    for id_, others in done.still_said.items():
        output.note(f"note: {', '.join(others)} says the same as {id_}")
    for id_ in done.quoting:
        output.note(f"note: {id_} holds the text of an erased one")
    for warning in done.warnings:
        output.note(f"note: {warning}")
    for place in done.beyond:
        output.note(f"may still hold it: {place}")
