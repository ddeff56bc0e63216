"""Memory: one opened store and its verbs.

Every verb parses nothing and decides nothing itself: it calls one function of a lower layer. No part holds a Memory.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from grail_mem.consolidate import decide
from grail_mem.consolidate.listing import proposals
from grail_mem.consolidate.outcome import Outcome
from grail_mem.consolidate.proposal import Proposal
from grail_mem.consolidate.propose import LEAST_CONFIDENCE, ProposalSet, consolidate
from grail_mem.errors import GrailError, IndexUnusableError, InputError, NotFoundError, StoreError
from grail_mem.index.beside import Beside
from grail_mem.index.catalog import Indexed, has_catalog, remake_catalog, update_catalog
from grail_mem.index.document import embedded_texts
from grail_mem.index.embedder import Embedder, chosen_embedder
from grail_mem.index.embedding import embed, texts_without_vector
from grail_mem.model.filter import Texts, Time, make_question
from grail_mem.model.observation import Observation
from grail_mem.model.problem import Gather
from grail_mem.model.ulid import is_id
from grail_mem.query import compaction, find, lists
from grail_mem.query.compaction import Compacted
from grail_mem.query.lists import Listed
from grail_mem.query.sql import SqlSession
from grail_mem.query.view import View
from grail_mem.recall import exact
from grail_mem.recall.calibration import Calibrated, calibrate
from grail_mem.recall.cascade import cascade
from grail_mem.recall.communities import communities
from grail_mem.recall.document import document as one_document
from grail_mem.recall.labelled import Questions
from grail_mem.recall.local import local
from grail_mem.recall.ranked import Searcher
from grail_mem.recall.refit import Fit, refit
from grail_mem.recall.reranking import Reranker, chosen_reranker
from grail_mem.recall.result import Recall
from grail_mem.recall.tuning import drop
from grail_mem.recall.wish import make_wish, refuse_ranked
from grail_mem.settings import Settings, read_settings
from grail_mem.store.layout import Layout
from grail_mem.write import change
from grail_mem.write.add import Written, add
from grail_mem.write.change import Changed
from grail_mem.write.check import Checked, check
from grail_mem.write.init import make_store
from grail_mem.write.recovery import recover_on_opening, settle
from grail_mem.write.sync import Synced, sync
from grail_mem.write.validate import Draft, read_draft

if TYPE_CHECKING:  # heavy packages that only their own verbs load
    import networkx as nx
    import pyarrow as pa

T = TypeVar("T")

_LOG = logging.getLogger("grail_mem")
_LOG.addHandler(logging.NullHandler())  # silent unless the application asks to hear


class Memory:
    """One opened store. Safe to use from several threads; every process opens its own.

    Args:
        path: The store's root. An empty or missing folder becomes a store on the first write.
        actor: Who stands in the ledger for what this object writes; None takes it from the settings.
        embedder: What turns texts into vectors for ranked recall: `local`, `none`, the name or folder of a
            Sentence-Transformers model behind `sentence-transformers:`, an `Embedder`, or a function from texts to
            vectors; None takes it from the settings.
        reranker: A function from a question and texts to a score for each text, higher for better, which orders the best 50
            hits anew; None leaves them as they are.

    Raises:
        InputError: The path is a file, or `grail.yaml` cannot be used.

    Example:
        >>> import tempfile
        >>> with Memory(tempfile.mkdtemp()) as memory:
        ...     added = memory.add_observation(title="Acme picked Postgres", content="After the review.", tags=["decision"])
        ...     [o.title for o in memory.recall(tags=["decision"]).observations]
        ['Acme picked Postgres']
    """

    def __init__(
        self,
        path: str | Path,
        *,
        actor: str | None = None,
        embedder: Embedder | Callable[[list[str]], Any] | str | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        root = Path(path).expanduser().resolve()
        if root.exists() and not root.is_dir():
            raise InputError(f"{path} is a file, not a folder.", hint="Name the folder that holds the store.")
        self._layout, self._settings = _opened(root)
        self._actor = actor or self._settings.actor
        self._lock = threading.RLock()
        self._view = View(self._layout, self._settings)
        recover_on_opening(self._view)
        self._sql: SqlSession | None = None
        self._embedder = chosen_embedder(self._settings.embedder if embedder is None else embedder)
        self._reranker = chosen_reranker(reranker)
        self._searcher: Searcher | None = None
        self._beside: Beside | None = None
        self._compacting: threading.Thread | None = None
        self._closed = False

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

    def close(self) -> None:
        """Wait for a compaction under way and let go of every file; the object cannot be used afterwards."""
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
        return self._view

    # -- write -------------------------------------------------------------------------------------------------------

    def add_observation(
        self,
        *,
        content: str,
        title: str | None = None,
        category: str | None = None,
        tags: Texts | None = None,
        entities: Sequence[Any] | None = None,
        relationships: Sequence[Any] | None = None,
        observed_at: Time | None = None,
        confidence: float | None = None,
        source: str | None = None,
        related_to: Sequence[str] | None = None,
        kind: str | None = None,
        attribute: str | None = None,
        status: str | None = None,
        valid_from: Time | None = None,
        valid_until: Time | None = None,
        expires_at: Time | None = None,
        review_at: Time | None = None,
        supersedes: str | None = None,
        scope: str | None = None,
        session: str | None = None,
        turn: int | None = None,
        speaker: str | None = None,
        source_kind: str | None = None,
        slug: str | None = None,
        actor: str | None = None,
    ) -> Written:
        """Store one observation; it is durable and every process sees it when this returns.

        Args:
            content: The statement, markdown.
            title: One line; the content's first line when left out.
            category: Folder path under `memories/`; the setting `default_category` when left out.
            tags: Words to find it by.
            entities: What it mentions: names, or mappings with `name` and, optionally, `type`, `description`, `aliases`.
            relationships: What it states between entities: mappings with `source`, `target`, `relationship_type`.
            observed_at: When it was seen; now when left out. Instant, date, or relative such as `2d`.
            confidence: 0 to 1; 1 when left out.
            source: Where it comes from, in words.
            related_to: Ids of other observations.
            kind: `semantic` (default), `episodic`, `procedural`, `prospective`, `summary`.
            attribute: The current fact it states, such as `acme/primary-database`.
            status: `confirmed` (default), `provisional`, `superseded`, `archived`.
            valid_from: From when it holds.
            valid_until: Until when it holds, exclusive.
            expires_at: After which it is no longer valid.
            review_at: When somebody should look at it again.
            supersedes: Id of the observation it replaces.
            scope: Whose memory it is.
            session: The conversation or event it belongs to, such as `chat/2026-06-02`; one session's observations are
                neighbours.
            turn: Its place in the session, from 0.
            speaker: Who said it, such as `Caroline`, `user` or `assistant`.
            source_kind: `user_statement`, `system`, `tool_result`, `session_summary`, `agent_inference`.
            slug: Words for the file name instead of the title.
            actor: Who does it, for the ledger.

        Returns:
            Id, path and warnings; `created` is False when the same observation was there already.

        Raises:
            InputError: One or more values cannot be used; `problems` lists every reason.
            StoreError: The disk did not take it; nothing was stored.
        """
        draft = Draft(
            content, title, category, tags, entities, relationships, observed_at, confidence, source, related_to, kind,
            attribute, status, valid_from, valid_until, expires_at, review_at, supersedes, scope, session, turn, speaker,
            source_kind, slug,
        )  # fmt: skip
        return self._add([draft], actor)[0]

    def add_observations(self, drafts: Iterable[Mapping[str, Any]], *, actor: str | None = None) -> list[Written]:
        """Store many observations at the cost of few; all of them or none.

        Args:
            drafts: Mappings with the arguments of `add_observation`.
            actor: Who does it, for the ledger.

        Returns:
            One result a draft, in order.

        Raises:
            InputError: One or more drafts cannot be used; `problems` lists every reason of every draft.
            StoreError: The disk did not take it; nothing was stored.
        """
        gather = Gather()
        made = [
            gather.read(f"draft {number}", () if values is None else values, read_draft, None)
            for number, values in enumerate(drafts, start=1)
        ]
        gather.stop("Nothing was stored.")
        return self._add(made, actor)

    def _add(self, drafts: Sequence[Draft], actor: str | None) -> list[Written]:
        with self._lock:
            results = add(self._open(), drafts, actor=actor or self._actor)
            self._embed_beside(result.path for result in results if result.created)
        self._compact_if_due()
        return results

    def update(
        self,
        id: str,  # noqa: A002  the word of the design; a local name only
        *,
        append: str | None = None,
        reason: str = "",
        actor: str | None = None,
        **fields: Any,
    ) -> Changed:
        """Change the named fields of an observation and no others; the file's other bytes stay as they are.

        Args:
            id: The observation.
            append: Text put behind its content as a paragraph of its own.
            reason: Why, for the ledger.
            actor: Who does it, for the ledger.
            **fields: New values by the names of `add_observation`, without `category` and `slug`; None removes one.

        Raises:
            NotFoundError: There is no such observation.
            InputError: A field or value cannot be used; `problems` lists every reason.
        """
        with self._lock:
            return change.update(
                self._open(), _id(id), fields, append=append, actor=actor or self._actor, reason=reason
            )

    def move(self, id: str, category: str, *, reason: str = "", actor: str | None = None) -> Changed:  # noqa: A002  as above
        """Put an observation into another category; its id and everything else stay.

        Raises:
            NotFoundError: There is no such observation.
            InputError: The category cannot be used.
            ConflictError: A file of that name is there already.
        """
        with self._lock:
            return change.move(self._open(), _id(id), category, actor=actor or self._actor, reason=reason)

    def hide(self, id: str, *, reason: str = "", actor: str | None = None) -> Changed:  # noqa: A002  as above
        """Take an observation out of every answer; the file stays, and `restore` brings it back.

        Raises:
            NotFoundError: There is no such observation.
        """
        with self._lock:
            return change.hide(self._open(), _id(id), actor=actor or self._actor, reason=reason)

    def restore(self, id: str, *, reason: str = "", actor: str | None = None) -> Changed:  # noqa: A002  as above
        """Bring a hidden observation back into the answers.

        Raises:
            NotFoundError: There is no such observation.
        """
        with self._lock:
            return change.restore(self._open(), _id(id), actor=actor or self._actor, reason=reason)

    # -- read --------------------------------------------------------------------------------------------------------

    def recall(
        self,
        query: str | Sequence[str] | None = None,
        *,
        mode: str | None = None,
        since: Time | None = None,
        before: Time | None = None,
        category: Texts | None = None,
        tags: Texts | None = None,
        tags_all: Texts | None = None,
        entity_names: Texts | None = None,
        entity_types: Texts | None = None,
        relationship_type: Texts | None = None,
        min_confidence: float | None = None,
        kind: Texts | None = None,
        status: Texts | None = None,
        source_kind: Texts | None = None,
        session: Texts | None = None,
        speaker: Texts | None = None,
        text: str | None = None,
        as_of: Time | None = None,
        limit: int | None = None,
        order: str | None = None,
        cursor: str | None = None,
        asked_at: Time | None = None,
        budget: int | None = None,
        counter: Callable[[str], int] | None = None,
        context: int | None = None,
        strict: bool = False,
        dates: str | None = None,
        document: str | None = None,
        ranking: str | None = None,
    ) -> Recall:
        """The observations that meet every condition; with a question, those of them that answer it best.

        The filter is exact and holds on everything returned.

        Args:
            query: A question in words, or up to three wordings of it; the mode `recall` takes none.
            mode: `recall`, all that meet the conditions; `cascade`, ranked by a question; `local`, about the entities that it
                names; `global`, a map of the communities; `document`, of one document. When left out, a question decides.
            since: Observed at or after: instant, date, or relative (`7d`, `2w`, `3mo`, `1y`, `12h`, `2 weeks ago`, `now`).
            before: Observed before; the same forms.
            category: Folder with everything below (`work/clients/acme` or `work/clients/acme/**`); `*` is one level. Any of
                several.
            tags: Any of these.
            tags_all: All of these.
            entity_names: Mentions any of these, by name or by another name that it gives; upper and lower case, spaces and Unicode form make no difference.
            entity_types: Mentions an entity of any of these types.
            relationship_type: States a relationship of any of these types.
            min_confidence: 0 to 1.
            kind: Any of these kinds.
            status: Any of these.
            source_kind: Any of these.
            session: Part of any of these sessions.
            speaker: Said by any of these; upper and lower case, spaces and Unicode form make no difference.
            text: Title or content contain it, without regard to case.
            as_of: Valid at that time: begun, not ended, not expired.
            limit: At most so many, 1 to 100000, 50 when left out; ranked 1 to 1000, 10 when left out.
            order: `newest` (default), `oldest`, `recorded` (latest written first), `confidence` (highest first).
            cursor: Continues an earlier answer with the same filter and order.
            asked_at: When the question is asked, for dates such as `last week`; now when left out.
            budget: Tokens that the answer's text has at most.
            counter: Counts them; an estimate when left out.
            context: Turns before and after each hit of a conversation that come along, 0 to 10.
            strict: Be silent too when somebody else than the one asked for said it.
            dates: What the days do that the question names, such as `last week`: `boost` (default) what is from then, `filter`
                out all else, or `off`.
            document: For the mode `document`: an id, a path relative to the root, the text of a source, or a session.
            ranking: What orders hits: `weighted`, `words`, `vectors`, `lexical` or `reciprocal_rank`; the setting `ranking` when
                left out.

        Returns:
            The answer; `abstention` says why when there is nothing.

        Raises:
            InputError: A value cannot be used; `problems` lists every reason.
            IndexUnusableError: A derived file is damaged.
        """
        unsaid = "document" if document is not None else "recall" if query is None else "cascade"
        wanted = unsaid if mode is None else mode
        conditions = {
            "since": since, "before": before, "category": category, "tags": tags, "tags_all": tags_all,
            "entity_names": entity_names, "entity_types": entity_types, "relationship_type": relationship_type,
            "min_confidence": min_confidence, "kind": kind, "status": status, "source_kind": source_kind, "session": session,
            "speaker": speaker, "text": text, "as_of": as_of, "now": datetime.now(UTC), "zone": self._settings.zone,
        }  # fmt: skip
        with self._lock:
            view = self._open()
            if wanted == "recall":
                refuse_ranked(
                    query,
                    asked_at=asked_at,
                    budget=budget,
                    context=context,
                    strict=strict,
                    dates=dates,
                    document=document,
                    ranking=ranking,
                )
                f, page = make_question(limit=limit, order=order, cursor=cursor, **conditions)
                return exact.recall(view, f, page)
            questions, f, wish = make_wish(
                wanted, query, self._settings, limit=limit, order=order, cursor=cursor, asked_at=asked_at, budget=budget,
                counter=counter, context=context, strict=strict, dates=dates, document=document, conditions=conditions,
                ranking=ranking, reranker=self._reranker,
            )  # fmt: skip
            searcher = self._search_state()
            if wanted == "local":
                return local(view, searcher, self._session, questions, f, wish)
            if wanted == "global":
                return communities(view, searcher, questions, f, wish)
            if document is not None:
                return one_document(view, searcher, self._session, document, questions, f, wish)
            return cascade(view, searcher, questions, f, wish)

    def search(self, query: str | Sequence[str], **asked: Any) -> Recall:
        """The observations that answer a question best: `recall` in the mode `cascade`, with the same other arguments."""
        return self.recall(query, mode="cascade", **asked)

    def _search_state(self) -> Searcher:
        if self._searcher is None or self._searcher.view is not self._view:
            if self._beside is not None:
                self._beside.stop()
            self._searcher = Searcher(self._view, self._embedder())
            meaning = self._searcher.meaning
            self._beside = Beside(meaning, self._lock) if meaning is not None else None
        return self._searcher

    def _embed_beside(self, paths: Iterable[str]) -> None:
        """Have files just written embedded, in a process that has the model loaded since it searches."""
        if self._beside is not None:
            self._view.absorb()
            rows = (self._view.delta.rows.get(path) for path in paths)
            self._beside.add([text for row in rows if row is not None for text in embedded_texts(row.observation)])

    def index(self, *, progress: Callable[[str, int, int], None] | None = None) -> Indexed:
        """Bring what ranked recall searches up to date: terms and names of the snapshot, and vectors of every passage.

        Answers are complete without it but for vectors; it makes the first search faster, and makes what was written since
        findable by meaning.

        Args:
            progress: Called with what is being done, how much of it is done, and how much there is.

        Raises:
            MissingDependencyError: The embedder that was chosen is not installed.
        """
        with self._lock:
            view = self._open()
            view.refresh()
            done = update_catalog(view, progress=progress)
            searcher = self._search_state()
            searcher.refresh()
            meaning = searcher.meaning
            texts = texts_without_vector(view, searcher.corpus, meaning) if meaning else []
        n_embedded = embed(meaning, texts, progress=progress, lock=self._lock) if meaning else 0
        return replace(done, n_embedded=n_embedded, model=searcher.gates_name)

    def calibrate(
        self, questions: Questions, *, dry_run: bool = False, progress: Callable[[str, int, int], None] | None = None
    ) -> Calibrated:
        """Fit to labelled questions when ranked recall is silent; counts from then on for this embedder in this store.

        The gates are written to `gates.json` in the store's root. What they do is measured on questions that they were not
        fitted to, beside the same of the gates in force.

        Args:
            questions: A file of JSON lines or such mappings: `question`; `answers`, a list of ids, empty when the store has no
                answer; and optionally `asked_at`. 20 with an answer and 20 without one at least.
            dry_run: Only report.
            progress: Called with what is being done, how much of it is done, and how much there is.

        Raises:
            InputError: The questions cannot be used or are too few, `problems` lists every reason; or vectors are missing.
            NotFoundError: There is no such file.
        """
        with self._lock:
            return calibrate(self._open(), self._search_state(), questions, dry_run=dry_run, progress=progress)

    def fit(
        self,
        questions: Questions,
        *,
        recipe: str | None = None,
        force: bool = False,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Fit:
        """Fit the weights of the ranking to labelled questions, near to those shipped; kept only where that is better.

        The weights are written to `weights.json` in the store's root. Scores change with them, so gates do not count any more
        until `calibrate` makes new ones.

        Args:
            questions: As for `calibrate`; those without an answer teach nothing. 20 others at least.
            recipe: `words`, `vectors` or `lexical`; the one in use when left out.
            force: Keep the weights even if they are no better, unless they are those shipped.
            dry_run: Only report.
            progress: Called with what is being done, how much of it is done, and how much there is.

        Raises:
            InputError: The questions cannot be used or are too few, `problems` lists every reason; or vectors are missing.
            NotFoundError: There is no such file.
            MissingDependencyError: The extra `fit` is not installed.
        """
        with self._lock:
            return refit(
                self._open(), self._search_state(), questions, recipe=recipe, force=force, dry_run=dry_run,
                progress=progress,
            )  # fmt: skip

    def reset_gates(self) -> bool:
        """Remove the store's own gates, so that those shipped count again; returns whether there were any."""
        with self._lock:
            return drop(self._open().layout.gates)

    def reset_weights(self) -> bool:
        """Remove the store's own weights, so that those shipped count again; returns whether there were any."""
        with self._lock:
            return drop(self._open().layout.weights)

    def get(self, id: str) -> Observation:  # noqa: A002  the word of the design
        """One observation, as its file says now.

        Raises:
            NotFoundError: There is none, or it is hidden.
        """
        with self._lock:
            view = self._open()
            row = find.locate(view, _id(id))
            if row.observation.id in view.hidden:
                raise NotFoundError(f"There is no observation {id}.", hint="`grail list` shows what is there.")
            return row.observation

    def ids_ending(self, tail: str) -> list[str]:
        """The ids of the observations whose id ends in these characters, hidden ones included, in order.

        Args:
            tail: One or more characters of an id, such as the six in a file's name.

        Raises:
            InputError: It is empty.
        """
        if not tail.strip():
            raise InputError(
                "The end of an id is empty.", hint="Give at least one character, such as the six in a file's name."
            )
        with self._lock:
            return find.ids_ending(self._open(), tail.strip().upper())

    def list_observations(
        self, *, category: Texts | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Recall:
        """All observations, of a category if one is named, newest first, a page at a time."""
        return self.recall(category=category, limit=limit, cursor=cursor)

    def list_categories(self, *, limit: int = 1000, cursor: str | None = None) -> Listed:
        """Every folder with how many observations are in it and below, in order of path."""
        return self._list(lists.categories, limit, cursor)

    def list_communities(self, *, limit: int = 50, cursor: str | None = None) -> Listed:
        """Every community, largest first, with its entities; a folder is a community with everything below it."""
        return self._list(lists.communities, limit, cursor)

    def list_entities(self, *, limit: int = 50, cursor: str | None = None) -> Listed:
        """Every entity, most mentioned first."""
        return self._list(lists.entities, limit, cursor)

    def list_tags(self, *, limit: int = 50, cursor: str | None = None) -> Listed:
        """Every tag, most used first."""
        return self._list(lists.tags, limit, cursor)

    def _list(self, lister: Callable[..., Listed], limit: int, cursor: str | None) -> Listed:
        with self._lock:
            return self._asked(lambda session: lister(session, limit=limit, cursor=cursor))

    def sql(self, text: str, params: Sequence[Any] | Mapping[str, Any] | None = None) -> pa.Table:
        """The answer to one SELECT over the views observations, entities, mentions, relationships, tags, communities.

        Args:
            text: One statement that reads; it cannot write, attach, read files or load anything.
            params: Values for `?` or `$name`.

        Raises:
            InputError: The text is not one reading statement, or is not accepted.
        """
        with self._lock:
            return self._asked(lambda session: session.ask(text, params))

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

    def graph(self) -> nx.MultiDiGraph:
        """Entities and the relationships between them, as a networkx graph.

        Returns:
            Nodes are normalised names with `name`, `types` and `n_observations`; edges go from source to target with
            `relationship_type`, `observation_id`, `weight` (1 when the file says none) and `confidence`.
        """
        with self._lock:
            return self._asked(lists.graph)

    # -- consolidate -------------------------------------------------------------------------------------------------

    def consolidate(
        self,
        *,
        kinds: Collection[str] | None = None,
        min_confidence: float = LEAST_CONFIDENCE,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> ProposalSet:
        """Look through everything and propose what is worth merging, moving or settling; no observation changes.

        Args:
            kinds: What to look for, such as `merge_aliases`; everything when left out.
            min_confidence: The least that a proposal must be sure of, 0 to 1.
            dry_run: Write no set of proposals.
            progress: Called with what is being looked for, how much of it is done, and how much there is.

        Returns:
            Everything that waits for a decision; `new` holds the ids of what this run added.

        Raises:
            InputError: A kind is not known.
        """
        with self._lock:
            self._open()
        return consolidate(
            self._layout, self._settings, kinds=kinds, min_confidence=min_confidence, dry_run=dry_run, progress=progress
        )

    def proposals(
        self, *, status: Texts | None = None, kind: Texts | None = None, min_confidence: float | None = None
    ) -> tuple[Proposal, ...]:
        """Proposals, by kind and the surest first.

        Args:
            status: `pending` when left out; `stale`, `applied`, `rejected`, `undone`, several, or `all`.
            kind: Of this kind, or one of several.
            min_confidence: At least so sure, 0 to 1.

        Raises:
            InputError: A status or kind is not known.
        """
        with self._lock:
            return proposals(self._open(), status=status, kind=kind, min_confidence=min_confidence)

    def apply(
        self,
        ids: str | Collection[str],
        *,
        dry_run: bool = False,
        reason: str = "",
        actor: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[Outcome]:
        """Do what proposals suggest; each is done wholly or not at all, and `undo` takes it back.

        Args:
            ids: One proposal, or several in the order in which they are applied.
            dry_run: Only say what would happen to each file.
            reason: Why, for the ledger.
            actor: Who decides, for the ledger.
            progress: Called with how many are done.

        Returns:
            One outcome an id: `done`, and where it was not, the `reasons`, such as what changed since it was made.

        Raises:
            NotFoundError: There is no such proposal; nothing was applied.
            StoreError: The disk did not take one; those before it are applied.
        """
        with self._lock:
            return decide.apply(
                self._open(), ids, dry_run=dry_run, actor=actor or self._actor, reason=reason, progress=progress
            )

    def reject(self, ids: str | Collection[str], *, reason: str = "", actor: str | None = None) -> list[Outcome]:
        """Say that proposals are wrong; they do not come back on the same grounds, and no file changes.

        Args:
            ids: One proposal, or several.
            reason: Why, for the ledger.
            actor: Who decides, for the ledger.

        Raises:
            NotFoundError: There is no such proposal; nothing was rejected.
        """
        with self._lock:
            return decide.reject(self._open(), ids, actor=actor or self._actor, reason=reason)

    def undo(
        self,
        ids: str | Collection[str],
        *,
        dry_run: bool = False,
        reason: str = "",
        actor: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[Outcome]:
        """Take decisions back: files get the bytes they had, or the fields where they changed since.

        Args:
            ids: One proposal, or several.
            dry_run: Only say what would happen to each file.
            reason: Why, for the ledger.
            actor: Who decides, for the ledger.
            progress: Called with how many are done.

        Returns:
            One outcome an id; `reasons` says what changed since and stays.

        Raises:
            NotFoundError: There is no such proposal; nothing was undone.
        """
        with self._lock:
            return decide.undo(
                self._open(), ids, dry_run=dry_run, actor=actor or self._actor, reason=reason, progress=progress
            )

    # -- keep in order -----------------------------------------------------------------------------------------------

    def init(self, *, notes: str | None = None) -> list[str]:
        """Make the folder a store; files that are there already become observations without a byte being changed.

        Args:
            notes: Folder of the observation files, `.` for the store's own; None takes `memories`, or `.` when notes lie
                in the folder already but not under `memories/`.

        Returns:
            Paths that were made, relative to the root.

        Raises:
            InputError: The folder cannot be used, or is a store with another one.
        """
        with self._lock:
            self._open()
            made = make_store(self._layout, notes=notes)
            settle(self._view)
            self._layout, self._settings = _opened(self._layout.root)
            self._view.close()
            self._view = View(self._layout, self._settings)
            return made

    def sync(
        self, *, stamp: bool | None = None, dry_run: bool = False, progress: Callable[[int], None] | None = None
    ) -> Synced:
        """Look at every file and record what people, git and other tools did.

        Args:
            stamp: Write id and times into files without an id; None does as the setting `stamp` says.
            dry_run: Only report.
            progress: Called with the number of files looked at so far.
        """
        with self._lock:
            done = sync(self._open(), actor=self._actor, stamp=stamp, dry_run=dry_run, progress=progress)
        self._compact_if_due()
        return done

    def compact(self) -> Compacted:
        """Take everything that changed since the snapshot into a new one, after a sync that changes no file."""
        with self._lock:
            sync(self._open(), actor=self._actor, stamp=False)
            return compaction.compact(self._view)

    def rebuild(self, *, progress: Callable[[int], None] | None = None) -> Compacted:
        """Make everything derived anew from files and ledger; every answer is as before.

        Args:
            progress: Called with the number of files read so far.
        """
        with self._lock:
            self._open()
            view = View(self._layout, self._settings, from_files=True)
            with closing(view), compaction.collection_paused():
                sync(view, actor=self._actor, stamp=False, progress=progress)
                done = compaction.rebuild(view)
            settle(self._view)
            self._view.close()
            self._view = View(self._layout, self._settings)
            if has_catalog(self._layout):
                self._view.absorb()
                remake_catalog(self._view)
            return done

    def check(self, *, progress: Callable[[int], None] | None = None) -> Checked:
        """Everything wrong with files, ledger and snapshot, each with place and remedy; changes nothing.

        Args:
            progress: Called with the number of files looked at so far.
        """
        with self._lock:
            return check(self._open(), progress=progress)

    def _compact_if_due(self) -> None:
        """Start a compaction beside the caller's work when so much changed that reading it costs more."""
        with self._lock:
            under_way = self._compacting is not None and self._compacting.is_alive()
            if under_way or not compaction.is_due(self._view):
                return
            self._compacting = threading.Thread(target=self._compact_beside, name="grail-compaction")
            self._compacting.start()

    def _compact_beside(self) -> None:
        view = View(self._layout, self._settings)
        try:
            sync(view, actor=self._actor, stamp=False)
            if compaction.compact_if_free(view) is not None and has_catalog(self._layout):
                view.absorb()
                update_catalog(view)
        except (GrailError, OSError):
            _LOG.warning("A compaction beside a write did not finish; it is tried again later.", exc_info=True)
        finally:
            view.close()


def _opened(root: Path) -> tuple[Layout, Settings]:
    """Where a store is, and its settings."""
    settings = read_settings(Layout(root).settings)
    return Layout(root, "" if settings.notes == "." else settings.notes), settings


def _id(text: str) -> str:
    """An id as callers may write it, or a refusal that says what an id is."""
    if isinstance(text, str) and is_id(text.strip().upper()):
        return text.strip().upper()
    raise NotFoundError(f"There is no observation {text!r}.", hint="An id has 26 characters; `grail list` shows them.")


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
