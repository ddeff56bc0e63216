"""The first answer is the one that the SDK would give, and what is odd is left to it."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from grail_mem.mcp_server.greeting import greeting
from grail_mem.mcp_server.limits import Limits
from grail_mem.mcp_server.offer import Offer
from grail_mem.mcp_server.opening import Opening
from grail_mem.mcp_server.server import make_server
from tests.mcp_clients import opening

OWN = "io.modelcontextprotocol/"


def _line(method: str, params: Any, **more: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params, **more}).encode()


def _modern(version: str) -> dict[str, Any]:
    meta = {"protocolVersion": version, "clientInfo": {"name": "test", "version": "1"}, "clientCapabilities": {}}
    return {"_meta": {f"{OWN}{name}": value for name, value in meta.items()}}


async def _answer_of_the_sdk(store: Any, line: bytes) -> dict[str, Any]:
    server = make_server(Offer(Opening(store), None, Limits()))
    to_server, incoming = anyio.create_memory_object_stream[Any](1)
    outgoing, from_server = anyio.create_memory_object_stream[Any](1)
    async with to_server, from_server, anyio.create_task_group() as group:
        group.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
        await to_server.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
        got = await from_server.receive()
        group.cancel_scope.cancel()
    return dict(json.loads(got.message.model_dump_json(by_alias=True, exclude_unset=True)))


@pytest.mark.parametrize("version", [*KNOWN_PROTOCOL_VERSIONS, "1999-01-01", "2099-12-31"])
def test_the_greeting_is_that_of_the_sdk(made_store: Any, version: str) -> None:
    """F50: a version that is known is taken, another one is answered with the newest that is."""
    line = _line("initialize", opening(version))
    told = greeting(line)
    assert told is not None
    assert json.loads(told) == anyio.run(_answer_of_the_sdk, made_store, line)


def test_a_client_without_a_handshake_is_told_what_there_is(made_store: Any) -> None:
    """The newest form of the protocol asks with another request."""
    line = _line("server/discover", _modern("2026-07-28"))
    told = greeting(line)
    assert told is not None
    assert json.loads(told) == anyio.run(_answer_of_the_sdk, made_store, line)


@pytest.mark.parametrize("line", [
    b"", b"{", b"[]", b"null", b'{"jsonrpc": "1.0"}', b"[" * 100_000,
    _line("initialize", None), _line("initialize", {}), _line("initialize", {**opening("2025-06-18"), "capabilities": None}),
    _line("initialize", {**opening("2025-06-18"), "clientInfo": {"name": "x"}}),
    _line("initialize", {**opening("2025-06-18"), "clientInfo": {"name": "x", "version": 1}}),
    _line("initialize", {**opening("2025-06-18"), "more": 1}), _line("initialize", opening("2025-06-18"), id=None),
    _line("initialize", opening("2025-06-18"), id=True), _line("tools/list", {}), _line("server/discover", {}),
    _line("server/discover", _modern("2099-12-31")),
])  # fmt: skip
def test_what_is_odd_is_left_to_the_sdk(line: bytes) -> None:
    """Only a whole opening request is answered here."""
    assert greeting(line) is None
