"""The verbs of Memory that say who may do what; a session has none of them."""

from __future__ import annotations

from collections.abc import Sequence

from grail_mem.memory.opened import Opened, as_id
from grail_mem.memory.session import Session
from grail_mem.model.filter import Time
from grail_mem.model.scope import Grant, make_principal


class Granting(Opened):
    """Sessions, and what is granted to those who have them."""

    def session(
        self, *, user_id: str, agent_id: str, project_id: str | None = None, session: str | None = None
    ) -> Session:
        """Open the store for an agent that acts for a person; what they may not read is as if it were not there.

        Args:
            user_id: The person, as the application knows them; never taken from what a model says.
            agent_id: The agent.
            project_id: What they work on, when grants to the project shall reach them.
            session: The conversation, such as `chat/2026-06-02`; a new one when left out.

        Raises:
            InputError: An id cannot be used.
        """
        principal = make_principal(user_id=user_id, agent_id=agent_id, project_id=project_id)
        with self._lock:
            self._open()
        return Session(
            self.root,
            principal,
            embedder=self._embedder,
            reranker=self._reranker,
            entailment=self._entailment,
            session=session,
        )

    def grant(
        self,
        grantee: str,
        scope: str,
        rights: str | Sequence[str] = "read",
        *,
        until: Time | None = None,
        reason: str = "",
        actor: str | None = None,
    ) -> Grant:
        """Let somebody do something in a scope, until it is revoked or over.

        Args:
            grantee: `user:ID`, `agent:ID`, `agent:AGENT/USER`, `project:ID`, or `*` for anybody.
            scope: `user:ID`, `project:ID`, `org:ID`, `agent:AGENT/USER`, or a kind of one's own.
            rights: Some of `read`, `write`, `propose`, `apply`, `forget`; `read` comes with every other.
            until: When it ends: an instant, a date, or a span from now such as `30d`.
            reason: Why, for the ledger.
            actor: Who grants it, for the ledger.

        Raises:
            InputError: A value cannot be used; `problems` lists every reason.
        """
        from grail_mem.write import grant as granting

        with self._lock:
            return granting.grant(
                self._open(), grantee, scope, rights, until=until, actor=self._acting(actor), reason=reason
            )

    def revoke(self, id: str, *, reason: str = "", actor: str | None = None) -> Grant:  # noqa: A002  the word of the design
        """Take a grant back; every process knows it from its next question on.

        Raises:
            NotFoundError: No grant with this id counts.
        """
        from grail_mem.write import grant as granting

        named = as_id(id, of="grant", listed="grail grants")
        with self._lock:
            return granting.revoke(self._open(), named, actor=self._acting(actor), reason=reason)

    def grants(self, *, grantee: str | None = None, scope: str | None = None) -> tuple[Grant, ...]:
        """The grants that count now, by scope and grantee.

        Args:
            grantee: Only those to this one.
            scope: Only those in this scope.
        """
        with self._lock:
            view = self._open()
            view.catch_up()
            return tuple(g for g in view.grants.standing() if grantee in (None, g.grantee) and scope in (None, g.scope))
