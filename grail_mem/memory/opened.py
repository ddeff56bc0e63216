"""An opened store: its state, and what its verbs share.

Knows nothing of the verbs.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from grail_mem.errors import GrailError, IndexUnusableError, InputError, NotFoundError, StoreError
from grail_mem.memory.alone import Alone
from grail_mem.model.scope import Principal
from grail_mem.model.ulid import is_id
from grail_mem.query.sql import SqlSession
from grail_mem.query.view import View
from grail_mem.settings import Settings, read_settings
from grail_mem.store.access import AccessLog
from grail_mem.store.files import translated
from grail_mem.store.layout import Layout
from grail_mem.store.version import require_known

if TYPE_CHECKING:
    from grail_mem.index.beside import Beside
    from grail_mem.index.embedder import Embedder
    from grail_mem.recall.ranked import Searcher
    from grail_mem.recall.reranking import Reranker
    from grail_mem.support.entailment import EntailmentModel
    from grail_mem.support.entailments import Scores

T = TypeVar("T")

_LOG = logging.getLogger("grail_mem")
_LOG.addHandler(logging.NullHandler())  # silent unless the application asks to hear


class Opened:
    """One opened store; `Memory` has its verbs."""

    def __init__(
        self,
        path: str | Path,
        *,
        actor: str | None = None,
        embedder: Embedder | Callable[[list[str]], Any] | str | None = None,
        reranker: Reranker | None = None,
        entailment: EntailmentModel | Scores | str | None = None,
    ) -> None:
        from grail_mem.index.embedder import chosen_embedder
        from grail_mem.recall.reranking import chosen_reranker
        from grail_mem.support.entailments import chosen_entailment

        self._begin(Path(path), None, actor=actor)
        self._embedder = chosen_embedder(self._settings.embedder if embedder is None else embedder)
        self._reranker = chosen_reranker(reranker)
        self._entailment = chosen_entailment(self._settings.entailment if entailment is None else entailment)

    def _begin(self, path: Path, principal: Principal | None, *, actor: str | None) -> None:
        """Open the store for somebody; None is its owner."""
        with translated("open the store", path):
            root = path.expanduser().resolve()
            is_file = root.exists() and not root.is_dir()
        if is_file:
            raise InputError(f"{path} is a file, not a folder.", hint="Name the folder that holds the store.")
        with translated("open the store", root):
            self._open_at(root, principal, actor)

    def _open_at(self, root: Path, principal: Principal | None, actor: str | None) -> None:
        from grail_mem.write.leftovers import is_sweep_left
        from grail_mem.write.recovery import finish_on_opening, recover_on_opening

        require_known(Layout(root))
        finish_on_opening(Layout(root))
        self._layout, self._settings = opened(root)
        self._actor = actor or self._settings.actor
        self._lock = Alone(root)
        self._principal = principal
        self._conversation: str | None = None
        self._view = View(self._layout, self._settings, principal=principal)
        recover_on_opening(self._view)
        if is_sweep_left(self._layout):
            from grail_mem.write.sweep import sweep_on_opening

            sweep_on_opening(self._view)
        self._sql: SqlSession | None = None
        self._searcher: Searcher | None = None
        self._beside: Beside | None = None
        self._compacting: threading.Thread | None = None
        self._closed = False
        self._accesses = AccessLog(self._layout) if self._settings.access_log == "on" else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({str(self._layout.root)!r})"

    @property
    def root(self) -> Path:
        """The store's root, absolute."""
        return self._layout.root

    @property
    def settings(self) -> Settings:
        """The settings the store was opened with."""
        return self._settings

    @property
    def state(self) -> tuple[object, ...]:
        """What answers depend on beside the time; while it is equal, nothing that counts changed."""
        with self._lock:
            view = self._open()
            view.refresh()
            return view.state

    def close(self) -> None:
        """Wait for a compaction under way and let go of every file; the object cannot be used afterwards."""
        from grail_mem.write.recovery import settle

        thread = self._compacting
        if thread is not None:
            thread.join()
        if self._beside is not None:
            self._beside.close()
        with self._lock:
            if not self._closed:
                settle(self._view)
            self._closed = True
            self._view.close()
            if self._sql is not None:
                self._sql.close()
            self._sql = None

    def _open(self) -> View:
        if self._closed:
            raise StoreError("This memory was closed.", hint="Open it anew with Memory(path).")
        if self._principal is not None:  # what was granted or revoked since counts before anything is looked at
            self._view.catch_up()
        return self._view

    def _acting(self, actor: str | None) -> str:
        """Who stands in the ledger for what a verb does."""
        from grail_mem.write.permit import acting

        return acting(self._principal, actor, self._actor)

    def _talk(self, session: str | None) -> str | None:
        """The conversation that a verb is about: the one named, or a session's own."""
        return self._conversation if session is None else session

    def _before_quoting(self) -> None:
        """What a session does before it looks for a quote; a store without a conversation has nothing to do."""

    def _note_recalled(self, ids: Iterable[str]) -> None:
        """Note, where the settings ask for it, that somebody recalled these; no answer depends on it."""
        if self._accesses is not None:
            self._accesses.note(ids)

    def _search_state(self) -> Searcher:
        from grail_mem.index.beside import Beside
        from grail_mem.recall.ranked import Searcher

        if self._searcher is None or self._searcher.view is not self._view:
            if self._beside is not None:
                self._beside.stop()
            self._searcher = Searcher(self._view, self._embedder())
            meaning = self._searcher.meaning
            self._beside = Beside(meaning, self._lock, self._layout.root) if meaning is not None else None
        return self._searcher

    def _embed_beside(self, paths: Iterable[str]) -> None:
        """Have files just written embedded, in a process that has the model loaded since it searches."""
        from grail_mem.index.document import embedded_texts

        if self._beside is not None:
            self._view.absorb()
            rows = [row for path in paths if (row := self._view.delta.rows.get(path)) is not None]
            said = [row.observation for row in rows]
            self._beside.add([(o.path, text) for o in said for text in embedded_texts(o)])

    def _asked(self, use: Callable[[SqlSession], T]) -> T:
        """What a use of the SQL session gives; a snapshot that another process removed for a newer one is no error."""
        while True:
            try:
                return use(self._session())
            except IndexUnusableError:
                if (self._layout.snapshots / self._view.manifest.name).is_dir():
                    raise

    def _session(self) -> SqlSession:
        view = self._open()
        view.refresh()
        if self._sql is None or not self._sql.is_current(view):
            if self._sql is not None:
                self._sql.close()
            self._sql = SqlSession(view)
        return self._sql

    def _compact_if_due(self) -> None:
        """Start a compaction beside the caller's work when so much changed that reading it costs more."""
        from grail_mem.query import compaction

        with self._lock:
            under_way = self._compacting is not None and self._compacting.is_alive()
            if under_way or not compaction.is_due(self._view):
                return
            self._compacting = threading.Thread(target=self._compact_beside, name="grail-compaction")
            self._compacting.start()

    def _compact_beside(self) -> None:
        from grail_mem.index.catalog import follow_snapshot
        from grail_mem.query import compaction
        from grail_mem.write.sync import sync

        view = View(self._layout, self._settings)
        try:
            sync(view, actor=self._settings.actor, stamp=False)
            if compaction.compact_if_free(view) is not None:
                follow_snapshot(view)
        except (GrailError, OSError):
            _LOG.warning("A compaction beside a write did not finish; it is tried again later.", exc_info=True)
        finally:
            view.close()


def opened(root: Path) -> tuple[Layout, Settings]:
    """Where a store is, and its settings."""
    settings = read_settings(Layout(root).settings)
    return Layout(root, "" if settings.notes == "." else settings.notes), settings


def as_id(text: str, *, of: str = "observation", listed: str = "grail list") -> str:
    """An id as callers may write it, or a refusal that says what an id is."""
    if isinstance(text, str) and is_id(text.strip().upper()):
        return text.strip().upper()
    raise NotFoundError(f"There is no {of} {text!r}.", hint=f"An id has 26 characters; `{listed}` shows them.")


def open_root(path: str | Path | None) -> Path:
    """The root a command means: the path given, `$GRAIL_ROOT`, or the nearest folder upward with a `grail.yaml`.

    Raises:
        NotFoundError: None of them is there.
    """
    if path is not None:
        return Path(path)
    if named := os.environ.get("GRAIL_ROOT"):
        return Path(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if Layout(folder).settings.is_file():
            return folder
    raise NotFoundError(
        "No store was named, $GRAIL_ROOT is not set, and no folder from here upward holds a grail.yaml.",
        hint="Name one (`grail VERB DIR`), or make one with `grail init DIR`.",
    )
