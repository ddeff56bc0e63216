"""`grail skill install`: the folder that teaches an agent to use `grail`, put where its host looks for skills."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.errors import ConflictError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

NAME: Final = "grail-memory"
DEFAULT: Final = ".claude/skills"

skill_command = typer.Typer(
    help="Install the skill that teaches an agent to use grail.", no_args_is_help=True, rich_markup_mode=None,
    pretty_exceptions_enable=False, add_completion=False,
)  # fmt: skip


@skill_command.callback()
def _skill() -> None:
    """Install the skill that teaches an agent to use grail."""


@skill_command.command("show", cls=o.OneCommand)
def show_command(*, as_json: o.AsJson = False) -> None:
    """Print the skill's first file."""
    text = files("grail_mem").joinpath("skill", "SKILL.md").read_text(encoding="utf-8")
    if as_json:
        output.show_json({"name": NAME, "text": text})
    else:
        output.say(text.rstrip())


@skill_command.command("install", cls=o.OneCommand)
def install_command(
    folder: Annotated[str, typer.Argument(metavar="[FOLDER]", hidden=True)] = DEFAULT,
    *,
    force: Annotated[bool, typer.Option("--force", help="Write over files that differ.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be written.")] = False,
    as_json: o.AsJson = False,
) -> None:
    """Write the skill into FOLDER/grail-memory.

    FOLDER is where the agent's host looks for skills; .claude/skills here when left out.
    """
    there = Path(folder).expanduser() / NAME
    texts = dict(_texts(files("grail_mem").joinpath("skill")))
    try:
        differing = [name for name, text in texts.items() if _differs(there / name, text)]
        if differing and not force:
            raise ConflictError(
                f"{there} holds other text in {', '.join(differing)}; nothing was written.",
                hint="--force writes over it.",
            )
        for name, text in texts.items() if not dry_run else ():
            (there / name).parent.mkdir(parents=True, exist_ok=True)
            (there / name).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"The skill cannot be written to {str(there)[:80]!r}: {error}.") from error
    if as_json:
        output.show_json({"folder": str(there), "files": list(texts), "dry_run": dry_run})
    else:
        output.say(f"{'would write' if dry_run else 'wrote'} {output.counted(len(texts), 'file')} to {there}")


def _texts(folder: Traversable, under: str = "") -> Iterator[tuple[str, str]]:
    """The files of the skill by name, in order."""
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _texts(item, f"{under}{item.name}/")
        elif item.name.endswith(".md"):
            yield f"{under}{item.name}", item.read_text(encoding="utf-8")


def _differs(path: Path, text: str) -> bool:
    return path.exists() and path.read_bytes() != text.encode()
