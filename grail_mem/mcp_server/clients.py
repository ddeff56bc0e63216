"""What MCP clients want to be told of this server: for each its file, and what to put into it.

Every format is as the client's own documentation gave it in November 2026. Knows nothing of the server.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grail_mem.errors import InputError

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Client:
    """One client.

    Attributes:
        title: What people call it.
        file: Where it wants to be told.
        format: `json`, `toml` or `shell`.
        render: The text, from the name of the server and the words of its command.
    """

    title: str
    file: str
    format: str
    render: Callable[[str, Sequence[str]], str]


def config_for(client: str, *, name: str, command: Sequence[str]) -> tuple[Client, str]:
    """What to put into a client's file so that it starts a command.

    Args:
        client: A name of `CLIENTS`.
        name: What the client calls the server.
        command: The program by its absolute path, and its words.

    Raises:
        InputError: There is no such client.
    """
    found = CLIENTS.get(client)
    if found is None:
        raise InputError(
            f"{client!r} is no client that grail knows.",
            hint=f"They are {', '.join(CLIENTS)}; generic is what most others take.",
        )
    return found, found.render(name, command)


def _servers(key: str, extra: Mapping[str, Any] | None = None) -> Callable[[str, Sequence[str]], str]:
    """A JSON document with the servers by name under a key."""

    def render(name: str, command: Sequence[str]) -> str:
        server = {**(extra or {}), "command": command[0], "args": list(command[1:])}
        return json.dumps({key: {name: server}}, indent=2, ensure_ascii=False)

    return render


def _shell(name: str, command: Sequence[str]) -> str:
    return shlex.join(["claude", "mcp", "add", "--transport", "stdio", "--scope", "user", name, "--", *command])


def _toml(name: str, command: Sequence[str]) -> str:
    args = ", ".join(_toml_text(word) for word in command[1:])
    key = name if _BARE_KEY.fullmatch(name) else _toml_text(name)
    return f"[mcp_servers.{key}]\ncommand = {_toml_text(command[0])}\nargs = [{args}]"


def _toml_text(text: str) -> str:
    """A basic string of TOML; its escapes are those of JSON, and DEL besides."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


CLIENTS: Final[Mapping[str, Client]] = {
    "claude-desktop": Client(
        "Claude Desktop",
        "claude_desktop_config.json (Settings, Developer, Edit Config)",
        "json",
        _servers("mcpServers"),
    ),
    "claude-code": Client("Claude Code", "a terminal; `--scope project` writes .mcp.json instead", "shell", _shell),
    "cursor": Client(
        "Cursor",
        "~/.cursor/mcp.json, or .cursor/mcp.json of a project",
        "json",
        _servers("mcpServers", {"type": "stdio"}),
    ),
    "vscode": Client(
        "VS Code", ".vscode/mcp.json, or `MCP: Open User Configuration`", "json", _servers("servers", {"type": "stdio"})
    ),
    "codex": Client("Codex", "~/.codex/config.toml", "toml", _toml),
    "windsurf": Client("Windsurf", "~/.codeium/windsurf/mcp_config.json", "json", _servers("mcpServers")),
    "zed": Client("Zed", "settings.json (`zed: open settings file`)", "json", _servers("context_servers")),
    "gemini-cli": Client(
        "Gemini CLI", "~/.gemini/settings.json, or .gemini/settings.json of a project", "json", _servers("mcpServers")
    ),
    "generic": Client("Any other client", "the client's MCP configuration", "json", _servers("mcpServers")),
}
