"""The verbs of Memory about candidates: what is suggested and counts for nothing until somebody approves it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from grail_mem.errors import InputError
from grail_mem.memory.opened import Opened
from grail_mem.model.filter import Texts
from grail_mem.query.view import View

if TYPE_CHECKING:
    from grail_mem.write.approve import Decided
    from grail_mem.write.candidates import Candidate
    from grail_mem.write.extractor import Extractor
    from grail_mem.write.finishing import Finished
    from grail_mem.write.reviewer import Reviewer
    from grail_mem.write.submit import Submitted


class Suggesting(Opened):
    """Submitting candidates, listing them, and deciding on them."""

    @contextmanager
    def _using(self) -> Iterator[View]:
        with self._lock:
            yield self._open()

    def submit(
        self,
        drafts: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        origin: str = "agent",
        actor: str | None = None,
    ) -> list[Submitted]:
        """Suggest observations; none of them is in any answer until it is approved.

        Args:
            drafts: One mapping with the arguments of `add_observation` and, optionally, `evidence`, or several.
            origin: `user`, `agent`, `tool`, `media`, `import` or `extraction`.
            actor: Who suggests them, for the ledger.

        Returns:
            One result a draft; `created` is False when the same was submitted before.

        Raises:
            InputError: One or more cannot be used; `problems` lists every reason, and none was stored.
        """
        from grail_mem.write.submit import submit

        listed = [drafts] if isinstance(drafts, Mapping) else list(drafts)
        with self._lock:
            return submit(self._open(), listed, origin=origin, actor=self._acting(actor))

    def extract(
        self,
        session: str | None = None,
        *,
        scope: str | None = None,
        extractor: Extractor | Sequence[Extractor] | None = None,
        reviewer: Reviewer | Sequence[Reviewer] | None = None,
        actor: str | None = None,
    ) -> Finished:
        """Submit what the turns of a conversation say as candidates, which count once they are approved.

        Preferences, decisions, commitments, facts and corrections are looked for in what users said.

        Args:
            session: The conversation; of an opened session its own when left out.
            scope: Whose it is, and whose the candidates are; a session's own or the store's default when left out.
            extractor: Who looks, one or several; None for the rules of this package, which ask no model.
            reviewer: Who may drop what was found or be less sure of it, one or several; None for nobody.
            actor: Who does it, for the ledger.

        Returns:
            One result a candidate, as a sequence, all or none of them stored; `warnings` says what was left out and why.

        Raises:
            ServiceError: An extractor or a reviewer failed, or its answer cannot be used; nothing was submitted.
            InputError: No conversation is named, or what was given is no extractor or no reviewer.
            AccessError: The caller may not propose there.
        """
        from grail_mem.write.extractor import chosen_extractors
        from grail_mem.write.finishing import finish
        from grail_mem.write.reviewer import chosen_reviewers

        if (talk := self._talk(session)) is None:
            raise InputError("extract needs the name of a conversation.", hint="`list_sources` shows their names.")
        extractors, reviewers = chosen_extractors(extractor), chosen_reviewers(reviewer)
        return finish(
            self._using, talk, scope=scope, extractors=extractors, reviewers=reviewers, actor=self._acting(actor)
        )

    def candidates(self, *, status: Texts | None = None, origin: Texts | None = None) -> tuple[Candidate, ...]:
        """Candidates in the order in which they were submitted.

        Args:
            status: `pending` when left out; `approved`, `declined`, several, or `all`.
            origin: From this origin, or one of several.

        Raises:
            InputError: A status or origin is not known.
        """
        from grail_mem.write.candidates import candidates

        with self._lock:
            return candidates(self._open(), status=_listed(status), origin=_listed(origin))

    def approve(
        self,
        ids: str | Collection[str],
        *,
        dry_run: bool = False,
        reason: str = "",
        actor: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[Decided]:
        """Make candidates observations; their evidence is located and checked again.

        Args:
            ids: One candidate, or several.
            dry_run: Only say what would happen.
            reason: Why, for the ledger.
            actor: Who decides, for the ledger.
            progress: Called with how many are done.

        Returns:
            One outcome an id: `done` and the `observation`, or the `reasons` why not.

        Raises:
            NotFoundError: There is no such candidate; none was approved.
        """
        from grail_mem.write.approve import approve

        with self._lock:
            done = approve(
                self._open(), ids, dry_run=dry_run, actor=self._acting(actor), reason=reason, progress=progress
            )
        self._compact_if_due()
        return done

    def decline(
        self, ids: str | Collection[str], *, dry_run: bool = False, reason: str = "", actor: str | None = None
    ) -> list[Decided]:
        """Say that candidates are not wanted; the same is not submitted again.

        Args:
            ids: One candidate, or several.
            dry_run: Only say what would happen.
            reason: Why, for the ledger.
            actor: Who decides, for the ledger.

        Raises:
            NotFoundError: There is no such candidate; none was declined.
        """
        from grail_mem.write.approve import decline

        with self._lock:
            return decline(self._open(), ids, dry_run=dry_run, actor=self._acting(actor), reason=reason)


def _listed(said: Texts | None) -> tuple[str, ...]:
    return () if said is None else (said,) if isinstance(said, str) else tuple(said)
