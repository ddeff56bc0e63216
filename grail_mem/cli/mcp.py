"""`grail mcp`: serve the memory to MCP clients; `config` tells a client of it, `token` keeps the tokens for HTTP."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.which import Which, split, which

if TYPE_CHECKING:  # names of the parser's own types, which no command needs
    from typer._click import Command, Context

    from grail_mem.mcp_server.tokens import Token, Tokens

As = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="AGENT/USER",
        help="For whom the clients act; /PROJECT may follow. [default over stdio: the owner]",
    ),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Offer nothing that changes anything.")]
AllowApply = Annotated[bool, typer.Option("--allow-apply", help="Offer to apply proposals.")]
AllowErase = Annotated[bool, typer.Option("--allow-erase", help="Offer to erase for good, beside hiding.")]


class _OrServe(TyperGroup):
    """The commands below `mcp`; without the name of one, the server is meant."""

    def get_params(self, ctx: Context) -> list[Any]:
        """The parameters of `grail mcp` itself."""
        params = super().get_params(ctx)
        o.take_as_written(params)
        return params

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """The command that the words name."""
        return super().resolve_command(ctx, args if args and args[0] in self.commands else ["serve", *args])

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Leave options of the server to the server."""
        own = {"--help", *self.commands}
        return super().parse_args(ctx, args if args and args[0] in own else ["serve", *args])


mcp_command = typer.Typer(
    cls=_OrServe, help="Serve the memory to MCP clients, over stdio or HTTP.", rich_markup_mode=None,
    pretty_exceptions_enable=False, add_completion=False,
)  # fmt: skip
token_command = typer.Typer(
    help="Keep the tokens with which clients come over HTTP.", no_args_is_help=True, rich_markup_mode=None,
    pretty_exceptions_enable=False, add_completion=False,
)  # fmt: skip
mcp_command.add_typer(token_command, name="token")


@mcp_command.callback()
def _mcp() -> None:
    """Serve the memory to MCP clients, over stdio or HTTP."""


@mcp_command.command("serve", cls=o.OneCommand, epilog=o.DIR)
def serve_command(
    directory: o.Dir = None,
    *,
    seen_by: As = None,
    read_only: ReadOnly = False,
    allow_apply: AllowApply = False,
    allow_erase: AllowErase = False,
    structured: Annotated[
        bool, typer.Option("--structured", help="Answer with values beside the text, for programs.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="N", help="Tokens that an answer has at most. [default: 2000]")
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of stdio.")] = False,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Where HTTP listens.")] = "127.0.0.1",
    port: Annotated[
        str | None,
        typer.Option("--port", metavar="PORT", help="And at which port; 0 takes a free one. [default: 8765]"),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="HOST", help="A name by which clients reach it; repeatable."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", metavar="ORIGIN", help="A web page that may call it; repeatable."),
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option("--tls-cert", metavar="FILE", help="Speak TLS with this certificate, PEM.")
    ] = None,
    tls_key: Annotated[str | None, typer.Option("--tls-key", metavar="FILE", help="And its key, PEM.")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy in front speaks TLS; listen beyond loopback without it.")
    ] = False,
    rate: Annotated[
        str | None,
        typer.Option("--rate", metavar="N", help="Requests a minute of one token; 0 for no limit. [default: 600]"),
    ] = None,
    embedder: o.EmbedderName = None,
    root: o.Root = None,
) -> None:
    """Serve the memory to an MCP client; this is what `grail mcp` alone does."""
    from grail_mem.mcp_server import logs
    from grail_mem.mcp_server.leaving import leave
    from grail_mem.mcp_server.limits import BUDGET, limits
    from grail_mem.mcp_server.opening import Opening, read_principal

    allowed = limits(
        read_only=read_only, allow_apply=allow_apply, allow_erase=allow_erase, structured=structured,
        budget_tokens=BUDGET if budget is None else o.number(budget),
    )  # fmt: skip
    principal = None if seen_by is None else read_principal(seen_by)
    opening = Opening(which(directory, root).root, embedder=embedder)
    logs.to_stderr()
    if http:
        from grail_mem.mcp_server.door import PORT, Door
        from grail_mem.mcp_server.http import serve
        from grail_mem.mcp_server.pace import RATE, Pace
        from grail_mem.mcp_server.tls import Tls

        door = Door(
            host, PORT if port is None else o.number(port), tuple(allow_host or ()), tuple(allow_origin or ()),
            Tls.read(tls_cert, tls_key), behind_proxy,
        )  # fmt: skip
        pace = Pace(RATE if rate is None else o.number(rate))
        serve(opening, principal, allowed, door, pace=pace, say=output.note)
        leave(0)
    from grail_mem.mcp_server import stdio

    leave(stdio.serve(opening, principal, allowed))


@mcp_command.command("config", cls=o.OneCommand, epilog=o.DIR)
def config_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] CLIENT", hidden=True)] = None,
    *,
    seen_by: As = None,
    read_only: ReadOnly = False,
    allow_apply: AllowApply = False,
    allow_erase: AllowErase = False,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What the client calls it.")] = "grail",
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Print what an MCP client wants to be told, ready to paste.

    CLIENT is claude-desktop, claude-code, cursor, vscode, codex, windsurf, zed, gemini-cli or generic.
    """
    from grail_mem.mcp_server.clients import config_for

    place, (client,) = split("mcp config", words, root, ["CLIENT"])
    options = [
        *(["--as", seen_by] if seen_by else []),
        *(["--read-only"] if read_only else []),
        *(["--allow-apply"] if allow_apply else []),
        *(["--allow-erase"] if allow_erase else []),
    ]
    command = [*_program(), "mcp", str(place.root.expanduser().resolve()), *options]
    told, text = config_for(client, name=name, command=command)
    if as_json:
        output.show_json({"client": client, "file": told.file, "format": told.format, "command": command, "text": text})
        return
    output.say(text)
    output.note(f"{told.title}: put this into {told.file}.")


@token_command.command("add", cls=o.OneCommand, epilog=o.DIR)
def add_command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[DIR] AGENT/USER", hidden=True)] = None,
    *,
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What it is for.", show_default=False)] = "",
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="WHEN", help="When it ends: 30d from now, or a date. [default: never]"),
    ] = None,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Make a token for an agent that acts for a person; it is shown this once. /PROJECT may follow."""
    from grail_mem.mcp_server.opening import named, read_principal

    place, (whose,) = split("mcp token add", words, root, ["AGENT/USER"])
    secret, made = _tokens(place).add(read_principal(whose), label=label, expires=expires)
    if as_json:
        output.show_json({**made.to_dict(), "token": secret})
        return
    output.say(secret)
    output.note(f"This is the token of {named(made.principal)}, id {made.id}; it is kept nowhere, so keep it now.")


@token_command.command("list", cls=o.OneCommand, epilog=o.DIR)
def list_command(directory: o.Dir = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """List whose tokens there are."""
    from grail_mem.mcp_server.opening import named

    found = _tokens(which(directory, root)).all()
    if as_json:
        output.show_json({"tokens": [token.to_dict() for token in found]})
    elif found:
        rows = [[t.id, named(t.principal), t.added_at, _end_of(t), t.label] for t in found]
        output.table(["id", "for", "made", "ends", "label"], rows)
    else:
        output.say("There are no tokens; `grail mcp token add AGENT/USER` makes one.")


@token_command.command("revoke", cls=o.OneCommand, epilog=o.DIR)
def revoke_command(words: o.IdWords = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """Take a token back; it counts no longer from the next request on."""
    from grail_mem.mcp_server.opening import named

    place, (id_,) = split("mcp token revoke", words, root, ["ID"])
    gone = _tokens(place).revoke(id_)
    if as_json:
        output.show_json(gone.to_dict())
    else:
        output.say(f"revoked  {gone.id}  {named(gone.principal)}")


def _end_of(token: Token) -> str:
    return f"{token.expires_at} (expired)" if token.has_expired else token.expires_at or "never"


def _tokens(place: Which) -> Tokens:
    from grail_mem.mcp_server.opening import Opening
    from grail_mem.mcp_server.tokens import Tokens
    from grail_mem.store.layout import Layout

    return Tokens(Layout(Opening(place.root).root))


def _program() -> Sequence[str]:
    """This command by its absolute path, so that a client finds it whatever its PATH is."""
    called: Any = Path(sys.argv[0])
    if called.name == "grail" and called.is_file():
        return [str(called.absolute())]
    beside = Path(sys.executable).with_name("grail")
    found = str(beside) if beside.is_file() else shutil.which("grail")
    return [found] if found else [sys.executable, "-m", "grail_mem"]
