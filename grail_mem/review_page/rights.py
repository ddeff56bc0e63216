"""What the one whose view a page shows may do, and the words for what not.

A form that would be refused is not shown, and the page says why. Knows nothing of single pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from grail_mem.consolidate.proposal import Proposal
from grail_mem.review_page.site import Site

_SCOPES: Final = "SELECT id, scope FROM observations WHERE id IN (SELECT unnest($ids::VARCHAR[]))"
_DOES: Final = {
    "apply": "there is nothing to accept or reject here", "write": "it cannot be revised, pinned or archived here",
    "forget": "it cannot be hidden here", "propose": "nothing can be suggested here",
}  # fmt: skip
"""What comes of it that a right is missing, in words."""


def denied(site: Site, right: str, scopes: Iterable[str | None]) -> str:
    """Why something is not offered in scopes; empty where it is allowed in all of them.

    Args:
        site: The page.
        right: The right that it needs.
        scopes: Where; None and nothing are the default scope.
    """
    if site.owner is not None:
        return ""
    held = site.rights
    for scope in dict.fromkeys(name or site.store.settings.default_scope for name in scopes):
        if right not in held.get(scope, frozenset()):
            return _why(right, f" in the scope {scope}")
    return ""


def denied_anywhere(site: Site, right: str) -> str:
    """Why something is offered nowhere; empty where there is a scope in which it is allowed."""
    if site.owner is not None or any(right in rights for rights in site.rights.values()):
        return ""
    return _why(right, "")


def denied_proposals(site: Site, proposals: Iterable[Proposal]) -> dict[str, str]:
    """By id of a proposal why it is not to be decided on by this reader; empty for one that is."""
    listed = list(proposals)
    if site.owner is not None:
        return {one.id: "" for one in listed}
    ids = list(dict.fromkeys(item.id for one in listed for item in one.affected))
    scopes: Mapping[str, str | None] = {
        row["id"]: row["scope"] for row in site.store.sql(_SCOPES, {"ids": ids}).to_pylist()
    }
    return {one.id: denied(site, "apply", [scopes[a.id] for a in one.affected if a.id in scopes]) for one in listed}


def _why(right: str, where: str) -> str:
    return (
        f"This session may not {right}{where}, so {_DOES[right]}. "
        f"The owner of the store can allow it: `grail grant`, right `{right}`."
    )
