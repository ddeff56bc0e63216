"""MemoryProject: the verbs of Memory as coroutines, derived from it and not written again.

Each call runs in a worker thread, so a loop is never blocked by a disk. Knows nothing of what the verbs do.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from grail_mem.errors import StoreError
from grail_mem.index.embedder import Embedder
from grail_mem.memory import SESSION_VERBS, VERBS, Memory
from grail_mem.memory.session import Session
from grail_mem.recall.reranking import Reranker
from grail_mem.support.entailment import EntailmentModel
from grail_mem.support.entailments import Scores

__all__ = ["SESSION_VERBS", "VERBS", "MemoryProject", "SessionProject"]


class MemoryProject:
    """One opened store for asynchronous callers; arguments and results are those of `Memory`.

    Example:
        >>> import asyncio, tempfile
        >>> async def main() -> int:
        ...     async with MemoryProject(tempfile.mkdtemp()) as memory:
        ...         await memory.add_observation(content="Acme picked Postgres.")
        ...         return len((await memory.recall()).observations)
        >>> asyncio.run(main())
        1
    """

    def __init__(
        self,
        path: str | Path,
        *,
        actor: str | None = None,
        embedder: Embedder | Callable[[list[str]], Any] | str | None = None,
        reranker: Reranker | None = None,
        entailment: EntailmentModel | Scores | str | None = None,
    ) -> None:
        self._memory = Memory(path, actor=actor, embedder=embedder, reranker=reranker, entailment=entailment)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._memory.close)

    def __repr__(self) -> str:
        return f"MemoryProject({str(self._memory.root)!r})"

    def session(
        self, *, user_id: str, agent_id: str, project_id: str | None = None, session: str | None = None
    ) -> SessionProject:
        """The store for an agent that acts for a person, to be opened by `async with`; arguments as for `Memory.session`."""
        named = {"user_id": user_id, "agent_id": agent_id, "project_id": project_id, "session": session}
        return SessionProject(functools.partial(self._memory.session, **named))  # type: ignore[arg-type]  # by name


class SessionProject:
    """One session for asynchronous callers, made by `MemoryProject.session`; verbs are those of `Session`.

    Example:
        >>> import asyncio, tempfile
        >>> async def main() -> list[str]:
        ...     async with MemoryProject(tempfile.mkdtemp()) as memory:
        ...         async with memory.session(user_id="u1", agent_id="assistant") as session:
        ...             await session.add_observation(content="Prefers concise answers.")
        ...             return [o.scope for o in (await session.recall()).observations]
        >>> asyncio.run(main())
        ['agent:assistant/u1']
    """

    def __init__(self, opening: Callable[[], Session]) -> None:
        self._opening = opening
        self._memory: Session | None = None

    async def __aenter__(self) -> Self:
        self._memory = await asyncio.to_thread(self._opening)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()  # type: ignore[attr-defined]  # one of the verbs, set below


def _as_coroutine(verb: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    @functools.wraps(verb)
    async def call(self: MemoryProject | SessionProject, *args: Any, **kwargs: Any) -> Any:
        if self._memory is None:
            raise StoreError("This session is not open.", hint="Use it as `async with memory.session(…) as session:`.")
        return await asyncio.to_thread(verb, self._memory, *args, **kwargs)

    return call


for _name in VERBS:
    if _name != "session":  # which opens nothing yet
        setattr(MemoryProject, _name, _as_coroutine(getattr(Memory, _name)))
for _name in SESSION_VERBS:
    setattr(SessionProject, _name, _as_coroutine(getattr(Session, _name)))
