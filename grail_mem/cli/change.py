"""`grail update`, `move`, `delete`, `restore`: change what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from grail_mem.cli import drafts, output
from grail_mem.cli import options as o
from grail_mem.cli.grouped import FIELDS, Group, grouped
from grail_mem.cli.which import full_id, split, which
from grail_mem.errors import InputError

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.write.change import Changed


@grouped("said", FIELDS)
def update_command(
    words: o.IdWords = None,
    *,
    title: o.Title = None,
    content: o.Content = None,
    file: o.File = None,
    append: Annotated[
        str | None, typer.Option("--append", metavar="TEXT", help="Put behind the content as a paragraph.")
    ] = None,
    said: Group,
    clear: Annotated[
        list[str] | None, typer.Option("--clear", metavar="FIELD", help="Remove a field, such as tags; repeatable.")
    ] = None,
    root: o.Root = None,
    actor: o.Actor = None,
    reason: o.Reason = "",
    as_json: o.AsJson = False,
) -> None:
    """Change the named fields of an observation and no others.

    ID may be the last 4 or more characters of it. A list, such as that of --tag, takes the place of the one that was there. The file's other bytes stay as they are.
    """
    place, (named,) = split("update", words, root, ["ID"])
    fields, problems = drafts.read_fields({"title": title, "content": content} | said)
    if file is not None and content is not None:
        problems.append("--content and --file cannot be given together.")
    elif file is not None:
        fields["content"] = drafts.read_content(file)
    cleared = [name.replace("-", "_") for name in clear or ()]
    problems += [f"{name} cannot be given a value and be cleared." for name in cleared if name in fields]
    if problems:
        raise InputError("Nothing was changed. " + " ".join(problems), problems=problems)
    fields |= dict.fromkeys(cleared)
    with place.read() as memory:
        id_ = full_id(memory, named)
        done = memory.update(id_, append=append, reason=reason, actor=actor, **fields)
    show_changed(done, "updated", "nothing changed", as_json=as_json)


def move_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] ID CATEGORY", hidden=True)] = None,
    *,
    root: o.Root = None,
    actor: o.Actor = None,
    reason: o.Reason = "",
    as_json: o.AsJson = False,
) -> None:
    """Put an observation into another category; its id stays.

    CATEGORY is a folder path under memories/. ID may be the last 4 or more characters of it.
    """
    place, (named, category) = split("move", words, root, ["ID", "CATEGORY"])
    with place.read() as memory:
        done = memory.move(full_id(memory, named), category, reason=reason, actor=actor)
    show_changed(done, "moved", "it is there already", as_json=as_json)


def delete_command(
    words: o.IdWords = None,
    *,
    source: o.OfSource = None,
    session: o.OfSession = None,
    speaker: o.OfSpeaker = None,
    user: o.OfUser = None,
    scope: o.OfScope = None,
    root: o.Root = None,
    actor: o.Actor = None,
    reason: o.Reason = "",
    as_json: o.AsJson = False,
) -> None:
    """Hide an observation from every answer; restore undoes it.

    The file stays; `grail restore` brings the observation back. ID may be the last 4 or more characters of it. With conditions instead of an ID, everything that meets all of them is hidden.
    """
    chosen: dict[str, Any] = {"source": source, "session": session, "speaker": speaker, "user": user, "scope": scope}
    if any(value is not None for value in chosen.values()):
        _hide_selected(words, root, chosen, reason, actor, as_json=as_json)
        return
    place, (named,) = split("delete", words, root, ["ID"])
    with place.read() as memory:
        done = memory.hide(full_id(memory, named), reason=reason, actor=actor)
    show_changed(done, "hidden", "hidden already", as_json=as_json)
    if not as_json:
        output.note(f"The file stays; `{place.command('restore', done.id)}` brings it back.")


def _hide_selected(
    words: list[str] | None,
    root: str | None,
    chosen: dict[str, Any],
    reason: str,
    actor: str | None,
    *,
    as_json: bool,
) -> None:
    if len(words or ()) > 1:
        raise InputError("Name an ID or give conditions, not both.")
    with which(words[0] if words else None, root).read() as memory:
        done = memory.hide_selected(reason=reason, actor=actor, **chosen)
    if as_json:
        output.show_json({"results": [one.to_dict() for one in done]})
        return
    for one in done:
        output.say(f"{'hidden' if one.changed else 'hidden already'}  {one.id}  {one.path}")


def restore_command(
    words: o.IdWords = None,
    *,
    root: o.Root = None,
    actor: o.Actor = None,
    reason: o.Reason = "",
    as_json: o.AsJson = False,
) -> None:
    """Bring a hidden observation back into the answers.

    ID is the whole id, as `grail delete` printed it.
    """
    place, (named,) = split("restore", words, root, ["ID"])
    with place.read() as memory:
        done = memory.restore(full_id(memory, named), reason=reason, actor=actor)
    show_changed(done, "restored", "it was not hidden", as_json=as_json)


def show_changed(done: Changed, changed: str, unchanged: str, *, as_json: bool) -> None:
    """Print what became of a change."""
    if as_json:
        output.show_json(done.to_dict())
        return
    output.say(f"{changed if done.changed else unchanged}  {done.id}  {done.path}")
    for warning in done.warnings:
        output.note(f"note: {warning}")
