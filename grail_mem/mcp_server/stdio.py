"""The server over stdio: greets at once, loads the SDK, serves one client, and ends when it does.

Knows nothing of tools.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from time import sleep
from typing import TYPE_CHECKING, Any, Final

from grail_mem.mcp_server.greeting import greeting, known_versions
from grail_mem.mcp_server.limits import Limits
from grail_mem.mcp_server.opening import Opening
from grail_mem.mcp_server.wire import Wire
from grail_mem.model.scope import Principal

if TYPE_CHECKING:  # the SDK is loaded after the greeting
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

_LOG: Final = logging.getLogger("grail_mem.mcp")
_DRAIN_S: Final = 1.0
"""How long replies under way are waited for once the client has closed its side; clients kill what lives on for two seconds."""
_CLOSING_S: Final = 0.5
"""How long the store is given to close; whatever is cut short is put right by the next opening."""
_LOOK_S: Final = 1.0
"""How often it is looked whether the client still lives, which matters when something else holds its end of the pipe."""
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def serve(opening: Opening, principal: Principal | None, limits: Limits) -> int:
    """Serve the client at stdin and stdout; returns the exit code once it is gone.

    Raises:
        MissingDependencyError: The extra `mcp` is not installed.
    """
    known_versions()
    if sys.stdin.isatty():
        _LOG.warning("this speaks to an MCP client, not to people; `grail mcp config CLIENT` tells a client of it.")
    _end_with(os.getppid())
    wire = Wire.take()
    first = wire.receive()
    if first is None:
        return 0
    greeted = greeting(first)
    try:
        if greeted is not None:
            wire.send(greeted)
        # no `asyncio.run`: its end waits for threads, and a call may take longer than a client lets a server live
        with closing(asyncio.new_event_loop()) as loop:  # left open it would be collected, perhaps by another thread
            loop.run_until_complete(
                _Connection(wire, opening, principal, limits).run(first, greeted=greeted is not None)
            )
    except BrokenPipeError:
        _LOG.info("The client went away.")
    except Exception:  # noqa: BLE001  the last boundary: threads that still run would keep the process from ending by itself
        _LOG.exception("The connection ended with a fault.")
        return 1
    _close(opening)
    return 0


def _end_with(parent: int) -> None:
    """End this process as by SIGTERM once the one that started it is gone, which holds even before anything was sent."""

    def watch() -> None:
        while os.getppid() == parent:
            sleep(_LOOK_S)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="grail-mcp-parent").start()


def _close(opening: Opening) -> None:
    last = threading.Thread(target=opening.close, daemon=True)
    last.start()
    last.join(_CLOSING_S)


class _Connection:
    """One client."""

    def __init__(self, wire: Wire, opening: Opening, principal: Principal | None, limits: Limits) -> None:
        self._wire, self._opening, self._principal, self._limits = wire, opening, principal, limits
        self._owed: set[str] = set()
        self._paid = asyncio.Event()
        self._dropped: set[str] = set()
        self._over = asyncio.Event()

    async def run(self, first: bytes, *, greeted: bool) -> None:
        """Serve until the client closes its side or a signal comes."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._over.set)
        work = [asyncio.ensure_future(part) for part in (self._serve(first, greeted=greeted), self._over.wait())]
        done, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        for part in work:
            part.cancel()
        for part in done:
            part.result()

    async def _serve(self, first: bytes, *, greeted: bool) -> None:
        import anyio

        from grail_mem.mcp_server.offer import Offer
        from grail_mem.mcp_server.server import make_server

        server = make_server(Offer(self._opening, self._principal, self._limits))
        threading.Thread(target=self._opening.warm, args=(self._principal,), daemon=True, name="grail-mcp-warm").start()
        to_server, incoming = anyio.create_memory_object_stream[Any](0)
        outgoing, from_server = anyio.create_memory_object_stream[Any](0)
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, to_server, first, greeted)
            group.start_soon(self._write, from_server)
            await server.run(incoming, outgoing, server.create_initialization_options())
            group.cancel_scope.cancel()

    async def _read(self, to_server: MemoryObjectSendStream[Any], first: bytes, greeted: bool) -> None:  # noqa: FBT001  started by position
        lines: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=64)
        loop = asyncio.get_running_loop()
        threading.Thread(target=_pump, args=(self._wire, lines.put, loop), daemon=True, name="grail-mcp-stdin").start()
        async with to_server:
            line: bytes | None = first
            while line is not None:
                message = await self._understood(line)
                if message is not None:
                    if greeted and line is first:
                        self._dropped.add(_key(message.message.id))
                    await to_server.send(message)
                line = await lines.get()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._all_paid(), _DRAIN_S)

    async def _understood(self, line: bytes) -> Any:
        """A line as a message; what is none is refused as the protocol has it."""
        from mcp.shared.message import SessionMessage
        from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            held = _json_in(line)
            await self._send_error(PARSE_ERROR if held is None else INVALID_REQUEST, _id_in(held))
            return None
        if isinstance(message, JSONRPCRequest):
            self._owed.add(_key(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._owed.discard(_key((message.params or {}).get("requestId")))  # it is never answered
        return SessionMessage(message)

    async def _send_error(self, code: int, request_id: int | str | None) -> None:
        from mcp.types import ErrorData, JSONRPCError

        refused = JSONRPCError(
            jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message="This line is no message.")
        )
        await self._send(refused)

    async def _write(self, from_server: MemoryObjectReceiveStream[Any]) -> None:
        async with from_server:
            async for item in from_server:
                message = item.message
                answered = getattr(message, "id", None) is not None and not hasattr(message, "method")
                if answered and _key(message.id) in self._dropped:
                    self._dropped.discard(_key(message.id))
                else:
                    await self._send(message)
                if answered:
                    self._owed.discard(_key(message.id))
                    self._paid.set()

    async def _send(self, message: Any) -> None:
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            await asyncio.to_thread(self._wire.send, line)
        except OSError:
            self._over.set()

    async def _all_paid(self) -> None:
        while self._owed:
            self._paid.clear()
            await self._paid.wait()


def _pump(wire: Wire, put: Callable[[bytes | None], Awaitable[None]], loop: asyncio.AbstractEventLoop) -> None:
    """Bring what the client sends into the loop, line by line; runs in a thread, since a pipe is waited for."""
    line: bytes | None = b""
    while line is not None:
        line = wire.receive()
        with suppress(RuntimeError):  # the loop is over
            asyncio.run_coroutine_threadsafe(_put(put, line), loop).result()


async def _put(put: Callable[[bytes | None], Awaitable[None]], line: bytes | None) -> None:
    await put(line)


def _json_in(line: bytes) -> tuple[Any] | None:
    """The value of a line, alone in a tuple since it may be null; None when the line is no JSON."""
    try:
        return (json.loads(line),)
    except (ValueError, RecursionError):
        return None


def _id_in(held: tuple[Any] | None) -> int | str | None:
    """The id of a request that is refused, so that its client does not wait for the answer; None when it has none."""
    request_id = held[0].get("id") if held and isinstance(held[0], dict) and "method" in held[0] else None
    if isinstance(request_id, str):
        return request_id if request_id.isprintable() else None  # half a surrogate pair could not be sent
    return request_id if type(request_id) is int else None


def _key(request_id: object) -> str:
    return f"{type(request_id).__name__}:{request_id}"
