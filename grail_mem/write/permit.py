"""What the caller of a view may write: the scope a draft goes to, and the rights that every change needs.

Knows nothing of files and of how changes are made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from grail_mem.errors import AccessError, InputError
from grail_mem.model.scope import Principal
from grail_mem.query.view import View
from grail_mem.write.validate import Draft

PRIVATE: Final = "private"


def for_caller(view: View, draft: Draft, right: str = "write") -> Draft:
    """The draft with the scope it goes to, where the caller has the right; a session's own when it names none.

    Raises:
        InputError: The scope is none.
        AccessError: The caller may not write there.
    """
    if view.principal is None:
        return draft
    draft = replace(draft, scope=meant(view, draft.scope))
    if isinstance(draft.scope, str):
        view.access.require(right, draft.scope)
    return draft


def meant(view: View, said: object) -> object:
    """The scope that a caller means; nothing said is the session's own, or the default scope for the owner.

    Raises:
        InputError: The session has no such scope.
    """
    return said if view.principal is None else scope_meant(view.principal, said)


def scope_meant(principal: Principal, said: object) -> object:
    """The scope that a session means by `private`, `user`, `project`, a scope, or nothing."""
    if said is None or said == PRIVATE:
        return principal.private
    if said == "user":
        return f"user:{principal.user_id}"
    if said == "project":
        if principal.project_id is None:
            raise InputError("This session has no project.", hint="Name one when the session is opened: project_id=.")
        return f"project:{principal.project_id}"
    return said


def acting(principal: Principal | None, actor: str | None, default: str) -> str:
    """Who stands in the ledger: a session's principal, and nobody else.

    Raises:
        AccessError: A session names somebody else.
    """
    if principal is None:
        return actor or default
    if actor is not None and actor != principal.private:
        raise AccessError("Who acts is known from the session; leave `actor` out.")
    return principal.private
