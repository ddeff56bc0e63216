"""The command `grail`: which module holds which command, and how an error becomes text and an exit code.

A command's module is imported when the command is asked for. Knows nothing of what the commands do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_command

from grail_mem import __version__
from grail_mem.cli import output
from grail_mem.cli.hints import usage_hint
from grail_mem.cli.options import DIR, OneCommand, take_as_written
from grail_mem.errors import GrailError, InputError
from grail_mem.model.problem import as_sentence
from grail_mem.model.refusal import refused

if TYPE_CHECKING:  # names of the parser's own types, which no command needs
    from typer._click import Command, Context

COMMANDS: Final = {
    "demo": "demo", "init": "keep", "add": "add", "ingest": "evidence", "remember": "evidence", "recall": "recall", "search": "search", "get": "read", "cite": "evidence", "list": "read", "sql": "read",
    "update": "change", "move": "change", "delete": "change", "restore": "change", "erase": "erase", "retain": "retain",
    "revise": "revise", "history": "revise", "due": "revise", "pin": "revise", "unpin": "revise", "archive": "revise",
    "unarchive": "revise", "fade": "fade", "sync": "keep", "watch": "watch",
    "compact": "keep", "rebuild": "keep", "index": "keep", "calibrate": "tune", "fit": "tune", "consolidate": "consolidate", "proposals": "proposals", "candidates": "candidates", "grant": "grants", "revoke": "grants", "grants": "grants", "check": "keep", "doctor": "doctor", "migrate": "migrate", "scan": "scan", "verify": "evidence",
    "backup": "backup", "log": "log", "verify-ledger": "log", "export": "transfer", "import": "transfer", "config": "config",
    "tools": "tools", "mcp": "mcp", "review": "review", "skill": "skill",
}  # fmt: skip
"""The commands in the order of `grail --help`, with the module that holds each as a function `<name>_command`."""

EPILOG: Final = (
    f"{DIR} Exit codes: 0 done, an empty answer included; 1 check or verify found errors, or something unexpected; 2 wrong input; "
    "3 not found; 4 not permitted; 5 conflict; 6 the store cannot be read or written; 7 a package is missing."
)


class Commands(TyperGroup):
    """The commands by name, each loaded when asked for; errors leave as text, or with `--json` as one document."""

    def get_params(self, ctx: Context) -> list[Any]:
        """The parameters of `grail` itself."""
        params = super().get_params(ctx)
        take_as_written(params)
        return params

    def list_commands(self, ctx: Context) -> list[str]:  # noqa: ARG002  the parser's signature
        """The names, in the order of the help page."""
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:  # noqa: ARG002  the parser's signature
        """One command, or None when there is none of that name."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        made = getattr(import_module(f"grail_mem.cli.{module}"), f"{cmd_name.replace('-', '_')}_command")
        if not isinstance(made, typer.Typer):
            one = _typer()
            one.command(cmd_name, cls=OneCommand, epilog=DIR)(made)
            made = one
        return get_command(made)

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """The command that the words name; a near miss is named in the refusal."""
        names: dict[str, Any] = dict.fromkeys(COMMANDS)  # the suggestion looks at the names alone
        self.commands = names
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Context) -> Any:
        """Run the command; a reader that went away, as in `grail list | head`, ends it quietly."""
        try:
            super().invoke(ctx)
            output.flush()
        except BrokenPipeError:
            output.close()

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: ARG002, FBT001, FBT002  the parser's signature
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002  the parser's signature
        **extra: Any,
    ) -> Any:
        """Parse, run, and leave with the exit code; never with a traceback."""
        words = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in words
        output.prepare()
        run = super().main
        sys.exit(_exit_code(lambda: run(words, prog_name, complete_var, False, windows_expand_args, **extra), as_json))  # noqa: FBT003  the parser's signature


_STOPPED: Final = 130
"""The exit code of a command that a person stopped, as shells give it."""


def _exit_code(run: Callable[[], Any], as_json: bool) -> int:  # noqa: FBT001  used once, above
    try:
        code = run()
    except GrailError as error:
        problems = error.problems if isinstance(error, InputError) else ()
        output.show_error(error.code, error.message, error.hint, problems, as_json=as_json)
        code = error.exit_code
    except typer.TyperException as error:
        ctx = getattr(error, "ctx", None)
        hint = (
            f"{usage_hint(error, ctx)}{ctx.get_usage()}\n`{ctx.command_path} --help` tells more."
            if ctx is not None
            else ""
        )
        if ctx is not None and error.format_message() == ctx.get_help():  # no word was given: the page is the answer
            output.note(ctx.get_help())
        else:
            output.show_error("usage", as_sentence(error.format_message()), hint, (), as_json=as_json)
        code = error.exit_code
    except typer.Abort:
        return _STOPPED  # a person was asked and says no
    except OSError as error:  # of a path that a command itself reads or writes
        told = refused(error, "finish the command")
        output.show_error(told.code, told.message, told.hint, (), as_json=as_json)
        code = told.exit_code
    except Exception as error:  # noqa: BLE001  the last boundary: a person gets a sentence, not a traceback
        hint = "This is a fault of grail_mem or of the machine; GRAIL_DEBUG=1 shows the traceback."
        output.show_error("unexpected", f"{type(error).__name__}: {error}", hint, (), as_json=as_json)
        code = 1
    if code == _STOPPED:
        output.note("Stopped. What was stored until then stays; the command can be run again.")
    return code if isinstance(code, int) else 0


def _typer(**settings: Any) -> typer.Typer:
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False, **settings)


def _print_version(asked: bool) -> None:  # noqa: FBT001  the parser's signature
    if asked:
        output.say(f"grail {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True, epilog=EPILOG
)


@app.callback()
def grail(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Memory for AI agents that people can read, check and correct."""
