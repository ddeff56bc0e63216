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

from grail_mem.index.embedder import Embedder
from grail_mem.memory import VERBS, Memory
from grail_mem.recall.reranking import Reranker

__all__ = ["VERBS", "MemoryProject"]


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
    ) -> None:
        self._memory = Memory(path, actor=actor, embedder=embedder, reranker=reranker)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._memory.close)

    def __repr__(self) -> str:
        return f"MemoryProject({str(self._memory.root)!r})"


def _as_coroutine(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    verb = getattr(Memory, name)

    @functools.wraps(verb)
    async def call(self: MemoryProject, *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(verb, self._memory, *args, **kwargs)

    return call


for _name in VERBS:
    setattr(MemoryProject, _name, _as_coroutine(_name))
