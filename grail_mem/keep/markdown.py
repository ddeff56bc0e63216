"""An export as a folder of observation files, in a zip or unpacked: its header, and its files as records.

Knows nothing of the store that takes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from grail_mem.errors import GrailError
from grail_mem.keep.foreign.place import Place
from grail_mem.keep.foreign.said import skip
from grail_mem.keep.foreign.streamed import READING
from grail_mem.keep.members import SOURCES
from grail_mem.keep.record import Incoming, Records, Skipped
from grail_mem.model.ulid import derived_id, is_id
from grail_mem.store.filename import is_observation_file
from grail_mem.store.frontmatter import parse

HEADER: Final = "grail-export.json"


def header(place: Place) -> dict[str, Any] | None:
    """The header of an export as a folder; None when there is none."""
    if place.shape == "file" or HEADER not in place.files:
        return None
    try:
        told = json.loads(place.read(HEADER))
    except (*READING, GrailError, ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) and told.get("type") == "grail_markdown" else None


def adopted(told: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The ids and times of files that do not tell theirs, by path."""
    listed = told.get("adopted")
    return {
        path: {name: value for name, value in said.items() if isinstance(value, str)}
        for path, said in (listed.items() if isinstance(listed, dict) else ())
        if isinstance(said, dict)
    }


def records(place: Place, notes: str, adopted: Mapping[str, Mapping[str, str]]) -> Records:
    """The observation files and sources of an export, and every other file with the reason why it is none."""
    begin, number = f"{notes}/" if notes else "", 0
    for name in sorted(place.files):
        if name == HEADER:
            continue
        number += 1
        try:
            data = place.read(name)
        except (*READING, GrailError) as error:
            reason = error.message if isinstance(error, GrailError) else f"it cannot be read: {error}"
            yield Skipped(number, name, reason, name)
            continue
        if name.startswith(f"{SOURCES}/"):
            yield Incoming(number, "source", path=name, data=data, where=name)
        elif name.startswith(begin) and is_observation_file(name.rpartition("/")[2]):
            yield _observation(number, name, data, adopted.get(name, {}))
        else:
            yield Skipped(number, name, "it is no file of an observation", name)
    hidden = [skip(name, "", "a hidden folder is not read") for name in place.hidden]
    for at, left in enumerate((*place.left, *hidden), start=number + 1):
        yield Skipped(at, left.name, left.reason, left.where)


def _observation(number: int, name: str, data: bytes, adopted: Mapping[str, str]) -> Incoming | Skipped:
    try:
        own = str(parse(data).fields.get("id") or "").strip().upper()
    except GrailError as error:
        return Skipped(number, name, error.message, name)
    known = adopted.get("id", "")
    id_ = own if is_id(own) else known if is_id(known) else derived_id(name, _digest(data))
    times = {field: value for field, value in adopted.items() if field != "id"}
    return Incoming(number, id=id_, path=name, data=data, adopted=times, where=name)


def _digest(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()
