"""Tokens for HTTP: which of them is whose, in a file of this copy of the store that holds digests alone.

The file lies under `.grail/local`, which git, backups and exports leave out and no tool can name. Knows nothing of HTTP.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from grail_mem.errors import ConflictError, InputError, NotFoundError, StoreError
from grail_mem.model.scope import Principal, make_principal
from grail_mem.model.times import format_time, parse_time, parse_when
from grail_mem.store.files import FileState, read_file, replace_file, state_of, translated
from grail_mem.store.layout import Layout
from grail_mem.store.lock import exclusive

FILE: Final = "mcp-tokens.json"
PREFIX: Final = "grail_"
_SPAN: Final = re.compile(r"\s*[0-9]+\s*[A-Za-z]+\s*")
_SECRET_BYTES: Final = 32
_ID_BYTES: Final = 4
_MAX_LABEL: Final = 80
_WRITABLE_BY_OTHERS: Final = 0o022


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of one token.

    Attributes:
        id: Names it in `grail mcp token list` and `revoke`; tells nothing of the token.
        principal: Whose it is.
        label: What it is for, in words.
        added_at: When it was made, UTC.
        sha256: The digest of the token. It has 256 random bits, so nothing slower is needed.
        expires_at: From when on it counts no longer, UTC; empty when it does not end.
    """

    id: str
    principal: Principal
    label: str
    added_at: str
    sha256: str
    expires_at: str = ""

    @property
    def has_expired(self) -> bool:
        """Whether its time is over."""
        return bool(self.expires_at) and parse_time(self.expires_at) <= datetime.now(UTC)

    def to_dict(self) -> dict[str, Any]:
        """What may be shown of it, as plain JSON values."""
        whose = self.principal
        return {
            "id": self.id, "agent_id": whose.agent_id, "user_id": whose.user_id, "project_id": whose.project_id,
            "label": self.label, "added_at": self.added_at, "expires_at": self.expires_at or None, "expired": self.has_expired,
        }  # fmt: skip


class Tokens:
    """The tokens of one store. Safe to use from several threads and processes; each question sees the newest file."""

    def __init__(self, layout: Layout) -> None:
        self._path = layout.local / FILE
        self._read: tuple[FileState, tuple[Token, ...]] | None = None

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def all(self) -> tuple[Token, ...]:
        """The tokens that were not taken back, in the order in which they were made; some may have expired.

        Raises:
            StoreError: The file cannot be read, or others than its owner may write it.
        """
        with translated("read the tokens", self._path):
            try:
                status = os.stat(self._path, follow_symlinks=False)
            except FileNotFoundError:
                return ()
            if status.st_mode & _WRITABLE_BY_OTHERS or status.st_uid not in (os.geteuid(), 0):
                raise StoreError(
                    f"{self._path} may be written by others than you, so it is not believed.",
                    hint="chmod 600 that file.",
                )
            if self._read is None or self._read[0] != state_of(status):
                data, state = read_file(self._path)
                self._read = (state, tuple(_tokens(data, self._path)))
            return self._read[1]

    def whose(self, secret: str) -> Principal | None:
        """Whose token this is; None when it is none that counts."""
        token = self.named(secret)
        return None if token is None or token.has_expired else token.principal

    def named(self, secret: str) -> Token | None:
        """What is kept of a token, whether it has expired or not; None when there is none."""
        digest = _digest(secret)
        found = None
        for token in self.all():  # all of them are looked at, so that the time tells nothing
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found

    def add(self, principal: Principal, *, label: str = "", expires: str | None = None) -> tuple[str, Token]:
        """Make a token; it is returned this once and kept nowhere.

        Args:
            principal: Whose it is.
            label: What it is for.
            expires: When it ends: a span from now such as `30d`, or a time; None for no end.

        Raises:
            InputError: The label cannot be used, or the end is no time that is still to come.
            StoreError: The file could not be written.
        """
        if len(label) > _MAX_LABEL or not label.isprintable():
            raise InputError(f"A label is one line of at most {_MAX_LABEL} characters, not {label[:30]!r}.")
        now = datetime.now(UTC).replace(microsecond=0)
        ends_at = "" if expires is None else format_time(_end(expires, now))
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        with self._changing() as there:
            made = Token(
                _free_id(there),
                principal,
                label,
                format_time(now),
                _digest(secret),
                ends_at,
            )
            self._write([*there, made])
        return secret, made

    def revoke(self, named: str) -> Token:
        """Take a token back; it counts no longer from the next request on.

        Raises:
            NotFoundError: There is none of this id.
            StoreError: The file could not be written.
        """
        with self._changing() as there:
            gone = next((token for token in there if token.id == named), None)
            if gone is None:
                raise NotFoundError(f"There is no token {named!r}.", hint="`grail mcp token list` shows their ids.")
            self._write([token for token in there if token is not gone])
        return gone

    @contextmanager
    def _changing(self) -> Iterator[tuple[Token, ...]]:
        with translated("write the tokens", self._path), exclusive(self._path.with_suffix(".lock")):
            yield self.all()

    def _write(self, tokens: Iterable[Token]) -> None:
        listed = [
            {name: value for name, value in token.to_dict().items() if name != "expired"} | {"sha256": token.sha256}
            for token in tokens
        ]
        replace_file(self._path, json.dumps({"tokens": listed}, indent=1).encode() + b"\n")


def _end(text: str, now: datetime) -> datetime:
    """When a token ends: a span counted from now, or the time that is named."""
    at = parse_when(text, now=now)
    if at < now and _SPAN.fullmatch(text):  # which the reader of times counts backwards
        with suppress(OverflowError):
            at = now + (now - at)
    if at - now < timedelta(seconds=1):
        raise InputError(f"--expires must lie ahead, not {text!r}.", hint="Write a span such as 30d, or a date.")
    return at.replace(microsecond=0)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _free_id(there: Iterable[Token]) -> str:
    taken = {token.id for token in there}
    made = secrets.token_hex(_ID_BYTES)
    if made in taken:
        raise ConflictError("The id of the new token was taken.", hint="Try again.")
    return made


def _tokens(data: bytes, path: Path) -> Iterator[Token]:
    """The tokens of a file; one that was changed by hand into something else is refused whole."""
    try:
        for item in json.loads(data)["tokens"]:
            whose = make_principal(user_id=item["user_id"], agent_id=item["agent_id"], project_id=item["project_id"])
            digest = item["sha256"]
            if len(bytes.fromhex(digest)) != hashlib.sha256().digest_size:
                raise ValueError(digest)
            ends_at = item.get("expires_at") or ""
            if ends_at:
                parse_time(ends_at)  # an end that cannot be read would be none
            yield Token(str(item["id"]), whose, str(item["label"]), str(item["added_at"]), digest, ends_at)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise StoreError(f"{path} is damaged.", hint="Delete it and make the tokens anew.") from error
