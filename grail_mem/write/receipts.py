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
from grail_mem.store.receipt import Receipt

_SHOWN: Final = 5


def blocks(view: View, o: Observation) -> Receipt | None:
    """The receipt of an erased observation of the same scope that said this; None when nothing stands against writing it.

    The view must be up to date with the ledger.
    """
    return view.receipts.of(o.title, o.content, o.scope) if len(view.receipts) else None


def blocks_file(view: View, name: str, data: bytes) -> Receipt | None:
    """The same for the bytes of an observation file, which may carry the id of an erased one, too.

    Args:
        view: The store, up to date with the ledger.
        name: The file's name without its ending, a title for a file that gives none.
        data: Its bytes.
    """
    if not len(view.receipts):
        return None
    try:
        o = read_observation(data, f"{name or 'file'}.md", "", UNKNOWN_STATE, zone=view.settings.zone).observation
    except InputError:  # no observation at all
        return view.receipts.of(name, data.decode(errors="replace"), None)
    return view.receipts.get(o.id) or blocks(view, o)


def require_new(view: View, made: Iterable[Observation]) -> None:
    """Refuse what was erased.

    Raises:
        ConflictError: One or more of these say what an erased observation said; all such are named.
    """
    if not len(view.receipts):
        return
    found = [
        f"{o.title!r} says what was erased on {receipt.at[:10]}"
        for o in made
        if (receipt := blocks(view, o)) is not None
    ]
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise ConflictError(
            f"Nothing was stored. {'; '.join(found[:_SHOWN])}{more}.",
            hint="To remember it again on purpose: `again=True`, `grail add --again`.",
        )
