"""The verbs of Memory that forget: erasing for good, and hiding much at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from grail_mem.memory.opened import Opened

if TYPE_CHECKING:
    from grail_mem.write.change import Changed
    from grail_mem.write.erase import Erased


class Forgetting(Opened):
    """Erasing and hiding what is meant by whole ids, or by where it comes from."""

    def erase(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        source: str | None = None,
        session: str | None = None,
        speaker: str | None = None,
        user: str | None = None,
        scope: str | None = None,
        reason: str,
        with_sources: bool = False,
        dry_run: bool = False,
        actor: str | None = None,
    ) -> Erased:
        """Erase observations for good: no file under the root holds their text when this returns, and it stays away.

        At least one of the ways to say which; of several, all must hold. Hidden observations are erased, too. So are turns of
        transcripts and documents that the conditions mean, observations that rest on these alone, and turns in which quotes
        of erased observations stand, when nobody else rests on them.

        Args:
            ids: Whole ids.
            source: Everything with this source, its own or that of some evidence; of a place under `sources/`, that file or turn.
            session: Everything of this session, its transcript with it.
            speaker: Everything that this one said, in transcripts, too.
            user: Everything in the scopes `user:ID` and `agent:…/ID` of this person, sources with it.
            scope: Everything in this scope, sources with it.
            reason: Why; it goes to the ledger, unless it holds a word of what is erased.
            with_sources: Take turns and documents in which quotes of erased observations stand though others rest on them. Those
                lose that quote, and go when they have no other.
            dry_run: Only say what would go.
            actor: Who does it, for the ledger.

        Returns:
            What went, and what is known of places beyond the store's files.

        Raises:
            NotFoundError: An id is none or not there, or nothing is as asked for; nothing was erased.
            InputError: Nothing was asked for; `problems` lists every reason.
            AccessError: The caller may not forget one of them; nothing was erased.
            StoreError: It is gone from every answer, but the disk did not let every trace be removed; the next writer goes on.
        """
        from grail_mem.write.erase import erase
        from grail_mem.write.selection import make_selection

        if not dry_run and self._beside is not None:
            self._beside.close()  # what it has in hand may be what goes
            self._beside = self._searcher = None
        with self._lock:
            view = self._open()
            selection = make_selection(
                view, ids, source=source, session=session, speaker=speaker, user=user, scope=scope
            )
            return erase(
                view, selection, reason=reason, actor=self._acting(actor), with_sources=with_sources, dry_run=dry_run
            )

    def hide_selected(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        source: str | None = None,
        session: str | None = None,
        speaker: str | None = None,
        user: str | None = None,
        scope: str | None = None,
        reason: str = "",
        dry_run: bool = False,
        actor: str | None = None,
    ) -> list[Changed]:
        """Take everything of one source, session, speaker, person or scope out of every answer; `restore` brings each back.

        Args:
            ids: Whole ids.
            source: Everything with this source, its own or that of some evidence.
            session: Everything of this session.
            speaker: Everything that this one said.
            user: Everything in the scopes `user:ID` and `agent:…/ID` of this person.
            scope: Everything in this scope.
            reason: Why, for the ledger.
            dry_run: Only say what would be hidden.
            actor: Who does it, for the ledger.

        Returns:
            One result an observation; `changed` is False for those that were hidden already.

        Raises:
            NotFoundError: An id is none or not there, or nothing is as asked for; nothing was hidden.
            InputError: Nothing was asked for; `problems` lists every reason.
            AccessError: The caller may not forget one of them; nothing was hidden.
        """
        from grail_mem.write.erase import hide_selected
        from grail_mem.write.selection import make_selection

        with self._lock:
            view = self._open()
            selection = make_selection(
                view, ids, source=source, session=session, speaker=speaker, user=user, scope=scope
            )
            return hide_selected(view, selection, reason=reason, actor=self._acting(actor), dry_run=dry_run)
