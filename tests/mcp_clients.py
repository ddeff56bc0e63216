"""Clients of `grail mcp`: the SDK's own, held open for tests that are no coroutines, and one that speaks line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

HERE = Path(__file__).resolve().parents[1]
WAIT_S = 120
"""Far more than anything takes; a test that waits so long has failed."""


def command(root: Path, *options: str) -> list[str]:
    """The words that start a server."""
    return [sys.executable, "-m", "grail_mem", "mcp", str(root), *options]


def environment(**more: str) -> dict[str, str]:
    """Where the package under test is found, and no store by chance."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAIL_")}
    return {**kept, "PYTHONPATH": str(HERE), **more}


class Held:
    """A client of the SDK whose coroutines are run to their end from a test."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal, self.client = portal, client

    def do(self, name: str, *args: Any, **more: Any) -> Any:
        """Call a method of the client."""

        async def run() -> Any:
            return await getattr(self.client, name)(*args, **more)

        return self.portal.call(run)

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool; the result as the client gives it."""
        return self.do("call_tool", tool, arguments, read_timeout_seconds=WAIT_S)

    def good(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must do it, and return its values."""
        done = self.call(tool, **arguments)
        assert not done.is_error, done.content[0].text
        assert done.structured_content["ok"] is True
        assert done.structured_content["text"] == done.content[0].text
        return dict(done.structured_content)

    def bad(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must refuse, and return the error."""
        done = self.call(tool, **arguments)
        assert done.is_error
        assert done.structured_content["ok"] is False
        return dict(done.structured_content["error"])


@contextmanager
def over_stdio(root: Path, *options: str, mode: str = "legacy") -> Iterator[Held]:
    """A client with a server of its own."""
    words = command(root, *options)
    asked = StdioServerParameters(command=words[0], args=words[1:], env=environment())
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(asked, mode=mode)) as client:
        yield Held(portal, client)


@contextmanager
def over_http(url: str, token: str | None, *, mode: str = "legacy") -> Iterator[Held]:
    """A client of a server that runs."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with start_blocking_portal() as portal:
        web = portal.call(lambda: _web(headers))
        with (
            portal.wrap_async_context_manager(web),
            portal.wrap_async_context_manager(
                Client(streamable_http_client(url, http_client=web), mode=mode)
            ) as client,
        ):
            yield Held(portal, client)


async def _web(headers: Mapping[str, str]) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers=dict(headers), timeout=WAIT_S, trust_env=False)


class Raw:
    """A server process, and lines to and from it."""

    def __init__(self, words: list[str], **more: Any) -> None:
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), **more
        )
        self.lines: list[bytes] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(OSError):  # what was not sent cannot be sent any more
                pipe.close()  # type: ignore[union-attr]

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        """Send one line."""
        assert self.process.stdin is not None
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next line that comes."""
        assert self.process.stdout is not None
        self.lines.append(self.process.stdout.readline())
        return dict(json.loads(self.lines[-1]))

    def ask(self, number: int, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while (got := self.receive()).get("id") != number:
            pass
        return got

    def greet(self, version: str = "2025-11-25") -> dict[str, Any]:
        """Open the connection."""
        got = self.ask(0, "initialize", **opening(version))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return got

    def end(self) -> tuple[int, bytes, bytes]:
        """Close stdin and wait: the exit code, what still came, and what was said on stderr."""
        rest, said = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, rest, said


def opening(version: str) -> dict[str, Any]:
    """The parameters of `initialize`."""
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
