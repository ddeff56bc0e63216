"""Migration: bring a store of an earlier form to the present one, step by step, with a backup made first.

look at every step → back up → (lock) make what each step finds → say which form it is. What a step finds goes by the store
alone, so whoever migrates again after a crash goes on where it ended, with the backup of the first time. Knows nothing of
what the steps do.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from grail_mem.errors import NotFoundError
from grail_mem.keep.backup import SUFFIX, backup
from grail_mem.keep.owner import require_owner
from grail_mem.model.problem import Problem
from grail_mem.model.times import format_time
from grail_mem.model.ulid import new_id
from grail_mem.query.form import FormChange, Step
from grail_mem.query.view import View
from grail_mem.store.files import replace_file, sync_folder, translated
from grail_mem.store.layout import Layout
from grail_mem.store.ledger_line import MIGRATE, Entry
from grail_mem.store.version import STORE_VERSION, version_of, write_version
from grail_mem.write.staged import staging, tell, writing

BEGUN: Final = "migrating.json"


@dataclass(frozen=True, slots=True)
class StepDone:
    """What one step changed, or would change.

    Attributes:
        to: The version that a store has after it.
        about: What it does.
        changes: What it changed.
    """

    to: int
    about: str
    changes: tuple[FormChange, ...]

    def to_dict(self) -> dict[str, Any]:
        """The step as plain JSON values."""
        return {"to": self.to, "about": self.about, "changes": [change.to_dict() for change in self.changes]}


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration did, or would do.

    Attributes:
        was: The version that the store had.
        now: The version that it has, or would have.
        steps: The steps that had something to change, in order.
        backup: The backup that was made first; empty when there was nothing to change, or for a dry run.
        went_on: Whether an earlier migration had been cut off.
        dry_run: Whether nothing was changed.
    """

    was: int
    now: int
    steps: tuple[StepDone, ...]
    backup: str = ""
    went_on: bool = False
    dry_run: bool = False

    @property
    def n_changes(self) -> int:
        """How many changes the steps made, or would make."""
        return sum(len(step.changes) for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {
            "was": self.was, "now": self.now, "n_changes": self.n_changes, "steps": [step.to_dict() for step in self.steps],
            "backup": self.backup, "went_on": self.went_on, "dry_run": self.dry_run,
        }  # fmt: skip


def found_by(view: View, steps: Sequence[Step]) -> tuple[StepDone, ...]:
    """What each step would change in a store as it is now; steps that would change nothing are left out.

    Every step is asked, whatever version the store has: git may bring what a clone of an earlier form wrote.
    """
    found = (StepDone(step.to, step.about, step.find(view)) for step in steps)
    return tuple(one for one in found if one.changes)


def problems_of_form(view: View, steps: Sequence[Step]) -> Iterator[Problem]:
    """What of a store has an earlier form, one problem a step; it can be used as it is."""
    for one in found_by(view, steps):
        yield Problem(
            "older_form", f"has an earlier form, which can be read; a migration {one.about}", one.changes[0].where,
            remedy="run `grail migrate`", severity="warning",
        )  # fmt: skip


def migrate(
    view: View,
    steps: Sequence[Step],
    *,
    out: Path,
    actor: str,
    dry_run: bool = False,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Migrated:
    """Bring a store to the present form.

    Args:
        view: The store.
        steps: All steps there are, in order; the last one leads to the present form.
        out: The folder outside the store, or the file, for the backup that is made first when something changes.
        actor: Who does it, for the ledger.
        dry_run: Only say what would change.
        progress: Called while the backup is made; see `backup`.

    Raises:
        NotFoundError: There is no store.
        AccessError: The caller is a session.
        InputError: The backup would lie inside the store; nothing was changed.
        StoreError: The disk did not take it; the next migration goes on.
    """
    require_owner(view.access, "migrate the store")
    layout = view.layout
    if not layout.is_store():
        raise NotFoundError(f"There is no store in {layout.root}.", hint="`grail init DIR` makes one.")
    view.refresh()
    was, begun = version_of(layout), _begun(layout)
    planned = found_by(view, steps)
    if dry_run:
        return Migrated(was, STORE_VERSION, planned, dry_run=True)
    if not planned and was == STORE_VERSION and begun is None:
        return Migrated(was, was, ())
    if begun is None:
        made = backup(view, _named(layout, out, was), progress=progress).path if planned else ""
        begun = {"backup": made, "was": was}
        with translated("begin the migration", layout.root):
            replace_file(layout.local / BEGUN, json.dumps(begun).encode())
        went_on = False
    else:
        went_on = True
    done = _made(view, steps, begun["was"], actor)
    return Migrated(begun["was"], STORE_VERSION, done, begun["backup"], went_on)


def _named(layout: Layout, out: Path, was: int) -> Path:
    """The file of the backup: one of its own in a folder, however often somebody migrates."""
    if not out.expanduser().is_dir():
        return out
    return out / f"{layout.root.name or 'store'}-form-{was}-{time.strftime('%Y%m%d')}-{secrets.token_hex(3)}{SUFFIX}"


def _made(view: View, steps: Sequence[Step], was: int, actor: str) -> tuple[StepDone, ...]:
    layout = view.layout
    done: list[StepDone] = []
    with staging(layout) as _, translated("migrate the store", layout.root), writing(view):
        for step in steps:
            view.refresh()
            changes = step.find(view)
            if changes:
                step.make(view)
                done.append(StepDone(step.to, step.about, changes))
            if version_of(layout) < step.to:
                write_version(layout, step.to)
        said = f"form {was} to {STORE_VERSION}" if was != STORE_VERSION else f"form {STORE_VERSION}, brought up to date"
        tell(view, [Entry(MIGRATE, new_id(), reason=said, at=format_time(datetime.now(UTC)), actor=actor)])
        (layout.local / BEGUN).unlink(missing_ok=True)
        sync_folder(layout.local)
    return tuple(done)


def _begun(layout: Layout) -> dict[str, Any] | None:
    """What an earlier migration that was cut off noted; None when there was none, or its backup is gone."""
    try:
        said = json.loads((layout.local / BEGUN).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not isinstance(said.get("backup"), str) or type(said.get("was")) is not int:
        return None
    return said if not said["backup"] or Path(said["backup"]).is_file() else None
