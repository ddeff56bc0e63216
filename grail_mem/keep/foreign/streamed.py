"""JSON that is read piece by piece, so that a file of any size needs no more memory than its largest piece.

What is no JSON, is too long or was cut off comes as what is odd about it, and stops no other piece. Knows nothing of what
the pieces mean.
"""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final, NamedTuple
from zipfile import BadZipFile

MAX_PIECE: Final = 64 << 20
"""Longest piece, in bytes; chosen: far more than a conversation or an observation may have, and far less than memory."""
_CHUNK: Final = 1 << 20
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_SCALAR: Final = re.compile(rb"[^\s,\]}]*")
_INSIDE: Final = re.compile(rb'["\\]')
_OUTSIDE: Final = re.compile(rb'["\[\]{}]')
_NO_JSON: Final = "what follows is no JSON"
READING: Final = (OSError, BadZipFile, zlib.error, EOFError, UnicodeError, NotImplementedError, RuntimeError)
"""What reading from a file or a zip may raise: a disk, a damaged or an encrypted member."""


@dataclass(frozen=True, slots=True)
class Odd:
    """What is no piece, and why."""

    reason: str


class Piece(NamedTuple):
    """A value: an item of the list that is the whole or a member of it, or a member itself.

    Attributes:
        key: The member; empty when the whole is a list.
        number: Its place in the list, from 1; 0 for a member that is no list.
        value: The value, or what is odd.
    """

    key: str
    number: int
    value: Any


class _CutError(Exception):
    """The file ends in the middle."""


def pieces(file: IO[bytes], *, longest: int = MAX_PIECE) -> Iterator[Piece]:
    """The items of a JSON list, or the members of an object with those that are lists item by item."""
    reading, last = _Reading(file, longest), Piece("", 0, None)
    try:
        first = reading.peek()
        if first not in (b"[", b"{"):
            yield Piece("", 0, Odd("it is no JSON list and no JSON object"))
            return
        for last in reading.items("") if first == b"[" else reading.members():
            yield last
    except _CutError:
        yield Piece(last.key, last.number + 1, Odd("the file was cut off here"))
    except READING as error:
        yield Piece(last.key, last.number + 1, Odd(f"it cannot be read: {error}"))


class _Reading:
    """A place in a file that is read in chunks."""

    def __init__(self, file: IO[bytes], longest: int) -> None:
        self._file, self._longest = as_utf8(file), longest
        self._held, self._at = b"", 0

    def _more(self, keep: int) -> bool:
        """Read on, keeping what is held from a place on; returns whether there was anything."""
        chunk = self._file.read(_CHUNK)
        self._held, self._at = self._held[keep:] + chunk, 0
        return bool(chunk)

    def peek(self) -> bytes:
        """The next character that is no space, which stays.

        Raises:
            _CutError: There is none.
        """
        while True:
            found = _SPACE.match(self._held, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._held):
                return self._held[self._at : self._at + 1]
            if not self._more(len(self._held)):
                raise _CutError

    def skip(self) -> None:
        """Pass the character that `peek` told."""
        self._at += 1

    def members(self) -> Iterator[Piece]:
        """The members of the object that begins here, those that are lists item by item."""
        self.skip()
        while (mark := self.peek()) != b"}":
            if mark == b",":
                self.skip()
                continue
            key = str(self.value())
            if self.peek() != b":":
                yield Piece(key, 0, Odd(_NO_JSON))
                return
            self.skip()
            if self.peek() == b"[":
                yield from self.items(key)
            else:
                yield Piece(key, 0, self.value())

    def items(self, key: str) -> Iterator[Piece]:
        """The items of the list that begins here, each with its number from 1; the list is of the member of this name."""
        self.skip()
        number = 0
        while (mark := self.peek()) != b"]":
            if mark == b",":
                self.skip()
                continue
            number += 1
            if mark in b":}":
                yield Piece(key, number, Odd(_NO_JSON))
                raise _CutError
            yield Piece(key, number, self.value())
        self.skip()

    def value(self) -> Any:
        """The value that begins here, or what is odd about it.

        Raises:
            _CutError: It does not end.
        """
        data = self._extent(self.peek())
        if data is None:
            return Odd(f"it is longer than {self._longest} bytes")
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return Odd("it is no JSON")

    def _extent(self, first: bytes) -> bytes | None:
        """The bytes of a value up to its end; None when they are too many, which are passed all the same."""
        if first not in b'"[{':
            return self._scalar()
        depth, inside, at, too_long = 0, False, self._at, False
        while True:
            found = (_INSIDE if inside else _OUTSIDE).search(self._held, at)
            if found is None or (found.group() == b"\\" and found.end() == len(self._held)):
                at = len(self._held) if found is None else found.start()
                too_long = too_long or at - self._at > self._longest
                begin = at if too_long else self._at
                at -= begin
                if not self._more(begin):
                    raise _CutError
                continue
            mark, at = found.group(), found.end()
            if mark == b"\\":
                at += 1
            elif mark == b'"':
                inside = not inside
            else:
                depth += 1 if mark in b"[{" else -1
            if depth <= 0 and not inside:
                begin, self._at = self._at, at
                return None if too_long else self._held[begin:at]

    def _scalar(self) -> bytes | None:
        """The bytes of a number or a word; None when they are too many, which are passed all the same."""
        at, too_long = self._at, False
        while True:
            found = _SCALAR.match(self._held, at)
            at = found.end() if found else at
            too_long = too_long or at - self._at > self._longest
            begin = at if too_long else self._at
            if at < len(self._held) or not self._more(begin):
                begin, self._at = self._at, max(at, self._at + 1)
                return None if too_long else self._held[begin : self._at]
            at -= begin


def as_utf8(file: IO[bytes]) -> Any:
    """A file as bytes of UTF-8, whatever it says at its beginning that it is."""
    head = _Head(file)
    if head.first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return codecs.EncodedFile(head, "utf-8", "utf-16", errors="replace")  # type: ignore[arg-type]
    head.first = head.first.removeprefix(codecs.BOM_UTF8)
    return head


class _Head:
    """A stream of which the beginning was read already."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.first = file.read(4)

    def read(self, size: int = -1) -> bytes:
        first, self.first = self.first, b""
        return first + self._file.read(size)
