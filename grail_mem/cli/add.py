"""`grail add`: one observation from options, a file or stdin, or many from lines of JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from grail_mem.cli import drafts, output
from grail_mem.cli import options as o
from grail_mem.cli.grouped import FIELDS, Group, grouped
from grail_mem.cli.which import Which, which
from grail_mem.errors import GrailError, InputError

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.memory import Memory
    from grail_mem.write.placed_facts import Written

NOTHING: Final = "nothing was written."
WHERE_CONTENT_GOES: Final = "Give it with --content TEXT, --file FILE or on stdin; the first argument is the store."
BATCH: Final = 500  # chosen: a batch costs one sync, and a progress bar moves


@grouped("said", FIELDS)
def add_command(
    directory: o.Dir = None,
    *,
    title: o.Title = None,
    content: o.Content = None,
    file: o.File = None,
    category: Annotated[str | None, typer.Option("--category", metavar="PATH", help="Folder under memories/.")] = None,
    said: Group,
    slug: Annotated[
        str | None, typer.Option("--slug", metavar="WORDS", help="File name instead of the title's.")
    ] = None,
    jsonl: Annotated[
        str | None,
        typer.Option(
            "--jsonl", metavar="FILE", help="Many: one JSON object a line with the fields' names; - is stdin."
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Store it also when the same was erased, on purpose.")] = False,
    root: o.Root = None,
    actor: o.Actor = None,
    as_json: o.AsJson = False,
) -> None:
    """Store an observation, or many.

    Without --content or --file the content is read from stdin. It is durable, and every process sees it, when the command returns. The same observation twice is stored once.
    """
    fields, problems = drafts.read_fields(
        {"title": title, "content": content, "category": category, "slug": slug} | said
    )
    if jsonl is not None:
        if fields or problems or file is not None:
            raise InputError("--jsonl takes every field from its lines; leave the other options out.")
        _add_lines(which(directory, root), jsonl, actor, again=again, as_json=as_json)
    else:
        _add_one(which(directory, root), fields, problems, file, actor, again=again, as_json=as_json)


def _add_one(
    place: Which,
    fields: dict[str, Any],
    problems: list[str],
    file: str | None,
    actor: str | None,
    *,
    again: bool,
    as_json: bool,
) -> None:
    if file is not None and "content" in fields:
        raise InputError("--content and --file cannot be given together.")
    if file is None and "content" not in fields and not sys.stdin.isatty():
        file = "-"
    if file is not None:
        fields["content"] = drafts.read_content(file)
    with place.write(actor=actor, as_json=as_json) as memory:
        if problems:
            problems += drafts.check(fields, memory.settings)
            raise InputError("Nothing was stored. " + " ".join(problems), problems=problems)
        fields.setdefault("content", "")
        try:
            done = memory.add_observation(**fields, again=again)
        except InputError as error:
            if not str(fields["content"]).strip():
                error.hint = f"{error.hint} {WHERE_CONTENT_GOES}".strip()
            raise
    if as_json:
        output.show_json(done.to_dict())
        return
    said = "added" if done.created else "reinforced" if done.decision == "reinforced" else "there already"
    output.say(f"{said}  {done.id}  {done.path}")
    for warning in _news(done):
        output.note(f"note: {warning}")


def _add_lines(place: Which, path: str, actor: str | None, *, again: bool, as_json: bool) -> None:
    with place.write(actor=actor, as_json=as_json) as memory:
        results = _stored(memory, drafts.read_lines(path, memory.settings), again=again)
    n_created = sum(result.created for result in results)
    if as_json:
        listed = [result.to_dict() for result in results]
        output.show_json({"n_created": n_created, "n_existing": len(results) - n_created, "results": listed})
        return
    output.say(f"added {n_created}, there already {len(results) - n_created}")
    for number, result in enumerate(results, start=1):
        for warning in _news(result):
            output.note(f"note: draft {number}: {warning}")


def _news(done: Written) -> list[str]:
    """What an answer says beside that nothing was written, which the command says in its own words."""
    return [warning for warning in done.warnings if not warning.endswith(NOTHING)]


def _stored(memory: Memory, values: list[dict[str, Any]], *, again: bool) -> list[Any]:
    results: list[Any] = []
    with output.progress("adding", len(values)) as show:
        for start in range(0, len(values), BATCH):
            try:
                results += memory.add_observations(values[start : start + BATCH], again=again)
            except GrailError as error:
                error.message = f"{len(results)} of {len(values)} drafts were stored. {error.message}"
                raise
            show(len(results))
    return results
