"""A markdown note of a vault: frontmatter, body, links and tags, as people and programs write them.

What stands in code is no link and no tag. Knows nothing of files, nor of what becomes of a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from grail_mem.errors import GrailError, InputError
from grail_mem.keep.foreign.place import Place, names_ending
from grail_mem.keep.foreign.said import Said, skip, tags_of, text
from grail_mem.keep.foreign.streamed import READING
from grail_mem.store.frontmatter import parse

_CODE: Final = re.compile(r"^(`{3,}+|~{3,}+).*?(?:^\1`*~*[ \t]*$|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
"""Code in a line or between fences; a fence that nothing closes reaches to the end."""
LINK: Final = re.compile(r"(!?)\[\[([^\[\]|#^\n]*)([#^][^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_TAG: Final = re.compile(r"(?:(?<=\s)|^)#([\w/-]*[^\W\d][\w/-]*)", re.MULTILINE)
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)
_DATES: Final = ("created", "created_at", "date", "updated", "modified")
_DAY: Final = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")


@dataclass(frozen=True, slots=True)
class Note:
    """A note.

    Attributes:
        name: Its path in the vault.
        title: What links call it.
        folder: The folder that it lies in; empty for the top.
        fields: Its frontmatter.
        body: What follows that.
        plain: The same without code.
        at: When it is from.
    """

    name: str
    title: str
    folder: str
    fields: Mapping[str, Any]
    body: str
    plain: str
    at: str

    @property
    def tags(self) -> list[str]:
        """Its tags, those of the frontmatter first."""
        listed = self.fields.get("tags") or self.fields.get("tag")
        told = re.split(r"[,\s]+", listed) if isinstance(listed, str) else listed
        return tags_of([*(told if isinstance(told, list | tuple) else []), *inline_tags(self.plain)])

    @property
    def aliases(self) -> list[str]:
        """Its other names."""
        listed = self.fields.get("aliases") or self.fields.get("alias") or []
        found = re.split(r"[,\n]+", listed) if isinstance(listed, str) else listed
        return [said for item in found if (said := text(item))][:50] if isinstance(found, list | tuple) else []


def notes(place: Place) -> Iterator[Note | Said]:
    """The notes of a vault in order of their names; what cannot be read, why."""
    for name in names_ending(place, ".md"):
        try:
            yield note(name, place.read(name), place.times.get(name, ""))
        except GrailError as error:
            yield skip(name, "", error.message)
        except READING as error:
            yield skip(name, "", f"it cannot be read: {error}")


def note(name: str, data: bytes, changed: str) -> Note:
    """A note.

    Raises:
        InputError: It is no text, or its frontmatter cannot be read.
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"it is no UTF-8: {error.reason} at byte {error.start}") from error
    document = parse(data)
    folder, _, stem = name.rpartition("/")
    stem = stem[:-3]
    fields, body = document.fields, document.content
    return Note(name, stem, folder, fields, body, without_code(body), _at(fields, stem) or changed)


def _at(fields: Mapping[str, Any], stem: str) -> str:
    """The day or time that a note says it is from: that of its name, for a note of a day, else of its frontmatter."""
    if (day := _DAY.search(stem)) and _is_day(day[1]):
        return day[1]
    for name in _DATES:
        value = fields.get(name)
        if isinstance(value, datetime | date):
            return value.isoformat()
        if (day := _DAY.match(text(value))) and _is_day(day[1]):
            return text(value)
    return ""


def _is_day(said: str) -> bool:
    try:
        date.fromisoformat(said)
    except ValueError:
        return False
    return True


def without_code(body: str) -> str:
    """A body without what stands in code."""
    return _CODE.sub("", body)


def inline_tags(plain: str) -> list[str]:
    """The tags in a text; a heading is none."""
    return list(dict.fromkeys(found[1].strip("/") for found in _TAG.finditer(_HEADING.sub("", plain))))


def target_of(found: re.Match[str]) -> str:
    """What a link leads to, without folder and ending."""
    return found[2].strip().removesuffix(".md").rpartition("/")[2].strip()
