"""What became of a proposal when somebody decided, and what that does to each file.

Values only; knows nothing of how it is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from grail_mem.write.edited import Edited


@dataclass(frozen=True, slots=True)
class FileChange:
    """What happens to one observation and its file.

    Attributes:
        id: The observation.
        action: `add`, `edit`, `move`, `remove`, `hide` or `restore`; a file that is moved may be edited as well.
        was: The file's path before, relative to the root; empty when it is new.
        path: Its path afterwards; empty when it goes.
        diff: The lines that change, as a unified diff; empty when none do.
    """

    id: str
    action: str
    was: str
    path: str
    diff: str = ""

    def to_dict(self) -> dict[str, str]:
        """The change as plain JSON values."""
        return {"id": self.id, "action": self.action, "was": self.was, "path": self.path, "diff": self.diff}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one proposal.

    Attributes:
        id: The proposal.
        kind: Its kind; empty when only the ledger knows it.
        status: What it is now: one of `STATUSES`.
        done: Whether this call did what was asked; in a dry run, whether it would.
        reasons: Why it did not, or what was special about it, in sentences.
        files: What happened to files, or would.
    """

    id: str
    kind: str
    status: str
    done: bool
    reasons: tuple[str, ...] = ()
    files: tuple[FileChange, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain JSON values."""
        return {
            "id": self.id, "kind": self.kind, "status": self.status, "done": self.done, "reasons": list(self.reasons),
            "files": [file.to_dict() for file in self.files],
        }  # fmt: skip


def file_changes(all_edited: Iterable[Edited]) -> tuple[FileChange, ...]:
    """What happens to each observation that changes, in order."""
    return tuple(change for edited in all_edited for change in _changes(edited))


def _changes(edited: Edited) -> Iterator[FileChange]:
    id_ = edited.made.id
    if edited.changes_file:
        action = "remove" if edited.data is None else "add" if edited.row is None else "edit"
        path = "" if edited.data is None else edited.path
        if action == "edit" and edited.path != edited.was:
            action = "move"
        yield FileChange(id_, action, edited.was, path, _diff(edited.old, edited.data or b"", edited.was, path))
    if edited.hidden != edited.was_hidden:
        path = edited.path
        yield FileChange(id_, "hide" if edited.hidden else "restore", path, path)


def _diff(old: bytes, new: bytes, was: str, path: str) -> str:
    before, after = (data.decode(errors="replace").splitlines() for data in (old, new))
    lines = unified_diff(before, after, was or "/dev/null", path or "/dev/null", lineterm="", n=2)
    return "".join(f"{line}\n" for line in lines)
