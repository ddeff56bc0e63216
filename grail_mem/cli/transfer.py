"""`grail export` and `grail import`: observations in several formats, and back; and other programs' memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.grouped import CONDITIONS, Group, grouped
from grail_mem.cli.which import FILE_OR_FOLDER, split, which
from grail_mem.errors import InputError

if TYPE_CHECKING:  # of no use to the other commands
    from grail_mem.keep.record import Skipped

_EXAMPLES = 3
"""How many of those that are skipped for one reason are named."""
_BINARY = ("markdown", "parquet")


@grouped("conditions", CONDITIONS)
def export_command(
    directory: o.Dir = None,
    *,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="The file, or a folder; without it or with -, stdout. Outside the store."
        ),
    ] = None,
    format: Annotated[  # noqa: A002  the word of the option
        str, typer.Option("--format", help="jsonl, markdown (a zip of the files), graphml or parquet.")
    ] = "jsonl",
    conditions: Group,
    history: Annotated[
        bool, typer.Option("--history/--no-history", help="Also what is superseded, archived or over.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Write observations as lines of JSON, or in another format.

    Lines hold the files and all: without a condition also what is hidden, tombstones, sources and grants.
    """
    out = None if out == "-" else out
    if out is None and as_json and not dry_run:
        raise InputError("--json and the export would both go to stdout.", hint="Name a file with --out.")
    if out is None and not dry_run and format in _BINARY and output.shows_bytes():
        raise InputError(f"The format {format} is nothing for a terminal.", hint="Name a file with --out.")
    with which(directory, root).keep() as memory, output.progress("exporting") as show:
        done = memory.export(
            output.stream() if out is None else out, **conditions, include_history=history,
            format=format, force=force, dry_run=dry_run, progress=show,
        )  # fmt: skip
    if as_json:
        output.show_json(done.to_dict())
        return
    for path, reason in done.skipped.items():
        output.note(f"skipped {path}: {reason}")
    counts = [output.counted(done.n_observations, "observation"), output.counted(done.n_tombstones, "tombstone")]
    counts += [output.counted(done.n_sources, "source"), output.counted(done.n_grants, "grant")]
    if done.format == "graphml":
        n = done.n_entities
        counts = [
            f"{n} {'entity' if n == 1 else 'entities'}",
            output.counted(done.n_relationships, "relationship"),
        ]
    elif done.format != "jsonl":
        counts = counts[:1]
    said = f"{', '.join(counts)}{f': {done.path}' if done.path else ''}"
    (output.note if out is None and not dry_run else output.say)(f"would hold {said}" if dry_run else said)


def _show_skipped(skipped: Sequence[Skipped]) -> None:
    """Say what was skipped, those of one reason together."""
    reasons: dict[str, list[Skipped]] = {}
    for item in skipped:
        reasons.setdefault(item.reason, []).append(item)
    for reason, items in reasons.items():
        named = ", ".join(f"{item.place}{f' ({item.name})' if item.name else ''}" for item in items[:_EXAMPLES])
        more = f" and {len(items) - _EXAMPLES} more; --json lists all" if len(items) > _EXAMPLES else ""
        output.note(f"skipped {named}{more}: {reason}")


def _named_columns(said: Sequence[str]) -> dict[str, str]:
    """What columns are, as options say it."""
    odd = [item for item in said if not all(item.partition("=")[::2])]
    if odd:
        raise InputError(f"--column takes FIELD=COLUMN, not {', '.join(map(repr, odd))}.")
    return {field: column for field, _, column in (item.partition("=") for item in said)}


def _show_mapping(mapping: Sequence[Mapping[str, Any]]) -> None:
    """Say how the tables of a database are read, with their first rows."""
    for one in mapping:
        n = one["n_rows"]
        output.say(f"table {one['table']}{'' if n is None else ', ' + output.counted(n, 'row')}:")
        read = [f"{field}={column}" for field, column in one["columns"].items()]
        for what, names in (("read", read), ("kept as it is", one["kept"]), ("not taken", list(one["left"]))):
            if names:
                output.say(f"  {what}: {', '.join(names)}")
        for row in one["first"]:
            output.say(f"  {row['where']}: {row['title']}")


def import_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] FILE", hidden=True)] = None,
    *,
    kind: Annotated[
        str | None,
        typer.Option("--from", metavar="KIND", help="What FILE is; without it, that is told from what is in it."),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Take what is whole of an export that was cut off or changed.")
    ] = False,
    with_grants: Annotated[bool, typer.Option("--with-grants", help="Take grants, too.")] = False,
    table: Annotated[
        str, typer.Option("--table", metavar="NAME", help="The table of a database; without it, those recognised.")
    ] = "",
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="FIELD=COLUMN", help="What a column of the database is; may be repeated."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    index: Annotated[bool, typer.Option("--index/--no-index", help="Index the words after much came in.")] = True,
    reason: o.Reason = "",
    actor: o.Actor = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Take the records of a file into the store, each once.

    FILE is a file, a folder or a zip: an export (grail, markdown), lines of JSON with title and content (drafts), or of
    another program (chatgpt, claude, mcp, mem0, basic-memory, obsidian, graphgrail, citefold, sqlite, retold). What cannot
    be taken is listed, and stops nothing else.
    """
    place, own = split("import", words, root, [FILE_OR_FOLDER])
    with place.write(as_json=as_json) as memory, output.stages() as show:
        done = memory.import_file(
            own[0],
            kind=kind,
            partial=partial,
            with_grants=with_grants,
            table=table,
            columns=_named_columns(columns or ()),
            dry_run=dry_run,
            reason=reason,
            actor=actor,
            index=index,
            progress=lambda n: show("importing", n, None),
            indexing=show,
        )
    if as_json:
        output.show_json(done.to_dict())
        return
    if dry_run:
        _show_mapping(done.mapping)
    for old, new in done.remapped.items():
        output.say(f"{old} is {new} here")
    _show_skipped(done.skipped)
    would = "would be " if dry_run else ""
    counts = [f"{output.counted(done.n_added, 'observation')} {would}added", f"{done.n_unchanged} there already"]
    counts += [f"{n} {what} {would}taken" for n, what in ((done.n_sources, "sources"), (done.n_grants, "grants")) if n]
    counts += [f"{done.n_hidden} hidden"] if done.n_hidden else []
    output.say(
        f"{', '.join(counts)}, {len(done.skipped)} skipped." + ("" if done.changed or dry_run else " Nothing changed.")
    )
    if done.n_indexed:
        output.note(
            f"The words of {output.counted(done.n_indexed, 'observation')} are indexed; `grail index` adds vectors."
        )
