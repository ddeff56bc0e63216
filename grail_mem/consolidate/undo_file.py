"""What stood in files before a proposal changed them: kept beside the ledger, a file a proposal, so that it can be undone.

Only the text that went is kept. Knows nothing of how a proposal is applied.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NamedTuple

from grail_mem.consolidate.changes import MERGED
from grail_mem.errors import StoreError
from grail_mem.model.observation import Observation
from grail_mem.model.ulid import is_id
from grail_mem.store.files import read_file, replace_file, sync_folder
from grail_mem.store.layout import Layout
from grail_mem.store.observation_render import fields_of
from grail_mem.write.edited import Edited
from grail_mem.write.validate import DRAFT_FIELDS

VERSION: Final = 1
_FIELDS: Final = frozenset(DRAFT_FIELDS) - {"slug"} | {MERGED}


class Hunk(NamedTuple):
    """What to put back: `n_after` bytes from `at` on become the text again."""

    at: int
    text: str
    n_after: int


@dataclass(frozen=True, slots=True)
class Former:
    """One observation before and after.

    Attributes:
        id: The observation.
        was: Its file's path before; empty when the proposal made it.
        path: The path after.
        before: SHA-256 of the file before; empty when the proposal made it.
        after: SHA-256 of the file after.
        hunk: What to put back for the bytes of before.
        fields: Fields that changed, the content among them, by name: what they were and what they became; None for absent.
        hid: Whether the proposal hid it.
    """

    id: str
    was: str
    path: str
    before: str
    after: str
    hunk: Hunk
    fields: Mapping[str, Sequence[Any]]
    hid: bool

    def bytes_before(self, data: bytes) -> bytes | None:
        """The former bytes, from the present ones; None when these are not what the proposal left."""
        if sha256(data).hexdigest() != self.after:
            return None
        at, text, n_after = self.hunk
        made = data[:at] + text.encode(errors="surrogateescape") + data[at + n_after :]
        return made if sha256(made).hexdigest() == self.before else None


@dataclass(frozen=True, slots=True)
class Undo:
    """All that a proposal changed.

    Attributes:
        files: The observations.
        folders: Folders that it made, relative to the root, the deepest first.
    """

    files: tuple[Former, ...]
    folders: tuple[str, ...]


def write_undo(layout: Layout, proposal_id: str, all_edited: Iterable[Edited], folders: Sequence[str]) -> None:
    """Keep, durably, what is needed to undo a proposal that is about to be applied."""
    files = [_former(edited) for edited in all_edited if edited.changes_file or edited.hidden != edited.was_hidden]
    document = {
        "version": VERSION, "proposal": proposal_id, "folders": list(folders),
        "files": [
            {
                "id": f.id, "was": f.was, "path": f.path, "before": f.before, "after": f.after, "hunk": list(f.hunk),
                "fields": dict(f.fields), "hid": f.hid,
            }
            for f in files
        ],
    }  # fmt: skip
    text = json.dumps(
        document, ensure_ascii=True, indent=1
    )  # bytes that are no UTF-8 stand here as half surrogate pairs
    replace_file(layout.undo / f"{proposal_id}.json", text.encode() + b"\n")


def _former(edited: Edited) -> Former:
    new = edited.data or b""
    row = edited.row
    before, after = (all_of(row.observation) if row else {}), all_of(edited.made)
    fields = {n: (before.get(n), after.get(n)) for n in {**before, **after} if before.get(n) != after.get(n)}
    return Former(
        edited.made.id, edited.was, edited.path, sha256(edited.old).hexdigest() if row else "", sha256(new).hexdigest(),
        _hunk(edited.old, new) if row else Hunk(0, "", 0), fields if row else {}, edited.hidden and not edited.was_hidden,
    )  # fmt: skip


def all_of(o: Observation) -> dict[str, Any]:
    """Everything that a file of an observation says: its frontmatter, and its content beside the fields."""
    return fields_of(o) | {"content": o.content}


def _hunk(old: bytes, new: bytes) -> Hunk:
    """What of the old bytes lies between what both begin with and what both end with."""
    most = min(len(old), len(new))
    begin = _n_same(old, new, most)
    end = _n_same(old[::-1], new[::-1], most - begin)
    return Hunk(begin, old[begin : len(old) - end].decode(errors="surrogateescape"), len(new) - begin - end)


def _n_same(left: bytes, right: bytes, most: int) -> int:
    """How many bytes both begin with, at most so many; by halves, since bytes are compared fast and counted slowly."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def read_undo(layout: Layout, proposal_id: str) -> Undo:
    """What is kept to undo a proposal; nothing in it is believed that could lead elsewhere.

    Raises:
        StoreError: It is not there, or somebody changed it so that it cannot be used.
    """
    try:
        document = json.loads(read_file(layout.undo / f"{proposal_id}.json")[0])
        if document["version"] != VERSION or document["proposal"] != proposal_id:
            raise ValueError("it is of another proposal or version")
        files = tuple(_read(layout, item) for item in document["files"])
        folders = tuple(name for name in document["folders"] if isinstance(name, str))
    except FileNotFoundError as error:
        raise StoreError(
            f"What stood there before proposal {proposal_id} is not kept here.",
            hint=f"Bring .grail/undo/{proposal_id}.json back from git or a backup, or change the files by hand.",
        ) from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise StoreError(f".grail/undo/{proposal_id}.json cannot be used: {error}.") from error
    return Undo(files, folders)


def _read(layout: Layout, item: Mapping[str, Any]) -> Former:
    at, text, n_after = item["hunk"]
    fields = {name: (before, after) for name, (before, after) in item["fields"].items()}
    made = Former(
        item["id"], item["was"], item["path"], item["before"], item["after"], Hunk(int(at), text, int(n_after)), fields,
        item["hid"] is True,
    )  # fmt: skip
    texts = (made.id, made.was, made.path, made.before, made.after, text)
    if not all(isinstance(value, str) for value in texts) or made.hunk.at < 0 or made.hunk.n_after < 0:
        raise ValueError("a part of it is not what it should be")
    text.encode(errors="surrogateescape")
    if not is_id(made.id) or not layout.holds(made.path) or bool(made.was) != bool(made.before):
        raise ValueError("it names something that is no observation")
    if made.was and not layout.holds(made.was):
        raise ValueError("it names something that is no observation")
    if not _FIELDS.issuperset(fields):
        raise ValueError("it names a field that no proposal changes")
    return made


def drop_undo(layout: Layout, proposal_id: str) -> None:
    """Forget what stood there before: the proposal was undone, or not applied after all."""
    with suppress(OSError):
        (layout.undo / f"{proposal_id}.json").unlink()
        sync_folder(layout.undo)
