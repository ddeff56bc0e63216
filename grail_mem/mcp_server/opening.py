"""The store of a server: opened by the first call that needs it, once for each principal.

Knows nothing of the protocol.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grail_mem.errors import InputError, NotFoundError, StoreError
from grail_mem.model.scope import Principal, make_principal
from grail_mem.store.layout import Layout

if TYPE_CHECKING:  # loading them takes longer than a client waits for the greeting
    from grail_mem.memory import Memory
    from grail_mem.memory.session import Session

ACTOR: Final = "mcp"
"""Who stands in the ledger for what a server does that was started for the owner."""


class Opening:
    """One store, and the sessions in it. Safe to use from several threads.

    Args:
        root: The store.
        embedder: What turns texts into vectors; None takes it from the settings.

    Raises:
        NotFoundError: There is no store.
    """

    def __init__(self, root: Path, *, embedder: str | None = None) -> None:
        root = root.expanduser().resolve()
        if not root.is_dir() or not Layout(root).is_store():
            raise NotFoundError(f"The folder {str(root)!r} holds no store.", hint="`grail init DIR` makes one.")
        self.root, self._embedder = root, embedder
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._sessions: dict[Principal, Session] = {}
        self._closed = False

    def caller(self, principal: Principal | None) -> Memory | Session:
        """The store as somebody may use it; None is its owner.

        Raises:
            StoreError: It is closed, or cannot be opened.
        """
        with self._lock:
            if self._closed:
                raise StoreError("The server is shutting down.")
            if self._memory is None:
                from grail_mem.memory import Memory

                self._memory = Memory(self.root, actor=ACTOR, embedder=self._embedder)
            if principal is None:
                return self._memory
            if principal not in self._sessions:
                self._sessions[principal] = self._memory.session(
                    user_id=principal.user_id, agent_id=principal.agent_id, project_id=principal.project_id
                )
            return self._sessions[principal]

    def warm(self, principal: Principal | None) -> None:
        """Load what a first question needs, so that the one who asks it waits less; nothing is written and no fault is told.

        A search index is loaded where there is one and never made here, nor is anything noted as recalled.
        """
        with suppress(Exception):  # whatever it is, the first call meets it and says so
            from grail_mem.index.catalog import has_catalog

            caller = self.caller(principal)
            caller.list_tags(limit=1)
            if has_catalog(Layout(self.root)) and caller.settings.access_log != "on":
                caller.search("what changed", limit=1)

    def close(self) -> None:
        """Let go of everything; calls under way end with an error."""
        with self._lock:
            self._closed = True
            opened = [*self._sessions.values(), *([self._memory] if self._memory is not None else [])]
        for one in opened:
            one.close()


def read_principal(text: str) -> Principal:
    """Who `AGENT/USER` or `AGENT/USER/PROJECT` is.

    Raises:
        InputError: It is nobody.
    """
    agent, user, project = (*text.split("/", 2), None, None)[:3]
    if not agent or not user:
        raise InputError(f"--as needs AGENT/USER, not {text!r}.", hint="For example: --as assistant/u1.")
    return make_principal(user_id=user, agent_id=agent, project_id=project)


def named(principal: Principal | None) -> str:
    """A principal in words, as `read_principal` reads it."""
    if principal is None:
        return "owner"
    parts = (principal.agent_id, principal.user_id, *((principal.project_id,) if principal.project_id else ()))
    return "/".join(parts)
