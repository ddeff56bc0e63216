"""`grail get`, `list`, `sql`: look at one observation, at what there is, and ask in SQL."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.drafts import read_content
from grail_mem.cli.recall import show_observation, show_recall
from grail_mem.cli.which import full_id, is_folder, split, which
from grail_mem.errors import InputError

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.query.lists import Listed

LISTS: Final = ("observations", "categories", "entities", "communities", "tags", "sources")
_SELDOM: Final = ("problem",)
"""Columns that are shown where one row has something in them."""
MAX_ROWS: Final = 1_000  # chosen: more rows than anybody reads, and drawing them is slow


def get_command(
    words: o.IdWords = None, *, seen_by: o.As = None, root: o.Root = None, as_json: o.AsJson = False
) -> None:
    """Print one observation, as its file says now.

    ID may be the last 4 or more characters of it.
    """
    place, (named,) = split("get", words, root, ["ID"])
    with place.read_as(seen_by) as memory:
        observation = memory.get(full_id(memory, named))
    if as_json:
        output.show_json(observation.to_dict())
    else:
        show_observation(observation)


def list_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DIR] [WHAT]", autocompletion=lambda: list(LISTS), hidden=True),
    ] = None,
    *,
    history: o.History = False,
    limit: o.Limit = None,
    cursor: o.Cursor = None,
    seen_by: o.As = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """List observations, categories, entities, tags, sources.

    WHAT is one of these words, or communities; observations when left out.
    """
    directory, what = _what(list(words or ()), root)
    size = o.number(limit or "50")
    with which(directory, root).read_as(seen_by) as memory:
        if what == "observations":
            found = memory.list_observations(limit=size, cursor=cursor, include_history=history)
            output.show_json(found.to_dict()) if as_json else show_recall(found)
            return
        if what == "categories" and limit is None:
            size = 1_000
        if what == "sources" and history:
            raise InputError("--history says nothing of sources.", hint="Leave it out; all of them are listed.")
        more = {} if what == "sources" else {"include_history": history}
        listed: Listed = getattr(memory, f"list_{what}")(limit=size, cursor=cursor, **more)
    if as_json:
        output.show_json(listed.to_dict())
    else:
        _show_list(what, listed)


def _what(words: list[str], root: str | None) -> tuple[str | None, str]:
    """The store, if named, and what to list; a folder named like a list is written `./tags`."""
    is_no_list = bool(words) and words[-1] not in LISTS
    is_named = root is not None or len(words) > 1 or (is_no_list and "/" not in words[0] and not is_folder(words[0]))
    if len(words) > 2 or (is_no_list and is_named):  # noqa: PLR2004  the store and what
        raise InputError(
            f"`grail list [DIR] [WHAT]` lists {', '.join(LISTS)}, not {words[-1]!r}.",
            hint="The store comes first, a folder that is there.",
        )
    if words and words[-1] in LISTS:
        return (words[0] if len(words) > 1 else None), words[-1]
    return (words[0] if words else None), "observations"


def _show_list(what: str, listed: Listed) -> None:
    if not listed.items:
        output.say(f"nothing_stored: This store holds no {what} yet.")
        return
    if what == "categories":
        output.tree("memories", [(item["category"], _counted(item)) for item in listed.items])
    else:
        names = [name for name in listed.items[0] if name not in _SELDOM or any(item[name] for item in listed.items)]
        output.table(names, [[item[name] for name in names] for item in listed.items])
    if listed.cursor is not None:
        output.note(f"{listed.total} in all; there are more: repeat with --cursor {listed.cursor}")


def _counted(item: dict[str, Any]) -> str:
    here, below = item["n_directly"], item["n_observations"]
    return f"{below}" if here in (0, below) else f"{below} ({here} here)"


def sql_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] TEXT", hidden=True)] = None,
    *,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    seen_by: o.As = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Ask one read-only SELECT over the views of the store.

    They are observations, entities, mentions, relationships, tags and communities, and each with current_ before its
    name, of what holds now. TEXT is the statement; - reads it from stdin.
    """
    place, (text,) = split("sql", words, root, ["TEXT"])
    if as_csv and as_json:
        raise InputError("--csv and --json cannot be given together.")
    with place.read_as(seen_by) as memory:
        answer = memory.sql(read_content("-") if text == "-" else text)
    columns = [str(name) for name in answer.column_names]
    if as_json:
        columns = _unique(columns)
        named = [dict(zip(columns, row, strict=True)) for row in _rows(answer)]
        output.show_json({"columns": columns, "rows": named})
    elif as_csv:
        output.write_csv(columns, _rows(answer))
    else:
        output.table(columns, _rows(answer.slice(0, MAX_ROWS)))
        if answer.num_rows > MAX_ROWS:
            output.note(f"{answer.num_rows - MAX_ROWS} more rows; --json and --csv print all.")


def _unique(names: list[str]) -> list[str]:
    """The names, with a number behind each that was there before, so that no value of a row is lost."""
    made: list[str] = []
    for name in names:
        tries = (name if n == 1 else f"{name}_{n}" for n in count(1))
        made.append(next(it for it in tries if it not in made))
    return made


def _rows(answer: Any) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in answer.columns), strict=True))
