"""What others did to files that the ledger has not heard of yet, one change a file.

Plain values in memory. Knows nothing of how a change was found, nor of how the ledger comes to hear of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from grail_mem.query.delta import Change


class Unsynced:
    """Changes by the path they ended at; a later change of the same file takes the place of an earlier one."""

    def __init__(self) -> None:
        self._by_path: dict[str, Change] = {}
        self._gone: dict[str, str] = {}

    def note(self, change: Change) -> None:
        """Keep a change until the ledger has heard of it."""
        if change.kind == "adopt":
            was = self._gone.pop(change.id, "")
            if was in self._by_path and self._by_path[was].kind == "vanish":
                del self._by_path[was]
                change = Change("relocate", change.id, change.path, was=was, row=change.row)
        earlier = self._by_path.pop(change.was, None) if change.was else self._by_path.get(change.path)
        if earlier is not None and earlier.kind == "adopt":
            if change.kind == "vanish":
                self._by_path.pop(change.path, None)
                return
            change = Change("adopt", change.id, change.path, row=change.row)
        if change.kind == "vanish":
            self._gone[change.id] = change.path
        self._by_path[change.path] = change

    def drop(self, *paths: str) -> None:
        """Let go of what was to be said of files: the ledger has told of them."""
        for path in paths:
            self._by_path.pop(path, None)

    def forget(self, id_: str) -> None:
        """Let go of all that was to be said of an observation: it was erased."""
        self._by_path = {path: change for path, change in self._by_path.items() if change.id != id_}
        self._gone.pop(id_, None)

    def synced(self, changes: Iterable[Change]) -> None:
        """Let go of changes that the ledger has now heard of."""
        self.drop(*(change.path for change in changes))

    def listed(self) -> list[Change]:
        """The changes, by path."""
        return [self._by_path[path] for path in sorted(self._by_path)]
