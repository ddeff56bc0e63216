"""What comes in: the records of a file, whatever its form, each as a file to be written or the reason why it is none.

One odd record stops no other. Knows nothing of the store that takes them.
"""

from __future__ import annotations

import json
from base64 import b64decode
from binascii import Error as BinasciiError
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, Final

from grail_mem.errors import InputError, StoreError
from grail_mem.keep import markdown
from grail_mem.keep.exported import FORMAT
from grail_mem.keep.foreign import sqlite
from grail_mem.keep.foreign.columns import Choice, checked
from grail_mem.keep.foreign.kinds import KINDS, lines, recognised
from grail_mem.keep.foreign.place import Place, place_at
from grail_mem.keep.foreign.said import Said, skip
from grail_mem.keep.foreign.streamed import Odd
from grail_mem.keep.record import Incoming, Records, Skipped
from grail_mem.model.ulid import is_id
from grail_mem.store.files import translated
from grail_mem.write.validate import DRAFT_FIELDS


@dataclass(frozen=True, slots=True)
class File:
    """A file, folder or zip of records of a known form.

    Attributes:
        place: Where it is.
        form: `grail`, `drafts`, `markdown`, or a kind of foreign stores.
        notes: The folder of the observation files that the paths of an export begin with.
        adopted: The id and times of files that do not tell theirs, by path, for `markdown`.
        choice: What the caller says of the tables of a database.
    """

    place: Place
    form: str
    notes: str = ""
    adopted: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    choice: Choice = field(default_factory=Choice)

    @property
    def names_ids(self) -> bool:
        """Whether records name ids that others may have; those of foreign stores get theirs of what they say."""
        return self.form not in KINDS

    def mapping(self) -> list[dict[str, Any]]:
        """How the tables of a database are read; nothing for what is none."""
        if self.form not in sqlite.FORMS:
            return []
        with translated(f"read {self.place.path.name}", self.place.path):
            return sqlite.look(self.place, form=self.form, choice=self.choice)

    def records(self) -> Records:
        """The records, in order; read anew each time."""
        with translated(f"read {self.place.path.name}", self.place.path):
            if self.form in sqlite.FORMS:
                yield from _foreign(self.place, partial(sqlite.read, form=self.form, choice=self.choice))
                return
            if self.form in KINDS:
                yield from _foreign(self.place, KINDS[self.form].read)
                return
            if self.form == "markdown":
                yield from markdown.records(self.place, self.notes, self.adopted)
                return
            reader = {"grail": _grail, "drafts": _draft}[self.form]
            for number, value in _lines(self.place):
                if isinstance(value, Odd):
                    yield Skipped(number, "", value.reason)
                elif (made := reader(number, value)) is not None:
                    yield made

    def fault(self) -> str:
        """Why an export is not whole as it was written; empty when it is, or its form has no mark of that."""
        if self.form != "grail":
            return ""
        digest, last = sha256(), b""
        with translated(f"read {self.place.path.name}", self.place.path), self.place.path.open("rb") as file:
            for line in file:
                digest.update(last)
                last = line
        try:
            end = json.loads(last)
        except (ValueError, RecursionError):
            end = None
        if not isinstance(end, dict) or end.get("type") != "end":
            return "it was cut off: its last line is not the one that ends an export"
        return "" if end.get("sha256") == digest.hexdigest() else "it was changed: its digest is not that of its lines"


def open_file(path: Path, form: str = "", choice: Choice | None = None) -> File:
    """A file, folder or zip of records; its form is told from what is in it, unless it is named.

    Args:
        path: Where it is.
        form: Its form; empty to tell it from what is in it.
        choice: What the caller says of the tables of a database.

    Raises:
        NotFoundError: There is nothing.
        InputError: It has no form that is known, or the form that is named is none.
        StoreError: It was written by a later version, or cannot be read.
    """
    if form and form not in FORMS:
        raise InputError(f"{form[:60]!r} is no kind of stores.", hint=f"The kinds are {', '.join(FORMS)}.")
    place = place_at(path)
    with translated(f"read {place.path.name}", place.path):
        if form in ("", "markdown") and (told := markdown.header(place)) is not None:
            return File(place, "markdown", _version(place, told), markdown.adopted(told))
        first = _first(place) if place.shape == "file" else None
        if form in ("", "grail") and isinstance(first, dict) and first.get("type") == "grail_export":
            return File(place, "grail", _version(place, first))
        if not form:
            form = recognised(place)
        if not form and isinstance(first, dict) and first.keys() & {"title", "content"}:
            form = "drafts"
    if choice is not None and (choice.table or choice.columns):
        if form not in sqlite.FORMS:
            raise InputError(f"{place.path.name} is no database, so there is no table to choose and no column to name.")
        return File(place, form, choice=checked(choice))
    if form in KINDS or (form == "drafts" and place.shape == "file"):
        return File(place, form)
    if form:
        raise InputError(f"{place.path.name} is no {form}: {FORMS[form]} was looked for and is not there.")
    raise InputError(
        f"{place.path.name} is of no kind that is known. Looked for was: "
        + "; ".join(f"{mark} ({name})" for name, mark in FORMS.items())
        + ".",
        hint="Name the kind with `--from KIND` when it is one of these all the same.",
    )


FORMS: Final[Mapping[str, str]] = {
    "grail": "an export of grail, whose first line says so",
    "markdown": f"a zip or folder of an export with {markdown.HEADER}",
    "drafts": "lines of JSON with title and content",
} | {name: kind.mark for name, kind in KINDS.items()}
"""Every form by its name, with what it is recognised by."""


def _version(place: Place, header: Mapping[str, Any]) -> str:
    """The folder of observation files that an export names, when this version can read it."""
    version, notes = header.get("version"), header.get("notes", "")
    if not isinstance(version, int) or version > FORMAT:
        raise StoreError(
            f"{place.path.name} is an export of version {version!r}; this grail_mem reads up to {FORMAT}.",
            hint="Use a newer grail_mem; nothing was touched.",
        )
    return notes if isinstance(notes, str) else ""


def _first(place: Place) -> Any:
    return next((value for _, value in _lines(place) if not isinstance(value, Odd)), None)


def _lines(place: Place) -> Iterator[tuple[int, Any]]:
    with place.path.open("rb") as file:
        yield from lines(file)


def _foreign(place: Place, read: Callable[[Place], Iterator[Said]]) -> Records:
    """What a foreign store says, and what was left out on the way to it."""
    hidden = [skip(name, "", "a hidden folder is not read") for name in place.hidden]
    for number, said in enumerate(chain(read(place), place.left, hidden), start=1):
        if said.reason:
            yield Skipped(number, said.name, said.reason, said.where)
        else:
            yield Incoming(number, draft=said.fields, key=said.key, origin=said.origin, where=said.where)


# -- exports of our own ---------------------------------------------------------------------------------------------------


def _grail(number: int, value: dict[str, Any]) -> Incoming | Skipped | None:
    kind = value.get("type")
    if kind in ("grail_export", "end"):
        return None
    if kind not in ("observation", "source", "tombstone", "grant"):
        return Skipped(number, _name(value), f"{kind!r} is no kind of record")
    if kind in ("tombstone", "grant"):
        return Incoming(number, kind, _text(value, "id"), said=value)
    data = _data(value)
    if data is None and kind == "observation" and not value.keys() & {"file", "file_base64"}:
        return _draft(number, value)
    if data is None:
        return Skipped(number, _name(value), "the bytes of its file cannot be read")
    if value.get("sha256") != sha256(data).hexdigest():
        return Skipped(number, _name(value), "its bytes are not those that its digest names")
    id_ = _text(value, "id").upper()
    if kind == "observation" and not is_id(id_):
        return Skipped(number, _name(value), f"its id {value.get('id')!r} is not a ULID")
    adopted = value.get("adopted")
    return Incoming(
        number, kind, id_, _text(value, "path"), _text(value, "category"), data,
        adopted={k: v for k, v in adopted.items() if isinstance(v, str)} if isinstance(adopted, dict) else {},
        hidden=value.get("hidden") is True,
    )  # fmt: skip


def _data(value: Mapping[str, Any]) -> bytes | None:
    text, encoded = value.get("file"), value.get("file_base64")
    try:
        if isinstance(text, str):
            return text.encode()
        return b64decode(encoded, validate=True) if isinstance(encoded, str) else None
    except (UnicodeEncodeError, BinasciiError, ValueError):
        return None


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _name(value: Mapping[str, Any]) -> str:
    return next((value[name] for name in ("id", "path", "title") if isinstance(value.get(name), str)), "")[:200]


# -- drafts ---------------------------------------------------------------------------------------------------------------


def _draft(number: int, value: dict[str, Any]) -> Incoming | Skipped:
    """A record that only says something: what is null counts as not said, and fields that are none of ours are left."""
    fields = {name: value[name] for name in DRAFT_FIELDS if value.get(name) is not None}
    said = [fields[name] for name in ("content", "title") if isinstance(fields.get(name), str) and fields[name].strip()]
    if not said:
        return Skipped(number, _name(value), "it says nothing: no title, no content")
    fields["content"] = said[0]
    return Incoming(number, id=_text(value, "id").upper(), draft=fields)
