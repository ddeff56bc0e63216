"""Grants as the ledger tells them: who may do what in which scope, until it is revoked or over.

Knows nothing of observations.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from grail_mem.errors import InputError
from grail_mem.model.scope import RIGHTS, Access, Grant, Principal, clean_grantee, clean_rights, clean_scope
from grail_mem.model.times import format_time, parse_time
from grail_mem.store.ledger_line import Entry

GRANT: Final = "grant"
REVOKE: Final = "revoke"
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class Grants:
    """All grants that were ever told of, and which of them are revoked; a revoked one never counts again.

    Args:
        known: Grants by id, as `written` gave them.
        revoked: Ids of those that are revoked.
    """

    def __init__(self, known: Mapping[str, Mapping[str, Any]] | None = None, revoked: Iterable[str] = ()) -> None:
        self._grants = {id_: made for id_, said in (known or {}).items() if (made := _read(id_, said)) is not None}
        self._revoked = set(revoked)
        self._known: tuple[Access, datetime] | None = None
        self._for: tuple[Principal | None, str] = (None, "")

    def hear(self, entry: Entry) -> bool:
        """Take in what an entry says; returns whether it is about grants."""
        if entry.action == REVOKE:
            self._revoked.add(entry.id)
        elif entry.action == GRANT:
            if (made := _read(entry.id, _said(entry))) is not None:
                self._grants.setdefault(entry.id, made)
        else:
            return False
        self._known = None
        return True

    def written(self) -> tuple[dict[str, Any], list[str]]:
        """The grants by id, and the ids of those that are revoked, as JSON has them."""
        return {id_: _written(grant) for id_, grant in self._grants.items()}, sorted(self._revoked)

    def get(self, id_: str) -> Grant | None:
        """The grant with an id, if it was not revoked."""
        return None if id_ in self._revoked else self._grants.get(id_)

    def standing(self, now: datetime | None = None) -> tuple[Grant, ...]:
        """The grants that count, by scope, grantee and id."""
        at = now or datetime.now(UTC)
        counting = [g for id_, g in self._grants.items() if id_ not in self._revoked and (g.expires_at or _NEVER) > at]
        return tuple(sorted(counting, key=lambda g: (g.scope, g.grantee, g.id)))

    def access(self, principal: Principal | None, default_scope: str) -> Access:
        """What a principal may do now; the private scope needs no grant."""
        now = datetime.now(UTC)
        if self._known is None or self._for != (principal, default_scope) or now >= self._known[1]:
            self._known, self._for = self._made(principal, default_scope, now), (principal, default_scope)
        return self._known[0]

    def _made(self, principal: Principal | None, default_scope: str, now: datetime) -> tuple[Access, datetime]:
        """The access, and until when it is so."""
        if principal is None:
            return Access(None, default_scope), _NEVER
        mine = [grant for grant in self.standing(now) if grant.grantee in principal.grantees]
        rights: dict[str, frozenset[str]] = {principal.private: frozenset(RIGHTS)}
        for grant in mine:
            rights[grant.scope] = rights.get(grant.scope, frozenset()) | frozenset(grant.rights)
        return Access(principal, default_scope, rights), min((g.expires_at or _NEVER for g in mine), default=_NEVER)


def detail_of(grant: Grant) -> str:
    """What the ledger keeps of a grant."""
    return json.dumps(_written(grant), separators=(",", ":"))


def _written(grant: Grant) -> dict[str, Any]:
    said = {"grantee": grant.grantee, "scope": grant.scope, "rights": list(grant.rights)}
    until = {} if grant.expires_at is None else {"expires_at": format_time(grant.expires_at)}
    return {**said, **until, "granted_at": grant.granted_at, "actor": grant.actor}


def _said(entry: Entry) -> Mapping[str, Any]:
    try:
        said = json.loads(entry.detail)
    except (ValueError, RecursionError):
        return {}
    return {**said, "granted_at": entry.at, "actor": entry.actor} if isinstance(said, dict) else {}


def _read(id_: str, said: Mapping[str, Any]) -> Grant | None:
    """A grant as it was told; None when it cannot be read, and then it grants nothing."""
    try:
        until = said.get("expires_at")
        return Grant(
            id_, clean_grantee(said["grantee"]), clean_scope(said["scope"]), clean_rights(said["rights"]),
            None if until is None else parse_time(until, zone="UTC"), str(said.get("granted_at", "")), str(said.get("actor", "")),
        )  # fmt: skip
    except (InputError, KeyError, TypeError):
        return None
