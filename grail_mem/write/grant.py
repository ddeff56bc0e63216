"""Grant and revoke: who may do what in which scope, as lines of the ledger.

Only the owner of a store has these; nothing that a model can call leads here.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from grail_mem.errors import InputError, NotFoundError
from grail_mem.model.problem import Gather
from grail_mem.model.scope import Grant, clean_grantee, clean_rights, clean_scope
from grail_mem.model.times import format_time, parse_when
from grail_mem.model.ulid import new_id
from grail_mem.query.grants import GRANT, REVOKE, detail_of
from grail_mem.query.view import View
from grail_mem.store.files import translated
from grail_mem.store.ledger_line import Entry
from grail_mem.write.staged import staging, tell, writing


def grant(view: View, grantee: object, scope: object, rights: object, *, until: Any, actor: str, reason: str) -> Grant:
    """Let somebody do something in a scope.

    Args:
        view: The store.
        grantee: `user:ID`, `agent:ID`, `agent:AGENT/USER`, `project:ID`, or `*`.
        scope: Where.
        rights: Some of `RIGHTS`; `read` comes with every other.
        until: When it ends; an instant, a date or a span from now such as `30d`; None for never.
        actor: Who grants it.
        reason: Why, for the ledger.

    Returns:
        The grant; one that says the same and counts already is returned as it is.

    Raises:
        InputError: A value cannot be used; `problems` lists every reason.
    """
    made = _made(view, grantee, scope, rights, until)
    with staging(view.layout), translated("grant", view.layout.root), writing(view):
        view.catch_up()
        for there in view.grants.standing():
            if (there.grantee, there.scope, there.rights, there.expires_at) == (
                made.grantee, made.scope, made.rights, made.expires_at,
            ):  # fmt: skip
                return there
        at = format_time(datetime.now(UTC))
        tell(view, [Entry(GRANT, made.id, reason=reason, detail=detail_of(made), at=at, actor=actor)])
        return replace(made, granted_at=at, actor=actor)


def revoke(view: View, id_: str, *, actor: str, reason: str) -> Grant:
    """Take a grant back; every process knows it from its next question on.

    Raises:
        NotFoundError: No grant with this id counts.
    """
    with staging(view.layout), translated("revoke", view.layout.root), writing(view):
        view.catch_up()
        there = view.grants.get(id_)
        if there is None:
            raise NotFoundError(f"There is no grant {id_}.", hint="`grail grants` lists those that count.")
        at = format_time(datetime.now(UTC))
        tell(view, [Entry(REVOKE, id_, reason=reason, at=at, actor=actor)])
        return there


def _made(view: View, grantee: object, scope: object, rights: object, until: Any) -> Grant:
    gather, now = Gather(), datetime.now(UTC)
    whom = gather.read("grantee", grantee, clean_grantee, "")
    where = gather.read("scope", scope, clean_scope, "")
    what = gather.read("rights", rights, clean_rights, ())
    end = (
        None if until is None else gather.read("until", until, lambda value: _end(value, now, view.settings.zone), None)
    )
    gather.stop("Nothing was granted.")
    held = clean_rights({"read", *what})
    return Grant(new_id(), whom, where, held, end)


def _end(value: Any, now: datetime, zone: str) -> datetime:
    if not isinstance(value, str | datetime):
        raise InputError(f"must be a time or a span such as 30d, not {value!r}.")
    when = parse_when(value, now=now, zone=zone)
    if isinstance(value, str) and when < now and value.strip()[-1:].isalpha() and value.strip()[:1].isdigit():
        when = now + (now - when)  # `30d` is an age elsewhere; here it lies ahead
    if when <= now:
        raise InputError(f"{format_time(when)} is over already.")
    return when
