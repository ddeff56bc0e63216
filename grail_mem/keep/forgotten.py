"""What must not come back: the one place that is asked before a file of a backup or an export becomes part of a store.

Knows nothing of where the file comes from.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from grail_mem.errors import InputError
from grail_mem.store.files import UNKNOWN_STATE
from grail_mem.store.layout import is_source_path
from grail_mem.store.ledger_line import AGAIN, ERASE, Entry
from grail_mem.store.observation_file import read_observation
from grail_mem.store.receipt import EVERYWHERE, Receipts, text_of, text_of_document, text_of_turn
from grail_mem.store.sources import held_in, is_chat, meta_path, part_in, render_held
from grail_mem.write.unsaid import emptied


def receipts_in(entries: Iterable[Entry]) -> Receipts:
    """The receipts of everything that a history says was erased."""
    receipts = Receipts()
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
        return id_ in receipts or receipts.saying(text_of("", data.decode(errors="replace"), None)) is not None
    o = row.observation
    by_id = id_ in receipts or (row.has_id and o.id in receipts)
    return by_id or receipts.saying(text_of(o.title, o.content, o.scope)) is not None


def mentions_forgotten(receipts: Receipts, data: bytes) -> bool:
    """Whether a file that is no observation, such as what is kept to undo a proposal, tells of one that was erased."""
    return any(receipt.id.encode() in data for receipt in receipts)


def source_left(receipts: Receipts, path: str, data: bytes) -> bytes | None:
    """A file of sources without what was erased; None when nothing of it may come back.

    Args:
        receipts: What was erased.
        path: The file's path in a store.
        data: Its bytes.
    """
    if not is_source_path(path) or not len(receipts):
        return data
    if is_chat(path):
        return _chat_left(receipts, path, data)
    if path == meta_path(path):
        return _meta_left(receipts, path, data)
    digest = sha256(data).hexdigest()
    return None if receipts.tells(text_of_document(digest, EVERYWHERE)) else data


def _chat_left(receipts: Receipts, path: str, data: bytes) -> bytes | None:
    part = part_in(data, path)
    if part.id in receipts:
        return None
    ids = {t.id for t in part.turns if receipts.tells(text_of_turn(t.text, part.session, part.scope))}
    texts = [turn.text for turn in part.turns if turn.id in ids]
    return emptied(part, ids, receipts.salt, texts) if ids else data


def _meta_left(receipts: Receipts, path: str, data: bytes) -> bytes | None:
    digest = path.rpartition("/")[2].partition(".")[0]
    scopes = held_in(data)
    left = {s: said for s, said in scopes.items() if not receipts.tells(text_of_document(digest, s or None))}
    return data if left == scopes else render_held(left) if left else None
