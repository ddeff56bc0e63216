"""Who may come in over HTTP: by which name of the host, from which web page, and with which token.

A web page that a person visits can send requests to their own machine, under a name of its own that it lets point there; so the
name and the page are looked at before anything else. Knows nothing of the protocol.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from grail_mem.errors import AccessError, ConflictError, InputError
from grail_mem.mcp_server.tls import Tls
from grail_mem.mcp_server.tokens import Tokens
from grail_mem.model.scope import Principal

PORT: Final = 8765
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_MAX_PORT: Final = 65_535
_BACKLOG: Final = 128


class Refused(NamedTuple):
    """Why a request is turned away: a status of HTTP, and words."""

    status: int
    why: str


@dataclass(frozen=True, slots=True)
class Door:
    """Where a server listens, and by which names it lets itself be called.

    Attributes:
        host: The address it listens at.
        port: And the port; 0 takes a free one.
        names: Further names by which clients reach it.
        origins: Web pages that may call it, as browsers name them: `https://example.org`.
        tls: The certificate with which it speaks TLS; None when it does not.
        is_behind_proxy: Whether something in front of it speaks TLS in its place.
    """

    host: str
    port: int
    names: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    tls: Tls | None = None
    is_behind_proxy: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def url(self) -> str:
        """Its address, for people."""
        return f"http{'s' if self.tls else ''}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}/mcp"

    def require_keys(self, principal: Principal | None, tokens: Tokens) -> None:
        """Refuse to open when anybody could walk in, or nobody.

        Raises:
            InputError: The options do not go together.
            AccessError: It is not said for whom it is, and there is no token that would say it.
        """
        any_token = any(not token.has_expired for token in tokens.all())
        if not isinstance(self.port, int) or not 0 <= self.port <= _MAX_PORT:  # a command line gives what was typed
            raise InputError(f"--port must be a whole number from 0 to {_MAX_PORT}, not {self.port!r}.")
        if not self.is_loopback and principal is not None:
            raise InputError(
                "--as would let in whoever reaches this machine; beyond loopback a token says who comes.",
                hint="Leave --as out and make tokens with `grail mcp token add AGENT/USER`.",
            )
        if not any_token and principal is None:
            where = "On loopback say" if self.is_loopback else "Beyond loopback a token must say"
            ways = "`--as AGENT/USER`, or " if self.is_loopback else ""
            raise AccessError(
                f"{where} for whom clients act; there is no token yet.",
                hint=f"Use {ways}`grail mcp token add AGENT/USER`.",
            )
        if not self.is_loopback and self.tls is None and not self.is_behind_proxy:
            raise InputError(
                "Beyond loopback whoever sees the traffic could read the tokens.",
                hint="Give --tls-cert and --tls-key, or --behind-proxy where a proxy in front speaks TLS.",
            )
        if not self.is_loopback and self._is_wildcard and not self.names:
            raise InputError(
                f"{self.host} is no name by which clients call the server.",
                hint="Name it, too: --allow-host memory.example.org.",
            )

    @property
    def _is_wildcard(self) -> bool:
        return self.host in ("0.0.0.0", "::", "")  # noqa: S104  compared, not bound

    def listen(self) -> socket.socket:
        """The socket, bound.

        Raises:
            ConflictError: Something else listens there, or this machine has no such address.
        """
        try:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            return socket.create_server((self.host, self.port), family=family, backlog=_BACKLOG)
        except (OSError, UnicodeError) as error:
            raise ConflictError(
                f"Nothing can listen at {self.host} port {self.port}: {_reason(error)}.",
                hint="Give another --port or --host.",
            ) from error

    def refusal(self, hosts: Sequence[str], origins: Sequence[str]) -> Refused | None:
        """Why a request with these headers is turned away; None when it is not.

        Args:
            hosts: Every `Host` header.
            origins: Every `Origin` header; programs that are no browser send none.
        """
        own = () if self._is_wildcard else (self.host,)
        allowed = {name.casefold() for name in (*(_LOOPBACK if self.is_loopback else ()), *own, *self.names)}
        if len(hosts) != 1 or _name_in(hosts[0]) not in allowed:
            return Refused(421, "This server does not go by that name.")
        if any(origin not in self.origins for origin in origins):
            return Refused(403, "That web page may not call this server.")
        return None


def _reason(error: OSError | UnicodeError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "it is no address"


def bearer(headers: Sequence[str]) -> str | None:
    """The token in the `Authorization` headers; None when there is none, empty when what is there is none."""
    if not headers:
        return None
    kind, _, secret = headers[0].partition(" ")
    return secret.strip() if kind.casefold() == "bearer" and len(headers) == 1 else ""


def _name_in(host: str) -> str:
    """The name in a `Host` header, without its port and the brackets of IPv6."""
    if host.startswith("["):
        name, closed, rest = host[1:].partition("]")
        return name.casefold() if closed and (not rest or _is_port(rest)) else ""
    name, colon, rest = host.partition(":")
    return name.casefold() if not colon or _is_port(f":{rest}") else ""


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isascii() and text[1:].isdigit()
