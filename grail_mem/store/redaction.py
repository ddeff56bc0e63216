"""Redaction: take the open part out of lines of the ledger, in place and without breaking any chain.

Every line keeps its length, so that whoever has read a chain up to some byte can go on there. Doing it twice, or after it
was cut off halfway, comes to the same. Knows nothing of why.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from grail_mem.store.ledger_line import AGAIN, ERASE, REDACTED, Entry, read_line

_OPEN: Final = b',"open":'
_ID: Final = re.compile(rb'"id":"([0-9A-HJKMNP-TV-Z]{26})"')
_OWN: Final = tuple(f'"action":"{action}"'.encode() for action in (ERASE, AGAIN))
_BLANK: Final = (_OPEN + f'{{"{REDACTED}":"'.encode(), b'"}}')


class Line(NamedTuple):
    """A line of a chain: its clone and number."""

    clone: str
    seq: int


def redact(path: Path, ids: Collection[str], lines: Collection[Line] = (), whole: Collection[Line] = ()) -> int:
    """Take out the open part of every line of these ids, and the reason of some others; durable on return.

    Lines that record an erasure stay: they hold no word of what was erased.

    Args:
        path: The chain; nobody may append to it meanwhile.
        ids: Of observations and proposals.
        lines: Lines of other ids whose reason goes.
        whole: Lines of other ids whose open part goes.

    Returns:
        How many lines were changed.
    """
    changes = list(_changes(path, ids, lines, whole))
    if not changes:
        return 0
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        for at, tail in changes:
            done = 0
            while done < len(tail):
                done += os.pwrite(descriptor, tail[done:], at + done)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return len(changes)


def count(path: Path, ids: Collection[str], lines: Collection[Line] = (), whole: Collection[Line] = ()) -> int:
    """How many lines `redact` would change."""
    return sum(1 for _ in _changes(path, ids, lines, whole))


def lines_about(path: Path, sources: Collection[str]) -> Iterator[Line]:
    """The lines of a chain about these files of sources."""
    for line in path.read_bytes().split(b"\n"):
        if b'"path":"sources' in line and (entry := read_line(line, path.stem)) is not None and entry.path in sources:
            yield Line(path.stem, entry.seq)


def reasons(path: Path) -> Iterator[tuple[Line, Entry]]:
    """Every line of a chain that gives a reason in words."""
    for line in path.read_bytes().split(b"\n"):
        if b'"reason":' in line and (entry := read_line(line, path.stem)) is not None and entry.reason:
            yield Line(path.stem, entry.seq), entry


def _changes(
    path: Path, ids: Collection[str], lines: Collection[Line], whole: Collection[Line]
) -> Iterator[tuple[int, bytes]]:
    """Where in a chain what is to be written."""
    numbers = {line.seq: False for line in lines if line.clone == path.stem}
    numbers |= {line.seq: True for line in whole if line.clone == path.stem}
    at = 0
    for line in path.read_bytes().splitlines(keepends=True):
        cut = line.find(_OPEN)
        tail = _tail(line, cut, ids, numbers) if cut >= 0 else b""
        if tail and tail != line[cut:]:
            yield at + cut, tail
        at += len(line)


def _tail(line: bytes, cut: int, ids: Collection[str], numbers: Mapping[int, bool]) -> bytes:
    """What stands in place of the open part of a line; empty when it stays."""
    head, end = line[:cut], b"\n" if line.endswith(b"\n") else b""
    found = _ID.search(head)
    is_named = found is not None and found[1].decode() in ids
    number = _number(head) if numbers and not is_named else 0
    if not (is_named or number in numbers) or any(own in head for own in _OWN):
        return b""
    size = len(line) - cut - len(end)
    if is_named or numbers[number]:
        begin, close = _BLANK
        return begin + b"0" * (size - len(begin) - len(close)) + close + end if _is_whole(head) else b" " * size + end
    return _without_reason(line, size) + end


def _is_whole(head: bytes) -> bool:
    """Whether what stands before the open part is whole, as it is not in what a killed writer left."""
    try:
        return isinstance(json.loads(head + b"}"), dict)
    except ValueError:
        return False


def _number(head: bytes) -> int:
    try:
        return int(json.loads(head + b"}")["seq"])
    except (ValueError, LookupError, TypeError):
        return 0


def _without_reason(line: bytes, size: int) -> bytes:
    """An open part of the same length with all but the reason and the salt, by which the reason could be guessed."""
    try:
        said = json.loads(line)["open"]
    except ValueError:  # this was cut off halfway before
        said = {}
    kept = {name: value for name, value in said.items() if name not in ("salt", "reason", REDACTED)}
    bare = _OPEN + json.dumps(kept | {REDACTED: ""}, separators=(",", ":")).encode() + b"}"
    return bare[:-3] + b"0" * (size - len(bare)) + bare[-3:]
