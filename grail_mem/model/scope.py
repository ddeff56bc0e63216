"""Whose memory an observation is, who asks, and what that one may do there.

Identity comes from the application alone: nothing here is ever read from what a model or a file says about itself. Knows
nothing of where grants are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from grail_mem.errors import AccessError, InputError, NotFoundError
from grail_mem.model.times import format_time

RIGHTS: Final = ("read", "write", "propose", "apply", "forget")
"""What can be granted; each is granted by itself, and every one but `read` needs `read` to be of use."""
MAX_ID: Final = 200
NO_SCOPE: Final = "unreadable"
"""What stands for a scope that cannot be read; it is none that anybody can be granted."""
ANYBODY: Final = "*"
"""The grantee that every principal is."""

_KIND: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_ID: Final = re.compile(r"[\w.@+-]+")
_PAIR: Final = "agent"


def clean_id(value: object, what: str) -> str:
    """An id of a user, agent or project as an application may give it.

    Letters, digits and `. _ @ + -`, at most 200 characters, in a form that no look-alike shares (Unicode NFKC).

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, str) or not value:
        raise InputError(f"{what} must be text, not {value!r}.")
    if len(value) > MAX_ID or not _ID.fullmatch(value) or unicodedata.normalize("NFKC", value) != value:
        raise InputError(
            f"{what} {value[:50]!r} cannot be used.",
            hint=f"Ids have letters, digits and . _ @ + - only, at most {MAX_ID}, and no look-alike forms.",
        )
    return value


def clean_scope(value: object) -> str:
    """A scope: `user:ID`, `project:ID`, `org:ID`, `agent:AGENT/USER`, or a kind of one's own with an id.

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, str):
        raise InputError(f"scope must be text, not {value!r}.")
    kind, colon, id_ = value.partition(":")
    if not colon or not _KIND.fullmatch(kind):
        raise InputError(
            f"scope {value[:60]!r} is none.", hint="Write it like user:ID, project:ID, org:ID or agent:AGENT/USER."
        )
    if kind == _PAIR:
        agent, slash, user = id_.partition("/")
        if not slash:
            raise InputError(f"scope {value[:60]!r} needs both: agent:AGENT/USER.")
        return f"{kind}:{clean_id(agent, 'the agent')}/{clean_id(user, 'the user')}"
    return f"{kind}:{clean_id(id_, 'the id in scope')}"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, as the application says.

    Attributes:
        user_id: The person.
        agent_id: The agent that acts for the person.
        project_id: What they work on; None for nothing in particular.
    """

    user_id: str
    agent_id: str
    project_id: str | None = None

    @property
    def private(self) -> str:
        """The scope that this agent and this person have to themselves."""
        return f"{_PAIR}:{self.agent_id}/{self.user_id}"

    @property
    def grantees(self) -> frozenset[str]:
        """By what names grants reach this principal."""
        project = () if self.project_id is None else (f"project:{self.project_id}",)
        return frozenset((ANYBODY, f"user:{self.user_id}", f"agent:{self.agent_id}", self.private, *project))


def make_principal(*, user_id: object, agent_id: object, project_id: object = None) -> Principal:
    """A principal from what an application says.

    Raises:
        InputError: An id cannot be used.
    """
    project = None if project_id is None else clean_id(project_id, "project_id")
    return Principal(clean_id(user_id, "user_id"), clean_id(agent_id, "agent_id"), project)


def clean_grantee(value: object) -> str:
    """Whom a grant is for: `user:ID`, `agent:ID`, `agent:AGENT/USER`, `project:ID`, or `*` for anybody.

    Raises:
        InputError: It is none.
    """
    if value == ANYBODY:
        return ANYBODY
    if isinstance(value, str):
        kind, colon, id_ = value.partition(":")
        if colon and kind in ("user", "project", "agent"):
            return clean_scope(value) if "/" in id_ else f"{kind}:{clean_id(id_, 'the id')}"
    raise InputError(
        f"{value!r} is nobody that can be granted anything.",
        hint="Write user:ID, agent:ID, agent:AGENT/USER, project:ID, or * for anybody.",
    )


def clean_rights(value: object) -> tuple[str, ...]:
    """Rights in their order, each once.

    Raises:
        InputError: One is not known, or there is none.
    """
    listed = (value,) if isinstance(value, str) else value
    if not isinstance(listed, list | tuple | set | frozenset) or not listed:
        raise InputError(f"rights must be some of {', '.join(RIGHTS)}, not {value!r}.")
    wrong = [item for item in listed if item not in RIGHTS]
    if wrong:
        raise InputError(f"{wrong[0]!r} is no right; the rights are {', '.join(RIGHTS)}.")
    return tuple(right for right in RIGHTS if right in listed)


@dataclass(frozen=True, slots=True)
class Grant:
    """What somebody may do in a scope.

    Attributes:
        id: ULID of the grant, by which it is revoked.
        grantee: Whom it is for.
        scope: Where.
        rights: What.
        expires_at: Until when, exclusive; None for no end.
        granted_at: Since when.
        actor: Who granted it.
    """

    id: str
    grantee: str
    scope: str
    rights: tuple[str, ...]
    expires_at: datetime | None = None
    granted_at: str = ""
    actor: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The grant as plain JSON values."""
        return {
            "id": self.id, "grantee": self.grantee, "scope": self.scope, "rights": list(self.rights),
            "expires_at": format_time(self.expires_at) if self.expires_at else None, "granted_at": self.granted_at,
            "actor": self.actor,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Access:
    """What the caller of a view may do; the one who opened the store without a session may do everything.

    Attributes:
        principal: Who it is; None for the owner of the store.
        default_scope: The scope of observations whose file names none.
        rights: By scope, what is granted.
    """

    principal: Principal | None = None
    default_scope: str = "org:store"
    rights: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def may(self, right: str, scope: str | None) -> bool:
        """Whether this is allowed in a scope; None is the default scope."""
        if self.principal is None:
            return True
        held = self.rights.get(scope or self.default_scope, frozenset())
        return right in held and "read" in held

    def require(self, right: str, scope: str | None, *, id_: str = "") -> None:
        """Let pass what is allowed.

        Args:
            right: What is wanted.
            scope: Where; None is the default scope.
            id_: The observation it is wanted for.

        Raises:
            NotFoundError: The caller may not even see what is there; the words are those for what is not there.
            AccessError: The caller may see it, but not do this.
        """
        if self.may(right, scope):
            return
        if id_ and not self.may("read", scope):
            raise NotFoundError(f"There is no observation {id_}.", hint="`grail list` shows what is there.")
        raise AccessError(
            f"This session may not {right} in the scope {scope or self.default_scope}.",
            hint=f"The owner of the store can allow it: `grail grant`, right `{right}`.",
        )

    def scopes(self, right: str) -> tuple[str, ...] | None:
        """The scopes where this is allowed, in order; None for all there are."""
        if self.principal is None:
            return None
        return tuple(sorted(scope for scope in self.rights if self.may(right, scope)))
