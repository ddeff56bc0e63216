"""What only the owner of a store may do; knows nothing of how a caller became who it is."""

from __future__ import annotations

from grail_mem.errors import AccessError
from grail_mem.model.scope import Access


def require_owner(access: Access, doing: str) -> None:
    """Let the owner pass: what concerns the store as a whole is in no scope, so nobody can be granted it.

    Raises:
        AccessError: The caller is a session.
    """
    if access.principal is not None:
        raise AccessError(f"A session may not {doing}.", hint="The owner of the store does that, without a session.")
