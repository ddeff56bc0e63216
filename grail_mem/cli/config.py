"""`grail config show`: every setting of a store with its value, default and meaning."""

from __future__ import annotations

from dataclasses import fields

import typer

from grail_mem.cli import options as o
from grail_mem.cli import output
from grail_mem.cli.which import which
from grail_mem.errors import InputError
from grail_mem.settings import Settings, read_settings

config_command = typer.Typer(
    help="The settings of a store.", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False,
    add_completion=False,
)  # fmt: skip


@config_command.callback()
def _settings() -> None:
    """The settings of a store."""


@config_command.command("show", cls=o.OneCommand, epilog=o.DIR)
def show_command(directory: o.Dir = None, *, root: o.Root = None, as_json: o.AsJson = False) -> None:
    """Print every setting with its value, default and meaning; they are set in grail.yaml."""
    from grail_mem.store.layout import Layout

    path = Layout(which(directory, root).root.resolve()).settings
    try:
        settings = read_settings(path)
    except InputError:
        if not as_json:
            _show(Settings())
        raise
    if not as_json:
        _show(settings)
        return
    listed = [
        {"name": it.name, "value": getattr(settings, it.name), "default": it.default, "about": it.metadata["about"]}
        for it in fields(Settings)
    ]
    output.show_json({"path": str(path), "settings": listed})


def _show(settings: Settings) -> None:
    rows = [[it.name, getattr(settings, it.name), it.default, it.metadata["about"]] for it in fields(Settings)]
    output.table(["setting", "value", "default", "meaning"], rows)
