"""The verbs of Memory that propose and decide."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from grail_mem.consolidate.finding import LEAST_CONFIDENCE
from grail_mem.memory.opened import Opened
from grail_mem.model.filter import Texts

if TYPE_CHECKING:  # half as much again as all else that a recall loads; the verbs load it when they are called
    from grail_mem.consolidate.outcome import Outcome
    from grail_mem.consolidate.proposal import Proposal
    from grail_mem.consolidate.propose import ProposalSet


class Consolidating(Opened):
    """Proposals: finding, listing, applying, rejecting and undoing them."""

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
            MissingDependencyError: The model of entailment that was chosen needs a package that is not installed.
        """
        from grail_mem.consolidate.propose import consolidate

        with self._lock:
            self._open()
        return consolidate(
            self._layout, self._settings, kinds=kinds, min_confidence=min_confidence, dry_run=dry_run, progress=progress,
            principal=self._principal, entailment=self._entailment,
        )  # fmt: skip

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
        from grail_mem.consolidate.listing import proposals

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
        from grail_mem.consolidate.decide import apply

        with self._lock:
            return apply(
                self._open(), ids, dry_run=dry_run, actor=self._acting(actor), reason=reason, progress=progress
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
        from grail_mem.consolidate.decide import reject

        with self._lock:
            return reject(self._open(), ids, actor=self._acting(actor), reason=reason)

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
        from grail_mem.consolidate.decide import undo

        with self._lock:
            return undo(self._open(), ids, dry_run=dry_run, actor=self._acting(actor), reason=reason, progress=progress)
