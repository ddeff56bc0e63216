"""`grail tools` and `grail tools call`: the five tools of an agent, for shells and for programs in other languages."""

from __future__ import annotations

from typing import Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.drafts import read_content
from grail_mem.cli.which import split, which
from grail_mem.errors import InputError

FAILED = 1

tools_command = typer.Typer(
    help="Print the five tools of an agent as JSON.", invoke_without_command=True, rich_markup_mode=None,
    pretty_exceptions_enable=False, add_completion=False,
)  # fmt: skip


@tools_command.callback()
def _tools(
    ctx: typer.Context,
    *,
    format_: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="mcp, anthropic, openai or openai-chat.")
    ] = "mcp",
    seen_by: o.As = None,
    root: o.Root = None,
    as_json: o.AsJson = False,  # noqa: ARG001  it prints JSON in any case; every command takes the option
) -> None:
    """Print the five tools of an agent as JSON.

    With --as they name the targets that this agent may write to. `grail tools call` calls one.
    """
    if ctx.invoked_subcommand is not None:
        return
    from grail_mem.tools import TOOLS, Toolbox
    from grail_mem.tools.targets import STORE
    from grail_mem.tools.tool import FORMATS

    if format_ not in FORMATS:
        raise InputError(f"There is no format {format_!r}; the formats are {', '.join(FORMATS)}.")
    if seen_by is None:
        output.show_json([tool.naming([STORE]).definition(format_) for tool in TOOLS])
        return
    with which(None, root).read_as(seen_by) as memory:
        output.show_json(Toolbox(memory).definitions(format_))  # type: ignore[arg-type]  # looked at above


@tools_command.command("call", cls=o.OneCommand, epilog=o.DIR)
def call_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] NAME JSON", hidden=True)] = None,
    *,
    seen_by: o.As = None,
    budget: Annotated[str | None, typer.Option("--budget", metavar="N", help="Tokens of the text at most.")] = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Call one tool, and print what a model would be given.

    NAME is that of the tool, JSON an object with its arguments; - reads it from stdin. A call that failed ends with 1.
    """
    from grail_mem.tools import Toolbox

    place, (name, text) = split("tools call", words, root, ["NAME", "JSON"])
    sent = read_content("-") if text == "-" else text
    with place.read_as(seen_by) as memory:
        result = Toolbox(memory, budget_tokens=o.number(budget) if budget else 2000).call(name, sent)
    if as_json:
        output.show_json(result.to_dict())
    else:
        output.say(result.text)
    if result.is_error:
        raise typer.Exit(FAILED)
