"""Files of sources put in place through the journal, and what the ledger is told of each.

Knows nothing of what stands in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from types import MappingProxyType

from grail_mem.model.times import format_time
from grail_mem.query.view import View
from grail_mem.store.ledger_line import AGAIN, DISCARD, INGEST, Entry
from grail_mem.store.receipt import detail_of_said
from grail_mem.write.staged import Placing, discard, place, stage
from grail_mem.write.transcript import SourceFile


def placing_of(file: SourceFile, staged: str, *, at: str, actor: str) -> Placing:
    """A staged file of sources with what the ledger is told."""
    before = sha256(file.former).hexdigest() if file.former else ""
    if file.data is None:
        return Placing(staged, file.path, b"", Entry(DISCARD, file.id, file.path, at=at, actor=actor), before)
    entry = Entry(INGEST, file.id, file.path, digest=sha256(file.data).hexdigest(), at=at, actor=actor)
    return Placing(staged, file.path, file.data, entry, before)


def placings_of_sources(files: Sequence[SourceFile], staging_fd: int, *, at: str, actor: str) -> list[Placing]:
    """Files of sources, staged, with what the ledger is told of each."""
    staged = stage(staging_fd, [file.data or b"" for file in files])
    return [placing_of(file, name, at=at, actor=actor) for file, name in zip(files, staged, strict=True)]


def put_sources(
    view: View,
    staging_fd: int,
    files: Sequence[SourceFile],
    actor: str,
    *,
    lifted: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> None:
    """Put files of sources in place, all or none; the write lock must be held."""
    at = format_time(datetime.now(UTC))
    placings = placings_of_sources(files, staging_fd, at=at, actor=actor)
    try:
        place(view, placings, staging_fd, beside=lifted_entries(view, lifted, at=at, actor=actor))
    except Exception:  # not an interrupt: what is committed by then is finished by the next writer
        discard(staging_fd, [placing.staged for placing in placings])
        raise


def lifted_entries(view: View, lifted: Mapping[str, Iterable[str]], *, at: str, actor: str) -> list[Entry]:
    """What the ledger is told of turns and documents that were erased and are told again on purpose."""
    salts = {receipt.id: receipt.salt for receipt in view.receipts}
    return [
        Entry(AGAIN, id_, at=at, actor=actor, detail=detail_of_said(sorted(digests), salts[id_]))
        for id_, digests in lifted.items()
    ]
