"""New ids for records whose id somebody else has here, and every reference to them; the same ids on every run.

Knows nothing of where records come from, nor of what is done with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from grail_mem.errors import GrailError
from grail_mem.keep.record import Incoming
from grail_mem.model.lineage import ALSO
from grail_mem.model.times import format_time
from grail_mem.model.ulid import derived_id, id_time
from grail_mem.store.frontmatter import parse
from grail_mem.store.frontmatter_edit import edit

_REFERENCES: Final = ("supersedes", "superseded_by", ALSO, "conflicts_with", "related_to", "merged_from")


def new_id_for(id_: str, data: bytes) -> str:
    """The id that a file gets here when its own is taken."""
    return derived_id(id_, sha256(data).hexdigest())


def rewritten(record: Incoming, ids: Mapping[str, str]) -> bytes:
    """The file of a record with new ids in place of those that are taken, by an edit that touches nothing else.

    Raises:
        GrailError: The file cannot be edited.
    """
    data = record.data or b""
    if not ids or not _mentions(data, ids):
        return data
    fields = parse(data).fields
    changes: dict[str, Any] = {}
    own = str(fields.get("id") or "").upper()
    if own in ids:
        changes["id"] = ids[own]
        recorded = id_time(own)
        if recorded is not None and "recorded_at" not in fields:
            changes["recorded_at"] = format_time(recorded)
    for name in _REFERENCES:
        if name in fields and (value := _replaced(fields[name], ids)) != fields[name]:
            changes[name] = value
    return edit(data, changes) if changes else data


def _mentions(data: bytes, ids: Mapping[str, str]) -> bool:
    upper = data.upper()
    return any(id_.encode() in upper for id_ in ids)


def _replaced(value: Any, ids: Mapping[str, str]) -> Any:
    """A value with every id in it replaced."""
    if isinstance(value, str):
        return ids.get(value.upper(), value)
    if isinstance(value, list):
        return [_replaced(item, ids) for item in value]
    if isinstance(value, Mapping):
        return {name: _replaced(item, ids) if name == "id" else item for name, item in value.items()}
    return value


def clashing(records: Mapping[str, Incoming], there: Mapping[str, str]) -> dict[str, str]:
    """The new ids of those records that say something else than what has their id here.

    A file that was brought in before, with ids in it that were taken, is not what stands in the export; whether it is the
    same is seen when those ids are replaced in it. So all that differ are taken for clashes first, and those that turn out
    to be the same drop out until none does.

    Args:
        records: Records of which the bytes are not those that are there, by id.
        there: SHA-256 of what is there, by id.
    """
    ids = {id_: new_id_for(id_, record.data or b"") for id_, record in records.items()}
    while True:
        same = [id_ for id_ in ids if _digest(records[id_], {k: v for k, v in ids.items() if k != id_}) == there[id_]]
        if not same:
            return ids
        for id_ in same:
            del ids[id_]


def _digest(record: Incoming, ids: Mapping[str, str]) -> str:
    try:
        return sha256(rewritten(record, ids)).hexdigest()
    except GrailError:
        return ""
