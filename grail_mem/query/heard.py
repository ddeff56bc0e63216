"""What the ledger said up to where it was read: which observations are silent, who may do what, which file has which id.

Entries are taken in one by one. Knows of files only what entries tell of them, and looks at none.
"""

from __future__ import annotations

from typing import Final

from grail_mem.model.ulid import is_id
from grail_mem.query.delta import Delta
from grail_mem.query.grants import Grants
from grail_mem.query.unsynced import Unsynced
from grail_mem.store.layout import Layout
from grail_mem.store.ledger import TOMBSTONES
from grail_mem.store.ledger_line import AGAIN, CANDIDATE, DECISIONS, DISCARD, ERASE, GONE, INGEST, Entry
from grail_mem.store.observation_file import Adopted
from grail_mem.store.receipt import Receipts
from grail_mem.store.snapshot import Manifest

Stones = dict[str, tuple[str, str, int, bool]]
"""By id, the latest entry of two that undo each other: its order in history, and whether it silences."""

_NO_STONE: Final = ("", "", 0, False)


class Heard:
    """What all entries heard so far come to.

    Args:
        before: What the ledger had said before the first entry that is heard.
        layout: Where the store is.
        delta: What was seen of files; its version moves when an observation falls silent or speaks again.
        unsynced: What the ledger has not told yet; entries take out what they tell of.
        default_scope: The scope of what names none.

    Attributes:
        tombstones: What was hidden or restored.
        suspended: What was suspended for want of evidence, or is no longer.
        hidden: Ids of what is hidden.
        silent: Ids of what is hidden or suspended.
        grants: Who may do what.
        receipts: Of what was erased.
        erased: Erased ids whose files were not looked at since; whoever looks takes them out.
        touched: Files named by entries that were not looked at since; whoever looks takes them out.
        told: By path, the id and the digest that were told last of such a file; no digest when it is gone.
        owners: By id, the path that was named last.
        adopted: By path, what is said of files that carry no id themselves.
        prints: By fingerprint, ids of observations that have it.
    """

    def __init__(
        self, before: Manifest, layout: Layout, delta: Delta, unsynced: Unsynced, *, default_scope: str
    ) -> None:
        self._layout, self._delta, self._unsynced = layout, delta, unsynced
        self.tombstones, self.suspended = dict(before.tombstones), dict(before.suspended)
        self.hidden = {id_ for id_, (*_, hides) in self.tombstones.items() if hides}
        self.silent = self.hidden | {id_ for id_, (*_, stands) in self.suspended.items() if stands}
        self.grants = Grants(before.grants, before.revoked)
        self.receipts = Receipts(before.receipts, default_scope=default_scope)
        self.erased: set[str] = set()
        self.touched: set[str] = set()
        self.told: dict[str, tuple[str, str]] = {}
        self.owners: dict[str, str] = {}
        self.adopted: dict[str, Adopted] = {}
        self.prints: dict[int, set[str]] = {}

    def hear(self, entry: Entry) -> None:
        """Take in what an entry says."""
        if self.grants.hear(entry) or entry.action in DECISIONS or entry.action in CANDIDATE:
            return
        if entry.action in (INGEST, DISCARD):
            return
        if not is_id(entry.id):  # somebody changed the line; its file is found by the next scan
            return
        if entry.action in ("suspend", "reinstate"):
            self._bury(entry, self.suspended)
        elif entry.action in TOMBSTONES:
            self._bury(entry, self.tombstones)
        elif entry.action in (ERASE, AGAIN):
            self._forget(entry)
        elif entry.path:  # else what the line said was taken out of it
            self._hear_of_file(entry)

    def _hear_of_file(self, entry: Entry) -> None:
        """Take in what an entry says of a file, which is looked at later."""
        if _is_seen(self._delta, entry):  # a scan came before the line: it is nobody else's change after all
            self._unsynced.drop(entry.path, entry.was)
        else:
            self.touched |= {path for path in (entry.path, entry.was) if path and self._layout.holds(path)}
            self.told[entry.was] = ("", "")
            self.told[entry.path] = (entry.id, "" if entry.action in GONE else entry.digest)
        if (print_ := _print_in(entry)) is not None:
            self.prints.setdefault(print_, set()).add(entry.id)
        if entry.was:
            self.adopted.pop(entry.was, None)
        if entry.action in GONE:
            self.adopted.pop(entry.path, None)
            if self.owners.get(entry.id) == entry.path:
                del self.owners[entry.id]
            return
        self.owners[entry.id] = entry.path
        if entry.observed_at:
            self.adopted[entry.path] = Adopted(entry.id, entry.observed_at, entry.recorded_at or entry.at, entry.digest)

    def _bury(self, entry: Entry, stones: Stones) -> None:
        known = stones.get(entry.id)
        if known is None or entry.order > known[:3]:
            stones[entry.id] = (*entry.order, entry.action in ("hide", "suspend"))
            hides = self.tombstones.get(entry.id, _NO_STONE)[-1]
            (self.hidden.add if hides else self.hidden.discard)(entry.id)
            silences = hides or self.suspended.get(entry.id, _NO_STONE)[-1]
            (self.silent.add if silences else self.silent.discard)(entry.id)
            self._delta.moved()

    def _forget(self, entry: Entry) -> None:
        """Hear that an observation was erased; nobody shall hear of its former files as of something that vanished."""
        self.receipts.hear(entry)
        if entry.action == ERASE:
            self.erased.add(entry.id)
            self.told |= {path: ("", "") for path, (id_, _) in self.told.items() if id_ == entry.id}
            self.touched |= {path for path, word in self.adopted.items() if word.id == entry.id}
            self.adopted = {path: word for path, word in self.adopted.items() if word.id != entry.id}
            self._unsynced.forget(entry.id)
            self.touched.add(self.owners.pop(entry.id, ""))
            self.touched.discard("")


def _is_seen(delta: Delta, entry: Entry) -> bool:
    """Whether a look at the files said already what an entry tells, as after a sync of this very process."""
    row = delta.rows.get(entry.path)
    if row is None or entry.action in GONE or (entry.was and delta.states.get(entry.was, ()) is not None):
        return False
    return (row.observation.id, row.observation.sha256) == (entry.id, entry.digest)


def _print_in(entry: Entry) -> int | None:
    """The fingerprint in an entry; None when there is none, or somebody changed it."""
    try:
        return int(entry.fingerprint, 16) if entry.fingerprint else None
    except ValueError:
        return None
