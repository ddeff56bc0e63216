"""`grail demo`: a small store on a made-up team's three months, and what recalling from it looks like."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.demo_notes import DEMO_NOTES
from grail_mem.cli.drafts import read_fields
from grail_mem.cli.recall import show_recall
from grail_mem.cli.search import show_found
from grail_mem.cli.which import Which
from grail_mem.errors import ConflictError

if TYPE_CHECKING:  # most of a command's start-up
    from grail_mem.memory import Memory

SETTINGS: Final = """\
# The demo store of grail_mem: Harbour Lights, a team that does not exist. Everything here may be deleted.
# `grail config show` lists the settings with their meaning.
"""

STORY: Final = (
    (
        "What was decided about the migration?",
        {"category": ["migration/**"], "tags": ["decision"]},
    ),
    (
        "What is known about Postgres since April, and is sure?",
        {"entity_names": ["postgres"], "since": "2026-04-01", "min_confidence": 0.95, "order": "oldest"},
    ),
    (
        "Where did the bookings lie on 1 May?",
        {"relationship_type": ["STORES_IN"], "as_of": "2026-05-01"},
    ),
    (
        "And today?",
        {"relationship_type": ["STORES_IN"], "as_of": "now"},
    ),
    (
        "What do we know about Oracle? Silence has a reason, too:",
        {"entity_names": ["Oracle"]},
    ),
    (
        "And a question in words, ranked, with what speaks for each answer:",
        {"query": "Which database did we pick, and why not SQLite?", "limit": 3},
    ),
)
"""The questions, and the conditions that ask them."""

_OPTIONS: Final = {"tags": "tag", "entity_names": "entity"}


def demo_command(
    directory: Annotated[str, typer.Argument(metavar="[DIR]", hidden=True)] = "grail-demo",
    *,
    as_json: o.AsJson = False,
) -> None:
    """Make a small store to look at, and recall from it.

    DIR is a new or empty folder, or that of an earlier demo; ./grail-demo when left out. A second run adds nothing.
    """
    place = Which(Path(directory).expanduser(), directory)
    _prepare(place.root)
    with place.open(embedder="none") as memory:  # so that it says the same wherever it runs
        n_added = _fill(memory)
        answers = [(question, asked, memory.recall(**asked)) for question, asked in STORY]
        where, example = str(memory.root), answers[2][2].citations[0].path if answers[2][2].citations else ""
    if as_json:
        told = [
            {"question": question, "command": _command(place, asked), "answer": answer.to_dict()}
            for question, asked, answer in answers
        ]
        output.show_json({"root": where, "n_added": n_added, "recalls": told})
        return
    _introduce(where, n_added)
    for question, asked, answer in answers:
        output.say()
        output.say(question, style="bold")
        output.say(f"$ {_command(place, asked)}", style="green")
        show_found(answer) if "query" in asked else show_recall(answer)
    _show_file(place.root / example)
    _suggest(place)


def _prepare(root: Path) -> None:
    """Make sure that the folder is the demo's own.

    Raises:
        ConflictError: Something else is in it.
    """
    from grail_mem.store.layout import SETTINGS_FILE

    settings = root / SETTINGS_FILE
    if root.exists() and not root.is_dir():
        raise ConflictError(f"{str(root)!r} is a file.", hint="Name another folder: `grail demo DIR`.")
    if root.is_dir() and any(root.iterdir()):
        first = SETTINGS.splitlines()[0]
        if not settings.is_file() or first not in settings.read_text(encoding="utf-8", errors="replace"):
            raise ConflictError(
                f"The folder {str(root)!r} holds something that is not the demo; it was not touched.",
                hint="Name an empty or a new folder: `grail demo DIR`.",
            )
        return
    root.mkdir(parents=True, exist_ok=True)
    settings.write_text(SETTINGS, encoding="utf-8")


def _fill(memory: Memory) -> int:
    """Add the demo's observations to a store that holds none; what a person changed since stays changed."""
    memory.init()
    if memory.recall(limit=1).observations:
        return 0
    drafts = [read_fields(item)[0] for item in DEMO_NOTES]
    return sum(written.created for written in memory.add_observations(drafts, actor="demo"))


def _command(place: Which, asked: Any) -> str:
    conditions = {name: value for name, value in asked.items() if name != "query"}
    words = [asked["query"]] if "query" in asked else []
    for name, value in conditions.items():
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{_OPTIONS.get(name, name).replace('_', '-')}", str(one)]
    return (
        place.command("search", *words, "--embedder", "none") if "query" in asked else place.command("recall", *words)
    )


def _introduce(where: str, n_added: int) -> None:
    output.say("Harbour Lights moves its booking system: three months of a team's memory", style="bold magenta")
    done = f"{n_added} observations were written" if n_added else "Everything was there from an earlier run"
    output.say(f"{done}; each is a markdown file below {where}/memories.")


def _show_file(path: Path) -> None:
    if not path.is_file():
        return
    output.say()
    output.say("The file is the truth; open it in any editor, change it, and the next recall says so:", style="bold")
    output.say(f"$ cat {shlex.quote(str(path))}", style="green")
    output.say(path.read_text(encoding="utf-8", errors="replace").rstrip("\n"), style="dim")


def _suggest(place: Which) -> None:
    output.say()
    output.say("Try next:", style="bold")
    said = (
        (place.command("list", "categories"), "the folders are the communities"),
        (place.command("recall", "--tag", "preference", "--full"), "how people here like to work"),
        (place.command("recall", "--text", "rehearsal", "--text-pack"), "what an agent receives"),
        (place.command("search", "Did anybody lose a booking in the switch?"), "ranked, with reasons"),
        (place.command("search", "--mode", "global"), "a map of it"),
        (place.command("search", "--mode", "local", "Ines"), "what is known of her"),
        (place.command("sql", "select tag, count(*) as n from tags group by tag order by n desc, tag limit 5"), ""),
        (place.command("add", "--title", "Mine", "--content", "My first memory."), "then recall it"),
        (place.command("consolidate"), "what is worth tidying; nothing changes"),
        (place.command("check"), "is everything in order?"),
    )
    for command, why in said:
        output.say(f"  {command}" + (f"   # {why}" if why else ""))
