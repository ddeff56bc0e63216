"""A session: the store as one agent that acts for one person may see and change it.

It has the verbs of `Memory` that an agent needs and none that keep the store or say who may do what. What the principal may
not read is as if it were not there: in filters, SQL, lists, counts, graph, ranked recall and errors. Knows nothing of how
grants are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from grail_mem.index.embedder import Embedder
from grail_mem.memory.consolidating import Consolidating
from grail_mem.memory.evidencing import Evidencing
from grail_mem.memory.forgetting import Forgetting
from grail_mem.memory.reading import Reading
from grail_mem.memory.recalling import Recalling
from grail_mem.memory.revising import Revising
from grail_mem.memory.safekeeping import Handing
from grail_mem.memory.screening import Screening
from grail_mem.memory.suggesting import Suggesting
from grail_mem.memory.writing import Writing
from grail_mem.model.scope import Principal
from grail_mem.model.ulid import new_id
from grail_mem.query.view import View
from grail_mem.recall.reranking import Reranker

if TYPE_CHECKING:
    from grail_mem.write.extractor import Extractor
    from grail_mem.write.finishing import Finished
    from grail_mem.write.reviewer import Reviewer


class Session(
    Writing, Revising, Evidencing, Forgetting, Recalling, Reading, Consolidating, Screening, Suggesting, Handing
):
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
        session: str | None,
    ) -> None:
        self._begin(root, principal, actor=principal.private)
        self._embedder, self._reranker = embedder, reranker
        self._conversation: str = session or f"chat/{new_id()}"

    def __repr__(self) -> str:
        return f"Session({str(self.root)!r}, {self.principal})"

    @property
    def principal(self) -> Principal:
        """Who this session is for."""
        assert self._principal is not None  # noqa: S101  set on opening
        return self._principal

    def finish(
        self,
        *,
        extract: bool = True,
        extractor: Extractor | Sequence[Extractor] | None = None,
        reviewer: Reviewer | Sequence[Reviewer] | None = None,
    ) -> Finished:
        """End the conversation: what its turns say is submitted as candidates, which count once they are approved.

        Args:
            extract: Look for preferences, decisions, commitments, facts and corrections in what the user said.
            extractor: Who looks, one or several; None for the rules of this package, which ask no model.
            reviewer: Who may drop what was found or be less sure of it, one or several; None for nobody.

        Returns:
            One result a candidate, as a sequence, all or none of them stored; `warnings` says what was left out and why.

        Raises:
            ServiceError: An extractor or a reviewer failed, or its answer cannot be used; nothing was submitted.
            InputError: What was given is no extractor or no reviewer.
        """
        from grail_mem.write.extractor import chosen_extractors
        from grail_mem.write.finishing import Finished, finish
        from grail_mem.write.reviewer import chosen_reviewers

        extractors, reviewers = chosen_extractors(extractor), chosen_reviewers(reviewer)
        if not extract:
            return Finished()
        return finish(
            self._using, self.conversation, extractors=extractors, reviewers=reviewers, actor=self._acting(None)
        )

    @contextmanager
    def _using(self) -> Iterator[View]:
        with self._lock:
            yield self._open()

    @property
    def conversation(self) -> str:
        """The conversation that its turns belong to."""
        return self._conversation

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that it may read, in order; its own first."""
        with self._lock:
            view = self._open()
            view.catch_up()
            readable = view.access.scopes("read") or ()
        return (self.principal.private, *(scope for scope in readable if scope != self.principal.private))

    @property
    def writable(self) -> tuple[str, ...]:
        """The scopes that it may write to, in order; its own first."""
        with self._lock:
            view = self._open()
            view.catch_up()
            scopes = view.access.scopes("write") or ()
        return (self.principal.private, *(scope for scope in scopes if scope != self.principal.private))
