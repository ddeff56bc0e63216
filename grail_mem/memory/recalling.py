"""The verbs of Memory that answer questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from grail_mem.memory.opened import Opened
from grail_mem.model.filter import Filter, Texts, Time, make_question

if TYPE_CHECKING:
    from grail_mem.recall.result import Recall
    from grail_mem.recall.wish import Wish


class Recalling(Opened):
    """Recall, search and lists of observations."""

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
        scope: Texts | None = None,
        attribute: Texts | None = None,
        text: str | None = None,
        as_of: Time | None = None,
        believed_at: Time | None = None,
        include_history: bool = False,
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
        progress: Callable[[str, int, int | None], None] | None = None,
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
            scope: Belongs to any of these, such as `project:grail`.
            text: Title or content contain it, without regard to case.
            attribute: States any of these facts, such as `acme/primary-database`.
            as_of: Valid at that time, as is known now: begun, not over, not yet superseded.
            believed_at: Recorded by that time, and valid at `as_of` (or then) as was known then.
            include_history: Also what is superseded, archived, over or not yet begun, which is left out unless `status`, `as_of`
                or `believed_at` asks for it.
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
            progress: Called with what is being done, how much of it is done, and how much there is, while files are read that
                no snapshot and no index holds.

        Returns:
            The answer; `abstention` says why when there is nothing.

        Raises:
            InputError: A value cannot be used; `problems` lists every reason.
            IndexUnusableError: A derived file is damaged.
        """
        from grail_mem.recall import exact
        from grail_mem.recall.wish import make_wish, refuse_ranked

        unsaid = "document" if document is not None else "recall" if query is None else "cascade"
        wanted = unsaid if mode is None else mode
        conditions = {
            "since": since, "before": before, "category": category, "tags": tags, "tags_all": tags_all,
            "entity_names": entity_names, "entity_types": entity_types, "relationship_type": relationship_type,
            "min_confidence": min_confidence, "kind": kind, "status": status, "source_kind": source_kind, "session": session,
            "speaker": speaker, "scope": scope, "attribute": attribute, "text": text, "as_of": as_of,
            "believed_at": believed_at, "include_history": include_history,
            "default_scope": self._settings.default_scope, "now": datetime.now(UTC), "zone": self._settings.zone,
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
                return exact.refused(view, f) or exact.recall(view, f, page)
            questions, f, wish = make_wish(
                wanted, query, self._settings, limit=limit, order=order, cursor=cursor, asked_at=asked_at, budget=budget,
                counter=counter, context=context, strict=strict, dates=dates, document=document, conditions=conditions,
                ranking=ranking, reranker=self._reranker,
            )  # fmt: skip
            if (no := exact.refused(view, f)) is not None:
                return no
            if progress is not None:
                view.absorb(progress=lambda n: progress("reading files", n, None))
                view.refresh()
                self._search_state().refresh(progress=progress)
            found = self._ranked(wanted, document, questions, f, wish)
            self._note_recalled(o.id for o in found.observations)
            return found

    def _ranked(self, wanted: str, document: str | None, questions: Sequence[str], f: Filter, wish: Wish) -> Recall:
        """The answer to a question in words, in the mode asked for."""
        from grail_mem.recall.cascade import cascade
        from grail_mem.recall.communities import communities
        from grail_mem.recall.document import document as one_document
        from grail_mem.recall.local import local

        view, searcher = self._view, self._search_state()
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

    def list_observations(
        self,
        *,
        category: Texts | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        include_history: bool = False,
    ) -> Recall:
        """All observations, of a category if one is named, newest first, a page at a time; those that are no longer current on demand."""
        return self.recall(category=category, limit=limit, cursor=cursor, include_history=include_history)
