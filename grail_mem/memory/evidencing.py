"""The verbs of Memory about sources and evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grail_mem.errors import NotFoundError
from grail_mem.memory.opened import Opened, as_id
from grail_mem.model.filter import Time

if TYPE_CHECKING:
    from grail_mem.recall.cite import Cited
    from grail_mem.write.ingest import Ingested
    from grail_mem.write.observe import Observed
    from grail_mem.write.remember import Remembered
    from grail_mem.write.verify import Verified


class Evidencing(Opened):
    """Ingesting sources, remembering claims with quotes, and looking quotes up again."""

    def ingest_chat(
        self,
        turns: Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        scope: str | None = None,
        again: bool = False,
        actor: str | None = None,
    ) -> Ingested:
        """Put turns behind those of a conversation's transcript; what is there already is passed over.

        Args:
            turns: Mappings with `role` (`user`, `assistant`, `system`, `tool`) and `text` and, optionally, `speaker`, `at` (a
                time), `id`, `partial` (not final yet: kept apart until the turn comes without it) and `correction` (takes the
                place of the turn with that id; the former words stay in the file).
            session: The conversation; of an opened session its own when left out.
            scope: Whose it is; the store's default when left out.
            again: Let in turns that were erased; they are left out with a warning otherwise.
            actor: Who does it, for the ledger.

        Returns:
            Where they are, how many are there and how many are new; `warnings` lists every turn that was left out, with why.

        Raises:
            InputError: Session, scope or the list itself cannot be used; `problems` lists every reason.
            StoreError: The disk did not take it; nothing was stored.
        """
        from grail_mem.write import ingest

        with self._lock:
            return ingest.ingest_chat(
                self._open(),
                turns,
                session=self._talk(session),
                scope=scope,
                again=again,
                actor=self._acting(actor),
            )

    def observe(
        self,
        session: str | None = None,
        *,
        category: str | None = None,
        scope: str | None = None,
        actor: str | None = None,
    ) -> Observed:
        """Make every turn of a conversation an observation of its own, so that `recall` and `search` find what was said.

        Turns of users and assistants count; each observation quotes its turn, is no surer than its speaker allows, and is made
        once. A turn that was corrected since replaces the observation of its former words.

        Args:
            session: The conversation; of an opened session its own when left out.
            category: Folder path such as `chats/standup`; `chats/` and the name of the transcript when left out.
            scope: Whose the conversation is, and whose the observations are; the store's default when left out.
            actor: Who does it, for the ledger.

        Returns:
            What was written, how many turns there are and how many were known; `warnings` lists what was left out.

        Raises:
            InputError: A value cannot be used; `problems` lists every reason.
            AccessError: The caller may not write there.
            StoreError: The disk did not take it; nothing was stored.
        """
        from grail_mem.write.observe import observe

        with self._lock:
            done = observe(self._open(), self._talk(session), scope=scope, category=category, actor=self._acting(actor))
            self._embed_beside(one.path for one in done.written if one.created)
        self._compact_if_due()
        return done

    def ingest_text(
        self,
        text: str,
        *,
        title: str | None = None,
        source: str | None = None,
        observed_at: Time | None = None,
        scope: str | None = None,
        again: bool = False,
        actor: str | None = None,
    ) -> Ingested:
        """Keep a text as a document that can be quoted; the same text is kept once.

        Args:
            text: What it says.
            title: What it is called.
            source: Where it is from, in words.
            observed_at: When it was seen; now when left out.
            scope: Whose it is; the store's default when left out.
            again: Keep it though it was erased.
            actor: Who does it, for the ledger.

        Raises:
            InputError: A value cannot be used; `problems` lists every reason.
            ConflictError: It was erased, and is not told again on purpose.
            StoreError: The disk did not take it; nothing was stored.
        """
        from grail_mem.write import ingest_documents

        with self._lock:
            return ingest_documents.ingest_text(
                self._open(), text, title=title, source=source, observed_at=observed_at, scope=scope, again=again,
                actor=self._acting(actor),
            )  # fmt: skip

    def remember(
        self,
        claim: str,
        *,
        evidence: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
        attribute: str | None = None,
        source: str | None = None,
        session: str | None = None,
        role: str = "user",
        allow_inference: bool = False,
        scope: str | None = None,
        actor: str | None = None,
        **fields: Any,
    ) -> Remembered:
        """Store a claim with the words that it rests on; a claim that they do not support is not stored.

        The quote is located in its source and hashed, and who spoke decides how sure the claim can be.

        Args:
            claim: One statement.
            evidence: The quote: 15 characters or 3 words at least, from one turn or document; or a mapping with `quote`, `source`
                or `session`, and `turn`; or a list of both.
            attribute: The current fact it states, such as `acme/primary-database`.
            source: The source that it stands in, as `ingest` printed it; the session when left out.
            session: The conversation. When no turn of it was ingested, the quote is recorded as one, together with the claim.
            role: Who says a quote that is recorded so: `user`, `assistant`, `system`, `tool`.
            allow_inference: Keep a claim that the quote does not support as a provisional conclusion that ends after 30 days.
            scope: Whose memory it is; the store's default when left out.
            actor: Who does it, for the ledger.
            **fields: Further fields by the names of `add_observation`, without `content`, `evidence`, `turn`.

        Raises:
            InputError: A value cannot be used; `problems` lists every reason.
            EvidenceNotFoundError: The quote does not stand there; the message names the closest turn.
            UnsupportedEvidenceError: It stands there and does not support the claim.
            StoreError: The disk did not take it; nothing was stored.
        """
        from grail_mem.write.remember import remember

        self._before_quoting()
        with self._lock:
            done = remember(
                self._open(), claim, evidence=evidence, attribute=attribute, source=source, session=self._talk(session), role=role,
                allow_inference=allow_inference, scope=scope, fields=fields, actor=self._acting(actor),
            )  # fmt: skip
            self._embed_beside([done.path] if done.created else [])
        self._compact_if_due()
        return done

    def verify(self, *, dry_run: bool = False, actor: str | None = None) -> Verified:
        """Look up every quote again; observations whose evidence is gone are out of answers until it is there again.

        Args:
            dry_run: Only report.
            actor: Who does it, for the ledger.

        Raises:
            StoreError: The disk did not take what was found; nothing was changed.
        """
        from grail_mem.query.proof import claimed
        from grail_mem.write.verify import verify

        with self._lock:
            found = self._asked(lambda session: list(claimed(session)))
            return verify(self._open(), found, actor=self._acting(actor), dry_run=dry_run)

    def cite(self, id: str) -> Cited:  # noqa: A002  the word of the design
        """The quotes of an observation in the words around them, each with where it stands and whether it still does.

        Raises:
            NotFoundError: There is no such observation, or it is hidden.
        """
        from grail_mem.query.find import locate
        from grail_mem.recall.cite import cite

        with self._lock:
            view = self._open()
            found = locate(view, as_id(id)).observation
            if found.id in view.hidden or not view.access.may("read", found.scope):
                raise NotFoundError(f"There is no observation {id}.", hint="`grail list` shows what is there.")
            return cite(view, found)


class Documents(Opened):
    """Ingesting files of this machine; a session has no such verb, since a path is chosen by whoever calls it."""

    def ingest_document(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        media_type: str | None = None,
        scope: str | None = None,
        again: bool = False,
        actor: str | None = None,
    ) -> Ingested:
        """Keep a file as a document, by the digest of its bytes; UTF-8 text can be quoted.

        Args:
            path: The file, of 64 MiB at most.
            title: What it is called; its file's name when left out.
            media_type: What it is, such as `text/plain`; guessed from the name when left out.
            scope: Whose it is; the store's default when left out.
            again: Keep it though it was erased.
            actor: Who does it, for the ledger.

        Raises:
            InputError: A value cannot be used; `problems` lists every reason.
            NotFoundError: There is no such file.
            ConflictError: It was erased, and is not told again on purpose.
            StoreError: It cannot be read, or the disk did not take it; nothing was stored.
        """
        from grail_mem.write import ingest_documents

        with self._lock:
            return ingest_documents.ingest_document(
                self._open(),
                path,
                title=title,
                media_type=media_type,
                scope=scope,
                again=again,
                actor=self._acting(actor),
            )
