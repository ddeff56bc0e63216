"""What was erased does not come back by itself: whatever is about to be written is held against the receipts here.

Knows nothing of who writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from grail_mem.errors import ConflictError, InputError
from grail_mem.model.observation import Observation
from grail_mem.query.view import View
from grail_mem.store.files import UNKNOWN_STATE
from grail_mem.store.observation_file import read_observation
from grail_mem.store.receipt import Receipt, text_of

_SHOWN: Final = 5


def blocks(view: View, title: str, content: str | bytes) -> Receipt | None:
    """The receipt of an erased observation that said this; None when nothing stands against writing it.

    Args:
        view: The store, up to date with the ledger.
        title: Its title; what a file says of itself counts more.
        content: Its content, or the bytes of an observation file.
    """
    if not len(view.receipts):
        return None
    if isinstance(content, str):
        return view.receipts.saying(text_of(title, content))
    try:
        o = read_observation(content, f"{title or 'file'}.md", "", UNKNOWN_STATE, zone=view.settings.zone).observation
    except InputError:  # no observation at all
        return view.receipts.saying(text_of(title, content.decode(errors="replace")))
    return view.receipts.get(o.id) or view.receipts.saying(text_of(o.title, o.content))


def require_new(view: View, made: Iterable[Observation]) -> None:
    """Refuse what was erased.

    Raises:
        ConflictError: One or more of these say what an erased observation said; all such are named.
    """
    if not len(view.receipts):
        return
    found = [
        f"{o.title!r} was erased on {receipt.at[:10]}"
        for o in made
        if (receipt := blocks(view, o.title, o.content)) is not None
    ]
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise ConflictError(
            f"Nothing was stored. {'; '.join(found[:_SHOWN])}{more}.",
            hint="To remember it again on purpose: `again=True`, `grail add --again`.",
        )
