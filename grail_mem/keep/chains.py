"""The ledger of a restored store: the chains of the backup and those of the store that it replaces, together.

What was done after the backup stays on record, and what was forgotten after it stays forgotten. Knows nothing of files.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from grail_mem.store.ledger import TOMBSTONES, read_lines
from grail_mem.store.ledger_line import (
    AGAIN,
    ERASE,
    GENESIS,
    GONE,
    START,
    Entry,
    Head,
    digest_of,
    read_link,
    redacted,
    write_line,
)

RESTORED = "restore_backup"
"""The action of the line that says that a backup was restored; it names no observation."""
_FORGETTING = frozenset({*TOMBSTONES, ERASE, AGAIN})
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


@dataclass(frozen=True, slots=True)
class Chained:
    """One chain as it stands in a file: its bytes, entries and end, and whether every link holds."""

    data: bytes
    entries: tuple[Entry, ...]
    head: Head
    holds: bool


def read_all(chains: Mapping[str, bytes]) -> dict[str, Chained]:
    """Chains by name, read."""
    made: dict[str, Chained] = {}
    for clone, data in chains.items():
        entries, head, broken = read_lines(data, clone, thorough=True)
        made[clone] = Chained(data, tuple(entries), head, all(item.kind != "changed" for item in broken))
    return made


def history(chains: Mapping[str, Chained]) -> list[Entry]:
    """Every entry in order of time."""
    return sorted((entry for chain in chains.values() for entry in chain.entries), key=lambda e: e.order)


def merged(ours: Mapping[str, Chained], theirs: Mapping[str, Chained]) -> tuple[dict[str, bytes], list[Entry]]:
    """The chains of a store and of a backup as one ledger.

    Args:
        ours: The chains of the store that is replaced.
        theirs: Those of the backup.

    Returns:
        The bytes of the chains by name, and the tombstones and erasures that are in none of them, since their chain is
        damaged or went another way than the backup's: they have to be told anew.
    """
    erased = {
        entry.id for chain in (*ours.values(), *theirs.values()) for entry in chain.entries if entry.action == ERASE
    }
    kept: dict[str, bytes] = {}
    lost: list[Entry] = []
    for clone in sorted({*ours, *theirs}):
        own, other = ours.get(clone), theirs.get(clone)
        if (other is None and own is not None and own.holds) or (
            own is not None and other is not None and own.holds and _goes_on(own, other)
        ):
            kept[clone] = own.data
        else:
            if other is not None:
                kept[clone] = _redacted(other, erased)
            if own is not None:
                told = set(other.entries) if other is not None else set()
                lost += [e for e in own.entries if e.action in _FORGETTING and e not in told]
    return kept, sorted(lost, key=lambda e: e.order)


def _goes_on(own: Chained, other: Chained) -> bool:
    """Whether a chain is the other one, or goes on where that ends."""
    if own.head.seq < other.head.seq:
        return False
    seq, digest = 0, GENESIS
    for line in own.data.splitlines():
        if seq == other.head.seq:
            break
        link = read_link(line, "")
        if link is not None:
            seq, digest = link.entry.seq, digest_of(line)
    return (seq, digest) == (other.head.seq, other.head.digest)


def _redacted(chain: Chained, erased: Iterable[str]) -> bytes:
    """The chain without what its lines say of observations that were erased."""
    needles = [f'"id":"{id_}"'.encode() for id_ in erased]
    own = [f'"action":"{action}"'.encode() for action in (ERASE, AGAIN)]

    def tells(line: bytes) -> bool:
        return any(needle in line for needle in needles) and not any(action in line for action in own)

    return b"".join(redacted(line) if tells(line) else line for line in chain.data.splitlines(keepends=True))


def standing(entries: Iterable[Entry]) -> dict[str, Entry]:
    """What the entries say stands where: the last entry of each file that is there, by path."""
    there: dict[str, Entry] = {}
    for entry in entries:
        if entry.action in _FORGETTING or not (entry.path or entry.was):
            continue
        there.pop(entry.was, None)
        if entry.action in GONE:
            there.pop(entry.path, None)
        elif entry.path and entry.digest:
            there[entry.path] = entry
    return there


def restated(
    now: Mapping[str, Entry],
    then: Mapping[str, Entry],
    files: Mapping[str, str],
    *,
    holds: Callable[[str], bool],
    at: str,
    actor: str,
    reason: str,
) -> list[Entry]:
    """What has to be told so that the ledger says what the files of the backup say.

    Args:
        now: What the merged ledger says stands where.
        then: What the ledger of the backup says.
        files: SHA-256 of the observation files of the backup, by path.
        holds: Whether a path is that of an observation file.
        at: The time of these entries.
        actor: Who restores.
        reason: Why.
    """
    gone = [
        Entry("vanish", entry.id, path, reason=reason, at=at, actor=actor)
        for path, entry in sorted(now.items())
        if path not in files and holds(path)
    ]
    back: list[Entry] = []
    for path, digest in sorted(files.items()):
        entry, known = then.get(path), now.get(path)
        same = known is not None and known.digest == digest and (entry is None or known.id == entry.id)
        if entry is not None and entry.digest == digest and not same:
            action = "adopt" if known is None else "edit"
            back.append(replace(entry, action=action, was="", detail="", at=at, actor=actor, reason=reason))
    return [*gone, *back]


def new_chain(entries: Sequence[Entry]) -> tuple[str, bytes]:
    """A chain of its own that holds these entries; its name and its bytes."""
    head, lines = START, []
    for entry in entries:
        line, head = write_line(entry, head)
        lines.append(line)
    return "".join(secrets.choice(_ALPHABET) for _ in range(10)), b"".join(lines)


def restored_entry(digest: str, detail: Mapping[str, object], *, at: str, actor: str, reason: str) -> Entry:
    """The entry that says that a backup was restored; it is named by the digest of its manifest."""
    return Entry(
        RESTORED,
        digest,
        reason=reason,
        at=at,
        actor=actor,
        detail=json.dumps(detail, sort_keys=True, separators=(",", ":")),
    )
