"""What is left of a file of sources when what was erased is taken out of it, wherever the file comes from.

Knows nothing of where it goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple

from grail_mem.errors import InputError, StoreError
from grail_mem.store.documents import document_paths, held_in, meta_path, render_held
from grail_mem.store.files import UNKNOWN_STATE
from grail_mem.store.frontmatter_edit import edit
from grail_mem.store.layout import Layout, is_source_path
from grail_mem.store.observation_file import read_observation
from grail_mem.store.observation_render import fields_of
from grail_mem.store.receipt import EVERYWHERE, Receipts, text_of_document, text_of_quote, text_of_turn
from grail_mem.store.source_file import read_source
from grail_mem.store.sources import chat_paths, is_chat, part_in, turn_in_line, without_erased
from grail_mem.write.unsaying import emptied


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


class CameBack(NamedTuple):
    """A file of sources that holds what was erased.

    Attributes:
        path: Relative to the root.
        left: Its bytes without that; None when nothing is left.
    """

    path: str
    left: bytes | None


def came_back(layout: Layout, receipts: Receipts) -> Iterator[CameBack]:
    """The files of sources in which erased words stand, since git, a backup or a person put them back.

    Such words can be told only where they are looked at, so this reads every source; one that cannot be read is passed over,
    and a check names it.
    """
    told = any(receipt.said for receipt in receipts)
    documents = document_paths(layout) if told else []
    for path in (*chat_paths(layout), *documents, *map(meta_path, documents)):
        try:
            found = read_source(layout, path)
        except StoreError:
            continue
        if found is None:
            continue
        left = source_left(receipts, path, found[0]) if told else found[0]
        if left is not None and is_chat(path):
            left = without_erased(left, path)
        if left != found[0]:
            yield CameBack(path, left)


def _chat_left(receipts: Receipts, path: str, data: bytes) -> bytes | None:
    part = part_in(data, path)
    if part.id in receipts:
        return None
    lines = [turn for line in data.splitlines() if (turn := turn_in_line(line)) is not None]
    told = [turn for turn in lines if receipts.tells(text_of_turn(turn.text, part.session, part.scope))]
    ids = {turn.id for turn in told}
    return emptied(part, ids, receipts.salt, [turn.text for turn in told]) if told else data


def _meta_left(receipts: Receipts, path: str, data: bytes) -> bytes | None:
    digest = path.rpartition("/")[2].partition(".")[0]
    scopes = held_in(data)
    left = {s: said for s, said in scopes.items() if not receipts.tells(text_of_document(digest, s or None))}
    return data if left == scopes else render_held(left) if left else None


def observation_left(receipts: Receipts, data: bytes, default_scope: str) -> bytes:
    """A file of an observation without quotes that were erased in it; one that cannot be read stays as it is.

    Args:
        receipts: What was erased.
        data: The bytes of the file.
        default_scope: The scope of an observation that names none.
    """
    if not any(receipt.said for receipt in receipts):
        return data
    try:
        o = read_observation(data, "x.md", "", UNKNOWN_STATE).observation
    except InputError:
        return data
    scope = None if o.scope == default_scope else o.scope
    left = tuple(e for e in o.evidence if not receipts.tells(text_of_quote(e.quote, e.source, scope)))
    if left == o.evidence:
        return data
    return edit(data, {"evidence": fields_of(replace(o, evidence=left)).get("evidence")})
