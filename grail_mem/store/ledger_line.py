"""One line of the ledger: the entry it says, how it is written, and how it is read back.

Knows nothing of files.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NamedTuple

from grail_mem.errors import InputError
from grail_mem.store.layout import is_candidate_path, is_observation_path, is_source_path

VERSION: Final = 1
DECISIONS: Final = ("apply", "reject", "undo")
"""Actions of entries that decide on a proposal and name no file."""
INGEST: Final = "ingest"
DISCARD: Final = "discard"
"""Actions of entries about a file of sources that was put in place or removed, the only ones that name one."""
SUBMIT: Final = "submit"
CANDIDATE: Final = (SUBMIT, "approve", "decline")
"""Actions of entries about candidates, which are no observations."""
GONE: Final = ("vanish", "remove", DISCARD)
"""Actions after which there is no file."""
REMOVES: Final = ("remove", DISCARD)
"""Those of them that grail_mem does itself."""
ERASE: Final = "erase"
AGAIN: Final = "again"
"""Actions that say that an observation was erased, and that the same was told again on purpose; see `store.receipt`."""
MIGRATE: Final = "migrate"
"""The action that says that the store was brought to another form; its id says nothing."""
REDACTED: Final = "redacted"
"""Stands in the open part of a line of which something was taken out."""
GENESIS: Final = "0" * 64


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded change.

    Attributes:
        action: `add`, `update`, `move`, `remove`, `hide`, `restore`, `stamp` when done through grail_mem; `suspend`, `reinstate` when evidence
            turned out to be gone or is there again; `ingest` for a file of sources and `discard` for one that was erased; `adopt`, `edit`,
            `relocate`, `vanish` when a scan found that somebody else did it; one of `DECISIONS` for what was decided on a
            proposal; `ERASE` and `AGAIN`; `MIGRATE`.
        id: The observation's ULID, or the proposal's; of a source, a ULID that says nothing of it.
        path: Its file relative to the root, after the change; empty when redacted.
        was: The former path, for moves.
        digest: SHA-256 of the file's bytes after the change, or empty.
        observed_at: For files that carry no id: what to take where the file itself gives no time.
        recorded_at: The same for the time of recording.
        fingerprint: 16 hex digits of what the observation says, or empty; of a decision, the proposal's fingerprint with a salt.
        detail: Of a decision, what it rests on as JSON; codes, numbers, ids and digests alone. Of a new observation, from when to when it
            holds as its writer gave it, `2026-06-02T00:00:00Z/..`; empty when nobody knows.
        at: UTC time of the change, `2026-06-02T14:23:00.123456Z`.
        actor: Who did it, as set by the application.
        clone: The chain it stands in.
        seq: Its number in that chain, from 1.
    """

    action: str
    id: str
    path: str = ""
    was: str = ""
    digest: str = ""
    reason: str = ""
    observed_at: str = ""
    recorded_at: str = ""
    fingerprint: str = ""
    detail: str = ""
    at: str = ""
    actor: str = ""
    clone: str = ""
    seq: int = 0

    @property
    def order(self) -> tuple[str, str, int]:
        """Sort key of the whole history over all chains."""
        return (self.at, self.clone, self.seq)


_OPEN: Final = ("path", "was", "digest", "reason", "observed_at", "recorded_at", "fingerprint", "detail")


class Head(NamedTuple):
    """How far a chain has been read.

    Attributes:
        offset: Bytes consumed; always just after a newline (or 0).
        seq: Number of the last good line.
        digest: Chain digest of the last good line.
        at: Time of the last good line.
    """

    offset: int = 0
    seq: int = 0
    digest: str = GENESIS
    at: str = ""


START: Final = Head()


_encode: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def _chained(line: bytes) -> bytes:
    """The part of a line over which the chain runs: all but its open part, which stands last.

    Quotes inside a text are escaped, so the name of the open part cannot be found in one.
    """
    cut = line.find(b',"open":')
    return line.rstrip(b"\n") if cut < 0 else line[:cut] + b"}"


def digest_of(line: bytes) -> str:
    """The digest by which the next line of the chain refers to this one."""
    return sha256(_chained(line)).hexdigest()


def redacted(line: bytes) -> bytes:
    """The line without its open part, as it stands when what it told of must be forgotten; the chain still holds."""
    return _chained(line) + b"\n"


def link_of(line: bytes) -> tuple[int, str]:
    """Number and digest of a line that was written here."""
    return json.loads(line)["seq"], digest_of(line)


def read_line(line: bytes, clone: str) -> Entry | None:
    """The entry in one line of a chain, with or without its newline; None when it is none."""
    link = read_link(line, clone)
    return None if link is None else link.entry


def write_line(entry: Entry, head: Head) -> tuple[bytes, Head]:
    """The line of an entry: what `_encode` gives for its members, put together from parts that two digests share."""
    for name in ("actor", "reason"):
        if not isinstance(value := getattr(entry, name), str):
            raise InputError(f"{name} must be text, not {value!r}.")
    at = max(entry.at, head.at)  # a clock that was set back must not reorder one chain's own history
    said = "".join([f',"{name}":{_encode(v)}' for name in _OPEN if (v := getattr(entry, name))])
    opened = f'{{"salt":"{secrets.token_hex(8)}"{said}}}'
    first = (
        f'{{"v":{VERSION},"seq":{head.seq + 1},"at":{_encode(at)},"actor":{_encode(entry.actor)}'
        f',"action":{_encode(entry.action)},"id":{_encode(entry.id)},'
    )
    commit = sha256(f'{first}"prev":"{head.digest}","open":{opened}}}'.encode()).hexdigest()
    chained = f'{first}"commit":"{commit}","prev":"{head.digest}"'
    line = f'{chained},"open":{opened}}}\n'.encode("ascii")
    return line, Head(head.offset + len(line), head.seq + 1, sha256(f"{chained}}}".encode()).hexdigest(), at)


_IN_ORDER: Final = ("v", "seq", "at", "actor", "action", "id", "commit", "prev")
_MEMBERS: Final = frozenset(_IN_ORDER)
_TYPES: Final = [int, int, *[str] * 6]
_TEXT: Final = frozenset({str})


def _parse(line: bytes) -> dict[str, Any] | None:
    """The record in a line; None when it has not the form of one."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not record.keys() >= _MEMBERS:
        return None
    opened = record.get("open", {})
    right = (
        isinstance(opened, dict)
        and _TEXT.issuperset(map(type, opened.values()))
        and [type(record[name]) for name in _IN_ORDER] == _TYPES
    )
    return record if right else None


def _commit(record: dict[str, Any]) -> str:
    """The digest of everything a line says; the salt in its open part keeps it from being guessed without that part."""
    return sha256(_encode({name: v for name, v in record.items() if name != "commit"}).encode()).hexdigest()


def is_as_written(line: bytes) -> bool:
    """Whether a line is, byte for byte, what was written; of one that was redacted only the form can be told."""
    record: dict[str, Any] = json.loads(line)
    if not record.keys() <= _MEMBERS | {"open"} or _encode(record).encode() != line:
        return False
    return "open" not in record or REDACTED in record["open"] or _commit(record) == record["commit"]


class Link(NamedTuple):
    """A line read: its entry, and the digest of the line that it says it follows."""

    entry: Entry
    prev: str


def read_link(line: bytes, clone: str) -> Link | None:
    """What a line says; None when it has not the form of a record."""
    return usual_link(line, clone) or any_link(line, clone)


def any_link(line: bytes, clone: str) -> Link | None:
    """What any line says, by way of JSON."""
    record = _parse(line)
    if record is None:
        return None
    found = record.get("open", {})
    opened = {name: found[name] for name in _OPEN if name in found}
    for name in ("path", "was"):
        if name in opened and not _is_path(record["action"], opened[name]):
            del opened[name]
    entry = Entry(
        action=record["action"], id=record["id"], at=record["at"], actor=record["actor"], clone=clone,
        seq=record["seq"], **opened,
    )  # fmt: skip
    return Link(entry, record["prev"])


def _is_path(action: str, path: str) -> bool:
    """Whether an entry of this action may name this file: lines come from others too."""
    if action == SUBMIT:
        return is_candidate_path(path)
    return is_source_path(path) if action in (INGEST, DISCARD) else is_observation_path(path)


_PLAIN: Final = r'([^"\\\x00-\x1f\x7f-\xff]*)'
_USUAL: Final = re.compile(
    rf'{{"v":{VERSION},"seq":([1-9][0-9]{{0,17}}),"at":"{_PLAIN}","actor":"{_PLAIN}","action":"{_PLAIN}","id":"{_PLAIN}",'
    rf'"commit":"[0-9a-f]+","prev":"{_PLAIN}","open":{{"salt":"[0-9a-f]+"'
    + "".join(rf'(?:,"{name}":"{_PLAIN}")?' for name in _OPEN)
    + "}}"
)
"""A line as `_line` writes it, but for texts with an escape."""


def usual_link(line: bytes, clone: str) -> Link | None:
    """What a line says that is written as most are, without JSON, which takes twice the time; None for any other."""
    found = _USUAL.fullmatch(line.rstrip(b"\n").decode("latin-1"))
    if found is None:
        return None
    seq, at, actor, action, id_, prev, path, was, digest, reason, observed_at, recorded_at, print_, detail = (
        found.groups("")
    )
    path, was = (name if not name or _is_path(action, name) else "" for name in (path, was))
    entry = Entry(
        action, id_, path, was, digest, reason, observed_at, recorded_at, print_, detail, at, actor, clone, int(seq)
    )  # positional: names would take half as long again
    return Link(entry, prev)
