"""The verb of Memory that brings a store of an earlier form to the present one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from grail_mem.memory.opened import Opened

if TYPE_CHECKING:  # of no use to most who open a store; the verbs load it when they are called
    from grail_mem.keep.migrate import Migrated
    from grail_mem.query.form import Step


class Migrating(Opened):
    """From one form of a store to the next."""

    def migrate(
        self,
        *,
        out: str | Path | None = None,
        dry_run: bool = False,
        actor: str | None = None,
        progress: Callable[[str, int, int | None], None] | None = None,
    ) -> Migrated:
        """Bring a store that an earlier version wrote to the present form; a backup is made first when something changes.

        Earlier forms are read as they are, so nothing has to be migrated to be used. A migration that was cut off goes on with
        the next call, and keeps the backup of the first.

        Args:
            out: The folder outside the store, or the file, for the backup; the folder above the store when left out.
            dry_run: Only say what would change.
            actor: Who does it, for the ledger.
            progress: Called with what is being done, how much of it is done, and how much there is.

        Returns:
            The version it had and has, and what each step changed.

        Raises:
            NotFoundError: There is no store.
            InputError: The backup would lie inside the store; nothing was changed.
            StoreError: The disk did not take it; the next call goes on.
        """
        from grail_mem.keep.migrate import migrate

        with self._lock:
            place = self._layout.root.parent if out is None else Path(out)
            return migrate(
                self._open(), steps(), out=place, actor=self._acting(actor), dry_run=dry_run, progress=progress
            )


def steps() -> tuple[Step, ...]:
    """Every step there is, in order."""
    from grail_mem.consolidate.salting import SALT_PAIRS
    from grail_mem.recall.old_gates import DROP_OLD_GATES
    from grail_mem.write.git_files import TELL_GIT

    return TELL_GIT, SALT_PAIRS, DROP_OLD_GATES
