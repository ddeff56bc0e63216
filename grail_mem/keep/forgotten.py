"""What must not come back: the one place that is asked before a file of a backup or an export becomes part of a store.

Knows nothing of where the file comes from.
"""

from __future__ import annotations

from collections.abc import Iterable

from grail_mem.errors import InputError
from grail_mem.store.files import UNKNOWN_STATE
from grail_mem.store.ledger_line import AGAIN, ERASE, Entry
from grail_mem.store.observation_file import read_observation
from grail_mem.store.receipt import Receipts


def receipts_in(entries: Iterable[Entry], *, default_scope: str) -> Receipts:
    """The receipts of everything that a history says was erased.

    Args:
        entries: The history.
        default_scope: The scope of what names none.
    """
    receipts = Receipts(default_scope=default_scope)
    for entry in entries:
        if entry.action in (ERASE, AGAIN):
            receipts.hear(entry)
    return receipts


def is_forgotten(receipts: Receipts, id_: str, data: bytes) -> bool:
    """Whether an observation was erased, by its id or by what it says, so that this file must stay out.

    Args:
        receipts: What was erased.
        id_: The observation's id as it is known; empty where only the file tells it.
        data: The bytes of its file.
    """
    if not len(receipts):
        return False
    try:
        row = read_observation(data, "x.md", "", UNKNOWN_STATE)
    except InputError:
        return id_ in receipts or receipts.of("", data.decode(errors="replace"), None) is not None
    o = row.observation
    by_id = id_ in receipts or (row.has_id and o.id in receipts)
    return by_id or receipts.of(o.title, o.content, o.scope) is not None


def mentions_forgotten(receipts: Receipts, data: bytes) -> bool:
    """Whether a file that is no observation, such as what is kept to undo a proposal, tells of one that was erased."""
    return any(receipt.id.encode() in data for receipt in receipts)
