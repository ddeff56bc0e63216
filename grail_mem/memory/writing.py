"""The verbs of Memory that change observations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grail_mem.memory.opened import Opened, as_id
from grail_mem.model.filter import Texts, Time
from grail_mem.model.problem import Gather

if TYPE_CHECKING:
    from grail_mem.write.change import Changed
    from grail_mem.write.placed_facts import Written
    from grail_mem.write.validate import Draft


class Writing(Opened):
    """Adding, changing, moving, hiding and restoring observations."""

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
        evidence: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None = None,
        again: bool = False,
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
            evidence: What it rests on: a quote from the session, or mappings with `quote`, `source` (as `ingest` printed it)
                or `session`, and `turn`. Each is located in its source; the observation is not stored when one stands nowhere.
            again: Store it also when the same was erased, on purpose.
            actor: Who does it, for the ledger.

        Returns:
            Id, path and warnings; `created` is False when the same observation was there already.

        Raises:
            InputError: One or more values cannot be used; `problems` lists every reason.
            ConflictError: The same was erased, and `again` is not set; nothing was stored.
            StoreError: The disk did not take it; nothing was stored.
        """
        from grail_mem.write.validate import Draft

        draft = Draft(
            content, title, category, tags, entities, relationships, observed_at, confidence, source, related_to, kind,
            attribute, status, valid_from, valid_until, expires_at, review_at, supersedes, scope, session, turn, speaker,
            source_kind, slug, evidence,
        )  # fmt: skip
        return self._add([draft], actor, again=again)[0]

    def add_observations(
        self, drafts: Iterable[Mapping[str, Any]], *, again: bool = False, actor: str | None = None
    ) -> list[Written]:
        """Store many observations at the cost of few; all of them or none.

        Args:
            drafts: Mappings with the arguments of `add_observation`.
            again: Store also what was erased, on purpose.
            actor: Who does it, for the ledger.

        Returns:
            One result a draft, in order.

        Raises:
            InputError: One or more drafts cannot be used; `problems` lists every reason of every draft.
            ConflictError: Some of them were erased, and `again` is not set; nothing was stored.
            StoreError: The disk did not take it; nothing was stored.
        """
        from grail_mem.write.screening import quoting_no_secret
        from grail_mem.write.validate import read_draft

        gather = Gather()
        with quoting_no_secret():
            made = [
                gather.read(f"draft {number}", () if values is None else values, read_draft, None)
                for number, values in enumerate(drafts, start=1)
            ]
            gather.stop("Nothing was stored.")
        return self._add(made, actor, again=again)

    def _add(self, drafts: Sequence[Draft], actor: str | None, *, again: bool) -> list[Written]:
        from grail_mem.write.add import add

        with self._lock:
            results = add(self._open(), drafts, actor=self._acting(actor), again=again)
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
            UnsupportedEvidenceError: A session changes another one's word, or raises its trust, without a quote that says so.
        """
        from grail_mem.write import change

        with self._lock:
            return change.update(
                self._open(), as_id(id), fields, append=append, actor=self._acting(actor), reason=reason
            )

    def move(self, id: str, category: str, *, reason: str = "", actor: str | None = None) -> Changed:  # noqa: A002  as above
        """Put an observation into another category; its id and everything else stay.

        Raises:
            NotFoundError: There is no such observation.
            InputError: The category cannot be used.
            ConflictError: A file of that name is there already.
        """
        from grail_mem.write import change

        with self._lock:
            return change.move(self._open(), as_id(id), category, actor=self._acting(actor), reason=reason)

    def hide(self, id: str, *, reason: str = "", actor: str | None = None) -> Changed:  # noqa: A002  as above
        """Take an observation out of every answer; the file stays, and `restore` brings it back.

        Raises:
            NotFoundError: There is no such observation.
        """
        from grail_mem.write import change

        with self._lock:
            return change.hide(self._open(), as_id(id), actor=self._acting(actor), reason=reason)

    def restore(self, id: str, *, reason: str = "", actor: str | None = None) -> Changed:  # noqa: A002  as above
        """Bring a hidden observation back into the answers.

        Raises:
            NotFoundError: There is no such observation.
        """
        from grail_mem.write import change

        with self._lock:
            return change.restore(self._open(), as_id(id), actor=self._acting(actor), reason=reason)
