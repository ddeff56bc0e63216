"""A session: the store as one agent that acts for one person may see and change it.

It has the verbs of `Memory` that an agent needs and none that keep the store or say who may do what. What the principal may
not read is as if it were not there: in filters, SQL, lists, counts, graph, ranked recall and errors. Knows nothing of how
grants are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from grail_mem.memory.consolidating import Consolidating
from grail_mem.memory.forgetting import Forgetting
from grail_mem.memory.reading import Reading
from grail_mem.memory.revising import Revising
from grail_mem.memory.safekeeping import Handing
from grail_mem.memory.screening import Screening
from grail_mem.memory.suggesting import Suggesting
from grail_mem.memory.turning import Turning
from grail_mem.memory.writing import Writing
from grail_mem.model.scope import Principal
from grail_mem.model.ulid import new_id

if TYPE_CHECKING:
    from grail_mem.index.embedder import Embedder
    from grail_mem.recall.reranking import Reranker
    from grail_mem.support.entailment import EntailmentModel


class Session(Writing, Revising, Turning, Forgetting, Reading, Consolidating, Screening, Suggesting, Handing):
    """One opened store for one principal; made by `Memory.session`.

    Example:
        >>> import tempfile
        >>> from grail_mem import Memory
        >>> with Memory(tempfile.mkdtemp()) as memory, memory.session(user_id="u1", agent_id="assistant") as session:
        ...     added = session.add_observation(content="Prefers concise answers.")
        ...     [o.scope for o in session.recall().observations]
        ['agent:assistant/u1']
    """

    def __init__(
        self,
        root: Path,
        principal: Principal,
        *,
        embedder: Callable[[], Embedder | None],
        reranker: Reranker | None,
        entailment: Callable[[], EntailmentModel | None],
        session: str | None,
    ) -> None:
        self._begin(root, principal, actor=principal.private)
        self._embedder, self._reranker, self._entailment = embedder, reranker, entailment
        self._conversation = session or f"chat/{new_id()}"
        self._heard = {}

    def __repr__(self) -> str:
        return f"Session({str(self.root)!r}, {self.principal})"

    @property
    def principal(self) -> Principal:
        """Who this session is for."""
        assert self._principal is not None  # noqa: S101  set on opening
        return self._principal

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that it may read, in order; its own first."""
        with self._lock:
            view = self._open()
            view.catch_up()
            readable = view.access.scopes("read") or ()
        return (self.principal.private, *(scope for scope in readable if scope != self.principal.private))

    @property
    def rights(self) -> Mapping[str, frozenset[str]]:
        """By scope what it may do there; none where it may not read, since nothing can be done to what is not seen."""
        with self._lock:
            view = self._open()
            view.catch_up()
            held = view.access.rights
        return {scope: rights for scope, rights in held.items() if "read" in rights}

    @property
    def writable(self) -> tuple[str, ...]:
        """The scopes that it may write to, in order; its own first."""
        with self._lock:
            view = self._open()
            view.catch_up()
            scopes = view.access.scopes("write") or ()
        return (self.principal.private, *(scope for scope in scopes if scope != self.principal.private))
