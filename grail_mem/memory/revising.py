"""The verbs of Memory by which people judge and keep what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from grail_mem.memory.opened import Opened, as_id
from grail_mem.model.filter import Time

if TYPE_CHECKING:
    from grail_mem.query.due import Due
    from grail_mem.query.history import History
    from grail_mem.write.change import Changed
    from grail_mem.write.revise import Revised


class Revising(Opened):
    """Revising observations with a reason, their history, and what is due."""

    def revise(
        self,
        id: str,  # noqa: A002  the word of the design
        *,
        action: str,
        reason: str,
        content: str | None = None,
        title: str | None = None,
        evidence: str | Sequence[Any] | Mapping[str, Any] | None = None,
        at: Time | None = None,
        session: str | None = None,
        source_kind: str | None = None,
        actor: str | None = None,
    ) -> Revised:
        """Judge an observation, with a reason; what it said before stays as history.

        Args:
            id: The observation.
            action: `confirm`, it is so; `correct`, it never was so, this is (with content); `supersede`, it was so until `at`, then
                this (with content); `expire`, it is so no longer since `at`; `dispute`, somebody says that it is not so, and
                perhaps what is (content).
            reason: Why, in words, for the ledger.
            content: What is said instead; it becomes an observation of its own.
            title: Its title; the content's first line when left out.
            evidence: Quotes that speak for it: texts, or mappings with `quote` and, optionally,
                `source`. A quote from a source of the store must stand in it; a session's without a source, in its conversation.
            at: When it changed or ceased to hold; now when left out.
            session: The conversation in which quotes that name no source are looked up; they stay as they are when left out.
            source_kind: As whose word it counts, such as `agent_inference`, unless a quote from the session says it: that takes
                nothing from a word of more authority, and makes no conclusion surer. As the old one when left out.
            actor: Who does it, for the ledger.

        Raises:
            NotFoundError: There is no such observation.
            InputError: A value cannot be used; `problems` lists every reason.
            EvidenceNotFoundError: A quote does not stand in the session.
            ConflictError: It is superseded already, or outweighs the source_kind.
            UnsupportedEvidenceError: The quotes do not say what content says, and source_kind is given; or a session confirms, or replaces
                another one's word, without a quote that says so.
        """
        from grail_mem.write import revise

        self._before_quoting()
        with self._lock:
            view = self._open()
            wanted = revise.read_revision(
                view, action=action, reason=reason, content=content, title=title, evidence=evidence, at=at,
                session=session, source_kind=source_kind, talk=self._talk(None),
            )  # fmt: skip
            done = revise.revise(view, as_id(id), wanted, actor=self._acting(actor))
        self._compact_if_due()
        return done

    def history(self, id: str) -> History:  # noqa: A002  as above
        """All revisions of an observation, before and after it, and who did what to them, when and why.

        Raises:
            NotFoundError: There is no such observation, or it is hidden.
        """
        from grail_mem.query import history

        with self._lock:
            view = self._open()
            return self._asked(lambda session: history.history(view, session, as_id(id)))

    def due(self, *, within: str = "7d") -> list[Due]:
        """What somebody should look at: reviews that are due, what ends soon, tasks whose time comes, undecided facts; each once.

        Transcripts whose term ends come last: the setting `retention_days` gives them one.

        Args:
            within: How far ahead ends and beginnings are looked for, such as `7d` or `2w`.

        Raises:
            InputError: The span cannot be read.
        """
        from grail_mem.query import due
        from grail_mem.write.retention import due_transcripts
        from grail_mem.write.undecided import with_undecided

        now = datetime.now(UTC)
        ahead = due.span_ahead(within, now)
        with self._lock:
            view = self._open()
            found = self._asked(lambda session: due.due(view, session, now=now, within=ahead))
            found = with_undecided(view, found)
            return found + (due_transcripts(view, now=now, within=ahead) if self._settings.retention_days else [])

    def pin(self, id: str, *, reason: str = "", actor: str | None = None) -> Changed:  # noqa: A002  as above
        """Keep age from taking anything from an observation in a ranking.

        Raises:
            NotFoundError: There is no such observation.
        """
        from grail_mem.write import keep

        with self._lock:
            return keep.pin(self._open(), as_id(id), actor=self._acting(actor), reason=reason)

    def unpin(self, id: str, *, reason: str = "", actor: str | None = None) -> Changed:  # noqa: A002  as above
        """Let a pinned observation age as others do.

        Raises:
            NotFoundError: There is no such observation.
        """
        from grail_mem.write import keep

        with self._lock:
            return keep.unpin(self._open(), as_id(id), actor=self._acting(actor), reason=reason)

    def archive(self, id: str, *, reason: str = "", actor: str | None = None) -> Changed:  # noqa: A002  as above
        """Put an observation away: no answer brings it unless history is asked for.

        Raises:
            NotFoundError: There is no such observation.
            ConflictError: It is superseded.
        """
        from grail_mem.write import keep

        with self._lock:
            return keep.archive(self._open(), as_id(id), actor=self._acting(actor), reason=reason)

    def unarchive(self, id: str, *, reason: str = "", actor: str | None = None) -> Changed:  # noqa: A002  as above
        """Bring an archived observation back, with the status that it had.

        Raises:
            NotFoundError: There is no such observation.
        """
        from grail_mem.write import keep

        with self._lock:
            return keep.unarchive(self._open(), as_id(id), actor=self._acting(actor), reason=reason)
