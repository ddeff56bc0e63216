"""Drafts from the command line: options, files, stdin, and lines of JSON; every problem of all of them at once.

Knows nothing of how they are stored.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from grail_mem.errors import InputError, NotFoundError
from grail_mem.model.refusal import refused
from grail_mem.settings import Settings

_TYPE: Final = re.compile(r"[^\W\d][\w-]*")


def read_entity(text: str) -> dict[str, str]:
    """An entity from `NAME` or `NAME:TYPE`; a type is one word, and a colon at the end says that there is none.

    Example:
        >>> read_entity("Acme:ORGANIZATION"), read_entity("Star Trek: Picard"), read_entity("ISO:A4:")
        ({'name': 'Acme', 'type': 'ORGANIZATION'}, {'name': 'Star Trek: Picard'}, {'name': 'ISO:A4'})
    """
    name, _, kind = text.rpartition(":")
    if name.strip() and (not kind or _TYPE.fullmatch(kind)):
        return {"name": name.strip(), "type": kind} if kind else {"name": name.strip()}
    return {"name": text.strip()}


def read_relationship(text: str) -> dict[str, str]:
    """A relationship from `SOURCE|TYPE|TARGET`.

    Raises:
        InputError: It has not three parts.
    """
    parts = [part.strip() for part in text.split("|")]
    if len(parts) != 3 or not all(parts):  # noqa: PLR2004  source, type, target
        raise InputError(f"--relationship {text!r} is not of the form 'SOURCE|TYPE|TARGET'.")
    return dict(zip(("source", "relationship_type", "target"), parts, strict=True))


def read_fields(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The fields of an observation that were given, and what is wrong with how they were written."""
    fields = {name: value for name, value in given.items() if value is not None}
    problems: list[str] = []
    if "entities" in fields:
        fields["entities"] = [read_entity(text) for text in fields["entities"]]
    texts, read = fields.get("relationships", ()), []
    for text in texts:
        try:
            read.append(read_relationship(text))
        except InputError as error:
            problems += error.problems
    return fields | ({"relationships": read} if "relationships" in fields else {}), problems


def check(fields: Mapping[str, Any], settings: Settings) -> list[str]:
    """Every reason why an observation cannot be made of these fields; none when it can."""
    from grail_mem.write.validate import make_observation, read_draft

    try:
        make_observation(read_draft(fields), now=datetime.now(UTC), settings=settings)
    except InputError as error:
        return list(error.problems)
    return []


def read_bytes(path: str) -> bytes:
    """What a file holds, or for `-` what comes from stdin.

    Raises:
        NotFoundError: There is no such file.
        InputError: It is a folder.
        StoreError: It cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).expanduser().read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {path!r}.") from error
    except IsADirectoryError as error:
        raise InputError(f"{path!r} is a folder, not a file.", hint="Name the files in it, one a call.") from error
    except OSError as error:
        raise refused(error, "read the file", path) from error


def read_content(path: str) -> str:
    """The text of a file or of stdin.

    Raises:
        InputError: It is not UTF-8.
    """
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = "stdin" if path == "-" else repr(path)
        raise InputError(f"{where} is not UTF-8 text (byte {error.start}).") from error


def read_lines(path: str, settings: Settings | None = None) -> list[dict[str, Any]]:
    """The drafts of a file of JSON lines; empty lines are passed over.

    Args:
        path: The file, or `-` for stdin.
        settings: What their fields are held against; None leaves that to the verb that takes them.

    Raises:
        InputError: A line cannot be used; `problems` lists every reason of every line, by line number.
    """
    drafts: list[dict[str, Any]] = []
    problems: list[str] = []
    for number, line in enumerate(read_bytes(path).removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            draft = _object(line)
        except InputError as error:
            problems.append(f"line {number}: {error.message}")
            continue
        if settings is not None:
            problems += [f"line {number}: {text}" for text in check(draft, settings)]
        drafts.append(draft)
    if problems:
        raise InputError("Nothing was stored. " + " ".join(problems), problems=problems)
    return drafts


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start}).") from error
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError("not JSON that can be read: too deep, or a number too long.") from error
    if not isinstance(value, dict):
        raise InputError("not a JSON object with the fields of an observation.")
    return value
