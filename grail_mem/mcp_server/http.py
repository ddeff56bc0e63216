"""The server over streamable HTTP: who comes is told by a token, and each has a server of their own.

Sessions of the protocol live in the server of the one who opened them, so an id of one is worth nothing to another. Knows nothing
of tools.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import replace
from time import monotonic
from typing import Any, Final

from grail_mem.errors import GrailError
from grail_mem.mcp_server.door import Door, bearer
from grail_mem.mcp_server.greeting import known_versions
from grail_mem.mcp_server.limits import Limits
from grail_mem.mcp_server.opening import Opening
from grail_mem.mcp_server.pace import Pace
from grail_mem.mcp_server.tls import Tls
from grail_mem.mcp_server.tokens import Tokens
from grail_mem.model.scope import Principal
from grail_mem.store.layout import Layout

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PATH: Final = "/mcp"
NEEDED: Final = "A token is needed: Authorization: Bearer …."
EXPIRED: Final = "The token has expired; the owner of the store makes another with `grail mcp token add`."
_CLOSING_S: Final = 1
_ALLOWED: Final = (
    "authorization, content-type, mcp-session-id, mcp-protocol-version, last-event-id, mcp-method, mcp-name"
)


def serve(
    opening: Opening,
    principal: Principal | None,
    limits: Limits,
    door: Door,
    *,
    pace: Pace | None = None,
    say: Callable[[str], None],
) -> None:
    """Serve until a signal ends it.

    Args:
        opening: The store.
        principal: For whom clients without a token act, on loopback alone; None when every one needs a token.
        limits: What the server may do.
        door: Where it listens.
        pace: How many requests each caller may send; None for the usual number.
        say: Told the address once it listens.

    Raises:
        MissingDependencyError: The extra `mcp` is not installed.
        AccessError: Nothing says for whom clients act.
        ConflictError: Something else listens there.
    """
    known_versions()
    tokens = Tokens(Layout(opening.root))
    door.require_keys(principal, tokens)
    listening = door.listen()
    said = replace(door, port=listening.getsockname()[1])
    hall = Hall(opening, principal, limits, door, tokens, pace or Pace())
    with closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(_serve(hall, listening, lambda: say(f"Serving at {said.url}")))


async def _serve(hall: Hall, listening: Any, ready: Callable[[], None]) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # ours are handled below: theirs would end the process by the signal

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            ready()

    config = uvicorn.Config(
        hall,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=_CLOSING_S,
        ssl_certfile=hall.tls.cert if hall.tls else None,
        ssl_keyfile=hall.tls.key if hall.tls else None,
    )
    server = Server(config)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, lambda: setattr(server, "should_exit", True))
    await server.serve(sockets=[listening])


class Hall:
    """The application that the web server calls: lets in whom the door lets in, each to a server of their own."""

    def __init__(
        self, opening: Opening, principal: Principal | None, limits: Limits, door: Door, tokens: Tokens, pace: Pace
    ) -> None:
        self._opening, self._principal, self._limits = opening, principal, limits
        self._door, self._tokens, self._pace = door, tokens, pace
        self._rooms: dict[Principal, asyncio.Future[Any]] = {}
        self._kept: set[asyncio.Task[None]] = set()

    @property
    def tls(self) -> Tls | None:
        """The certificate with which TLS is spoken; None when it is not."""
        return self._door.tls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the beginning and end of everything."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, self._with_origin(scope, send))

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for task in self._kept:
            task.cancel()
        with suppress(asyncio.CancelledError, TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(self._opening.close), _CLOSING_S)
        await send({"type": "lifespan.shutdown.complete"})

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._door.refusal(_headers(scope, b"host"), _headers(scope, b"origin"))
        if refused is not None:
            await _answer(send, refused.status, refused.why)
        elif scope["path"] != PATH:
            await _answer(send, 404, f"There is only {PATH}.")
        elif scope["method"] == "OPTIONS":
            await _answer(send, 204, "")
        else:
            try:
                who = await asyncio.to_thread(self._who, bearer(_headers(scope, b"authorization")))
            except GrailError as error:
                await _answer(send, 500, f"{type(error).__name__}")
                raise
            if isinstance(who, str):
                told = b'Bearer error="invalid_token"' if who is EXPIRED else b"Bearer"
                await _answer(send, 401, who, [(b"www-authenticate", told)])
                return
            name, principal = who
            wait_s = self._pace.wait_s(name, monotonic())
            if wait_s:
                why = f"Too many requests; come again in {wait_s} s."
                await _answer(send, 429, why, [(b"retry-after", str(wait_s).encode())])
                return
            manager = await self._room(principal)
            await manager.handle_request(scope, receive, send)

    def _who(self, secret: str | None) -> tuple[str, Principal] | str:
        """Who comes, with what their requests are counted under: by the token, or for whom the server was started.

        Returns:
            In words why nobody does.
        """
        if secret is None:
            return ("", self._principal) if self._principal is not None else NEEDED
        token = self._tokens.named(secret) if secret else None
        if token is None:
            return NEEDED
        return EXPIRED if token.has_expired else (token.id, token.principal)

    async def _room(self, principal: Principal) -> Any:
        if principal not in self._rooms:
            loop = asyncio.get_running_loop()
            self._rooms[principal] = loop.create_future()
            self._kept.add(loop.create_task(self._keep(principal, self._rooms[principal])))
        return await asyncio.shield(self._rooms[principal])

    async def _keep(self, principal: Principal, room: asyncio.Future[Any]) -> None:
        """Run the server of one principal until everything ends."""
        try:
            async with self._manager(principal) as manager:
                room.set_result(manager)
                await asyncio.Event().wait()
        except BaseException as error:
            if not room.done():
                room.set_exception(error)
                del self._rooms[principal]
            raise

    @asynccontextmanager
    async def _manager(self, principal: Principal) -> AsyncIterator[Any]:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from grail_mem.mcp_server.offer import Offer
        from grail_mem.mcp_server.server import make_server

        manager = StreamableHTTPSessionManager(make_server(Offer(self._opening, principal, self._limits)))
        async with manager.run():
            yield manager

    def _with_origin(self, scope: Scope, send: Send) -> Send:
        """Answers that a web page may read, when it is one that may call."""
        origins = [origin for origin in _headers(scope, b"origin") if origin in self._door.origins]
        if not origins:
            return send
        told = [
            (b"access-control-allow-origin", origins[0].encode("latin-1")), (b"vary", b"origin"),
            (b"access-control-allow-methods", b"GET, POST, DELETE"), (b"access-control-allow-headers", _ALLOWED.encode()),
            (b"access-control-expose-headers", b"mcp-session-id"),
        ]  # fmt: skip

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *told]}
            await send(message)

        return sending


def _headers(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for header, value in scope["headers"] if header == name]


async def _answer(send: Send, status: int, why: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    body = json.dumps({"error": why}, ensure_ascii=False).encode() if why else b""
    kind = [(b"content-type", b"application/json")] if why else []
    await send({
        "type": "http.response.start", "status": status,
        "headers": [*kind, (b"content-length", str(len(body)).encode()), *(headers or ())],
    })  # fmt: skip
    await send({"type": "http.response.body", "body": body})
