"""The verbs of Memory by which what is old gets less: transcripts past their term, and observations that nobody recalls."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from grail_mem.memory.opened import Opened

if TYPE_CHECKING:  # of no use to most who open a store; the verbs load it when they are called
    from grail_mem.write.fade import Faded
    from grail_mem.write.retention import Retained


class Ageing(Opened):
    """The term of transcripts, and the fading of observations."""

    def retain(
        self,
        *,
        days: int | None = None,
        keep_out: bool = False,
        reason: str = "",
        dry_run: bool = False,
        actor: str | None = None,
    ) -> Retained:
        """Take the turns that no evidence needs out of transcripts whose term has ended; those that are quoted stay.

        What goes is gone from every file under the root, as with `erase`. The evidence of observations stays whole, hidden
        and archived ones and waiting candidates included.

        Args:
            days: The term, counted from the last turn of a transcript; the setting `retention_days` when left out.
            keep_out: Refuse the same turns when somebody ingests or imports them again.
            reason: Why, for the ledger; the term when left out.
            dry_run: Only say what would go.
            actor: Who does it, for the ledger.

        Returns:
            The transcripts whose term has ended, with what quotes them, and what went of them.

        Raises:
            InputError: No term is set, or it is no number of days; nothing was changed.
            StoreError: It is gone, but the disk did not let every trace be removed; the next writer goes on.
        """
        from grail_mem.write.retention import retain

        with self._lock:
            return retain(
                self._open(), days=days, now=datetime.now(UTC), reason=reason, actor=self._acting(actor),
                keep_out=keep_out, dry_run=dry_run,
            )  # fmt: skip

    def fade(
        self, *, below: float | None = None, apply: bool = False, reason: str = "", actor: str | None = None
    ) -> Faded:
        """List observations that nobody recalled for long, weakest first; archive them only when asked to apply.

        What is pinned, has a review, task or end ahead, is a confirmed statement of a user, or is named by another current
        observation never fades. `unarchive` brings back what was archived. No answer depends on strength.

        Args:
            below: The strength below which one is weak, above 0 and up to 1; the setting `fade_below` when left out.
            apply: Archive what is weak, all of it or nothing.
            reason: Why, for the ledger.
            actor: Who does it, for the ledger.

        Raises:
            InputError: The setting `access_log` is off, or the bound cannot be used; nothing was changed.
        """
        from grail_mem.write.fade import fade

        with self._lock:
            return fade(
                self._open(), below=below, now=datetime.now(UTC), apply=apply, reason=reason, actor=self._acting(actor)
            )
