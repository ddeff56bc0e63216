"""What comes in: the records of a file, whatever its form, each as a file to be written or the reason why it is none.

One odd record stops no other. Knows nothing of the store that takes them.
"""

from __future__ import annotations

import json
from base64 import b64decode
from binascii import Error as BinasciiError
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final

from grail_mem.errors import InputError, NotFoundError, StoreError
from grail_mem.keep import foreign
from grail_mem.keep.export import FORMAT
from grail_mem.model.ulid import is_id
from grail_mem.store.files import translated
from grail_mem.write.validate import DRAFT_FIELDS

MAX_LINE: Final = 64 << 20
"""Longest line, in bytes; chosen: far more than an observation may have, and far less than memory."""
MAX_WHOLE: Final = 1 << 30
"""Largest file of a form that has to be read as a whole."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """One record.

    Attributes:
        line: Where it stands in the file, or its number.
        kind: `observation`, `source`, `tombstone` or `grant`.
        id: The id that it names; empty for none.
        path: Where its file was; empty for none.
        category: Its category, where it names one.
        data: The bytes of its file; None when there is only a draft.
        draft: The fields of a draft.
        adopted: The times that its file does not tell.
        hidden: Whether it is hidden.
        said: The record itself, of kinds without a file.
    """

    line: int
    kind: str = "observation"
    id: str = ""
    path: str = ""
    category: str = ""
    data: bytes | None = None
    draft: Mapping[str, Any] = field(default_factory=dict)
    adopted: Mapping[str, str] = field(default_factory=dict)
    hidden: bool = False
    said: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that was not taken: where it stands, what it is called, and why not."""

    line: int
    name: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return {"line": self.line, "name": self.name, "reason": self.reason}


Records = Iterator[Incoming | Skipped]


@dataclass(frozen=True, slots=True)
class File:
    """A file of records of a known form.

    Attributes:
        path: Where it is.
        form: `grail`, `drafts`, `mcp`, `chatgpt` or `claude`.
        notes: The folder of the observation files that the paths of an export begin with.
    """

    path: Path
    form: str
    notes: str = ""

    def records(self) -> Records:
        """The records, in order; read anew each time."""
        if self.form in ("chatgpt", "claude"):
            yield from _drafts(foreign.CHATS[self.form](_load(self.path)))
            return
        reader = {"grail": _grail, "mcp": _mcp, "drafts": _draft}[self.form]
        for number, value in _lines(self.path):
            if isinstance(value, Skipped):
                yield value
            elif (made := reader(number, value)) is not None:
                yield made

    def fault(self) -> str:
        """Why an export is not whole as it was written; empty when it is, or its form has no mark of that."""
        if self.form != "grail":
            return ""
        digest, last = sha256(), b""
        with translated(f"read {self.path.name}"), self.path.open("rb") as file:
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


def open_file(path: Path) -> File:
    """A file of records; its form is told from what is in it.

    Raises:
        NotFoundError: There is no such file.
        InputError: It has no form that is known.
        StoreError: It was written by a later version, or cannot be read.
    """
    path = path.expanduser()
    if not path.is_file():
        raise NotFoundError(f"There is no file {str(path)!r}.")
    first = next((value for _, value in _lines(path) if not isinstance(value, Skipped)), None)
    if isinstance(first, dict):
        if first.get("type") == "grail_export":
            return _ours(path, first)
        if first.get("type") in ("entity", "relation") and "type" in first and foreign.is_mcp(first):
            return File(path, "mcp")
        if first.keys() & {"title", "content"}:
            return File(path, "drafts")
    if _starts_a_list(path):
        form = foreign.chat_form(_load(path))
        if form:
            return File(path, form)
    raise InputError(
        f"{path.name} has no form that can be read.",
        hint="Known are exports of grail, lines of JSON with title and content, memory.jsonl of the MCP memory server, and "
        "conversations.json of ChatGPT and Claude.",
    )


def _ours(path: Path, header: Mapping[str, Any]) -> File:
    version, notes = header.get("version"), header.get("notes", "")
    if not isinstance(version, int) or version > FORMAT:
        raise StoreError(
            f"{path.name} is an export of version {version!r}; this grail_mem reads up to {FORMAT}.",
            hint="Use a newer grail_mem; nothing was touched.",
        )
    return File(path, "grail", notes if isinstance(notes, str) else "")


def _starts_a_list(path: Path) -> bool:
    with translated(f"read {path.name}"), path.open("rb") as file:
        return file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


def _load(path: Path) -> Any:
    with translated(f"read {path.name}"):
        if path.stat().st_size > MAX_WHOLE:
            raise InputError(f"{path.name} is larger than {MAX_WHOLE} bytes.", hint="Split it.")
        data = path.read_bytes()
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name} is not valid JSON: {error}.") from error


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    """The values in the lines of a file, each with its number; a line that holds none as what is skipped."""
    with translated(f"read {path.name}"), path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                _skip_line(file, line)
                yield number, Skipped(number, "", f"the line is longer than {MAX_LINE} bytes")
            elif line.strip(b"\xef\xbb\xbf \t\r\n"):
                yield number, _value(number, line)


def _skip_line(file: IO[bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(MAX_LINE)


def _value(number: int, line: bytes) -> Any:
    try:
        value = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return Skipped(number, "", "the line is no JSON")
    return value if isinstance(value, dict) else Skipped(number, "", "the line holds no object")


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


def _drafts(made: Iterator[foreign.Said]) -> Records:
    for said in made:
        if said.reason:
            yield Skipped(said.number, said.name, said.reason)
        else:
            yield Incoming(said.number, draft=said.fields)


def _mcp(number: int, value: dict[str, Any]) -> Incoming | Skipped:
    said = foreign.mcp(number, value)
    return Skipped(number, said.name, said.reason) if said.reason else Incoming(number, draft=said.fields)
