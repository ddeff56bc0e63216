"""`grail review`: the store as a local web page."""

from __future__ import annotations

import threading
import webbrowser
from typing import Annotated

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.which import which
from grail_mem.errors import InputError, MissingDependencyError

_MOST_PORT = 65_535


def review_command(
    directory: o.Dir = None,
    *,
    port: Annotated[
        str | None, typer.Option("--port", metavar="N", help="The port; any that is free when left out.")
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address; open no browser.")] = False,
    seen_by: o.As = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Let the page change nothing.")] = False,
    root: o.Root = None,
    as_json: o.AsJson = False,
) -> None:
    """Open the store as a web page on this machine, until Ctrl-C.

    It shows proposals and candidates to decide on, observations, the graph, timelines, searches with their traces, and health.
    Nobody but this machine reaches it, and only with the address that is printed, which ends in a token. It loads nothing from
    elsewhere.
    """
    try:
        from grail_mem.review_page.serve import serve
    except ImportError as error:
        raise MissingDependencyError(
            f"The review page needs the package {error.name}.", hint="Install it: pip install 'grail-mem[review]'."
        ) from error

    def ready(address: str) -> None:
        if as_json:
            output.show_json_line({"address": address})
        else:
            output.say(address)
            output.note("Ctrl-C ends it.")
            output.flush()
        if not no_open:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    place = which(directory, root)
    with place.keep(), place.read_as(seen_by) as store:
        serve(store, port=_port(port), is_read_only=read_only, ready=ready)


def _port(text: str | None) -> int:
    n = 0 if text is None else o.number(text)
    if not isinstance(n, int) or not 0 <= n <= _MOST_PORT:
        raise InputError(f"port must be a whole number from 0 to {_MOST_PORT}, not {text!r}.")
    return n
