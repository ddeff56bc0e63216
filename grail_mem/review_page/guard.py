"""Who may talk to the page: this machine's browser that was given the token, from the page itself, and nobody else.

Knows nothing of what the pages show.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK: Final = "127.0.0.1"
MAX_BODY_BYTES: Final = 1_048_576
"""Most bytes of a form; the longest content that can be typed here fits several times."""
MAX_FIELDS: Final = 2_000
"""Most fields of a form; a decision on many proposals sends one field for each."""

_ENTRY: Final = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>grail review</title>
<meta http-equiv="refresh" content="0;url=/"></head><body><p><a href="/">Open the review page</a></p></body></html>"""
_CLOSED: Final = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>grail review</title></head><body>
<h1>This page needs its address</h1><p>Open the whole address that <code>grail review</code> printed; it ends in a token.</p>
</body></html>"""
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""What every answer says, errors included; `same-origin` keeps the Origin of a form, which `no-referrer` would blank."""


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class Keys:
    """The secrets of one running page; none of them is kept anywhere.

    Attributes:
        port: The port that it listens on, part of every address that is let through.
        token: In the address that is opened; gives the cookie.
        cookie: In the cookie; lets in.
        csrf: In every form; shows that the page itself sent it.
    """

    port: int
    token: str = field(default_factory=_secret)
    cookie: str = field(default_factory=_secret)
    csrf: str = field(default_factory=_secret)

    @property
    def address(self) -> str:
        """What the browser opens."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"

    @property
    def cookie_name(self) -> str:
        """The cookie's name; browsers keep cookies by host, so the port stands in it."""
        return f"grail_review_{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """What `Host` may say; another name that leads here is an attack (DNS rebinding)."""
        return frozenset(f"{name}:{self.port}" for name in (LOOPBACK, "localhost", "[::1]"))


class Guard:
    """Lets through what comes from the page's own browser, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app, self._keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # the page has no sockets
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope)
        await (self._app if refusal is None else refusal)(scope, receive, sealed)

    def _refusal(self, scope: Scope) -> Response | None:
        """What is answered instead of the page, or None for those who may come in."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._keys.hosts:
            return Response("This address is not the page's own.\n", 421, media_type="text/plain")
        if not self._is_own_origin(headers, scope["method"]):
            return Response("This was not sent by the page itself.\n", 403, media_type="text/plain")
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[-1]
        if asked and scope["method"] == "GET":
            return self._entry(asked)
        if not any(_same(held, self._keys.cookie) for held in _cookies(headers, self._keys.cookie_name)):
            return Response(_CLOSED, 401, media_type="text/html")
        return None

    def _is_own_origin(self, headers: Headers, method: str) -> bool:
        """Whether the page itself sent this: a form that says where it is from must be from here, one that does not is none."""
        origin = headers.get("origin")
        if origin is None:
            return method in ("GET", "HEAD") or headers.get("sec-fetch-site") in (None, "same-origin")
        return origin.lower() in {f"http://{host}" for host in self._keys.hosts}

    def _entry(self, token: str) -> Response:
        """A page that leads in; a redirect would not send a strict cookie when a link elsewhere led here."""
        if not _same(token, self._keys.token):
            return Response(_CLOSED, 401, media_type="text/html")
        let_in = Response(_ENTRY, media_type="text/html")
        let_in.set_cookie(self._keys.cookie_name, self._keys.cookie, httponly=True, samesite="strict", path="/")
        return let_in


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), right.encode())


def _cookies(headers: Headers, name: str) -> list[str]:
    """Every value that the browser holds under a name; other programs of this host set cookies too, of any form."""
    pairs = (pair.partition("=") for header in headers.getlist("cookie") for pair in header.split(";"))
    return [value.strip() for key, _, value in pairs if key.strip() == name]


class RefusedError(Exception):
    """A form that is not taken.

    Args:
        status: The status of the answer.
        why: For people.
    """

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


async def read_form(request: Request, csrf: str) -> Mapping[str, list[str]]:
    """The fields of a form that the page itself sent.

    Raises:
        RefusedError: It is too large, no form, or lacks the page's own mark.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BODY_BYTES:
            raise RefusedError(413, "The form is too large.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise RefusedError(415, "Only forms of this page are taken.")
    try:
        fields: dict[str, Any] = parse_qs(data.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:  # not UTF-8, or too many fields
        raise RefusedError(400, "The form cannot be read.") from error
    if not _same(fields.get("csrf", [""])[0], csrf):
        raise RefusedError(403, "This form is not from this page, or the page was started anew; load it again.")
    return fields
