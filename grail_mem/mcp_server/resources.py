"""What a client can read without a tool: an observation by its id, and the tree of categories.

Knows nothing of the protocol.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from grail_mem.errors import NotFoundError
from grail_mem.mcp_server.offer import Offer

if TYPE_CHECKING:
    from grail_mem.mcp_server.more_calls import Tell

CATEGORIES: Final = "grail://categories"
OBSERVATION: Final = "grail://observation/{id}"
_OBSERVATION: Final = re.compile(r"grail://observation/([0-9A-Za-z]{26})")
_MAX_CATEGORIES: Final = 1_000


class Content(NamedTuple):
    """What stands behind an address."""

    text: str
    media_type: str


def read(offer: Offer, uri: str, tell: Tell) -> Content:
    """What an address names, as the caller may see it.

    Raises:
        NotFoundError: It names nothing here, or nothing that the caller may see.
    """
    if uri == CATEGORIES:
        page = offer.caller.list_categories(limit=_MAX_CATEGORIES).to_dict()
        return Content(json.dumps(page, ensure_ascii=False), "application/json")
    named = _OBSERVATION.fullmatch(uri)
    if named is not None:
        shown = offer.call("memory_get", {"id": named[1]}, tell)
        if not shown.is_error:
            return Content(shown.text, "text/markdown")
    raise NotFoundError(f"There is nothing at {uri[:80]!r}.", hint=f"There are {CATEGORIES} and {OBSERVATION}.")
